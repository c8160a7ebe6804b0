// Pieces of demos, and demos of pieces, from demos whose every byte is chosen.
#include "demos.hpp"
#include "scene.hpp"
#include "streams.hpp"

#include "edit/around.hpp"
#include "edit/cut.hpp"
#include "edit/join.hpp"
#include "game/retime.hpp"
#include "recording/demo/demo_recorder.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;
using test::bytes;

namespace {

using test::scratch_file;

/// The result of cutting.
struct cutting {
    bytes file; ///< empty if nothing could be played
    std::vector<tick_range> written;
    std::vector<std::string> damage; ///< without the file's name
};

cutting cut(bytes const& demo, std::vector<tick_range> const& ranges, std::optional<bytes> const& map = {}) {
    scratch_file const from{"from.demo"}, to{"to.demo"};
    from.store(demo);
    cutting out;
    input const source{from.name()};
    demo_document opened{source};
    demo_cutter cutter{opened, [&](std::string const& what) {
                           REQUIRE(what.starts_with(from.name() + ": "));
                           out.damage.push_back(what.substr(from.name().size() + 2));
                       }};
    auto const pieces = cutter.find(ranges);
    if (pieces.empty()) return out;
    output_file file{{to.name(), false}, content::binary};
    out.written =
        cutter.write(file, pieces, map ? std::span<std::uint8_t const>{*map} : opened.map(), [](std::uint64_t) {});
    if (out.written.empty()) return out;
    file.finish();
    out.file = to.content();
    return out;
}

/// The content of a demo: at each marker, in order, the items and the messages of that tick.
struct shown_tick {
    std::int32_t tick = -1;
    test::plain_items items;
    std::vector<std::string> messages;
    friend bool operator==(shown_tick const&, shown_tick const&) = default;
};

std::vector<shown_tick> show(bytes const& file) {
    auto const reader = demo_reader::open(file);
    REQUIRE(reader);
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player{*reader, *memory, {}};
    std::vector<shown_tick> all;
    for (demo_event event; player.next(event);) {
        if (event.kind == demo_event_kind::tick) all.push_back({event.tick, test::items_of(player.state()), {}});
        if (all.empty()) continue;
        if (event.kind == demo_event_kind::snapshot) all.back().items = test::items_of(player.state());
        if (event.kind == demo_event_kind::message) all.back().messages.push_back(test::hex(event.message));
    }
    CHECK(player.error().what == failure{});
    return all;
}

std::vector<shown_tick> between(std::vector<shown_tick> all, tick_range r) {
    std::erase_if(all, [&](shown_tick const& t) { return t.tick < r.first || t.tick > r.last; });
    return all;
}

/// Markers of versions 5 and 6.
bytes tick(std::int32_t number, bool keyframe = false) {
    auto const n = static_cast<std::uint32_t>(number);
    return {static_cast<std::uint8_t>(keyframe ? 0xc0 : 0x80), static_cast<std::uint8_t>(n >> 24),
            static_cast<std::uint8_t>(n >> 16), static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)};
}
bytes after(std::uint8_t ticks) { return {static_cast<std::uint8_t>(0xa0 | ticks)}; }

/// A snapshot of one item of a type without a known size.
test::plain_items one_item(std::int32_t value) { return {{make_key(40, 1), {value, 7}}}; }
bytes full(std::int32_t value) { return test::int_chunk(demo_chunk_kind::snapshot, test::layout(one_item(value))); }
/// Adds to the item's value.
bytes delta(std::int32_t step) { return test::int_chunk(demo_chunk_kind::delta, {0, 1, 0, 40, 1, 2, step, 0}); }
bytes said(std::int32_t what) { return test::int_chunk(demo_chunk_kind::message, {what}); }

/// "100=5 102=6,1b000000": ticks, the item's value, messages.
std::string text_of(bytes const& file) {
    std::string text;
    for (shown_tick const& t : show(file)) {
        text += fmt::format("{}{}=", text.empty() ? "" : " ", t.tick);
        if (!t.items.empty()) text += std::to_string(t.items.front().data.front());
        for (auto const& m : t.messages) text += "," + m.substr(0, 2);
    }
    return text;
}

} // namespace

TEST_CASE("ranges of ticks are united") {
    using ranges = std::vector<tick_range>;
    CHECK(unite({}).empty());
    CHECK(unite({{5, 9}, {1, 2}}) == ranges{{1, 2}, {5, 9}});
    CHECK(unite({{5, 9}, {1, 5}, {9, 12}, {20, 21}, {6, 7}}) == ranges{{1, 12}, {20, 21}});
    CHECK(unite({{0, INT32_MAX}, {3, 4}}) == ranges{{0, INT32_MAX}});
}

