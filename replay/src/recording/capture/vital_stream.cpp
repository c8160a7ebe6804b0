#include "recording/capture/vital_stream.hpp"

#include <utility>

namespace teewire::replay {

vital_place vital_stream::receive(chunk const& c, receiver const& deliver) {
    if (!last_) last_ = static_cast<std::uint16_t>((c.sequence + sequence_modulus - 1U) % sequence_modulus);
    std::uint16_t const distance = ahead(c.sequence);
    if (distance == 0 || distance >= window) return vital_place::repeated;
    if (distance != 1) {
        if (!held_.try_emplace(c.sequence, c.data.begin(), c.data.end()).second) return vital_place::repeated;
        held_bytes_ += c.data.size();
        while (held_bytes_ > max_held_bytes) skip(deliver); // they are never acknowledged
        return held_.contains(c.sequence) ? vital_place::held : vital_place::next;
    }
    last_ = c.sequence;
    deliver(c.data);
    release(deliver);
    return vital_place::next;
}

void vital_stream::acknowledge(std::uint16_t ack, receiver const& deliver) {
    if (!last_) {
        last_ = ack;
        return;
    }
    auto const lacking = [this](std::uint16_t sequence) {
        return ahead(sequence) != 0 && ahead(sequence) < window;
    };
    if (acknowledged_ && !lacking(*acknowledged_)) acknowledged_.reset();
    if (acknowledged_ && --patience_ == 0) {
        skip_to(*acknowledged_, deliver);
        acknowledged_.reset();
        if (!last_) return;
    }
    if (!acknowledged_ && lacking(ack)) {
        acknowledged_ = ack;
        patience_ = patience;
    }
}

void vital_stream::finish(receiver const& deliver) {
    if (last_ && acknowledged_) skip_to(*acknowledged_, deliver);
    while (last_ && !held_.empty()) skip(deliver);
    acknowledged_.reset();
}

void vital_stream::begin() {
    forget();
    last_ = 0;
}

void vital_stream::forget() {
    last_.reset();
    held_.clear();
    held_bytes_ = 0;
    acknowledged_.reset();
}

// Delivers what is held and follows the last one. Delivering may make the stream forget everything.
void vital_stream::release(receiver const& deliver) {
    while (last_) {
        auto const next = static_cast<std::uint16_t>((*last_ + 1U) % sequence_modulus);
        auto found = held_.extract(next);
        if (found.empty()) return;
        held_bytes_ -= found.mapped().size();
        last_ = next;
        deliver(found.mapped());
    }
}

void vital_stream::skip_to(std::uint16_t sequence, receiver const& deliver) {
    while (last_ && ahead(sequence) != 0 && ahead(sequence) < window) skip(deliver);
}

// Does without the next one.
void vital_stream::skip(receiver const& deliver) {
    auto const next = static_cast<std::uint16_t>((*last_ + 1U) % sequence_modulus);
    if (!held_.contains(next)) {
        last_ = next;
        ++missing_;
    }
    release(deliver);
}

} // namespace teewire::replay
