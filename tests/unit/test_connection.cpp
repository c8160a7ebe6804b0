#include "check.hpp"
#include "lossy_link.hpp"
#include "random.hpp"

#include "teewire/connection.hpp"
#include "teewire/handshake.hpp"

#include <memory>
#include <optional>

using namespace teewire;
using test::hex;

namespace {

constexpr wire_format formats[] = {wire_format::v06, wire_format::v06_token, wire_format::ddnet, wire_format::v07};
constexpr std::array<std::uint8_t, 16> secret = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr std::array<std::uint8_t, 6> address = {127, 0, 0, 1, 0x20, 0x6f};
constexpr server_gate::options everything{true, true, true, true};

test::bytes number_message(std::uint32_t n, std::size_t size) {
    test::bytes data(std::max<std::size_t>(size, 4));
    for (std::size_t i = 0; i < 4; ++i) data[i] = static_cast<std::uint8_t>(n >> (8 * i));
    for (std::size_t i = 4; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(n * 31 + i);
    return data;
}
std::uint32_t number_of(std::span<std::uint8_t const> data) {
    return static_cast<std::uint32_t>(data[0] | data[1] << 8 | data[2] << 16 | data[3] << 24);
}

/// One end with everything around it, and a check of what arrives.
struct end {
    std::unique_ptr<connection_memory<>> memory = std::make_unique<connection_memory<>>();
    std::optional<connection> c;
    packet_memory out;
    payload_memory payload;

    std::uint32_t sent = 0;         // vital numbers
    std::uint32_t expected = 0;     // the next vital number of the peer
    std::size_t other_received = 0; // not vital
    std::size_t restarts = 0;

    void receive(std::span<std::uint8_t const> datagram, milliseconds now) {
        auto const r = c->receive(datagram, now, payload);
        if (r.kind == received_kind::restart) ++restarts;
        if (r.kind != received_kind::chunks) return;
        for (chunk in; c->next_chunk(in);) {
            REQUIRE(in.data.size() >= 4);
            auto const number = number_of(in.data);
            REQUIRE(hex(in.data) == hex(number_message(number, in.data.size())));
            if (!in.vital) {
                ++other_received;
                continue;
            }
            REQUIRE(number == expected);
            ++expected;
        }
    }
    void send_all(test::lossy_link& to, milliseconds now) {
        for (auto d = c->poll(now, out); !d.empty(); d = c->poll(now, out)) to.send(d, now);
    }
};

struct session {
    end client, server;
    test::lossy_link up, down;
    server_gate gate{secret, everything};
    milliseconds now = 1'000'000;
    packet_memory answer;

    session(wire_format format, std::uint64_t seed, test::link_quality quality)
        : up{seed, quality}, down{seed + 1, quality} {
        client.c = connection::client(format, 0xabcdef01, *client.memory, now);
    }

    void step(milliseconds by = 10) {
        now += by;
        for (auto const& d : up.arrived(now)) {
            if (server.c) {
                server.receive(d, now);
                continue;
            }
            auto const decision = gate.receive(d, address, now, answer);
            CHECK(decision.reply.size() <= d.size());
            down.send(decision.reply, now);
            if (decision.what != server_gate::verdict::accept) continue;
            server.c = connection::server(decision.format, decision.tokens, *server.memory, now);
            if (decision.data) server.receive(d, now);
        }
        for (auto const& d : down.arrived(now)) client.receive(d, now);
        client.send_all(up, now);
        if (server.c) server.send_all(down, now);
    }
    bool online() { return server.c && client.c->state() == connection_state::online; }
    void connect() {
        for (int i = 0; i < 1000 && !online(); ++i) {
            step();
            // Servers of 0.6.5 know a client by its first message.
            bool const silent = !server.c && client.c->state() == connection_state::online;
            if (!silent || client.c->format() != wire_format::v06_token) continue;
            static_cast<void>(client.c->queue(number_message(0, 4), false, now));
            client.c->flush();
        }
        REQUIRE(online());
    }
};

} // namespace

TEST_CASE("connection: every format connects, and closes with a reason") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        session s{format, 1, {}};
        milliseconds const begin = s.now;
        s.connect();
        CHECK(s.now - begin <= 100);
        CHECK((s.client.c->format() == format));
        CHECK((s.server.c->format() == format));
        CHECK(s.client.c->tokens().own == s.server.c->tokens().peer);
        CHECK(s.client.c->tokens().peer == s.server.c->tokens().own);

