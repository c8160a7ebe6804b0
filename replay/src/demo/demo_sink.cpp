#include "demo/demo_sink.hpp"

#include <algorithm>
#include <utility>

namespace teewire::replay {

void demo_sink::take(stream_event const& event) {
    if (event.kind == event_kind::begin) return begin(*event.begun);
    if (file_ == nullptr) return;
    switch (event.kind) {
    case event_kind::snapshot:
        written_.back().left_out += !file_->write_snapshot(event.tick, event.state);
        if (file_->snapshots() == 0) break;
        for (early_message const& m : std::exchange(early_, {})) take_message(m.bytes, m.vital);
        break;
    case event_kind::message: take_message(event.message, event.vital); break;
    case event_kind::lost: ++written_.back().left_out; break;
    default: break;
    }
}

void demo_sink::begin(recording const& what) {
    end_demo();
    protocol_ = what.version;
    recording named = what;
    if (named.map.name.empty()) named.map.name = "unknown";
    file_ = std::make_unique<demo_file>(target_.next(), named);
    written_demo demo;
    demo.map = named.map;
    demo.has_map = !what.map_bytes.empty();
    demo.lost_markers = what.markers.size() - std::min(what.markers.size(), max_demo_markers);
    written_.push_back(std::move(demo));
}

void demo_sink::take_message(std::span<std::uint8_t const> bytes, bool vital) {
    auto const m = parse_message(bytes);
    if (!m) return;
    // What 0.7 says about players has to be known for the first snapshot; the rest follows it, as players begin with a
    // snapshot.
    if (file_->snapshots() == 0 && !(protocol_ == protocol::teeworlds_07 && roster{}.receive(*m)))
        return early_.push_back({{bytes.begin(), bytes.end()}, vital});
    write(*m, bytes, vital);
}

void demo_sink::write(message const& m, std::span<std::uint8_t const> bytes, bool vital) {
    message_type const type = identify(m, protocol_);
    if (type == message_type::ready_to_enter) return; // players of demos would take it for an invitation
    file_->write_message(m, type, bytes, vital);
}

void demo_sink::end_demo() {
    early_.clear();
    if (file_ == nullptr) return;
    written_.back().snapshots = file_->snapshots();
    written_.back().unchanged = file_->unchanged();
    written_.back().messages = file_->messages();
    complete_.push_back(std::move(file_));
}

std::vector<written_demo> demo_sink::finish() {
    end_demo();
    for (std::size_t i = 0; i < complete_.size(); ++i)
        if (complete_[i]->finish()) written_[i].path = complete_[i]->path();
    // The others are those of which no demo could hold any snapshot.
    std::erase_if(written_, [](written_demo const& demo) { return demo.path.empty(); });
    return written_;
}

} // namespace teewire::replay
