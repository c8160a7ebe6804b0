#include "base/os/signals.hpp"

#include <cstdlib>

namespace teewire::replay::os {

// The page ends the thread.
void catch_signals(void (*)(), void (*)(), bool) {}
void wake() noexcept {}
void start_grace() noexcept {}
void cancel_grace() noexcept {}
void remove_unfinished(char const*) noexcept {}
void write_to_standard_error(char const*) noexcept {}
void exit_now(int code) noexcept { std::_Exit(code); }
bool wait_to_read(int, int) noexcept { return true; }
bool wait_for_signal(int) noexcept { return false; }

} // namespace teewire::replay::os
