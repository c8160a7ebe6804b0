#include "check.hpp"
#include "demos.hpp"
#include "random.hpp"

#include "teewire/demo_writer.hpp"

using namespace teewire;
using test::error_of;

namespace {

struct encoder_with_memory {
    std::unique_ptr<demo_encoder_memory> memory = std::make_unique<demo_encoder_memory>();
    demo_encoder encoder;
    explicit encoder_with_memory(std::uint8_t version = 6, huffman_end ending = huffman_end::exact)
        : encoder{*memory, version, ending} {}

    std::string tick(std::int32_t tick, bool keyframe) {
        std::uint8_t out[max_demo_tick_marker];
        auto const size = encoder.write_tick(tick, keyframe, out);
        REQUIRE(error_of(size) == failure{});
        return test::hex(std::span{out}.first(*size));
    }
};

test::plain_items flag(std::int32_t x) { return {{make_key(5, 0), {x, 0, 0}}}; }

} // namespace

TEST_CASE("demo writer: golden vectors") {
    int files = 0;
    for (auto const& r : test::read_records("demo.txt")) {
        if (r.kind() != "demo") continue;
        ++files;
        auto const file = test::record_calls(test::number<std::uint8_t>(r.title()), r.all("call"));
        CHECK(file.size() == test::number<std::size_t>(r.get("end")));
        auto const places = r.all("at");
        for (auto const& place : places) {
            auto parts = test::words(place);
            auto const offset = test::number<std::size_t>(parts[0]);
            bool const partly = parts.back() == "...";
            std::string expected = place.substr(parts[0].size() + 1);
            if (partly) expected.erase(expected.size() - 4);
            CAPTURE(offset);
            REQUIRE(offset + (expected.size() + 1) / 3 <= file.size());
            CHECK(test::hex(std::span{file}.subspan(offset, (expected.size() + 1) / 3)) == expected);
        }
    }
    CHECK(files == 4);
}

TEST_CASE("demo writer: the padded ending of older programs") {
    test::recorder to{{4, huffman_end::padded, &sizes_06}};
    CHECK(test::hex(to.snapshot(1000, test::golden_snapshot("S1"))) ==
          "c0 00 00 03 e8 3a d4 65 51 0d 03 00 ab 6d d4 62 d1 6f 80 35 c7 05 18 01 a0 2e 14 4a bc 15 37 00");
    CHECK(test::hex(to.message({})) == "42 8a 1b");
}

// ---- encoder -------------------------------------------------------------------------------------------------------

TEST_CASE("demo encoder: tick markers of versions 5 and 6") {
    for (std::uint8_t const version : {5, 6}) {
        encoder_with_memory e{version};
        CHECK_FALSE(e.encoder.last_tick().has_value());
        CHECK(e.tick(1000, false) == "80 00 00 03 e8");
        CHECK(e.encoder.last_tick() == 1000);
        CHECK(e.tick(1000, false) == "a0");
        CHECK(e.tick(1001, false) == "a1");
        CHECK(e.tick(1032, false) == "bf");
        CHECK(e.tick(1064, false) == "80 00 00 04 28");
        CHECK(e.tick(1065, true) == "c0 00 00 04 29");
        CHECK(e.tick(1065, true) == "c0 00 00 04 29");
        CHECK(e.tick(INT32_MAX, false) == "80 7f ff ff ff");
    }
}

TEST_CASE("demo encoder: tick markers of versions 3 and 4") {
    for (std::uint8_t const version : {3, 4}) {
        encoder_with_memory e{version};
        CHECK(e.tick(0, false) == "80 00 00 00 00");
        CHECK(e.tick(1, false) == "81");
        CHECK(e.tick(64, false) == "bf");
        CHECK(e.tick(128, false) == "80 00 00 00 80");
        CHECK(e.tick(160, false) == "a0");
        CHECK(e.tick(160, true) == "c0 00 00 00 a0");
        std::uint8_t out[5];
        CHECK(error_of(e.encoder.write_tick(160, false, out)) == failure{errc::bad_tick, 0});
    }
}

