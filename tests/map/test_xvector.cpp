#include "check.hpp"
#include "random.hpp"

#include <teewire/map/xvector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace teewire;

namespace {

// A file in the making, byte by byte, apart from the writer that is tested.
struct file_text {
    test::bytes bytes;
    file_text& u32(std::uint32_t n) {
        for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(n >> 8 * i));
        return *this;
    }
    file_text& text(std::string_view t) {
        u32(static_cast<std::uint32_t>(t.size()));
        bytes.insert(bytes.end(), t.begin(), t.end());
        return *this;
    }
    file_text& tile(std::uint32_t flags, std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t sprite) {
        return u32(flags).u32(x).u32(y).u32(z).u32(sprite);
    }
    file_text& end() { return u32(0x40000000); }
};

// Revision 1: 3 by 2 tiles in 2 layers.
file_text revision_1(std::uint32_t version = 1, std::uint32_t min_version = 1, std::uint32_t flags = 0) {
    file_text f;
    f.bytes = {1, 5, 11, 0};
    f.u32(version).u32(min_version).u32(flags).text("hill").u32(3).u32(2).u32(2).u32(1);
    for (int i = 0; i < 5; ++i) f.text("");
    f.u32(0).u32(0).u32(0); // scroll and parallax
    return f;
}
constexpr std::size_t revision_1_tiles = 16 + 8 + 16 + 20 + 12;

// Written by the original program: 2 by 1 tiles in 2 layers.
file_text original(std::string_view name = "cave", std::uint32_t flags = 0) {
    file_text f;
    f.bytes = {1, 5, 11, 0};
    f.u32(1).text(name).u32(2).u32(1).u32(2).u32(1);
    for (int i = 0; i < 5; ++i) f.text("");
    f.u32(flags);
    return f;
}

// A file as read: tiles, reports and how it ended.
struct reading {
    map_problem error;
    xvector_header header;
    std::vector<xvector_tile> tiles;
    std::vector<map_problem> reports;

    [[nodiscard]] bool has(map_errc code) const {
        return std::any_of(reports.begin(), reports.end(), [&](map_problem const& p) { return p.code == code; });
    }
};

reading read(std::span<std::uint8_t const> bytes, xvector_options options = {}) {
    reading r;
    auto keep = [&](map_problem const& p) { r.reports.push_back(p); };
    options.report = keep;
    auto reader = xvector_reader::open(bytes, options);
    if (!reader) {
        r.error = reader.error();
        return r;
    }
    xvector_reader tiles = *reader;
    r.header = tiles.header();
    for (xvector_tile t; tiles.next(t);) r.tiles.push_back(t);
    r.error = tiles.error();
    return r;
}

void check_error(reading const& r, map_errc code, std::size_t position) {
    CHECK(static_cast<int>(r.error.code) == static_cast<int>(code));
    CHECK(r.error.position == position);
}

test::bytes write(xvector_header const& header, std::vector<xvector_tile> const& tiles) {
    test::bytes out(xvector_size(header, tiles.size()));
    test::bytes cells(header.cells());
    auto const size = write_xvector(header, tiles, out, cells);
    REQUIRE(size);
    CHECK(*size == out.size());
    return out;
}

} // namespace