TEST_CASE("pieces show what the demo shows, in each version") {
    for (std::uint8_t version = min_demo_version; version <= max_demo_version; ++version) {
        CAPTURE(version);
        test::recorder to{{version, huffman_end::padded, &sizes_06}};
        test::random rng{version};
        test::plain_items items;
        std::int32_t tick = 1000;
        for (int i = 0; i < 500; ++i) {
            if (!rng.chance(30)) items = test::as_applied(items, test::next_items(rng, items, sizes_06, 4));
            to.snapshot(tick, items); // often nothing has changed
            if (rng.chance(20)) to.message({6, static_cast<std::uint8_t>(i)});
            if (i % 40 == 0) to.writer().add_marker();
            tick += rng.chance(5) ? 90 : 1 + static_cast<std::int32_t>(rng.below(3));
        }
        bytes const demo = to.finish();
        auto const whole = show(demo);
        CHECK(cut(demo, {{}}).file.size() == demo.size());
        for (int i = 0; i < 60; ++i) {
            tick_range r{static_cast<std::int32_t>(990 + rng.below(2500)), 0};
            r.last = r.first + static_cast<std::int32_t>(rng.below(700));
            auto const expected = between(whole, r);
            cutting const piece = cut(demo, {r});
            CHECK(piece.damage.empty());
            REQUIRE(piece.file.empty() == expected.empty());
            if (expected.empty()) continue;
            CHECK(show(piece.file) == expected);
            CHECK(piece.written == std::vector<tick_range>{{expected.front().tick, expected.back().tick}});
            CHECK(cut(piece.file, {{}}).file == piece.file);
            auto const header = demo_reader::open(piece.file)->header();
            CHECK(header.length == (expected.back().tick - expected.front().tick) / 50);
            test::ints markers;
            auto const original = demo_reader::open(demo)->header();
            for (auto const m : original.markers())
                if (m >= expected.front().tick && m <= expected.back().tick) markers.push_back(m);
            CHECK(test::same(header.markers(), markers));
            // Everything after its first tick is unchanged.
            if (expected.size() > 300)
                CHECK(std::search(demo.begin(), demo.end(), piece.file.end() - 1000, piece.file.end()) !=
                      demo.end());
        }
    }
}

TEST_CASE("the first tick of a piece keeps its messages where they are") {
    bytes const demo = test::raw_demo(
        6, test::join({said(1), tick(100, true), full(5), after(2), said(2), delta(1), said(3), after(2), said(4),
                       after(2), delta(1), delta(1), said(5), after(2), delta(1)}));
    CHECK(text_of(demo) == "100=5 102=6,02,03 104=6,04 106=8,05 108=9");
    bytes const begin = test::raw_demo(6, {});
    auto const chunks = [&](tick_range r) {
        auto const out = cut(demo, {r});
        CHECK(out.damage.empty());
        return bytes{out.file.begin() + static_cast<std::ptrdiff_t>(begin.size()), out.file.end()};
    };
    auto const made = [](std::int32_t value) { // with the shortest form of the chunk's size
        auto const memory = std::make_unique<demo_encoder_memory>();
        bytes out(demo_encoder::max_bytes);
        demo_encoder encoder{*memory, 6, huffman_end::exact};
        out.resize(*encoder.write_ints(demo_chunk_kind::snapshot, test::layout(one_item(value)), out));
        return out;
    };
    CHECK(chunks({100, 101}) == test::join({said(1), tick(100, true), full(5)}));
    CHECK(chunks({101, 103}) == test::join({tick(102, true), said(2), made(6), said(3)}));
    auto const lasting = [](std::int32_t what) {
        auto const memory = std::make_unique<demo_encoder_memory>();
        bytes out(demo_encoder::max_bytes);
        demo_encoder encoder{*memory, 6, huffman_end::exact};
        out.resize(*encoder.write_ints(demo_chunk_kind::message, test::ints{what}, out));
        return out;
    };
    // 2 is a message of the day, which lasts.
    CHECK(chunks({103, 105}) == test::join({tick(104, true), lasting(2), made(6), said(4)}));
    CHECK(chunks({105, 106}) == test::join({tick(106, true), lasting(2), made(7), delta(1), said(5)}));
    CHECK(chunks({105, 999}) ==
          test::join({tick(106, true), lasting(2), made(7), delta(1), said(5), after(2), delta(1)}));
}

