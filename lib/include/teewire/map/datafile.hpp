/// @file
/// Datafiles, versions 3 and 4: the container of maps. Items are small arrays of ints, named by type and id; data blocks
/// are byte strings, named by their number, and compressed in version 4.
///
/// See doc/format/datafile.md. Other descriptions differ: `swaplen` counts bytes, both magics stand for little-endian ints, old files may leave the size table out of
/// `size` and `swaplen`, and a block may be stated to hold nothing (real files; DDNet accepts them).
#pragma once

#include "teewire/error.hpp"
#include "teewire/map/problem.hpp"
#include "teewire/uuid.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace teewire {

/// A file, or a part of one.
using map_bytes = std::span<std::uint8_t const>;

/// 36 characters such as "3e1b2716-178c-3978-9bd9-b11ae0410dd8".
[[nodiscard]] std::array<char, 36> to_text(uuid const& id) noexcept;

inline constexpr std::uint16_t uuid_index_type = 0xffff; ///< of the items that name types by UUID

/// The CRC-32 of zlib and PNG: servers send that of a whole map file, and demos store it. O(bytes).
[[nodiscard]] std::uint32_t map_crc32(map_bytes file) noexcept;

// ---- read ----------------------------------------------------------------------------------------------------------

/// The ints of an item, in the file. Reads them on machines of any byte order.
class item_ints {
public:
    /// None.
    constexpr item_ints() noexcept = default;
    /// Bytes in the order of the file, a multiple of four.
    constexpr explicit item_ints(map_bytes bytes) noexcept : bytes_{bytes} {}

    /// Ints.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return bytes_.size() / 4; }
    /// Int number `i`, below size().
    [[nodiscard]] constexpr std::int32_t operator[](std::size_t i) const noexcept {
        auto const* const b = &bytes_[4 * i];
        return static_cast<std::int32_t>(std::uint32_t{b[0]} | std::uint32_t{b[1]} << 8 |
                                         std::uint32_t{b[2]} << 16 | std::uint32_t{b[3]} << 24);
    }
    /// The bytes as stored in the file.
    [[nodiscard]] constexpr map_bytes bytes() const noexcept { return bytes_; }

private:
    map_bytes bytes_;
};

/// The UUID that an index item holds in its first four ints.
[[nodiscard]] uuid read_uuid(item_ints ints) noexcept;

/// An item, in the file.
struct datafile_item {
    std::uint16_t type = 0;   ///< its type number
    std::uint16_t id = 0;     ///< not always distinct
    item_ints ints;           ///< its data
    std::size_t position = 0; ///< byte of the file where the item begins
};

/// An entry of the table of types.
struct datafile_type {
    std::uint16_t type = 0;  ///< its number
    std::uint32_t first = 0; ///< number of the first item
    std::uint32_t count = 0; ///< how many items
};

/// A data block, in the file.
struct datafile_block {
    map_bytes stored;         ///< as in the file: a zlib stream in version 4
    std::size_t size = 0;     ///< decompressed, as stated by the file, which may lie: see block_size()
    std::size_t position = 0; ///< byte of the file
};

/// Memory for decompressing, for zlib's state. Needs no set-up, and may be used again and again.
struct inflate_memory {
    /// Zlib's.
    alignas(64) std::array<std::uint8_t, 64 * 1024> bytes;
};

/// How to open a file.
struct datafile_options {
    /// strict refuses duplicate ids, as DDNet does; lenient reports them.
    decoding mode = decoding::lenient;
    /// Largest block that is decompressed.
    std::size_t max_block_bytes = std::size_t{256} << 20;
    map_report report = {}; ///< where notes and what does not stop reading go
};

/// A view of the bytes of a datafile. Small and copyable; never allocates.
class datafile {
public:
    /// Checks header, tables and items, but touches no block: costs microseconds for any real map.
    /// Errors: those of the container that concern the whole file. Notes go to options.report. O(items + blocks).
    static result<datafile, map_problem> open(map_bytes file, datafile_options const& options = {}) noexcept;

    // ---- header
    /// The whole file.
    [[nodiscard]] map_bytes bytes() const noexcept { return file_; }
    /// 3 or 4.
    [[nodiscard]] int version() const noexcept { return version_; }
    /// "DATA", or "ATAD" as programs on big-endian machines wrote it.
    [[nodiscard]] std::string_view magic() const noexcept { return reversed_magic_ ? "ATAD" : "DATA"; }
    /// The field `size` of the header.
    [[nodiscard]] std::int32_t stated_size() const noexcept { return int_at(8); }
    /// The field `swaplen` of the header.
    [[nodiscard]] std::int32_t stated_swaplen() const noexcept { return int_at(12); }
    /// Size and swaplen leave the size table out.
    [[nodiscard]] bool has_old_header_sizes() const noexcept { return old_sizes_; }
    /// Entries of the table of types.
    [[nodiscard]] std::size_t type_count() const noexcept { return types_; }
    /// Items of all types.
    [[nodiscard]] std::size_t item_count() const noexcept { return items_; }
    /// Data blocks.
    [[nodiscard]] std::size_t block_count() const noexcept { return blocks_; }
    /// Bytes of all items, their heads included.
    [[nodiscard]] std::size_t item_bytes() const noexcept { return item_bytes_; }
    /// Bytes of all data blocks, as stored.
    [[nodiscard]] std::size_t data_bytes() const noexcept { return file_.size() - data_start(); }

