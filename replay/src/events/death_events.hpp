// Kills, from kill messages and the deaths that items show.
#pragma once

#include "events/pending_events.hpp"
#include "game/deaths.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace teewire::replay {

class death_events {
public:
    death_events(event_context& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// The tick is over.
    void end_tick();
    /// Another one has begun.
    void begin_tick();
    /// A kill message.
    void receive(kill_note const& note);
    /// The items of the last snapshot.
    void read();
    /// Begins to treat the recording as that of one receiver.
    void begin_one_receiver();
    void finish();

private:
    void add_death(death const& d, evidence known);
    [[nodiscard]] bool has_gone_to_watch(std::int32_t client_id) const;
    void add_undecided();
    void expect_message(std::int32_t victim);
    void add_unexplained(std::int64_t now);

    event_context& game_;
    pending_events& pending_;
    std::vector<kill_note> notes_; // of several receivers, since the last snapshot with deaths
    int ticks_waited_ = 0;         // since the first of them
    // With one receiver: victims whose death was announced but not seen, with its tick, and the reverse.
    std::set<std::int32_t> victims_; // of messages in this tick
    std::map<std::int32_t, std::int32_t> announced_;
    std::map<std::int32_t, game_event> unexplained_;
};

} // namespace teewire::replay
