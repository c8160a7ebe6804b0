#include "check.hpp"
#include "demos.hpp"
#include "random.hpp"

#include "teewire/demo_reader.hpp"
#include "teewire/snapshot_builder.hpp"

using namespace teewire;
using test::error_of;

namespace {

demo_reader open(test::bytes const& file, note_log* notes = nullptr) {
    auto const reader = demo_reader::open(file, notes);
    REQUIRE(error_of(reader) == failure{});
    return *reader;
}

std::vector<demo_chunk> chunks_of(demo_reader reader) {
    std::vector<demo_chunk> all;
    for (demo_chunk chunk; reader.next(chunk);) all.push_back(chunk);
    return all;
}

struct player_with_memory {
    std::unique_ptr<demo_player_memory> memory = std::make_unique<demo_player_memory>();
    demo_player player;
    explicit player_with_memory(demo_reader const& reader, demo_player::options const& options = {})
        : player{reader, *memory, options} {}
};

// An event as text: "tick 1000 *", "message 1000 06 00", "snapshot 1000 *" with its sorted items.
struct seen_event {
    std::string text;
    test::plain_items items;
    std::size_t position = 0;
    friend bool operator==(seen_event const&, seen_event const&) = default;
};

seen_event seen(demo_event const& event, demo_player& player) {
    seen_event s;
    s.position = event.position;
    std::string const tick = std::to_string(event.tick);
    switch (event.kind) {
    case demo_event_kind::tick: s.text = "tick " + tick; break;
    case demo_event_kind::message:
        s.text = "message " + tick;
        if (!event.message.empty()) s.text += ' ';
        s.text += test::hex(event.message);
        break;
    case demo_event_kind::snapshot:
        s.text = "snapshot " + tick;
        s.items = test::sorted(test::items_of(player.state()));
        break;
    }
    if (event.keyframe) s.text += " *";
    return s;
}

std::vector<seen_event> play(demo_player& player) {
    std::vector<seen_event> all;
    for (demo_event event; player.next(event);) all.push_back(seen(event, player));
    return all;
}

test::bytes golden_file(std::uint8_t version) {
    for (auto const& r : test::read_records("demo.txt"))
        if (r.kind() == "demo" && r.title() == std::to_string(version))
            return test::record_calls(version, r.all("call"));
    FAIL("no such demo");
    return {};
}

// The end of playing a file of given chunks.
demo_failure play_raw(std::uint8_t version, test::bytes const& chunks, decoding mode = decoding::lenient,
                      note_log* notes = nullptr) {
    auto const file = test::raw_demo(version, chunks);
    player_with_memory p{open(file), {&sizes_06, mode, notes}};
    play(p.player);
    demo_event event;
    CHECK_FALSE(p.player.next(event)); // an error stays
    return p.player.error();
}

constexpr std::size_t header_bytes[] = {176, 436, 436, 484}; // versions 3 to 6

test::bytes const tick_1000 = {0x80, 0, 0, 3, 0xe8};
test::bytes const keyframe_1000 = {0xc0, 0, 0, 3, 0xe8};
constexpr std::size_t start = 484; // of the chunks in a file of version 6 without map

void check_failure(demo_failure const& f, failure what, demo_stage stage, std::int32_t tick, std::size_t position) {
    CHECK(f.what == what);
    CHECK(name(f.stage) == name(stage));
    CHECK(f.tick == tick);
    CHECK(f.position == position);
}

test::ints const one_flag = {16, 1, 0, 327680, 1, 2, 0};

} // namespace

TEST_CASE("demo reader: golden vectors, as chunks") {
    for (auto const& r : test::read_records("demo.txt")) {
        if (r.kind() != "demo") continue;
        auto const file = test::record_calls(test::number<std::uint8_t>(r.title()), r.all("call"));
        note_log notes;
        auto const reader = open(file, &notes);
        CHECK(test::hex(reader.map()) == "44 41 54 41 04 00 00 00 01 02");
        CHECK(text(reader.header().map_name) == "m");
        CHECK(reader.header().length == 5);
        CHECK(reader.tick() == -1);
        // every listed position after the map is a chunk
        std::vector<std::size_t> listed;
        for (auto const& place : r.all("at")) {
            auto const at = test::number<std::size_t>(test::words(place)[0]);
            if (at >= reader.position()) listed.push_back(at);
        }
        std::vector<std::size_t> found;
        for (auto const& chunk : chunks_of(reader)) found.push_back(chunk.position);
        CHECK(found == listed);
        CHECK(notes[note::early_message].count == 1);
        CHECK(notes[note::early_message].position == listed[0]);
        CHECK(notes[note::tick_order].count == 0);
    }
}

TEST_CASE("demo player: golden vectors") {
    std::vector<std::string> expected;
    auto const records = test::read_records("demo.txt");
    for (auto const& r : records)
        if (r.kind() == "events") expected = r.all("event");
    REQUIRE(expected.size() == 22);
    for (std::uint8_t version = 3; version <= 6; ++version) {
        auto const file = golden_file(version);
        for (decoding const mode : {decoding::strict, decoding::lenient}) {
            player_with_memory p{open(file), {&sizes_06, mode, nullptr}};
            CHECK_FALSE(p.player.has_state());
            CHECK(p.player.state().empty());
            CHECK(p.player.tick() == -1);
            auto const events = play(p.player);
            CHECK(p.player.error().what == failure{});
            CHECK(p.player.position() == file.size());
            REQUIRE(events.size() == expected.size());
            for (std::size_t i = 0; i < events.size(); ++i) {
                auto line = expected[i];
                for (char const* const name : {" S1", " S2"}) {
                    if (auto const at = line.find(name); at != std::string::npos) {
                        line.erase(at, 3);
                        CHECK(events[i].items == test::sorted(test::golden_snapshot(name + 1)));
                    }
                }
                CHECK(events[i].text == line);
            }
        }
    }
}