    // ---- items
    /// Entry `i` of the table of types, in the order of the file.
    [[nodiscard]] datafile_type type(std::size_t i) const noexcept;
    /// The entry of a type; count is 0 if the file has no such items. O(types).
    [[nodiscard]] datafile_type find_type(std::uint16_t type) const noexcept;
    /// Item `i` of the file. O(1).
    [[nodiscard]] datafile_item item(std::size_t i) const noexcept;
    /// The first item of that type and id. O(types + items of the type).
    [[nodiscard]] std::optional<datafile_item> find(std::uint16_t type, std::uint16_t id) const noexcept;

    /// The number that the type with this name has in this file. The first index item decides.
    [[nodiscard]] std::optional<std::uint16_t> type_of(uuid const& name) const noexcept;
    /// The name of a type. Numbers up to 0x8000 and that of the index itself have none.
    [[nodiscard]] std::optional<uuid> uuid_of(std::uint16_t type) const noexcept;

    // ---- blocks
    /// Block `i`, below block_count(). O(1).
    [[nodiscard]] datafile_block block(std::size_t i) const noexcept;
    /// The decompressed size, which may be allocated: at most 1032 times what is stored and 1 KiB, within the limit. Any
    /// int out of an item may be asked for. Errors: bad_data_index, decompressed_size_mismatch, too_large.
    [[nodiscard]] result<std::size_t, map_problem> block_size(std::int32_t i) const noexcept;
    /// Decompresses into `out`, which has block_size() bytes or more. Gives what was written. Errors as block_size(),
    /// and decompress_failed, decompressed_size_mismatch. Note: data_after_stream. Costs zlib's time.
    result<std::span<std::uint8_t>, map_problem> read_block(std::int32_t i, std::span<std::uint8_t> out,
                                                            inflate_memory& memory,
                                                            map_report report = {}) const noexcept;
    /// Decompresses without keeping anything. Gives the size. Errors as read_block.
    result<std::size_t, map_problem> check_block(std::int32_t i, inflate_memory& memory,
                                                 map_report report = {}) const noexcept;

private:
    datafile() noexcept = default;
    friend class result<datafile, map_problem>;

    [[nodiscard]] std::int32_t int_at(std::size_t at) const noexcept { return item_ints{file_.subspan(at, 4)}[0]; }
    [[nodiscard]] std::size_t item_offsets() const noexcept { return 36 + 12 * types_; }
    [[nodiscard]] std::size_t data_offsets() const noexcept { return item_offsets() + 4 * items_; }
    [[nodiscard]] std::size_t data_sizes() const noexcept { return data_offsets() + 4 * blocks_; }
    [[nodiscard]] std::size_t item_start() const noexcept {
        return data_sizes() + (version_ == 4 ? 4 * blocks_ : 0);
    }
    [[nodiscard]] std::size_t data_start() const noexcept { return item_start() + item_bytes_; }
    map_problem check_types(map_report report) const noexcept;
    map_problem check_items(datafile_options const& options) const noexcept;
    map_problem check_ids(datafile_type type, datafile_options const& options) const noexcept;
    map_problem check_blocks(map_report report) const noexcept;

    map_bytes file_;
    std::size_t types_ = 0;
    std::size_t items_ = 0;
    std::size_t blocks_ = 0;
    std::size_t item_bytes_ = 0;
    std::size_t max_block_bytes_ = 0;
    int version_ = 4;
    bool reversed_magic_ = false;
    bool old_sizes_ = false;
};

// ---- write ---------------------------------------------------------------------------------------------------------

/// How to write a file.
struct datafile_write_options {
    int version = 4; ///< 3 stores blocks uncompressed
    int level = -1;  ///< zlib's 0 to 9; -1 is its default, which real files have
};

/// Collects items and blocks and makes a file that DDNet and Teeworlds read. Allocates.
class datafile_writer {
public:
    /// Empty.
    explicit datafile_writer(datafile_write_options const& options = {}) noexcept : options_{options} {}

    /// Items of one type keep the order of the calls; types are sorted.
    void add_item(std::uint16_t type, std::uint16_t id, std::span<std::int32_t const> ints);
    /// Gives the type its number if it has none yet, and an index item: 0xfffe for the first, then downward.
    void add_item(uuid const& type, std::uint16_t id, std::span<std::int32_t const> ints) {
        add_item(number_of(type), id, ints);
    }
    /// The number of a type, which gets a free one now if it has none.
    std::uint16_t number_of(uuid const& type);
    /// Makes the number, above 0x8000 and not that of the index, stand for the name, unless it already has one.
    void name_type(std::uint16_t number, uuid const& type);

    /// Compresses and gives the number of the block. It must not be empty.
    std::int32_t add_block(map_bytes content);
    /// Takes a zlib stream unchanged, only in version 4.
    std::int32_t add_stored_block(map_bytes stored, std::size_t size);

    /// The file. Empty if it would be 2 GiB or more, or if there are more items or names than numbers.
    [[nodiscard]] std::vector<std::uint8_t> finish() const;

private:
    struct item {
        std::uint16_t type;
        std::uint16_t id;
        std::size_t first; // in ints_
        std::size_t count;
    };
    struct block {
        std::size_t end; // in data_
        std::size_t size;
    };

    datafile_write_options options_;
    std::vector<item> items_;
    std::vector<std::int32_t> ints_;
    std::vector<block> blocks_;
    std::vector<std::uint8_t> data_;
    std::vector<std::pair<std::uint16_t, uuid>> names_;
    std::map<uuid, std::uint16_t> numbers_; // the first one of each name
    std::bitset<65536> named_, used_;       // numbers: with a name; with an item
    bool too_many_names_ = false;
};

} // namespace teewire
