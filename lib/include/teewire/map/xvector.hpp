/// @file
/// Maps of xVector, Revision 1: a sparse list of tiles in layers. See doc/format/xvector.md.
///
/// Two layouts exist. Documented revision 1 has a meta-header of 16 bytes, with a minimum version and content flags,
/// and ends its header with scroll and parallax rates. The original program reads and writes a meta-header of 8 bytes,
/// the content flags at the end of the header, and no rates; every known file has this layout. A reader distinguishes
/// them by itself. Numbers are little-endian, texts UTF-8 after a 32-bit length.
///
/// From the document: the layouts of header and tiles, discarding tiles outside the map, refusing data after the end. From
/// the program: dimensions of at least 1, a player depth below the depth, z checked like x and y, the last one of several
/// tiles for a cell counts, bit 30 (0x40000000) as the end.
#pragma once

#include "teewire/error.hpp"
#include "teewire/map/problem.hpp"

#include <optional>
#include <span>

namespace teewire {

/// How a file is laid out.
enum class xvector_layout : std::uint8_t {
    revision_1,       ///< as documented
    original_program, ///< as the program of that time wrote it
};

inline constexpr std::uint32_t xvector_magic = 0x000b0501;     ///< at the start of every file, little-endian
inline constexpr std::uint32_t xvector_end_flag = 0x4000'0000; ///< in the flags of a tile: there are no more
inline constexpr std::uint32_t xvector_stripped = 1;           ///< in the content flags
inline constexpr std::size_t xvector_tile_bytes = 20;          ///< in the file
inline constexpr std::uint64_t max_xvector_cells = std::uint64_t{1}
                                                   << 28; ///< what a reader takes by default: 1 GiB of sprites

/// Borrowed: texts point into the file.
struct xvector_header {
    xvector_layout layout = xvector_layout::revision_1; ///< of the file
    std::uint32_t version = 1;                          ///< of the format
    std::uint32_t min_version = 1;   ///< oldest reader that can load the file; not stored by the original program
    std::uint32_t content_flags = 0; ///< xvector_stripped, or 0
    std::string_view name;           ///< of the map
    std::uint32_t width = 0;         ///< in tiles
    std::uint32_t height = 0;        ///< in tiles
    std::uint32_t depth = 0;         ///< in layers
    std::uint32_t player_depth = 0;  ///< layer at which players and objects are drawn
    std::string_view north;          ///< map beyond that border, or empty
    std::string_view east;           ///< the same
    std::string_view south;          ///< the same
    std::string_view west;           ///< the same
    std::string_view background;     ///< image, or empty
    // Not stored by the original program. The units are not known.
    std::int16_t scroll_x = 0; ///< positive is right
    std::int16_t scroll_y = 0; ///< positive is down
    float parallax_x = 0;      ///< units unknown
    float parallax_y = 0;      ///< units unknown

    /// Information that only the server needs has been removed.
    [[nodiscard]] bool stripped() const noexcept { return (content_flags & xvector_stripped) != 0; }
    /// The background is ignored when another map is beyond a border.
    [[nodiscard]] bool background_ignored() const noexcept {
        return !north.empty() || !east.empty() || !south.empty() || !west.empty();
    }
    /// width * height * depth, or UINT64_MAX if that is more.
    [[nodiscard]] std::uint64_t cells() const noexcept;
    /// Where a cell is in an array of all: row by row, layer by layer.
    [[nodiscard]] std::uint64_t cell(std::uint32_t x, std::uint32_t y, std::uint32_t z) const noexcept {
        return (std::uint64_t{z} * height + y) * width + x;
    }
};

/// A tile of the list.
struct xvector_tile {
    std::uint32_t flags = 0;  ///< no bit but the end has a meaning
    std::uint32_t x = 0;      ///< column
    std::uint32_t y = 0;      ///< row
    std::uint32_t z = 0;      ///< layer
    std::uint32_t sprite = 0; ///< what is drawn
};

/// How to read.
struct xvector_options {
    /// lenient reads on after texts that are not UTF-8, a player depth beyond the layers, a missing end and data after
    /// the end, and reports them instead.
    decoding mode = decoding::strict;
    std::optional<xvector_layout> layout = {};   ///< instead of finding out
    std::uint64_t max_cells = max_xvector_cells; ///< more are refused, before they are allocated
    /// Called for each problem that does not end the reading; `item` is the number of the tile.
    map_report report = {};
};

/// Which layout the file has. Files in which both could be seen, or none, are taken for Revision 1. O(size) if the
/// first 16 bytes do not say; they do unless the name has less than two bytes.
[[nodiscard]] xvector_layout detect_xvector_layout(std::span<std::uint8_t const> file) noexcept;

/// Pulls tiles out of the bytes of a file. Small and copyable. Does not allocate.
class xvector_reader {
public:
    /// Reads the header. Errors: bad_magic, truncated, unsupported_version (0, or a minimum version above 1 or above the
    /// version), bad_name_encoding, bad_dimensions (one is 0), bad_player_depth, too_large (cells). Reports: other_layout,
    /// newer_version, unknown_flag_bits.
    static result<xvector_reader, map_problem> open(std::span<std::uint8_t const> file,
                                                    xvector_options const& options = {}) noexcept;

