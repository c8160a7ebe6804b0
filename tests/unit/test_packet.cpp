#include "check.hpp"
#include "random.hpp"

#include "teewire/packet.hpp"

#include <memory>

using namespace teewire;
using test::error_of;
using test::from_hex;
using test::hex;

namespace {

constexpr wire_format formats[] = {wire_format::v06, wire_format::v06_token, wire_format::ddnet, wire_format::v07};

test::bytes padded(std::string_view start, std::size_t size) {
    auto bytes = from_hex(start);
    bytes.resize(size);
    return bytes;
}

std::vector<chunk> chunks_of(std::span<std::uint8_t const> payload, std::size_t count, wire_format format) {
    std::vector<chunk> all;
    chunk_reader reader{payload, count, format};
    for (chunk c; reader.next(c);) all.push_back(c);
    return all;
}

} // namespace

// ---- recorded packets: doc/format/packet.md#compression, doc/format/packet.md#chunks ---------------------------------

TEST_CASE("packet: a compressed packet of DDNet's") {
    auto const datagram = from_hex(
        "80 04 01 42 ef 8e 83 42 f4 2c e9 92 ab 25 b2 46 0c 00 4d 64 f6 28 03 eb 9f fd 3f 0f ba 04 65 1c ab "
        "b8 01");
    auto const p = parse_packet(datagram, wire_format::ddnet);
    REQUIRE(p);
    CHECK(p->compressed);
    CHECK_FALSE(p->control);
    CHECK_FALSE(p->resend);
    CHECK_FALSE(p->has_token);
    CHECK(p->ack == 4);
    CHECK(p->chunks == 1);
    CHECK(p->header == 3);
    payload_memory memory;
    auto const payload = decode_payload(*p, memory);
    REQUIRE(payload);
    chunk_reader reader{*payload, p->chunks, wire_format::ddnet};
    chunk c;
    REQUIRE(reader.next(c));
    CHECK_FALSE(c.vital);
    CHECK(c.data.size() == 42);
    CHECK(hex(c.data.first(11)) == "0f ba b6 01 04 a6 d3 87 2a 20 01");
    CHECK_FALSE(reader.next(c));
    CHECK(reader.error() == failure{});
    CHECK(hex(reader.rest()) == "46 d3 cb e0");

    packet_writer writer{wire_format::ddnet};
    CHECK(writer.add(c) == failure{});
    packet_memory out;
    CHECK(hex(writer.finish({4, false, 0x46d3cbe0}, out)) == hex(datagram));
}

TEST_CASE("packet: a plain packet of DDNet's") {
    auto const datagram = from_hex("00 04 02 00 05 13 85 b7 01 3b 00 05 0d 84 b7 01 02 46 d3 cb e0");
    auto const p = parse_packet(datagram, wire_format::ddnet);
    REQUIRE(p);
    CHECK_FALSE(p->compressed);
    payload_memory memory;
    auto const payload = decode_payload(*p, memory);
    REQUIRE(payload);
    CHECK(payload->data() == datagram.data() + 3); // nothing was copied
    auto const all = chunks_of(*payload, p->chunks, wire_format::ddnet);
    REQUIRE(all.size() == 2);
    CHECK(hex(all[0].data) == "13 85 b7 01 3b");
    CHECK(hex(all[1].data) == "0d 84 b7 01 02");
}

