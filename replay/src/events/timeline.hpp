// The events of a demo, with a line for each.
#pragma once

#include "events/game_event.hpp"
#include "game/players.hpp"
#include "recording/demo/demo_document.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace teewire::replay {

/// An event that is worth a line.
struct timeline_event {
    std::int32_t tick = -1;
    std::string text; ///< the line, as `play` prints it
    game_event event{};
};

/// The events up to the end of the file or the first damage.
struct timeline {
    std::int32_t first_tick = -1; ///< -1 if there is no tick at all
    std::int32_t last_tick = -1;
    std::vector<std::int32_t> snapshots; ///< their ticks, ascending
    std::vector<timeline_event> events;
    std::vector<introduction> introductions;
    std::string error; ///< empty if nothing is damaged

    /// Ticks since the first one.
    [[nodiscard]] std::int64_t elapsed(std::int32_t tick) const noexcept {
        return std::max<std::int64_t>(0, std::int64_t{tick} - first_tick);
    }
    /// The number of events up to that tick.
    [[nodiscard]] std::size_t count_until(std::int32_t tick) const;
    [[nodiscard]] name_table names(std::int32_t tick) const;
};
/// Plays the whole demo, or until it is interrupted.
[[nodiscard]] timeline read_timeline(demo_document& demo);

} // namespace teewire::replay
