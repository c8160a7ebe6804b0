// Archives of files, made and restored on several threads. See doc/format/archive.md.
#pragma once

#include "base/stored_file.hpp"

#include <teewire/archive.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// Where the map of a demo is kept.
enum class map_home : std::uint8_t {
    archive,
    shared, ///< a file of its own: see shared_map_name()
};

/// Hands over the bytes of the archive piece by piece, each with how many bytes of `file` have been taken, and ends early
/// when that gives false. Every block has been decoded and compared. `jobs`: threads; 0: one per core.
void pack_archive(std::span<std::uint8_t const> file, map_home home, unsigned jobs,
                  std::function<bool(std::span<std::uint8_t const> piece, std::size_t taken)> const& give);

/// The file of a map that archives of one folder share, by the name of one of these: FOLDER/maps/SHA256.map
[[nodiscard]] std::string shared_map_name(std::string const& archive, std::span<std::uint8_t const> sha256);
/// Whether a path with slashes ends as such a name does.
[[nodiscard]] bool is_shared_map(std::string_view path);
/// Writes the map of a demo there, unless it is there already. Nothing if the demo has none. Throws output_error, and
/// usage_error if the file there is another one.
void keep_shared_map(std::string const& archive, std::span<std::uint8_t const> demo);

/// The blocks of an archive; with a damaged index, the first ones, the last of which may be cut.
struct archive_contents {
    std::vector<archive_block> blocks;
    std::string damage; ///< "byte 1234 of the archive: REASON"; empty if there is none

    /// Bytes that they stand for.
    [[nodiscard]] std::uint64_t size() const noexcept;
};
/// The blocks of an intact index: `end` is the end of an archive of `size` bytes.
[[nodiscard]] std::vector<archive_block> list_blocks(std::span<std::uint8_t const> end, std::uint64_t size);
/// Throws bad_input if it is damaged and has no block.
[[nodiscard]] archive_contents list_archive(std::string const& name, std::span<std::uint8_t const> archive);

/// The first and the last tick of a demo, or of what is wanted of it.
struct demo_ticks {
    std::int32_t first = -1;
    std::int32_t last = -1;

    friend bool operator==(demo_ticks const&, demo_ticks const&) = default;
};

/// Which part of a demo is wanted.
struct part_choice {
    std::function<demo_ticks(demo_ticks whole)> ticks; ///< gets those of the demo
    bool map = true;                                   ///< the bytes of its map
};

/// A part of an archived demo, which is a demo itself: its header, and the blocks around what is wanted.
struct archive_part {
    std::vector<archive_block> blocks; ///< with `begin` in the part
    demo_ticks ticks;                  ///< of the part
    demo_ticks whole;                  ///< of the demo
    std::uint64_t chunks_begin = 0;    ///< byte of the part where those begin that lie elsewhere in the demo,
    std::uint64_t skipped = 0;         ///< so many bytes later
};
/// Nothing if it has to be read whole: if its ticks do not always increase, it is not a demo, or all of it is wanted, with
/// the map.
[[nodiscard]] std::optional<archive_part> choose_part(std::span<archive_block const> blocks,
                                                      part_choice const& wanted);

/// Fills the memory from a byte of the file on. False: it cannot.
using read_piece = std::function<bool(std::uint64_t offset, std::span<std::uint8_t> to)>;
/// The index of an archive of `size` bytes, with its footer, not checked yet; empty if there is none.
[[nodiscard]] std::vector<std::uint8_t> read_archive_index(std::uint64_t size, read_piece const& read);

/// Facts about the file in an archive that can be had without restoring it.
struct archive_peek {
    std::uint64_t size = 0;              ///< of the file in it; 0 if the index is damaged
    std::vector<std::uint8_t> beginning; ///< the header of a demo; empty for other files
};
/// Nothing if it is not an archive of this version.
[[nodiscard]] std::optional<archive_peek> peek_archive(stored_file const& file);

/// The maps that an archive needs, by their SHA-256; empty for all other files.
[[nodiscard]] std::vector<std::array<std::uint8_t, 32>> shared_maps_of(stored_file const& file);

/// Whether it is the archive of exactly this file, by the checksums, and has its map. False for whatever is not an archive.
[[nodiscard]] bool is_archive_of(std::string const& name, std::span<std::uint8_t const> archive,
                                 std::span<std::uint8_t const> file);

/// Restores what was listed to `out`, of contents.size() bytes, up to the first damaged block. A block that is cut gives its
/// first bytes. Returns the bytes restored, and sets `contents.damage` if a block is damaged, or its map is not where an
/// archive of this name has it. `jobs` as above.
[[nodiscard]] std::uint64_t unpack_archive(std::string const& name, std::span<std::uint8_t const> archive,
                                           archive_contents& contents, std::span<std::uint8_t> out, unsigned jobs);

} // namespace teewire::replay
