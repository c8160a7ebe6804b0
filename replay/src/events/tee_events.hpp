// Spawns, shots, hits, pickups, hooks and freezes of tees.
#pragma once

#include "events/hook_events.hpp"
#include "events/pending_events.hpp"

#include <cstdint>
#include <set>
#include <string_view>

namespace teewire::replay {

class tee_events {
public:
    tee_events(event_context const& game, pending_events& pending)
        : game_{game}, pending_{pending}, hooks_{game, pending} {}

    /// The items of the last snapshot that are events.
    void read_events();
    /// The tees of the last snapshot.
    void read_tees();

private:
    [[nodiscard]] bool has_shot(tee const& t, tee const* before) const;
    void add(tee const* client, game_event&& e);
    void spawned(position at);
    void hammered(position at);
    void damaged(event_item const& i);
    void heard_sound(event_item const& i);
    void picked_up(std::string_view pickup_name, position at);
    void was_hit(position at);

    event_context const& game_;
    pending_events& pending_;
    hook_events hooks_;
    std::set<std::int32_t> hammerers_; // whose hits with it this snapshot has
    std::set<std::int32_t> hurt_;      // in this snapshot
};

} // namespace teewire::replay
