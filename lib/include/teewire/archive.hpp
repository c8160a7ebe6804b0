/// @file
/// Archives of demos, and of anything else: a smaller form that gives every byte back. See doc/format/archive.md.
///
/// An archive is a header, blocks with an entry before each, and an index of the same entries. Each block stands for a piece
/// of the original and can be decoded without the others; those of a demo begin at keyframes.
#pragma once

#include "teewire/demo_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

/// The first bytes of every archive.
inline constexpr std::array<std::uint8_t, 7> archive_magic = {'T', 'W', 'A', 'R', 'C', 'H', 0};
inline constexpr std::uint8_t archive_version = 2;                ///< the byte after it
inline constexpr std::size_t archive_header_bytes = 8;            ///< both
inline constexpr std::size_t archive_entry_bytes = 24;            ///< before each block, and in the index
inline constexpr std::size_t archive_footer_bytes = 16;           ///< at the end of the file
inline constexpr std::size_t max_archive_block_bytes = 4UL << 20; ///< of the original
inline constexpr std::size_t usual_archive_block_bytes = 2UL
                                                         << 20; ///< the next keyframe after so many begins a block
inline constexpr std::uint32_t max_archive_blocks = 1U << 24;   ///< in an index

/// How a block is coded.
enum class archive_coding : std::uint8_t {
    stored, ///< the bytes themselves
    bytes,  ///< bytes, by those before them
    chunks, ///< tick markers and chunks of a demo, by the game
    map,    ///< not at all: an archive_map_place says where the bytes are
};

/// A piece of the original and of the archive.
struct archive_block {
    archive_coding coding = archive_coding::stored; ///< how
    std::uint8_t demo_version = 0;                  ///< chunks: of the demo
    std::uint8_t sizes = 0;                         ///< chunks: which of size_tables
    std::uint32_t size = 0;                         ///< bytes of the original
    std::uint32_t packed_size = 0;                  ///< bytes of the archive
    std::uint32_t checksum = 0;                     ///< CRC-32 of the original
    std::int32_t first_tick = -1;                   ///< chunks: of the first marker; -1 if there is none
    std::uint64_t begin = 0;                        ///< byte of the original
    std::uint64_t position = 0;                     ///< byte of the archive, after the entry
    std::int32_t last_tick = -1;                    ///< in an index, if `ordered`: of the last marker; otherwise -1
    bool ordered = false;  ///< chunks: has markers, and each is above the one before, also in other blocks
    bool keyframe = false; ///< chunks: begins with a keyframe, so that playing can begin here

    friend bool operator==(archive_block const&, archive_block const&) = default;
};

/// CRC-32 of IEEE 802.3, as zlib computes it. O(size).
[[nodiscard]] std::uint32_t archive_checksum(std::span<std::uint8_t const> bytes) noexcept;

// ---- blocks --------------------------------------------------------------------------------------------------------

/// The block of a piece of a map that is in a file of its own, so that archives can share it.
struct archive_map_place {
    std::uint32_t offset = 0;              ///< byte of the map
    std::array<std::uint8_t, 32> sha256{}; ///< of the whole map

    friend bool operator==(archive_map_place const&, archive_map_place const&) = default;
};
inline constexpr std::size_t archive_map_place_bytes = 36; ///< of such a block

/// Error: truncated.
result<archive_map_place> read_archive_map_place(std::span<std::uint8_t const> packed) noexcept;
/// Error: output_full.
result<std::size_t> write_archive_map_place(archive_map_place const& place, std::span<std::uint8_t> out) noexcept;

/// Memory for a block that is encoded or decoded. 5.5 MiB; needs no set-up.
struct archive_memory {
    /// @cond memory
    alignas(64) std::array<std::uint8_t, 5632UL << 10> bytes;
    /// @endcond
};

/// Memory for a block that is encoded: also for what it decodes to, to compare it. 10 MiB.
struct archive_encoder_memory {
    /// @cond memory
    archive_memory coding;
    std::array<std::uint8_t, max_archive_block_bytes> decoded;
    /// @endcond
};

/// Divides a file into the blocks of an archive. Small and copyable.
class archive_divider {
public:
    /// Any file; one that is not a demo is divided as bytes. Uses `memory` only here, to see how items are agreed on.
    archive_divider(std::span<std::uint8_t const> file, demo_player_memory& memory) noexcept;

    /// The next piece: all but what encoding finds out. False at the end of the file. O(chunks of the piece).
    bool next(archive_block& out) noexcept;

