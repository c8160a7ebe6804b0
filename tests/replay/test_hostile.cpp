// Input made to do harm: ticks and times at the ends of their types, messages that cannot be sent, floods.
#include "captures.hpp"
#include "demos.hpp"
#include "simulated_session.hpp"
#include "talk.hpp"
#include "temporary_file.hpp"

#include "game/ticks.hpp"
#include "recording/capture/capture_reader.hpp"
#include "recording/capture/connections.hpp"

#include <teewire/packer.hpp>
#include <teewire/snapshot_sender.hpp>

#include <cstdio>
#include <ctime>

using namespace teewire;
using namespace teewire::replay;
using test::temporary_file;

namespace {

constexpr std::int32_t last = INT32_MAX;
constexpr std::uint16_t type_character = 9, type_player_info = 10;

test::bytes chat(std::size_t size) {
    test::bytes memory(size + 16);
    packer out{memory};
    out.add_int(describe(message_type::chat).id_06 << 1).add_int(0).add_int(0).add_string(std::string(size, 'A'));
    return test::copy_of(*out.finish());
}

// A demo whose ticks are as given, each of them with a snapshot and the messages.
struct moment {
    std::int32_t tick = 0;
    std::vector<test::bytes> messages;
};
test::bytes hostile_demo(std::vector<moment> const& moments) {
    std::vector<test::bytes> chunks;
    for (moment const& m : moments) {
        auto const tick = static_cast<std::uint32_t>(m.tick);
        chunks.push_back({0xc0, static_cast<std::uint8_t>(tick >> 24), static_cast<std::uint8_t>(tick >> 16),
                          static_cast<std::uint8_t>(tick >> 8), static_cast<std::uint8_t>(tick)});
        test::ints character(22);
        character[0] = m.tick;
        chunks.push_back(test::int_chunk(demo_chunk_kind::snapshot,
                                         test::layout({{make_key(type_character, 0), character},
                                                       {make_key(type_player_info, 0), {1, 0, 0, 5, 20}}})));
        for (test::bytes message : m.messages) {
            message.resize((message.size() + 3) / 4 * 4);
            test::ints ints;
            for (std::size_t i = 0; i < message.size(); i += 4)
                ints.push_back(static_cast<std::int32_t>(test::little_endian(message, i, 4)));
            chunks.push_back(test::int_chunk(demo_chunk_kind::message, ints));
        }
    }
    return test::raw_demo(5, test::join(chunks));
}

test::bytes const a_map = test::random{3}.data(1000, true);

} // namespace

TEST_CASE("ticks that are counted on end with the last one there is") {
    CHECK(later(7, 50) == 57);
    CHECK(later(last - 3, 3) == last);
    CHECK(later(last, 50) == last);
    tick_interval each{50};
    CHECK(each.due(0));
    CHECK_FALSE(each.due(49));
    CHECK(each.due(50));
    CHECK(each.due(last - 10));
    CHECK_FALSE(each.due(last));
    CHECK(each.due(3)); // restarted
    CHECK_FALSE(each.due(3));
    CHECK(each.due(last));
}

