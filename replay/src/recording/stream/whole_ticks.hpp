// Makes streams of snapshots from streams of demos, in which a tick without a snapshot means that nothing changed.
#pragma once

#include "recording/stream/event.hpp"

#include <optional>
#include <utility>

namespace teewire::replay {

class whole_ticks final : public event_sink {
public:
    /// `to` must outlive it.
    explicit whole_ticks(event_sink& to) : to_{to} {}

    void put(stream_event const& event) override {
        if (event.kind != event_kind::snapshot || event.tick != open_) finish(event.state);
        open_.reset();
        if (event.kind == event_kind::tick) {
            open_ = event.tick;
            return;
        }
        if (event.kind == event_kind::begin) any_ = false;
        if (event.kind == event_kind::snapshot) any_ = true;
        to_.put(event);
    }
    /// There may be no more events. `state`: the last one.
    void finish(snapshot_view state) {
        auto const tick = std::exchange(open_, std::nullopt);
        if (!tick || !any_) return;
        stream_event e;
        e.kind = event_kind::snapshot;
        e.tick = *tick;
        e.state = state;
        to_.put(e);
    }

private:
    event_sink& to_;
    std::optional<std::int32_t> open_; // a tick of which nothing else is known yet
    bool any_ = false;
};

} // namespace teewire::replay