// ---- chunks --------------------------------------------------------------------------------------------------------

TEST_CASE("demo reader: tick markers of all forms") {
    struct seen_tick {
        std::int32_t tick;
        bool keyframe;
        bool absolute;
    };
    struct {
        std::uint8_t version;
        char const* bytes;
        std::vector<seen_tick> ticks;
    } const cases[] = {
        {3,
         "80 00 00 03 e8 81 bf c1 c0 00 00 04 29 ff",
         {{1000, false, true},
          {1001, false, false},
          {1064, false, false},
          {1065, true, false},
          {1065, true, true},
          {1128, true, false}}},
        {4,
         "c0 7f ff ff fe 81 80 00 00 00 00 a0",
         {{INT32_MAX - 1, true, true}, {INT32_MAX, false, false}, {0, false, true}, {32, false, false}}},
        // In 5 and 6 a separate bit distinguishes the forms, and other bits of the absolute form do not count.
        {5,
         "80 00 00 03 e8 a0 a1 bf e1 c0 00 00 04 29 ff",
         {{1000, false, true},
          {1000, false, false},
          {1001, false, false},
          {1032, false, false},
          {1033, true, false},
          {1065, true, true},
          {1096, true, false}}},
        {6, "9f 00 00 00 05 df 00 00 00 06", {{5, false, true}, {6, true, true}}},
    };
    for (auto const& c : cases) {
        auto const file = test::raw_demo(c.version, test::from_hex(c.bytes));
        auto reader = open(file);
        CAPTURE(c.bytes);
        for (auto const& expected : c.ticks) {
            demo_chunk chunk;
            REQUIRE(reader.next(chunk));
            CHECK((chunk.kind == demo_chunk_kind::tick));
            CHECK(chunk.tick == expected.tick);
            CHECK(chunk.keyframe == expected.keyframe);
            CHECK(chunk.absolute == expected.absolute);
            CHECK(chunk.payload.empty());
            CHECK(reader.tick() == expected.tick);
        }
        demo_chunk chunk;
        CHECK_FALSE(reader.next(chunk));
        CHECK(reader.error() == failure{});
        CHECK(reader.position() == file.size());
    }
}

TEST_CASE("demo reader: ticks that cannot be") {
    struct {
        std::uint8_t version;
        char const* bytes;
        failure expected; // position from the start of the chunks
    } const cases[] = {
        {4, "81", {errc::bad_tick, 0}},
        {4, "48 8a 1b 00 00 00 00 00 00 81", {errc::bad_tick, 9}},
        {6, "a0", {errc::bad_tick, 0}},
        {6, "a5", {errc::bad_tick, 0}},
        {6, "e1", {errc::bad_tick, 0}},
        {6, "80 80 00 00 00", {errc::bad_tick, 0}},
        {6, "c0 ff ff ff ff", {errc::bad_tick, 0}},
        {6, "80 7f ff ff ff a1", {errc::bad_tick, 5}},
        {4, "80 7f ff ff ff bf", {errc::bad_tick, 5}},
        {6, "80", {errc::truncated, 0}},
        {6, "80 00 00 00", {errc::truncated, 0}},
        {4, "80 00 00 00 01 c0 00", {errc::truncated, 5}},
    };
    for (auto const& c : cases) {
        CAPTURE(c.bytes);
        auto const file = test::raw_demo(c.version, test::from_hex(c.bytes));
        auto reader = open(file);
        demo_chunk chunk;
        while (reader.next(chunk)) CHECK(chunk.tick <= INT32_MAX);
        std::size_t const base = header_bytes[c.version - 3];
        failure const expected{c.expected.code, base + c.expected.position};
        CHECK(reader.error() == expected);
        CHECK_FALSE(reader.next(chunk));
        CHECK(reader.error() == expected);
        CHECK(reader.position() == base + c.expected.position);
    }
}

TEST_CASE("demo reader: chunk sizes in all forms, also longer than needed") {
    for (std::size_t const size : {0U, 1U, 29U, 30U, 31U, 255U, 256U, 65535U}) {
        test::bytes const payload(size, 0x33);
        for (unsigned form = 0; form < 3; ++form) {
            if ((form == 0 && size >= 30) || (form == 1 && size > 255)) continue;
            test::bytes chunk{static_cast<std::uint8_t>(0x40 | (form == 0 ? size : 29 + form))};
            if (form > 0) chunk.push_back(static_cast<std::uint8_t>(size));
            if (form > 1) chunk.push_back(static_cast<std::uint8_t>(size >> 8));
            std::size_t const head = chunk.size();
            test::append(chunk, payload);
            auto const file = test::raw_demo(6, test::join({chunk, {0x60}}));
            auto reader = open(file);
            demo_chunk found;
            REQUIRE(reader.next(found));
            CHECK((found.kind == demo_chunk_kind::message));
            CHECK(found.payload.size() == size);
            CHECK(found.payload.data() == file.data() + start + head);
            CHECK(found.position == start);
            CHECK(found.tick == -1);
            REQUIRE(reader.next(found));
            CHECK((found.kind == demo_chunk_kind::delta));
            CHECK(found.position == start + chunk.size());
            if (size > 300) continue;
            for (std::size_t left = 1; left < chunk.size(); ++left) {
                auto const cut = test::raw_demo(6, std::span{chunk}.first(left));
                auto cut_reader = open(cut);
                CHECK_FALSE(cut_reader.next(found));
                CHECK(cut_reader.error() == failure{errc::truncated, start});
            }
        }
    }
}

