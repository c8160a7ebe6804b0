// Terminals, and standard input on a loop.
#pragma once

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

struct window {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

} // namespace teewire::replay

namespace teewire::replay::os {

[[nodiscard]] bool is_terminal(int descriptor) noexcept;
/// The size of the terminal that standard output is.
[[nodiscard]] std::optional<window> window_size() noexcept;

/// Keeps how standard input is set up now. False if it is not a terminal.
[[nodiscard]] bool keep_terminal_modes() noexcept;
/// Keys come at once and are not shown. Ctrl-C stays a signal.
void set_key_modes() noexcept;
/// As they were. `at_once`: for a signal handler; otherwise after what was written.
void restore_terminal_modes(bool at_once) noexcept;
/// Writes to standard output, in parts if it has to. False if that fails.
[[nodiscard]] bool write_to_terminal(std::string_view text) noexcept;

/// Standard input, a terminal or anything else, on a loop.
class standard_input {
public:
    explicit standard_input(boost::asio::io_context& io);
    standard_input(standard_input const&) = delete;
    standard_input& operator=(standard_input const&) = delete;
    ~standard_input();

    /// Calls `f` once, when there is something to read or the end.
    void wait(std::function<void()> f);
    /// Appends what is there. False at the end.
    [[nodiscard]] bool read(std::string& typed);

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Other things that happen to a terminal.
enum class terminal_event : std::uint8_t { suspended, resumed, resized, closed };

class terminal_events {
public:
    /// Calls `f` from the loop for each.
    terminal_events(boost::asio::io_context& io, std::function<void(terminal_event)> f);
    terminal_events(terminal_events const&) = delete;
    terminal_events& operator=(terminal_events const&) = delete;
    ~terminal_events();

private:
    struct state;
    std::unique_ptr<state> state_;
};
/// After terminal_event::suspended. Returns when the program continues.
void suspend() noexcept;

} // namespace teewire::replay::os