TEST_CASE("a demo with whatever ticks is served") {
    struct variant {
        std::vector<std::int32_t> ticks;
        bool own_ticks; // as the demo has them
    };
    std::vector<std::int32_t> up_to_the_last;
    for (std::int32_t tick = last - 200; tick < last - 1; tick += 2) up_to_the_last.push_back(tick);
    up_to_the_last.push_back(last);
    for (bool const loop : {false, true})
        for (auto const& [ticks, own_ticks] :
             {variant{{last}, false}, variant{{last - 1}, false},
              variant{{last - 3, last - 2, last - 1, last}, false}, variant{up_to_the_last, false},
              variant{{0, last}, true}, variant{{1000, 500, 2000, 100, last, 0, 5}, true}, variant{{5, 5, 5}, true},
              variant{{101, 102, 103}, true}, variant{{216, 218, 222, last / 2}, true}}) {
            std::vector<moment> moments;
            for (std::int32_t const tick : ticks) moments.push_back({tick, {}});
            std::int32_t const first = ticks[0];
            CAPTURE(first);
            CAPTURE(loop);
            temporary_file const demo{hostile_demo(moments)};
            test::simulated_session session{demo.path(), a_map, test::tap_place::server,
                                            [](auto, auto const&, auto const&, auto) {}, loop};
            auto const seen = session.run({{wire_format::ddnet, {}, 0, INT64_MAX}}, 8000).front();
            CHECK(seen.close_text.empty());
            CHECK(seen.wrong == 0);
            CHECK(seen.snapshots > 5);
            CHECK(seen.first_tick >= 0);
            // Where the demo has none, so many that the server does not seem gone.
            if (!loop && ticks.size() == 4 && own_ticks) CHECK(seen.snapshots < 20);
            if (own_ticks) CHECK(std::abs(seen.first_tick - ticks[0]) < 500);
            else CHECK(seen.first_tick < last / 2);
        }
}

