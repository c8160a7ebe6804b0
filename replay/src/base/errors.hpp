// Errors that end a command early. main() turns each into a message and an exit code.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace teewire::replay {

/// Exit codes of the program.
inline constexpr int exit_ok = 0;
inline constexpr int exit_bad_input = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_io = 3;
inline constexpr int exit_interrupted = 130;

/// A problem, with the name of the file, server or option that has it.
class named_error : public std::runtime_error {
public:
    explicit named_error(std::string const& reason) : std::runtime_error{reason} {}
    /// what() is "NAME: REASON".
    named_error(std::string const& name, std::string const& reason)
        : std::runtime_error{name + ": " + reason}, reason_{name.size() + 2} {}

    /// what() without the name.
    [[nodiscard]] std::string reason() const { return what() + reason_; }

private:
    std::size_t reason_ = 0; // where it begins in what()
};

/// An input is damaged: exit code 1. The reason names the place.
struct bad_input : named_error {
    using named_error::named_error;
};

/// Arguments that make no sense, such as a file of a kind that the command does not read: exit code 2.
struct usage_error : named_error {
    using named_error::named_error;
};

/// Reading or writing failed: exit code 3.
struct io_error : named_error {
    using named_error::named_error;
};

/// Writing failed. Ends the whole command, where a failure to read ends the work on one file.
struct output_error : io_error {
    using io_error::io_error;
};

/// The reader of standard output has closed it. The program ends as if by SIGPIPE, after it has tidied up.
struct closed_pipe : output_error {
    closed_pipe() : output_error{"standard output: the reader has closed it"} {}
};

/// The exit code and message for the exception being handled. Call it inside a catch block.
struct exit_reason {
    int code;
    std::string text;
    std::string reason; ///< the text without a name in front
};
[[nodiscard]] exit_reason current_exit_reason();

} // namespace teewire::replay
