// A live game, shown to clients: sources that restart, jump, fall silent, and change the map under their viewers.
#include "check.hpp"
#include "random.hpp"
#include "scene.hpp"
#include "watching_client.hpp"

#include "serve/live_show.hpp"

#include <algorithm>
#include <deque>

using namespace teewire;
using namespace teewire::replay;
using test::address, test::here, test::items, test::state;
using a_client = test::watching_client;

namespace {

constexpr std::uint16_t character(bool v07) { return v07 ? 10 : 9; }
constexpr std::uint16_t player_info(bool v07) { return v07 ? 11 : 10; }
constexpr std::uint16_t spectator_info = 12;
constexpr test::link_quality awful{20, 20, 20, 100};

test::bytes a_map(std::size_t size, unsigned seed) {
    test::bytes map(size);
    for (std::size_t i = 0; i < size; ++i) map[i] = static_cast<std::uint8_t>(i * (i + seed) >> 3);
    return map;
}

constexpr std::int32_t before(std::int32_t tick, std::int32_t ticks) { return std::max(tick, ticks) - ticks; }

// Source, server, clients and the time.
struct live_stage final : packet_sink {
    explicit live_stage(server_settings settings = {.name = "test"}) : server{shown, settings, {3}, *this, now} {}

    void begin(protocol p, std::string const& name, test::bytes const& map) {
        version = p;
        recording_info what;
        what.version = p;
        what.map.name = name;
        auto const borrowed = map; // only for this call
        what.map_bytes = borrowed;
        stream_event e;
        e.kind = event_kind::begin;
        e.begun = &what;
        shown.put(e);
    }
    void snapshot(std::int32_t tick, snapshot_view state) {
        auto const ints = std::make_unique<std::vector<std::int32_t>>(state.ints().begin(), state.ints().end());
        stream_event e;
        e.kind = event_kind::snapshot;
        e.tick = tick;
        e.state = snapshot_view::trusted(*ints, true);
        shown.put(e);
    }
    // Those players, at places that follow from the tick; the first one attacked 10 ticks ago.
    void snapshot(std::int32_t tick) {
        test::scene scene{version};
        if (v07()) scene.add("game_data", 0, {{"game_start_tick", before(tick, 100)}});
        else scene.add("game_info", 0, {{"round_start_tick", before(tick, 100)}});
        for (std::uint16_t const id : players) {
            scene.add("character", id,
                      {{"tick", tick}, {"x", tick % 1000 + id}, {"y", 3}, {"attack_tick", before(tick, 10)}});
            if (v07()) scene.add("player_info", id, {});
            else scene.add("player_info", id, {{"client_id", id}});
        }
        if (explosion) scene.add("event_explosion", 0, {{"x", 5}});
        snapshot(tick, scene.finish());
    }
    void message(std::span<std::uint8_t const> bytes) {
        stream_event e;
        e.kind = event_kind::message;
        e.message = bytes;
        shown.put(e);
    }
    template <class T>
    void say(T const& value) {
        std::array<std::uint8_t, 512> memory;
        message(*encode(value, v07() ? protocol::teeworlds_07 : protocol::ddnet, memory));
    }
    // A player of 0.7.
    void introduce(std::int32_t id, std::string_view name) {
        messages::client_info info;
        info.client_id = id;
        info.name = name;
        say(info);
    }
    // Snapshots for so long, every second tick.
    void play(std::int32_t& tick, milliseconds time) {
        for (milliseconds const end = now + time; now < end; tick += 2) {
            snapshot(tick);
            run(40);
        }
    }

    [[nodiscard]] bool v07() const { return version == protocol::teeworlds_07; }
    a_client& join(wire_format format = wire_format::ddnet, test::link_quality quality = {},
                   std::string const& password = {}) {
        auto const number = clients.size();
        return clients.emplace_back(format, address(here, static_cast<std::uint16_t>(4000 + number)), scratch,
                                    quality, 77 * (number + 1), now, password);
    }
    void send(endpoint const& to, std::span<std::uint8_t const> datagram) override {
        ++sent;
        if (heard) heard(datagram);
        for (auto& c : clients)
            if (c.at == to) c.to_client.send(datagram, now);
    }
    void run(milliseconds time) {
        for (milliseconds const end = now + time; now < end; now += 4) {
            if (now >= server.next_tick()) server.tick(now);
            for (auto& c : clients) {
                for (auto const& d : c.to_server.arrived(now)) server.receive(d, c.at, now);
                for (auto const& d : c.to_client.arrived(now)) c.client->receive(d, now);
                for (auto d = c.client->poll(now); !d.empty(); d = c.client->poll(now)) c.to_server.send(d, now);
            }
        }
    }