TEST_CASE("packet: packets of 0.7") {
    auto const datagram = from_hex("00 05 02 11 22 33 44 00 05 15 9d 94 02 3a 00 05 0f 9d 94 02 03");
    auto const p = parse_packet(datagram, wire_format::v07);
    REQUIRE(p);
    CHECK(p->has_token);
    CHECK(p->token == 0x11223344);
    CHECK(p->ack == 5);
    CHECK(p->header == 7);
    auto const all = chunks_of(p->payload, p->chunks, wire_format::v07);
    REQUIRE(all.size() == 2);
    CHECK(hex(all[1].data) == "0f 9d 94 02 03");

    auto const vital = from_hex("40 02 07 02 00 40 07 08 22 01 00 01 00 01 08 40 01 09 0b");
    auto const three = chunks_of(vital, 3, wire_format::v07);
    REQUIRE(three.size() == 3);
    CHECK(three[0].sequence == 7);
    CHECK(three[2].sequence == 9);
    CHECK(hex(three[2].data) == "0b");

    auto const info =
        from_hex("00 00 01 d2 17 50 c6 40 19 01 03 30 2e 37 20 38 30 32 66 31 62 65 36 30 61 30 35 36 36 "
                 "35 66 00 00 85 1c");
    auto const q = parse_packet(info, wire_format::v07);
    REQUIRE(q);
    auto const one = chunks_of(q->payload, q->chunks, wire_format::v07);
    REQUIRE(one.size() == 1);
    CHECK(one[0].data.size() == 25);
}

TEST_CASE("packet: a packet of 0.6.5") {
    auto const datagram = from_hex("08 01 01 4e f7 ff 5d 40 0c 01 05 64 6d 31 00 01 02 03 04 05 06 07");
    auto const p = parse_packet(datagram, wire_format::v06_token);
    REQUIRE(p);
    CHECK(p->has_token);
    CHECK(p->token == 0x4ef7ff5d);
    auto const all = chunks_of(p->payload, p->chunks, wire_format::v06_token);
    REQUIRE(all.size() == 1);
    CHECK(all[0].vital);
    CHECK(all[0].sequence == 1);
    CHECK(all[0].data.size() == 12);
    CHECK(error_of(parse_packet(datagram, wire_format::ddnet)) == failure{errc::bad_flags, 0});
}

// ---- headers -------------------------------------------------------------------------------------------------------

TEST_CASE("packet: header bits of both families") {
    auto const p = parse_packet(from_hex("43 ff 00"), wire_format::v06);
    REQUIRE(p);
    CHECK(p->resend);
    CHECK(p->ack == 1023);
    auto const q = parse_packet(from_hex("0b ff 00 00 00 00 01"), wire_format::v07);
    REQUIRE(q);
    CHECK(q->resend);
    CHECK(q->ack == 1023);
    CHECK(q->token == 1);
    CHECK(error_of(parse_packet({}, wire_format::v06)) == failure{errc::truncated, 0});
    CHECK(error_of(parse_packet(from_hex("00 00"), wire_format::v06)) == failure{errc::truncated, 2});
    CHECK(error_of(parse_packet(from_hex("08 00 01 00"), wire_format::v06)) == failure{errc::truncated, 4});
    CHECK(error_of(parse_packet(from_hex("00 00 01 00 00 00"), wire_format::v07)) == failure{errc::truncated, 6});
    CHECK(error_of(parse_packet(test::bytes(1401), wire_format::v06)) == failure{errc::too_large, 1400});
    CHECK(error_of(parse_packet(from_hex("20 00 01 00"), wire_format::v06)) == failure{errc::bad_flags, 0});
}

TEST_CASE("packet: strict decoding refuses what DDNet refuses, lenient leaves a note") {
    struct {
        wire_format format;
        char const* bytes;
    } const odd[] = {
        {wire_format::v06, "04 00 01 00"},              // unused flag
        {wire_format::v06, "00 00 00"},                 // no chunks, no request
        {wire_format::v06, "10 00 01 00"},              // control with chunks
        {wire_format::v06, "10 00 00"},                 // control without payload
        {wire_format::v06, "90 00 00 00"},              // compressed control
        {wire_format::v07, "40 00 01 00 00 00 00 00"},  // unknown flag
        {wire_format::v07, "04 00 01 00 00 00 00 00"},  // control with chunks
        {wire_format::v07, "14 00 00 00 00 00 00 00"},  // compressed control
        {wire_format::ddnet, "08 00 01 00 00 00 00 00"} // 0.6.5's token
    };
    for (auto const& o : odd) {
        CAPTURE(o.bytes);
        auto const bytes = from_hex(o.bytes);
        CHECK(error_of(parse_packet(bytes, o.format)) == failure{errc::bad_flags, 0});
        note_log notes;
        CHECK(parse_packet(bytes, o.format, decoding::lenient, &notes));
        CHECK(notes[note::packet_flags].count == 1);
    }
    CHECK(parse_packet(from_hex("40 00 00"), wire_format::v06)); // asks for a resend and nothing else
}