TEST_CASE("a piece begins where there is a state") {
    // A full snapshot makes one, whatever its marker says.
    bytes const demo = test::raw_demo(6, test::join({tick(50), said(1), after(2), tick(100), full(5), after(2),
                                                     delta(1), after(2), full(9), after(2), delta(1)}));
    CHECK(text_of(cut(demo, {{0, 102}}).file) == "50=,01 52= 100=5 102=6");
    CHECK(text_of(cut(demo, {{51, 102}}).file) == "100=5 102=6");
    CHECK(text_of(cut(demo, {{104, 106}}).file) == "104=9 106=10");
    CHECK(text_of(cut(demo, {{105, 106}}).file) == "106=10");
    CHECK(cut(demo, {{0, 99}}).file.empty());
    CHECK(cut(demo, {{53, 99}}).file.empty());
    CHECK(cut(demo, {{107, 999}}).file.empty());
    // A delta against nothing is damage for those who want to see it.
    bytes const headless =
        test::raw_demo(6, test::join({tick(50, true), delta(1), after(2), full(3), after(2), delta(1)}));
    cutting const piece = cut(headless, {{}});
    CHECK(text_of(piece.file) == "52=3 54=4");
    REQUIRE(piece.damage.size() == 1);
    CHECK(piece.damage[0].starts_with("tick 50, byte 489: delta: "));
    CHECK(cut(headless, {{54, 54}}).damage.empty());
}

TEST_CASE("several pieces in one demo") {
    std::vector<bytes> parts{tick(100, true), full(5)};
    for (int i = 0; i < 50; ++i) parts.insert(parts.end(), {after(2), delta(1)});
    bytes const demo = test::raw_demo(6, test::join(parts));
    cutting const out = cut(demo, {{0, 101}, {103, 107}, {131, 131}, {150, 153}, {198, 999}});
    CHECK(out.damage.empty());
    CHECK(text_of(out.file) == "100=5 104=7 106=8 150=30 152=31 198=54 200=55");
    CHECK(out.written == std::vector<tick_range>{{100, 100}, {104, 106}, {150, 152}, {198, 200}});
    CHECK(demo_reader::open(out.file)->header().length == 2);
    CHECK(scan_demo(*demo_reader::open(out.file), {}).keyframes == 4);
}

TEST_CASE("damage does not take more with it than it must") {
    bytes const broken = test::int_chunk(demo_chunk_kind::delta, {0, 1, 0, 40, 1, 3, 1, 0, 0}); // another size
    auto const demo = [&](std::vector<bytes> const& end) {
        return test::join(
            {test::raw_demo(6, test::join({tick(100, true), full(5), after(2), delta(1), after(2), broken, after(2),
                                           delta(1), tick(108, true), full(8), after(2), delta(1), after(2),
                                           full(20), after(2), delta(1)})),
             test::join(end)});
    };
    CHECK(cut(demo({}), {{102, 104}}).damage.empty()); // copied with it
    cutting piece = cut(demo({}), {{106, 112}});
    CHECK(text_of(piece.file) == "108=8 110=9 112=20");
    CHECK(piece.written == std::vector<tick_range>{{108, 112}});
    REQUIRE(piece.damage.size() == 1);
    CHECK(piece.damage[0].starts_with("tick 104, byte "));
    CHECK(piece.damage[0].ends_with("; the piece from tick 106 starts at tick 108"));
    piece = cut(demo({}), {{106, 107}});
    CHECK(piece.file.empty());
    REQUIRE(piece.damage.size() == 1);
    CHECK(piece.damage[0].ends_with("; ticks 106 to 106 cannot be played"));
    // In one demo, the others stay, and the header knows of it.
    piece = cut(demo({}), {{102, 102}, {106, 107}, {110, 110}, {114, 114}});
    CHECK(piece.written == std::vector<tick_range>{{102, 102}, {110, 110}, {114, 114}});
    CHECK(text_of(piece.file) == "102=6 110=9 114=21");

    // After the wanted part it does not matter.
    bytes const short_chunk{0x3d, 1, 2};
    CHECK(cut(demo({short_chunk}), {{108, 113}}).damage.empty());
    piece = cut(demo({after(2), short_chunk}), {{108, 999}});
    CHECK(text_of(piece.file) == "108=8 110=9 112=20 114=21 116=21");
    REQUIRE(piece.damage.size() == 1);
    CHECK(piece.damage[0].starts_with("tick 116, byte "));
    CHECK(cut(demo({short_chunk}), {{120, 130}}).damage.size() == 1);

    // Ticks that go back end a piece, and cannot come again.
    piece = cut(demo({tick(100, true), full(1), after(2), delta(1), tick(300), delta(1)}), {{112, 999}});
    CHECK(text_of(piece.file) == "112=20 114=21");
    REQUIRE(piece.damage.size() == 1);
    CHECK(piece.damage[0].ends_with(": ticks go back to 100; everything before it is kept"));
    CHECK(text_of(cut(demo({tick(100, true), full(1), tick(300), delta(1)}), {{112, 114}, {300, 300}}).file) ==
          "112=20 114=21 300=2");
}