    protocol version = protocol::ddnet;
    std::vector<std::uint16_t> players{0, 3};
    bool explosion = false;
    milliseconds now = 1000;
    live_show shown{[this] { return now; }};
    snapshot_scratch scratch;
    std::deque<a_client> clients;
    std::size_t sent = 0;
    std::function<void(std::span<std::uint8_t const>)> heard;
    replay_server server;
};

constexpr protocol versions[] = {protocol::ddnet, protocol::teeworlds_07};
constexpr wire_format format_of(protocol p) {
    return p == protocol::teeworlds_07 ? wire_format::v07 : wire_format::ddnet;
}
test::bytes const first_map = a_map(20'001, 1);
test::bytes const second_map = a_map(5'003, 2);

std::int32_t newest(a_client const& c) { return c.snapshots.empty() ? -1 : c.snapshots.rbegin()->first; }
std::vector<std::int32_t> const& item_of(state const& s, std::uint16_t type, std::uint16_t id) {
    auto const found = s.find(make_key(type, id));
    REQUIRE(found != s.end());
    return found->second;
}
// Whose player_info is the viewer's own.
std::int32_t own_id(state const& s) {
    for (auto const& [key, data] : s)
        if (key_type(key) == player_info(false) && data[0] == 1) return key_id(key);
    return -1;
}
void count_system_messages(std::span<std::uint8_t const> datagram, wire_format format,
                           std::map<message_type, int>& told) {
    payload_memory memory;
    auto const p = parse_packet(datagram, format);
    if (!p || p->control) return;
    chunk_reader chunks{*decode_payload(*p, memory), p->chunks, format};
    for (chunk c; chunks.next(c);)
        if (auto const m = parse_message(c.data); m && m->system)
            ++told[identify(*m, format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet)];
}

// The ticks inside are those of the source.
void check_ticks(a_client const& c, bool v07, std::optional<std::int32_t> x_of_source = {}) {
    REQUIRE_FALSE(c.snapshots.empty());
    auto const& [tick, s] = *c.snapshots.rbegin();
    auto const& tee = item_of(s, character(v07), 0);
    CHECK(tee[0] == tick);
    CHECK(tee.back() == (v07 ? tee.back() : tick - 10));
    if (x_of_source) CHECK(tee[1] == *x_of_source);
}

// With a viewer of each protocol.
template <class Then>
void on_good_and_bad_ways(std::int32_t tick, Then then) {
    for (protocol const p : versions)
        for (auto const quality : {test::link_quality{}, awful}) {
            CAPTURE(static_cast<int>(p));
            bool const good = quality.loss == 0;
            CAPTURE(good);
            live_stage s;
            s.begin(p, "dm1", first_map);
            a_client& c = s.join(format_of(p), quality);
            s.play(tick, 10'000);
            REQUIRE(c.client->playing());
            then(s, c, tick, good);
        }
}

} // namespace

TEST_CASE("what comes is shown at once, with its own ticks") {
    for (protocol const p : versions)
        for (std::int32_t tick : {5000, 6001}) { // also where all are odd
            CAPTURE(static_cast<int>(p));
            CAPTURE(tick);
            live_stage s;
            s.begin(p, "dm1", first_map);
            a_client& c = s.join(format_of(p));
            s.play(tick, 3000);
            REQUIRE(c.client->playing());
            CHECK(c.map_bytes == first_map);
            c.snapshots.clear();
            std::size_t const sent = s.sent;
            s.snapshot(tick);
            CHECK(s.sent == sent + 1); // no clock is waited for
            s.run(16);
            REQUIRE(newest(c) == tick);
            CHECK(c.snapshots.size() == 1);
            check_ticks(c, s.v07(), tick % 1000);
            tick += 2;
            s.run(24);
            s.play(tick, 1000);
            CHECK(c.snapshots.size() == 26);
            CHECK(c.damaged == 0);
            CHECK(s.shown.count().moved == 0);
            CHECK(s.shown.count().repeated == 0);
        }
}

TEST_CASE("ticks that restart, jump or run back are moved along") {
    on_good_and_bad_ways(100'000, [](live_stage& s, a_client& c, std::int32_t tick, bool good) {
        for (std::int32_t const other :
             {INT32_MAX - 60, INT32_MAX - 60, 2'000'000, 200, 99'000, INT32_MAX - 60, 1'000}) {
            CAPTURE(other);
            std::int32_t const shown = newest(c);
            c.snapshots.clear();
            tick = other;
            s.play(tick, 1000);
            s.run(400);
            REQUIRE(c.snapshots.size() > 10);
            CHECK(c.snapshots.begin()->first > shown);
            CHECK(newest(c) < shown + 200);
            if (good) check_ticks(c, s.v07(), (tick - 2) % 1000);
            else check_ticks(c, s.v07());
        }
        // INT32_MAX and values that are not ticks.
        std::int32_t const shown = newest(c);
        for (std::int32_t const odd : {INT32_MAX, INT32_MAX, 0, -1, INT32_MIN, INT32_MAX - 1, 0}) {
            s.snapshot(odd);
            s.run(40);
        }
        s.run(300);
        CHECK(newest(c) > shown);
        CHECK(newest(c) < shown + 100);
        CHECK(c.damaged == 0);
        CHECK(c.maps == 1);
        CHECK(s.shown.count().moved > 100);
    });
}

TEST_CASE("a jump that the time explains is none") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& c = s.join();
    std::int32_t tick = 1000;
    s.play(tick, 3000);
    tick += 148; // within what is allowed without time
    s.play(tick, 200);
    s.run(60'000); // repeated until then
    tick += 3000;
    s.play(tick, 200);
    CHECK(s.shown.count().moved == 0);
    CHECK(newest(c) == tick - 2);
    tick += 200;
    s.play(tick, 200);
    CHECK(s.shown.count().moved == 5);
    CHECK(newest(c) < tick);
    std::int32_t const behind = tick - 2 - newest(c);
    CHECK(behind == 200);
    s.run(900);
    tick += 45;
    s.play(tick, 200);
    CHECK(newest(c) == tick - 2 - behind);
    CHECK(s.shown.count().moved == 10);
    // As soon as the time has caught up, they are the source's again.
    s.run(4040);
    s.play(tick, 200);
    CHECK(newest(c) == tick - 2);
    CHECK(s.shown.count().moved == 10);
    CHECK(c.damaged == 0);
    // There are no ticks before 0.
    auto const snapshots = s.shown.count().snapshots;
    for (std::int32_t const odd : {-1, -500, INT32_MIN}) s.snapshot(odd);
    CHECK(s.shown.count().snapshots == snapshots);
}

TEST_CASE("viewers of a silent source get its last snapshot once a second") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        s.begin(p, "dm1", first_map);
        a_client& c = s.join(format_of(p));
        std::int32_t tick = 2000;
        s.explosion = true;
        s.play(tick, 3000);
        s.run(20);
        std::uint16_t const explosion = s.v07() ? 17 : 14;
        CHECK(c.snapshots.rbegin()->second.contains(make_key(explosion, 0)));
        c.snapshots.clear();
        s.run(20'000);
        CHECK(c.client->playing());
        CHECK(c.snapshots.size() >= 19);
        CHECK(c.snapshots.size() <= 20);
        CHECK(newest(c) <= tick + 1000);
        CHECK(newest(c) > tick + 920);
        for (auto const& [at, got] : c.snapshots) CHECK_FALSE(got.contains(make_key(explosion, 0)));
        check_ticks(c, s.v07(), (tick - 2) % 1000);
        // A client that joins in a silence sees the last snapshot.
        a_client& late = s.join(format_of(p));
        s.run(4000);
        CHECK(late.client->playing());
        CHECK(late.snapshots.size() >= 2);
        // The source was there all the time.
        tick += 1200 + 10;
        s.play(tick, 1000);
        CHECK(newest(c) == tick - 2);
        CHECK(newest(late) == tick - 2);
        CHECK(s.shown.count().moved == 0);
        // Nothing is built without viewers.
        c.client->leave("");
        late.client->leave("");
        s.run(200);
        auto const repeated = s.shown.count().repeated;
        CHECK(repeated >= 20);
        s.now += 3 * 3600'000;
        s.run(5000);
        CHECK(s.shown.count().repeated == repeated);
        tick += 3 * 3600 * 50;
        s.play(tick, 500);
        a_client& last = s.join(format_of(p));
        s.play(tick, 3000);
        CHECK(newest(last) == tick - 2);
        CHECK(s.shown.count().moved == 0);
        CHECK(c.damaged + late.damaged + last.damaged == 0);
    }
}

TEST_CASE("a source is silent when nothing has come for a second") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    s.snapshot(2000);
    s.shown.advance(s.now + 999, true);
    CHECK(s.shown.count().repeated == 0);
    s.shown.advance(s.now + 1000, true);
    CHECK(s.shown.count().repeated == 1);
    s.shown.advance(s.now + 1999, true);
    CHECK(s.shown.count().repeated == 1);
    s.shown.advance(s.now + 2000, false); // no viewer
    CHECK(s.shown.count().repeated == 1);
    s.shown.advance(s.now + 2000, true);
    CHECK(s.shown.count().repeated == 2);
}

