// The players, tees and event items of a game at one tick, from which events and counts are concluded.
#pragma once

#include "events/game_event.hpp"

#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace teewire::replay {

/// A player in the game, with a tee or without one.
struct present_player {
    std::int32_t client_id = -1;
    std::optional<std::int32_t> team; ///< not in the items of 0.7
    std::int32_t latency = 0;         ///< milliseconds
    std::int32_t score = 0;           ///< points, or a time
    bool ready = false;               ///< 0.7
    bool paused = false;              ///< DDNet: by /pause, with its tee in the game, or by /spec
    bool without_tee = false;         ///< DDNet: by /spec, which takes the tee out of the game
};

/// The character that a player moves.
struct tee {
    static constexpr std::int32_t hook_flying =
        4; // of hook_state; any smaller value means no hook, or one on its way back
    static constexpr std::int32_t hook_grabbed = 5;

    std::int32_t client_id = -1;
    position at;                    ///< at position_tick; from there it goes on as a client would predict it
    std::int32_t position_tick = 0; ///< the snapshot's, or an earlier one
    std::int32_t speed_x = 0;       ///< at position_tick, units in 256 ticks
    std::int32_t speed_y = 0;       ///< the same downwards
    std::int32_t direction = 0;     ///< in which it wants to go: -1, 0 or 1
    std::int32_t health = 0;        ///< 0: a client does not get that of others
    std::int32_t armor = 0;         ///< the same
    std::int32_t weapon = -1;       ///< in its hands
    std::int32_t attack_tick = 0;   ///< of the last shot
    std::int32_t hook_state = 0;
    std::int32_t hooked_player = -1;
    position hook;
    bool hook_hit_ground = false; ///< since the snapshot before; 0.7 says it, other servers have sounds for it
    bool hook_hit_player = false; ///< the same
    bool frozen = false;          ///< DDNet; no other server says it
};

/// An item of an event.
struct event_item {
    enum class kind : std::uint8_t { spawn, hammer_hit, death, sound, damage } what;
    position at;
    std::int32_t value = 0; ///< death and 0.7's damage: the client; sound: which. 0.6's damage: -1
};

/// The round that is being played.
struct round_state {
    static constexpr std::int32_t flag_missing = -3; ///< for a carrier: the game has no such flag
    static constexpr std::int32_t flag_at_stand = -2;
    static constexpr std::int32_t flag_dropped = -1;

    bool known = false; ///< the snapshot has an item for it
    std::int32_t start_tick = 0;
    bool over = false;                                 ///< its result is shown
    bool paused = false;                               ///< while it is not over
    bool waiting = false;                              ///< 0.7: for players, or for a countdown to end
    std::optional<std::array<std::int32_t, 2>> scores; ///< of red and blue, in games with teams
    /// The carriers of the red and the blue flag: client ids, or as above.
    std::array<std::int32_t, 2> carriers{flag_missing, flag_missing};
    std::array<std::optional<position>, 2> flags; ///< of the red and the blue flag
};

/// Ids ascend in `players` and `tees`, and occur once.
struct world_state {
    std::int32_t tick = -1;
    std::vector<present_player> players;
    std::vector<tee> tees;
    std::vector<event_item> events; ///< that were not in the snapshot before
    std::vector<position> lasers;   ///< to be picked up
    round_state round;

    [[nodiscard]] present_player const* player(std::int32_t client_id) const noexcept;
    [[nodiscard]] tee const* find(std::int32_t client_id) const noexcept;
};

/// Reads the snapshots of a recording, in their order. O(items), and what events need to be sorted.
class world_reader {
public:
    explicit world_reader(protocol p);
    void read(std::int32_t tick, snapshot_view snapshot, world_state& out);

    // Valid as long as the last snapshot is:

    /// The items with the names of clients.
    [[nodiscard]] std::span<item const> client_infos() const noexcept { return client_infos_; }
    /// The client that it was made for, or -1.
    [[nodiscard]] std::int32_t local_client() const noexcept { return local_; }
    /// The client that it watches, itself or another; -1 if that is not known.
    [[nodiscard]] std::int32_t followed_client() const noexcept { return followed_; }
    /// As a spectator: the client that it watches, or -1 if it looks around freely. Empty if it plays.
    [[nodiscard]] std::optional<std::int32_t> watched_client() const noexcept { return watched_; }
    /// Returns whether the snapshot was made for one client: it marks that client as the local one, or hides the health of others, which
    /// for the living is never 0.
    [[nodiscard]] bool made_for_one() const noexcept { return local_ >= 0 || hides_health_; }

    static constexpr std::size_t max_fields = 15; ///< of fields that one kind of item has

private:
    struct layout { ///< offsets of the needed fields in an item
        std::uint16_t type = 0;
        std::array<std::size_t, max_fields> at{};
    };
    using event_key = std::array<std::int32_t, 9>; // type, id and data

    static layout find_offsets(object const& known, std::span<std::string_view const> fields);
    void add_tee(item const& i, world_state& out);
    void add_event(item const& i, std::size_t which, world_state& out);
    void set_local(std::int32_t client_id);
    void add_player(item const& i, world_state& out);
    void read_round(item const& i, round_state& out) const;
    void read_flag(item const& i, round_state& out) const;
    /// Items of an extended type.
    template <class F>
    void each_extended(object const& known, F const& read) const;
    void read_extended(world_state& out) const;

    enum class role : std::uint8_t {
        none,
        tee,
        player,
        client,
        pickup,
        spectator,
        round,
        flag,
        extension,
        first_event,
    };
    std::array<role, sized_types> roles_{}; // by type
    std::int32_t hit_ground_flag_ = 0;      // of what a tee of 0.7 did
    std::int32_t hit_player_flag_ = 0;
    std::int32_t over_flags_ = 0; // of a round, as the next two
    std::int32_t paused_flag_ = 0;
    std::int32_t waiting_flags_ = 0;
    std::int32_t ready_flag_ = 0; // of a player of 0.7
    layout player_info_;
    layout character_;
    layout pickup_;
    layout freeze_;
    layout extended_player_;
    std::int32_t spec_flag_ = 0; // of that
    std::int32_t paused_flags_ = 0;
    layout round_;
    layout scores_;
    layout carriers_;
    layout flag_;
    layout client_info_;
    layout spectator_;
    std::int32_t laser_type_; // of pickups: 0.7 has a type, 0.6 a weapon's subtype
    bool is_07_;
    struct event_layout {
        layout where;
        event_item::kind what;
    };
    std::vector<event_layout> event_types_;
    std::vector<event_key> before_; // the events of the last snapshot, sorted
    std::vector<event_key> now_;
    std::vector<item> client_infos_;
    std::vector<item> extended_; // items whose type has another name
    std::int32_t local_ = -1;
    std::int32_t followed_ = -1;
    std::optional<std::int32_t> watched_;
    bool hides_health_ = false;
};

/// The position of the tee in the tick of the snapshot, if nothing has stopped it since position_tick.
[[nodiscard]] position expected_position(tee const& t, std::int32_t tick) noexcept;
/// Between a position and the nearest one where a tee may be in the tick of the snapshot: where it was, or where it moves
/// on the ground or falls. In squared units.
[[nodiscard]] double squared_distance_to(tee const& t, position at, std::int32_t tick) noexcept;
/// In units.
[[nodiscard]] double distance(position a, position b) noexcept;
[[nodiscard]] double squared_distance(position a, position b) noexcept;

} // namespace teewire::replay
