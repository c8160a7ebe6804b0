#include "recording/stream/event_queue.hpp"

#include <utility>

namespace teewire::replay {
namespace {

constexpr std::size_t message_padding = 3; // what stream_event promises

} // namespace

owned_recording_info::owned_recording_info(recording_info const& from)
    : what{from}, map{std::make_shared<std::vector<std::uint8_t> const>(from.map_bytes.begin(),
                                                                        from.map_bytes.end())} {
    what.map_bytes = *map;
    what.markers = {};
}

std::size_t event_queue::waiting::bytes() const noexcept {
    return sizeof *this + state.bytes() + message.size() + (begun ? begun->map->size() : 0);
}

void event_queue::add(stream_event const& event, milliseconds due) {
    waiting w{due, event.kind, event.keyframe, event.vital, event.tick, {}, {}, {}};
    if (event.kind == event_kind::begin) {
        recording_info kept = *event.begun;
        if (bytes_ + w.bytes() + kept.map_bytes.size() > most_bytes_) kept.map_bytes = {};
        w.begun = std::make_shared<owned_recording_info const>(kept);
    } else if (event.kind == event_kind::message) {
        w.message.reserve(event.message.size() + message_padding);
        w.message.assign(event.message.begin(), event.message.end());
        w.message.resize(event.message.size() + message_padding);
    } else if (event.kind == event_kind::snapshot) {
        w.state.assign(event.state);
    }
    if (w.kind != event_kind::begin && bytes_ + w.bytes() > most_bytes_) {
        if (!waiting_.empty() && waiting_.back().kind == event_kind::lost) return;
        w.kind = event_kind::lost;
        w.state = {};
        w.message = {};
    }
    bytes_ += w.bytes();
    waiting_.push_back(std::move(w));
}

void event_queue::release(milliseconds now, event_sink& to) {
    while (!waiting_.empty() && waiting_.front().due <= now) {
        waiting w = std::move(waiting_.front());
        waiting_.pop_front();
        bytes_ -= w.bytes();
        stream_event e;
        e.kind = w.kind;
        e.tick = w.tick;
        e.keyframe = w.keyframe;
        e.vital = w.vital;
        if (w.kind == event_kind::begin) {
            last_ = {};
            begun_ = w.begun;
            e.begun = &begun_->what;
        } else if (w.kind == event_kind::message) {
            e.message = std::span{w.message}.first(w.message.size() - message_padding);
        }
        if (w.kind == event_kind::snapshot) last_ = std::move(w);
        e.state = last_.state.view();
        to.put(e);
    }
}

std::optional<milliseconds> event_queue::next() const {
    if (waiting_.empty()) return {};
    return waiting_.front().due;
}

} // namespace teewire::replay
