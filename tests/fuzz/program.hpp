// Shared by fuzz targets of the program: its commands, run on bytes, and a limit on the cost of an input.
#pragma once

#include "fuzz.hpp"

#include "base/errors.hpp"
#include "verbs/verbs.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace fuzz {

/// An input may take a second of the processor for each MB of it and of what is written, and some more for itself:
/// under sanitizers, in code that counts its edges, or on a processor that is imitated, so many times as long.
class cost_limit {
public:
    explicit cost_limit(std::size_t input_bytes) noexcept;
    void check(std::size_t output_bytes) const noexcept;

private:
    double begun_;
    std::size_t bytes_;
};

/// A file that only this process has.
class memory_file {
public:
    memory_file();
    memory_file(memory_file const&) = delete;
    memory_file& operator=(memory_file const&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
    void assign(bytes_view bytes) const;
    [[nodiscard]] std::string content() const;

private:
    int descriptor_;
};

/// Standard output and what the program says on standard error, while this lives. Sanitizers write to the descriptor
/// of standard error, which stays.
class captured_output {
public:
    captured_output();
    captured_output(captured_output const&) = delete;
    captured_output& operator=(captured_output const&) = delete;
    ~captured_output();
    void restore() noexcept;
    [[nodiscard]] std::string out() const { return output_.content(); }
    /// After restore().
    [[nodiscard]] std::string said() const { return {said_, said_size_}; }

private:
    memory_file const& output_;
    int stdout_;
    std::FILE* stderr_;
    char* said_ = nullptr;
    std::size_t said_size_ = 0;
};

/// The result of a command.
struct ending {
    int code;
    std::string out;
    std::string said;
};

enum class form : std::uint8_t { text, ndjson, binary };

/// A command line that can be run any number of times. "@" in it is the input.
class command {
public:
    command(teewire::replay::verb const& verb, form out, std::vector<std::string> words);

    /// Checks, too, that it ends as a program should, and that what it prints is what it promises.
    ending run(bytes_view input) const;

private:
    std::shared_ptr<CLI::App> parsed_;
    std::function<int()> run_;
    form form_;
};

/// Command lines, of which the first byte of an input chooses one; the rest is the file.
class command_lines {
public:
    struct line {
        teewire::replay::verb const& verb;
        form out;
        std::vector<std::string> words; ///< after the file; binary output goes to standard output
    };
    /// `further`: what is done with the file where no line is chosen.
    command_lines(std::initializer_list<line> lines, std::initializer_list<target_fn*> further)
        : further_{further} {
        for (line const& l : lines) {
            std::vector<std::string> words{"@"};
            words.insert(words.end(), l.words.begin(), l.words.end());
            if (l.out == form::binary) words.insert(words.end(), {"-o", "-"});
            all_.emplace_back(l.verb, l.out, std::move(words));
        }
    }
    void run(bytes_view data) const {
        if (data.empty()) return;
        std::size_t const chosen = data[0] % (all_.size() + further_.size());
        if (chosen >= all_.size()) further_[chosen - all_.size()](data.subspan(1));
        else static_cast<void>(all_[chosen].run(data.subspan(1)));
    }

private:
    std::vector<command> all_;
    std::vector<target_fn*> further_;
};

} // namespace fuzz
