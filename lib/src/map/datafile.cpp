#include "teewire/map/datafile.hpp"

#include <zlib.h>

#include <bitset>
#include <cassert>

namespace teewire {

namespace {

constexpr std::size_t header_bytes = 36;
constexpr std::size_t id_count = 65536;

map_problem problem_at(map_errc code, std::size_t position, std::int64_t value = 0,
                       std::int64_t expected = 0) noexcept {
    map_problem problem;
    problem.code = code;
    problem.severity = severity_of(code);
    problem.position = position;
    problem.value = value;
    problem.expected = expected;
    return problem;
}

map_problem item_problem(map_errc code, std::size_t position, datafile_type type, std::size_t item,
                         std::int64_t value, std::int64_t expected) noexcept {
    map_problem problem = problem_at(code, position, value, expected);
    problem.item_type = type.type;
    problem.item = static_cast<std::int32_t>(item - type.first);
    return problem;
}

map_problem block_problem(map_errc code, std::size_t position, std::int32_t block, std::int64_t value = 0,
                          std::int64_t expected = 0) noexcept {
    map_problem problem = problem_at(code, position, value, expected);
    problem.block = block;
    return problem;
}

// Deflate gives at most 1032 bytes per byte.
constexpr std::uint64_t most_of(std::size_t stored) noexcept { return 1032 * std::uint64_t{stored} + 1024; }

// zlib's memory comes from inflate_memory.
struct arena {
    inflate_memory& memory;
    std::size_t used = 0;
};

void* arena_alloc(void* opaque, unsigned items, unsigned size) {
    auto& from = *static_cast<arena*>(opaque);
    std::size_t const bytes = (std::size_t{items} * size + 63) / 64 * 64;
    if (bytes > from.memory.bytes.size() - from.used) return nullptr;
    void* const block = from.memory.bytes.data() + from.used;
    from.used += bytes;
    return block;
}
void arena_free(void*, void*) {}

constexpr int digit_places[] = {8, 13, 18, 23};

} // namespace

std::array<char, 36> to_text(uuid const& id) noexcept {
    constexpr char digits[] = "0123456789abcdef";
    std::array<char, 36> text{};
    std::size_t at = 0;
    for (std::uint8_t const byte : id.bytes) {
        for (int const place : digit_places)
            if (at == static_cast<std::size_t>(place)) text[at++] = '-';
        text[at++] = digits[byte >> 4];
        text[at++] = digits[byte & 15];
    }
    return text;
}

std::uint32_t map_crc32(map_bytes file) noexcept {
    return static_cast<std::uint32_t>(crc32_z(0, file.data(), file.size()));
}

// ---- open ----------------------------------------------------------------------------------------------------------

result<datafile, map_problem> datafile::open(map_bytes file, datafile_options const& options) noexcept {
    if (file.size() < header_bytes) return problem_at(map_errc::truncated_header, file.size());
    datafile df;
    df.file_ = file;
    df.max_block_bytes_ = options.max_block_bytes;
    std::string_view const magic{reinterpret_cast<char const*>(file.data()), 4};
    df.reversed_magic_ = magic == "ATAD";
    if (magic != "DATA" && !df.reversed_magic_) return problem_at(map_errc::bad_magic, 0);
    df.version_ = df.int_at(4);
    if (df.version_ != 3 && df.version_ != 4) return problem_at(map_errc::unsupported_version, 4, df.version_, 4);

    for (std::size_t at = 16; at < header_bytes; at += 4) {
        std::int32_t const count = df.int_at(at);
        if (count < 0 || (at == 16 && count > static_cast<std::int32_t>(id_count)) || (at == 28 && count % 4 != 0))
            return problem_at(map_errc::bad_header_count, at, count);
    }
    // Everything fits 64 bits: each count is below 2^31.
    auto const count = [&](std::size_t at) { return static_cast<std::uint64_t>(df.int_at(at)); };
    std::uint64_t const sizes = df.version_ == 4 ? 4 * count(24) : 0;
    std::uint64_t const data = count(32);
    std::uint64_t const whole =
        header_bytes + 12 * count(16) + 4 * count(20) + 4 * count(24) + sizes + count(28) + data;
    if (whole != file.size())
        return problem_at(map_errc::file_size_mismatch, file.size(), static_cast<std::int64_t>(file.size()),
                          static_cast<std::int64_t>(whole));
    df.types_ = static_cast<std::size_t>(df.int_at(16));
    df.items_ = static_cast<std::size_t>(df.int_at(20));
    df.blocks_ = static_cast<std::size_t>(df.int_at(24));
    df.item_bytes_ = static_cast<std::size_t>(df.int_at(28));

    // Before September 2010 both fields left the size table out.
    auto const check_size = [&](std::size_t at, std::uint64_t right, map_errc code) {
        auto const stated = static_cast<std::int64_t>(df.int_at(at));
        auto const expected = static_cast<std::int64_t>(right);
        if (stated == expected) return map_problem{};
        if (stated != expected - static_cast<std::int64_t>(sizes)) return problem_at(code, at, stated, expected);
        if (!df.old_sizes_) options.report(problem_at(map_errc::old_header_sizes, at, stated, expected));
        df.old_sizes_ = true;
        return map_problem{};
    };
    map_problem problem = check_size(8, whole - 16, map_errc::header_size_mismatch);
    if (problem.code == map_errc::ok) problem = check_size(12, whole - 16 - data, map_errc::swaplen_mismatch);
    if (problem.code == map_errc::ok) problem = df.check_types(options.report);
    if (problem.code == map_errc::ok) problem = df.check_items(options);
    if (problem.code == map_errc::ok) problem = df.check_blocks(options.report);
    if (problem.code != map_errc::ok) return problem;
    return df;
}

map_problem datafile::check_types(map_report report) const noexcept {
    std::bitset<id_count> seen;
    std::uint64_t next = 0;
    std::int32_t previous = -1;
    bool ascending = true;
    for (std::size_t i = 0; i < types_; ++i) {
        std::size_t const at = header_bytes + 12 * i;
        std::int32_t const type = int_at(at);
        std::int32_t const first = int_at(at + 4);
        std::int32_t const count = int_at(at + 8);
        if (type < 0 || type >= static_cast<std::int32_t>(id_count) || seen[static_cast<std::size_t>(type)])
            return problem_at(map_errc::bad_item_type_table, at, type);
        if (first != static_cast<std::int64_t>(next))
            return problem_at(map_errc::bad_item_type_table, at + 4, first, static_cast<std::int64_t>(next));
        if (count <= 0 || static_cast<std::uint64_t>(count) > items_ - next)
            return problem_at(map_errc::bad_item_type_table, at + 8, count,
                              static_cast<std::int64_t>(items_ - next));
        seen[static_cast<std::size_t>(type)] = true;
        if (type < previous && ascending) {
            ascending = false;
            report(problem_at(map_errc::item_types_not_ascending, at, type, previous));
        }
        previous = type;
        next += static_cast<std::uint64_t>(count);
    }
    if (next != items_)
        return problem_at(map_errc::bad_item_type_table, 20, static_cast<std::int64_t>(items_),
                          static_cast<std::int64_t>(next));
    return {};
}

map_problem datafile::check_items(datafile_options const& options) const noexcept {
    std::size_t offset = 0;
    for (std::size_t t = 0; t < types_; ++t) {
        datafile_type const type = this->type(t);
        for (std::size_t i = type.first; i < type.first + type.count; ++i) {
            std::size_t const entry = item_offsets() + 4 * i;
            std::size_t const at = item_start() + offset;
            std::int32_t const stated = int_at(entry);
            auto const begin = static_cast<std::int64_t>(offset);
            if (stated != begin) return item_problem(map_errc::bad_item_offset, entry, type, i, stated, begin);
            if (item_bytes_ - offset < 8)
                return item_problem(map_errc::bad_item_offset, entry, type, i, stated,
                                    static_cast<std::int64_t>(item_bytes_) - 8);
            // The next entry says where this one ends. Where it is senseless, it is the one to blame.
            std::int64_t end = static_cast<std::int64_t>(item_bytes_);
            if (i + 1 < items_) {
                end = int_at(entry + 4);
                if (end < begin + 8 || end > static_cast<std::int64_t>(item_bytes_) || end % 4 != 0)
                    return item_problem(map_errc::bad_item_offset, entry + 4, type, i, end, begin + 8);
            }
            std::int32_t const size = int_at(at + 4);
            if (size != end - begin - 8)
                return item_problem(map_errc::bad_item_size, at + 4, type, i, size, end - begin - 8);
            std::int32_t const own_type = static_cast<std::int32_t>(static_cast<std::uint32_t>(int_at(at)) >> 16);
            if (own_type != type.type)
                return item_problem(map_errc::item_type_mismatch, at, type, i, own_type, type.type);
            offset = static_cast<std::size_t>(end);
        }
        if (type.type == uuid_index_type) continue; // real maps have the same index item twice
        map_problem const problem = check_ids(type, options);
        if (problem.code != map_errc::ok) return problem;
    }
    if (offset != item_bytes_)
        return problem_at(map_errc::bad_item_size, 28, static_cast<std::int64_t>(item_bytes_),
                          static_cast<std::int64_t>(offset));
    return {};
}

map_problem datafile::check_ids(datafile_type type, datafile_options const& options) const noexcept {
    std::size_t const end = std::size_t{type.first} + type.count;
    // As a rule they ascend.
    std::size_t i = type.first;
    std::int32_t last = -1;
    for (; i < end && item(i).id > last; ++i) last = item(i).id;
    if (i == end) return {};

    std::bitset<id_count> many;
    bool const few = type.count <= 64;
    if (!few)
        for (std::size_t j = type.first; j < i; ++j) many[item(j).id] = true;
    for (; i < end; ++i) {
        std::uint16_t const id = item(i).id;
        bool seen = false;
        if (few) {
            for (std::size_t j = type.first; j < i; ++j) seen |= item(j).id == id;
        } else {
            seen = many[id];
            many[id] = true;
        }
        if (!seen) continue;
        map_problem const problem = item_problem(map_errc::duplicate_item_id, item(i).position, type, i, id, 0);
        if (options.mode == decoding::strict) return problem;
        options.report(problem);
        break; // one report per type
    }
    return {};
}

map_problem datafile::check_blocks(map_report report) const noexcept {
    std::int64_t previous = -1;
    auto const data = static_cast<std::int64_t>(data_bytes());
    for (std::size_t i = 0; i < blocks_; ++i) {
        std::size_t const at = data_offsets() + 4 * i;
        std::int32_t const offset = int_at(at);
        auto const number = static_cast<std::int32_t>(i);
        if ((i == 0 && offset != 0) || offset <= previous || offset >= data)
            return block_problem(map_errc::bad_data_offset, at, number, offset, i == 0 ? 0 : previous + 1);
        previous = offset;
        if (version_ != 4) continue;
        std::int32_t const size = int_at(data_sizes() + 4 * i);
        if (size < 0) return block_problem(map_errc::bad_data_size, data_sizes() + 4 * i, number, size);
        if (size == 0) report(block_problem(map_errc::data_size_zero, data_sizes() + 4 * i, number));
    }
    return {};
}

// ---- items ---------------------------------------------------------------------------------------------------------

datafile_type datafile::type(std::size_t i) const noexcept {
    assert(i < types_);
    std::size_t const at = header_bytes + 12 * i;
    return {static_cast<std::uint16_t>(int_at(at)), static_cast<std::uint32_t>(int_at(at + 4)),
            static_cast<std::uint32_t>(int_at(at + 8))};
}

datafile_type datafile::find_type(std::uint16_t type) const noexcept {
    for (std::size_t i = 0; i < types_; ++i)
        if (int_at(header_bytes + 12 * i) == type) return this->type(i);
    return {type, 0, 0};
}

datafile_item datafile::item(std::size_t i) const noexcept {
    assert(i < items_);
    std::size_t const at = item_start() + static_cast<std::size_t>(int_at(item_offsets() + 4 * i));
    auto const key = static_cast<std::uint32_t>(int_at(at));
    auto const size = static_cast<std::size_t>(int_at(at + 4));
    return {static_cast<std::uint16_t>(key >> 16), static_cast<std::uint16_t>(key),
            item_ints{file_.subspan(at + 8, size)}, at};
}

std::optional<datafile_item> datafile::find(std::uint16_t type, std::uint16_t id) const noexcept {
    datafile_type const found = find_type(type);
    for (std::size_t i = found.first; i < found.first + found.count; ++i)
        if (item(i).id == id) return item(i);
    return {};
}

uuid read_uuid(item_ints ints) noexcept {
    assert(ints.size() >= 4);
    uuid id;
    for (std::size_t i = 0; i < 16; ++i)
        id.bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(ints[i / 4]) >> (24 - 8 * (i % 4)));
    return id;
}

