#include "recording/stream/tick_reader.hpp"

#include <utility>

namespace teewire::replay {

void tick_reader::keep(snapshot_view snapshot) {
    changed_ = true;
    state_.assign(snapshot);
}

// False if there is no room.
bool tick_reader::keep_message() {
    constexpr std::size_t most = 1024, most_bytes = 1 << 20;
    if (kept_.size() == most || bytes_.size() > most_bytes) return false;
    bytes_.insert(bytes_.end(), pending_.message.begin(), pending_.message.end());
    kept_.push_back({bytes_.size(), pending_.vital});
    return true;
}

// Goes to the next event with a tick.
void tick_reader::keep_early() {
    if (std::exchange(begins_, false)) pull();
    if (!std::exchange(kept_for_next_, true)) {
        bytes_.clear();
        kept_.clear();
        messages_.clear();
    }
    for (; more_ && pending_.kind != event_kind::begin && pending_.tick < 0; pull())
        if (pending_.kind == event_kind::message)
            static_cast<void>(keep_message()); // those that find no room are lost
}

void tick_reader::list_messages() {
    messages_.clear();
    std::size_t begin = 0;
    for (kept_message const& m : kept_) {
        messages_.push_back({std::span{bytes_}.subspan(begin, m.end - begin), m.vital});
        begin = m.end;
    }
}

std::optional<std::int32_t> tick_reader::peek() {
    keep_early();
    if (!more_ || pending_.kind == event_kind::begin) return {};
    return pending_.tick;
}

bool tick_reader::next() {
    keep_early();
    kept_for_next_ = false;
    if (!more_) return false;
    if (pending_.kind == event_kind::begin) {
        begins_ = true;
        recording_ = *pending_.begun;
        tick_ = -1;
        state_.clear();
        changed_ = true;
        return true;
    }
    tick_ = pending_.tick;
    bool has_snapshot = false;
    for (; more_ && pending_.kind != event_kind::begin && pending_.tick == tick_; pull()) {
        if (pending_.kind == event_kind::snapshot) {
            if (std::exchange(has_snapshot, true)) break;
            keep(pending_.state);
        } else if (pending_.kind == event_kind::message && !keep_message()) {
            break;
        }
    }
    list_messages();
    return has_snapshot || !cut_short();
}

} // namespace teewire::replay