TEST_CASE("the header names the map that the recording's did, whatever is in the file") {
    demo_header header = test::golden_header(6);
    header.map_crc = 77;
    tick_range const ticks{100, 1000};
    for (std::size_t const size : {0, 3}) {
        auto const made = header_for(header, {&ticks, 1}, size);
        CHECK(made.map_size == size);
        CHECK(made.map_crc == 77);
        CHECK(made.sha256 == header.sha256);
        CHECK(made.length == 18);
    }

    tick_range const all{0, INT32_MAX};
    CHECK(header_for(header, {&all, 1}, 0).length == INT32_MAX / 50);
    header.marker_count = 5000; // what is stored may be anything
    header.marker_ticks[3] = 500;
    header.marker_ticks[63] = 1000;
    CHECK(test::same(header_for(header, {&ticks, 1}, 0).markers(), test::ints{500, 1000}));
    header.version = 3;
    CHECK(header_for(header, {&ticks, 1}, 0).markers().empty());
}

TEST_CASE("a map is put into a demo, and taken out") {
    test::recorder to;
    to.snapshot(100, one_item(1));
    bytes const demo = to.finish();
    bytes const map{9, 8, 7, 6};
    auto const file = cut(demo, {{}}, map).file;
    auto const opened = *demo_reader::open(file);
    CHECK(bytes{opened.map().begin(), opened.map().end()} == map);
    CHECK(text_of(file) == "100=1");
    auto const stripped = cut(file, {{}}, bytes{}).file;
    CHECK(demo_reader::open(stripped)->map().empty());
    CHECK(stripped.size() + map.size() == file.size());
}

// ---- joining -------------------------------------------------------------------------------------------------------

namespace {

struct joining {
    bytes file;
    joined what;
    std::vector<std::string> damage;
};

joining join(std::vector<bytes> const& demos) {
    joining out;
    std::vector<std::unique_ptr<scratch_file>> files;
    std::vector<std::unique_ptr<input>> sources;
    std::vector<std::unique_ptr<demo_document>> sessions;
    std::vector<joinable> parts;
    for (bytes const& demo : demos) {
        files.push_back(std::make_unique<scratch_file>(fmt::format("part-{}", files.size()).c_str()));
        files.back()->store(demo);
        sources.push_back(std::make_unique<input>(files.back()->name()));
        sessions.push_back(std::make_unique<demo_document>(*sources.back()));
        parts.push_back(examine(*sessions.back()));
        expect_joinable(parts.front(), parts.back());
        if (std::size_t const i = parts.size() - 1; i > 0)
            parts[i].continues =
                find_continuation(parts[i - 1], *sources[i - 1], parts[i], *sources[i]) == continuation::same;
    }
    scratch_file const to{"joined.demo"};
    output_file file{{to.name(), false}, content::binary};
    demo_joiner joiner{file, parts, sessions.front()->map()};
    for (auto const& s : sessions)
        joiner.add(
            *s, [&](std::string const& what) { out.damage.push_back(what); }, [](std::uint64_t) {});
    out.what = joiner.finish();
    file.finish();
    out.file = to.content();
    return out;
}

// Each a recording of its own, unless the day is the same.
bytes demo_of(std::vector<bytes> const& chunks, std::uint8_t version = 6, char day = '\0') {
    static char other = 'A';
    bytes demo = test::raw_demo(version, test::join(chunks));
    demo[156] = static_cast<std::uint8_t>(day != '\0' ? day : other++);
    return demo;
}

} // namespace

TEST_CASE("recordings follow each other at their usual distance") {
    bytes const a =
        demo_of({said(1), tick(100, true), full(5), after(3), delta(1), said(2), after(3), after(3), delta(1)});
    bytes const b =
        demo_of({said(3), tick(50), said(4), tick(60, true), said(5), full(9), said(6), after(2), delta(1)});
    joining const ab = join({a, b});
    CHECK(ab.damage.empty());
    CHECK(text_of(ab.file) == "100=5 103=6,02 106=6 109=7 112=9,03,04,05,06 114=10");
    CHECK(ab.what.first_tick == 100);
    CHECK(ab.what.last_tick == 114);
    CHECK(ab.what.left_out == 0);
    CHECK(show(ab.file).size() == 6);
    // The messages before the first snapshot are still first.
    auto const reader = *demo_reader::open(ab.file);
    demo_chunk first;
    CHECK((demo_reader{reader}.next(first) && first.kind == demo_chunk_kind::message));
    CHECK(text_of(join({b, a}).file) == "96=9,04,05,06 98=10 100=5,01 103=6,02 106=6 109=7");
    // None is moved back: the first begins later.
    bytes const c = demo_of({tick(5000, true), full(1), after(2), delta(1)});
    CHECK(text_of(join({a, c}).file) == "4988=5 4991=6,02 4994=6 4997=7 5000=1 5002=2");
    CHECK(text_of(join({c, b, c}).file) == "5000=1 5002=2 5004=9,03,04,05,06 5006=10 5008=1 5010=2");
    joining const zero = join({demo_of({tick(0, true), full(5), after(2), delta(1)})});
    CHECK(zero.what.first_tick == 0);
    CHECK(text_of(zero.file) == "0=5 2=6");
    // One snapshot has no distance.
    bytes const one = demo_of({tick(7, true), full(1)});
    CHECK(text_of(join({one, one, a}).file) == "96=1 98=1 100=5,01 103=6,02 106=6 109=7");
    CHECK(text_of(join({one}).file) == "7=1");
}