TEST_CASE("demo reader: notes with their place") {
    note_log notes;
    auto const file = test::raw_demo(
        6, test::join(
               {{0x42, 0x8a, 0x1b}, tick_1000, {0xa0}, {0x02, 0x8a, 0x1b}, {0x42, 0x8a, 0x1b}, tick_1000, {0x00}}));
    auto const reader = open(file, &notes);
    CHECK(chunks_of(reader).size() == 7);
    CHECK(notes[note::early_message].count == 1);
    CHECK(notes[note::early_message].position == start);
    CHECK(notes[note::tick_order].count == 2);
    CHECK(notes[note::tick_order].position == start + 8);
    CHECK(notes[note::unknown_chunk].count == 2);
    CHECK(notes[note::unknown_chunk].position == start + 9);

    auto silent = reader;
    silent.set_notes(nullptr);
    CHECK(chunks_of(silent).size() == 7);
    CHECK(notes[note::unknown_chunk].count == 2);
}

TEST_CASE("demo reader: a copy is a place to come back to") {
    auto const file = golden_file(6);
    auto reader = open(file);
    demo_chunk chunk;
    for (int i = 0; i < 6; ++i) REQUIRE(reader.next(chunk));
    auto const copy = reader;
    auto const rest = chunks_of(reader);
    auto const again = chunks_of(copy);
    REQUIRE(rest.size() == again.size());
    CHECK(rest.size() == 16);
    CHECK(rest.back().position == again.back().position);

    auto sought = open(file);
    sought.seek(copy.position(), copy.tick());
    CHECK(sought.tick() == 1002);
    CHECK(chunks_of(sought).back().tick == 1253);
    // Seeking clears an error.
    sought.seek(544, -1);
    CHECK(chunks_of(sought).size() == 1);
    while (sought.next(chunk)) CHECK(chunk.position >= 544);
    CHECK(sought.error() == failure{errc::bad_tick, 571});
    sought.seek(544, 1002);
    CHECK(sought.error() == failure{});
    CHECK(chunks_of(sought).size() == 17);
}

TEST_CASE("demo reader: the map has to fit") {
    for (std::uint8_t version = 3; version <= 6; ++version) {
        auto header = test::golden_header(version);
        test::bytes file(header.size());
        REQUIRE(write_demo_header(header, file));
        for (std::size_t i = 0; i < 10; ++i) {
            CHECK(error_of(demo_reader::open(file)) == failure{errc::truncated, file.size()});
            file.push_back(1);
        }
        CHECK(error_of(demo_reader::open(file)) == failure{});
        header.map_size = UINT32_MAX;
        REQUIRE(write_demo_header(header, file));
        CHECK(error_of(demo_reader::open(file)) == failure{errc::truncated, file.size()});
        header.map_size = 0;
        REQUIRE(write_demo_header(header, file));
        CHECK(open(file).map().empty());
        CHECK(open(file).position() == header.size());
    }
    CHECK(error_of(demo_reader::open({})) == failure{errc::truncated, 0});
}

// ---- overview ------------------------------------------------------------------------------------------------------

TEST_CASE("scan: counts chunks and finds keyframes") {
    auto const file = golden_file(6);
    demo_keyframe keyframes[4];
    auto const overview = scan_demo(open(file), keyframes);
    CHECK(overview.first_tick == 1000);
    CHECK(overview.last_tick == 1253);
    CHECK(overview.ticks == 9);
    CHECK(overview.keyframes == 2);
    CHECK(keyframes[0].tick == 1000);
    CHECK(keyframes[0].position == 503);
    CHECK(keyframes[1].tick == 1251);
    CHECK(keyframes[1].position == 668);
    CHECK(keyframes[2].position == 0);
    CHECK(overview.error == failure{});
    auto const kind = [&](demo_chunk_kind k) { return overview.kinds[static_cast<std::size_t>(k)]; };
    CHECK(kind(demo_chunk_kind::unused).chunks == 0);
    CHECK(kind(demo_chunk_kind::snapshot).chunks == 2);
    CHECK(kind(demo_chunk_kind::snapshot).bytes == 52);
    CHECK(kind(demo_chunk_kind::message).chunks == 5);
    CHECK(kind(demo_chunk_kind::message).bytes == 9 + 9 + 928 + 96 + 3);
    CHECK(kind(demo_chunk_kind::delta).chunks == 6);
    CHECK(kind(demo_chunk_kind::delta).bytes == 4 * 27 + 2 * 15);
    CHECK(kind(demo_chunk_kind::tick).chunks == 9);
    CHECK(kind(demo_chunk_kind::tick).bytes == 5 * 4 + 5);

    // with less room the number is the same
    demo_keyframe one[1];
    CHECK(scan_demo(open(file), one).keyframes == 2);
    CHECK(one[0].position == 503);
    CHECK(scan_demo(open(file), {}).keyframes == 2);
}

