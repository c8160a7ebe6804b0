// The program as the system runs it: arguments, environment, memory, limits, other programs.
#pragma once

#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay::os {

/// Sets up the standard streams, so that they are all there and binary, and writing to a closed one fails. Returns the
/// arguments without the program's name, in UTF-8.
[[nodiscard]] std::vector<std::string> begin_process(int argc, char** argv);
/// Ends as a program does whose reader has closed standard output, if it ends in a way of its own then.
void end_by_closed_pipe() noexcept;

/// Empty if it is not set.
[[nodiscard]] std::string environment(char const* name);
/// Where programs keep what they can make again; empty if there is no such folder.
[[nodiscard]] std::string cache_folder();
/// Where installed games may have their data, the best first.
[[nodiscard]] std::vector<std::string> game_data_folders();

/// Where fonts may be that have letters of most languages, the best first.
[[nodiscard]] std::vector<std::string> font_files();

/// A program that reads what is written to it. Its messages go to standard error.
class child_process {
public:
    /// `arguments` begin with the program's name. Throws std::system_error if it cannot be started: with ENOENT if there is
    /// no such program.
    explicit child_process(std::vector<std::string> const& arguments);
    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;
    /// Ends it, unless finish() has been called.
    ~child_process();

    /// False if it does not read any more.
    [[nodiscard]] bool write(std::span<std::uint8_t const> bytes) noexcept;
    /// Nothing more comes. Returns its exit code, or -1 if a signal ended it.
    [[nodiscard]] int finish() noexcept;

private:
    unique_fd input_;
    std::intptr_t process_ = -1; // -1: it is over
};

/// Ends all of these that are running, and waits for that. A signal handler may call it.
void end_children() noexcept;

/// Shows the page in the user's browser, if there is a display, and does not wait for it. If that fails, the reason, such
/// as "none is installed".
[[nodiscard]] std::string open_browser(std::string address);

/// The time here. False if it has none.
[[nodiscard]] bool local_time(std::time_t time, std::tm& out) noexcept;

/// Bytes of address space that this process may have, if there is a limit.
[[nodiscard]] std::optional<std::uint64_t> address_space_limit() noexcept;
/// Threads share more of what malloc keeps.
void save_address_space() noexcept;
/// As many open files as this process may have at all.
void allow_descriptors() noexcept;

/// Address space, which is memory when it has been committed. Null: there is none.
[[nodiscard]] std::uint8_t* reserve_memory(std::size_t bytes) noexcept;
void release_memory(std::uint8_t* begin, std::size_t bytes) noexcept;
[[nodiscard]] bool commit_memory(std::uint8_t* begin, std::size_t bytes) noexcept;
/// Whole pages of committed memory become zeros.
void clear_memory(std::uint8_t* begin, std::size_t bytes) noexcept;

} // namespace teewire::replay::os
