#include "teewire/demo_writer.hpp"

#include "teewire/varint.hpp"

#include <algorithm>

namespace teewire {

result<std::size_t> demo_encoder::write_tick(std::int32_t tick, bool keyframe,
                                             std::span<std::uint8_t> out) noexcept {
    bool const inline_bit = version_ >= 5;
    if (tick < 0) return failure{errc::bad_tick, 0};
    std::int32_t const step = last_tick_ ? tick - *last_tick_ : 0;
    if (step < 0 || (last_tick_ && step == 0 && !inline_bit && !keyframe)) return failure{errc::bad_tick, 0};
    auto const flag = static_cast<std::uint8_t>(keyframe ? 0xc0 : 0x80);
    bool const relative = last_tick_ && !keyframe && step <= (inline_bit ? 31 : 63);
    if (out.size() < (relative ? 1 : max_demo_tick_marker)) return failure{errc::output_full, 0};
    last_tick_ = tick;
    if (relative) {
        out[0] = static_cast<std::uint8_t>(flag | (inline_bit ? 0x20 : 0) | step);
        return 1;
    }
    out[0] = flag;
    for (std::size_t i = 0; i < 4; ++i)
        out[1 + i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(tick) >> (24 - 8 * i));
    return max_demo_tick_marker;
}

result<std::size_t> demo_encoder::write_ints(demo_chunk_kind kind, std::span<std::int32_t const> ints,
                                             std::span<std::uint8_t> out) noexcept {
    assert(kind != demo_chunk_kind::tick);
    if (ints.size() > max_demo_chunk_ints) return failure{errc::too_large, max_demo_chunk_ints};
    auto const packed_size = encode_varints(ints, memory_.packed);
    if (!packed_size) return failure{errc::too_large, packed_size.error().position};
    auto const packed = std::span{memory_.packed}.first(*packed_size);
    std::size_t const size = huffman_size(packed, ending_);
    if (size > max_demo_chunk_bytes) return failure{errc::too_large, ints.size()};

    std::size_t const head = size < 30 ? 1 : size < 256 ? 2 : 3;
    if (out.size() < head + size) return failure{errc::output_full, 0};
    out[0] = static_cast<std::uint8_t>(static_cast<std::size_t>(kind) << 5 | (head == 1 ? size : 28 + head));
    if (head > 1) out[1] = static_cast<std::uint8_t>(size);
    if (head > 2) out[2] = static_cast<std::uint8_t>(size >> 8);
    [[maybe_unused]] auto const encoded = huffman_encode(packed, out.subspan(head), ending_);
    assert(encoded && *encoded == size);
    return head + size;
}

result<std::size_t> demo_encoder::write_message(std::span<std::uint8_t const> bytes,
                                                std::span<std::uint8_t> out) noexcept {
    std::size_t const count = (bytes.size() + 3) / 4;
    if (count > max_demo_chunk_ints) return failure{errc::too_large, 4 * max_demo_chunk_ints};
    auto const ints = std::span{memory_.ints}.first(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t word = 0;
        for (std::size_t b = 4 * i; b < std::min(4 * i + 4, bytes.size()); ++b)
            word |= std::uint32_t{bytes[b]} << 8 * (b % 4);
        ints[i] = static_cast<std::int32_t>(word);
    }
    return write_ints(demo_chunk_kind::message, ints, out);
}

result<std::size_t> demo_writer::write_snapshot(std::int32_t tick, snapshot_view snapshot,
                                                std::span<std::uint8_t> out) noexcept {
    if (tick < 0 || (encoder_.last_tick() && tick <= *encoder_.last_tick())) return failure{errc::bad_tick, 0};
    if (snapshot.ints().size() > memory_.previous.size()) return failure{errc::too_large, memory_.previous.size()};
    if (snapshot.size() > memory_.delta.items) return failure{errc::too_many_items, memory_.delta.items};

    std::span<std::int32_t const> ints = snapshot.ints();
    demo_chunk_kind kind = demo_chunk_kind::snapshot;
    if (keyframe_tick_ && tick - *keyframe_tick_ <= keyframe_interval) {
        auto const delta = create_delta(previous_, snapshot, *options_.sizes, memory_.delta, memory_.delta_ints);
        // Otherwise an item changed its size or shares its key, which only a full snapshot can express, or the delta is
        // larger than one.
        if (delta) {
            kind = demo_chunk_kind::delta;
            ints = *delta;
        }
    }
    bool const keyframe = kind == demo_chunk_kind::snapshot;
    auto const tick_before = encoder_.last_tick();
    auto const marker = encoder_.write_tick(tick, keyframe, out);
    if (!marker) return marker;
    std::size_t size = *marker;
    if (!ints.empty()) {
        auto const chunk = encoder_.write_ints(kind, ints, out.subspan(size));
        if (!chunk) {
            encoder_.restore_tick(tick_before);
            return chunk;
        }
        size += *chunk;
        std::copy(snapshot.ints().begin(), snapshot.ints().end(), memory_.previous.begin());
        previous_ = snapshot_view::trusted(std::span{memory_.previous}.first(snapshot.ints().size()),
                                           snapshot.distinct_keys());
    }
    unchanged_ += ints.empty();
    if (keyframe) keyframe_tick_ = tick;
    if (!first_tick_) first_tick_ = tick;
    return size;
}

bool demo_writer::add_marker() noexcept {
    if (!encoder_.last_tick() || marker_count_ == max_demo_markers) return false;
    std::int32_t const tick = *encoder_.last_tick();
    if (marker_count_ > 0 && tick - markers_[marker_count_ - 1] < min_marker_distance) return false;
    markers_[marker_count_++] = tick;
    return true;
}

void demo_writer::finish(demo_header& header) const noexcept {
    header.length = first_tick_ ? (*encoder_.last_tick() - *first_tick_) / ticks_per_second : 0;
    header.marker_count = static_cast<std::int32_t>(marker_count_);
    header.marker_ticks = markers_;
}

} // namespace teewire
