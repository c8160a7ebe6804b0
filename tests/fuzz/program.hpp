// What fuzz targets of the program share: its verbs, run on bytes, and a limit on what an input may cost.
#pragma once

#include "fuzz.hpp"

#include "io/errors.hpp"
#include "io/output.hpp"
#include "io/text.hpp"
#include "verbs/verbs.hpp"

#include <CLI/CLI.hpp>
#include <rapidjson/document.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fuzz {

/// An input may take a second of the processor for each MB of it and of what is written, and some more for itself:
/// under sanitizers, in code that counts its edges, or on a processor that is imitated, so many times as long.
#ifndef TEEWIRE_FUZZ_SLOWDOWN
#error "tests/fuzz/meson.build says how much slower this build is"
#endif
class cost_limit {
public:
    explicit cost_limit(std::size_t input_bytes) noexcept : begun_{now()}, bytes_{input_bytes} {}
    void check(std::size_t output_bytes) const noexcept {
        constexpr double for_itself = 0.1;
        double const allowed = for_itself + static_cast<double>(bytes_ + output_bytes) / 1e6;
        double const taken = now() - begun_;
        if (taken <= TEEWIRE_FUZZ_SLOWDOWN * allowed) return;
        std::fprintf(stderr, "%zu bytes and %zu of output took %.3f s, %d times as slow as otherwise\n", bytes_,
                     output_bytes, taken, TEEWIRE_FUZZ_SLOWDOWN);
        FUZZ_REQUIRE(!"takes longer than it may");
    }

private:
    static double now() noexcept {
        timespec time{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
    }
    double begun_;
    std::size_t bytes_;
};

/// Of a picture, as it is before it is compressed.
inline std::size_t bytes_made(std::string_view output) noexcept {
    constexpr std::size_t head = 24, sides = 16;
    if (!output.starts_with("\x89PNG") || output.size() < head) return output.size();
    std::uint64_t side[2] = {0, 0};
    for (std::size_t i = sides; i < head; ++i)
        side[(i - sides) / 4] = side[(i - sides) / 4] << 8 | static_cast<std::uint8_t>(output[i]);
    return static_cast<std::size_t>(4 * side[0] * side[1]);
}

/// A file that only this process has.
class memory_file {
public:
    memory_file() : descriptor_{::memfd_create("teewire-fuzz", 0)} { FUZZ_REQUIRE(descriptor_ >= 0); }
    memory_file(memory_file const&) = delete;
    memory_file& operator=(memory_file const&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
    void assign(bytes_view bytes) const {
        FUZZ_REQUIRE(::ftruncate(descriptor_, 0) == 0 && ::lseek(descriptor_, 0, SEEK_SET) == 0);
        while (!bytes.empty()) {
            auto const n = ::write(descriptor_, bytes.data(), bytes.size());
            FUZZ_REQUIRE(n > 0);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }
    [[nodiscard]] std::string content() const {
        struct stat status {};
        FUZZ_REQUIRE(::fstat(descriptor_, &status) == 0);
        std::string all(static_cast<std::size_t>(status.st_size), '\0');
        for (std::size_t at = 0; at < all.size();) {
            auto const n = ::pread(descriptor_, all.data() + at, all.size() - at, static_cast<off_t>(at));
            FUZZ_REQUIRE(n > 0);
            at += static_cast<std::size_t>(n);
        }
        return all;
    }

private:
    int descriptor_;
};

/// Standard output and what the program says on standard error, while this lives. Sanitizers write to the descriptor
/// of standard error, which stays.
class captured_output {
public:
    captured_output() : output_{file()}, stdout_{::dup(STDOUT_FILENO)}, stderr_{stderr} {
        output_.assign({});
        ::dup2(output_.descriptor(), STDOUT_FILENO);
        stderr = ::open_memstream(&said_, &said_size_);
    }
    captured_output(captured_output const&) = delete;
    captured_output& operator=(captured_output const&) = delete;
    ~captured_output() {
        restore();
        std::free(said_);
    }
    void restore() noexcept {
        if (stdout_ < 0) return;
        ::dup2(stdout_, STDOUT_FILENO);
        ::close(std::exchange(stdout_, -1));
        std::fclose(std::exchange(stderr, stderr_));
    }
    [[nodiscard]] std::string out() const { return output_.content(); }
    /// After restore().
    [[nodiscard]] std::string said() const { return {said_, said_size_}; }

private:
    static memory_file const& file() {
        static memory_file const& made = *new memory_file;
        return made;
    }

    memory_file const& output_;
    int stdout_;
    std::FILE* stderr_;
    char* said_ = nullptr;
    std::size_t said_size_ = 0;
};

/// What a verb did.
struct ending {
    int code;
    std::string out;
    std::string said;
};

enum class form : std::uint8_t { text, ndjson, binary };

/// A command line that can be run any number of times. "@" in it is the input.
class command {
public:
    command(teewire::replay::verb const& verb, form out, std::vector<std::string> words)
        : parsed_{std::make_unique<CLI::App>()}, form_{out} {
        teewire::replay::option_set options{*parsed_};
        run_ = verb.declare(options);
        for (std::string& word : words)
            if (word == "@") word = source().path();
        std::reverse(words.begin(), words.end());
        parsed_->parse(std::move(words));
    }

    /// Checks, too, that it ends as a program should, and that what it prints is what it promises.
    ending run(bytes_view input) const {
        source().assign(input);
        ending end{};
        {
            captured_output captured;
            cost_limit const limit{input.size()};
            try {
                end.code = run_();
            } catch (...) {
                auto const failed = teewire::replay::current_exit_reason();
                teewire::replay::complain(failed.text);
                end.code = failed.code;
            }
            captured.restore();
            end.out = captured.out();
            end.said = captured.said();
            limit.check(bytes_made(end.out) + end.said.size());
        }
        // Nothing that is read is missing, and there is room for what is written.
        if (end.code != teewire::replay::exit_ok && end.code != teewire::replay::exit_bad_input &&
            end.code != teewire::replay::exit_usage)
            fail(__FILE__, __LINE__, end.said.c_str());
        FUZZ_REQUIRE((end.code == teewire::replay::exit_usage) <= !end.said.empty());
        require_lines(end.said);
        if (form_ == form::text) require_lines(end.out);
        if (form_ == form::ndjson) require_ndjson(end.out);
        return end;
    }

private:
    static memory_file const& source() {
        static memory_file const& made = *new memory_file;
        return made;
    }

    // Nothing that moves the cursor, and nothing but UTF-8.
    static void require_lines(std::string const& text) {
        FUZZ_REQUIRE(text.empty() || text.back() == '\n');
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const end = text.find('\n', at);
            std::string_view const line = std::string_view{text}.substr(at, end - at);
            FUZZ_REQUIRE(teewire::replay::printable(line) == line);
            at = end + 1;
        }
    }
    static void require_ndjson(std::string const& text) {
        FUZZ_REQUIRE(text.empty() || text.back() == '\n');
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const end = text.find('\n', at);
            rapidjson::Document document;
            document.Parse<rapidjson::kParseValidateEncodingFlag>(text.data() + at, end - at);
            FUZZ_REQUIRE(!document.HasParseError() && document.IsObject());
            at = end + 1;
        }
    }

    std::unique_ptr<CLI::App> parsed_;
    std::function<int()> run_;
    form form_;
};

/// Command lines, of which the first byte of an input chooses one; the rest is the file.
class command_lines {
public:
    struct line {
        teewire::replay::verb const& verb;
        form out;
        std::vector<std::string> words; ///< behind the file; what writes binary content writes to standard output
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