// ---- chunks --------------------------------------------------------------------------------------------------------

TEST_CASE("packet: chunk headers of 0.6") {
    struct {
        char const* head;
        bool vital;
        std::uint16_t sequence;
        std::size_t size;
    } const known[] = {{"40 0c 01", true, 1, 12}, {"02 0a", false, 0, 42}, {"78 0a 02", true, 2, 906}};
    for (auto const& k : known) {
        auto bytes = from_hex(k.head);
        std::size_t const head = bytes.size();
        bytes.resize(head + k.size);
        auto const all = chunks_of(bytes, 1, wire_format::v06);
        REQUIRE(all.size() == 1);
        CHECK(all[0].vital == k.vital);
        CHECK(all[0].sequence == k.sequence);
        CHECK(all[0].data.size() == k.size);

        packet_writer writer{wire_format::v06};
        CHECK(writer.add(all[0]) == failure{});
        CHECK(writer.size() == bytes.size());
    }
}

TEST_CASE("packet: every size and sequence number survives") {
    packet_memory out;
    payload_memory memory;
    test::random rng{1};
    for (wire_format const format : formats) {
        for (std::size_t size = 0; size <= max_chunk_bytes(format) + 1; ++size) {
            auto const data = rng.data(size, size % 2 == 0);
            chunk c;
            c.vital = size % 3 != 0;
            c.resend = size % 5 == 0;
            c.sequence = c.vital ? static_cast<std::uint16_t>(size % 1024) : std::uint16_t{0};
            c.data = data;
            packet_writer writer{format};
            auto const error = writer.add(c);
            if (size > max_chunk_bytes(format)) {
                CHECK(error == failure{errc::too_large, 0});
                continue;
            }
            REQUIRE(error == failure{});
            auto const datagram =
                writer.finish({static_cast<std::uint16_t>(size % 1024), size % 7 == 0, 0x01020304}, out,
                              size % 2 == 0 ? huffman_end::exact : huffman_end::padded);
            REQUIRE(datagram.size() <= max_packet_bytes);
            auto const p = parse_packet(datagram, format);
            REQUIRE(p);
            CHECK(p->ack == size % 1024);
            CHECK(p->resend == (size % 7 == 0));
            CHECK(p->has_token == (format == wire_format::v06_token || format == wire_format::v07));
            if (p->has_token) CHECK(p->token == 0x01020304);
            auto const payload = decode_payload(*p, memory);
            REQUIRE(payload);
            auto const all = chunks_of(*payload, p->chunks, format);
            REQUIRE(all.size() == 1);
            CHECK(all[0].vital == c.vital);
            CHECK(all[0].resend == c.resend);
            CHECK(all[0].sequence == c.sequence);
            CHECK(std::equal(all[0].data.begin(), all[0].data.end(), data.begin(), data.end()));
        }
    }
}

TEST_CASE("packet: a writer takes what every receiver has room for") {
    test::random rng{2};
    packet_memory out;
    payload_memory memory;
    for (wire_format const format : formats) {
        for (int round = 0; round < 300; ++round) {
            packet_writer writer{format};
            std::vector<test::bytes> written;
            bool const noise = round % 2 == 0;
            std::size_t const most = round % 3 == 0 ? 4 : 300;
            for (;;) {
                auto data = rng.data(rng.below(most), !noise);
                chunk c;
                c.data = data;
                bool const fits = writer.fits(data.size());
                auto const error = writer.add(c);
                CHECK(fits == (error.code == errc::ok));
                if (!fits) {
                    CHECK(error.code == errc::output_full);
                    CHECK(error.position == writer.size());
                    break;
                }
                written.push_back(std::move(data));
            }
            CHECK(writer.chunks() == written.size());
            CHECK(writer.chunks() <= max_packet_chunks);
            auto const datagram = writer.finish({0, false, 7}, out);
            CHECK(datagram.size() <= 7 + max_payload_bytes);
            auto const p = parse_packet(datagram, format);
            REQUIRE(p);
            auto const payload = decode_payload(*p, memory);
            REQUIRE(payload);
            CHECK(payload->size() <= max_payload_bytes);
            auto const all = chunks_of(*payload, p->chunks, format);
            REQUIRE(all.size() == written.size());
            for (std::size_t i = 0; i < all.size(); ++i) CHECK(hex(all[i].data) == hex(written[i]));
        }
    }
}