TEST_CASE("pieces of one recording stay where they are") {
    auto const piece = [](std::vector<bytes> chunks) { return demo_of(chunks, 6, '2'); };
    bytes const early =
        piece({said(1), tick(100, true), full(5), said(2), after(2), delta(1), said(3), after(2), delta(1)});
    bytes const next = piece({tick(108, true), full(9), said(4), after(2), delta(1)});
    bytes const late = piece({tick(160, true), full(20)}), later = piece({tick(161, true), full(20)});
    CHECK(text_of(join({early, next}).file) == "100=5,02 102=6,03 104=7 108=9,04 110=10");
    CHECK(text_of(join({early, next, late}).file) == "100=5,02 102=6,03 104=7 108=9,04 110=10 160=20");
    CHECK(text_of(join({early, next, later}).file) == "149=5,02 151=6,03 153=7 157=9,04 159=10 161=20");
    // Common ticks are written once.
    bytes const over = piece({tick(102, true), full(6), said(3), after(2), delta(1), after(2), delta(1), said(7)});
    CHECK(text_of(join({early, over}).file) == "100=5,02 102=6,03 104=7 106=8,07");
    bytes const still = piece({tick(104, true), full(7), said(8), after(2), said(9), after(2), delta(1)});
    CHECK(text_of(join({early, still}).file) == "100=5,02 102=6,03 104=7 106=7,09 108=8");
    // Also after a recording that moves them.
    bytes const other = demo_of({tick(500, true), full(1), after(2), delta(1)});
    CHECK(text_of(join({other, early, over}).file) == "500=1 502=2 504=5,01,02 506=6,03 508=7 510=8,07");
    CHECK(text_of(join({early, other, over}).file) ==
          "494=5,02 496=6,03 498=7 500=1 502=2 504=6,03 506=7 508=8,07");
    // The same again is wanted twice, and what is in another has nothing to add.
    CHECK(text_of(join({next, next}).file) == "108=9,04 110=10 112=9,04 114=10");
    bytes const inside = piece({tick(102, true), full(6), said(3)});
    CHECK(text_of(join({early, inside}).file) == "100=5,02 102=6,03 104=7 106=6,03");
    // Ticks in which nothing changes are common ones, too, in any number of parts.
    bytes const resting = piece({tick(100, true), full(5), after(2), after(2), after(2)});
    bytes const rests_on = piece({tick(104, true), full(5), after(2), after(2), after(2)});
    bytes const moves = piece({tick(108, true), full(5), after(2), after(2), delta(1)});
    CHECK(text_of(join({resting, rests_on, moves}).file) == "100=5 102=5 104=5 106=5 108=5 110=5 112=6");
    // Another recording of the same ticks, of the same second.
    bytes const differs = piece({tick(102, true), full(7), after(2), delta(1)});
    CHECK(text_of(join({early, differs}).file) == "100=5,02 102=6,03 104=7 106=7 108=8");
    // Another recording of the same ticks.
    for (std::size_t const place : {156U, 144U, 8U, 72U}) { // date, type, net version, map
        bytes foreign = over;
        ++foreign[place];
        CHECK(text_of(join({early, foreign}).file) == "100=5,02 102=6,03 104=7 106=6,03 108=7 110=8,07");
    }
    // Markers.
    auto const marked = [](bytes demo, std::vector<std::uint8_t> const& ticks) {
        demo[179] = static_cast<std::uint8_t>(ticks.size());
        for (std::size_t i = 0; i < ticks.size(); ++i) demo[183 + 4 * i] = ticks[i];
        return demo;
    };
    auto const file = join({marked(early, {100, 104}), marked(over, {102, 104, 106})}).file;
    demo_header const header = demo_reader::open(file)->header();
    auto const markers = header.markers();
    CHECK(std::vector<std::int32_t>{markers.begin(), markers.end()} == std::vector<std::int32_t>{100, 104, 106});
}

