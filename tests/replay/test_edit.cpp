// Pieces of demos, from demos whose every byte is chosen.
#include "demos.hpp"
#include "scene.hpp"

#include "edit/around.hpp"
#include "edit/cut.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;
using test::bytes;

namespace {

/// A file for one test.
class scratch_file {
public:
    explicit scratch_file(char const* name)
        : path_{std::filesystem::temp_directory_path() / fmt::format("teewire-edit-{}-{}", getpid(), name)} {
        std::filesystem::remove(path_);
    }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() { std::filesystem::remove(path_); }

    [[nodiscard]] std::string name() const { return path_.string(); }
    void store(bytes const& content) const {
        std::ofstream{path_, std::ios::binary}.write(reinterpret_cast<char const*>(content.data()),
                                                     static_cast<std::streamsize>(content.size()));
    }
    [[nodiscard]] bytes content() const {
        std::ifstream file{path_, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    std::filesystem::path path_;
};

/// What came of cutting.
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
    session opened{source};
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

/// What a demo shows: at each marker, in order, the items and the messages of that tick.
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
            for (auto const m : demo_reader::open(demo)->header().markers())
                if (m >= expected.front().tick && m <= expected.back().tick) markers.push_back(m);
            CHECK(test::same(header.markers(), markers));
            // Everything behind its first tick is as it was.
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
    CHECK(chunks({103, 105}) == test::join({tick(104, true), made(6), said(4)}));
    CHECK(chunks({105, 106}) == test::join({tick(106, true), made(7), delta(1), said(5)}));
    CHECK(chunks({105, 999}) == test::join({tick(106, true), made(7), delta(1), said(5), after(2), delta(1)}));
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
    CHECK(piece.damage[0].ends_with("; what begins at tick 106 is kept from tick 108 on"));
    piece = cut(demo({}), {{106, 107}});
    CHECK(piece.file.empty());
    REQUIRE(piece.damage.size() == 1);
    CHECK(piece.damage[0].ends_with("; nothing of ticks 106 to 106 can be played"));
    // In one demo, the others stay, and the header knows of it.
    piece = cut(demo({}), {{102, 102}, {106, 107}, {110, 110}, {114, 114}});
    CHECK(piece.written == std::vector<tick_range>{{102, 102}, {110, 110}, {114, 114}});
    CHECK(text_of(piece.file) == "102=6 110=9 114=21");

    // Behind what is wanted it does not matter.
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
    CHECK(piece.damage[0].ends_with(": ticks go back to 100; what comes before it is kept"));
    CHECK(text_of(cut(demo({tick(100, true), full(1), tick(300), delta(1)}), {{112, 114}, {300, 300}}).file) ==
          "112=20 114=21 300=2");
}

TEST_CASE("the header tells the map that is in the file") {
    demo_header header = test::golden_header(6);
    header.map_crc = 77;
    bytes const map{1, 2, 3};
    tick_range const ticks{100, 1000};
    auto const with = header_for(header, {&ticks, 1}, map);
    CHECK(with.map_size == 3);
    CHECK(with.map_crc == map_crc32(map));
    CHECK(with.sha256 == sha256(map));
    auto const without = header_for(header, {&ticks, 1}, {});
    CHECK(without.map_size == 0);
    CHECK(without.map_crc == 77); // so that it can be found elsewhere
    CHECK(without.sha256 == header.sha256);
    CHECK(without.length == 18);
    auto const old = header_for(test::golden_header(4), {&ticks, 1}, map);
    CHECK_FALSE(old.has_sha256);

    tick_range const all{0, INT32_MAX};
    CHECK(header_for(header, {&all, 1}, {}).length == INT32_MAX / 50);
    header.marker_count = 5000; // what is stored may be anything
    header.marker_ticks[3] = 500;
    header.marker_ticks[63] = 1000;
    CHECK(test::same(header_for(header, {&ticks, 1}, {}).markers(), test::ints{500, 1000}));
    header.version = 3;
    CHECK(header_for(header, {&ticks, 1}, {}).markers().empty());
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

// ---- moments -------------------------------------------------------------------------------------------------------

TEST_CASE("moments are found by what they are") {
    timeline all;
    all.first_tick = 100;
    all.last_tick = 5000;
    all.events = {{1000, "alice joined", timeline_kind::join},
                  {1100, "alice: gg all", timeline_kind::chat},
                  {2000, "alice killed bob with gun", timeline_kind::kill},
                  {3000, "bob: alice joined", timeline_kind::chat},
                  {4000, "bob finished in 0:10.00", timeline_kind::finish},
                  {4500, "broadcast: gg", timeline_kind::other}};
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
    CHECK(find({"finish"}) == ranges{{3800, 4100}});
    CHECK(find({"join:alice"}) == ranges{{800, 1100}});
    CHECK(find({"join:alic"}).empty());
    CHECK(find({"chat:gg"}) == ranges{{900, 1200}});
    CHECK(find({"chat:^alice: g+ (all|none)$"}) == ranges{{900, 1200}});
    CHECK(find({"chat:alice"}) == ranges{{900, 1200}, {2800, 3100}});
    CHECK(find({"join:alice", "chat:gg"}) == ranges{{800, 1200}});
    CHECK(find({"marker"}) == ranges{{0, 250}, {4700, 5000}});
    CHECK(find({"marker", "finish", "kill"}).size() == 4);
    all.last_tick = INT32_MAX;
    header.marker_ticks = {50, 150, INT32_MAX};
    CHECK(find({"marker"}).back() == tick_range{INT32_MAX - 200, INT32_MAX});
    for (char const* const wrong : {"", "kills", "chat", "join", "chat:(", "chat:[", "marker:1"})
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
        kinds += fmt::format("{}: {}\n", static_cast<int>(e.kind), e.text);
    auto const line = [](timeline_kind kind, char const* text) {
        return fmt::format("{}: {}\n", static_cast<int>(kind), text);
    };
    CHECK(kinds == line(timeline_kind::kill, "bot0 killed bot1 with gun") +
                       line(timeline_kind::other, "bot0 died (own gun)") + line(timeline_kind::chat, "bot1: gg") +
                       line(timeline_kind::chat, "*** x") + line(timeline_kind::join, "bot2 joined") +
                       line(timeline_kind::other, "bot2 left"));
}
