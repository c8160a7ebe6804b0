// The events of a game, in one form for printing, counting and storing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

enum class game_event_kind : std::uint8_t {
    join,          ///< client
    leave,         ///< client; text: the reason, where the server says it
    name_change,   ///< client with the name from now on; text: the name before
    team_change,   ///< client; team
    race_team,     ///< client; team: DDNet's, of those who race together; 0: none
    spectate,      ///< client, if known; target: the player that it watches, or none
    spectate_end,  ///< client, if known
    pause,         ///< client; DDNet: leaves the game for a while
    resume,        ///< client; the end of that
    ready,         ///< client; 0.7
    unready,       ///< client; 0.7
    spawn,         ///< client, if known; position
    kill,          ///< client: the killer; target: the victim; weapon; toucher; position
    hit,           ///< client: who hit; target: who was hit; weapon; position
    pickup,        ///< client; text: "health", "armor", "shotgun", "grenade", "laser", "ninja", "weapon"; position
    shot,          ///< client; weapon; position
    weapon_change, ///< client; weapon: in its hands from now on
    hook_throw,    ///< client; position
    hook_attach,   ///< client; target: the player that the hook is in, or none; position
    hook_release,  ///< client; target: as above
    freeze,        ///< client; toucher
    unfreeze,      ///< client
    flag_grab,     ///< client, if known; team: the flag's; position
    flag_drop,     ///< the same
    flag_return,   ///< client, if a player did it; team: the flag's
    flag_capture,  ///< client; team: the flag's; position
    round_start,
    round_end, ///< client or team: the winner, if there is one; text: the scores
    game_pause,
    game_resume,
    checkpoint,     ///< client; time and difference
    finish,         ///< client; time, difference and record
    best_times,     ///< client; time: its own; server_time
    vote,           ///< client: who called it, where the server says it; text: what is voted for
    vote_end,       ///< text: "passed", "failed" or "aborted", where the server says it
    chat,           ///< client; text
    team_chat,      ///< client; text
    whisper,        ///< client; target; text
    emoticon,       ///< client; text: "oop", "hearts", ...
    server_message, ///< text
    broadcast,      ///< text
    motd,           ///< text
    map_change,     ///< text: the map from now on
    marker,         ///< set by the recording user
};
inline constexpr std::size_t game_event_kind_count = static_cast<std::size_t>(game_event_kind::marker) + 1;
/// "hook_attach"
[[nodiscard]] std::string_view name(game_event_kind k) noexcept;
[[nodiscard]] std::optional<game_event_kind> find_event_kind(std::string_view name) noexcept;

/// The source of an event.
enum class evidence : std::uint8_t {
    observed, ///< a message, an item of an event or a header says it
    derived,  ///< concluded from two snapshots
};
/// "observed", "derived"
[[nodiscard]] std::string_view name(evidence e) noexcept;

/// A player who takes part in an event.
struct participant {
    std::int32_t client_id = -1; ///< -1: the game, or several of whom it was one
    std::string name;            ///< at that time, printable; of several: "alice or bob"

    friend bool operator==(participant const&, participant const&) = default;
};

/// A position in the units of items, of which a tile has 32.
struct position {
    std::int32_t x = 0;
    std::int32_t y = 0;

    friend bool operator==(position const&, position const&) = default;
};

enum class race_record : std::uint8_t { none, personal, server };
/// "", "personal", "server"
[[nodiscard]] std::string_view name(race_record r) noexcept;

/// One thing that happened. Its kind decides which members have a meaning.
struct game_event {
    game_event_kind kind = game_event_kind::marker;
    evidence known = evidence::observed;
    std::int32_t tick = -1; ///< -1 before the first one
    double seconds = 0;     ///< since the first tick of the recording
    std::optional<participant> client;
    std::optional<participant> target;
    std::optional<participant> toucher; ///< who hit or hooked the tee last, before it froze or died
    std::optional<std::int32_t> weapon; ///< as in a kill message: -3 game, -2 self, -1 world, otherwise as in items
    std::optional<bool> client_seen;    ///< kill: whether the killer was in sight
    std::optional<std::int32_t> team; ///< -1 spectators, 0 red or no teams, 1 blue; race_team: a number of DDNet's
    std::optional<std::int64_t> time; ///< milliseconds, as the next two
    std::optional<std::int64_t> difference;  ///< to the own best
    std::optional<std::int64_t> server_time; ///< the best of anybody
    race_record record = race_record::none;
    std::optional<position> where;
    bool copied = false; ///< another speaker in the same tick: it may be the same speech in other ids
    std::string text;    ///< the bytes sent, valid UTF-8 or not
};

/// Returns whether a player, known or not, killed another one with a weapon.
[[nodiscard]] bool is_kill_by_another(game_event const& event) noexcept;
/// "hammer", "world", "weapon 9"
[[nodiscard]] std::string weapon_text(std::int32_t weapon);
/// A line for people.
[[nodiscard]] std::string to_text(game_event const& event);

} // namespace teewire::replay