TEST_CASE("there are only so many ticks") {
    bytes const late = demo_of({tick(INT32_MAX - 2, true), full(1), after(2), delta(1)});
    bytes const early = demo_of({tick(10, true), full(1), after(2), delta(1)});
    CHECK(text_of(join({late, early}).file) ==
          fmt::format("{}=1 {}=2 {}=1 {}=2", INT32_MAX - 6, INT32_MAX - 4, INT32_MAX - 2, INT32_MAX));
    CHECK(text_of(join({early, late}).file) ==
          fmt::format("{}=1 {}=2 {}=1 {}=2", INT32_MAX - 6, INT32_MAX - 4, INT32_MAX - 2, INT32_MAX));
    bytes const longest = demo_of({tick(10, true), full(1), tick(INT32_MAX - 10), delta(1)});
    CHECK_NOTHROW(join({longest}));
    CHECK_THROWS_WITH_AS(join({longest, longest}), doctest::Contains("more than a demo can count"), usage_error);
}

TEST_CASE("only what belongs together is joined") {
    auto const demo = [](std::uint8_t version, std::uint32_t crc, std::uint8_t hash) {
        auto header = test::golden_header(version);
        header.map_size = 0;
        header.map_crc = crc;
        header.sha256[0] = hash;
        bytes file(header.size());
        REQUIRE(write_demo_header(header, file));
        return test::join({file, {0xc0, 0, 0, 0, 100}, full(1)});
    };
    CHECK_NOTHROW(join({demo(6, 1, 1), demo(6, 1, 1), demo(4, 1, 0), demo(3, 1, 0)}));
    CHECK_NOTHROW(join({demo(6, 1, 1), demo(6, 2, 1)})); // the hash says more
    CHECK_THROWS_WITH_AS(join({demo(4, 1, 0), demo(4, 2, 0)}), doctest::Contains("with crc 00000001"), usage_error);
    CHECK_THROWS_WITH_AS(join({demo(6, 1, 1), demo(6, 1, 2)}), doctest::Contains("another SHA-256"), usage_error);
    CHECK_THROWS_AS(join({demo(6, 1, 1), demo(4, 2, 0)}), usage_error);
    CHECK_THROWS_AS(join({demo(6, 1, 1), demo_of({said(1), tick(3)})}), bad_input);
    for (std::uint8_t const version : {3, 4, 5, 6}) {
        joining const out = join({demo(version, 1, 1), demo(6, 1, 1)});
        CHECK(text_of(out.file) == "100=1 102=1");
        auto const header = demo_reader::open(out.file)->header();
        CHECK(header.version == version);
        CHECK(header.sha256[0] == (version == 6));
    }
}

TEST_CASE("what cannot be joined is told and left out") {
    bytes const cut_off{0x3d, 1, 2};
    bytes const end = demo_of({tick(10, true), full(7), after(2), delta(1)});
    joining out = join({demo_of({tick(100, true), full(5), after(2), delta(1), after(2), cut_off}), end});
    CHECK(text_of(out.file) == "100=5 102=6 104=7 106=8");
    REQUIRE(out.damage.size() == 1);
    CHECK(out.damage[0].find(": tick 104, byte ") != std::string::npos);
    out = join({demo_of({tick(100, true), full(5), after(2), delta(1), tick(50), delta(1)}), end});
    CHECK(text_of(out.file) == "100=5 102=6 104=7 106=8");
    REQUIRE(out.damage.size() == 1);
    CHECK(out.damage[0].ends_with(": ticks go back to 50; everything before it is kept"));
    // A tick has one snapshot, and its messages follow that.
    out = join({demo_of({tick(100, true), full(5), delta(1), said(1), after(0), said(2), after(2), said(3),
                         after(0), delta(3)}),
                end});
    CHECK(out.damage.empty());
    CHECK(out.what.left_out == 1);
    CHECK(text_of(out.file) == "100=5,01,02 102=9,03 104=7 106=8");
}

TEST_CASE("markers of the timeline move along") {
    auto const demo = [](std::int32_t first, std::vector<std::int32_t> const& markers) {
        auto header = test::golden_header(6);
        header.map_size = 0;
        header.timestamp[0] = static_cast<char>(first); // each is a recording of its own
        header.marker_count = static_cast<std::int32_t>(markers.size());
        std::copy(markers.begin(), markers.end(), header.marker_ticks.begin());
        bytes file(header.size());
        REQUIRE(write_demo_header(header, file));
        return test::join({file, tick(first, true), full(1), after(2), delta(1), tick(first + 1000), delta(1)});
    };
    auto const markers = [](joining const& out) {
        auto const all = demo_reader::open(out.file)->header();
        return test::ints{all.markers().begin(), all.markers().end()};
    };
    CHECK(markers(join({demo(100, {50, 100, 600, 1100, 1101}), demo(200, {300})})) ==
          test::ints{100, 600, 1100, 1202});
    CHECK(demo_reader::open(join({demo(100, {}), demo(200, {})}).file)->header().length == 40);
    std::vector<std::int32_t> const many(50, 400);
    joining const out = join({demo(100, many), demo(100, many)});
    CHECK(markers(out).size() == 64);
    CHECK(out.what.lost_markers == 36);
}