TEST_CASE("packet: chunks that are cut end the packet and keep those before") {
    auto const whole = from_hex("40 02 01 aa bb 00 01 cc 40 03 02 dd ee ff");
    chunk c;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        chunk_reader reader{std::span{whole}.first(size), 3, wire_format::v06};
        std::size_t count = 0;
        while (reader.next(c)) ++count;
        std::size_t const complete = size < 5 ? 0 : size < 8 ? 1 : 2;
        CHECK(count == complete);
        CHECK(reader.error() == failure{errc::truncated, complete == 0 ? 0U : complete == 1 ? 5U : 8U});
        CHECK_FALSE(reader.next(c));
    }
    chunk_reader fewer{whole, 2, wire_format::v06};
    CHECK(fewer.next(c));
    CHECK(fewer.next(c));
    CHECK_FALSE(fewer.next(c));
    CHECK(fewer.error() == failure{});
    CHECK(hex(fewer.rest()) == "40 03 02 dd ee ff");
}

// ---- control messages ----------------------------------------------------------------------------------------------

TEST_CASE("packet: the handshakes, as they were recorded") {
    packet_memory out;
    control_message m;
    auto const read = [](std::span<std::uint8_t const> datagram, wire_format format) {
        auto const p = parse_packet(datagram, format);
        REQUIRE(p);
        REQUIRE(p->control);
        auto const parsed = parse_control(p->payload, format);
        REQUIRE(parsed);
        return *parsed;
    };

    SUBCASE("DDNet") {
        m.code = control_code::connect;
        m.ddnet = true;
        auto datagram = write_control(m, wire_format::ddnet, {}, out);
        CHECK(hex(datagram) == "10 00 00 01 54 4b 45 4e ff ff ff ff");
        // A server does not know yet what it will be.
        for (wire_format const format : {wire_format::v06, wire_format::ddnet, wire_format::v06_token}) {
            auto const parsed = read(datagram, format);
            CHECK((parsed.code == control_code::connect));
            CHECK(parsed.ddnet);
            CHECK(parsed.token == no_token);
        }
        m.code = control_code::connect_accept;
        datagram = write_control(m, wire_format::ddnet, {0, false, 0x46d3cbe0}, out);
        CHECK(hex(datagram) == "10 00 00 02 54 4b 45 4e 46 d3 cb e0");
        auto parsed = read(datagram, wire_format::ddnet);
        CHECK(parsed.ddnet);
        CHECK(parsed.token == 0x46d3cbe0);
        m.code = control_code::accept;
        datagram = write_control(m, wire_format::ddnet, {0, false, 0x46d3cbe0}, out);
        CHECK(hex(datagram) == "10 00 00 03 46 d3 cb e0");
        parsed = read(datagram, wire_format::ddnet);
        CHECK((parsed.code == control_code::accept));
        CHECK(parsed.has_token);
        CHECK(parsed.token == 0x46d3cbe0);
        CHECK_FALSE(read(datagram, wire_format::v06).has_token);
        m.code = control_code::close;
        m.reason = "bye";
        datagram = write_control(m, wire_format::ddnet, {5, false, 0x46d3cbe0}, out);
        CHECK(hex(datagram) == "10 05 00 04 62 79 65 00 46 d3 cb e0");
        parsed = read(datagram, wire_format::ddnet);
        CHECK(parsed.reason == "bye");
        CHECK(parsed.token == 0x46d3cbe0);
        m.code = control_code::keep_alive;
        m.reason = {};
        CHECK(hex(write_control(m, wire_format::ddnet, {5, false, 1}, out)) == "10 05 00 00 00 00 00 01");
    }
    SUBCASE("0.6") {
        m.code = control_code::connect;
        CHECK(hex(write_control(m, wire_format::v06, {}, out)) == "10 00 00 01");
        m.code = control_code::connect_accept;
        CHECK(hex(write_control(m, wire_format::v06, {}, out)) == "10 00 00 02");
        m.code = control_code::accept;
        auto const datagram = write_control(m, wire_format::v06, {}, out);
        CHECK(hex(datagram) == "10 00 00 03");
        CHECK_FALSE(read(datagram, wire_format::v06).has_token);
        m.code = control_code::close;
        CHECK(hex(write_control(m, wire_format::v06, {}, out)) == "10 00 00 04");
    }
    SUBCASE("0.6.5") {
        m.code = control_code::connect;
        m.token = 0x12345678;
        auto datagram = write_control(m, wire_format::v06_token, {}, out);
        CHECK(hex(datagram) == hex(padded("10 00 00 01 00 00 00 00 12 34 56 78", 516)));
        auto parsed = read(datagram, wire_format::v06);
        CHECK_FALSE(parsed.ddnet);
        CHECK(parsed.has_token);
        CHECK(parsed.token == 0x12345678);
        m.code = control_code::connect_accept;
        m.token = 0x4ef7ff5d;
        datagram = write_control(m, wire_format::v06_token, {0, false, 0x12345678}, out);
        CHECK(hex(datagram) == "18 00 00 12 34 56 78 02 4e f7 ff 5d");
        parsed = read(datagram, wire_format::v06_token);
        CHECK(parsed.token == 0x4ef7ff5d);
    }
    SUBCASE("0.7") {
        m.code = control_code::token;
        m.token = 0x11223344;
        auto datagram = write_control(m, wire_format::v07, {}, out);
        CHECK(hex(datagram) == hex(padded("04 00 00 ff ff ff ff 05 11 22 33 44", 520)));
        CHECK(read(datagram, wire_format::v07).token == 0x11223344);
        m.token = 0xd21750c6;
        datagram = write_control(m, wire_format::v07, {0, false, 0x11223344}, out);
        CHECK(hex(datagram) == "04 00 00 11 22 33 44 05 d2 17 50 c6");
        m.code = control_code::connect;
        m.token = 0x11223344;
        datagram = write_control(m, wire_format::v07, {0, false, 0xd21750c6}, out);
        CHECK(hex(datagram) == hex(padded("04 00 00 d2 17 50 c6 01 11 22 33 44", 520)));
        CHECK((read(datagram, wire_format::v07).code == control_code::connect));
        m.code = control_code::connect_accept;
        datagram = write_control(m, wire_format::v07, {0, false, 0x11223344}, out);
        CHECK(hex(datagram) == "04 00 00 11 22 33 44 02");
        CHECK_FALSE(read(datagram, wire_format::v07).has_token);
        m.code = control_code::close;
        m.reason = "full";
        datagram = write_control(m, wire_format::v07, {0, false, 0x11223344}, out);
        CHECK(hex(datagram) == "04 00 00 11 22 33 44 04 66 75 6c 6c 00");
        CHECK(read(datagram, wire_format::v07).reason == "full");
    }
}

