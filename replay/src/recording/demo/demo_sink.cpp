#include "recording/demo/demo_sink.hpp"

#include <algorithm>
#include <utility>

namespace teewire::replay {

void demo_sink::put(stream_event const& event) {
    if (event.kind == event_kind::begin) return begin(*event.begun);
    if (file_ == nullptr) return;
    if (event.kind == event_kind::lost || !file_->put(event)) ++written_.back().left_out;
}

void demo_sink::begin(recording_info const& what) {
    end_demo();
    recording_info named = what;
    if (named.map.name.empty()) named.map.name = "unknown";
    file_ = std::make_unique<demo_file>(target_.next(), named);
    written_demo demo;
    demo.map = named.map;
    demo.has_map = !what.map_bytes.empty();
    demo.lost_markers = what.markers.size() - std::min(what.markers.size(), max_demo_markers);
    written_.push_back(std::move(demo));
}

void demo_sink::end_demo() {
    if (file_ == nullptr) return;
    written_.back().snapshots = file_->snapshots();
    written_.back().unchanged = file_->unchanged();
    written_.back().messages = file_->messages();
    ended_bytes_ += file_->size();
    complete_.push_back(std::move(file_));
}

std::vector<written_demo> demo_sink::finish_ended() {
    for (std::size_t i = 0; i < complete_.size(); ++i)
        if (complete_[i]->finish()) written_[i].path = complete_[i]->path();
    auto const end = written_.begin() + std::ssize(complete_);
    std::vector<written_demo> ended(written_.begin(), end);
    written_.erase(written_.begin(), end);
    complete_.clear();
    // The others are those of which no demo could hold any snapshot.
    std::erase_if(ended, [](written_demo const& demo) { return demo.path.empty(); });
    return ended;
}

std::vector<written_demo> demo_sink::finish() {
    end_demo();
    return finish_ended();
}

} // namespace teewire::replay
