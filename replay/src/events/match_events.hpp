// Rounds, pauses and flags.
#pragma once

#include "events/pending_events.hpp"

#include <cstdint>

namespace teewire::replay {

class match_events {
public:
    match_events(event_context const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// The last snapshot, if it is not the first one.
    void read();

private:
    void read_flag(std::size_t team);
    void add_flag(game_event_kind kind, std::size_t team, std::int32_t client_id);
    void add_round_end();
    [[nodiscard]] std::int32_t who_returned(std::size_t team) const;

    event_context const& game_;
    pending_events& pending_;
};

} // namespace teewire::replay
