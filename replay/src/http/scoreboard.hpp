// Who plays in a stream, for those who show it.
#pragma once

#include "game/players.hpp"
#include "recording/stream/event.hpp"

#include <string>
#include <vector>

namespace teewire::replay {

class scoreboard final : public event_sink {
public:
    void put(stream_event const& event) override;
    /// An array of objects, best first, as the last snapshot has them. At most once a second: it costs as much as reading a
    /// snapshot.
    [[nodiscard]] std::string json();

private:
    protocol version_ = protocol::ddnet;
    name_table names_;
    std::vector<std::int32_t> state_;
    bool distinct_keys_ = false;
    std::int32_t tick_ = -1;
};

} // namespace teewire::replay
