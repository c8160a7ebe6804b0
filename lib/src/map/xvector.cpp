#include "teewire/map/xvector.hpp"

#include "text.hpp"

#include <algorithm>
#include <bit>

namespace teewire {
namespace {

using map_detail::is_utf8;

constexpr std::uint32_t version_1 = 1;

constexpr std::uint32_t number_at(std::span<std::uint8_t const> bytes, std::size_t at) noexcept {
    return std::uint32_t{bytes[at]} | std::uint32_t{bytes[at + 1]} << 8 | std::uint32_t{bytes[at + 2]} << 16 |
           std::uint32_t{bytes[at + 3]} << 24;
}

// Fields in order. All zero once the bytes are used up; the first position where they were stays.
class field_reader {
public:
    field_reader(std::span<std::uint8_t const> bytes, std::size_t at) noexcept : bytes_{bytes}, at_{at} {}

    std::uint32_t number() noexcept {
        if (!has(4)) return 0;
        at_ += 4;
        return number_at(bytes_, at_ - 4);
    }
    std::int16_t half() noexcept {
        if (!has(2)) return 0;
        at_ += 2;
        return static_cast<std::int16_t>(bytes_[at_ - 2] | bytes_[at_ - 1] << 8);
    }
    float real() noexcept { return std::bit_cast<float>(number()); }
    std::string_view text() noexcept {
        std::size_t const begin = at_;
        std::uint32_t const size = number();
        if (!has(size)) return {};
        std::string_view const found{reinterpret_cast<char const*>(bytes_.data()) + at_, size};
        at_ += size;
        if (!bad_text_ && !is_utf8(found)) bad_text_ = begin;
        return found;
    }
    [[nodiscard]] bool truncated() const noexcept { return truncated_; }
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    /// Where a text begins that is not UTF-8.
    [[nodiscard]] std::optional<std::size_t> bad_text() const noexcept { return bad_text_; }

private:
    bool has(std::size_t size) noexcept {
        truncated_ = truncated_ || size > bytes_.size() - at_;
        return !truncated_;
    }

    std::span<std::uint8_t const> bytes_;
    std::size_t at_;
    bool truncated_ = false;
    std::optional<std::size_t> bad_text_;
};

class field_writer {
public:
    explicit field_writer(std::span<std::uint8_t> out) noexcept : out_{out} {}

    void number(std::uint32_t n) noexcept {
        for (unsigned shift = 0; shift < 32; shift += 8) out_[at_++] = static_cast<std::uint8_t>(n >> shift);
    }
    void half(std::int16_t n) noexcept {
        auto const bits = static_cast<std::uint16_t>(n);
        out_[at_++] = static_cast<std::uint8_t>(bits & 0xff);
        out_[at_++] = static_cast<std::uint8_t>(bits >> 8);
    }
    void text(std::string_view t) noexcept {
        number(static_cast<std::uint32_t>(t.size()));
        for (char const c : t) out_[at_++] = static_cast<std::uint8_t>(c);
    }
    [[nodiscard]] std::size_t position() const noexcept { return at_; }

private:
    std::span<std::uint8_t> out_;
    std::size_t at_ = 0;
};

// A header with the places of what can be wrong in it.
struct parsed_header {
    xvector_header header;
    std::size_t content_flags_at = 0;
    std::size_t dimensions_at = 0;
    std::size_t end = 0;
    bool truncated = false;
    std::optional<std::size_t> bad_text;