TEST_CASE("scan: what is no keyframe") {
    test::bytes const full{0x22, 0x8a, 0x1b};
    test::bytes const delta{0x62, 0x8a, 0x1b};
    struct {
        test::bytes chunks;
        std::size_t keyframes;
    } const cases[] = {
        {test::join({keyframe_1000, full}), 1},
        {test::join({keyframe_1000, {0x42, 0x8a, 0x1b}, full}), 1},
        {test::join({keyframe_1000, full, full}), 1},
        {test::join({tick_1000, full}), 0},             // not announced
        {test::join({tick_1000, {0xe1}, full}), 0},     // relative
        {test::join({keyframe_1000, {0xa1}, full}), 0}, // after the next marker
        {test::join({keyframe_1000, delta, full}), 0},  // a delta comes first
        {test::join({keyframe_1000}), 0},
        {test::join({full, keyframe_1000, delta}), 0},
    };
    for (auto const& c : cases) {
        CAPTURE(test::hex(c.chunks));
        auto const file = test::raw_demo(6, c.chunks);
        CHECK(scan_demo(open(file), {}).keyframes == c.keyframes);
    }
}

TEST_CASE("scan: an empty and a damaged file") {
    auto const empty = test::raw_demo(6, {});
    auto const nothing = scan_demo(open(empty), {});
    CHECK(nothing.first_tick == -1);
    CHECK(nothing.last_tick == -1);
    CHECK(nothing.ticks == 0);
    CHECK(nothing.error == failure{});

    auto const damaged = test::raw_demo(6, test::join({tick_1000, {0x80, 0xff, 0, 0, 0}, tick_1000}));
    auto const overview = scan_demo(open(damaged), {});
    CHECK(overview.ticks == 1);
    CHECK(overview.last_tick == 1000);
    CHECK(overview.error == failure{errc::bad_tick, start + 5});
}

// ---- player --------------------------------------------------------------------------------------------------------

TEST_CASE("demo stages have names") {
    CHECK(name(demo_stage::chunk) == "chunk");
    CHECK(name(demo_stage::huffman) == "huffman");
    CHECK(name(demo_stage::varint) == "varint");
    CHECK(name(demo_stage::snapshot) == "snapshot");
    CHECK(name(demo_stage::delta) == "delta");
    CHECK(name(static_cast<demo_stage>(99)) == "unknown");
}

TEST_CASE("message bytes: least significant first") {
    test::guarded<std::uint8_t> out{8};
    CHECK(test::hex(message_bytes(test::ints{1744830470, 105}, out.span())) == "06 00 00 68 69 00 00 00");
    CHECK(out.intact());
    CHECK(test::hex(message_bytes(test::ints{-2}, out.span())) == "fe ff ff ff");
    CHECK(message_bytes({}, {}).empty());
}

TEST_CASE("demo player: content that cannot be understood") {
    using enum demo_chunk_kind;
    auto const good = test::int_chunk(snapshot, one_flag);
    auto const after_good = test::join({keyframe_1000, good});
    std::size_t const behind = start + after_good.size();
    struct {
        char const* title;
        test::bytes chunks;
        failure what;
        demo_stage stage;
        std::int32_t tick;
        std::size_t position;
    } const cases[] = {
        {"no end of the code",
         test::join({tick_1000, test::raw_chunk(message, {0x8a})}),
         {errc::truncated, 1},
         demo_stage::huffman,
         1000,
         start + 5},
        {"no data",
         test::join({tick_1000, test::raw_chunk(message, {})}),
         {errc::truncated, 0},
         demo_stage::huffman,
         1000,
         start + 5},
        {"no data in a snapshot",
         test::raw_chunk(snapshot, {}),
         {errc::truncated, 0},
         demo_stage::huffman,
         -1,
         start},
        {"half an int",
         test::raw_chunk(message, test::huffman({0x01, 0x80})),
         {errc::truncated, 1},
         demo_stage::varint,
         -1,
         start},
        {"too many ints",
         test::raw_chunk(message, test::huffman(test::bytes(16385))),
         {errc::output_full, 16384},
         demo_stage::varint,
         -1,
         start},
        {"empty snapshot", test::int_chunk(snapshot, {}), {errc::truncated, 0}, demo_stage::snapshot, -1, start},
        {"snapshot with a wrong size",
         test::join({keyframe_1000, test::int_chunk(snapshot, {4, 0})}),
         {errc::bad_length, 0},
         demo_stage::snapshot,
         1000,
         start + 5},
        {"snapshot with a bad offset",
         test::int_chunk(snapshot, {4, 1, 4, 1}),
         {errc::bad_offset, 2},
         demo_stage::snapshot,
         -1,
         start},
        {"snapshot with too many items",
         test::int_chunk(snapshot, {0, 1025}),
         {errc::bad_count, 1},
         demo_stage::snapshot,
         -1,
         start},
        {"delta before any snapshot",
         test::join({tick_1000, test::int_chunk(delta, {0, 0, 0})}),
         {errc::missing_snapshot, 0},
         demo_stage::delta,
         1000,
         start + 5},
        {"empty delta",
         test::join({after_good, test::int_chunk(delta, {})}),
         {errc::truncated, 0},
         demo_stage::delta,
         1000,
         behind},
        {"delta that is cut",
         test::join({after_good, {0xa2}, test::int_chunk(delta, {0, 1, 0, 5, 0, 1})}),
         {errc::truncated, 6},
         demo_stage::delta,
         1002,
         behind + 1},
        {"delta with a wrong size",
         test::join({after_good, test::int_chunk(delta, {0, 1, 0, 30, 0, -1})}),
         {errc::bad_item_size, 5},
         demo_stage::delta,
         1000,
         behind},
        {"end inside a chunk",
         test::join({after_good, {0x45, 1, 2}}),
         {errc::truncated, behind},
         demo_stage::chunk,
         1000,
         behind},
        {"step from nowhere", {0xa1}, {errc::bad_tick, start}, demo_stage::chunk, -1, start},
    };
    for (auto const& c : cases) {
        CAPTURE(c.title);
        check_failure(play_raw(6, c.chunks), c.what, c.stage, c.tick, c.position);
    }
    check_failure(play_raw(6, after_good), {}, demo_stage::chunk, -1, 0);
}