TEST_CASE("a source that was only held up may catch up, and one that stays behind is moved along") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& c = s.join();
    std::int32_t tick = 2000;
    s.play(tick, 3000);
    for (std::uint64_t late = 0; int const round : {1, 2}) {
        CAPTURE(round);
        s.run(2500);
        // All of it within half a second.
        for (int i = 0; i < 62; ++i, tick += 2) {
            s.snapshot(tick);
            s.run(8);
        }
        s.run(40);
        CHECK(s.shown.count().late > late);
        late = s.shown.count().late;
        s.play(tick, 3000);
        CHECK(s.shown.count().moved == 0);
        CHECK(newest(c) == tick - 2);
    }
    // And now it goes on where it stopped.
    s.run(2500);
    std::int32_t const shown = newest(c);
    CHECK(shown > tick);
    s.play(tick, 3000);
    CHECK(s.shown.count().moved > 40);
    CHECK(newest(c) > shown + 90);
    check_ticks(c, false, (tick - 2) % 1000);
    CHECK(c.damaged == 0);
}

TEST_CASE("a source that comes back with the same map goes on for its viewers") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        s.begin(p, "dm1", first_map);
        a_client& c = s.join(format_of(p));
        std::int32_t tick = 50'000;
        s.play(tick, 3000);
        s.run(3000);
        s.begin(p, "dm1", first_map);
        tick = 10;
        c.snapshots.clear();
        s.play(tick, 1000);
        CHECK(c.maps == 1);
        CHECK(c.snapshots.size() > 20);
        CHECK(c.snapshots.begin()->first > 50'000);
        check_ticks(c, s.v07(), tick - 2);
        CHECK(s.shown.count().late == 0); // it has not been held up
        CHECK(s.shown.count().begun == 2);
        CHECK(s.shown.count().changed == 1);
        CHECK(c.damaged == 0);
    }
}