TEST_CASE("demo encoder: ticks that cannot be written") {
    encoder_with_memory e;
    std::uint8_t out[5];
    CHECK(error_of(e.encoder.write_tick(-1, true, out)) == failure{errc::bad_tick, 0});
    CHECK(error_of(e.encoder.write_tick(INT32_MIN, false, out)) == failure{errc::bad_tick, 0});
    CHECK_FALSE(e.encoder.last_tick().has_value());
    REQUIRE(e.encoder.write_tick(50, false, out));
    for (std::int32_t const tick : {49, 0, -1, INT32_MIN}) {
        for (bool const keyframe : {false, true})
            CHECK(error_of(e.encoder.write_tick(tick, keyframe, out)) == failure{errc::bad_tick, 0});
    }
    CHECK(e.encoder.last_tick() == 50);
    e.encoder.restore_tick(48);
    CHECK(e.tick(49, false) == "a1");
    e.encoder.restore_tick({});
    CHECK(e.tick(49, false) == "80 00 00 00 31");
}

TEST_CASE("demo encoder: every output size of a tick marker") {
    for (bool const keyframe : {false, true}) {
        encoder_with_memory e;
        auto const write = [&](std::span<std::uint8_t> out) {
            auto const before = e.encoder.last_tick();
            auto const size = e.encoder.write_tick(51, keyframe, out);
            CHECK(e.encoder.last_tick() == (size ? 51 : before));
            e.encoder.restore_tick(before);
            return size;
        };
        test::check_output_sizes<std::uint8_t>(5, write);
        e.encoder.restore_tick(50);
        test::check_output_sizes<std::uint8_t>(keyframe ? 5 : 1, write);
    }
}

TEST_CASE("demo encoder: the size of a chunk in its three forms") {
    // A zero int takes one bit, the end 15, and the first form reaches to 29 bytes.
    encoder_with_memory e;
    struct {
        std::size_t zeros;
        char const* head;
        std::size_t size;
    } const cases[] = {
        {0, "42", 3},         {217, "5d", 30},         {218, "5e 1e", 32},
        {2025, "5e ff", 257}, {2026, "5f 00 01", 259}, {16384, "5f 02 08", 2053},
    };
    test::bytes out(demo_encoder::max_bytes);
    for (auto const& c : cases) {
        CAPTURE(c.zeros);
        auto const size = e.encoder.write_ints(demo_chunk_kind::message, test::ints(c.zeros), out);
        REQUIRE(size);
        CHECK(*size == c.size);
        std::string const head = c.head;
        CHECK(test::hex(std::span{out}.first((head.size() + 1) / 3)) == head);
    }
    REQUIRE(e.encoder.write_ints(demo_chunk_kind::unused, {}, out));
    CHECK(test::hex(std::span{out}.first(3)) == "02 8a 1b");
    REQUIRE(e.encoder.write_ints(demo_chunk_kind::snapshot, {}, out));
    CHECK(test::hex(std::span{out}.first(3)) == "22 8a 1b");
    REQUIRE(e.encoder.write_ints(demo_chunk_kind::delta, {}, out));
    CHECK(test::hex(std::span{out}.first(3)) == "62 8a 1b");
}

