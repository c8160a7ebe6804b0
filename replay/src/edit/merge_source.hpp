// A merger's state of one recording at a tick.
#pragma once

#include "edit/merged_items.hpp"
#include "game/roster.hpp"
#include "recording/stream/tick_reader.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace teewire::replay {

/// Where a client looks from.
struct viewpoint {
    std::int32_t own = -1;     ///< client id; -1 if no player is local
    std::int32_t watched = -1; ///< client id
    bool sees_all = false;     ///< a server
    std::optional<point> place;
};

/// An extended type, as this recording numbers it.
struct numbered_type {
    uuid id;
    type_table::meaning meaning;
};

/// One of the recordings, as far as it was read.
struct merge_source {
    merge_source(event_source& s, std::size_t number) : source{s}, reader{s}, part{number} {}

    event_source& source;
    tick_reader reader;
    std::size_t part;                                ///< of the result
    bool over = false;                               ///< nothing more comes
    bool current = false;                            ///< has the tick that is being made
    std::int32_t tick = -1;                          ///< of its state
    std::map<std::uint16_t, numbered_type> extended; ///< by the number that stands for it
    roster players;                                  ///< of 0.7's captures: demos have items
    bool has_players = false;                        ///< all that was said before the first snapshot is in it
    bool players_are_items = false;                  ///< were in a snapshot: those without have none
    std::optional<viewpoint> view;                   ///< of the state, computed on demand
};
using merge_sources = std::vector<std::unique_ptr<merge_source>>;

} // namespace teewire::replay
