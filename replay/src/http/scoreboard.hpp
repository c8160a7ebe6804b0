// The players in a stream, best first, for web pages.
#pragma once

#include "events/game_event_reader.hpp"
#include "game/owned_snapshot.hpp"
#include "recording/stream/event.hpp"

#include <string>

namespace teewire::replay {

class scoreboard final : public event_sink {
public:
    void put(stream_event const& event) override;
    /// A JSON array of the players in the last snapshot, best first. `events` has read the same stream. Call it at most once a second: it costs as much as
    /// reading a snapshot.
    [[nodiscard]] std::string json(game_event_reader const& events) const;

private:
    protocol version_ = protocol::ddnet;
    owned_snapshot state_;
    std::int32_t tick_ = -1;
};

} // namespace teewire::replay
