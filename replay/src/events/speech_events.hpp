// Chat, broadcasts and other words of players and servers.
#pragma once

#include "events/pending_events.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace teewire::replay {

class speech_events {
public:
    speech_events(event_context const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// `version`: of the message.
    void chat(game_message const& m, protocol version);
    void server_message(std::string_view text);
    void broadcast(std::string_view text);
    void motd(std::string_view text);

private:
    void add_whisper(game_event e);
    void add(game_event_kind kind, std::string_view text);
    [[nodiscard]] bool is_on_screen(std::string_view text);

    event_context const& game_;
    pending_events& pending_;
    std::string day_;                                // the message that every new client gets
    std::map<std::string, std::int32_t> broadcasts_; // when each was sent last
};

} // namespace teewire::replay
