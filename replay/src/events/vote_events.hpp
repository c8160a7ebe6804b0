// Votes: what they are for and how they end.
#pragma once

#include "events/pending_events.hpp"

#include <string>
#include <string_view>

namespace teewire::replay {

class vote_events {
public:
    vote_events(event_context const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// A vote_set message.
    void receive(message const& m, protocol version);
    /// The server says that in the chat.
    void receive(std::string_view text);

private:
    event_context const& game_;
    pending_events& pending_;
    std::string running_; // what it is for
    std::string caller_;  // of a vote of this tick, as the chat names it
    std::int32_t called_ = -1;
};

} // namespace teewire::replay