TEST_CASE("ticks inside of items move") {
    using test::scene;
    auto const field_of = [](snapshot_view s, protocol p, std::string_view type, std::string_view name) {
        object const& what = *find_object(p, type);
        for (item const i : s) {
            bool const found = what.is_extended()
                                   ? i.type() >= first_alias && find_extended_type(s, i.type()) == what.extended
                                   : i.type() == what.type;
            for (field const& f : what.fields)
                if (found && f.name == name) return i.data[f.offset];
        }
        return -12345;
    };
    std::vector<std::int32_t> room(max_demo_chunk_ints);
    for (auto const p : {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07}) {
        scene s{p};
        s.add("character", 3, {{"tick", 0}, {"attack_tick", 500}, {"hook_tick", 20}, {"x", 1000}});
        s.add("projectile", 4, {{"start_tick", 900}, {"x", 7}});
        s.add("ddnet_character", 3, {{"freeze_end", -1}, {"freeze_start", 90}});
        tick_mover mover{p};
        auto const at = [&](snapshot_view v, auto... names) { return field_of(v, p, names...); };
        auto const later = mover.move(s.finish(), 50, room);
        CHECK(at(later, "character", "tick") == 0);
        CHECK(at(later, "character", "attack_tick") == 550);
        CHECK(at(later, "character", "hook_tick") == 20); // how long it holds
        CHECK(at(later, "character", "x") == 1000);
        CHECK(at(later, "projectile", "start_tick") == 950);
        CHECK(at(later, "ddnet_character", "freeze_end") == -1);
        CHECK(at(later, "ddnet_character", "freeze_start") == 140);
        // One recording is still one.
        auto const earlier = mover.move(s.finish(), -600, room);
        CHECK(at(earlier, "character", "attack_tick") == 1);
        CHECK(at(earlier, "projectile", "start_tick") == 300);
        CHECK(at(mover.move(s.finish(), INT32_MAX, room), "projectile", "start_tick") == INT32_MAX);
        CHECK(test::same(mover.move(s.finish(), 0, room).ints(), s.finish().ints()));
    }
    // 0.6 gives the start of a race by a timer that runs backwards.
    constexpr std::int32_t racing = 8;
    for (auto const& [flags, timer, expected] : {std::tuple{racing, -1000, -1050},
                                                 {racing, 500, 500},
                                                 {0, -1000, -1000},
                                                 {racing, INT32_MIN, INT32_MIN}}) {
        scene s{protocol::ddnet};
        s.add("game_info", 0, {{"game_state_flags", flags}, {"warmup_timer", timer}, {"round_start_tick", 10}});
        auto const moved = tick_mover{protocol::ddnet}.move(s.finish(), 50, room);
        CHECK(field_of(moved, protocol::ddnet, "game_info", "warmup_timer") == expected);
        CHECK(field_of(moved, protocol::ddnet, "game_info", "round_start_tick") == 60);
    }
    // Items of any size, of undescribed types.
    test::plain_items const odd{{make_key(0, 0x7fff), {1}}, {make_key(0x7fff, 1), {5, 6}},
                                {make_key(9, 1), {}},       {make_key(2, 1), {1, 2}},
                                {make_key(63, 1), {5}},     {make_key(6, 1), {8, 8, 7}}};
    auto const plain = test::layout(odd);
    auto moved = odd;
    moved[5].data[2] = 57;
    CHECK(test::items_of(tick_mover{protocol::ddnet}.move(test::view_of(plain), 50, room)) == moved);
}

// ---- moments -------------------------------------------------------------------------------------------------------

