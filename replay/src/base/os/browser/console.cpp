#include "base/os/console.hpp"

namespace teewire::replay::os {

bool is_terminal(int) noexcept { return false; }
std::optional<window> window_size() noexcept { return {}; }

} // namespace teewire::replay::os
