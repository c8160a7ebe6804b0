/// @file
/// Reads demo files: chunk by chunk, and as a player that holds the state of the world. See doc/format/demo.md#chunks and
/// doc/format/demo.md#damage.
#pragma once

#include "teewire/demo_format.hpp"
#include "teewire/live_snapshot.hpp"

#include <span>

namespace teewire {

// ---- chunks --------------------------------------------------------------------------------------------------------

/// A tick marker or a chunk. Borrowed: `payload` points into the file.
struct demo_chunk {
    demo_chunk_kind kind = demo_chunk_kind::unused; ///< what it is
    bool keyframe = false;                          ///< for tick markers: a full snapshot follows
    bool absolute = false;                          ///< for tick markers: does not depend on the marker before
    std::int32_t tick = -1;                         ///< of the marker before the chunk; -1 before the first one
    std::size_t position = 0;                       ///< byte in the file
    std::span<std::uint8_t const> payload;          ///< still compressed
};

/// Pulls chunks out of the bytes of a file. Small and copyable: a copy is a place to come back to.
class demo_reader {
public:
    /// Checks the header and finds the map. Errors as parse_demo_header, and truncated when the map does not fit.
    static result<demo_reader> open(std::span<std::uint8_t const> file, note_log* notes = nullptr) noexcept;

    /// The header as stored.
    [[nodiscard]] demo_header const& header() const noexcept { return header_; }
    /// The map inside the file; empty if there is none.
    [[nodiscard]] std::span<std::uint8_t const> map() const noexcept {
        return file_.subspan(header_.size(), header_.map_size);
    }

    /// The next chunk. False at the end of the file, and on errors, with the byte where the chunk begins: truncated
    /// (inside a chunk or its header), bad_tick (relative to nothing, or negative).
    bool next(demo_chunk& out) noexcept;
    /// Why next() gave false; ok at the end of the file.
    [[nodiscard]] failure error() const noexcept { return error_; }

    /// Where the next chunk begins, and the tick of the last marker.
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    /// The tick of the last marker; -1 before the first one.
    [[nodiscard]] std::int32_t tick() const noexcept { return tick_; }
    /// From here on, quirks go there, or nowhere if null.
    void set_notes(note_log* notes) noexcept { notes_ = notes; }
    /// The file has grown, and may lie elsewhere in memory: `file` begins with the same bytes. next() goes on where there
    /// was nothing more, or only a part of a chunk.
    void extend(std::span<std::uint8_t const> file) noexcept;
    /// Goes on at `position`, which a chunk gave, as if `tick` were the last marker's. Clears errors.
    void seek(std::size_t position, std::int32_t tick) noexcept;

private:
    friend class result<demo_reader>;
    friend class demo_player;

    demo_reader() noexcept = default;
    // Reads the chunk header at `at`, which moves past it. Sets no tick. False if it is cut off.
    bool read_head(std::size_t& at, demo_chunk& out) const noexcept;
    bool fail(errc code, std::size_t position) noexcept {
        error_ = {code, position};
        return false;
    }

    std::span<std::uint8_t const> file_;
    demo_header header_;
    note_log* notes_ = nullptr;
    std::size_t at_ = 0;
    std::int32_t tick_ = -1;
    failure error_{};
};

// ---- overview ------------------------------------------------------------------------------------------------------

/// A tick marker that playing can start from: absolute, with a full snapshot before the next marker.
struct demo_keyframe {
    std::int32_t tick = 0;    ///< of the marker
    std::size_t position = 0; ///< byte of the file
};

/// A summary of a file's chunk headers. Nothing is decompressed.
struct demo_overview {
    std::int32_t first_tick = -1; ///< -1 if there is none
    std::int32_t last_tick = -1;  ///< -1 if there is none
    std::size_t ticks = 0;        ///< markers
    std::size_t restarts = 0;     ///< markers whose tick is not above that of the one before
    std::size_t keyframes = 0;    ///< where playing can begin
    /// Chunks of one kind.
    struct counter {
        std::size_t chunks = 0; ///< how many
        std::size_t bytes = 0;  ///< compressed, with chunk headers
    };
    std::array<counter, 5> kinds{}; ///< by demo_chunk_kind
    failure error{};                ///< where the file is damaged; everything above is what came before
};

/// Reads all chunk headers from the reader's position on. Fills `keyframes` as far as it reaches; the number needed is in
/// the result. O(chunks).
demo_overview scan_demo(demo_reader reader, std::span<demo_keyframe> keyframes) noexcept;

// ---- player --------------------------------------------------------------------------------------------------------

/// The step in which an error was found.
enum class demo_stage : std::uint8_t {
    chunk,    ///< reading a chunk and its header
    huffman,  ///< decompressing it
    varint,   ///< unpacking its ints
    snapshot, ///< checking a full snapshot
    delta,    ///< applying a delta
};
/// "chunk", "huffman", "varint", "snapshot" or "delta".
[[nodiscard]] std::string_view name(demo_stage stage) noexcept;

/// An error of a player and where it was found.
struct demo_failure {
    failure what{}; ///< position: bytes or ints inside the stage's input; for demo_stage::chunk, of the file
    demo_stage stage = demo_stage::chunk; ///< whose input the position counts
    std::int32_t tick = -1;               ///< of the last marker; -1 before the first one
    std::size_t position = 0;             ///< byte of the file where the chunk begins
};

/// Memory for demo_player. About 0.4 MiB.
struct demo_player_memory {
    /// @cond memory
    static constexpr std::size_t chunks_ahead =
        4; // as many as are decompressed at once in hardly more time than two
    // A chunk of up to 256 bytes, of which each bit can be a byte, and what is written beyond in the same step.
    static constexpr std::size_t bytes_ahead = 256 * 8 + 128;

