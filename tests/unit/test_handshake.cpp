#include "check.hpp"
#include "random.hpp"

#include "teewire/handshake.hpp"

#include <memory>

using namespace teewire;
using test::from_hex;
using test::hex;

namespace {

using verdict = server_gate::verdict;

constexpr std::array<std::uint8_t, 16> secret = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6};
constexpr std::array<std::uint8_t, 6> here = {10, 0, 0, 1, 0x20, 0x6f};
constexpr std::array<std::uint8_t, 6> there = {10, 0, 0, 1, 0x20, 0x70};
constexpr milliseconds now = 500'000;

test::bytes control(wire_format format, control_code code, std::uint32_t header_token, std::uint32_t token = 0,
                    bool ddnet = false) {
    packet_memory out;
    control_message m;
    m.code = code;
    m.token = token;
    m.ddnet = ddnet;
    return test::copy_of(write_control(m, format, {0, false, header_token}, out));
}

test::bytes data_packet(wire_format format, std::uint32_t token, std::size_t size) {
    packet_memory out;
    test::bytes const data(size, 0);
    packet_writer writer{format};
    chunk c;
    c.vital = true;
    c.sequence = 1;
    c.data = data;
    REQUIRE(writer.add(c) == failure{});
    return test::copy_of(writer.finish({0, false, token}, out));
}

} // namespace

