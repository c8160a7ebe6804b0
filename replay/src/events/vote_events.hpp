// Votes: what they are for and how they end.
#pragma once

#include "events/pending_events.hpp"

#include <string>
#include <string_view>

namespace teewire::replay {

class vote_events {
public:
    vote_events(recorded_game const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// A vote_set message.
    void hear(message const& m);
    /// The server says that in the chat.
    void hear(std::string_view text);

private:
    recorded_game const& game_;
    pending_events& pending_;
    std::string running_; // what it is for
};

} // namespace teewire::replay
