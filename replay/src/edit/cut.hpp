// Pieces of a demo as demos of their own. Chunks are copied verbatim, still compressed; only the first snapshot of a
// piece is re-encoded, and the lasting messages from before it are added.
#pragma once

#include "base/output_file.hpp"
#include "game/lasting_messages.hpp"
#include "game/ticks.hpp"
#include "recording/demo/demo_document.hpp"

#include <teewire/demo_writer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Ascending, and those that overlap as one.
[[nodiscard]] std::vector<tick_range> unite(std::vector<tick_range> ranges);

/// A part of a demo's bytes, and what makes it a demo. Places are bytes of the file.
struct demo_piece {
    struct full_snapshot {
        std::size_t position = SIZE_MAX; ///< of the chunk
        std::int32_t tick = -1;          ///< of the marker before it
    };

    tick_range ticks;           ///< of the first marker and the last
    bool whole_begin = false;   ///< begins where the demo begins: nothing needs to be made
    std::size_t begin = 0;      ///< of the first marker, or with `whole_begin` of the first chunk
    std::size_t end = 0;        ///< of the piece
    std::size_t marker_end = 0; ///< of the first marker
    full_snapshot base;         ///< playing from here leads to the state of the first tick
    // The first tick's snapshot chunk; without one both are marker_end.
    std::size_t snapshot_begin = 0;
    std::size_t snapshot_end = 0;
};

/// Finds pieces of a demo and copies them.
class demo_cutter {
public:
    /// `damaged` hears of damage in the pieces: "NAME: tick 1234, byte 5678: REASON; CONSEQUENCE".
    demo_cutter(demo_document const& demo, std::function<void(std::string const&)> damaged);

    /// The pieces in the ranges, which ascend and do not overlap, in the order of the file. A piece begins with the
    /// first marker in its range at which there is a state, and ends before ticks go back. A range without such a
    /// marker has no piece. O(chunks).
    [[nodiscard]] std::vector<demo_piece> find(std::span<tick_range const> ranges) const;

    /// Writes a demo of pieces that one find() gave, with that map, or none if it is empty. Where damage hides the state
    /// of a first tick, a piece begins at its next full snapshot. Returns what was written: nothing if no piece can be
    /// played; all of it unless interrupted. Throws as output_file does.
    std::vector<tick_range> write(output_file& out, std::vector<demo_piece> pieces,
                                  std::span<std::uint8_t const> map,
                                  std::function<void(std::uint64_t bytes)> const& progress);

private:
    struct memory {
        demo_player_memory player;
        demo_encoder_memory encoder;
        std::array<std::uint8_t, demo_encoder::max_bytes> out;
    };
    /// The bytes that replace a piece's first bytes.
    struct head {
        std::vector<std::uint8_t> made;
        std::size_t rest = 0; ///< byte of the file where copying begins
    };

    [[nodiscard]] bool play_to(demo_piece const& piece);
    [[nodiscard]] bool make(demo_piece const& piece, bool begins_file, head& out);
    [[nodiscard]] bool begin_later(demo_piece& piece) const;
    [[nodiscard]] bool prepare(demo_piece& piece, bool begins_file, head& out);

    [[nodiscard]] std::span<std::uint8_t const> read_message(demo_chunk const& chunk);
    [[nodiscard]] std::vector<std::vector<std::uint8_t>> find_lasting(demo_piece const& piece);

    // The lasting messages up to a chunk.
    struct heard {
        heard(demo_reader from, protocol p) : reader{from}, messages{p} {}
        demo_reader reader;
        lasting_messages messages;
        std::span<std::uint8_t const> last; // payload of the last chunk that changed them
    };

    demo_document const& demo_;
    std::function<void(std::string const&)> damaged_;
    std::unique_ptr<memory> memory_;
    std::optional<heard> heard_;
    std::optional<demo_player> player_;
    demo_failure failed_; // why make() did
};

/// The header of a demo with those ticks of the demo with the given header, and with so many bytes of a map in it. The map
/// that it names stays.
[[nodiscard]] demo_header header_for(demo_header header, std::span<tick_range const> ticks, std::size_t map_bytes);

} // namespace teewire::replay