    [[nodiscard]] bool has_dimensions() const noexcept {
        return header.width != 0 && header.height != 0 && header.depth != 0;
    }
};

// The file has a magic number and a version.
parsed_header parse(std::span<std::uint8_t const> file, xvector_layout layout) noexcept {
    parsed_header parsed;
    xvector_header& h = parsed.header;
    field_reader in{file, 4};
    h.layout = layout;
    h.version = in.number();
    if (layout == xvector_layout::revision_1) {
        h.min_version = in.number();
        parsed.content_flags_at = in.position();
        h.content_flags = in.number();
    }
    h.name = in.text();
    parsed.dimensions_at = in.position();
    h.width = in.number();
    h.height = in.number();
    h.depth = in.number();
    h.player_depth = in.number();
    h.north = in.text();
    h.east = in.text();
    h.south = in.text();
    h.west = in.text();
    h.background = in.text();
    if (layout == xvector_layout::revision_1) {
        h.scroll_x = in.half();
        h.scroll_y = in.half();
        h.parallax_x = in.real();
        h.parallax_y = in.real();
    } else {
        parsed.content_flags_at = in.position();
        h.content_flags = in.number();
    }
    parsed.end = in.position();
    parsed.truncated = in.truncated();
    parsed.bad_text = in.bad_text();
    return parsed;
}

// Whether all of the file makes sense as what the original program writes.
bool is_original(std::span<std::uint8_t const> file) noexcept {
    auto const parsed = parse(file, xvector_layout::original_program);
    xvector_header const& h = parsed.header;
    if (parsed.truncated || parsed.bad_text || !parsed.has_dimensions() || h.player_depth >= h.depth) return false;
    std::uint64_t const cells = h.cells();
    std::size_t at = parsed.end;
    for (std::uint64_t tiles = 0; file.size() - at >= 4; ++tiles) {
        if ((number_at(file, at) & xvector_end_flag) != 0) return at + 4 == file.size();
        if (tiles == cells || file.size() - at < xvector_tile_bytes) return false;
        at += xvector_tile_bytes;
    }
    return at == file.size() && at - parsed.end == cells * xvector_tile_bytes;
}

} // namespace

// ---- header --------------------------------------------------------------------------------------------------------

std::uint64_t xvector_header::cells() const noexcept {
    std::uint64_t const area = std::uint64_t{width} * height; // fits
    if (depth != 0 && area > UINT64_MAX / depth) return UINT64_MAX;
    return area * depth;
}

xvector_layout detect_xvector_layout(std::span<std::uint8_t const> file) noexcept {
    using enum xvector_layout;
    if (file.size() < 12 || number_at(file, 4) != version_1) return revision_1; // the program knew no other version
    // Revision 1: the minimum version. The program: the length of the name.
    std::uint32_t const second = number_at(file, 8);
    if (second > version_1) return original_program;
    if (second == version_1 && file.size() >= 16 && number_at(file, 12) <= xvector_stripped) return revision_1;
    return is_original(file) ? original_program : revision_1;
}

// ---- reader --------------------------------------------------------------------------------------------------------

namespace {

map_problem problem(map_errc code, std::size_t position) noexcept {
    return {.code = code, .severity = severity_of(code), .position = position};
}

} // namespace

// Ends the reading, if the caller wants that.
void xvector_reader::complain(map_problem const& problem) noexcept {
    if (options_.mode == decoding::lenient) add(problem);
    else if (error_.code == map_errc::ok) error_ = problem;
}

result<xvector_reader, map_problem> xvector_reader::open(std::span<std::uint8_t const> file,
                                                         xvector_options const& options) noexcept {
    using enum map_errc;
    for (std::size_t i = 0; i < std::min<std::size_t>(file.size(), 4); ++i)
        if (file[i] != static_cast<std::uint8_t>(xvector_magic >> 8 * i)) return problem(bad_magic, i);
    if (file.size() < 8) return problem(truncated, file.size());

    auto const layout = options.layout.value_or(detect_xvector_layout(file));
    auto const parsed = parse(file, layout);
    xvector_header const& h = parsed.header;
    bool const original = layout == xvector_layout::original_program;
    if (h.version == 0 || (original && h.version != version_1)) return problem(unsupported_version, 4);
    if (h.min_version > version_1) return problem(unsupported_version, 8);
    if (parsed.truncated) return problem(truncated, parsed.end);
    if (!parsed.has_dimensions()) return problem(bad_dimensions, parsed.dimensions_at);
    if (h.cells() > options.max_cells) return map_problem{.code = too_large, .position = parsed.dimensions_at};

    xvector_reader reader;
    reader.file_ = file;
    reader.header_ = h;
    reader.options_ = options;
    reader.at_ = parsed.end;
    if (original) reader.add(problem(other_layout, 8));
    if (h.version > version_1) reader.add(problem(newer_version, 4));
    if ((h.content_flags & ~xvector_stripped) != 0) reader.add(problem(unknown_flag_bits, parsed.content_flags_at));
    if (parsed.bad_text) reader.complain(problem(bad_name_encoding, *parsed.bad_text));
    if (h.player_depth >= h.depth) {
        map_problem p = problem(bad_player_depth, parsed.dimensions_at + 12);
        p.value = h.player_depth;
        p.expected = h.depth - 1;
        reader.complain(p);
    }
    if (reader.error_.code != ok) return reader.error_;
    return reader;
}

// Nothing may follow the end of the tiles, which was found at `position`.
bool xvector_reader::end(std::size_t position) noexcept {
    at_ = position;
    ended_ = true;
    if (position == file_.size()) return false;
    map_problem p = problem(map_errc::trailing_data, position);
    p.value = static_cast<std::int64_t>(file_.size() - position);
    // A later revision may have put something there that this one need not know.
    if (header_.version > version_1) {
        p.severity = map_severity::note;
        add(p);
    } else {
        complain(p);
    }
    return false;
}

bool xvector_reader::next(xvector_tile& out) noexcept {
    while (!ended_ && error_.code == map_errc::ok) {
        std::size_t const left = file_.size() - at_;
        // The original program counts: once every cell has had its tile, it does not look for the end.
        bool const all = header_.layout == xvector_layout::original_program && tiles_ == header_.cells();
        if (left == 0) {
            ended_ = true;
            map_problem p = problem(map_errc::missing_end_of_tiles, at_);
            if (all) p.severity = map_severity::note;
            if (all) add(p);
            else complain(p);
            break;
        }
        map_problem about_tile = problem(map_errc::unknown_flag_bits, at_);
        about_tile.item = static_cast<std::int32_t>(tiles_); // a file with that many tiles would have 40 GiB
        if (left >= 4 && (number_at(file_, at_) & xvector_end_flag) != 0) {
            if (number_at(file_, at_) != xvector_end_flag) add(about_tile);
            return end(at_ + 4);
        }
        if (all) return end(at_);
        if (left < xvector_tile_bytes) {
            error_ = problem(map_errc::truncated, at_);
            break;
        }
        out = {number_at(file_, at_), number_at(file_, at_ + 4), number_at(file_, at_ + 8),
               number_at(file_, at_ + 12), number_at(file_, at_ + 16)};
        at_ += xvector_tile_bytes;
        ++tiles_;
        if (out.flags != 0) add(about_tile);
        if (out.x < header_.width && out.y < header_.height && out.z < header_.depth) return true;
        bool const x = out.x >= header_.width;
        bool const y = out.y >= header_.height;
        about_tile.code = map_errc::tile_out_of_bounds;
        about_tile.severity = severity_of(about_tile.code);
        about_tile.value = x ? out.x : y ? out.y : out.z;
        about_tile.expected = (x ? header_.width : y ? header_.height : header_.depth) - 1;
        add(about_tile);
    }
    return false;
}

map_problem read_xvector_cells(xvector_reader& reader, std::span<std::uint32_t> sprites,
                               std::span<std::uint8_t> given) noexcept {
    xvector_header const& h = reader.header();
    assert(sprites.size() == h.cells());
    assert(given.empty() || given.size() == sprites.size());
    xvector_tile tile;
    while (reader.next(tile)) {
        auto const cell = static_cast<std::size_t>(h.cell(tile.x, tile.y, tile.z));
        sprites[cell] = tile.sprite;
        if (given.empty()) continue;
        if (given[cell] != 0) {
            map_problem p = problem(map_errc::duplicate_tile, reader.position() - xvector_tile_bytes);
            p.item = static_cast<std::int32_t>(reader.tiles() - 1);
            reader.report()(p);
        }
        given[cell] = 1;
    }
    return reader.error();
}

// ---- writer --------------------------------------------------------------------------------------------------------

std::size_t xvector_size(xvector_header const& h, std::size_t tiles) noexcept {
    std::size_t const fixed = h.layout == xvector_layout::revision_1 ? 16 + 28 : 8 + 20;
    std::size_t size = fixed + tiles * xvector_tile_bytes + 4;
    for (std::string_view const text : {h.name, h.north, h.east, h.south, h.west, h.background})
        size += 4 + text.size();
    return size;
}

result<std::size_t, map_problem> write_xvector(xvector_header const& h, std::span<xvector_tile const> tiles,
                                               std::span<std::uint8_t> out,
                                               std::span<std::uint8_t> cells) noexcept {
    using enum map_errc;
    if (h.version != version_1 || h.min_version > version_1) return problem(unsupported_version, 0);
    if (h.width == 0 || h.height == 0 || h.depth == 0) return problem(bad_dimensions, 0);
    if (h.player_depth >= h.depth) return problem(bad_player_depth, 0);
    for (std::string_view const text : {h.name, h.north, h.east, h.south, h.west, h.background}) {
        if (text.size() > UINT32_MAX) return map_problem{.code = too_large};
        if (!is_utf8(text)) return problem(bad_name_encoding, 0);
    }
    assert(cells.empty() || cells.size() == h.cells());
    std::fill(cells.begin(), cells.end(), std::uint8_t{0});
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        xvector_tile const& t = tiles[i];
        bool const inside = t.x < h.width && t.y < h.height && t.z < h.depth;
        bool repeated = false;
        if (inside && !cells.empty()) {
            std::uint8_t& taken = cells[static_cast<std::size_t>(h.cell(t.x, t.y, t.z))];
            repeated = taken != 0;
            taken = 1;
        }
        if (inside && !repeated) continue;
        map_problem p = problem(inside ? duplicate_tile : tile_out_of_bounds, 0);
        p.item = static_cast<std::int32_t>(i);
        return p;
    }
    if (out.size() < xvector_size(h, tiles.size())) return map_problem{.code = too_large};