TEST_CASE("demo player: the state stays when a chunk cannot be understood") {
    auto const file =
        test::raw_demo(6, test::join({keyframe_1000, test::int_chunk(demo_chunk_kind::snapshot, one_flag),
                                      test::int_chunk(demo_chunk_kind::delta, {0, 1, 0, 5, 0, 9})}));
    player_with_memory p{open(file)};
    auto const events = play(p.player);
    REQUIRE(events.size() == 2);
    CHECK(events[1].text == "snapshot 1000 *");
    CHECK(p.player.has_state());
    CHECK(test::dec(p.player.state().ints()) == test::dec(one_flag));
    CHECK(p.player.error().what == failure{errc::truncated, 6});
}

TEST_CASE("demo player: the unused chunk type is skipped whatever it holds") {
    note_log notes;
    auto const chunks = test::join({test::raw_chunk(demo_chunk_kind::unused, {0xff, 0xff}), keyframe_1000,
                                    test::raw_chunk(demo_chunk_kind::unused, {}),
                                    test::int_chunk(demo_chunk_kind::snapshot, one_flag)});
    check_failure(play_raw(6, chunks, decoding::strict, &notes), {}, demo_stage::chunk, -1, 0);
    CHECK(notes[note::unknown_chunk].count == 2);
    CHECK(notes[note::unknown_chunk].position == start);
}

TEST_CASE("demo player: strict and lenient") {
    using enum demo_chunk_kind;
    auto const negative = test::int_chunk(snapshot, {4, 1, 0, -1});
    check_failure(play_raw(6, negative, decoding::strict), {errc::bad_type, 3}, demo_stage::snapshot, -1, start);
    note_log notes;
    check_failure(play_raw(6, negative, decoding::lenient, &notes), {}, demo_stage::chunk, -1, 0);
    CHECK(notes[note::unsigned_key_half].count == 1);
    CHECK(notes[note::unsigned_key_half].origin == start);
    CHECK(notes[note::unsigned_key_half].position == 3);

    auto const overlong = test::join({tick_1000, test::raw_chunk(message, test::huffman({0x01, 0x80, 0x00}))});
    check_failure(play_raw(6, overlong, decoding::strict), {errc::bad_varint, 1}, demo_stage::varint, 1000,
                  start + 5);
    notes = {};
    check_failure(play_raw(6, overlong, decoding::lenient, &notes), {}, demo_stage::chunk, -1, 0);
    CHECK(notes[note::overlong_varint].count == 1);
    CHECK(notes[note::overlong_varint].origin == start + 5);
    CHECK(notes[note::overlong_varint].position == 1);

    auto const negative_update = test::join(
        {keyframe_1000, test::int_chunk(snapshot, one_flag), test::int_chunk(delta, {1, 1, 7, 99, -1, 0, 0, 5})});
    std::size_t const delta_at = start + 5 + test::int_chunk(snapshot, one_flag).size();
    check_failure(play_raw(6, negative_update, decoding::strict), {errc::bad_type, 4}, demo_stage::delta, 1000,
                  delta_at);
    notes = {};
    check_failure(play_raw(6, negative_update, decoding::lenient, &notes), {}, demo_stage::chunk, -1, 0);
    for (note const n :
         {note::unsigned_key_half, note::unused_header_int, note::unknown_removed_key, note::update_count}) {
        CHECK(notes[n].count == 1);
        CHECK(notes[n].origin == delta_at);
    }
    CHECK(notes[note::unused_header_int].position == 2);
    CHECK(notes[note::unknown_removed_key].position == 3);
    CHECK(notes[note::unsigned_key_half].position == 4);
    CHECK(notes[note::update_count].position == 7);
}

TEST_CASE("demo player: data after the end of a code") {
    auto payload = test::huffman({0x01});
    payload.push_back(0);
    payload.push_back(7);
    note_log notes;
    check_failure(play_raw(6, test::raw_chunk(demo_chunk_kind::message, payload), decoding::strict, &notes), {},
                  demo_stage::chunk, -1, 0);
    CHECK(notes[note::data_after_end].count == 1);
    CHECK(notes[note::data_after_end].origin == start);
    CHECK(notes[note::data_after_end].position == 3);
}

