// Events that wait until everything is known about them.
#pragma once

#include "events/event_context.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace teewire::replay {

/// Sorted by tick.
class pending_events {
public:
    using iterator = std::list<game_event>::iterator;

    /// Everything given must outlive it.
    pending_events(event_context const& game, std::function<void(game_event const&)> const& tell)
        : game_{game}, tell_{tell} {}

    /// Adds it after those of the same tick.
    iterator add(game_event e);
    /// Adds it unless the same was added in this tick: demos of servers hold a message to everyone once for each client.
    void add_once(game_event e);
    /// Adds chat, team chat, a whisper or an emoticon. With several receivers, clients that say the same in a tick may be one client
    /// under several ids.
    void add_speech(game_event e);

    /// The last event since `tick` for which that holds, or null. It is among the last ones: not even servers of 128
    /// players have more to say in a second, and who floods a recording shall not make it slow.
    template <class F>
    [[nodiscard]] game_event* find(std::int64_t tick, F const& holds) {
        std::size_t left = max_looked_at;
        for (auto p = waiting_.rbegin(); left != 0 && p != waiting_.rend() && p->tick >= tick; ++p, --left)
            if (holds(*p)) return &*p;
        return nullptr;
    }
    static constexpr std::size_t max_looked_at = 1000;

    void begin_tick() { told_.clear(); }
    /// Gives events older than `tick`, up to the first that cannot be decided yet.
    void release(std::int64_t tick);
    /// Gives all of them.
    void finish();

private:
    struct words { // that were said in a tick
        std::int32_t tick;
        game_event_kind kind;
        std::string text;

        friend bool operator<(words const& a, words const& b) {
            return std::tie(a.tick, a.kind, a.text) < std::tie(b.tick, b.kind, b.text);
        }
    };

    void unite_copies();

    event_context const& game_;
    std::function<void(game_event const&)> const& tell_;
    std::list<game_event> waiting_;
    std::set<std::string> told_;                      // in this tick
    std::map<words, std::vector<iterator>> speeches_; // that wait, of several receivers
    bool finished_ = false;
};

} // namespace teewire::replay