    field_writer to{out};
    to.number(xvector_magic);
    to.number(h.version);
    if (h.layout == xvector_layout::revision_1) {
        to.number(h.min_version);
        to.number(h.content_flags);
    }
    to.text(h.name);
    for (std::uint32_t const n : {h.width, h.height, h.depth, h.player_depth}) to.number(n);
    for (std::string_view const text : {h.north, h.east, h.south, h.west, h.background}) to.text(text);
    if (h.layout == xvector_layout::revision_1) {
        to.half(h.scroll_x);
        to.half(h.scroll_y);
        to.number(std::bit_cast<std::uint32_t>(h.parallax_x));
        to.number(std::bit_cast<std::uint32_t>(h.parallax_y));
    } else {
        to.number(h.content_flags);
    }
    for (xvector_tile const& t : tiles)
        for (std::uint32_t const n : {std::uint32_t{0}, t.x, t.y, t.z, t.sprite}) to.number(n);
    to.number(xvector_end_flag);
    return to.position();
}

result<std::size_t, map_problem> strip_xvector(std::span<std::uint8_t const> file,
                                               std::span<std::uint8_t> out) noexcept {
    auto const opened = xvector_reader::open(file);
    if (!opened) return opened.error();
    xvector_reader reader = *opened;
    for (xvector_tile tile; reader.next(tile);) {
    }
    map_errc const end = reader.error().code;
    if (end != map_errc::ok && end != map_errc::trailing_data) return reader.error();
    std::size_t const size = reader.position();
    std::size_t const flags_at = parse(file, reader.header().layout).content_flags_at;
    if (out.size() < size) return map_problem{.code = map_errc::too_large};
    if (out.data() != file.data()) std::copy_n(file.begin(), size, out.begin());
    out[flags_at] |= xvector_stripped;
    return size;
}

} // namespace teewire
