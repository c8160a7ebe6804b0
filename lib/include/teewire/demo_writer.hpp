/// @file
/// Writes demo files as recorders do: doc/format/demo.md#keyframes.
#pragma once

#include "teewire/delta.hpp"
#include "teewire/demo_format.hpp"
#include "teewire/huffman.hpp"

#include <optional>

namespace teewire {

/// Memory for demo_encoder. 128 KiB.
struct demo_encoder_memory {
    /// @cond memory
    std::array<std::uint8_t, max_demo_packed_bytes> packed;
    std::array<std::int32_t, max_demo_chunk_ints> ints;
    /// @endcond
};

/// Encodes tick markers and chunks, in the form that recorders choose: the shortest. Everything is written to the start
/// of the memory given with each call; where it goes from there is the caller's business.
class demo_encoder {
public:
    /// Bytes that one call writes at most.
    static constexpr std::size_t max_bytes = max_demo_chunk_head + max_demo_chunk_bytes;

    /// `version`: 3 to 6. Keeps `memory`.
    demo_encoder(demo_encoder_memory& memory, std::uint8_t version, huffman_end ending) noexcept
        : memory_{memory}, version_{version}, ending_{ending} {}

    /// A marker: absolute for keyframes, for the first one and for large steps, otherwise relative. Errors: bad_tick
    /// when the tick is negative or smaller than the one before, or equal in versions 3 and 4, which cannot express
    /// it; output_full.
    result<std::size_t> write_tick(std::int32_t tick, bool keyframe, std::span<std::uint8_t> out) noexcept;

    /// A chunk of ints. Errors: too_large when they exceed what a chunk can hold; output_full.
    result<std::size_t> write_ints(demo_chunk_kind kind, std::span<std::int32_t const> ints,
                                   std::span<std::uint8_t> out) noexcept;

    /// A message, padded to whole ints. Errors as write_ints.
    result<std::size_t> write_message(std::span<std::uint8_t const> bytes, std::span<std::uint8_t> out) noexcept;

    /// The tick of the last marker, if there was one.
    [[nodiscard]] std::optional<std::int32_t> last_tick() const noexcept { return last_tick_; }
    /// Takes back a marker that was not followed by its chunk.
    void restore_tick(std::optional<std::int32_t> tick) noexcept { last_tick_ = tick; }

private:
    demo_encoder_memory& memory_;
    std::uint8_t version_;
    huffman_end ending_;
    std::optional<std::int32_t> last_tick_;
};

/// Memory for demo_writer. About 0.3 MiB.
struct demo_writer_memory {
    /// @cond memory
    demo_encoder_memory encoder;
    std::array<std::int32_t, max_demo_chunk_ints> previous;
    std::array<std::int32_t, max_demo_chunk_ints> delta_ints;
    delta_memory<> delta;
    /// @endcond
};

/// Records snapshots and messages as a demo, with keyframes where recorders put them.
class demo_writer {
public:
    /// Bytes that one call writes at most.
    static constexpr std::size_t max_bytes = max_demo_tick_marker + demo_encoder::max_bytes;
    static constexpr std::int32_t keyframe_interval = 250;  ///< ticks; the first snapshot beyond it is a keyframe
    static constexpr std::int32_t min_marker_distance = 50; ///< ticks between timeline markers

    /// Options of a demo writer.
    struct options {
        std::uint8_t version = max_demo_version; ///< 3 to 6, the header's
        huffman_end ending = huffman_end::exact; ///< of every chunk
        size_table const* sizes = &sizes_06;     ///< with which readers will read it
    };

    /// Keeps `memory` and `chosen.sizes`.
    demo_writer(demo_writer_memory& memory, options const& chosen) noexcept
        : memory_{memory}, options_{chosen}, encoder_{memory.encoder, chosen.version, chosen.ending} {}

    /// The header comes first, then the map, both from the caller: write_demo_header.

    /// Records a snapshot: a keyframe, a delta, or only the marker if nothing changed. An item that changes its size
    /// makes a keyframe, because no delta can express it, and so do two items with one key. Errors: bad_tick when the
    /// tick is not larger than the one before; too_many_items; too_large; output_full. A failed call records nothing.
    result<std::size_t> write_snapshot(std::int32_t tick, snapshot_view snapshot,
                                       std::span<std::uint8_t> out) noexcept;

    /// Records a message for the tick of the last snapshot.
    result<std::size_t> write_message(std::span<std::uint8_t const> bytes, std::span<std::uint8_t> out) noexcept {
        return encoder_.write_message(bytes, out);
    }

    /// Makes the next snapshot a keyframe.
    void request_keyframe() noexcept { keyframe_tick_.reset(); }

    /// Marks the last tick for the timeline. False if the marker before is too near or there are 64.
    bool add_marker() noexcept;

    /// Recorded snapshots that changed nothing: readers find only their ticks.
    [[nodiscard]] std::uint64_t unchanged() const noexcept { return unchanged_; }

    /// Puts length and markers into the header, which the caller then writes again over the first one.
    void finish(demo_header& header) const noexcept;

private:
    demo_writer_memory& memory_;
    options options_;
    demo_encoder encoder_;
    snapshot_view previous_;
    std::optional<std::int32_t> first_tick_;
    std::optional<std::int32_t> keyframe_tick_; // none: the next snapshot has to be one
    std::array<std::int32_t, max_demo_markers> markers_{};
    std::size_t marker_count_ = 0;
    std::uint64_t unchanged_ = 0;
};

} // namespace teewire