TEST_CASE("viewers load another map on the same connection, and watch on") {
    on_good_and_bad_ways(50'000, [](live_stage& s, a_client& c, std::int32_t tick, bool good) {
        // Whom it watched on the last map is not watched on the next one.
        messages::set_spectator_mode watched;
        watched.mode = 1;
        watched.client_id = 3;
        c.client->send(watched);
        s.play(tick, 400);
        for (int round = 1; round < 4; ++round) {
            bool const second = round % 2 == 1;
            s.begin(s.version, second ? "ctf5" : "dm1", second ? second_map : first_map);
            tick = 20;
            s.snapshot(tick);
            s.run(2000);
            tick += 100;
            s.play(tick, good ? 4000 : 20'000);
            s.run(400);
            CHECK(c.maps == 1 + round);
            CHECK(c.client->playing());
            CHECK(c.map.name == (second ? "ctf5" : "dm1"));
            CHECK(c.map_bytes == (second ? second_map : first_map));
            std::erase_if(c.snapshots, [&](auto const& got) { return got.first >= 50'000; });
            CHECK(c.snapshots.size() > 50);
            CHECK(newest(c) <= tick);
            CHECK(newest(c) > tick - 20);
            check_ticks(c, s.v07(), newest(c) % 1000);
            c.snapshots.clear();
        }
        CHECK(c.damaged == 0);
        CHECK(s.server.viewers() == 1);
        CHECK(s.shown.count().moved == 0);
        // The same name with other bytes is another map, and there is nothing of it yet.
        s.begin(s.version, "ctf5", first_map);
        s.run(3000);
        CHECK(c.maps == 5);
        if (good) CHECK(c.snapshots.empty());
    });
}

TEST_CASE("a map that changes again and again while it is being loaded") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        s.begin(p, "dm1", first_map);
        a_client& c = s.join(format_of(p), awful);
        test::bytes const large = a_map(300'000, 5);
        for (int i = 0; i < 40; ++i) {
            s.begin(p, "m" + std::to_string(i), i % 2 == 0 ? large : second_map);
            s.run(i * 10);
        }
        std::int32_t tick = 20;
        s.begin(p, "last", first_map);
        s.play(tick, 20'000);
        CHECK(c.client->playing());
        CHECK(c.map.name == "last");
        CHECK(c.map_bytes == first_map);
        CHECK(c.damaged == 0);
        CHECK(newest(c) > tick - 50);
    }
}

TEST_CASE("a ready that is on its way when the map changes is of the earlier map") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        std::map<message_type, int> told;
        s.heard = [&](std::span<std::uint8_t const> datagram) {
            count_system_messages(datagram, format_of(p), told);
        };
        s.begin(p, "dm1", first_map);
        a_client& c = s.join(format_of(p));
        for (int i = 0; i < 1000 && c.map_bytes.empty(); ++i) s.run(4);
        REQUIRE(c.map_bytes == first_map);
        CHECK(told[message_type::con_ready] == 0);
        s.begin(p, "ctf5", second_map);
        std::int32_t tick = 5000;
        s.play(tick, 2000);
        CHECK(told[message_type::map_change] == 2);
        CHECK(told[message_type::con_ready] == 1);
        CHECK(newest(c) == tick - 2);
        // The answers to a client's inputs restart with another map's ticks.
        CHECK(told[message_type::input_timing] > 20);
        s.begin(p, "dm1", first_map);
        tick = 20;
        s.play(tick, 500);
        told.clear();
        s.play(tick, 1000);
        CHECK(told[message_type::input_timing] > 20);
    }
}

