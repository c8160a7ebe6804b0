// Players who watch, pause, are ready, join a race team, or show an emoticon.
#pragma once

#include "events/pending_events.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace teewire::replay {

class status_events {
public:
    status_events(event_context const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// The players of the last snapshot, if it is not the first one.
    void read_players();
    /// The client that the receiver of the last snapshot watches: -1 if none, empty if it plays.
    void read_watched(std::optional<std::int32_t> client_id);
    /// The fields of a message with DDNet's teams of all clients.
    void receive_teams(std::span<std::uint8_t const> fields);
    void receive_emoticon(std::span<std::uint8_t const> fields);

private:
    event_context const& game_;
    pending_events& pending_;
    std::optional<std::int32_t> watched_;
    std::vector<std::int32_t> teams_; // by client, as last received
};

} // namespace teewire::replay