        REQUIRE(s.client.c->queue(number_message(0, 8), true, s.now) == failure{});
        s.client.c->flush();
        for (int i = 0; i < 4; ++i) s.step();
        CHECK(s.server.expected == 1);
        CHECK(s.client.c->unacknowledged() == 1); // nothing has come back yet
        REQUIRE(s.server.c->queue(number_message(0, 8), true, s.now) == failure{});
        s.server.c->flush();
        for (int i = 0; i < 4; ++i) s.step();
        CHECK(s.client.expected == 1);
        CHECK(s.client.c->unacknowledged() == 0);

        s.server.c->close("see you");
        CHECK((s.server.c->cause() == close_cause::local));
        for (int i = 0; i < 4; ++i) s.step();
        CHECK((s.client.c->state() == connection_state::closed));
        CHECK((s.client.c->cause() == close_cause::peer));
        CHECK(s.client.c->reason() == "see you");
        CHECK(s.client.c->queue(number_message(0, 8), true, s.now) == failure{errc::closed, 0});
    }
}

TEST_CASE("connection: DDNet's offer becomes plain 0.6 with a server that knows no tokens") {
    end client;
    client.c = connection::client(wire_format::ddnet, 1, *client.memory, 0);
    CHECK(hex(client.c->poll(0, client.out)) == "10 00 00 01 54 4b 45 4e ff ff ff ff");
    CHECK(client.c->poll(10, client.out).empty());
    CHECK(client.c->next_poll() == 500);
    CHECK_FALSE(client.c->poll(500, client.out).empty()); // repeated
    auto const accept = test::from_hex("10 00 00 02");
    CHECK((client.c->receive(accept, 510, client.payload).kind == received_kind::online));
    CHECK((client.c->format() == wire_format::v06));
    CHECK(hex(client.c->poll(510, client.out)) == "10 00 00 03");
}