TEST_CASE("who has the wrong protocol for what is shown is told") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& six = s.join();
    a_client& early = s.join(wire_format::v07);
    std::int32_t tick = 20;
    s.play(tick, 3000);
    CHECK(six.client->playing());
    CHECK(early.client->closed());
    CHECK(early.client->close_text() ==
          "the server says: A game of 0.6 is shown: watch it with DDNet or a client of 0.6");
    CHECK(s.server.count().refused > 0);
    s.begin(protocol::teeworlds_07, "dm1", first_map);
    a_client& seven = s.join(wire_format::v07);
    a_client& late = s.join();
    s.play(tick, 3000);
    CHECK(six.client->closed());
    CHECK(six.client->close_text() == "the server says: A game of 0.7 is shown: watch it with a client of 0.7");
    CHECK(late.client->close_text() == "the server says: A game of 0.7 is shown: watch it with a client of 0.7");
    CHECK(seven.client->playing());
    CHECK(newest(seven) == tick - 2);
    CHECK(s.server.viewers() == 1);
    s.begin(protocol::teeworlds_06, "dm1", first_map);
    a_client& again = s.join();
    s.play(tick, 3000);
    CHECK(seven.client->closed());
    CHECK(newest(again) == tick - 2);
}

TEST_CASE("who comes before there is anything waits for it") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        a_client& six = s.join();
        a_client& seven = s.join(wire_format::v07);
        s.run(60'000);
        CHECK_FALSE(six.client->closed());
        CHECK_FALSE(seven.client->closed());
        CHECK(six.maps + seven.maps == 0);
        s.snapshot(5); // of nothing
        s.say(messages::broadcast{});
        s.begin(p, "dm1", first_map);
        std::int32_t tick = 20;
        s.play(tick, 3000);
        a_client& right = s.v07() ? seven : six;
        a_client& wrong = s.v07() ? six : seven;
        CHECK(right.client->playing());
        CHECK(newest(right) == tick - 2);
        CHECK(wrong.client->closed());
        CHECK(wrong.client->close_text().find("is shown: watch it with") != std::string::npos);
    }
    live_stage s;
    a_client& c = s.join();
    s.run(120'500);
    CHECK(c.client->closed());
    CHECK(c.client->close_text() == "the server says: There is nothing to watch yet");
}

TEST_CASE("who waited for a snapshot gets the first one, whatever its tick") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        s.begin(p, "dm1", first_map);
        a_client& c = s.join(format_of(p));
        s.run(3000);
        REQUIRE(c.client->playing());
        s.snapshot(1013);
        s.run(500); // in which no other comes
        CHECK(c.snapshots.size() == 1);
        CHECK(newest(c) == 1013);
    }
}

TEST_CASE("without a map nobody can watch, until there is one") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", {});
    a_client& early = s.join();
    std::int32_t tick = 20;
    s.play(tick, 1000);
    CHECK(early.client->close_text() == "the server says: The map of this replay is missing");
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& c = s.join();
    s.play(tick, 3000);
    CHECK(newest(c) == tick - 2);
    s.begin(protocol::ddnet, "dm2", {});
    s.play(tick, 1000);
    CHECK(c.client->close_text() == "the server says: The map of this replay is missing");
    CHECK(s.server.viewers() == 0);
}

