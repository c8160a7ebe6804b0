#include "http/scoreboard.hpp"

#include "base/json.hpp"

namespace teewire::replay {

void scoreboard::put(stream_event const& event) {
    switch (event.kind) {
    case event_kind::begin:
        version_ = event.begun->version;
        state_.clear();
        break;
    case event_kind::snapshot:
        state_.assign(event.state);
        tick_ = event.tick;
        break;
    default: break;
    }
}

std::string scoreboard::json(game_event_reader const& events) const {
    rapidjson::StringBuffer text;
    json_writer json{text};
    json.StartArray();
    if (state_.has_value()) {
        for (player const& p : read_players(state_.view(), version_, events.names(), tick_)) {
            object_writer one{json};
            one.number("id", p.client_id);
            one.text("name", p.name);
            one.text("clan", p.clan);
            one.text("team", p.team);
            if (p.score && !p.timed) one.number("score", *p.score);
            if (p.time) one.number("time_ms", *p.time);
        }
    }
    json.EndArray();
    return {text.GetString(), text.GetSize()};
}

} // namespace teewire::replay
