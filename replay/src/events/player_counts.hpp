// Counts of what players did in a recording, which can be added up.
//
// Everything lies between two ticks, and belongs to the later one: what happens in the first tick of a recording is not
// counted, as it belongs to what was before. So demos that were cut at a tick which both have add up to the whole one.
#pragma once

#include "events/game_event_reader.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// By hammer, gun, shotgun, grenade, laser and ninja.
using weapon_counts = std::array<std::uint64_t, 6>;

struct player_counts {
    std::uint64_t ticks = 0;      ///< in the game, spectators included
    std::uint64_t played = 0;     ///< ticks, without those as a spectator
    std::uint64_t hooked = 0;     ///< ticks in which the hook held, in sight
    std::uint64_t frozen = 0;     ///< ticks, in sight
    std::uint64_t distance = 0;   ///< 256ths of a unit, in sight, from snapshot to snapshot, without teleports
    std::uint64_t latency = 0;    ///< milliseconds, added up over `ticks`
    std::uint64_t kills = 0;      ///< of others
    std::uint64_t deaths = 0;     ///< own ones included
    std::uint64_t own_deaths = 0; ///< by oneself, the world or the game
    std::uint64_t finishes = 0;
    std::uint64_t chat = 0;           ///< lines, to whomever
    std::optional<std::int64_t> best; ///< milliseconds, of the finishes
    weapon_counts kills_by{};         ///< where it is known
    weapon_counts shots{};            ///< in sight
    weapon_counts hits{};             ///< the same; by what is in hand when it hits

    void add(player_counts const& other);
    friend bool operator==(player_counts const&, player_counts const&) = default;
};
/// By name.
using player_table = std::map<std::string, player_counts>;
void add(player_table const& from, player_table& to);

/// Counts what happens in any number of recordings.
class player_counter final : public event_sink {
public:
    player_counter() = default;
    void put(stream_event const& event) override;
    /// No more comes.
    void finish();
    [[nodiscard]] player_table const& players() const noexcept { return players_; }

private:
    struct counted_client {
        player_counts* counts;
        bool plays;
    };
    void count(game_event const& e);
    void add_time();
    void add_ways();
    void look_who_is_there();

    player_table players_;
    game_event_reader reader_{[this](game_event const& e) { count(e); }};
    bool begun_ = false;
    std::int32_t first_tick_ = -1;
    std::int32_t tick_ = -1;
    std::uint64_t waiting_ = 0;            // ticks with the state of the last snapshot, not added yet
    std::vector<std::int32_t> ids_;        // of the last snapshot's players
    std::vector<counted_client> clients_;  // the same
    std::optional<std::uint64_t> version_; // of the names by which they are counted
};

} // namespace teewire::replay
