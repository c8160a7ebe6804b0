// Requests to end: signals, or Ctrl-C and the closing of the console on Windows.
#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace teewire::replay::os {

/// From here on, calls `seen` for each signal, and `over` if start_grace() was called and its time has passed. They run
/// in a signal handler or another thread. Throws std::system_error.
void catch_signals(void (*seen)(), void (*over)(), bool with_grace);

// Those up to exit_now() may be called from `seen` and `over`.

/// Wakes what waits for a signal, now and from now on.
void wake() noexcept;
/// A quarter of a second, if catch_signals() was called with grace.
void start_grace() noexcept;
/// `over` is not called any more.
void cancel_grace() noexcept;
/// A file, or an empty folder.
void remove_unfinished(char const* path) noexcept;
void write_to_standard_error(char const* text) noexcept;
[[noreturn]] void exit_now(int code) noexcept;

// Only after catch_signals().

/// Waits until a read would not block: true. False after so many milliseconds, or as soon as there was a signal. Negative:
/// for ever.
[[nodiscard]] bool wait_to_read(int descriptor, int milliseconds) noexcept;
/// Waits for a signal, at most so long. Whether there was one, now or before.
bool wait_for_signal(int milliseconds) noexcept;

/// Waits for a signal on a loop.
class signal_waiter {
public:
    explicit signal_waiter(boost::asio::io_context& io);
    signal_waiter(signal_waiter const&) = delete;
    signal_waiter& operator=(signal_waiter const&) = delete;
    ~signal_waiter();
    /// Once.
    void wait(std::function<void()> f);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace teewire::replay::os