std::optional<std::uint16_t> datafile::type_of(uuid const& name) const noexcept {
    datafile_type const index = find_type(uuid_index_type);
    for (std::size_t i = index.first; i < index.first + index.count; ++i) {
        datafile_item const entry = item(i);
        if (entry.ints.size() >= 4 && read_uuid(entry.ints) == name) return entry.id;
    }
    return {};
}

std::optional<uuid> datafile::uuid_of(std::uint16_t type) const noexcept {
    if (type <= 0x8000 || type == uuid_index_type) return {};
    auto const entry = find(uuid_index_type, type);
    if (!entry || entry->ints.size() < 4) return {};
    return read_uuid(entry->ints);
}

// ---- blocks --------------------------------------------------------------------------------------------------------

datafile_block datafile::block(std::size_t i) const noexcept {
    assert(i < blocks_);
    auto const begin = static_cast<std::size_t>(int_at(data_offsets() + 4 * i));
    std::size_t const end =
        i + 1 < blocks_ ? static_cast<std::size_t>(int_at(data_offsets() + 4 * i + 4)) : data_bytes();
    std::size_t const position = data_start() + begin;
    std::size_t const size = version_ == 4 ? static_cast<std::size_t>(int_at(data_sizes() + 4 * i)) : end - begin;
    return {file_.subspan(position, end - begin), size, position};
}

