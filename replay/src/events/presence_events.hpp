// Players who join, leave, or change their name or team.
#pragma once

#include "events/pending_events.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

class presence_events {
public:
    presence_events(event_context& game, pending_events& pending)
        : game_{game}, pending_{pending}, client_info_{*find_object(game.version, "client_info")} {}

    void begin_tick();
    /// A message about a player who joins or leaves: by id in 0.7, by name in the chat of 0.6.
    void receive(game_event_kind join_or_leave, std::optional<std::int32_t> client_id, std::string name,
                 std::string reason);
    /// A message that introduces a player, and the result of read_introduction() for it.
    void receive(introduction const& i, game_message const& m);
    /// The items of the last snapshot that say what clients are called.
    void read_names(std::span<item const> client_infos);
    /// The players in the last snapshot.
    void read_players();

private:
    struct heard {
        std::int32_t tick;
        game_event_kind kind;
        std::optional<std::int32_t> client_id;
        std::string name;
        std::string reason;

        [[nodiscard]] bool is_about(game_event const& e) const;
    };

    void add(game_event_kind join_or_leave, std::int32_t client_id);
    void rename(std::int32_t client_id, std::string const& before, evidence known);

    event_context& game_;
    pending_events& pending_;
    object const& client_info_;
    std::vector<heard> heard_; // in the last second, and not seen yet
    std::map<std::int32_t, std::int32_t> teams_;
    std::uint64_t names_seen_ = 0; // the version when players were read last
};

} // namespace teewire::replay