TEST_CASE("xVector: a file of Revision 1") {
    auto f = revision_1(1, 1, 1);
    f.tile(0, 2, 1, 1, 4'000'000'000).tile(0, 0, 0, 0, 5).end();
    auto const r = read(f.bytes);
    CHECK(r.error.code == map_errc::ok);
    CHECK(r.reports.empty());
    CHECK(r.header.layout == xvector_layout::revision_1);
    CHECK(r.header.name == "hill");
    CHECK(r.header.width == 3);
    CHECK(r.header.height == 2);
    CHECK(r.header.depth == 2);
    CHECK(r.header.player_depth == 1);
    CHECK(r.header.stripped());
    CHECK_FALSE(r.header.background_ignored());
    REQUIRE(r.tiles.size() == 2);
    CHECK(r.tiles[0].x == 2);
    CHECK(r.tiles[0].sprite == 4'000'000'000);
    CHECK(r.tiles[1].z == 0);
}

TEST_CASE("xVector: every field is written and read") {
    xvector_header h;
    h.content_flags = 1;
    h.name = "K\xc3\xa4se \xf0\x9f\x90\x8d";
    h.width = 70'000;
    h.height = 3;
    h.depth = 7;
    h.player_depth = 6;
    h.north = "n";
    h.east = "east map";
    h.south = "s";
    h.west = "w w";
    h.background = "sky.png";
    h.scroll_x = std::numeric_limits<std::int16_t>::min();
    h.scroll_y = std::numeric_limits<std::int16_t>::max();
    h.parallax_x = -0.5F;
    h.parallax_y = std::numeric_limits<float>::quiet_NaN();
    std::vector<xvector_tile> const tiles = {{0, 69'999, 2, 6, 1}, {0, 0, 0, 0, UINT32_MAX}};
    for (auto const layout : {xvector_layout::revision_1, xvector_layout::original_program}) {
        h.layout = layout;
        auto const bytes = write(h, tiles);
        auto const r = read(bytes);
        CHECK(r.error.code == map_errc::ok);
        CHECK(r.header.layout == layout);
        CHECK(r.header.content_flags == 1);
        CHECK(r.header.name == h.name);
        CHECK(r.header.width == h.width);
        CHECK(r.header.player_depth == 6);
        CHECK(r.header.north == "n");
        CHECK(r.header.east == "east map");
        CHECK(r.header.south == "s");
        CHECK(r.header.west == "w w");
        CHECK(r.header.background == "sky.png");
        CHECK(r.header.background_ignored());
        bool const rates = layout == xvector_layout::revision_1;
        CHECK(r.header.scroll_x == (rates ? h.scroll_x : 0));
        CHECK(r.header.scroll_y == (rates ? h.scroll_y : 0));
        CHECK(r.header.parallax_x == (rates ? -0.5F : 0.0F));
        CHECK(std::isnan(r.header.parallax_y) == rates);
        REQUIRE(r.tiles.size() == 2);
        CHECK(r.tiles[0].x == 69'999);
        CHECK(r.tiles[1].sprite == UINT32_MAX);
        CHECK(write(r.header, r.tiles) == bytes);
    }
}

TEST_CASE("xVector: the writer's bytes are those of the layout") {
    xvector_header h;
    h.name = "hill";
    h.width = 3;
    h.height = h.depth = 2;
    h.player_depth = 1;
    CHECK(write(h, {{9, 1, 0, 1, 7}}) == revision_1().tile(0, 1, 0, 1, 7).end().bytes); // flags have no meaning
    h.layout = xvector_layout::original_program;
    h.name = "cave";
    h.width = 2;
    h.height = 1;
    CHECK(write(h, {{0, 1, 0, 1, 7}}) == original().tile(0, 1, 0, 1, 7).end().bytes);
}

TEST_CASE("xVector: the layouts are told apart") {
    auto const layout = [](file_text const& f) { return detect_xvector_layout(f.bytes); };
    using enum xvector_layout;
    CHECK(layout(::revision_1().end()) == revision_1);
    CHECK(layout(::revision_1(1, 1, 0xffff0000).end()) == revision_1);
    CHECK(layout(::revision_1(1, 0).end()) == revision_1);
    CHECK(layout(::revision_1(2, 2).end()) == revision_1);
    CHECK(layout(original().end()) == original_program);
    CHECK(layout(original("").end()) == original_program);
    CHECK(layout(original("a").end()) == original_program);
    CHECK(layout(original("").tile(0, 1, 0, 1, 7).end()) == original_program);
    // All cells, and no end.
    auto all = original("");
    for (std::uint32_t i = 0; i < 4; ++i) all.tile(0, i % 2, 0, i / 2, i);
    CHECK(layout(all) == original_program);
    CHECK(read(all.bytes).tiles.size() == 4);
    CHECK(read(all.bytes).has(map_errc::missing_end_of_tiles));
    CHECK(read(all.bytes).error.code == map_errc::ok);
    CHECK(layout(file_text{}) == revision_1);

    auto const r = read(original().end().bytes);
    REQUIRE(r.has(map_errc::other_layout));
    // The caller may know better.
    check_error(read(original().end().bytes, {.layout = revision_1}), map_errc::unsupported_version, 8);
    check_error(read(::revision_1().end().bytes, {.layout = original_program}), map_errc::truncated, 33);
}

TEST_CASE("xVector: tiles outside the map are reported, and reading goes on") {
    auto f = revision_1();
    f.tile(0, 3, 0, 0, 1)
        .tile(0, 0, 0, 0, 2)
        .tile(0, 0, 9, 0, 3)
        .tile(0, 0, 0, UINT32_MAX, 4)
        .tile(0, 2, 1, 1, 5)
        .end();
    auto const r = read(f.bytes);
    CHECK(r.error.code == map_errc::ok);
    REQUIRE(r.tiles.size() == 2);
    CHECK(r.tiles[0].sprite == 2);
    CHECK(r.tiles[1].sprite == 5);
    REQUIRE(r.reports.size() == 3);
    std::int64_t const values[] = {3, 9, UINT32_MAX};
    std::int64_t const bounds[] = {2, 1, 1};
    std::int32_t const numbers[] = {0, 2, 3};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(r.reports[i].code == map_errc::tile_out_of_bounds);
        CHECK(r.reports[i].severity == map_severity::damage);
        CHECK(r.reports[i].value == values[i]);
        CHECK(r.reports[i].expected == bounds[i]);
        CHECK(r.reports[i].item == numbers[i]);
        CHECK(r.reports[i].position == revision_1_tiles + 20 * static_cast<std::size_t>(numbers[i]));
    }
}

TEST_CASE("xVector: the end is bit 30 alone, and nothing may follow") {
    auto const tiles = revision_1_tiles;
    check_error(read(revision_1().bytes), map_errc::missing_end_of_tiles, tiles);
    check_error(read(revision_1().u32(0x80000000).bytes), map_errc::truncated, tiles);
    check_error(read(revision_1().end().u32(0).bytes), map_errc::trailing_data, tiles + 4);
    auto const with_bits = read(revision_1().u32(0x7fffffff).bytes);
    CHECK(with_bits.error.code == map_errc::ok);
    CHECK(with_bits.has(map_errc::unknown_flag_bits));
    auto const top_bit = read(revision_1().tile(0x80000001, 1, 1, 1, 6).end().bytes);
    CHECK(top_bit.error.code == map_errc::ok);
    CHECK(top_bit.tiles.size() == 1);
    CHECK(top_bit.has(map_errc::unknown_flag_bits));

    // The tiles before are delivered all the same; lenient reading only reports it.
    auto f = revision_1();
    f.tile(0, 1, 1, 1, 6).end().u32(1);
    CHECK(read(f.bytes).tiles.size() == 1);
    check_error(read(f.bytes), map_errc::trailing_data, tiles + 24);
    CHECK(read(f.bytes).error.value == 4);
    CHECK(read(f.bytes, {.mode = decoding::lenient}).error.code == map_errc::ok);
    CHECK(read(f.bytes, {.mode = decoding::lenient}).has(map_errc::trailing_data));
    f.bytes.resize(tiles + 20);
    CHECK(read(f.bytes, {.mode = decoding::lenient}).has(map_errc::missing_end_of_tiles));
    // This revision ignores the additions of a later one.
    auto const newer = read(revision_1(3, 1).end().u32(1).bytes);
    CHECK(newer.error.code == map_errc::ok);
    CHECK(newer.has(map_errc::newer_version));
    CHECK(newer.has(map_errc::trailing_data));
}

TEST_CASE("xVector: the original program stops after as many tiles as cells") {
    auto f = original();
    for (std::uint32_t i = 0; i < 5; ++i) f.tile(0, 0, 0, 0, i);
    f.end();
    check_error(read(f.bytes), map_errc::trailing_data, f.bytes.size() - 24);
    CHECK(read(f.bytes).tiles.size() == 4);
}

TEST_CASE("xVector: what is wrong in headers") {
    auto const changed = [](std::size_t at, std::uint32_t value) {
        auto f = revision_1().end();
        for (std::size_t i = 0; i < 4; ++i) f.bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
        return read(f.bytes);
    };
    check_error(changed(0, 0x0b050100), map_errc::bad_magic, 0);
    check_error(changed(0, 0x010b0501), map_errc::bad_magic, 3);
    check_error(changed(4, 0), map_errc::unsupported_version, 4);
    check_error(read(revision_1(2, 2).end().bytes), map_errc::unsupported_version, 8);
    check_error(read(revision_1(2, 3).end().bytes), map_errc::unsupported_version, 8);
    check_error(changed(20, 0xffffffff), map_errc::bad_name_encoding, 16);
    check_error(changed(16, 0xffffffff), map_errc::truncated, 20);
    for (std::size_t const at : {24U, 28U, 32U}) {
        check_error(changed(at, 0), map_errc::bad_dimensions, 24);
        check_error(changed(at, 0xffffffff), map_errc::too_large, 24);
    }
    check_error(changed(36, 2), map_errc::bad_player_depth, 36);

    auto f = revision_1(1, 1, 0x80000000).end();
    CHECK(read(f.bytes).has(map_errc::unknown_flag_bits));
    CHECK(read(f.bytes).header.content_flags == 0x80000000);
    f.bytes[20] = 0xff;
    f.bytes[36] = 9;
    auto const lenient = read(f.bytes, {.mode = decoding::lenient});
    CHECK(lenient.error.code == map_errc::ok);
    CHECK(lenient.header.name == "\xffill");
    CHECK(lenient.has(map_errc::bad_name_encoding));
    CHECK(lenient.has(map_errc::bad_player_depth));
}

TEST_CASE("xVector: only well-formed UTF-8 passes") {
    auto const passes = [](std::string_view name) {
        return read(original(name).end().bytes).error.code == map_errc::ok;
    };
    for (char const* good : {"a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                             "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        CHECK_MESSAGE(passes(std::string{"xy"} + good), good);
    CHECK(passes(std::string_view{"a\0b", 3}));
    for (char const* bad :
         {"\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe1\x80", "\xf1\x80\x80"})
        CHECK_MESSAGE(!passes(std::string{"xy"} + bad), bad);
}

TEST_CASE("xVector: every cut of a file is found") {
    auto f = revision_1();
    f.tile(0, 0, 0, 0, 5).tile(0, 1, 0, 0, 5).end();
    auto g = original();
    g.tile(0, 0, 0, 0, 5).end();
    for (auto const* whole : {&f.bytes, &g.bytes})
        for (std::size_t size = 0; size < whole->size(); ++size) {
            CAPTURE(size);
            test::bytes const cut{whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(size)};
            auto const r = read(cut);
            CHECK((r.error.code == map_errc::truncated || r.error.code == map_errc::missing_end_of_tiles));
            CHECK(r.error.position <= size);
        }
}

TEST_CASE("xVector: cells, and tiles that share one") {
    auto f = revision_1();
    f.tile(0, 2, 1, 1, 1).tile(0, 0, 0, 0, 2).tile(0, 2, 1, 1, 3).end();
    std::vector<map_problem> reports;
    auto keep = [&](map_problem const& p) { reports.push_back(p); };
    xvector_reader reader = *xvector_reader::open(f.bytes, {.report = keep});
    std::vector<std::uint32_t> sprites(12, 99);
    test::bytes given(12);
    CHECK(read_xvector_cells(reader, sprites, given).code == map_errc::ok);
    CHECK(sprites == std::vector<std::uint32_t>{2, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 3});
    CHECK(given == test::bytes{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].code == map_errc::duplicate_tile);
    CHECK(reports[0].item == 2);
    CHECK(reports[0].position == revision_1_tiles + 40);

    // Whatever came before an error is in place.
    f.bytes.resize(f.bytes.size() - 14);
    reader = *xvector_reader::open(f.bytes);
    sprites.assign(12, 99);
    CHECK(read_xvector_cells(reader, sprites).code == map_errc::truncated);
    CHECK(sprites[11] == 1);
}

TEST_CASE("xVector: what is not written") {
    xvector_header good;
    good.width = good.height = 2;
    good.depth = 1;
    test::bytes out(1000);
    test::bytes cells(4);
    auto const code = [&](xvector_header const& h, std::vector<xvector_tile> const& tiles = {}) {
        auto const r = write_xvector(h, tiles, out, h.cells() == 4 ? std::span{cells} : std::span<std::uint8_t>{});
        return r ? map_errc::ok : r.error().code;
    };
    CHECK(code(good) == map_errc::ok);
    auto h = good;
    h.version = 2;
    CHECK(code(h) == map_errc::unsupported_version);
    h = good;
    h.height = 0;
    CHECK(code(h) == map_errc::bad_dimensions);
    h = good;
    h.player_depth = 1;
    CHECK(code(h) == map_errc::bad_player_depth);
    h = good;
    h.west = "\xc0";
    CHECK(code(h) == map_errc::bad_name_encoding);
    CHECK(code(good, {{0, 0, 2, 0, 1}}) == map_errc::tile_out_of_bounds);
    CHECK(code(good, {{0, 0, 1, 0, 1}, {0, 1, 1, 0, 1}, {0, 0, 1, 0, 2}}) == map_errc::duplicate_tile);

    std::vector<xvector_tile> const tiles = {{0, 1, 1, 0, 4}};
    for (std::size_t size = 0; size <= xvector_size(good, 1) + 1; ++size) {
        test::guarded<std::uint8_t> memory{size};
        CHECK(write_xvector(good, tiles, memory.span()).has_value() == (size >= xvector_size(good, 1)));
        CHECK(memory.intact());
    }
}

TEST_CASE("xVector: stripping for clients") {
    auto f = revision_1();
    f.tile(0, 3, 0, 0, 1).tile(7, 0, 0, 0, 5).end();
    auto expected = f.bytes;
    expected[12] = 1;
    f.text("where the treasure is");
    test::bytes out(f.bytes.size());
    auto const size = strip_xvector(f.bytes, out);
    REQUIRE(size);
    out.resize(*size);
    CHECK(out == expected);
    CHECK(read(out).header.stripped());
    CHECK(strip_xvector(f.bytes, f.bytes).value() == expected.size()); // in place
    CHECK(std::equal(expected.begin(), expected.end(), f.bytes.begin()));
    test::bytes small(expected.size() - 1);
    CHECK(strip_xvector(f.bytes, small).error().code == map_errc::too_large);

    auto g = original("cave", 4);
    g.tile(0, 0, 0, 0, 5).end();
    out.resize(g.bytes.size());
    REQUIRE(strip_xvector(g.bytes, out));
    CHECK(read(out).header.content_flags == 5);
    CHECK(read(out).tiles.size() == 1);
    g.bytes.pop_back();
    CHECK(strip_xvector(g.bytes, out).error().code == map_errc::truncated);
}

TEST_CASE("xVector: random damage is survived") {
    test::random random{1};
    auto f = revision_1();
    for (std::uint32_t i = 0; i < 12; ++i) f.tile(0, i % 3, i / 3 % 2, i / 6, i);
    f.end();
    auto g = original("");
    for (std::uint32_t i = 0; i < 4; ++i) g.tile(0, i % 2, 0, i / 2, i);
    g.end();
    for (int round = 0; round < 20'000; ++round) {
        auto bytes = round % 2 == 0 ? f.bytes : g.bytes;
        for (std::size_t n = 0; n <= random.below(4); ++n) {
            std::size_t const at = random.below(bytes.size() - 3);
            std::uint32_t const extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x40000000};
            std::uint32_t const value = extremes[random.below(6)];
            if (random.chance(50)) bytes[at] = random.byte();
            else
                for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
        }
        if (random.chance(30)) bytes.resize(random.below(bytes.size()));
        bytes.shrink_to_fit();
        std::vector<std::uint8_t> out(bytes.size());
        for (auto const mode : {decoding::strict, decoding::lenient}) {
            auto const r = read(bytes, {.mode = mode});
            CHECK(r.error.position <= bytes.size());
            CHECK(r.tiles.size() <= bytes.size() / 20);
            for (xvector_tile const& t : r.tiles)
                CHECK((t.x < r.header.width && t.y < r.header.height && t.z < r.header.depth));
        }
        auto const stripped = strip_xvector(bytes, out);
        if (stripped) CHECK(read(std::span{out}.first(*stripped)).error.code == map_errc::ok);
    }
}