TEST_CASE("moments are found by what they are") {
    timeline all;
    all.first_tick = 100;
    all.last_tick = 5000;
    using enum game_event_kind;
    auto const add = [&](std::int32_t tick, game_event_kind kind, char const* client, char const* line) {
        game_event e;
        e.kind = kind;
        e.client = participant{1, client};
        if (kind == game_event_kind::kill) {
            e.target = participant{2, "bob"};
            e.weapon = 1;
        }
        all.events.push_back({tick, line, e});
    };
    add(1000, join, "alice", "alice joined");
    add(1100, game_event_kind::chat, "alice", "alice: gg all");
    add(1200, join, "alice joined", "a line in other words");
    add(2000, kill, "alice", "alice killed bob with gun");
    add(2500, kill, "bob", "bob died (own gun)");
    all.events.back().event.client->client_id = 2;
    add(3000, game_event_kind::chat, "bob", "bob: alice joined");
    add(4000, finish, "bob", "bob finished in 0:10.00");
    add(4500, broadcast, "", "broadcast: gg");
    demo_header header;
    header.marker_count = 3;
    header.marker_ticks = {50, 150, 4900};
    using ranges = std::vector<tick_range>;
    auto const find = [&](std::initializer_list<char const*> what) {
        std::vector<moment_pattern> patterns;
        for (char const* const w : what) patterns.emplace_back(w);
        return find_moments(all, header, patterns, 200, 100);
    };
    CHECK(find({"kill"}) == ranges{{1800, 2100}});
    CHECK(find({"kill:alice"}) == ranges{{1800, 2100}});
    CHECK(find({"kill:bob"}).empty()); // only himself
    CHECK(find({"kill:"}).empty());
    CHECK(find({"finish"}) == ranges{{3800, 4100}});
    CHECK(find({"finish:bob", "finish:alice"}) == ranges{{3800, 4100}});
    CHECK(find({"join:alice"}) == ranges{{800, 1100}});
    CHECK(find({"join:alic"}).empty());
    CHECK(find({"join:alice joined"}) == ranges{{1000, 1300}}); // by its name, not by the words of the line
    CHECK(find({"chat:gg"}) == ranges{{900, 1200}});
    CHECK(find({"chat:^alice: g+ (all|none)$"}) == ranges{{900, 1200}});
    CHECK(find({"chat:alice"}) == ranges{{900, 1200}, {2800, 3100}});
    CHECK(find({"join:alice", "chat:gg"}) == ranges{{800, 1200}});
    CHECK(find({"marker"}) == ranges{{0, 250}, {4700, 5000}});
    CHECK(find({"marker", "finish", "kill"}).size() == 4);
    header.marker_ticks = {99, 100, 5000};
    CHECK(find({"marker"}) == ranges{{0, 200}, {4800, 5100}});
    header.marker_ticks = {5001, 99, 5001};
    CHECK(find({"marker"}).empty());
    all.last_tick = INT32_MAX;
    header.marker_ticks = {50, 150, INT32_MAX};
    CHECK(find({"marker"}).back() == tick_range{INT32_MAX - 200, INT32_MAX});
    for (char const* const wrong :
         {"", "kills", "chat", "join", "chat:(", "chat:[", "marker:1", "marker:", "kil:alice", "killer"})
        CHECK_THROWS_AS(moment_pattern{wrong}, usage_error);
}

TEST_CASE("a timeline knows what its events are") {
    using test::scene;
    test::script demo{"client"};
    auto const add = [&](std::int32_t tick, int players) {
        scene s{protocol::teeworlds_06};
        s.add("game_info", 0, {});
        for (std::uint16_t id = 0; id < players; ++id) {
            s.add("client_info", id, {}, fmt::format("bot{}", id));
            s.add("player_info", id, {{"client_id", id}, {"local", id == 0}});
        }
        demo.snapshot(tick, s);
    };
    add(100, 2);
    demo.message({4 << 1, 0, 1, 1, 0});        // 0 kills 1
    demo.message({4 << 1, 0, 0, 1, 0});        // 0 kills itself
    demo.message({3 << 1, 0, 1, 'g', 'g', 0}); // 1 says gg
    demo.message({3 << 1, 0, 0x40, 'x', 0});   // the server
    add(102, 3);
    add(104, 2);
    std::string kinds;
    for (timeline_event const& e : demo.read(demo.size()).events)
        kinds +=
            fmt::format("{}{}: {}\n", name(e.event.kind), is_kill_by_another(e.event) ? " by another" : "", e.text);
    CHECK(kinds == "kill by another: bot0 killed bot1 with gun\n"
                   "kill: bot0 died (own gun)\n"
                   "chat: bot1: gg\n"
                   "server_message: *** x\n"
                   "join: bot2 joined\n"
                   "leave: bot2 left\n");
}

TEST_CASE("0.7's players are added to what has none, unless they had been items before") {
    messages::client_info joins;
    joins.client_id = 2;
    joins.name = "c";
    for (bool const items : {false, true}) {
        test::plain_items before{{make_key(11, 0), {0, 1, 2}}};
        auto const without = before;
        if (items) before.push_back({make_key(type_client_info_07, 1), test::ints(58)});
        test::stream_script stream{{test::begin("m", protocol::teeworlds_07), test::snapshot(10, before),
                                    test::said(10, joins, protocol::teeworlds_07), test::snapshot(12, without)}};
        scratch_file const to{"to.demo"};
        output_file file{{to.name(), false}, content::binary};
        stream_event event;
        REQUIRE(stream.next(event));
        demo_recorder made{file, *event.begun};
        while (stream.next(event)) CHECK(made.put(event));
        made.finish();
        file.finish();
        auto const shown = show(to.content());
        REQUIRE(shown.size() == 2);
        CHECK(shown[0].items == before);
        REQUIRE(shown[1].items.size() == (items ? 1 : 2));
        if (!items) CHECK(shown[1].items[1].key == make_key(type_client_info_07, 2));
    }
}