TEST_CASE("demo encoder: chunks that are too large") {
    encoder_with_memory e;
    test::bytes out(demo_encoder::max_bytes);
    auto const write = [&](test::ints const& ints) {
        return error_of(e.encoder.write_ints(demo_chunk_kind::delta, ints, out));
    };
    CHECK(write(test::ints(16384)) == failure{});
    CHECK(write(test::ints(16385)) == failure{errc::too_large, 16384});
    // 65536 bytes hold 13107 ints of five bytes and one more byte. These have short codes.
    test::ints five(13107, 1 << 27);
    CHECK(write(five) == failure{});
    five.push_back(0);
    CHECK(write(five) == failure{});
    five.push_back(0);
    CHECK(write(five) == failure{errc::too_large, 13108});
    five[13107] = 64;
    CHECK(write(five) == failure{errc::too_large, 13107});
    // five bytes with long codes: more than 65535 after Huffman
    std::int32_t long_code = 0;
    std::uint8_t const f8[] = {0xf8, 0xf8, 0xf8, 0xf8, 0x07};
    REQUIRE(decode_varints(f8, std::span{&long_code, 1}));
    CHECK(write(test::ints(13107, long_code)) == failure{errc::too_large, 13107});
    // Short ones take 24 bits, long ones 64, the end 15: exactly 65535 bytes, and one more.
    test::ints exact(7863, 1 << 27);
    exact.resize(7863 + 5243, long_code);
    CHECK(write(exact) == failure{});
    CHECK(test::hex(std::span{out}.first(3)) == "7f ff ff");
    exact.assign(7858, 1 << 27);
    exact.resize(7858 + 5245, long_code);
    CHECK(write(exact) == failure{errc::too_large, 7858 + 5245});

    CHECK(error_of(e.encoder.write_message(test::bytes(65536), out)) == failure{});
    CHECK(error_of(e.encoder.write_message(test::bytes(65537), out)) == failure{errc::too_large, 65536});
}

TEST_CASE("demo encoder: every output size of a message") {
    encoder_with_memory e;
    auto const message = test::from_hex("06 00 00 68 69 00");
    test::check_output_sizes<std::uint8_t>(9, [&](std::span<std::uint8_t> out) {
        auto const size = e.encoder.write_message(message, out);
        if (size) CHECK(test::hex(out.first(*size)) == "48 52 00 00 8e e5 a8 b8 01");
        else CHECK(size.error().position == 0);
        return size;
    });
    test::bytes const longer(400, 0xee);
    test::bytes whole(demo_encoder::max_bytes);
    auto const needed = e.encoder.write_message(longer, whole);
    REQUIRE(needed);
    test::check_output_sizes<std::uint8_t>(
        *needed, [&](std::span<std::uint8_t> out) { return e.encoder.write_message(longer, out); });
}

TEST_CASE("demo encoder: random messages come back with up to three zeros more") {
    test::random rng{60};
    encoder_with_memory e;
    test::bytes out(demo_encoder::max_bytes);
    test::bytes unpacked(max_demo_packed_bytes);
    test::ints ints(max_demo_chunk_ints);
    test::bytes back(4 * max_demo_chunk_ints);
    for (int round = 0; round < 100; ++round) {
        auto message = rng.data(rng.below(900), round % 2 == 0);
        auto const size = e.encoder.write_message(message, out);
        REQUIRE(size);
        std::size_t const head = (out[0] & 31) < 30 ? 1 : (out[0] & 31) - 28;
        auto const packed = huffman_decode(std::span{out}.subspan(head, *size - head), unpacked);
        REQUIRE(packed);
        auto const count = decode_varints(std::span{unpacked}.first(*packed), ints, decoding::strict);
        REQUIRE(count);
        message.resize((message.size() + 3) / 4 * 4);
        CHECK(test::copy_of(message_bytes(std::span{ints}.first(*count), back)) == message);
    }
}

// ---- writer --------------------------------------------------------------------------------------------------------

TEST_CASE("demo writer: keyframes more than 250 ticks apart") {
    for (std::int32_t const step : {1, 2, 50}) {
        test::recorder to;
        std::int32_t last_keyframe = -1;
        for (std::int32_t tick = 100; tick < 1500; tick += step) {
            auto const written = to.snapshot(tick, flag(tick));
            bool const keyframe = (written[0] & 0x40) != 0;
            CAPTURE(tick);
            CHECK(keyframe == (last_keyframe < 0 || tick - last_keyframe > 250));
            if (keyframe) last_keyframe = tick;
        }
    }
    CHECK(demo_writer::keyframe_interval == 250);
}