    std::array<std::uint8_t, max_demo_packed_bytes> packed;
    std::array<std::int32_t, max_demo_chunk_ints> ints;
    std::array<std::uint8_t, max_demo_chunk_ints * 4> message;
    live_snapshot_memory<> state;
    std::array<std::array<std::uint8_t, bytes_ahead>, chunks_ahead>
        ahead; // short chunks that have been decompressed
    /// @endcond
};

/// The kinds of demo_event.
enum class demo_event_kind : std::uint8_t {
    tick,     ///< a marker
    snapshot, ///< another state()
    message,  ///< one of the game or of the server
};

/// An event that the player has reached.
struct demo_event {
    demo_event_kind kind = demo_event_kind::tick; ///< what it is
    std::int32_t tick = -1;                       ///< of the last marker
    bool keyframe = false;                        ///< a marker that announces a full snapshot, or a full snapshot
    std::size_t position = 0;                     ///< byte of the file
    std::span<std::uint8_t const> message; ///< with up to three zero bytes more than were sent; until the next call
};

/// Plays a demo: decodes every chunk and keeps the snapshot of the current tick.
class demo_player {
public:
    /// How to play.
    struct options {
        size_table const* sizes = &sizes_06; ///< with which the deltas were written: see detect_size_table
        decoding mode = decoding::lenient;   ///< for everything in the file
        note_log* notes = nullptr;           ///< its origin is set to the file offset of each chunk
    };

    /// Begins where `reader` is. O(limits.items).
    demo_player(demo_reader const& reader, demo_player_memory& memory, options const& chosen) noexcept;

    /// Plays up to the next event. False at the end of the file and on errors; error() says which.
    bool next(demo_event& out) noexcept;
    /// Why next() or seek() gave false; ok at the end of the file.
    [[nodiscard]] demo_failure const& error() const noexcept { return error_; }

    /// The last snapshot, valid until the next call. Empty before the first one.
    [[nodiscard]] snapshot_view state() noexcept { return state_.view(); }
    /// Whether a snapshot has been played.
    [[nodiscard]] bool has_state() const noexcept { return has_state_; }
    /// Tick of the last marker played; -1 before the first one.
    [[nodiscard]] std::int32_t tick() const noexcept { return reader_.tick(); }
    /// Bytes of the file played so far, header and map included.
    [[nodiscard]] std::size_t position() const noexcept { return reader_.position(); }

    /// Makes state() that of `tick`: everything up to the last marker not above it has been played. Ticks before the
    /// first one give the first, ticks after the last one the last. Messages on the way are skipped. `keyframes` is
    /// what scan_demo gave for this file. False on errors. Costs at most the chunks since the last keyframe.
    bool seek(std::int32_t tick, std::span<demo_keyframe const> keyframes) noexcept;
    /// As demo_reader::extend().
    void extend(std::span<std::uint8_t const> file) noexcept;

private:
    // A short chunk that has been decompressed before it is played.
    struct chunk_ahead {
        std::size_t position = SIZE_MAX; // of the chunk
        std::uint16_t size = 0;
        std::uint16_t used = 0; // bytes of its payload; 0 if it is damaged
    };

    result<std::span<std::uint8_t const>> decompress(demo_chunk const& chunk) noexcept;
    void decompress_ahead(demo_chunk const& chunk) noexcept;
    bool decode(demo_chunk const& chunk, std::span<std::int32_t const>& ints) noexcept;
    bool play(demo_chunk const& chunk) noexcept;
    bool fail(failure what, demo_stage stage, demo_chunk const& chunk) noexcept;

    demo_reader reader_;
    demo_player_memory& memory_;
    options options_;
    live_snapshot state_;
    bool has_state_ = false;
    bool messages_wanted_ = true; // seek() passes over them
    demo_failure error_{};
    std::array<chunk_ahead, demo_player_memory::chunks_ahead> ahead_{};
};

/// Turns the ints of a message chunk into the message's bytes, four each, least significant first. `out` needs 4 bytes
/// per int. See doc/format/demo.md#messages.
std::span<std::uint8_t const> message_bytes(std::span<std::int32_t const> ints,
                                            std::span<std::uint8_t> out) noexcept;

/// Whether each item of the snapshot has the size that both sides agree on by that table, where they do. O(items).
[[nodiscard]] bool sizes_fit(snapshot_view snapshot, size_table const& sizes) noexcept;
/// How many notes are of the kinds that deltas leave when they are read with another size table than they were written
/// with.
[[nodiscard]] std::uint64_t signs_of_wrong_sizes(note_log const& notes) noexcept;

/// Finds the size table with which the deltas of a demo were written, whatever its header says: keyframes have
/// the sizes of all items, and a trial shows which of them the deltas leave out. In a damaged file, the table that gets
/// furthest. Costs the first 64 snapshots of ordinary 0.6 files, the whole file for 0.7, and that up to
/// size_tables.size() times for odd ones.
named_size_table const& detect_size_table(demo_reader const& reader, demo_player_memory& memory) noexcept;
/// Whose items these are: 0.7 for all size tables but that of 0.6; with that one DDNet if an extended type is described in
/// the first 64 snapshots, as DDNet's servers do it in every one, and 0.6 otherwise. Costs these snapshots.
[[nodiscard]] protocol detect_protocol(demo_reader const& reader, demo_player_memory& memory,
                                       size_table const& sizes) noexcept;

} // namespace teewire