TEST_CASE("handshake: tokens belong to an address, and hold for a while") {
    server_gate const gate{secret};
    auto const token = gate.token(here, now);
    CHECK(gate.token(here, now) == token);
    CHECK(gate.token(there, now) != token);
    CHECK(server_gate{{}}.token(here, now) != token);
    CHECK(gate.valid(token, here, now));
    CHECK(gate.valid(token, here, now + 16'000));
    CHECK_FALSE(gate.valid(token, here, now + 32'000));
    CHECK_FALSE(gate.valid(token, there, now));
    CHECK_FALSE(gate.valid(0, here, now));
    CHECK_FALSE(gate.valid(no_token, here, now));
    CHECK(gate.valid(gate.token(here, 5), here, 5)); // near the clock's origin
    CHECK(gate.valid(gate.token(here, -5), here, -5));
}

TEST_CASE("handshake: DDNet's clients prove their address before anything is kept") {
    server_gate const gate{secret};
    packet_memory out;
    auto const connect = control(wire_format::ddnet, control_code::connect, no_token, 0, true);
    auto d = gate.receive(connect, here, now, out);
    CHECK((d.what == verdict::answer));
    auto const token = gate.token(here, now);
    CHECK(hex(d.reply) == hex(control(wire_format::ddnet, control_code::connect_accept, token, 0, true)));
    CHECK(d.reply.size() == connect.size());

    auto const accept = control(wire_format::ddnet, control_code::accept, token);
    d = gate.receive(accept, here, now, out);
    CHECK((d.what == verdict::accept));
    CHECK((d.format == wire_format::ddnet));
    CHECK(d.tokens.own == token);
    CHECK(d.tokens.peer == token);
    CHECK(d.reply.empty());
    CHECK_FALSE(d.data);
    CHECK((gate.receive(accept, there, now, out).what == verdict::ignore));
    CHECK((gate.receive(accept, here, now + 40'000, out).what == verdict::ignore));

    for (std::size_t const size : {4U, 900U}) { // plain and compressed
        d = gate.receive(data_packet(wire_format::ddnet, token, size), here, now, out);
        CHECK((d.what == verdict::accept));
        CHECK(d.data);
        CHECK(d.tokens.peer == token);
        CHECK((gate.receive(data_packet(wire_format::ddnet, token + 1, size), here, now, out).what ==
               verdict::ignore));
    }
    server_gate const closed{secret, {true, true, false, true}};
    CHECK((closed.receive(connect, here, now, out).what == verdict::ignore));
    CHECK((closed.receive(accept, here, now, out).what == verdict::ignore));
}

TEST_CASE("handshake: clients of 0.6.5") {
    server_gate const gate{secret};
    packet_memory out;
    auto const connect = control(wire_format::v06_token, control_code::connect, no_token, 0x12345678);
    auto d = gate.receive(connect, here, now, out);
    CHECK((d.what == verdict::answer));
    auto const token = gate.token(here, now);
    CHECK(hex(d.reply) == hex(control(wire_format::v06_token, control_code::connect_accept, 0x12345678, token)));
    d = gate.receive(data_packet(wire_format::v06_token, token, 30), here, now, out);
    CHECK((d.what == verdict::accept));
    CHECK((d.format == wire_format::v06_token));
    CHECK(d.data);
    CHECK((gate.receive(data_packet(wire_format::v06_token, token, 30), there, now, out).what == verdict::ignore));
    server_gate const closed{secret, {true, false, true, true}};
    CHECK((closed.receive(connect, here, now, out).what == verdict::ignore));
}

TEST_CASE("handshake: clients of 0.7") {
    server_gate const gate{secret};
    packet_memory out;
    auto const ask = control(wire_format::v07, control_code::token, no_token, 0x11223344);
    auto d = gate.receive(ask, here, now, out);
    CHECK((d.what == verdict::answer));
    auto const token = gate.token(here, now);
    CHECK(hex(d.reply) == hex(control(wire_format::v07, control_code::token, 0x11223344, token)));
    auto const connect = control(wire_format::v07, control_code::connect, token, 0x11223344);
    d = gate.receive(connect, here, now, out);
    CHECK((d.what == verdict::accept));
    CHECK(d.tokens.own == token);
    CHECK(d.tokens.peer == 0x11223344);
    CHECK(hex(d.reply) == "04 00 00 11 22 33 44 02");
    CHECK((gate.receive(connect, there, now, out).what == verdict::ignore));
    // Not padded: could be used to make others answer a third.
    CHECK((gate.receive(std::span{ask}.first(518), here, now, out).what == verdict::ignore));
    CHECK((gate.receive(std::span{connect}.first(518), here, now, out).what == verdict::ignore));
    CHECK((gate.receive(data_packet(wire_format::v07, token, 30), here, now, out).what == verdict::ignore));
    server_gate const closed{secret, {true, true, true, false}};
    CHECK((closed.receive(ask, here, now, out).what == verdict::ignore));
}

TEST_CASE("handshake: plain 0.6 is refused unless asked for") {
    server_gate const gate{secret};
    server_gate const open{secret, {true, true, true, true}};
    packet_memory out;
    auto const connect = from_hex("10 00 00 01");
    auto const accept = from_hex("10 00 00 03");
    CHECK((gate.receive(connect, here, now, out).what == verdict::ignore));
    CHECK((gate.receive(accept, here, now, out).what == verdict::ignore));
    auto d = open.receive(connect, here, now, out);
    CHECK((d.what == verdict::answer));
    CHECK(hex(d.reply) == "10 00 00 02");
    d = open.receive(accept, here, now, out);
    CHECK((d.what == verdict::accept));
    CHECK((d.format == wire_format::v06));
}

TEST_CASE("handshake: connectionless packets are told") {
    server_gate const gate{secret};
    packet_memory out;
    CHECK((gate.receive(from_hex("ff ff ff ff ff ff 00"), here, now, out).what == verdict::connless));
    CHECK((gate.receive(from_hex("21 00 00 00 00 00 00 00 00"), here, now, out).what == verdict::connless));
    CHECK((gate.receive({}, here, now, out).what == verdict::ignore));
    CHECK((gate.receive(test::bytes(1401), here, now, out).what == verdict::ignore));
}

TEST_CASE("handshake: strangers' noise is never answered with more, and never accepted") {
    server_gate const gate{secret, {false, true, true, true}};
    test::random rng{21};
    packet_memory out;
    std::size_t answers = 0;
    for (int round = 0; round < 200'000; ++round) {
        test::bytes noise;
        switch (rng.below(4)) {
        case 0: noise = rng.data(rng.below(60), rng.chance(50)); break;
        case 1: noise = control(wire_format::ddnet, control_code::connect, no_token, 0, true); break;
        case 2:
            noise = control(wire_format::v07, control_code::token, rng.chance(50) ? no_token : 5,
                            static_cast<std::uint32_t>(rng.next()));
            break;
        default:
            noise = control(wire_format::v06_token, rng.chance(50) ? control_code::connect : control_code::accept,
                            static_cast<std::uint32_t>(rng.next()), 77);
            break;
        }
        for (std::size_t n = rng.below(4); n-- > 0 && !noise.empty();) {
            if (rng.chance(30)) noise.resize(rng.below(noise.size() + 1));
            else noise[rng.below(std::min<std::size_t>(noise.size(), 20))] = rng.byte();
        }
        auto const exact = std::make_unique<std::uint8_t[]>(noise.size());
        std::copy(noise.begin(), noise.end(), exact.get());
        auto const d = gate.receive({exact.get(), noise.size()}, here, now, out);
        REQUIRE(d.reply.size() <= noise.size());
        REQUIRE((d.what != verdict::accept));
        CHECK(d.reply.empty() == (d.what != verdict::answer));
        answers += d.what == verdict::answer;
    }
    CHECK(answers > 1000);
}
