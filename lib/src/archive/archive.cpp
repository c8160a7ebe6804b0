#include "teewire/archive.hpp"

#include "../codec/bytes.hpp"

#include <algorithm>

namespace teewire {

using detail::get_be32;
using detail::get_be64;
using detail::put_be32;
using detail::put_be64;

namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320U : 0);
        table[i] = value;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

// The footer, by the byte where each number begins.
constexpr std::size_t footer_blocks = 0, footer_size = 4, footer_checksum = 12;
static_assert(footer_checksum + 4 == archive_footer_bytes);
constexpr std::size_t entry_checksum = 20;  // of an entry before a block
constexpr std::size_t entry_last_tick = 20; // of an entry in the index
constexpr std::uint8_t flag_ordered = 1, flag_keyframe = 2;

void put_entry(archive_block const& b, std::span<std::uint8_t> out) noexcept {
    out[0] = static_cast<std::uint8_t>(b.coding);
    out[1] = b.demo_version;
    out[2] = b.sizes;
    out[3] = static_cast<std::uint8_t>((b.ordered ? flag_ordered : 0) | (b.keyframe ? flag_keyframe : 0));
    put_be32(out, 4, b.size);
    put_be32(out, 8, b.packed_size);
    put_be32(out, 12, b.checksum);
    put_be32(out, 16, static_cast<std::uint32_t>(b.first_tick));
    put_be32(out, entry_last_tick, b.ordered ? static_cast<std::uint32_t>(b.last_tick) : 0);
}

archive_block get_entry(std::span<std::uint8_t const> entry) noexcept {
    archive_block b;
    b.coding = static_cast<archive_coding>(entry[0]);
    b.demo_version = entry[1];
    b.sizes = entry[2];
    b.ordered = (entry[3] & flag_ordered) != 0;
    b.keyframe = (entry[3] & flag_keyframe) != 0;
    b.size = get_be32(entry, 4);
    b.packed_size = get_be32(entry, 8);
    b.checksum = get_be32(entry, 12);
    b.first_tick = static_cast<std::int32_t>(get_be32(entry, 16));
    return b;
}

} // namespace

errc check_archive_block(archive_block const& b) noexcept {
    if (b.coding > archive_coding::map || b.sizes >= size_tables.size()) return errc::bad_type;
    if (b.size == 0 || b.size > max_archive_block_bytes || b.packed_size > b.size ||
        (b.coding == archive_coding::stored && b.packed_size != b.size) ||
        (b.coding == archive_coding::map && b.packed_size != archive_map_place_bytes))
        return errc::bad_length;
    return errc::ok;
}

result<archive_map_place> read_archive_map_place(std::span<std::uint8_t const> packed) noexcept {
    if (packed.size() < archive_map_place_bytes) return failure{errc::truncated, packed.size()};
    archive_map_place place;
    place.offset = get_be32(packed, 0);
    std::copy_n(packed.begin() + 4, place.sha256.size(), place.sha256.begin());
    return place;
}

result<std::size_t> write_archive_map_place(archive_map_place const& place, std::span<std::uint8_t> out) noexcept {
    if (out.size() < archive_map_place_bytes) return failure{errc::output_full, 0};
    put_be32(out, 0, place.offset);
    std::copy(place.sha256.begin(), place.sha256.end(), out.begin() + 4);
    return archive_map_place_bytes;
}

std::uint32_t archive_checksum(std::span<std::uint8_t const> bytes) noexcept {
    std::uint32_t crc = 0xffffffff;
    for (std::uint8_t const byte : bytes) crc = crc >> 8 ^ crc_table[(crc ^ byte) & 0xff];
    return ~crc;
}

bool is_archive(std::span<std::uint8_t const> file) noexcept {
    return file.size() >= archive_magic.size() &&
           std::equal(archive_magic.begin(), archive_magic.end(), file.begin());
}

result<std::size_t> write_archive_header(std::span<std::uint8_t> out) noexcept {
    if (out.size() < archive_header_bytes) return failure{errc::output_full, 0};
    std::copy(archive_magic.begin(), archive_magic.end(), out.begin());
    out[archive_magic.size()] = archive_version;
    return archive_header_bytes;
}