    /// The map in a demo, which has blocks of its own; empty if there is none.
    [[nodiscard]] std::span<std::uint8_t const> map() const noexcept {
        return file_.subspan(header_end_, map_end_ - header_end_);
    }

private:
    bool take(archive_coding coding, std::size_t end, std::size_t most, archive_block& out) noexcept;
    bool take_chunks(archive_block& out) noexcept;

    std::span<std::uint8_t const> file_;
    demo_reader reader_;
    std::size_t at_ = 0;
    std::size_t header_end_ = 0;
    std::size_t map_end_ = 0;
    std::int32_t last_tick_ = -1;
    std::uint8_t sizes_ = 0;
    bool is_demo_ = false;
};

/// Checks the members of a block that decoding relies on: bad_type, bad_length, or ok. Blocks of an index and of
/// read_archive_entry have passed it.
[[nodiscard]] errc check_archive_block(archive_block const& block) noexcept;

/// Encodes a piece of `file` to `out`, and completes `block`: coding, packed_size and checksum. The result is decoded
/// again and compared; a block that does not become smaller is stored. Returns the bytes written. Error:
/// output_full, never with block.size bytes. O(size). Not for `coding` map.
result<std::size_t> encode_archive_block(std::span<std::uint8_t const> file, archive_block& block,
                                         archive_encoder_memory& memory, std::span<std::uint8_t> out) noexcept;

/// Decodes a block to the start of `out`. `packed` has its packed_size bytes, or fewer if the archive is cut, and `out` has
/// room for its size. For `coding` map, `packed` has `size` bytes of the map instead, or fewer if it ends there. Errors: truncated, bad_length (other data than belongs to such a block), bad_checksum. Their
/// position is that of the original up to which `out` is filled from bytes that are there; without a checksum, it is right
/// only if these are. O(size): at most 64 steps a byte, whatever `packed` is.
result<std::span<std::uint8_t const>> decode_archive_block(archive_block const& block,
                                                           std::span<std::uint8_t const> packed,
                                                           archive_memory& memory,
                                                           std::span<std::uint8_t> out) noexcept;

// ---- the file ------------------------------------------------------------------------------------------------------

/// Whether a file begins as archives do, whatever their version.
[[nodiscard]] bool is_archive(std::span<std::uint8_t const> file) noexcept;

/// Writes the bytes before the first block. Error: output_full.
result<std::size_t> write_archive_header(std::span<std::uint8_t> out) noexcept;

/// Writes what stands before a block. Error: output_full.
result<std::size_t> write_archive_entry(archive_block const& block, std::span<std::uint8_t> out) noexcept;

/// The block whose entry is at byte `at` of an archive, without `begin`: for an archive that has lost its index. The block's
/// own bytes need not be there. Errors: truncated, bad_checksum, bad_type, bad_length.
result<archive_block> read_archive_entry(std::span<std::uint8_t const> archive, std::size_t at) noexcept;

/// Bytes of the index and the footer of so many blocks.
[[nodiscard]] constexpr std::size_t archive_index_bytes(std::size_t blocks) noexcept {
    return blocks * archive_entry_bytes + archive_footer_bytes;
}

/// Writes what follows the last block. The blocks are in their order. Errors: output_full, too_large.
result<std::size_t> write_archive_index(std::span<archive_block const> blocks,
                                        std::span<std::uint8_t> out) noexcept;

/// The number of blocks by the last bytes of an archive, at least the footer. Errors: truncated, bad_magic, too_large.
result<std::size_t> count_archive_blocks(std::span<std::uint8_t const> end) noexcept;

/// Gives the blocks of an archive. Small and copyable: a copy is a place to come back to. Borrows the index.
class archive_index {
public:
    /// `end` is the end of an archive with at least its index, `archive_size` all of its bytes. Errors: truncated,
    /// bad_magic, too_large, bad_checksum, bad_length (sizes that do not add up). O(blocks).
    static result<archive_index> open(std::span<std::uint8_t const> end, std::uint64_t archive_size) noexcept;

    /// The next block. False after the last one.
    bool next(archive_block& out) noexcept;

    /// Blocks in all.
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size() / archive_entry_bytes; }
    /// Bytes of the original.
    [[nodiscard]] std::uint64_t original_size() const noexcept { return original_size_; }

private:
    friend class result<archive_index>;
    archive_index() noexcept = default;

    std::span<std::uint8_t const> entries_;
    std::size_t at_ = 0;
    std::uint64_t original_size_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t position_ = archive_header_bytes;
};

} // namespace teewire
