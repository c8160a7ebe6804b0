#include "recording/capture/capture_stream.hpp"

#include "base/interrupts.hpp"

#include <utility>

namespace teewire::replay {
namespace {

// How long a snapshot may come late and still find its place: no base is older.
constexpr std::int32_t patience = snapshot_pacing::keep_ticks;

} // namespace

void map_collector::map_complete(connection_stats const&, map_stay const& stay, std::vector<std::uint8_t>&& bytes) {
    maps_.try_emplace(stay.map.crc, std::move(bytes));
}

std::span<std::uint8_t const> map_collector::find(served_map const& map) const {
    auto const found = maps_.find(map.crc);
    if (found == maps_.end()) return {};
    return found->second;
}

capture_stream::capture_stream(std::span<capture_source const> files, std::uint64_t first_frame,
                               std::vector<map_stay> stays, map_collector const& maps)
    : first_frame_{first_frame}, stays_{std::move(stays)}, maps_{maps}, pass_{files, *this} {}

bool capture_stream::next(stream_event& out) {
    while (ready_.empty()) {
        if (over_ || interrupted()) return false;
        if (pass_.next()) continue;
        over_ = true;
        end_stay();
    }
    current_ = std::move(ready_.front());
    ready_.pop_front();
    out = current_.event;
    if (out.kind == event_kind::begin) {
        out.begun = current_.begun.get();
        state_ = {};
    }
    out.message = current_.message;
    if (out.kind == event_kind::snapshot) std::swap(state_, current_);
    out.state = state_.snapshot.view();
    return true;
}

void capture_stream::stay_begins(connection_stats const& stats, map_stay const&) {
    if (stats.first_frame != first_frame_ || stay_ >= stays_.size()) return;
    end_stay();
    ++stay_;
    protocol_ = stats.version();
}

void capture_stream::begin(connection_stats const& stats) {
    map_stay const& stay = stays_[stay_ - 1];
    owned_event first{event_kind::begin, -1};
    recording_info begun;
    begun.version = protocol_;
    begun.map = stay.map;
    begun.map_bytes = maps_.find(stay.map);
    begun.began = stats.last_time / 1'000'000'000;
    begun.first_tick = stay.first_tick;
    begun.last_tick = stay.last_tick;
    first.begun = std::make_shared<recording_info>(begun);
    ready_.push_back(std::move(first));
    early_.release([&](std::span<std::uint8_t const> bytes, bool vital) {
        ready_.push_back(owned_message(bytes, -1, vital));
    });
    begun_ = true;
}

void capture_stream::snapshot(connection_stats const& stats, snapshot_event const& event) {
    if (!follows(stats)) return;
    if (!begun_) begin(stats);
    if (event.tick <= given_) {
        ready_.emplace_back(event_kind::lost, event.tick);
        return;
    }
    owned_event& made = pending_[event.tick].snapshot.emplace(event_kind::snapshot, event.tick);
    made.event.keyframe = event.base_tick < 0;
    made.snapshot.assign(event.snapshot);
    newest_ = std::max(newest_, event.tick);
    while (!pending_.empty() && pending_.begin()->first < newest_ - patience) {
        auto first = pending_.extract(pending_.begin());
        give(first.key(), std::move(first.mapped()));
    }
}

void capture_stream::game_message(connection_stats const& stats, message const&, message_type,
                                  std::span<std::uint8_t const> bytes, bool vital) {
    if (!follows(stats)) return;
    if (newest_ < 0) early_.add(bytes, vital);
    else pending_[newest_].messages.push_back(owned_message(bytes, newest_, vital));
}

capture_stream::owned_event capture_stream::owned_message(std::span<std::uint8_t const> bytes, std::int32_t tick,
                                                          bool vital) {
    owned_event made{event_kind::message, tick};
    made.event.vital = vital;
    made.message.assign(bytes.begin(), bytes.end());
    return made;
}

void capture_stream::give(std::int32_t tick, pending_tick&& what) {
    if (what.snapshot) ready_.push_back(std::move(*what.snapshot));
    for (owned_event& m : what.messages) ready_.push_back(std::move(m));
    given_ = tick;
}

void capture_stream::end_stay() {
    for (auto& [tick, what] : pending_) give(tick, std::move(what));
    pending_.clear();
    early_.clear();
    newest_ = given_ = -1;
    begun_ = false;
}

} // namespace teewire::replay