result<std::size_t> write_archive_entry(archive_block const& block, std::span<std::uint8_t> out) noexcept {
    if (out.size() < archive_entry_bytes) return failure{errc::output_full, 0};
    put_entry(block, out);
    put_be32(out, entry_checksum, archive_checksum(out.first(entry_checksum)));
    return archive_entry_bytes;
}

result<archive_block> read_archive_entry(std::span<std::uint8_t const> archive, std::size_t at) noexcept {
    assert(at <= archive.size());
    if (archive.size() - at < archive_entry_bytes) return failure{errc::truncated, archive.size()};
    auto const entry = archive.subspan(at, archive_entry_bytes);
    if (get_be32(entry, entry_checksum) != archive_checksum(entry.first(entry_checksum)))
        return failure{errc::bad_checksum, at};
    archive_block block = get_entry(entry);
    if (errc const wrong = check_archive_block(block); wrong != errc::ok) return failure{wrong, at};
    block.position = at + archive_entry_bytes;
    return block;
}

result<std::size_t> write_archive_index(std::span<archive_block const> blocks,
                                        std::span<std::uint8_t> out) noexcept {
    if (blocks.size() > max_archive_blocks) return failure{errc::too_large, max_archive_blocks};
    std::size_t const size = archive_index_bytes(blocks.size());
    if (out.size() < size) return failure{errc::output_full, 0};
    std::uint64_t original = 0;
    std::size_t at = 0;
    for (archive_block const& b : blocks) {
        put_entry(b, out.subspan(at));
        original += b.size;
        at += archive_entry_bytes;
    }
    put_be32(out, at + footer_blocks, static_cast<std::uint32_t>(blocks.size()));
    put_be64(out, at + footer_size, original);
    put_be32(out, at + footer_checksum, archive_checksum(out.first(at + footer_checksum)));
    return size;
}

result<std::size_t> count_archive_blocks(std::span<std::uint8_t const> end) noexcept {
    if (end.size() < archive_footer_bytes) return failure{errc::truncated, end.size()};
    std::size_t const at = end.size() - archive_footer_bytes;
    std::size_t const blocks = get_be32(end, at + footer_blocks);
    if (blocks > max_archive_blocks) return failure{errc::too_large, at};
    return blocks;
}

result<archive_index> archive_index::open(std::span<std::uint8_t const> end, std::uint64_t archive_size) noexcept {
    assert(end.size() <= archive_size);
    auto const blocks = count_archive_blocks(end);
    if (!blocks) return blocks.error();
    std::size_t const size = archive_index_bytes(*blocks);
    if (size > end.size() || archive_header_bytes + size > archive_size)
        return failure{errc::truncated, end.size()};
    auto const index = end.last(size);
    std::size_t const begin = end.size() - size;
    std::size_t const footer = size - archive_footer_bytes;
    if (get_be32(index, footer + footer_checksum) != archive_checksum(index.first(footer + footer_checksum)))
        return failure{errc::bad_checksum, begin};
    archive_index opened;
    opened.entries_ = index.first(footer);
    opened.original_size_ = get_be64(index, footer + footer_size);
    std::uint64_t original = 0;
    std::uint64_t packed = archive_header_bytes;
    archive_index walk = opened;
    for (archive_block b; walk.next(b);) {
        std::size_t const at = begin + walk.at_ - archive_entry_bytes;
        if (errc const wrong = check_archive_block(b); wrong != errc::ok) return failure{wrong, at};
        original += b.size;
        packed += archive_entry_bytes + b.packed_size;
    }
    if (original != opened.original_size_ || packed + size != archive_size) return failure{errc::bad_length, begin};
    return opened;
}

bool archive_index::next(archive_block& out) noexcept {
    if (at_ == entries_.size()) return false;
    auto const entry = entries_.subspan(at_);
    out = get_entry(entry);
    if (out.ordered) out.last_tick = static_cast<std::int32_t>(get_be32(entry, entry_last_tick));
    out.begin = begin_;
    out.position = position_ + archive_entry_bytes;
    begin_ += out.size;
    position_ = out.position + out.packed_size;
    at_ += archive_entry_bytes;
    return true;
}

} // namespace teewire
