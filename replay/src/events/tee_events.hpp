// Spawns, shots, hits, pickups, weapons, hooks and freezes of tees.
#pragma once

#include "events/hook_events.hpp"
#include "events/pending_events.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace teewire::replay {

class tee_events {
public:
    tee_events(event_context& game, pending_events& pending)
        : game_{game}, pending_{pending}, hooks_{game, pending} {}

    /// The items of the last snapshot that are events.
    void read_events();
    /// The tees of the last snapshot.
    void read_tees();

private:
    struct unnamed_spawn {
        pending_events::iterator told; // valid until `arrival_lateness` after `tick`
        position at;
        std::int32_t tick;
    };

    void read_arrival(tee const& t, tee const* before);
    void begin_life(std::int32_t client_id);
    void touched(std::int32_t victim, std::int32_t by);
    [[nodiscard]] bool has_shot(tee const& t, tee const* before) const;
    void add(tee const* client, game_event e);
    void spawned(position at);
    void hammered(position at);
    void damaged(event_item const& i);
    void heard_sound(event_item const& i);
    void picked_up(std::string_view pickup_name, position at);
    [[nodiscard]] tee const* nearest_unsent(position at) const;
    void was_hit(position at);

    event_context& game_;
    pending_events& pending_;
    hook_events hooks_;
    std::set<std::int32_t> hammerers_; // whose hits with it this snapshot has
    std::set<std::int32_t> hurt_;      // in this snapshot
    std::map<std::int32_t, std::int32_t>
        arrivals_; // when tees came, by client, of those whose spawn was not seen yet
    std::map<std::int32_t, std::int32_t> returns_; // the same of those that come back from /spec
    std::vector<unnamed_spawn> spawns_;            // whose tee was not seen yet
};

} // namespace teewire::replay
