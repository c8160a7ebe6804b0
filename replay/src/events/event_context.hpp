// The state of a recorded game at a tick, shared by the readers of its events.
#pragma once

#include "events/game_event.hpp"
#include "events/world_state.hpp"
#include "game/players.hpp"

#include <teewire/demo_format.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace teewire::replay {

/// A tee was hit or hooked.
struct touch {
    std::int32_t by = -1;
    std::int32_t tick = -1; ///< the last one at which it counts: while the tee is frozen, it goes on
};

struct event_context {
    protocol version;
    bool one_receiver; ///< holds what one client received
    std::int32_t first_tick;
    std::int32_t tick = -1;
    bool started = false;    ///< the snapshot that is read is not the first one
    bool ids_differ = false; ///< of several receivers: they know other ids than the items have
    name_table names{};
    std::uint64_t names_version = 0;
    world_state now{};                             ///< at the last snapshot with anything in it
    world_state before{};                          ///< at the one before that; of the first snapshot the same
    std::int32_t local = -1;                       ///< of one receiver: the client that it was
    std::int32_t racer = -1;                       ///< whom news without a client id are about
    std::map<std::int32_t, touch> touches{};       ///< the last one, by the client that was touched
    std::map<std::int32_t, std::int32_t> deaths{}; ///< the tick of the last one, by client

    [[nodiscard]] participant who(std::int32_t client_id) const { return {client_id, names.name(client_id)}; }
    /// The player of that name, or client -1 if the game has none.
    [[nodiscard]] participant named(std::string_view name) const;
    [[nodiscard]] std::optional<std::int32_t> team_of(present_player const& p) const;
    /// An event of now.
    [[nodiscard]] game_event make(game_event_kind kind, evidence known) const;
    /// Since the first tick.
    [[nodiscard]] double seconds(std::int32_t at) const noexcept;

    [[nodiscard]] std::optional<position> last_position(std::int32_t client_id) const;
    /// The player who touched a tee, not longer ago than `touch_ticks`, or before it froze.
    [[nodiscard]] std::optional<participant> toucher(std::int32_t client_id) const;
    /// The tee nearest to a position among those for which `holds` is true. Null if none is within reach.
    template <class F>
    [[nodiscard]] tee const* nearest(position at, double reach, F const& holds) const {
        tee const* best = nullptr;
        reach *= reach;
        for (tee const& t : now.tees) {
            double const away = squared_distance_to(t, at, now.tick);
            if (away > reach || !holds(t)) continue;
            reach = away;
            best = &t;
        }
        return best;
    }
};

/// The most ticks between things that belong together, such as a kill message and the snapshot with the death.
inline constexpr std::int32_t lateness = ticks_per_second;
/// As long do servers of block mods count a touch.
inline constexpr std::int32_t touch_ticks = 3 * ticks_per_second;
constexpr bool is_late(std::int32_t then, std::int64_t now) noexcept { return now - then > lateness; }

/// The most units between a tee and the sound of what it does or of its spawning: it may have moved since.
inline constexpr double sound_reach = 64;

constexpr bool can_be_client(std::int32_t id) noexcept { return id >= 0 && id < 1024; }

} // namespace teewire::replay
