// Hooks that are thrown, get hold of a player or the ground, and let go.
#pragma once

#include "events/pending_events.hpp"

#include <cstdint>
#include <map>

namespace teewire::replay {

class hook_events {
public:
    hook_events(event_context const& game, pending_events& pending) : game_{game}, pending_{pending} {}

    /// A sound says that one got hold of a player, or of the ground.
    void receive(position at, bool player);
    /// A tee of the last snapshot. `before`: as it was in the one before, or null.
    void read(tee const& t, tee const* before);
    /// Releases the hooks of tees that were not read: they are out of sight, or dead.
    void release_lost();

private:
    struct grip {
        std::int32_t target = -1; // -1: the ground
        std::int32_t since = 0;
        bool heard = false;            // something besides the item says that it got hold
        pending_events::iterator told; // while `since` is not longer ago than `sound_lateness`
    };

    [[nodiscard]] grip* grip_of(tee const& t);
    [[nodiscard]] static bool is_thrown(tee const& t, tee const& before);
    [[nodiscard]] static bool may_hold(tee const& t, grip const& g);
    [[nodiscard]] bool is_told(grip const& g, bool player) const;
    void attach(tee const& t, std::int32_t target, evidence known);
    void got_hold(tee const& t, bool player);
    void release(std::int32_t client_id);
    void add_release(std::int32_t client_id, grip const& g);

    event_context const& game_;
    pending_events& pending_;
    std::map<std::int32_t, grip> grips_;
};

} // namespace teewire::replay