result<std::size_t, map_problem> datafile::block_size(std::int32_t i) const noexcept {
    if (i < 0 || static_cast<std::size_t>(i) >= blocks_)
        return block_problem(map_errc::bad_data_index, 0, i, i, static_cast<std::int64_t>(blocks_) - 1);
    datafile_block const found = block(static_cast<std::size_t>(i));
    auto const size = static_cast<std::int64_t>(found.size);
    if (version_ == 4 && found.size > most_of(found.stored.size()))
        return block_problem(map_errc::decompressed_size_mismatch, found.position, i, size,
                             static_cast<std::int64_t>(most_of(found.stored.size())));
    if (found.size > max_block_bytes_)
        return block_problem(map_errc::too_large, found.position, i, size,
                             static_cast<std::int64_t>(max_block_bytes_));
    return found.size;
}

namespace {

// Gives what was decompressed to `put`, at most `room` bytes at a time.
template <class Put>
map_errc decompress(map_bytes stored, std::size_t size, inflate_memory& memory, Put&& put,
                    std::size_t& spare) noexcept {
    arena from{memory};
    z_stream stream{};
    stream.zalloc = arena_alloc;
    stream.zfree = arena_free;
    stream.opaque = &from;
    stream.next_in = const_cast<Bytef*>(stored.data());
    stream.avail_in = static_cast<uInt>(stored.size());
    if (inflateInit(&stream) != Z_OK) return map_errc::decompress_failed;
    int state = Z_OK;
    do {
        std::span<std::uint8_t> const room = put(stream.total_out);
        stream.next_out = room.data();
        stream.avail_out = static_cast<uInt>(room.size());
        bool const last = stream.total_out + room.size() >= size;
        state = inflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        if (last || (state == Z_OK && stream.avail_out != 0)) break; // over, or out of input
    } while (state == Z_OK);
    std::uint64_t const given = stream.total_out;
    spare = stream.avail_in;
    inflateEnd(&stream);
    if (state != Z_STREAM_END) return map_errc::decompress_failed;
    return given == size ? map_errc::ok : map_errc::decompressed_size_mismatch;
}

} // namespace

