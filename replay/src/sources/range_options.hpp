// The options of verbs that look at a part of a recording.
#pragma once

#include "cli/times.hpp"
#include "cli/verb.hpp"
#include "game/ticks.hpp"
#include "stream/event.hpp"

#include <optional>

namespace teewire::replay {

struct chosen_range {
    std::optional<time_position> from, until;
};

/// --from and --to.
void range_options(option_set& options, chosen_range& to, char const* from_help = "where to begin");

/// What was chosen of a recording. Throws usage_error if it counts from an end that nobody knows.
[[nodiscard]] tick_range range_of(chosen_range const& chosen, recording const& what);

} // namespace teewire::replay