TEST_CASE("packet: control messages that are none") {
    for (wire_format const format : formats) {
        CHECK(error_of(parse_control({}, format)) == failure{errc::truncated, 0});
        CHECK(error_of(parse_control(from_hex("06"), format)) == failure{errc::bad_type, 0});
        auto const unused = format == wire_format::v07 ? from_hex("03") : from_hex("05");
        CHECK(error_of(parse_control(unused, format)) == failure{errc::bad_type, 0});
    }
    CHECK(error_of(parse_control(from_hex("05 11 22 33"), wire_format::v07)) == failure{errc::truncated, 4});
    CHECK(error_of(parse_control(from_hex("01"), wire_format::v07)) == failure{errc::truncated, 1});
    // TKEN without a token is not an offer, as for DDNet.
    auto const m = parse_control(from_hex("01 54 4b 45 4e"), wire_format::ddnet);
    REQUIRE(m);
    CHECK_FALSE(m->ddnet);
    // A reason without terminator ends with the packet.
    auto const cut = from_hex("04 61 62");
    auto const close = parse_control(cut, wire_format::v06);
    REQUIRE(close);
    CHECK(close->reason == "ab");
    CHECK(name(control_code::connect_accept) == "connect_accept");
    CHECK(name(static_cast<control_code>(9)).empty());
    CHECK(name(wire_format::ddnet) == "ddnet");
}