TEST_CASE("a message too large to be sent is left out, counted and told, and those behind it arrive") {
    for (std::size_t const size : {std::size_t{1016}, std::size_t{1021}, std::size_t{2000}, std::size_t{30'000}}) {
        CAPTURE(size);
        std::vector<moment> moments;
        for (std::int32_t i = 0; i < 200; ++i) {
            moments.push_back({100 + 2 * i, {}});
            if (i % 10 == 5) moments.back().messages.push_back(chat(5));
            if (i == 15) moments.back().messages.push_back(chat(size));
        }
        // Every joining client gets the tuning.
        test::bytes tuning{static_cast<std::uint8_t>(describe(message_type::tune_params).id_06 << 1)};
        tuning.resize(size, 1);
        moments[1].messages.push_back(tuning);
        temporary_file const demo{hostile_demo(moments)};
        test::simulated_session session{demo.path(), a_map, test::tap_place::server,
                                        [](auto, auto const&, auto const&, auto) {}};
        std::vector<std::string> news;
        session.meanwhile = [&](std::int64_t) {
            for (auto& line : session.server().take_news()) news.push_back(std::move(line));
        };
        auto const seen = session.run(
            {{wire_format::ddnet, {}, 0, INT64_MAX}, {wire_format::ddnet, {}, 2000, INT64_MAX}}, 12'000);
        bool const fits = size == 1016;
        CHECK(seen[0].close_text.empty());
        CHECK(seen[1].close_text.empty());
        CHECK(seen[0].messages.at(message_type::chat) == (fits ? 21 : 20));
        CHECK(seen[1].messages.at(message_type::chat) >= 5); // of the time when it was there
        CHECK(session.server().count().too_large == (fits ? 0 : 2));
        // The first of them.
        auto const told = std::count_if(news.begin(), news.end(), [](auto const& line) {
            return line.find("at tick 102 is too large") != line.npos;
        });
        CHECK(told == (fits ? 0 : 1));
    }
}

TEST_CASE("one address that floods with valid tokens keeps nobody else out") {
    temporary_file const demo{hostile_demo({{100, {}}, {102, {}}})};
    endpoint const enemy{boost::asio::ip::make_address_v4("10.0.0.66"), 5000};
    std::vector<test::bytes> to_enemy;
    test::simulated_session session{demo.path(), a_map, test::tap_place::server,
                                    [&](auto, auto const&, endpoint const& to, auto datagram) {
                                        if (to == enemy && to_enemy.empty())
                                            to_enemy.push_back(test::copy_of(datagram));
                                    }};
    packet_memory memory;
    control_message connect;
    connect.code = control_code::connect;
    connect.ddnet = true;
    auto const with_port = [&](int port) { return endpoint{enemy.address(), static_cast<std::uint16_t>(port)}; };
    std::uint32_t token = 0;
    session.meanwhile = [&](std::int64_t now) {
        replay_server& server = session.server();
        if (now == 0) {
            // Where all places of the address are taken, a valid token is of no use any more.
            server.receive(write_control(connect, wire_format::ddnet, {}, memory), enemy, now);
            REQUIRE(to_enemy.size() == 1);
            auto const p = parse_packet(to_enemy[0], wire_format::ddnet);
            auto const answer = parse_control(p->payload, wire_format::ddnet);
            REQUIRE(answer);
            token = answer->token;
        }
        control_message accept;
        accept.code = control_code::accept;
        accept.ddnet = accept.has_token = true;
        accept.token = token;
        control_message close;
        close.code = control_code::close;
        // 100,000 packets a second that come and go, and ask for more tokens.
        packet_head const head{0, false, token};
        for (int i = 0; i < 33; ++i) {
            server.receive(write_control(accept, wire_format::ddnet, head, memory), enemy, now);
            server.receive(write_control(close, wire_format::ddnet, head, memory), enemy, now);
            server.receive(write_control(connect, wire_format::ddnet, {}, memory), with_port(6000 + i), now);
        }
    };
    auto const seen = session.run({{wire_format::ddnet, {}, 1500, INT64_MAX}}, 4000).front();
    CHECK(session.server().count().received > 390'000);
    CHECK(session.server().count().ignored > 390'000);
    CHECK(seen.close_text.empty());
    CHECK(seen.snapshots > 30);
}

TEST_CASE("a client counts on from any tick that its server sends") {
    std::int32_t input_tick = 0;
    auto const memory = std::make_unique<payload_memory>();
    client_profile profile;
    profile.download_map = false;
    test::talk talk{wire_format::ddnet, profile, [&](milliseconds, bool from_server, test::bytes const& datagram) {
                        auto const p = parse_packet(datagram, wire_format::ddnet);
                        if (from_server || !p || p->control) return;
                        chunk_reader chunks{*decode_payload(*p, *memory), p->chunks, wire_format::ddnet};
                        for (chunk c; chunks.next(c);)
                            if (auto const m = parse_message(c.data);
                                m && identify(*m, protocol::ddnet) == message_type::input)
                                input_tick = decode<messages::input>(*m, protocol::ddnet)->tick;
                    }};
    talk.say(talk.announced({}));
    talk.say(messages::con_ready{});
    talk.say(messages::ready_to_enter{});
    REQUIRE(talk.client->playing());
    auto const scratch = std::make_unique<snapshot_scratch>();
    auto const snapshot = test::layout({{make_key(type_character, 0), test::ints(22)}});
    for (std::int32_t const tick : {last - 60, last - 1}) {
        auto parts = *encode_snapshot(tick, test::view_of(snapshot), -1, {}, {}, *scratch);
        for (std::span<std::uint8_t const> message; parts.next(message);) talk.say_bytes(message, false);
        for (int i = 0; i < 20; ++i) talk.exchange();
        CHECK(input_tick == std::min(last - 3, tick) + 3);
    }
    CHECK_FALSE(talk.client->closed());
}

TEST_CASE("a captured client may acknowledge any tick") {
    capture_listener silent;
    connection_watcher watcher{silent};
    udp_address client, server;
    client.port = 5000;
    server.port = 8303;
    packet_memory memory;
    std::uint64_t frame = 0;
    auto const give = [&](bool from_server, std::span<std::uint8_t const> payload) {
        udp_datagram datagram{server, client, payload};
        if (!from_server) std::swap(datagram.from, datagram.to);
        ++frame;
        watcher.receive(frame, static_cast<std::int64_t>(frame), datagram);
    };
    auto const give_chunk = [&](bool from_server, std::span<std::uint8_t const> data) {
        packet_writer writer{wire_format::v06};
        REQUIRE(writer.add({false, false, 0, data}) == teewire::failure{});
        give(from_server, writer.finish({}, memory));
    };
    control_message connect;
    connect.code = control_code::connect;
    give(false, write_control(connect, wire_format::v06, {}, memory));
    auto const scratch = std::make_unique<snapshot_scratch>();
    auto const snapshot = test::layout({{make_key(type_character, 0), test::ints(22)}});
    for (std::int32_t const tick : {last - 40, last - 1}) {
        auto parts = *encode_snapshot(tick, test::view_of(snapshot), -1, {}, {}, *scratch);
        for (std::span<std::uint8_t const> message; parts.next(message);) give_chunk(true, message);
    }
    for (std::int32_t const ack : {last - 40, last - 20, last - 1, last, 0, -1, INT32_MIN}) {
        messages::input input;
        input.ack = ack;
        input.tick = last;
        std::array<std::uint8_t, 128> bytes;
        give_chunk(false, *encode(input, protocol::ddnet, bytes));
    }
    watcher.finish();
    auto const all = watcher.connections();
    REQUIRE(all.size() == 1);
    CHECK(all[0]->snapshots == 2);
    CHECK(all[0]->not_captured == 2); // last - 20 and last, which a server may have sent
}

TEST_CASE("a frame may claim any time, which is told and does no harm") {
    test::bytes file;
    auto const put = [&](std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) file.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    };
    auto const block = [&](std::uint32_t type, auto&& body) {
        put(type, 4);
        std::size_t const at = file.size();
        put(0, 4);
        body();
        auto const size = static_cast<std::uint32_t>(file.size() - at + 8);
        for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::uint8_t>(size >> 8 * i);
        put(size, 4);
    };
    struct clock {
        std::uint8_t resolution; // a power of ten, of seconds
        std::int64_t offset;     // seconds
        std::uint64_t time;
        std::optional<std::int64_t> nanoseconds;
    };
    constexpr std::int64_t second = 1'000'000'000;
    std::vector<clock> const clocks = {
        {9, 0, 5 * second + 7, 5 * second + 7},
        {0, 0, UINT32_MAX, std::int64_t{UINT32_MAX} * second},
        {0, 0, std::uint64_t{UINT32_MAX} + 1, {}},
        {0, 0, UINT64_MAX / 2, {}},
        {6, INT64_MAX / 2, 1, {}},
        {6, INT64_MIN / 2, 1, {}},
        {6, -10, 3'000'000, -7 * second},
        {6, 0, 3'000'000, 3 * second},
    };
    block(0x0a0d0d0a, [&] {
        put(0x1a2b3c4d, 4);
        put(1, 4); // version 1.0
        put(UINT64_MAX, 8);
    });
    for (clock const& c : clocks)
        block(1, [&] {
            put(1, 4);      // Ethernet
            put(262144, 4); // snapshot length
            put(9 | 1 << 16, 4);
            put(c.resolution, 4);
            put(14 | 8 << 16, 4);
            put(static_cast<std::uint64_t>(c.offset), 8);
            put(0, 4);
        });
    for (std::size_t i = 0; i < clocks.size(); ++i)
        block(6, [&] {
            put(i, 4);
            put(clocks[i].time >> 32, 4);
            put(clocks[i].time, 4);
            put(4, 4);
            put(4, 4);
            put(0, 4);
        });

    capture_reader reader{{open_bytes(file), nullptr}, "made up"};
    captured_frame frame;
    std::int64_t before = 0;
    std::uint64_t untimed = 0;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        CAPTURE(i);
        REQUIRE(reader.next(frame));
        if (clocks[i].nanoseconds) before = *clocks[i].nanoseconds;
        else ++untimed;
        CHECK(frame.time == before);
        CHECK(reader.untimed() == untimed);
    }
    CHECK_FALSE(reader.next(frame));
    CHECK(reader.error().empty());
}
