#include "teewire/snapshot_receiver.hpp"

#include "teewire/varint.hpp"

#include <algorithm>
#include <bit>

namespace teewire {
namespace {

constexpr std::uint32_t max_errors = 10;       // wrong checksums until a full snapshot is asked for
constexpr std::int32_t restart_distance = 500; // a tick so far back is not late: the server restarted

} // namespace

void snapshot_receiver::reset() noexcept {
    for (auto& p : parts_) p.tick = -1;
    past_.clear();
    ack_ = newest_ = -1;
    errors_ = 0;
    urgent_ = false;
}

void snapshot_receiver::ask_for_all() noexcept {
    urgent_ = urgent_ || ack_ != -1;
    ack_ = -1;
}

// Stores a part. The snapshot's parts when it is complete; otherwise null, and the event says why.
snapshot_parts* snapshot_receiver::collect(messages::snap const& m, snapshot_event& event) noexcept {
    event.kind = snapshot_event_kind::ignored;
    auto found = std::find_if(parts_.begin(), parts_.end(), [&](auto const& p) { return p.tick == m.tick; });
    if (found == parts_.end()) {
        // The oldest one gives way, unless it is newer than this.
        found = std::min_element(parts_.begin(), parts_.end(),
                                 [](auto const& a, auto const& b) { return a.tick < b.tick; });
        if (found->tick > m.tick) return nullptr;
        found->present = 0;
    }
    snapshot_parts& p = *found;
    auto const count = static_cast<std::uint32_t>(m.parts);
    if (p.present == 0 || p.tick != m.tick || p.count != count || p.base_tick != m.base_tick ||
        p.checksum != m.checksum) {
        p.present = 0;
        p.tick = m.tick;
        p.base_tick = m.base_tick;
        p.checksum = m.checksum;
        p.count = count;
    }
    auto const part = static_cast<std::size_t>(m.part);
    p.present |= std::uint64_t{1} << part;
    std::copy(m.data.begin(), m.data.end(),
              p.bytes.begin() + static_cast<std::ptrdiff_t>(part * snapshot_part_bytes));
    // Only the last part may be shorter than the others.
    if (part + 1 == count) p.size = static_cast<std::uint32_t>(part * snapshot_part_bytes + m.data.size());
    event.kind = snapshot_event_kind::part;
    return static_cast<std::uint32_t>(std::popcount(p.present)) == count ? &p : nullptr;
}

void snapshot_receiver::decode(std::span<std::uint8_t const> bytes, snapshot_view base, snapshot_scratch& scratch,
                               snapshot_event& event) noexcept {
    event.kind = snapshot_event_kind::damaged;
    event.delta_bytes = bytes.size();
    snapshot_view built = base;
    if (!bytes.empty()) {
        auto const count = decode_varints(bytes, scratch.ints, decoding::lenient, options_.notes);
        if (!count) {
            event.error = count.error();
            return;
        }
        event.delta = std::span<std::int32_t const>{scratch.ints}.first(*count);
        apply_options apply;
        apply.mode = options_.mode;
        apply.notes = options_.notes;
        auto const applied =
            apply_delta(base, event.delta, *options_.sizes, scratch.delta, scratch.snapshot, apply);
        if (!applied) {
            event.error = applied.error();
            return;
        }
        built = *applied;
    } else {
        // Out of the history, which is about to move on.
        std::copy(base.ints().begin(), base.ints().end(), scratch.snapshot.begin());
        built = snapshot_view::trusted(std::span{scratch.snapshot}.first(base.ints().size()), base.distinct_keys());
    }
    if (event.has_checksum && built.checksum() != event.checksum) {
        event.error = {errc::bad_checksum, 0};
        if (++errors_ > max_errors) {
            ask_for_all();
            errors_ = 0;
        }
        return;
    }
    errors_ -= errors_ > 0;
    auto const kept = options_.listening == snapshot_listening::observer ? past_.add_late(event.tick, built)
                                                                         : past_.add(event.tick, built);
    if (!kept) {
        event.error = kept.error();
        return;
    }
    event.kind = snapshot_event_kind::snapshot;
    event.snapshot = *kept;
}

snapshot_event snapshot_receiver::receive(message const& m, snapshot_scratch& scratch) noexcept {
    snapshot_event event;
    message_type const type = identify(m, options_.version);
    if (type != message_type::snap && type != message_type::snap_empty && type != message_type::snap_single)
        return event;
    auto const s = decode_snap(m, options_.version);
    if (!s) {
        event.kind = snapshot_event_kind::malformed;
        event.error = s.error();
        return event;
    }
    event.tick = s->tick;
    event.base_tick = s->base_tick;
    event.has_checksum = s->has_checksum;
    event.checksum = s->checksum;
    event.kind = snapshot_event_kind::ignored;
    bool const observer = options_.listening == snapshot_listening::observer;
    if (observer) {
        event.restarted = s->tick < newest_ - restart_distance;
        if (event.restarted) reset();
        else if (past_.find(s->tick)) return event;
    } else if (s->tick < newest_ || past_.newest() >= s->tick) {
        return event;
    }
    newest_ = std::max(newest_, s->tick);

    std::span<std::uint8_t const> bytes = s->data;
    snapshot_parts* complete = nullptr;
    if (s->parts > 1) {
        complete = collect(*s, event);
        if (complete == nullptr) return event;
        complete->tick = -1;
        bytes = std::span<std::uint8_t const>{complete->bytes}.first(complete->size);
    }

    auto const base = s->base_tick >= 0 ? past_.find(s->base_tick) : snapshot_view{};
    if (!base) {
        event.kind = snapshot_event_kind::missing_base;
        event.delta_bytes = bytes.size();
        ask_for_all();
        return event;
    }
    decode(bytes, *base, scratch, event);
    if (event.kind != snapshot_event_kind::snapshot || event.tick <= ack_) return event;
    ack_ = event.tick;
    // A server never goes back before the base it uses.
    if (!observer && s->base_tick >= 0) past_.drop_before(s->base_tick);
    return event;
}

} // namespace teewire
