// The players of a game, and their names.
#pragma once

#include "game/race.hpp"

#include <teewire/message_types.hpp>
#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

// ---- names ---------------------------------------------------------------------------------------------------------

/// A message about a player. Members without a value leave unchanged what is known.
struct introduction {
    std::int32_t tick = -1;
    std::int32_t client_id = -1;
    std::optional<std::string> name;
    std::optional<std::string> clan;
    std::optional<std::int32_t> team;
};
[[nodiscard]] std::optional<introduction> read_introduction(game_message const& m);

/// The names, clans and teams of clients. Most demos have items for them; those of 0.7 servers have only messages.
class name_table {
public:
    struct identity {
        std::string name; ///< this and all texts below are printable
        std::string clan;
        std::optional<std::int32_t> team;
        std::vector<std::int32_t> item; ///< the item that this was read from
    };

    void add(introduction const& i);
    /// A client_info item, which `info` describes.
    void add(item const& i, object const& info, protocol p);
    /// Reads the client_info items of a snapshot.
    void read(snapshot_view snapshot, protocol p);
    /// Null if nothing is known.
    [[nodiscard]] identity const* find(std::int32_t client_id) const;
    /// "#3" if it is not known.
    [[nodiscard]] std::string name(std::int32_t client_id) const;

private:
    std::map<std::int32_t, identity> known_;
};

// ---- players -------------------------------------------------------------------------------------------------------

/// "hammer", "weapon 9": what an item has in its hands. They are the same in all protocols.
[[nodiscard]] std::string weapon_name(std::int32_t weapon);

/// A player's tee.
struct character {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::optional<std::int32_t> health; ///< clients do not get those of others
    std::optional<std::int32_t> armor;
    std::string weapon;

    [[nodiscard]] std::string position() const;  ///< in tiles: "12.5,30.1"
    [[nodiscard]] std::string condition() const; ///< health and armor: "10/5", or empty
};

struct player {
    std::int32_t client_id = -1;
    std::string name;
    std::string clan;
    std::string team; ///< "spec", "game", "red", "blue", or empty
    std::optional<std::int32_t> score;
    bool timed = false;               ///< the score is a time
    std::optional<std::int64_t> time; ///< of the best finish, in milliseconds
    std::optional<std::int64_t> race; ///< ticks since the start of the race that is being run
    std::int32_t latency = 0;
    std::optional<character> body; ///< none for the dead, spectators, and those a client does not see
};

/// Best score or time first. `tick`: of the snapshot, for the clocks of races.
[[nodiscard]] std::vector<player> read_players(snapshot_view snapshot, protocol p, name_table const& names,
                                               std::int32_t tick = -1);
/// Finds the client ids in items of type player_info.
class player_ids {
public:
    explicit player_ids(protocol p);
    [[nodiscard]] std::uint16_t type() const noexcept { return type_; }
    [[nodiscard]] std::int32_t client_id(item const& i) const noexcept {
        return offset_ < i.data.size() ? i.data[offset_] : i.id();
    }

private:
    std::uint16_t type_;
    std::size_t offset_ = SIZE_MAX; // none in 0.7
};
/// In the order of the items.
[[nodiscard]] std::vector<std::int32_t> read_client_ids(snapshot_view snapshot, protocol p);

/// "2 players: alice 12.5,30.1 10/5 gun, race 0:20.6; bob"
[[nodiscard]] std::string to_text(std::span<player const> players, std::size_t most);

} // namespace teewire::replay
