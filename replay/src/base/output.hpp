// Output and messages of commands, and progress.
#pragma once

#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace teewire::replay {

/// Collects text for the output that was chosen. Throws as output_file does.
class output {
public:
    output() : output{output_choice{}} {}
    explicit output(output_choice const& to, std::span<std::string const> inputs = {})
        : file_{to, content::text, inputs} {}

    template <class... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        buffer_.print(format, std::forward<Arguments>(arguments)...);
        if (buffer_.size() > flush_size) flush();
    }
    void write(std::string_view text);
    void flush();
    /// A file gets its name, unless the verb was interrupted, or failed before there was anything to print. The code.
    [[nodiscard]] int finish(int code);

private:
    void put(std::string_view text);

    static constexpr std::size_t flush_size = 1 << 16;
    text_buffer buffer_;
    output_file file_;
};

/// How much the program says on standard error: only errors, everything, or everything and progress without a terminal.
enum class verbosity : std::uint8_t { quiet, normal, verbose };
void set_verbosity(verbosity v) noexcept;

/// Writes to standard error. A closed standard error is not a failure.
void write_error(std::string_view text);
/// The same, unless the verbosity is quiet.
void say(std::string_view text);
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    say(std::string_view{fmt::format(format, std::forward<Arguments>(arguments)...)});
}
/// "teewire: NAME: what, where", without control characters.
[[nodiscard]] std::string error_line(std::string_view text);
/// Writes that to standard error.
void complain(std::string_view text);
/// The same for information: nothing if the verbosity is quiet.
void remark(std::string_view text);

/// How far the work is, and how long the rest will take: one line on a terminal, and one every few seconds elsewhere if
/// the verbosity is verbose.
class progress {
public:
    explicit progress(std::uint64_t total_bytes);
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress() { clear(); }
    void update(std::uint64_t done_bytes, std::string_view what);
    /// Takes the line away, so that something else can be printed.
    void clear();

private:
    using clock = std::chrono::steady_clock;

    enum class form : std::uint8_t { none, line_on_terminal, lines };
    form form_;
    bool shown_ = false;
    std::uint64_t total_;
    clock::time_point begun_;
    clock::time_point next_;
};

} // namespace teewire::replay
