// Plays a demo segment by segment, and checks that a recorder could have written it.
#pragma once

#include <teewire/demo_reader.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace teewire::replay {

/// Kinds of quirks: notes of the reader, and what recorders never write.
inline constexpr unsigned quirk_count = note_count + 4;

/// A part of a demo: from a keyframe, or the first chunk, to the next keyframe, the end of the file, or damage.
struct segment {
    std::size_t begin = 0; ///< byte
    std::size_t end = 0;
    std::int32_t first_tick = -1;
    std::int32_t last_tick = -1;
    std::int32_t open_tick = -1;    ///< of a marker at the end of the file, whose snapshot may be lost
    std::int32_t after = -1;        ///< only what comes after this tick is kept
    std::int32_t until = INT32_MAX; ///< only what comes before this tick is kept
    std::uint64_t snapshots = 0;
    std::uint32_t quirks = 0;        ///< kinds, as bits
    std::uint64_t repeated_keys = 0; ///< chunks with items whose key another item has
    bool follows = false;            ///< begins where the one before ends
    std::string damage;              ///< why it ends before a keyframe
};

struct segment_memory {
    std::array<std::uint8_t, max_demo_packed_bytes> packed;
    std::array<std::int32_t, max_demo_chunk_ints> ints;
    std::array<std::uint8_t, max_demo_chunk_ints * 4> message;
    live_snapshot_memory<> state;
};

/// Plays the segments of a damaged demo. Unlike a demo_player, it records the quirks of each chunk, checks the order of
/// chunks, and finds out whether a segment begins at a given byte.
class segment_player {
public:
    /// Receives each intact snapshot (changed or not) and message, with its tick. Either function may be empty.
    struct sink {
        std::function<void(std::int32_t tick, snapshot_view state)> snapshot;
        std::function<void(std::int32_t tick, std::span<std::uint8_t const> bytes)> message;
    };

    /// `file` must be openable as a demo. `refused`: quirks that count as damage. Borrows its arguments.
    segment_player(std::span<std::uint8_t const> file, segment_memory& memory, size_table const& sizes,
                   std::uint32_t refused);

    /// Plays one segment. `keep_open_tick`: a marker at the end of the file repeats the snapshot before it.
    segment play(std::size_t begin, sink const& give, bool keep_open_tick);
    /// Whether there is a keyframe at byte `at`: it decodes, and has the sizes of known items or valid chunks after it.
    /// Adds the bytes read to `cost`.
    [[nodiscard]] bool is_keyframe(std::size_t at, std::uint64_t& cost);

private:
    enum class place : std::uint8_t { elsewhere, behind_marker, behind_keyframe };

    void fail(failure what, demo_stage stage, std::int32_t tick, std::size_t position);
    [[nodiscard]] bool accept(demo_chunk const& chunk, std::int32_t tick);
    [[nodiscard]] bool tolerate(std::uint32_t odd, demo_chunk const& chunk);
    void add_snapshot(std::int32_t tick, sink const& give);
    [[nodiscard]] bool play_chunk(demo_chunk const& chunk, sink const& give);

    demo_reader reader_;
    segment_memory& memory_;
    size_table const& sizes_;
    std::uint32_t refused_;
    live_snapshot state_;
    std::int32_t max_step_; // of markers that hold no absolute tick
    bool has_state_ = false;
    place place_ = place::elsewhere;
    segment out_;
};

} // namespace teewire::replay