TEST_CASE("a password is asked for") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s{{.name = "test", .password = "secret"}};
        s.begin(p, "dm1", first_map);
        for (char const* const wrong : {"", "secre", "secrets", "secreT", "Secret"}) {
            a_client& c = s.join(format_of(p), {}, wrong);
            s.run(500);
            CHECK(c.client->close_text() == "the server says: Wrong password");
            CHECK(c.maps == 0);
        }
        CHECK(s.server.count().refused == 5);
        // Another map is for those who have said it.
        a_client& early = s.join(format_of(p), {}, "wrong");
        for (int i = 0; i < 100 && s.server.viewers() == 0; ++i) s.run(4);
        s.begin(p, "ctf5", second_map);
        s.run(500);
        CHECK(early.client->close_text() == "the server says: Wrong password");
        CHECK(early.maps == 0);
        CHECK(s.server.count().refused == 6);
        a_client& c = s.join(format_of(p), {}, "secret");
        std::int32_t tick = 20;
        s.play(tick, 3000);
        CHECK(newest(c) == tick - 2);
        CHECK(s.server.count().refused == 6);
    }
    // An unrequested one does no harm.
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& c = s.join(wire_format::ddnet, {}, "secret");
    std::int32_t tick = 20;
    s.play(tick, 3000);
    CHECK(newest(c) == tick - 2);
}

TEST_CASE("viewers of 0.6 have an id that no player has, whoever comes") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& c = s.join();
    std::int32_t tick = 20;
    auto const id_among = [&](std::vector<std::uint16_t> const& players) {
        s.players = players;
        s.play(tick, 400);
        s.run(20);
        auto const& got = c.snapshots.rbegin()->second;
        std::size_t found = 0;
        for (auto const& [key, data] : got) found += key_type(key) == player_info(false);
        std::int32_t const id = own_id(got);
        CHECK(found == players.size() + (id >= 0));
        CHECK(id == s.shown.viewer_id());
        return id;
    };
    auto const up_to = [](std::uint16_t count) {
        std::vector<std::uint16_t> all(count);
        for (std::uint16_t i = 0; i < count; ++i) all[i] = i;
        return all;
    };
    s.play(tick, 3000);
    CHECK(id_among({0, 3}) == 15);
    CHECK(id_among({0, 3, 15}) == 14);
    CHECK(id_among({0, 3}) == 14); // stays
    CHECK(id_among(up_to(15)) == 15);
    CHECK(id_among(up_to(16)) == 63);
    CHECK(id_among(up_to(63)) == 63);
    CHECK(id_among(up_to(64)) == -1);
    CHECK(id_among({0, 3}) == 15);
    CHECK(c.damaged == 0);
    CHECK(c.maps == 1);
}

TEST_CASE("viewers of 0.7 are told an id anew when somebody takes it") {
    live_stage s;
    s.begin(protocol::teeworlds_07, "dm1", first_map);
    for (std::uint16_t const id : s.players) s.introduce(id, "player");
    a_client& c = s.join(wire_format::v07);
    std::int32_t tick = 20;
    s.play(tick, 3000);
    auto const local = [&] {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < max_clients_07; ++i)
            if (c.players.clients[i] && (*c.players.clients[i])[0] != 0) found.push_back(i);
        return found;
    };
    CHECK(local() == std::vector<std::size_t>{63});
    CHECK(c.maps == 1);
    s.introduce(63, "somebody");
    c.players = {}; // as clients forget them with their map
    s.play(tick, 2000);
    CHECK(c.maps == 2);
    CHECK(local() == std::vector<std::size_t>{62});
    REQUIRE(c.players.clients[63].has_value());
    CHECK(s.shown.viewer_id() == 62);
    CHECK(newest(c) == tick - 2);
    item_of(c.snapshots.rbegin()->second, player_info(true), 62);
    // No id is left for viewers until another map comes.
    for (std::int32_t i = 0; i < 64; ++i) s.introduce(i, "everybody");
    c.players = {};
    s.play(tick, 2000);
    CHECK(s.shown.viewer_id() == -1);
    CHECK(local().empty());
    CHECK(c.maps == 3);
    s.play(tick, 1000);
    CHECK(c.maps == 3);
    CHECK(newest(c) == tick - 2);
    CHECK(c.damaged == 0);
}