TEST_CASE("connection: a handshake without answer ends") {
    for (wire_format const format : formats) {
        end client;
        client.c = connection::client(format, 7, *client.memory, 0);
        std::size_t tries = 0;
        milliseconds now = 0;
        while (client.c->state() != connection_state::closed) {
            REQUIRE(client.c->next_poll() >= now);
            now = client.c->next_poll();
            tries += !client.c->poll(now, client.out).empty();
            REQUIRE(now <= 10'000);
        }
        CHECK(now == 10'000);
        CHECK(tries == 20);
        CHECK((client.c->cause() == close_cause::no_answer));
        CHECK(client.c->poll(now, client.out).empty());
    }
}

TEST_CASE("connection: a server that refuses is understood") {
    end client;
    client.c = connection::client(wire_format::ddnet, 7, *client.memory, 0);
    static_cast<void>(client.c->poll(0, client.out));
    auto const refusal = test::from_hex("10 00 00 04 66 75 6c 6c 00 00 00 00 00");
    CHECK((client.c->receive(refusal, 5, client.payload).kind == received_kind::closed));
    CHECK(client.c->reason() == "full");
}

TEST_CASE("connection: silence, keep-alives and messages that nobody acknowledges") {
    session s{wire_format::ddnet, 3, {}};
    s.connect();
    REQUIRE(s.server.c->queue(number_message(0, 4), true, s.now) == failure{});
    for (int i = 0; i < 100; ++i) s.step();
    CHECK(s.client.expected == 1);
    // Keep-alives hold it for ever.
    for (int i = 0; i < 60; ++i) s.step(1000);
    CHECK(s.online());

    // Nothing comes any more.
    milliseconds const last = s.client.c->last_received();
    std::size_t datagrams = 0;
    while (s.client.c->state() == connection_state::online) {
        s.now = s.client.c->next_poll();
        datagrams += !s.client.c->poll(s.now, s.client.out).empty();
        REQUIRE(datagrams < 100);
    }
    CHECK(s.now == last + 10'000);
    CHECK((s.client.c->cause() == close_cause::silence));
    CHECK(datagrams <= 12);

    // The server hears keep-alives, but no acknowledge.
    packet_memory out;
    REQUIRE(s.server.c->queue(number_message(0, 4), true, s.now) == failure{});
    milliseconds const queued = s.now;
    auto const token = s.server.c->tokens().peer;
    while (s.server.c->state() == connection_state::online) {
        s.now += 100;
        s.server.receive(write_control({}, wire_format::ddnet, {1, false, token}, out), s.now);
        static_cast<void>(s.server.c->poll(s.now, s.server.out));
        REQUIRE(s.now <= queued + 10'100);
    }
    CHECK((s.server.c->cause() == close_cause::unacknowledged));
    CHECK(s.server.c->repeated() >= 9); // once a second
}

TEST_CASE("connection: what goes out by itself goes out when its time has come") {
    packet_memory out;
    auto const first_at = [&](connection& c, milliseconds begin) {
        for (milliseconds now = begin;; ++now) {
            REQUIRE(now < begin + 20'000);
            if (!c.poll(now, out).empty()) return now - begin;
        }
    };
    for (wire_format const format : {wire_format::v06, wire_format::v07}) {
        connection_memory<> memory;
        auto c = connection::server(format, {7, 8}, memory, 5000);
        CHECK(first_at(c, 5000) == 1000); // a keep-alive
        CHECK(c.next_poll() == 7000);
        CHECK(first_at(c, 6000) == 1000);
        REQUIRE(c.queue(number_message(0, 8), false, 7100) == failure{});
        CHECK(c.next_poll() == 7600);
        CHECK(first_at(c, 7100) == 500); // unrequested flush
        CHECK(c.next_poll() == 8600);
        REQUIRE(c.queue(number_message(1, 8), true, 7700) == failure{});
        c.flush();
        CHECK(first_at(c, 7700) == 0);
        CHECK(c.next_poll() == 8700);
        CHECK(first_at(c, 7701) == 999); // a vital one again
        CHECK(c.repeated() == 1);
    }
    connection_memory<> memory;
    auto client = connection::client(wire_format::ddnet, 7, memory, 1000);
    CHECK(first_at(client, 1000) == 0);
    CHECK(client.next_poll() == 1500);
    CHECK(first_at(client, 1001) == 499); // it asks again
}

TEST_CASE("connection: a vital chunk is repeated after a second, and at once when asked for") {
    session s{wire_format::v07, 4, {}};
    s.connect();
    REQUIRE(s.server.c->queue(number_message(0, 20), true, s.now) == failure{});
    s.server.c->flush();
    auto d = s.server.c->poll(s.now, s.server.out);
    REQUIRE_FALSE(d.empty()); // lost
    CHECK(s.server.c->poll(s.now + 999, s.server.out).empty());
    d = s.server.c->poll(s.now + 1000, s.server.out);
    auto const p = parse_packet(d, wire_format::v07);
    REQUIRE(p);
    REQUIRE(p->chunks == 1);
    chunk c;
    payload_memory memory;
    auto const payload = decode_payload(*p, memory);
    chunk_reader reader{*payload, 1, wire_format::v07};
    REQUIRE(reader.next(c));
    CHECK(c.resend);
    CHECK(c.sequence == 1); // lost again

    s.now += 1000;
    REQUIRE(s.server.c->queue(number_message(1, 20), true, s.now) == failure{});
    s.server.c->flush();
    d = s.server.c->poll(s.now, s.server.out);
    s.client.receive(d, s.now); // a gap
    CHECK(s.client.expected == 0);
    d = s.client.c->poll(s.now, s.client.out);
    auto const request = parse_packet(d, wire_format::v07);
    REQUIRE(request);
    CHECK(request->resend);
    CHECK(request->chunks == 0);
    CHECK(s.client.c->gaps() == 1);
    s.server.receive(d, s.now);
    d = s.server.c->poll(s.now, s.server.out);
    REQUIRE_FALSE(d.empty());
    s.client.receive(d, s.now);
    CHECK(s.client.expected == 2);
    CHECK(s.server.c->repeated() == 3);
    // Answers to requests are limited.
    s.server.receive(test::copy_of(s.client.c->poll(s.now, s.client.out)), s.now);
}

TEST_CASE("connection: after a loss everything goes on at once, and nothing is repeated that need not be") {
    session s{wire_format::ddnet, 8, {}};
    s.connect();
    std::uint32_t queued = 0;
    auto const lose = [](auto) {};
    for (int tick = 0; tick < 100; ++tick) {
        s.now += 20;
        // The last message of a client's input reaches the server right before the server's tick.
        REQUIRE(s.client.c->queue(number_message(0, 4), false, s.now) == failure{});
        s.client.c->flush();
        for (auto d = s.client.c->poll(s.now, s.client.out); !d.empty(); d = s.client.c->poll(s.now, s.client.out))
            s.server.receive(d, s.now);
        REQUIRE(s.server.c->queue(number_message(queued++, 100), true, s.now, s.server.out, lose) == failure{});
        s.server.c->flush();
        for (auto d = s.server.c->poll(s.now, s.server.out); !d.empty(); d = s.server.c->poll(s.now, s.server.out))
            if (tick % 10 != 5) s.client.receive(d, s.now);
        if (tick % 10 == 8) CHECK(s.client.expected == queued);
    }
    CHECK(s.client.c->gaps() == 10);
    CHECK(s.server.c->repeated() == 20); // the lost one and the one that showed it
}

TEST_CASE("connection: packets of strangers change nothing") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        session s{format, 5, {}};
        s.connect();
        REQUIRE(s.client.c->queue(number_message(0, 20), true, s.now) == failure{});
        s.client.c->flush();
        auto const good = test::copy_of(s.client.c->poll(s.now, s.client.out));
        auto const last = s.server.c->last_received();
        s.now += 50;
        if (format != wire_format::v06) {
            // The same with another token
            auto bad = good;
            bad[format == wire_format::ddnet ? bad.size() - 1 : 4] ^= 1;
            auto const r = s.server.c->receive(bad, s.now, s.server.payload);
            CHECK((r.kind == received_kind::dropped));
            packet_memory out;
            control_message close;
            close.code = control_code::close;
            auto const tokens = s.server.c->tokens();
            auto const forged = write_control(close, format, {0, false, tokens.own + 1}, out);
            CHECK(s.server.c->receive(forged, s.now, s.server.payload).error.code == errc::bad_token);
        }
        // An acknowledgement of more than was sent
        packet_writer writer{format};
        chunk c;
        test::bytes const data = number_message(9, 4);
        c.data = data;
        REQUIRE(writer.add(c) == failure{});
        packet_memory out;
        auto const ahead = writer.finish({5, false, s.client.c->tokens().peer}, out);
        CHECK(s.server.c->receive(ahead, s.now, s.server.payload).error == failure{errc::bad_sequence, 0});
        CHECK(s.server.c->last_received() == last);
        CHECK((s.server.c->state() == connection_state::online));
        s.server.receive(good, s.now);
        CHECK(s.server.expected == 1);
        CHECK(s.server.c->last_received() == s.now);
    }
}

TEST_CASE("connection: the memory for vital chunks is bounded and never overrun") {
    session s{wire_format::ddnet, 6, {}};
    s.connect();
    std::uint32_t queued = 0;
    test::random rng{9};
    failure error{};
    auto const drop = [](auto) {};
    for (;;) {
        std::size_t const size = 4 + rng.below(1000);
        bool const room = s.server.c->vital_room(size);
        error = s.server.c->queue(number_message(queued, size), true, s.now, s.server.out, drop);
        CHECK(room == (error == failure{}));
        if (error.code != errc::ok) break;
        ++queued;
    }
    CHECK(error.code == errc::too_many_items);
    CHECK(s.server.c->unacknowledged() == queued);
    CHECK(queued > 50);
    // Messages that need no repetition go on.
    CHECK(s.server.c->queue(number_message(0, 900), false, s.now, s.server.out, drop) == failure{});
    CHECK(s.server.c->queue(test::bytes(1024), false, s.now).code == errc::too_large);
    // And everything arrives after all.
    for (int i = 0; i < 500 && s.client.expected < queued; ++i) s.step();
    CHECK(s.client.expected == queued);
    CHECK(s.server.c->vital_room(1023));
    CHECK(s.server.c->repeated() < 2 * queued);
}

TEST_CASE("connection: small messages are limited by their number") {
    connection_memory<1390, 8> memory;
    payload_memory payload;
    auto c = connection::server(wire_format::v06, {}, memory, 0);
    for (std::uint32_t i = 0; i < 8; ++i) CHECK(c.queue(number_message(i, 4), true, 0) == failure{});
    CHECK(c.queue(number_message(8, 4), true, 0).code == errc::too_many_items);
    CHECK_FALSE(c.vital_room(0));
    // Acknowledged up to the fifth
    auto const ack = test::from_hex("00 05 01 00 01 00");
    CHECK((c.receive(ack, 1, payload).kind == received_kind::chunks));
    CHECK(c.unacknowledged() == 3);
    CHECK(c.vital_room(1000));
    // An older one is forged or came late.
    auto const older = test::from_hex("00 04 01 00 01 00");
    CHECK(c.receive(older, 1, payload).error.code == errc::bad_sequence);
}

TEST_CASE("connection: in the memory for vital chunks an end never meets the begin of the oldest one") {
    connection_memory<1390, 8> memory;
    payload_memory payload;
    packet_memory out;
    auto c = connection::server(wire_format::v06, {}, memory, 0);
    auto const queue = [&](std::uint32_t number, std::size_t size) {
        return c.queue(number_message(number, size), true, 0, out, [](auto) {});
    };
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(queue(i, 400) == failure{}); // 0, 400, 800..1200
    CHECK(c.vital_room(190));
    CHECK_FALSE(c.vital_room(191));
    CHECK((c.receive(test::from_hex("00 02 01 00 01 00"), 1, payload).kind == received_kind::chunks));
    REQUIRE(c.unacknowledged() == 1);
    CHECK(queue(3, 300) == failure{}); // after 1200 there is no room: 0..300
    CHECK(c.vital_room(499));
    CHECK_FALSE(c.vital_room(500));
    CHECK(queue(4, 500).code == errc::too_many_items);
    CHECK(queue(4, 499) == failure{});
    CHECK(c.unacknowledged() == 3);
    // All three are sent again as they were queued.
    std::vector<test::bytes> repeated;
    static_cast<void>(c.poll(1, out)); // what was queued last
    for (milliseconds now = 1001; now < 1500; now += 100) {
        auto const d = c.poll(now, out);
        if (d.empty()) break;
        auto const p = parse_packet(d, wire_format::v06);
        REQUIRE(p);
        auto const decoded = decode_payload(*p, payload);
        REQUIRE(decoded);
        chunk_reader reader{*decoded, p->chunks, wire_format::v06};
        for (chunk in; reader.next(in);)
            if (in.resend) repeated.push_back(test::copy_of(in.data));
    }
    REQUIRE(repeated.size() == 3);
    CHECK(hex(repeated[0]) == hex(number_message(2, 400)));
    CHECK(hex(repeated[1]) == hex(number_message(3, 300)));
    CHECK(hex(repeated[2]) == hex(number_message(4, 499)));
}

TEST_CASE("connection: sequence numbers go round, with loss, doubling and reordering") {
    for (wire_format const format : formats) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            CAPTURE(std::string{name(format)});
            CAPTURE(seed);
            test::random rng{seed};
            session s{format, 10 * seed, {20, 20, 20, 100}};
            s.connect();
            constexpr std::uint32_t wanted = 2500;
            for (int i = 0; i < 100000; ++i) {
                for (end* e : {&s.client, &s.server}) {
                    if (!e->c) continue;
                    REQUIRE((e->c->state() == connection_state::online));
                    auto& link = e == &s.client ? s.up : s.down;
                    for (std::size_t n = rng.below(4); n-- > 0;) {
                        std::size_t const size = rng.below(rng.chance(10) ? 900 : 60);
                        auto const send = [&](auto d) { link.send(d, s.now); };
                        if (rng.chance(50)) {
                            static_cast<void>(e->c->queue(number_message(7, size), false, s.now, e->out, send));
                        } else if (e->sent < wanted && e->c->queue(number_message(e->sent, size), true, s.now,
                                                                   e->out, send) == failure{}) {
                            ++e->sent;
                        }
                    }
                    e->c->flush();
                }
                s.step(20);
                if (s.client.expected == wanted && s.server.expected == wanted) break;
            }
            CHECK(s.client.expected == wanted);
            CHECK(s.server.expected == wanted);
            CHECK(s.client.other_received > 100);
            CHECK(s.server.restarts == 0);
            for (int i = 0; i < 300; ++i) s.step(20);
            CHECK(s.client.c->unacknowledged() == 0);
            CHECK(s.server.c->unacknowledged() == 0);
        }
    }
}

TEST_CASE("connection: handshakes get through a bad link") {
    for (wire_format const format : formats) {
        for (std::uint64_t seed = 100; seed < 200; ++seed) {
            CAPTURE(std::string{name(format)});
            CAPTURE(seed);
            session s{format, seed, {30, 20, 20, 300}};
            // As a client does, it sends its first message as soon as it may.
            bool greeted = false;
            for (int i = 0; i < 900 && s.server.expected == 0; ++i) {
                s.step();
                if (greeted || s.client.c->state() != connection_state::online) continue;
                greeted = true;
                REQUIRE(s.client.c->queue(number_message(0, 40), true, s.now) == failure{});
                s.client.c->flush();
            }
            CHECK(s.server.expected == 1);
        }
    }
}

TEST_CASE("connection: a client that comes again takes its old place") {
    for (wire_format const format : {wire_format::ddnet, wire_format::v07}) {
        session s{format, 7, {}};
        s.connect();
        REQUIRE(s.client.c->queue(number_message(0, 8), true, s.now) == failure{});
        s.client.c->flush();
        for (int i = 0; i < 5; ++i) s.step();
        // The program was started again without closing.
        s.client.c = connection::client(format, 0x31415926, *s.client.memory, s.now);
        std::size_t handshakes = 0;
        for (int i = 0; i < 20 && s.server.restarts == 0; ++i) {
            s.now += 10;
            for (auto const& d : s.up.arrived(s.now)) {
                auto const r = s.server.c->receive(d, s.now, s.server.payload);
                if (r.kind == received_kind::restart) ++s.server.restarts;
                if (r.kind != received_kind::handshake) continue;
                ++handshakes;
                s.down.send(s.gate.receive(d, address, s.now, s.answer).reply, s.now);
            }
            for (auto const& d : s.down.arrived(s.now)) s.client.receive(d, s.now);
            s.client.send_all(s.up, s.now);
        }
        CHECK(handshakes == 1);
        CHECK(s.server.restarts == 1);
    }
}

TEST_CASE("connection: a stranger's handshake is over when the client is heard again") {
    session s{wire_format::ddnet, 7, {}};
    s.connect();
    auto const heard = [&](bool at_all) {
        s.now += 10;
        if (at_all) {
            REQUIRE(s.client.c->queue(number_message(s.client.sent++, 8), true, s.now) == failure{});
            s.client.c->flush();
            s.server.receive(test::copy_of(s.client.c->poll(s.now, s.client.out)), s.now);
        }
        CHECK(s.server.expected == s.client.sent);
    };
    heard(true);
    control_message m;
    packet_memory out;
    m.code = control_code::connect;
    m.ddnet = true;
    m.token = 5;
    // It needs no token.
    auto const connect = test::copy_of(write_control(m, wire_format::ddnet, {}, out));
    m = {};
    m.code = control_code::accept;
    auto const accept = [&] {
        return test::copy_of(write_control(m, wire_format::ddnet, {0, false, s.client.c->tokens().peer}, out));
    };
    CHECK((s.server.c->receive(connect, s.now, s.server.payload).kind == received_kind::handshake));
    heard(true);
    // The accept of the first handshake, which came late, or twice.
    CHECK((s.server.c->receive(accept(), s.now, s.server.payload).kind == received_kind::control));
    heard(true);
    // After a connect it restarts.
    CHECK((s.server.c->receive(connect, s.now, s.server.payload).kind == received_kind::handshake));
    CHECK((s.server.c->receive(accept(), s.now, s.server.payload).kind == received_kind::restart));
}

TEST_CASE("connection: mutated packets of a real exchange never do harm") {
    test::random rng{11};
    for (wire_format const format : formats) {
        for (int round = 0; round < 60; ++round) {
            session s{format, static_cast<std::uint64_t>(round), {}};
            s.connect();
            for (int i = 0; i < 50; ++i) {
                if (s.server.c->state() != connection_state::online) break;
                static_cast<void>(s.client.c->queue(number_message(s.client.sent++, rng.below(300)), true, s.now));
                s.client.c->flush();
                auto datagram = test::copy_of(s.client.c->poll(s.now, s.client.out));
                for (std::size_t n = 1 + rng.below(3); n-- > 0 && !datagram.empty();) {
                    if (rng.chance(20)) datagram.resize(rng.below(datagram.size() + 1));
                    else datagram[rng.below(datagram.size())] ^= static_cast<std::uint8_t>(1U << rng.below(8));
                }
                auto const exact = std::make_unique<std::uint8_t[]>(datagram.size());
                std::copy(datagram.begin(), datagram.end(), exact.get());
                auto const r = s.server.c->receive({exact.get(), datagram.size()}, s.now, s.server.payload);
                if (r.kind == received_kind::chunks)
                    for (chunk c; s.server.c->next_chunk(c);) CHECK(c.data.size() <= max_read_payload_bytes);
                for (auto d = s.server.c->poll(s.now, s.server.out); !d.empty();
                     d = s.server.c->poll(s.now, s.server.out))
                    CHECK(d.size() <= max_packet_bytes);
                static_cast<void>(s.gate.receive({exact.get(), datagram.size()}, address, s.now, s.answer));
                s.now += 10;
            }
        }
    }
}

TEST_CASE("connection: causes have their own words") {
    CHECK(describe(close_cause::none) == "open");
    for (int i = 0; i < 6; ++i) CHECK(describe(static_cast<close_cause>(i)) != "unknown cause");
    CHECK(describe(static_cast<close_cause>(6)) == "unknown cause");
}