result<std::span<std::uint8_t>, map_problem> datafile::read_block(std::int32_t i, std::span<std::uint8_t> out,
                                                                  inflate_memory& memory,
                                                                  map_report report) const noexcept {
    auto const size = block_size(i);
    if (!size) return size.error();
    assert(out.size() >= *size);
    out = out.first(*size);
    if (out.empty()) return out; // nothing is in it, whatever its stream says
    datafile_block const from = block(static_cast<std::size_t>(i));
    if (version_ == 3) {
        std::copy(from.stored.begin(), from.stored.end(), out.begin());
        return out;
    }
    std::size_t spare = 0;
    map_errc const code = decompress(
        from.stored, *size, memory, [out](std::size_t) { return out; }, spare);
    if (code != map_errc::ok) return block_problem(code, from.position, i, static_cast<std::int64_t>(from.size));
    if (spare != 0)
        report(block_problem(map_errc::data_after_stream, from.position + from.stored.size() - spare, i,
                             static_cast<std::int64_t>(spare)));
    return out;
}

result<std::size_t, map_problem> datafile::check_block(std::int32_t i, inflate_memory& memory,
                                                       map_report report) const noexcept {
    auto const size = block_size(i);
    if (!size) return size.error();
    if (*size == 0 || version_ == 3) return *size;
    datafile_block const from = block(static_cast<std::size_t>(i));
    std::array<std::uint8_t, 16384> piece;
    std::size_t spare = 0;
    map_errc const code = decompress(
        from.stored, *size, memory,
        [&](std::size_t done) { return std::span{piece}.first(std::min(piece.size(), *size - done)); }, spare);
    if (code != map_errc::ok) return block_problem(code, from.position, i, static_cast<std::int64_t>(from.size));
    if (spare != 0)
        report(block_problem(map_errc::data_after_stream, from.position + from.stored.size() - spare, i,
                             static_cast<std::int64_t>(spare)));
    return *size;
}

} // namespace teewire