TEST_CASE("viewers of 0.7 know who plays, by messages and by items") {
    live_stage s;
    s.begin(protocol::teeworlds_07, "dm1", first_map);
    s.introduce(0, "zero"); // before there is a snapshot
    s.introduce(3, "three");
    a_client& c = s.join(wire_format::v07);
    std::int32_t tick = 20;
    s.play(tick, 3000);
    auto const names = [](a_client const& of) {
        std::string all;
        client_message described;
        for (std::size_t i = 0; i < max_clients_07; ++i)
            if (of.players.clients[i] && i != 63) {
                describe_client(static_cast<std::int32_t>(i), *of.players.clients[i], described);
                all += std::string{described.message.name} + " ";
            }
        return all;
    };
    CHECK(names(c) == "zero three ");
    s.introduce(5, "five");
    messages::client_drop drop;
    drop.client_id = 3;
    s.say(drop);
    s.play(tick, 500);
    CHECK(names(c) == "zero five ");
    // Later clients get the same.
    a_client& late = s.join(wire_format::v07);
    s.play(tick, 3000);
    CHECK(names(late) == "zero five ");
    // The source restarts with another player.
    s.begin(protocol::teeworlds_07, "dm1", first_map);
    s.introduce(7, "seven");
    s.play(tick, 500);
    CHECK(names(c) == "seven ");
    CHECK(names(late) == "seven ");
    CHECK(c.maps == 1);
    // Demos have items for it.
    s.begin(protocol::teeworlds_07, "dm2", first_map);
    c.players = late.players = {};
    for (int i = 0; i < 50; ++i, tick += 2) {
        test::scene scene{protocol::teeworlds_07};
        scene.add("game_data", 0, {});
        scene.add("character", 9, {{"x", 3}});
        scene.add("player_info", 9, {});
        scene.add("client_info", 9, {}, "nine");
        s.snapshot(tick, scene.finish());
        s.run(40);
    }
    CHECK(names(c) == "nine ");
    CHECK(c.snapshots.rbegin()->second.size() == 5); // without the items of demos; with two for viewers
}

TEST_CASE("messages for all are passed on, and others are not") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s;
        s.begin(p, "dm1", first_map);
        messages::tune_params tuning;
        tuning.count = 1;
        tuning.values[0] = 777;
        s.say(tuning);
        a_client& c = s.join(format_of(p));
        std::int32_t tick = 20;
        s.play(tick, 3000);
        CHECK(c.messages[message_type::tune_params] == 1); // it came before
        s.say(messages::broadcast{});
        s.say(messages::ready_to_enter{});
        s.say(messages::con_ready{}); // of the system
        s.message(test::bytes{});
        s.message(test::bytes(3, 255));
        s.message(test::bytes(2000, 8));
        s.play(tick, 1000);
        CHECK(c.messages[message_type::broadcast] == 1);
        CHECK(c.messages[message_type::ready_to_enter] == 1); // its own
        for (int i = 0; i < 20; ++i) {                        // sent when it changes
            tuning.values[0] = i < 10 ? 777 : 778;
            s.say(tuning);
            s.play(tick, 80);
        }
        CHECK(c.messages[message_type::tune_params] == 2);
        // They go with the snapshots, and cost no packets.
        std::size_t const sent = s.sent;
        for (int i = 0; i < 25; ++i, tick += 2) {
            s.snapshot(tick);
            s.say(messages::broadcast{});
            s.run(40);
        }
        CHECK(s.sent <= sent + 26);
        CHECK(c.messages[message_type::broadcast] >= 25);
        // Another map begins without.
        s.begin(p, "ctf5", second_map);
        c.messages.clear();
        s.play(tick, 3000);
        CHECK(c.messages[message_type::broadcast] == 0);
        if (!s.v07()) CHECK(c.messages[message_type::tune_params] == 0);
    }
}

TEST_CASE("a source that hurries does not flood its viewers") {
    live_stage s;
    s.begin(protocol::ddnet, "dm1", first_map);
    a_client& c = s.join();
    std::int32_t tick = 20;
    s.play(tick, 3000);
    c.snapshots.clear();
    for (int i = 0; i < 3000; ++i, tick += 2) { // of a minute, in two seconds
        s.snapshot(tick);
        if (i % 6 == 0) s.run(4);
    }
    s.run(100);
    CHECK(c.snapshots.size() > 190);
    CHECK(c.snapshots.size() < 260);
    CHECK(newest(c) > tick - 100);
    CHECK(s.shown.count().too_many > 2500);
    CHECK(s.shown.count().moved == 0);
    CHECK(c.damaged == 0);
}