TEST_CASE("demo writer: the marker alone if nothing changed") {
    test::recorder to;
    CHECK(to.snapshot(10, flag(1)).size() > 5);
    CHECK(test::hex(to.snapshot(12, flag(1))) == "a2");
    CHECK(test::hex(to.snapshot(100, flag(1))) == "80 00 00 00 64");
    CHECK(to.snapshot(101, flag(2)).size() > 1);
    // the order does not matter either
    test::plain_items const two{{make_key(5, 0), {2, 0, 0}}, {make_key(5, 1), {1, 1, 1}}};
    to.snapshot(102, two);
    CHECK(test::hex(to.snapshot(103, {two[1], two[0]})) == "a1");
    CHECK(to.writer().unchanged() == 3);
}

TEST_CASE("demo writer: an item that changes its size makes a keyframe") {
    test::recorder to;
    to.snapshot(10, {{make_key(30, 0), {1}}});
    auto const written = to.snapshot(11, {{make_key(30, 0), {1, 2}}});
    CHECK(test::hex(std::span{written}.first(6)).starts_with("c0 00 00 00 0b 2"));
    // and the next keyframe is counted from there
    CHECK(to.snapshot(261, {{make_key(30, 0), {1, 3}}})[0] == 0x80);
    CHECK(to.snapshot(262, {{make_key(30, 0), {1, 4}}})[0] == 0xc0);
    // a size that differs from the agreed one cannot be in a delta either
    to.snapshot(263, {{make_key(5, 0), {1}}});
    CHECK(to.snapshot(264, {{make_key(5, 0), {2}}})[0] == 0xc0);
}

TEST_CASE("demo writer: two items with one key make keyframes, and come back") {
    std::vector<test::plain_items> const snapshots = {
        flag(1),
        {{make_key(5, 0), {1, 0, 0}}, {make_key(5, 0), {2, 0, 0}}},
        {{make_key(5, 0), {1, 0, 0}}, {make_key(5, 0), {3, 0, 0}}},
        flag(3),
        flag(4),
    };
    test::recorder to;
    std::string keyframes;
    for (std::size_t i = 0; i < snapshots.size(); ++i)
        keyframes += (to.snapshot(static_cast<std::int32_t>(i), snapshots[i])[0] & 0x40) != 0 ? '*' : '-';
    CHECK(keyframes == "****-");
    auto const file = to.finish();
    auto const memory = std::make_unique<demo_player_memory>();
    auto const reader = demo_reader::open(file);
    REQUIRE(reader);
    demo_player player{*reader, *memory, {}};
    std::size_t played = 0;
    for (demo_event event; player.next(event);)
        if (event.kind == demo_event_kind::snapshot) CHECK(test::items_of(player.state()) == snapshots[played++]);
    CHECK(played == snapshots.size());
}

TEST_CASE("demo writer: ticks must increase") {
    test::recorder to;
    test::bytes out(demo_writer::max_bytes);
    auto const full = test::layout(flag(1));
    auto const write = [&](std::int32_t tick) {
        return error_of(to.writer().write_snapshot(tick, test::view_of(full), out));
    };
    CHECK(write(-1) == failure{errc::bad_tick, 0});
    CHECK(write(0) == failure{});
    CHECK(write(0) == failure{errc::bad_tick, 0});
    CHECK(write(INT32_MIN) == failure{errc::bad_tick, 0});
    CHECK(write(10) == failure{});
    CHECK(write(9) == failure{errc::bad_tick, 0});
    CHECK(write(11) == failure{});
}

TEST_CASE("demo writer: snapshots that are too large") {
    test::recorder to;
    test::bytes out(demo_writer::max_bytes);
    auto const write = [&](std::int32_t tick, test::plain_items const& items) {
        auto const full = test::layout(items);
        return error_of(to.writer().write_snapshot(tick, test::view_of(full), out));
    };
    CHECK(write(1, {{make_key(30, 0), test::ints(16380, 1)}}) == failure{});
    CHECK(write(2, {{make_key(30, 0), test::ints(16381, 1)}}) == failure{errc::too_large, 16384});
    // 1024 items are what every reader takes
    test::plain_items many;
    for (std::uint16_t i = 0; i < 1024; ++i) many.push_back({make_key(30, i), {}});
    CHECK(write(3, many) == failure{});
    many.push_back({make_key(31, 0), {}});
    CHECK(write(4, many) == failure{errc::too_many_items, 1024});
    many.resize(5000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i].key = static_cast<std::int32_t>(i);
    CHECK(write(5, many) == failure{errc::too_many_items, 1024});
    many.resize(3);
    CHECK(write(6, many) == failure{});
}