// ---- connectionless ------------------------------------------------------------------------------------------------

TEST_CASE("packet: connectionless packets") {
    test::bytes const payload = from_hex("ff ff ff ff 67 69 65 33 2a");
    connless_packet p;
    p.payload = payload;
    test::bytes out(64);
    auto size = write_connless(p, out);
    REQUIRE(size);
    CHECK(hex(std::span{out}.first(*size)) == "ff ff ff ff ff ff ff ff ff ff 67 69 65 33 2a");
    auto parsed = parse_connless(std::span{out}.first(*size));
    REQUIRE(parsed);
    CHECK((parsed->format == connless_format::v06));
    CHECK(hex(parsed->payload) == hex(payload));

    p.format = connless_format::v06_extended;
    p.extra = {1, 2, 3, 4};
    size = write_connless(p, out);
    REQUIRE(size);
    CHECK(hex(std::span{out}.first(*size)) == "78 65 01 02 03 04 ff ff ff ff 67 69 65 33 2a");
    parsed = parse_connless(std::span{out}.first(*size));
    REQUIRE(parsed);
    CHECK((parsed->format == connless_format::v06_extended));
    CHECK(parsed->extra == p.extra);

    p.format = connless_format::v07;
    p.token = 0x01020304;
    p.response_token = 0x05060708;
    size = write_connless(p, out);
    REQUIRE(size);
    CHECK(hex(std::span{out}.first(*size)) == "21 01 02 03 04 05 06 07 08 ff ff ff ff 67 69 65 33 2a");
    parsed = parse_connless(std::span{out}.first(*size));
    REQUIRE(parsed);
    CHECK((parsed->format == connless_format::v07));
    CHECK(parsed->token == 0x01020304);
    CHECK(parsed->response_token == 0x05060708);

    test::check_output_sizes<std::uint8_t>(*size,
                                           [&](std::span<std::uint8_t> to) { return write_connless(p, to); });
    CHECK(error_of(parse_connless({})) == failure{errc::truncated, 0});
    CHECK(error_of(parse_connless(from_hex("00 00 01 00"))) == failure{errc::bad_flags, 0});
    CHECK(error_of(parse_connless(from_hex("22 00 01 00"))) == failure{errc::bad_version, 0});
    CHECK(error_of(parse_connless(from_hex("21 00 01 00"))) == failure{errc::truncated, 4});
    CHECK(error_of(parse_connless(from_hex("ff ff ff ff ff"))) == failure{errc::truncated, 5});
    note_log notes;
    CHECK(parse_connless(from_hex("60 00 00 00 00 00"), &notes));
    CHECK(notes[note::packet_flags].count == 1);
    test::bytes const large(1392);
    p.payload = large;
    CHECK(error_of(write_connless(p, out)) == failure{errc::too_large, 0});
}

// ---- recognising ---------------------------------------------------------------------------------------------------