TEST_CASE("demo player: a written demo cut at every byte") {
    for (std::uint8_t const version : {6, 3}) {
        auto const file = golden_file(version);
        auto const all_chunks = chunks_of(open(file));
        player_with_memory whole{open(file)};
        auto const all_events = play(whole.player);
        REQUIRE(all_events.size() == all_chunks.size());
        std::size_t const first = all_chunks.front().position;
        auto const memory = std::make_unique<demo_player_memory>();

        for (std::size_t size = 0; size <= file.size(); ++size) {
            CAPTURE(size);
            // Exactly this many bytes on the heap, so that a read beyond them shows.
            test::bytes const cut{file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
            auto const reader = demo_reader::open(cut);
            if (size < first) {
                REQUIRE(error_of(reader) == failure{errc::truncated, size});
                continue;
            }
            REQUIRE(error_of(reader) == failure{});
            std::size_t complete = 0;
            while (complete + 1 < all_chunks.size() && all_chunks[complete + 1].position <= size) ++complete;
            complete += size == file.size();
            std::size_t const reached = complete < all_chunks.size() ? all_chunks[complete].position : size;
            failure const expected = reached == size ? failure{} : failure{errc::truncated, reached};

            demo_player player{*reader, *memory, {}};
            auto const events = play(player);
            REQUIRE(events.size() == complete);
            CHECK(std::equal(events.begin(), events.end(), all_events.begin()));
            CHECK(player.error().what == expected);
            if (expected.code != errc::ok) CHECK(player.error().position == reached);
            CHECK(player.position() == reached);
            CHECK(scan_demo(*reader, {}).error == expected);
        }
    }
}

TEST_CASE("demo player: a file that grows byte by byte, and lies elsewhere each time") {
    for (std::uint8_t const version : {6, 3}) {
        auto const file = golden_file(version);
        player_with_memory whole{open(file)};
        auto const expected = play(whole.player);
        std::size_t const first = chunks_of(open(file)).front().position;
        auto bytes = std::make_unique<test::bytes>(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(first));
        player_with_memory growing{open(*bytes)};
        auto events = play(growing.player);
        for (std::size_t size = first + 1; size <= file.size(); ++size) {
            auto next =
                std::make_unique<test::bytes>(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
            growing.player.extend(*next);
            bytes = std::move(next);
            for (seen_event& e : play(growing.player)) events.push_back(std::move(e));
        }
        CHECK(events == expected);
        CHECK(growing.player.error().what == failure{});
    }
    // An error persists.
    auto file = golden_file(6);
    std::size_t const end = file.size();
    for (std::uint8_t const byte : {0x80, 0xff, 0xff, 0xff, 0xff}) file.push_back(byte); // a negative tick
    player_with_memory damaged{open(file)};
    static_cast<void>(play(damaged.player));
    failure const error = damaged.player.error().what;
    CHECK(error.code == errc::bad_tick);
    CHECK(damaged.player.error().position == end);
    test::bytes more = file;
    more.push_back(0);
    damaged.player.extend(more);
    CHECK(damaged.player.error().what == error);
    CHECK(play(damaged.player).empty());
}

TEST_CASE("demo player: damaged bytes give an error or another demo, never more") {
    auto const file = golden_file(6);
    auto const memory = std::make_unique<demo_player_memory>();
    test::random rng{70};
    std::size_t errors = 0;
    for (int round = 0; round < 600; ++round) {
        auto damaged = file;
        std::size_t const first = rng.chance(90) ? 494 : 0;
        for (std::size_t n = 1 + rng.below(3); n > 0; --n)
            damaged[first + rng.below(damaged.size() - first)] = rng.byte();
        auto const reader = demo_reader::open(damaged);
        if (!reader) continue;
        note_log notes;
        demo_player player{
            *reader, *memory, {&sizes_06, rng.chance(50) ? decoding::strict : decoding::lenient, &notes}};
        auto const events = play(player);
        errors += player.error().what.code != errc::ok;
        CHECK(player.error().position <= damaged.size());
        CHECK(player.position() <= damaged.size());
        CHECK(events.size() <= damaged.size());
        demo_keyframe keyframes[8];
        auto const overview = scan_demo(*reader, keyframes);
        bool const sought = player.seek(static_cast<std::int32_t>(900 + rng.below(500)),
                                        std::span{keyframes}.first(std::min<std::size_t>(overview.keyframes, 8)));
        CHECK(sought == (player.error().what.code == errc::ok));
    }
    CHECK(errors > 100);
}

// ---- seeking -------------------------------------------------------------------------------------------------------

namespace {

// More than a thousand ticks with keyframes, gaps and unchanged ones; messages in between.
struct long_demo {
    test::bytes file;
    std::vector<std::int32_t> ticks;
    std::vector<test::plain_items> snapshots;
};

long_demo record_long_demo(std::uint8_t version, std::int32_t max_step) {
    long_demo d;
    test::random rng{80U + version};
    test::recorder to{{version, huffman_end::exact, &sizes_06}};
    to.message({1, 2, 3});
    test::plain_items items;
    std::int32_t tick = 500;
    for (int i = 0; i < 1100; ++i) {
        if (!rng.chance(15)) items = test::next_items(rng, items, sizes_06, items.size() > 12 ? 0 : 2);
        to.snapshot(tick, items);
        d.ticks.push_back(tick);
        d.snapshots.push_back(items);
        if (rng.chance(10)) to.message(rng.data(rng.below(20), false));
        tick += 1 + static_cast<std::int32_t>(rng.chance(3) ? rng.below(100)
                                                            : rng.below(static_cast<unsigned>(max_step)));
    }
    d.file = to.finish();
    return d;
}

struct linear_state {
    std::int32_t tick;
    test::ints state;
};

// The state of every tick, when all chunks before the next marker have been played.
std::vector<linear_state> play_linearly(demo_player& player) {
    std::vector<linear_state> states;
    for (demo_event event; player.next(event);) {
        if (event.kind == demo_event_kind::tick) states.push_back({event.tick, {}});
        if (!states.empty()) states.back().state = test::copy_of(player.state().ints());
    }
    REQUIRE(player.error().what == failure{});
    return states;
}

} // namespace

TEST_CASE("demo player: seeking gives what playing gives") {
    for (std::uint8_t version = 4; version <= 6; ++version) {
        auto const demo = record_long_demo(version, version == 5 ? 1 : 3);
        player_with_memory linear{open(demo.file)};
        auto const states = play_linearly(linear.player);
        REQUIRE(states.size() == demo.ticks.size());
        for (std::size_t i = 0; i < states.size(); ++i) {
            REQUIRE(states[i].tick == demo.ticks[i]);
            REQUIRE(test::sorted(test::items_of(test::view_of(states[i].state))) ==
                    test::sorted(demo.snapshots[i]));
        }

        std::vector<demo_keyframe> keyframes(scan_demo(open(demo.file), {}).keyframes);
        auto const overview = scan_demo(open(demo.file), keyframes);
        CHECK(keyframes.size() >= 4);
        CHECK(overview.ticks == 1100);
        CHECK(overview.first_tick == demo.ticks.front());
        CHECK(overview.last_tick == demo.ticks.back());

        player_with_memory p{open(demo.file)};
        test::random rng{90};
        auto const span = static_cast<std::size_t>(demo.ticks.back() - demo.ticks.front() + 200);
        std::int32_t previous = 0;
        for (int round = 0; round < 120; ++round) {
            auto target = demo.ticks.front() - 100 + static_cast<std::int32_t>(rng.below(span));
            if (rng.chance(30)) target = previous + static_cast<std::int32_t>(rng.below(20)) - 5; // near by
            if (rng.chance(10))
                target = keyframes[rng.below(keyframes.size())].tick - static_cast<std::int32_t>(rng.below(2));
            previous = target;
            std::size_t i = 0;
            while (i + 1 < states.size() && states[i + 1].tick <= target) ++i;
            REQUIRE(p.player.seek(target, keyframes));
            CAPTURE(target);
            REQUIRE(p.player.tick() == states[i].tick);
            REQUIRE(p.player.has_state());
            REQUIRE(test::copy_of(p.player.state().ints()) == states[i].state);
            // Playing goes on from there.
            demo_event event;
            if (rng.chance(50)) continue;
            REQUIRE(p.player.next(event) == (i + 1 < states.size()));
            if (i + 1 == states.size()) continue;
            CHECK((event.kind == demo_event_kind::tick));
            CHECK(event.tick == states[i + 1].tick);
            if (rng.chance(50)) p.player.next(event);
        }
    }
}

TEST_CASE("demo player: seeking to the ends of what there can be") {
    auto const file = golden_file(6);
    demo_keyframe keyframes[2];
    REQUIRE(scan_demo(open(file), keyframes).keyframes == 2);
    player_with_memory p{open(file)};
    REQUIRE(p.player.seek(INT32_MAX, keyframes));
    CHECK(p.player.tick() == 1253);
    CHECK(p.player.position() == file.size());
    REQUIRE(p.player.seek(INT32_MIN, keyframes));
    CHECK(p.player.tick() == 1000);
    CHECK(test::sorted(test::items_of(p.player.state())) == test::sorted(test::golden_snapshot("S1")));
    REQUIRE(p.player.seek(1250, keyframes));
    CHECK(p.player.tick() == 1250);
    REQUIRE(p.player.seek(1251, keyframes));
    CHECK(p.player.tick() == 1251);
    REQUIRE(p.player.seek(1100, keyframes));
    CHECK(p.player.tick() == 1069);
    demo_event event;
    REQUIRE(p.player.next(event));
    CHECK(event.tick == 1250);
}

TEST_CASE("demo player: seeking in a player that begins behind the keyframe") {
    auto const file = golden_file(6);
    demo_keyframe keyframes[2];
    REQUIRE(scan_demo(open(file), keyframes).keyframes == 2);
    auto reader = open(file);
    reader.seek(571, 1002);
    player_with_memory p{reader};
    REQUIRE(p.player.seek(1038, keyframes));
    CHECK(p.player.tick() == 1038);
    CHECK(test::sorted(test::items_of(p.player.state())) == test::sorted(test::golden_snapshot("S2")));
}

TEST_CASE("demo player: seeking without keyframes goes forward alone") {
    auto const file = golden_file(6);
    player_with_memory p{open(file)};
    REQUIRE(p.player.seek(1003, {}));
    CHECK(p.player.tick() == 1002);
    REQUIRE(p.player.seek(1040, {}));
    CHECK(p.player.tick() == 1038);
    CHECK(test::sorted(test::items_of(p.player.state())) == test::sorted(test::golden_snapshot("S2")));
}

TEST_CASE("demo player: seeking past damage fails, and back again works") {
    auto file = golden_file(6);
    file[642] = 0x80; // inside the delta of tick 1250
    demo_keyframe keyframes[2];
    REQUIRE(scan_demo(open(file), keyframes).keyframes == 2);
    player_with_memory p{open(file)};
    REQUIRE(p.player.seek(1249, keyframes));
    CHECK_FALSE(p.player.seek(1250, keyframes));
    CHECK(p.player.error().what.code != errc::ok);
    CHECK(p.player.error().position == 641);
    CHECK(p.player.error().tick == 1250);
    demo_event event;
    CHECK_FALSE(p.player.next(event));
    REQUIRE(p.player.seek(1069, keyframes));
    CHECK(p.player.error().what == failure{});
    CHECK(test::sorted(test::items_of(p.player.state())) == test::sorted(test::golden_snapshot("S1")));
    REQUIRE(p.player.seek(1251, keyframes)); // from the keyframe after the damage
    CHECK(p.player.tick() == 1251);
}

// ---- size table ----------------------------------------------------------------------------------------------------

namespace {

// With the items in which the tables differ.
test::bytes record_with(named_size_table const& table, char const* net_version) {
    test::recorder to{{6, huffman_end::exact, table.sizes}};
    set_text(to.header().net_version, net_version);
    std::size_t const damage = (*table.sizes)[22] != 0 ? (*table.sizes)[22] : 7;
    bool const is_06 = table.name == "0.6";
    for (std::int32_t tick = 1; tick < 100; ++tick) {
        auto const id = static_cast<std::uint16_t>(tick);
        test::plain_items items{
            {make_key(is_06 ? 9 : 10, 0), test::ints(22, tick)},
            {make_key(4, 0), test::ints(is_06 ? 4 : 3, 7)},
        };
        if (!is_06) {
            items.push_back({make_key(21, id), {tick, 3, 1}});
            items.push_back({make_key(22, id), test::ints(damage, 2)});
        }
        to.snapshot(tick, items);
    }
    return to.finish();
}

} // namespace

TEST_CASE("detect: the size table of a demo, whatever its header says") {
    auto const memory = std::make_unique<demo_player_memory>();
    for (auto const& table : size_tables) {
        for (char const* const net_version : {"0.6 626fce9a778df4d4", "0.7 802f1be60a05665f", ""}) {
            CAPTURE(std::string{table.name});
            CAPTURE(net_version);
            auto const file = record_with(table, net_version);
            CHECK(detect_size_table(open(file), *memory).name == table.name);
        }
    }
}

TEST_CASE("detect: with nothing to go by, the header decides") {
    auto const memory = std::make_unique<demo_player_memory>();
    auto file = test::raw_demo(6, {});
    CHECK(detect_size_table(open(file), *memory).name == "0.6");
    file[10] = '7';
    CHECK(detect_size_table(open(file), *memory).name == "0.7");
}

TEST_CASE("detect: a damaged demo gets the table that gets furthest") {
    auto const memory = std::make_unique<demo_player_memory>();
    for (auto const& table : size_tables) {
        auto file = record_with(table, "0.6 626fce9a778df4d4");
        file.erase(file.end() - 3, file.end());
        CAPTURE(std::string{table.name});
        CHECK(detect_size_table(open(file), *memory).name == table.name);
    }
}

TEST_CASE("detect: with damage that stops every table at once, the header decides") {
    auto const memory = std::make_unique<demo_player_memory>();
    auto const damaged = test::raw_chunk(demo_chunk_kind::snapshot, {0xff, 0xff, 0xff});
    auto file = test::raw_demo(6, damaged);
    CHECK(detect_size_table(open(file), *memory).name == "0.6");
    file[10] = '7';
    CHECK(detect_size_table(open(file), *memory).name == "0.7");
}

TEST_CASE("detect: by keyframes alone") {
    // A pickup that never changes is in no delta, and flags have the same size everywhere.
    auto const memory = std::make_unique<demo_player_memory>();
    for (bool const is_07 : {false, true}) {
        test::recorder to;
        set_text(to.header().net_version, is_07 ? "0.6" : "0.7");
        for (std::int32_t tick = 1; tick < 300; ++tick)
            to.snapshot(tick, {{make_key(4, 0), test::ints(is_07 ? 3 : 4, 7)}, {make_key(5, 0), {tick, 0, 0}}});
        auto const file = to.finish();
        CHECK(scan_demo(open(file), {}).keyframes == 2);
        CHECK(detect_size_table(open(file), *memory).name == (is_07 ? "0.7" : "0.6"));
    }
}

TEST_CASE("detect: by quirks alone") {
    // One event at the end of each delta: with the wrong table some ints are left over, and nothing else is wrong.
    auto const memory = std::make_unique<demo_player_memory>();
    for (char const* const name : {"0.7", "0.7-recorded"}) {
        test::recorder to{{6, huffman_end::exact, find_size_table(name)}};
        set_text(to.header().net_version, "0.7");
        for (std::int32_t tick = 1; tick < 200; ++tick)
            to.snapshot(tick, {{make_key(4, 0), {1, 2, 0}},
                               {make_key(22, static_cast<std::uint16_t>(tick)), test::ints(7, 3)}});
        CAPTURE(name);
        CHECK(detect_size_table(open(to.finish()), *memory).name == name);
    }
}

TEST_CASE(
    "demo reader: whether items have the sizes of a table, and what shows that deltas were read with a wrong one") {
    size_table sizes{};
    sizes.set(1, 2);
    auto const fits = [&](std::uint16_t type, std::size_t ints) {
        snapshot_builder_memory<> memory;
        snapshot_builder builder{memory};
        REQUIRE(builder.add(1, 0, 2).has_value());
        REQUIRE(builder.add(type, 1, ints).has_value());
        return sizes_fit(builder.finish(), sizes);
    };
    CHECK(sizes_fit({}, sizes));
    CHECK(fits(1, 2));
    CHECK_FALSE(fits(1, 1));
    CHECK_FALSE(fits(1, 3));
    CHECK(fits(2, 7)); // nothing is agreed on

    for (std::size_t i = 0; i < note_count; ++i) {
        note_log notes;
        CHECK(signs_of_wrong_sizes(notes) == 0);
        notes.add(static_cast<note>(i), 1);
        notes.add(static_cast<note>(i), 2);
        auto const kind = static_cast<note>(i);
        bool const sign = kind == note::unknown_removed_key || kind == note::repeated_key ||
                          kind == note::update_count || kind == note::unsigned_key_half;
        CAPTURE(i);
        CHECK(signs_of_wrong_sizes(notes) == (sign ? 2 : 0));
    }
}
