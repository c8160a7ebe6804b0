// The options of verbs that look at a part of a recording.
#pragma once

#include "base/archive_file.hpp"
#include "cli/times.hpp"
#include "cli/verb.hpp"
#include "game/ticks.hpp"
#include "recording/stream/event.hpp"

#include <optional>
#include <string>

namespace teewire::replay {

struct chosen_range {
    std::optional<time_position> from, until;
};

/// --from and --to.
void range_options(option_set& options, chosen_range& to, char const* from_help = "where to begin");

/// Throws usage_error if it ends before it begins, or counts from the end of what goes on.
void check_range(chosen_range const& chosen, bool live);

/// The chosen range in that recording.
[[nodiscard]] tick_range range_of(chosen_range const& chosen, recording_info const& what);

/// The same for an archived demo that is read in parts, without its map.
[[nodiscard]] part_choice part_of(chosen_range const& chosen);

/// "there is nothing from tick 10 to 20; it has ticks 752 to 2252 (20 is a tick, 20s a time)": of a recording with these
/// ticks, or -1 where they are not known.
[[nodiscard]] std::string nothing_text(tick_range range, std::int32_t first_tick, std::int32_t last_tick);
/// A message if the recording is known to have nothing in the range, otherwise empty.
[[nodiscard]] std::string missed_text(tick_range range, recording_info const& what);

} // namespace teewire::replay