TEST_CASE("packet: what a single datagram tells") {
    struct {
        char const* bytes;
        packet_guess guess;
    } const known[] = {
        {"10 00 00", packet_guess::undecided},
        {"10 00 00 01 54 4b 45 4e ff ff ff ff", packet_guess::v06},
        {"18 00 00 12 34 56 78 02 4e f7 ff 5d", packet_guess::v06},
        {"80 04 01 42 ef 8e", packet_guess::v06},
        {"00 04 02 00 05 13 85 b7 01 3b 00 05 0d 84 b7 01 02 46 d3 cb e0", packet_guess::v06},
        {"00 05 02 11 22 33 44 00 05 15 9d 94 02 3a 00 05 0f 9d 94 02 03", packet_guess::v07},
        {"04 00 00 ff ff ff ff 05 11 22 33 44", packet_guess::v07},
        {"04 00 00 ff ff ff ff 03", packet_guess::foreign},
        {"04 00 01 ff ff ff ff 05", packet_guess::foreign},
        {"10 03 03 11 22 33 44 4a c2 4d", packet_guess::v07},
        {"10 03 00 09", packet_guess::foreign},
        {"08 01 01 4e f7 ff 5d 40 0c 01 05", packet_guess::undecided},
        {"ff ff ff ff ff ff 00", packet_guess::connless_06},
        {"78 65 00 00 00 00", packet_guess::connless_06},
        {"21 00 00 00 00 00 00 00 00", packet_guess::connless_07},
        {"20 00 00 00 00", packet_guess::foreign},
        {"00 00 05 00 00 00 00", packet_guess::undecided},
    };
    for (auto const& k : known) {
        CAPTURE(k.bytes);
        CHECK(static_cast<int>(guess_packet(from_hex(k.bytes))) == static_cast<int>(k.guess));
    }
    CHECK((guess_packet(test::bytes(1401)) == packet_guess::foreign));
}

// ---- damage --------------------------------------------------------------------------------------------------------

TEST_CASE("packet: mutations of good packets never do harm") {
    test::random rng{3};
    packet_memory out;
    payload_memory memory;
    std::size_t good = 0;
    for (int round = 0; round < 20000; ++round) {
        wire_format const format = formats[rng.below(4)];
        test::bytes datagram;
        if (round % 4 == 0) {
            control_message m;
            m.code = static_cast<control_code>(rng.below(6));
            m.ddnet = rng.chance(50);
            m.reason = "reason";
            datagram =
                test::copy_of(write_control(m, format, {0, false, static_cast<std::uint32_t>(rng.next())}, out));
        } else {
            packet_writer writer{format};
            for (std::size_t n = rng.below(8); n-- > 0;) {
                auto const data = rng.data(rng.below(200), rng.chance(70));
                chunk c;
                c.vital = rng.chance(50);
                c.sequence = c.vital ? static_cast<std::uint16_t>(rng.below(1024)) : std::uint16_t{0};
                c.data = data;
                REQUIRE(writer.add(c) == failure{});
            }
            datagram = test::copy_of(writer.finish({0, rng.chance(30), 5}, out));
        }
        for (std::size_t changes = rng.below(4); changes-- > 0 && !datagram.empty();) {
            if (rng.chance(30)) datagram.resize(rng.below(datagram.size() + 1));
            else datagram[rng.below(datagram.size())] ^= static_cast<std::uint8_t>(1U << rng.below(8));
        }
        // A copy of its exact size, so that a sanitizer sees every step beyond it.
        auto const exact = std::make_unique<std::uint8_t[]>(datagram.size());
        std::copy(datagram.begin(), datagram.end(), exact.get());
        std::span<std::uint8_t const> const input{exact.get(), datagram.size()};
        static_cast<void>(guess_packet(input));
        static_cast<void>(parse_connless(input));
        for (wire_format const as : formats) {
            auto const p = parse_packet(input, as, rng.chance(50) ? decoding::strict : decoding::lenient);
            if (!p) {
                CHECK(p.error().position <= input.size());
                continue;
            }
            static_cast<void>(parse_control(p->payload, as));
            auto const payload = decode_payload(*p, memory);
            if (!payload) continue;
            chunk_reader reader{*payload, p->chunks, as};
            for (chunk c; reader.next(c);) CHECK(c.data.size() <= payload->size());
            CHECK(reader.position() <= payload->size());
            ++good;
        }
    }
    CHECK(good > 10000);
}
