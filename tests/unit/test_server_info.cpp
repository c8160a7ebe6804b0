#include "check.hpp"
#include "random.hpp"

#include "teewire/server_info.hpp"

using namespace teewire;
using test::error_of;
using test::from_hex;
using test::hex;

namespace {

constexpr server_info_kind kinds[] = {server_info_kind::v06, server_info_kind::v06_64,
                                      server_info_kind::v06_extended, server_info_kind::v07};

connless_format format_of(server_info_kind kind) {
    if (kind == server_info_kind::v07) return connless_format::v07;
    return kind == server_info_kind::v06_extended ? connless_format::v06_extended : connless_format::v06;
}

server_description example() {
    server_description s;
    s.version = "0.6.4, 16.4";
    s.name = "replay of dm1";
    s.host_name = "localhost";
    s.map = "dm1";
    s.map_crc = 0xf2159e6e;
    s.map_size = 5805;
    s.game_type = "replay";
    s.flags = 1;
    s.skill_level = 2;
    s.players = 3;
    s.max_players = 16;
    s.clients = 4;
    s.max_clients = 64;
    return s;
}

} // namespace

TEST_CASE("server info: requests as browsers send them") {
    test::bytes out(64);
    auto const written = [&](server_info_request const& r) {
        auto const size = write_server_info_request(r, 0x01020304, 0x05060708, out);
        REQUIRE(size);
        return std::span<std::uint8_t const>{out}.first(*size);
    };
    CHECK(hex(written({server_info_kind::v06, 0x2a})) == "ff ff ff ff ff ff ff ff ff ff 67 69 65 33 2a");
    CHECK(hex(written({server_info_kind::v06_64, 0x2a})) == "ff ff ff ff ff ff ff ff ff ff 66 73 74 64 2a");
    CHECK(hex(written({server_info_kind::v06_extended, 0x123456})) ==
          "78 65 12 34 00 00 ff ff ff ff 67 69 65 33 56");
    CHECK(hex(written({server_info_kind::v07, 5})) == "21 01 02 03 04 05 06 07 08 ff ff ff ff 67 69 65 33 05");
    for (auto const kind : kinds) {
        server_info_request const r{kind, kind == server_info_kind::v06_extended ? 0xabcdef : 0xee};
        auto const p = parse_connless(written(r));
        REQUIRE(p);
        auto const read = parse_server_info_request(*p);
        REQUIRE(read);
        CHECK((read->kind == kind));
        CHECK(read->token == r.token);
        for (std::size_t cut = 0; cut < p->payload.size(); ++cut) {
            auto shorter = *p;
            shorter.payload = p->payload.first(cut);
            auto const error = error_of(parse_server_info_request(shorter));
            if (cut < 8) CHECK(error == failure{errc::bad_magic, 0});
            else CHECK(error.code == errc::truncated);
        }
    }
}

TEST_CASE("server info: answers can be read again") {
    std::vector<listed_client> const clients = {{"nameless tee", "clan", -1, INT32_MAX, true},
                                                {"b", "", 276, INT32_MIN, false}};
    for (auto const kind : kinds) {
        CAPTURE(static_cast<int>(kind));
        server_info_request const request{kind, kind == server_info_kind::v07 ? 123456 : 77};
        test::bytes out(1500);
        auto const size = write_server_info(request, example(), clients, out);
        REQUIRE(size);
        connless_packet p;
        p.format = format_of(kind);
        p.payload = std::span<std::uint8_t const>{out}.first(*size);
        auto const a = parse_server_info(p);
        REQUIRE(a);
        CHECK((a->kind == kind));
        CHECK(a->token == request.token);
        auto const& s = a->server;
        auto const e = example();
        CHECK(s.version == e.version);
        CHECK(s.name == e.name);
        CHECK(s.map == e.map);
        CHECK(s.game_type == e.game_type);
        CHECK(s.flags == 1);
        CHECK(s.players == 3);
        CHECK(s.max_players == 16);
        CHECK(s.clients == 4);
        CHECK(s.max_clients == 64);
        bool const v07 = kind == server_info_kind::v07;
        bool const extended = kind == server_info_kind::v06_extended;
        CHECK(s.host_name == (v07 ? e.host_name : ""));
        CHECK(s.skill_level == (v07 ? 2 : 0));
        CHECK(s.map_crc == (extended ? e.map_crc : 0));
        CHECK(s.map_size == (extended ? 5805 : 0));

        // If not all fit, clients are left out one by one.
        std::size_t const bare = *write_server_info(request, example(), {}, out);
        for (std::size_t room = 0; room <= *size; ++room) {
            test::guarded<std::uint8_t> memory{room};
            auto const fitted = write_server_info(request, example(), clients, memory.span());
            CHECK(memory.intact());
            CHECK(fitted.has_value() == (room >= bare));
            if (fitted) CHECK(*fitted <= room);
        }
        for (std::size_t cut = 0; cut < bare; ++cut) {
            p.payload = std::span<std::uint8_t const>{out}.first(cut);
            // The last byte of these is not read.
            bool const enough = (kind == server_info_kind::v06_64 || extended) && cut + 1 == bare;
            CHECK(parse_server_info(p).has_value() == enough);
        }
    }
}

TEST_CASE("server info: the original form in bytes") {
    server_description s;
    s.version = "v";
    s.name = "n";
    s.map = "m";
    s.game_type = "g";
    s.max_clients = 16;
    test::bytes out(200);
    auto const size = write_server_info({server_info_kind::v06, 42}, s, {}, out);
    REQUIRE(size);
    CHECK(hex(std::span{out}.first(*size)) ==
          "ff ff ff ff 69 6e 66 33 34 32 00 76 00 6e 00 6d 00 67 00 30 00 30 00 30 "
          "00 30 00 31 36 00");
}

TEST_CASE("server info: a full list stays within a packet") {
    std::vector<listed_client> const clients(128, {"a name of sixteen", "a long clan", 900, 123456, true});
    for (auto const kind : kinds) {
        test::bytes out(4000);
        auto const size = write_server_info({kind, 255}, example(), clients, out);
        REQUIRE(size);
        connless_packet p;
        p.format = format_of(kind);
        p.payload = std::span<std::uint8_t const>{out}.first(*size);
        test::bytes datagram(2000);
        CHECK(write_connless(p, datagram));
        CHECK(*size > 700);
    }
}

TEST_CASE("server info: what is none") {
    connless_packet p;
    test::bytes noise =
        from_hex("ff ff ff ff 69 6e 66 33 78 00 76 00 6e 00 6d 00 67 00 30 00 30 00 30 00 30 00 30 00");
    p.payload = noise;
    CHECK(error_of(parse_server_info(p)) == failure{errc::bad_count, 8}); // the token is not a number
    noise[4] = 'x';
    CHECK(error_of(parse_server_info(p)) == failure{errc::bad_magic, 0});
    CHECK(error_of(parse_server_info_request(p)) == failure{errc::bad_magic, 0});
    test::random rng{5};
    for (int round = 0; round < 20000; ++round) {
        test::bytes out(300);
        auto const kind = kinds[rng.below(4)];
        auto const size = write_server_info({kind, 7}, example(), {}, out);
        REQUIRE(size);
        out.resize(*size);
        for (std::size_t n = 1 + rng.below(4); n-- > 0;) out[8 + rng.below(out.size() - 8)] = rng.byte();
        p.format = format_of(kind);
        p.payload = out;
        auto const a = parse_server_info(p);
        if (!a) CHECK(a.error().position <= out.size());
    }
}