TEST_CASE("after months the ticks of a live game begin anew for those who watch") {
    for (bool const silent : {false, true}) {
        CAPTURE(silent);
        protocol const p = silent ? protocol::ddnet : protocol::teeworlds_07;
        live_stage s;
        s.begin(p, "dm1", first_map);
        a_client& c = s.join(format_of(p));
        std::int32_t tick = 1'000'000'000;
        s.play(tick, 3000);
        // A jump that is moved along for so long that no ticks are left.
        c.client->leave("");
        s.run(100);
        s.now += (std::int64_t{INT32_MAX} - tick - 100) * 20;
        tick = INT32_MAX - 90;
        s.snapshot(tick); // the source's own
        a_client& next = s.join(format_of(p));
        tick = 5;
        s.play(tick, 1500);
        CHECK(next.client->playing());
        CHECK(newest(next) > INT32_MAX - 100);
        if (silent) s.run(4000);
        s.play(tick, 4000);
        CHECK(next.client->playing());
        CHECK(next.maps == 2);
        next.snapshots.clear();
        s.play(tick, 400);
        // The source that was silent has stood still, which has cost ticks.
        if (silent) CHECK(newest(next) < tick + 200);
        else CHECK(newest(next) == tick - 2);
        CHECK(next.snapshots.size() >= 9);
        CHECK(next.damaged == 0);
        // So late that it has to begin elsewhere.
        s.begin(p, "ctf5", second_map);
        tick = INT32_MAX - 1000;
        next.snapshots.clear();
        s.play(tick, 3000);
        CHECK(newest(next) > 180'000);
        CHECK(newest(next) < 180'200);
        check_ticks(next, s.v07(), (tick - 2) % 1000);
    }
}

TEST_CASE("strangers get nothing of a live game but an answer no larger than what they sent") {
    for (protocol const p : versions) {
        CAPTURE(static_cast<int>(p));
        live_stage s{{.name = "test", .game_type = "live", .password = "secret"}};
        std::size_t answered = 0;
        std::size_t too_large = 0;
        std::size_t asked = 0;
        std::array<std::uint8_t, max_packet_bytes> bytes;
        s.heard = [&](std::span<std::uint8_t const> datagram) {
            ++answered;
            too_large += datagram.size() > asked;
        };
        test::random rng{11};
        packet_memory memory;
        auto const flood = [&] {
            for (int n = 0; n < 20'000; ++n) {
                constexpr control_code codes[] = {control_code::keep_alive, control_code::connect,
                                                  control_code::accept, control_code::close, control_code::token};
                control_message m;
                m.code = codes[rng.below(5)];
                m.ddnet = rng.chance(50);
                m.has_token = true;
                m.token = static_cast<std::uint32_t>(rng.below(UINT32_MAX));
                auto const format = static_cast<wire_format>(rng.below(4));
                auto const packet = write_control(m, format, {0, false, m.token}, memory);
                std::copy(packet.begin(), packet.end(), bytes.begin());
                if (rng.chance(30)) bytes[rng.below(packet.size())] ^= static_cast<std::uint8_t>(rng.below(256));
                asked = packet.size();
                s.server.receive(std::span{bytes}.first(asked),
                                 address(static_cast<std::uint32_t>(0x08000000 + n), 5000), s.now + n / 20);
            }
        };
        flood(); // before there is anything
        s.now += 1000;
        s.begin(p, "dm1", first_map);
        std::int32_t tick = 20;
        s.snapshot(tick);
        flood();
        CHECK(answered > 100);
        CHECK(too_large == 0);
        CHECK(s.server.viewers() == 0);
        // The server browser shows that there is a password, on the local network.
        test::bytes told;
        s.heard = [&](std::span<std::uint8_t const> datagram) { told = test::copy_of(datagram); };
        server_info_request request;
        request.kind = server_info_kind::v06;
        auto const size = *write_server_info_request(request, no_token, no_token, bytes);
        s.server.receive(std::span{bytes}.first(size), address(here, 5000), s.now + 1000);
        if (s.v07()) {
            CHECK(told.empty());
            continue;
        }
        auto const packet = parse_connless(told);
        REQUIRE(packet.has_value());
        auto const answer = parse_server_info(*packet);
        REQUIRE(answer.has_value());
        CHECK(answer->server.flags == 1);
        CHECK(answer->server.game_type == "live");
    }
}
