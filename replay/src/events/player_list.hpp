// The players of a demo, found by several threads that each decode some of its segments.
#pragma once

#include "game/players.hpp"
#include "recording/demo/segments.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace teewire::replay {

/// A client id under one name.
struct listed_player {
    std::int32_t client_id;
    std::string name;
    std::string clan;
    std::int32_t first_tick;
    std::optional<std::int32_t> score; ///< the last one
    std::optional<std::int64_t> time;  ///< the time that the score stands for in a race, in milliseconds
};

/// Lists everyone who was present under a name, in the order of appearance. game_event_reader knows the same at each tick,
/// but needs all snapshots in their order.
class player_list {
public:
    explicit player_list(protocol p);

    /// Reads a segment; deliver() adds what it found to the list.
    [[nodiscard]] std::unique_ptr<segment_sink> make_part();
    [[nodiscard]] std::vector<listed_player>& players() noexcept { return players_; }

private:
    class part;

    // A part reports these as far as they are new in its segment: names given before the segment are unknown there.
    struct item_fact {
        std::uint16_t id;
        std::vector<std::int32_t> data;
    };
    struct presence_fact {
        std::int32_t client_id;
        std::int32_t tick;
    };
    struct score_fact {
        std::int32_t client_id;
        std::int32_t score;
        std::optional<std::int64_t> time;
    };
    using fact = std::variant<introduction, item_fact, presence_fact, score_fact>;

    void add(introduction const& i) { names_.add(i); }
    void add(item_fact const& i);
    void add(presence_fact const& p);
    void add(score_fact const& s);

    protocol protocol_;
    object const& client_info_;
    name_table names_;
    std::vector<listed_player> players_;
    std::map<std::pair<std::int32_t, std::string>, std::size_t> known_; // indices of players_
    std::map<std::int32_t, std::size_t> present_; // the same, of the player who has the id now
};

} // namespace teewire::replay
