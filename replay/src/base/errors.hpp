// What ends a command early. main() turns each into a message and an exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace teewire::replay {

/// Exit codes of the program.
inline constexpr int exit_ok = 0;
inline constexpr int exit_bad_input = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_io = 3;
inline constexpr int exit_interrupted = 130;

/// An input is damaged: exit code 1. The text names the file, the place and the reason.
struct bad_input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Arguments that make no sense, such as a file of another kind than the verb reads: exit code 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reading or writing failed: exit code 3.
struct io_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The same of what is written, without which nothing can go on.
struct output_error : io_error {
    using io_error::io_error;
};

/// Nobody reads standard output any more. The program ends as if by SIGPIPE, after it has tidied up.
struct closed_pipe : output_error {
    closed_pipe() : output_error{"standard output: nobody reads it any more"} {}
};

/// What has been thrown, as an exit code and what to say about it. To be called where it was caught.
struct exit_reason {
    int code;
    std::string text;
};
[[nodiscard]] exit_reason current_exit_reason();

} // namespace teewire::replay