    /// The header that open() read.
    [[nodiscard]] xvector_header const& header() const noexcept { return header_; }

    /// The next tile of the map. False at the end and on errors: truncated (inside a tile), missing_end_of_tiles (between
    /// two), trailing_data. All tiles have been delivered then. Reports: tile_out_of_bounds, for tiles that are left out;
    /// unknown_flag_bits.
    bool next(xvector_tile& out) noexcept;
    /// Why next() gave false; ok at the end.
    [[nodiscard]] map_problem const& error() const noexcept { return error_; }

    /// Byte of the file where the next tile begins; after the last one, where the map ends.
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    /// How many tiles have been read, those that were left out included.
    [[nodiscard]] std::uint64_t tiles() const noexcept { return tiles_; }
    /// Where problems go.
    [[nodiscard]] map_report const& report() const noexcept { return options_.report; }

private:
    xvector_reader() noexcept = default;
    friend class result<xvector_reader, map_problem>;
    void add(map_problem const& problem) const noexcept { options_.report(problem); }
    void complain(map_problem const& problem) noexcept;
    bool end(std::size_t position) noexcept;

    std::span<std::uint8_t const> file_;
    xvector_header header_;
    xvector_options options_;
    std::size_t at_ = 0;
    std::uint64_t tiles_ = 0;
    bool ended_ = false;
    map_problem error_{};
};

/// Reads the tiles that are left into `sprites`, of header().cells(). Cells without a tile keep what they held. `given` is
/// empty, or has as many elements: it must be zero, and gets 1 for cells that have a tile. With it a cell's second tile
/// is reported as duplicate_tile; the last one counts. Errors as next(); what came before is in place.
map_problem read_xvector_cells(xvector_reader& reader, std::span<std::uint32_t> sprites,
                               std::span<std::uint8_t> given = {}) noexcept;

/// Bytes that write_xvector needs.
[[nodiscard]] std::size_t xvector_size(xvector_header const& header, std::size_t tiles) noexcept;

/// Writes a map in the header's layout, with tile flags of 0; returns its size. `cells` is scratch memory of
/// header.cells() elements to find repeated tiles with, or empty if the caller knows that there are none.
/// Errors: unsupported_version (not 1), bad_dimensions, bad_player_depth, bad_name_encoding (a text that is not UTF-8),
/// too_large (a text, or the map for `out`), tile_out_of_bounds and duplicate_tile (`item` is its number).
result<std::size_t, map_problem> write_xvector(xvector_header const& header, std::span<xvector_tile const> tiles,
                                               std::span<std::uint8_t> out,
                                               std::span<std::uint8_t> cells = {}) noexcept;

/// Copies the part that a client may know: everything up to the end of the tiles, marked as stripped. Server data after
/// that is left out. Returns the size, which is never above that of the file; `out` may be the file's own memory.
/// Errors: as those of the reader except trailing_data, and too_large for `out`.
result<std::size_t, map_problem> strip_xvector(std::span<std::uint8_t const> file,
                                               std::span<std::uint8_t> out) noexcept;

} // namespace teewire
