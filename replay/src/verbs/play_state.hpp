// What `play` shows a demo with.
#pragma once

#include "events/timeline.hpp"
#include "game/players.hpp"
#include "recording/demo/demo_document.hpp"

#include <cstdint>
#include <vector>

namespace teewire::replay {

/// A demo that can be looked at at any tick.
class play_state {
public:
    play_state(demo_document& demo, timeline const& all) : demo_{demo}, timeline_{all} {
        // Going to a tick needs ascending ticks, as the timeline has them.
        for (demo_keyframe const& k : demo.keyframes())
            if (keyframes_.empty() || k.tick > keyframes_.back().tick) keyframes_.push_back(k);
    }

    /// Costs what decoding from the keyframe before it does.
    [[nodiscard]] std::vector<player> players(std::int32_t tick) {
        // Errors were found when the timeline was read. The state in front of them stays.
        static_cast<void>(demo_.player().seek(tick, keyframes_));
        snapshot_view const snapshot = demo_.player().state();
        name_table names = timeline_.names(tick);
        names.read(snapshot, demo_.item_protocol());
        return read_players(snapshot, demo_.item_protocol(), names, tick);
    }

private:
    demo_document& demo_;
    timeline const& timeline_;
    std::vector<demo_keyframe> keyframes_;
};

} // namespace teewire::replay