TEST_CASE("demo writer: every output size, and a failed call records nothing") {
    test::recorder to;
    test::recorder undisturbed;
    auto const check = [&](std::int32_t tick, test::plain_items const& items, std::size_t needed) {
        auto const full = test::layout(items);
        auto const expected = undisturbed.snapshot(tick, items);
        CHECK(expected.size() == needed);
        for (std::size_t size = 0; size <= needed; ++size) {
            test::guarded<std::uint8_t> out{size};
            auto const written = to.writer().write_snapshot(tick, test::view_of(full), out.span());
            CHECK(out.intact());
            CHECK(error_of(written).code == (size < needed ? errc::output_full : errc::ok));
            if (written) CHECK(test::copy_of(out.span()) == expected);
        }
    };
    check(10, test::golden_snapshot("S1"), 5 + 26);
    check(12, test::golden_snapshot("S2"), 1 + 27);
    check(14, test::golden_snapshot("S2"), 1);
    check(100, test::golden_snapshot("S2"), 5);
    check(100 + 250, test::golden_snapshot("S1"), 5 + 26);
    demo_header a;
    demo_header b;
    to.writer().finish(a);
    undisturbed.writer().finish(b);
    CHECK((a == b));
    CHECK(a.length == 6);
}

TEST_CASE("demo writer: timeline markers") {
    test::recorder to;
    auto& writer = to.writer();
    CHECK_FALSE(writer.add_marker()); // no tick yet
    std::int32_t tick = 100;
    to.snapshot(tick, flag(1));
    CHECK(writer.add_marker());
    CHECK_FALSE(writer.add_marker());
    to.snapshot(149, flag(1));
    CHECK_FALSE(writer.add_marker());
    to.snapshot(150, flag(1));
    CHECK(writer.add_marker());
    for (int i = 2; i < 64; ++i) {
        to.snapshot(tick = 1000 + i * 50, flag(1));
        CHECK(writer.add_marker());
    }
    to.snapshot(tick += 100, flag(1));
    CHECK_FALSE(writer.add_marker()); // there are 64
    to.finish();
    CHECK(to.header().markers().size() == 64);
    CHECK(to.header().markers()[0] == 100);
    CHECK(to.header().markers()[1] == 150);
    CHECK(to.header().markers()[63] == 1000 + 63 * 50);
    CHECK(to.header().length == (tick - 100) / 50);
}

TEST_CASE("demo writer: length without and with few snapshots") {
    test::recorder to;
    to.header().length = 99;
    to.finish();
    CHECK(to.header().length == 0);
    CHECK(to.header().marker_count == 0);
    to.snapshot(7, flag(1));
    to.finish();
    CHECK(to.header().length == 0);
    to.snapshot(106, flag(1));
    to.finish();
    CHECK(to.header().length == 1);
    to.snapshot(107, flag(1));
    to.finish();
    CHECK(to.header().length == 2);
}

TEST_CASE("demo writer: with the item sizes of 0.7") {
    test::plain_items const damage{{make_key(22, 0), {1, 2, 3, 4, 5, 6, 7}}};
    test::recorder to{{6, huffman_end::exact, &sizes_07}};
    to.snapshot(1, {});
    auto const agreed = to.snapshot(2, damage);
    test::recorder other{{6, huffman_end::exact, &sizes_07_recorded}};
    other.snapshot(1, {});
    auto const explicit_size = other.snapshot(2, damage);
    CHECK(agreed.size() < explicit_size.size());
}
