// Races: checkpoints, finishes and best times.
#pragma once

#include "events/announcement.hpp"
#include "events/pending_events.hpp"
#include "game/race.hpp"

#include <string_view>

namespace teewire::replay {

class race_events {
public:
    race_events(event_context const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    void receive(race_news const& news);
    /// A chat message in which the server announces a finish, with these words.
    void receive(announcement const& announced, std::string_view words);

private:
    void add_finish(game_event e);
    void name_best_times(game_event const& of);

    event_context const& game_;
    pending_events& pending_;
};

} // namespace teewire::replay
