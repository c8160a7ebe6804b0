#include "teewire/snapshot_sender.hpp"

#include "teewire/varint.hpp"

#include <algorithm>

namespace teewire {
namespace {

constexpr std::size_t max_head = max_snapshot_message_bytes - snapshot_part_bytes;

// Ids and the system flag in one byte, as messages begin.
struct snap_ids {
    std::uint8_t snap, empty, single;
};
constexpr snap_ids ids_06{5 << 1 | 1, 6 << 1 | 1, 7 << 1 | 1};
constexpr snap_ids ids_07{6 << 1 | 1, 7 << 1 | 1, 8 << 1 | 1};

// The distance to no base has to fit too.
bool can_be_sent(std::int32_t tick) noexcept { return tick >= 0 && tick < INT32_MAX; }

} // namespace

bool snapshot_messages::next(std::span<std::uint8_t const>& message) noexcept {
    if (next_ == parts_) return false;
    snap_ids const& ids = v07_ ? ids_07 : ids_06;
    std::size_t const begin = next_ * snapshot_part_bytes;
    std::size_t const size = std::min(size_ - begin, snapshot_part_bytes);

    std::uint8_t head[max_head];
    head[0] = size_ == 0 ? ids.empty : parts_ == 1 ? ids.single : ids.snap;
    std::uint8_t* at = put_varint(head + 1, tick_);
    at = put_varint(at, tick_ - base_tick_);
    if (parts_ > 1) {
        at = put_varint(at, static_cast<std::int32_t>(parts_));
        at = put_varint(at, static_cast<std::int32_t>(next_));
    }
    if (size_ > 0) {
        at = put_varint(at, static_cast<std::int32_t>(checksum_));
        at = put_varint(at, static_cast<std::int32_t>(size));
    }
    // It goes where the part before has been, or into the room before the first.
    auto const head_size = static_cast<std::size_t>(at - head);
    std::uint8_t* const first = delta_ + begin - head_size;
    std::copy(head, at, first);
    message = {first, head_size + size};
    ++next_;
    return true;
}

result<snapshot_messages> encode_snapshot(std::int32_t tick, snapshot_view snapshot, std::int32_t base_tick,
                                          snapshot_view base, snapshot_encoding const& encoding,
                                          snapshot_scratch& scratch) noexcept {
    if (!can_be_sent(tick) || base_tick < -1 || base_tick >= tick) return failure{errc::bad_tick, 0};
    auto const delta = create_delta(base, snapshot, *encoding.sizes, scratch.delta, scratch.ints);
    if (!delta) return delta.error();
    auto const room = std::span{scratch.bytes}.subspan(max_head);
    auto const size = encode_varints(*delta, room);
    if (!size) return size.error();

    snapshot_messages m;
    m.set(tick, base_tick, *size > 0 ? snapshot.checksum() : 0, room.data(), *size, encoding.version);
    if (m.parts_ > encoding.max_parts) return failure{errc::too_large, *size};
    return m;
}

void snapshot_messages::set(std::int32_t tick, std::int32_t base_tick, std::uint32_t checksum, std::uint8_t* delta,
                            std::size_t size, protocol version) noexcept {
    delta_ = delta;
    size_ = size;
    parts_ = std::max<std::size_t>(1, (size + snapshot_part_bytes - 1) / snapshot_part_bytes);
    tick_ = tick;
    base_tick_ = base_tick;
    checksum_ = checksum;
    v07_ = version == protocol::teeworlds_07;
}

bool snapshot_sender::acknowledge(std::int32_t tick) noexcept {
    auto const newest = past_.newest();
    if (!pacing_.acknowledge(tick, newest ? *newest : -1)) return false;
    if (tick >= 0) past_.drop_before(tick);
    return true;
}

result<snapshot_messages> snapshot_sender::send(std::int32_t tick, snapshot_view snapshot,
                                                snapshot_scratch& scratch) noexcept {
    if (!can_be_sent(tick)) return failure{errc::bad_tick, 0};
    past_.drop_before(tick - snapshot_pacing::keep_ticks);
    std::int32_t base_tick = pacing_.acked();
    auto base = base_tick >= 0 ? past_.find(base_tick) : std::nullopt;
    if (!base) {
        if (base_tick >= 0) pacing_.lose_base();
        base_tick = -1;
        base = snapshot_view{};
    }
    auto messages = encode_snapshot(tick, snapshot, base_tick, *base, encoding_, scratch);
    if (!messages && messages.error().code == errc::size_mismatch && base_tick >= 0)
        messages = encode_snapshot(tick, snapshot, -1, snapshot_view{}, encoding_, scratch);
    if (!messages) return messages;
    // Adding may drop the base, but its delta is made.
    if (auto const kept = past_.add(tick, snapshot); !kept) return kept.error();
    return messages;
}

void snapshot_sender::reset() noexcept {
    past_.clear();
    pacing_ = snapshot_pacing{interval_};
}

} // namespace teewire
