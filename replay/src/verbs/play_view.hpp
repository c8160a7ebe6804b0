// The screen of `play`.
#pragma once

#include "base/terminal.hpp"
#include "events/timeline.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// What `play` shows.
struct view {
    std::string title;
    std::int32_t tick = 0;
    std::int32_t first_tick = 0;
    std::int32_t last_tick = 0;
    double speed = 1;
    bool paused = false;
    std::span<std::int32_t const> markers; ///< ticks worth a look, in any order
    std::span<player const> players;
    std::span<timeline_event const> events; ///< oldest first
    std::string error;                      ///< instead of the keys
};

/// One string for each row of the window, as wide as it.
[[nodiscard]] std::vector<std::string> draw(view const& v, window size);

} // namespace teewire::replay
