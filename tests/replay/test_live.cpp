// A replay server and clients, without sockets and in a time of their own: good ways, bad ways, and enemies.
#include "check.hpp"
#include "lossy_link.hpp"
#include "random.hpp"
#include "scene.hpp"
#include "temporary_file.hpp"
#include "watching_client.hpp"

#include "base/udp.hpp"
#include "serve/playback.hpp"
#include "serve/replay_server.hpp"

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>

using namespace teewire;
using namespace teewire::replay;
using test::address, test::here, test::items, test::state;
using a_client = test::watching_client;

namespace {
std::atomic<std::size_t> allocations = 0;
}
#if !defined(__SANITIZE_ADDRESS__) // which has its own
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace {

// The viewers' form of a snapshot of the demo, apart from their own items.
state shown_items(snapshot_view snapshot, bool v07) {
    state out = items(snapshot);
    std::erase_if(out, [v07](auto const& i) {
        std::uint16_t const type = key_type(i.first);
        return type == 12 || (v07 && type >= 13 && type <= 15);
    });
    if (!v07)
        for (auto& [key, data] : out)
            if (key_type(key) == 10) data[0] = 0;
    return out;
}

// Server, clients and the time.
struct stage final : packet_sink {
    explicit stage(std::string const& file, server_limits limits = {}, bool loop = false)
        : source{file[0] == '/' ? file : TEEWIRE_FIXTURES "/demos/" + file}, demo{source}, shown{demo, loop, {}} {
        for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<std::uint8_t>(i * i >> 3);
        shown.set_map("dm1", map);
        server.emplace(shown, server_settings{.name = "test", .limits = limits},
                       std::array<std::uint8_t, 16>{9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3}, *this, 0);
        // The content of the demo at each tick, computed in another way.
        auto const memory = std::make_unique<demo_player_memory>();
        demo_player player{*demo_reader::open(source.bytes()), *memory, {demo.sizes().sizes}};
        for (demo_event e; player.next(e);) {
            if (e.kind == demo_event_kind::tick && tick >= 0) recorded[tick] = shown_items(player.state(), v07());
            if (e.kind == demo_event_kind::tick) tick = e.tick;
        }
        recorded[tick] = shown_items(player.state(), v07());
    }
    [[nodiscard]] bool v07() const { return demo.item_protocol() == protocol::teeworlds_07; }
    [[nodiscard]] wire_format format() const { return v07() ? wire_format::v07 : wire_format::ddnet; }

    a_client& join(test::link_quality quality = {}) {
        auto& c = clients.emplace_back(format(), address(here, static_cast<std::uint16_t>(4000 + clients.size())),
                                       scratch, quality, 77 * (clients.size() + 1), now);
        return c;
    }
    void send(endpoint const& to, std::span<std::uint8_t const> datagram) override {
        ++sent;
        sent_bytes += datagram.size();
        if (deaf) return;
        if (heard) heard(to, datagram);
        last.assign(datagram.begin(), datagram.end());
        for (auto& c : clients)
            if (c.at == to) c.to_client.send(datagram, now);
    }
    void run(milliseconds time) {
        for (milliseconds const end = now + time; now < end; now += 4) {
            if (now >= server->next_tick()) server->tick(now);
            for (auto& c : clients) {
                for (auto const& d : c.to_server.arrived(now)) server->receive(d, c.at, now);
                for (auto const& d : c.to_client.arrived(now)) c.client->receive(d, now);
                for (auto d = c.client->poll(now); !d.empty(); d = c.client->poll(now)) c.to_server.send(d, now);
            }
        }
    }
    // Compares what the client got with the demo; the number of snapshots that are in both.
    std::size_t compare(a_client const& c, std::int32_t shift = 0) {
        std::size_t compared = 0;
        std::int32_t const viewer = shown.viewer_id();
        for (auto const& [server_tick, got] : c.snapshots) {
            auto const found = recorded.find(server_tick - shift);
            if (found == recorded.end()) continue;
            ++compared;
            state without = got;
            std::erase_if(without, [&](auto const& i) {
                std::uint16_t const type = key_type(i.first);
                bool const own = type == (v07() ? 11 : 10) || (!v07() && type == 11);
                return type == 12 || (own && key_id(i.first) == viewer);
            });
            REQUIRE(without == found->second);
        }
        return compared;
    }

    input source;
    demo_document demo;
    playback shown;
    test::bytes map = test::bytes(40'001);
    std::optional<replay_server> server;
    snapshot_scratch scratch;
    std::deque<a_client> clients;
    std::map<std::int32_t, state> recorded;
    milliseconds now = 1;
    std::int32_t tick = -1;
    std::function<void(endpoint const&, std::span<std::uint8_t const>)> heard;
    bool deaf = false; // no one takes the datagrams, which then cost nothing
    std::size_t sent = 0;
    std::size_t sent_bytes = 0;
    test::bytes last;
};

// A viewer that does nothing but what a test says.
struct raw_viewer {
    explicit raw_viewer(stage& with) : s{with} {
        s.heard = [this](endpoint const& to, std::span<std::uint8_t const> datagram) {
            if (to == at) arrived.push_back(test::copy_of(datagram));
        };
        link = connection::client(s.format(), 77, memory, s.now);
        exchange();
        REQUIRE(link->state() == connection_state::online);
    }
    ~raw_viewer() { s.heard = {}; }
    raw_viewer(raw_viewer const&) = delete;
    raw_viewer& operator=(raw_viewer const&) = delete;

    void exchange() {
        for (int i = 0; i < 6; ++i) {
            for (auto d = link->poll(s.now, out); !d.empty(); d = link->poll(s.now, out))
                s.server->receive(test::copy_of(d), at, s.now);
            for (auto const& datagram : std::exchange(arrived, {})) {
                if (link->receive(datagram, s.now, payload).kind != received_kind::chunks) continue;
                for (chunk c; link->next_chunk(c);)
                    if (auto const m = parse_message(c.data)) ++told[identify(*m, item_protocol())];
            }
        }
    }
    template <class T>
    void say(T const& value, bool vital = true) {
        std::array<std::uint8_t, max_payload_bytes> bytes;
        auto const message = encode(value, item_protocol(), bytes);
        REQUIRE(message);
        REQUIRE(link->queue(*message, vital, s.now) == teewire::failure{});
        link->flush();
        exchange();
    }
    void say_info() {
        messages::info info;
        if (s.v07()) info.version = net_version_07;
        say(info);
    }
    // The server's clock goes on as well.
    void wait(milliseconds time) {
        for (milliseconds const end = s.now + time; s.now < end;) {
            s.now = std::min(s.now + 20, end);
            if (s.now < end && s.now >= s.server->next_tick()) s.server->tick(s.now);
            exchange();
        }
    }
    [[nodiscard]] protocol item_protocol() const { return s.v07() ? protocol::teeworlds_07 : protocol::ddnet; }

    stage& s;
    endpoint at = address(here, 4900);
    connection_memory<> memory;
    packet_memory out;
    payload_memory payload;
    std::optional<connection> link;
    std::vector<test::bytes> arrived;
    std::map<message_type, int> told;
};

constexpr char const* demos[] = {"ddnet_dm1.demo", "teeworlds07_dm1.demo"};
constexpr test::link_quality awful{20, 20, 20, 100};

} // namespace

TEST_CASE("viewers get what the demo holds") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file};
        a_client& c = s.join();
        s.run(6000);
        CHECK(c.client->playing());
        CHECK(c.map.name == "dm1");
        CHECK((c.map_bytes == s.map));
        CHECK(c.damaged == 0);
        CHECK(c.snapshots.size() > 20);
        CHECK(s.compare(c) > 15);
        CHECK(s.server->viewers() == 1);
        a_client& later = s.join();
        s.run(2000);
        CHECK(later.snapshots.begin()->first % 10 == 0); // as for each client without acknowledgement
        later.client->leave("");
        c.client->leave("");
        s.run(100);
        CHECK(s.server->viewers() == 0);
    }
}

TEST_CASE("viewers behind bad connections get it too, each with a base of its own") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file, {}, true};
        a_client& good = s.join();
        for (int i = 0; i < 3; ++i) s.join(awful);
        s.run(40'000);
        for (a_client const& c : s.clients) {
            CHECK(c.client->playing());
            CHECK((c.map_bytes == s.map));
            CHECK(c.damaged == 0);
            CHECK(c.snapshots.size() > 200);
            // All clients see the same.
            for (auto const& [tick, got] : c.snapshots)
                if (good.snapshots.contains(tick)) REQUIRE((got == good.snapshots.at(tick)));
        }
        CHECK(s.compare(good) > 15);
        CHECK(s.server->viewers() == 4);
    }
}

TEST_CASE("the replay can be moved, stopped and slowed, and ticks only grow") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file};
        a_client& c = s.join();
        s.run(2000);
        std::int32_t const before = c.snapshots.rbegin()->first;
        std::int32_t const target = (s.shown.first_tick() + s.shown.last_tick()) / 2;
        s.shown.seek(target);
        s.shown.pause(true);
        c.snapshots.clear();
        s.run(1000);
        REQUIRE(c.snapshots.size() > 10);
        CHECK(c.snapshots.begin()->first > before - 10);
        CHECK(s.shown.position() == target);
        // Standing still does not change the position; ticks inside are moved.
        auto const newest = c.snapshots.rbegin()->second;
        auto const older = std::next(c.snapshots.rbegin(), 5)->second;
        std::uint16_t const character = s.v07() ? 10 : 9;
        std::size_t characters = 0;
        for (auto const& [key, data] : newest)
            if (key_type(key) == character && older.contains(key)) {
                ++characters;
                CHECK(data[1] == older.at(key)[1]);
                CHECK(data[2] == older.at(key)[2]);
                if (data[0] > 0) CHECK(data[0] > older.at(key)[0]);
            }
        CHECK(characters > 0);
        s.shown.pause(false);
        s.shown.set_speed(0.5);
        s.run(400);
        CHECK(s.shown.position() >= target + 8);
        CHECK(s.shown.position() <= target + 12);
        CHECK(c.damaged == 0);
    }
}

TEST_CASE("after months the ticks are used up, and those who watch come again") {
    stage s{demos[0], {}, true};
    a_client& c = s.join();
    s.run(3000);
    REQUIRE(c.client->playing());
    // A night that the machine slept is not made up for.
    s.now += 8 * 3600 * milliseconds{1000};
    s.server->tick(s.now);
    CHECK(s.server->viewers() == 0);
    a_client& next = s.join();
    s.run(3000);
    REQUIRE(next.client->playing());
    CHECK(next.snapshots.begin()->first > s.shown.begin_tick() + 8 * 3600 * ticks_per_second);

    s.now += (INT32_MAX - std::int64_t{s.shown.begin_tick()}) * 1000 / ticks_per_second;
    s.server->tick(s.now);
    CHECK(s.server->viewers() == 0);
    a_client& anew = s.join();
    s.run(3000);
    CHECK(anew.client->playing());
    CHECK(anew.damaged == 0);
    REQUIRE(anew.snapshots.size() > 10);
    CHECK(anew.snapshots.begin()->first < s.shown.begin_tick() + 50);
}

TEST_CASE("ticks are used up with the last even one") {
    for (bool const one_more : {false, true}) {
        stage s{demos[0], {}, true};
        a_client& c = s.join();
        s.run(3000);
        REQUIRE(c.client->playing());
        // Ticks are two apart; `next_tick` is that of the one that comes next.
        std::int32_t const newest = c.snapshots.rbegin()->first;
        std::int64_t const left = (INT32_MAX - 1 - newest) / 2 + one_more;
        milliseconds const begin = s.server->next_tick() - 40;
        s.now = begin + left * 40 + 13;
        s.server->tick(s.now);
        // After a restart, the clock starts with the first viewer, and not before.
        CHECK(s.server->next_tick() - s.now == (one_more ? 40 : 27));
    }
}

TEST_CASE("who takes long to join is sent away, step by step") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file};
        raw_viewer v{s};
        v.wait(100'000);
        CHECK(s.server->viewers() == 1);
        v.say_info();
        CHECK(v.told[message_type::map_change] == 1);
        v.wait(120'000);
        s.server->tick(s.now); // as long as it may take
        CHECK(s.server->viewers() == 1);
        s.server->tick(s.now + 1);
        CHECK(s.server->viewers() == 0);
        v.exchange();
        CHECK(v.link->state() == connection_state::closed);
        CHECK(v.link->reason() == "Joining took too long");
    }
}

TEST_CASE("steps of joining come in their order, once and vitally") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file};
        raw_viewer v{s};
        messages::start_info start;
        start.name = "somebody with a long name";
        // Nothing before its time.
        v.say(messages::ready{});
        v.say(start);
        v.say(messages::enter_game{});
        v.say(messages::request_map_data{0});
        v.say(messages::input{}, false);
        CHECK(v.told.empty());
        CHECK(s.server->watching() == 0);
        for (int i = 0; i < 2; ++i) v.say_info();
        CHECK(v.told == std::map<message_type, int>{{message_type::map_change, 1}});
        v.say(messages::ready{}, false);
        CHECK(v.told[message_type::con_ready] == 0);
        for (int i = 0; i < 2; ++i) v.say(messages::ready{});
        CHECK(v.told[message_type::con_ready] == 1);
        v.say(messages::request_map_data{0}); // too late
        CHECK(v.told[message_type::map_data] == 0);
        v.say(start, false);
        CHECK(v.told[message_type::ready_to_enter] == 0);
        for (int i = 0; i < 2; ++i) v.say(start);
        CHECK(v.told[message_type::ready_to_enter] == 1);
        v.say(messages::enter_game{}, false);
        CHECK(s.server->watching() == 0);
        for (int i = 0; i < 2; ++i) v.say(messages::enter_game{});
        CHECK(s.server->watching() == 1);
        CHECK(s.server->count().joined == 1);
        auto const news = s.server->take_news();
        CHECK(news == std::vector<std::string>{"somebody with a  (127.0.0.1:4900) watches"});
        v.say(messages::ping{}, false);
        CHECK(v.told[message_type::ping_reply] == 1);
        v.link->close("");
        v.exchange();
        CHECK(s.server->viewers() == 0);
        CHECK(s.server->take_news() == std::vector<std::string>{"somebody with a  (127.0.0.1:4900) leaves"});
    }
}

TEST_CASE("so much of the map is sent as was asked for, and some ahead") {
    // 46 pieces.
    {
        stage s{demos[0]};
        raw_viewer v{s};
        v.say_info();
        auto const ask = [&](std::int32_t number) {
            v.say(messages::request_map_data{number});
            return v.told[message_type::map_data];
        };
        CHECK(v.told[message_type::map_data] == 0);
        CHECK(ask(-1) == 0);
        CHECK(ask(INT32_MAX / 2 + 1) == 0);
        CHECK(ask(0) == 14);
        CHECK(ask(0) == 14);
        CHECK(ask(1) == 15);
        CHECK(ask(5) == 19);
        ask(INT32_MAX / 2);
        v.wait(1000); // what has to be acknowledged first
        CHECK(v.told[message_type::map_data] == 46);
    }
    stage s{demos[1]};
    raw_viewer v{s};
    v.say_info();
    for (int i = 1; i <= 7; ++i) {
        v.say(messages::request_map_data{});
        CHECK(v.told[message_type::map_data] == std::min(8 * i, 46));
    }
}

TEST_CASE("strangers are answered so often, each of them and all together") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file, {1000, 3}};
        control_message m;
        m.code = s.v07() ? control_code::token : control_code::connect;
        m.ddnet = true;
        m.token = 5;
        packet_memory out;
        auto const request = test::copy_of(write_control(m, s.format(), {}, out));
        auto const answered = [&](std::uint32_t strangers, int times, milliseconds now) {
            std::size_t const before = s.sent;
            for (int i = 0; i < times; ++i)
                for (std::uint32_t k = 0; k < strangers; ++k)
                    s.server->receive(request, address(0x08000000 + k, 5000), now);
            return s.sent - before;
        };
        CHECK(answered(1, 100, 1000) == 30);
        CHECK(answered(1, 100, 1200) == 6);
        CHECK(answered(3000, 1, 10'000) == 3000);
        CHECK(answered(3000, 1, 10'000) == 2000); // 5,000 a second
        CHECK(answered(3000, 1, 10'100) == 500);
        CHECK(s.server->count().answered == 5536);
        CHECK(s.server->count().ignored == s.server->count().received - 5536);
    }
}

TEST_CASE("strangers with a token are taken so often, each of them and all together") {
    stage s{demos[1], {1000, 1000}};
    packet_memory out;
    auto const join = [&](endpoint const& from, milliseconds now) {
        control_message m;
        m.code = control_code::token;
        m.token = 5;
        s.server->receive(write_control(m, wire_format::v07, {}, out), from, now);
        auto const p = parse_packet(s.last, wire_format::v07);
        REQUIRE(p);
        auto const given = parse_control(p->payload, wire_format::v07);
        REQUIRE(given);
        m.code = control_code::connect;
        std::size_t const before = s.server->viewers();
        s.server->receive(write_control(m, wire_format::v07, {0, false, given->token}, out), from, now);
        return s.server->viewers() - before;
    };
    std::size_t taken = 0;
    for (std::uint32_t i = 0; i < 300; ++i) taken += join(address(0x08000000 + i, 5000), 1000);
    CHECK(taken == 200);
    for (std::uint32_t i = 300; i < 330; ++i) taken += join(address(0x08000000 + i, 5000), 1050);
    CHECK(taken == 210);
}

TEST_CASE("what is said in ticks that are left out arrives") {
    for (milliseconds const late : {0, 400, 3000}) {
        CAPTURE(late);
        test::script recording;
        test::scene scene{protocol::teeworlds_06};
        scene.add("game_info", 0, {});
        std::array<std::uint8_t, 64> memory;
        messages::chat chat;
        chat.text = "one each second";
        auto const said = test::copy_of(*encode(chat, protocol::ddnet, memory));
        for (std::int32_t tick = 1000; tick < 1500; tick += 2) {
            recording.snapshot(tick, scene);
            if (tick % 50 == 26) recording.message(said);
        }
        test::temporary_file const file{recording.bytes()};
        stage s{file.path(), {}, false};
        a_client& c = s.join();
        s.run(2000);
        REQUIRE(c.client->playing());
        s.now += late;
        s.run(12'000);
        CHECK(c.messages[message_type::chat] == 10);
        CHECK(s.shown.late_ticks() == static_cast<std::uint64_t>(late / 40));
    }
}

TEST_CASE("who comes is told once who is there, and silently") {
    test::script recording{"client", protocol::teeworlds_07};
    test::scene scene{protocol::teeworlds_07};
    scene.add("client_info", 0, {}, "first");
    scene.add("client_info", 5, {}, "second");
    scene.add("game_info", 0, {{"score_limit", 7}});
    scene.add("tune_params", 0, {{"ground_control_speed", 900}});
    for (std::int32_t tick = 1000; tick < 1500; tick += 2) recording.snapshot(tick, scene);
    test::temporary_file const file{recording.bytes()};
    stage s{file.path(), {}, false};
    for (int i = 0; i < 2; ++i) {
        a_client& c = s.join();
        s.run(3000);
        REQUIRE(c.client->playing());
        CHECK(c.messages[message_type::client_info] == 3); // and itself
        CHECK(c.messages[message_type::game_info] == 1);
        CHECK(c.messages[message_type::tune_params] == 1);
        CHECK(c.messages[message_type::client_drop] == 0);
    }
}

TEST_CASE("there is room for so many, and who is silent makes room") {
    server_limits limits;
    limits.viewers = 3;
    limits.viewers_per_address = 2;
    stage s{demos[0], limits, true};
    for (int i = 0; i < 3; ++i) s.join();
    s.run(3000);
    CHECK(s.server->viewers() == 2);
    CHECK(s.clients[2].client->closed());
    CHECK(s.clients[2].client->close_text() == "the server says: Too many viewers with your address");
    // They fall silent.
    s.clients.clear();
    s.run(9000);
    CHECK(s.server->viewers() == 2);
    s.run(2000);
    CHECK(s.server->viewers() == 0);
}

TEST_CASE("the addresses that one IPv6 host has count as one") {
    server_limits limits;
    limits.viewers = 8;
    limits.viewers_per_address = 2;
    stage s{demos[0], limits, true};
    for (auto const* const host : {"2001:db8::1", "2001:db8::2", "2001:db8::ffff:0:0:3", "2001:db8:0:1::1"})
        s.join().at = {boost::asio::ip::make_address(host), 4000};
    s.run(3000);
    CHECK(s.server->viewers() == 3);
    CHECK(s.clients[2].client->closed());
}

TEST_CASE("viewers are found by their addresses, however many there are") {
    stage s{demos[0], {40, 40}};
    for (std::uint32_t i = 0; i < 40; ++i) // at places of no order
        s.join().at = address(here + 7919 * i, static_cast<std::uint16_t>(4000 + i * i));
    s.run(1000);
    CHECK(s.server->viewers() == 40);
    CHECK(s.server->watching() == 40);
}

TEST_CASE("a viewer that sends too much is not listened to until the second is over") {
    stage s{demos[0], {}, true};
    a_client& c = s.join();
    s.run(3000);
    REQUIRE(c.client->playing());
    // Its last message, again and again: valid, but too often.
    test::bytes last;
    for (int i = 0; i < 40 && last.empty(); ++i) {
        s.now += 4;
        last = test::copy_of(c.client->poll(s.now));
    }
    REQUIRE_FALSE(last.empty());
    s.now += 2000;
    auto const ignored = [&] { return s.server->count().ignored; };
    std::uint64_t const before = ignored();
    for (int i = 0; i < 400; ++i) s.server->receive(last, c.at, s.now);
    CHECK(ignored() == before);
    for (int i = 0; i < 600; ++i) s.server->receive(last, c.at, s.now);
    CHECK(ignored() == before + 600);
    for (int i = 0; i < 600; ++i) s.server->receive(last, c.at, s.now + 500);
    CHECK(ignored() == before + 1000);
    s.now += 1500;
    c.snapshots.clear();
    s.run(2000);
    CHECK(c.client->playing());
    CHECK(c.snapshots.size() > 20);
}

TEST_CASE("who watches somebody else gets a full snapshot, whatever it acknowledges meanwhile") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file, {}, true};
        // Acknowledgements of what came before are on the way when the other one is chosen.
        a_client& c = s.join({0, 0, 100, 150});
        s.run(20'000);
        REQUIRE(c.client->playing());
        REQUIRE(c.damaged == 0);
        for (std::int32_t i = 0; i < 30; ++i) {
            messages::set_spectator_mode m;
            m.mode = 1; // of 0.7: a player
            m.client_id = i % 3 == 2 ? -1 : i % 3;
            c.client->send(m);
            s.run(400);
        }
        CHECK(c.damaged == 0);
        CHECK(c.client->playing());
        CHECK(c.snapshots.size() > 100);
    }
}

TEST_CASE("addresses that have proven nothing get no memory and no large answer, whatever they send") {
    std::size_t const count = std::getenv("TEEWIRE_MUTATIONS") != nullptr ? 50'000 : 1'000'000;
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file, {}, true};
        a_client& c = s.join();
        s.run(3000);
        REQUIRE(c.client->playing());
        test::random rng{5};
        std::array<std::uint8_t, max_packet_bytes + 1> bytes;
        packet_memory memory;
        s.deaf = true;
        std::size_t const allocated = allocations;
#if !defined(__SANITIZE_ADDRESS__)
        REQUIRE(allocated > 0); // they are counted
#endif
        std::size_t too_large = 0;
        std::size_t answers = 0;
        for (std::size_t n = 0; n < count / 2; ++n) {
            std::span<std::uint8_t const> packet;
            if (n % 3 == 0) {
                std::size_t const size = rng.below(n % 30 == 0 ? bytes.size() : 40);
                for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(rng.below(256));
                packet = std::span{bytes}.first(size);
            } else {
                control_message m;
                constexpr control_code codes[] = {control_code::keep_alive, control_code::connect,
                                                  control_code::accept, control_code::close, control_code::token};
                m.code = codes[rng.below(5)];
                m.ddnet = rng.chance(50);
                m.has_token = true;
                m.token = static_cast<std::uint32_t>(rng.below(UINT32_MAX));
                packet_head head;
                if (rng.chance(50)) head.token = static_cast<std::uint32_t>(rng.below(UINT32_MAX));
                auto const written = write_control(m, s.format(), head, memory);
                std::copy(written.begin(), written.end(), bytes.begin());
                if (rng.chance(10))
                    bytes[rng.below(written.size())] ^= static_cast<std::uint8_t>(1U << rng.below(8));
                packet = std::span{bytes}.first(written.size());
            }
            // Unknown peers, and an attacker who knows the address of a viewer.
            bool const spoofed = n % 5 == 0;
            endpoint const from = spoofed ? c.at
                                          : address(static_cast<std::uint32_t>(0x08000000 + n % 60'000),
                                                    static_cast<std::uint16_t>(1000 + n % 50'000));
            std::size_t const sent = s.sent;
            std::size_t const sent_bytes = s.sent_bytes;
            s.server->receive(packet, from, s.now + static_cast<milliseconds>(n * 1000 / count));
            answers += s.sent - sent;
            if (s.sent_bytes - sent_bytes > packet.size()) ++too_large;
        }
        std::size_t const used = allocations - allocated;
        CHECK(used == 0);
        CHECK(too_large == 0);
        CHECK(answers > 0);
        s.deaf = false;
        CHECK(s.server->viewers() == 1);
        s.now += 1000;
        c.snapshots.clear();
        s.run(3000);
        CHECK(c.client->playing());
        CHECK(c.damaged == 0);
        CHECK(c.snapshots.size() > 30);
    }
}

TEST_CASE("the browser is answered in the local network, and elsewhere after a token") {
    std::array<std::uint8_t, 64> memory;
    server_info_request request;
    request.token = 77;
    SUBCASE("0.6") {
        stage s{demos[0]};
        for (auto const kind : {server_info_kind::v06, server_info_kind::v06_64, server_info_kind::v06_extended}) {
            request.kind = kind;
            auto const size = *write_server_info_request(request, no_token, no_token, memory);
            s.last.clear();
            s.server->receive(std::span{memory}.first(size), address(0xc0a80102, 5000), 10);
            auto const p = parse_connless(s.last);
            REQUIRE(p.has_value());
            auto const answer = parse_server_info(*p);
            REQUIRE(answer.has_value());
            CHECK(answer->token == 77);
            CHECK(answer->server.name == "test");
            CHECK(answer->server.map == "dm1");
            s.last.clear();
            s.server->receive(std::span{memory}.first(size), address(0x08080808, 5000), 10);
            CHECK(s.last.empty());
        }
        // Not without end.
        std::size_t const before = s.sent;
        request.kind = server_info_kind::v06;
        auto const size = *write_server_info_request(request, no_token, no_token, memory);
        for (int i = 0; i < 1000; ++i) s.server->receive(std::span{memory}.first(size), address(here, 5000), 20);
        CHECK(s.sent - before <= 100);
        CHECK(s.sent - before > 50);
    }
    SUBCASE("0.7") {
        stage s{demos[1]};
        request.kind = server_info_kind::v07;
        auto size = *write_server_info_request(request, 0x11223344, 5, memory);
        s.server->receive(std::span{memory}.first(size), address(here, 5000), 10);
        CHECK(s.last.empty());
        control_message ask;
        ask.code = control_code::token;
        ask.token = 5;
        packet_memory out;
        s.server->receive(write_control(ask, wire_format::v07, {}, out), address(here, 5000), 10);
        auto const p = parse_packet(s.last, wire_format::v07);
        REQUIRE(p.has_value());
        auto const token = parse_control(p->payload, wire_format::v07);
        REQUIRE(token.has_value());
        size = *write_server_info_request(request, token->token, 5, memory);
        s.server->receive(std::span{memory}.first(size), address(here, 5000), 20);
        auto const packet = parse_connless(s.last);
        REQUIRE(packet.has_value());
        CHECK(packet->token == 5);
        auto const answer = parse_server_info(*packet);
        REQUIRE(answer.has_value());
        CHECK(answer->server.name == "test");
    }
}

TEST_CASE("so many a second, and as many at once") {
    rate_limit limit{10};
    auto const taken = [&](milliseconds now) {
        int count = 0;
        while (count < 100 && limit.try_acquire(now)) ++count;
        return count;
    };
    CHECK(taken(5000) == 10);
    CHECK(taken(5000) == 0);
    CHECK(taken(5099) == 0);
    CHECK(taken(5100) == 1);
    CHECK(taken(5600) == 5);
    CHECK(taken(60'000) == 10); // no more is saved up
}

TEST_CASE("a host is one by its network in IPv6, and by its whole address otherwise") {
    auto const shared = [](char const* one, char const* other) {
        host_rate_limit limit{2, 100};
        CHECK(limit.try_acquire(boost::asio::ip::make_address(one), 0));
        CHECK(limit.try_acquire(boost::asio::ip::make_address(one), 0));
        CHECK_FALSE(limit.try_acquire(boost::asio::ip::make_address(one), 0));
        return !limit.try_acquire(boost::asio::ip::make_address(other), 0);
    };
    // Which hosts share a rate by chance is another question each time.
    auto const always = [&](char const* one, char const* other) {
        int count = 0;
        for (int i = 0; i < 10; ++i) count += shared(one, other);
        return count == 10;
    };
    CHECK(always("2001:db8:1:2:3::4", "2001:db8:1:2:ffff:eeee:dddd:cccc"));
    CHECK_FALSE(always("2001:db8:1:2::", "2001:db8:1:3::"));
    CHECK_FALSE(always("192.0.2.1", "192.0.2.2"));
    CHECK_FALSE(always("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
}

TEST_CASE("a host that takes all it can get keeps hardly anybody else from getting something") {
    host_rate_limit limit{20, 1e9};
    auto const enemy = boost::asio::ip::make_address("192.0.2.1");
    int kept_out = 0;
    for (std::uint32_t host = 0; host < 20'000; ++host) {
        milliseconds const now = host * 1000;
        int taken = 0;
        while (limit.try_acquire(enemy, now)) ++taken;
        CHECK(taken == 20);
        kept_out += !limit.try_acquire(boost::asio::ip::make_address_v4(0x0a00'0000 + host), now);
    }
    CHECK(kept_out <= 2); // of one table of the same size it would be 20
}

TEST_CASE("which addresses are of the local network") {
    std::array<std::uint8_t, 64> memory;
    server_info_request request;
    request.kind = server_info_kind::v06;
    auto const size = *write_server_info_request(request, no_token, no_token, memory);
    stage s{demos[0]};
    struct {
        char const* address;
        bool local;
    } const all[] = {
        {"127.0.0.1", true},       {"127.255.0.1", true},    {"126.0.0.1", false},    {"128.0.0.1", false},
        {"10.0.0.1", true},        {"10.255.255.255", true}, {"9.0.0.1", false},      {"11.0.0.1", false},
        {"172.16.0.1", true},      {"172.31.255.255", true}, {"172.15.0.1", false},   {"172.32.0.1", false},
        {"171.16.0.1", false},     {"192.168.0.1", true},    {"192.168.255.1", true}, {"192.167.0.1", false},
        {"192.169.0.1", false},    {"191.168.0.1", false},   {"169.254.1.1", true},   {"169.253.1.1", false},
        {"168.254.1.1", false},    {"8.8.8.8", false},       {"::1", true},           {"::2", false},
        {"fe80::1", true},         {"fec0::1", false},       {"fc00::1", true},       {"fdff::1", true},
        {"fb00::1", false},        {"fe00::1", false},       {"2001:db8::1", false},  {"::ffff:10.1.2.3", true},
        {"::ffff:8.8.8.8", false},
    };
    for (auto const& a : all) {
        CAPTURE(a.address);
        s.last.clear();
        endpoint const from{boost::asio::ip::make_address(a.address), 5000};
        s.server->receive(std::span{memory}.first(size), from, 10);
        CHECK(s.last.empty() != a.local);
    }
    CHECK(s.server->count().answered == 14);
    CHECK(s.server->count().ignored == std::size(all) - 14);
    CHECK(s.server->count().received == std::size(all));
}

TEST_CASE("a token is good for the address it was sent to, of IPv4 and IPv6") {
    for (char const* const name : {"10.0.0.1", "2001:db8::1"}) {
        CAPTURE(name);
        stage s{demos[1]};
        endpoint const first{boost::asio::ip::make_address(name), 5000};
        auto const other = first.address().is_v6() ? boost::asio::ip::make_address("2001:db8::2")
                                                   : boost::asio::ip::make_address("10.0.0.2");
        packet_memory out;
        control_message m;
        m.code = control_code::token;
        m.token = 5;
        s.server->receive(write_control(m, wire_format::v07, {}, out), first, 10);
        auto const p = parse_packet(s.last, wire_format::v07);
        REQUIRE(p.has_value());
        auto const given = parse_control(p->payload, wire_format::v07);
        REQUIRE(given.has_value());
        m.code = control_code::connect;
        auto const connect = test::copy_of(write_control(m, wire_format::v07, {0, false, given->token}, out));
        for (endpoint const& from : {endpoint{other, 5000}, endpoint{first.address(), 5001},
                                     endpoint{first.address(), static_cast<std::uint16_t>(5000 + 256)}}) {
            s.server->receive(connect, from, 20);
            CHECK(s.server->viewers() == 0);
        }
        s.server->receive(connect, first, 20);
        CHECK(s.server->viewers() == 1);
        s.server->receive(connect, first, 30); // again
        CHECK(s.server->viewers() == 1);
    }
}

TEST_CASE("viewers watch whom they chose, as long as there is one") {
    for (auto const* file : demos) {
        CAPTURE(file);
        stage s{file, {}, true};
        a_client& c = s.join();
        s.run(3000);
        REQUIRE(c.client->playing());
        std::uint16_t const character = s.v07() ? 10 : 9;
        // Whom it says that it watches, and where that one is.
        auto const watched = [&] {
            auto const& newest = c.snapshots.rbegin()->second;
            auto const info = newest.find(make_key(12, 0));
            REQUIRE(info != newest.end());
            std::size_t const at = s.v07() ? 1 : 0;
            std::int32_t const id = info->second[at];
            if (id < 0) return id;
            auto const who = newest.find(make_key(character, static_cast<std::uint16_t>(id)));
            REQUIRE(who != newest.end());
            CHECK(info->second[at + 1] == who->second[1]);
            CHECK(info->second[at + 2] == who->second[2]);
            if (s.v07()) CHECK(info->second[0] == 1);
            return id;
        };
        auto const choose = [&](std::int32_t id) {
            messages::set_spectator_mode m;
            m.mode = 1;
            m.client_id = id;
            c.client->send(m);
            s.run(200);
            return watched();
        };
        s.shown.pause(true);
        s.run(200);
        std::vector<std::int32_t> alive;
        for (auto const& [key, data] : c.snapshots.rbegin()->second)
            if (key_type(key) == character) alive.push_back(key_id(key));
        REQUIRE_FALSE(alive.empty());
        CHECK(watched() >= 0); // whom the recording watches, or anybody
        for (std::int32_t const id : alive) {
            CHECK(choose(id) == id);
            CHECK(choose(64) == id); // there is none with that number
            CHECK(choose(1000) == id);
            CHECK(choose(-2) == id);
            CHECK(choose(-1) == -1);
        }
        CHECK(choose(63) == -1); // not there
        CHECK(choose(alive[0]) == alive[0]);
        CHECK(choose(s.shown.viewer_id()) == -1); // itself
        CHECK(c.damaged == 0);
    }
}

TEST_CASE("after a jump it is known who is there, from messages that came before") {
    // Demos of 0.7's servers have it only in messages.
    test::script recording{"server", protocol::teeworlds_07};
    test::scene nobody{protocol::teeworlds_07};
    nobody.add("game_data", 0, {});
    std::array<std::uint8_t, 512> memory;
    auto const say = [&](auto const& value) {
        recording.message(test::copy_of(*encode(value, protocol::teeworlds_07, memory)));
    };
    auto const enter = [&](std::int32_t id, std::string_view name) {
        messages::client_info info;
        info.client_id = id;
        info.name = name;
        say(info);
    };
    std::int32_t tick = 1000;
    auto const pass = [&](std::int32_t until) {
        for (; tick < until; tick += 2) recording.snapshot(tick, nobody);
    };
    pass(1002);
    enter(0, "first");
    enter(5, "second");
    pass(1200);
    messages::client_drop drop;
    drop.client_id = 0;
    say(drop);
    pass(1300);
    enter(63, "third");
    pass(1400);

    test::temporary_file const file{recording.bytes()};
    input const source{file.path()};
    demo_document demo{source};
    REQUIRE(demo.item_protocol() == protocol::teeworlds_07);
    playback shown{demo, false, {}};
    auto const present = [&](std::int32_t at) {
        shown.seek(at);
        std::vector<std::size_t> ids;
        for (std::size_t id = 0; id < max_clients_07; ++id)
            if (shown.players().clients[id]) ids.push_back(id);
        return ids;
    };
    using ids = std::vector<std::size_t>;
    for (int i = 0; i < 2; ++i) { // forwards, and back again
        CHECK(present(1398) == ids{5, 63});
        CHECK(present(1298) == ids{5, 63}); // said at that tick
        CHECK(present(1296) == ids{5});
        CHECK(present(1198) == ids{5});
        CHECK(present(1196) == ids{0, 5});
        CHECK(present(1000) == ids{0, 5});
    }
}

TEST_CASE("the one whom the recording shows is watched first") {
    // Whom its viewer watched, else who recorded, else the first one there is; as long as it lives.
    struct {
        protocol version;
        std::int32_t spectated, local, expected;
    } const all[] = {
        {protocol::teeworlds_06, -1, -1, 2}, {protocol::teeworlds_06, -1, 7, 7},
        {protocol::teeworlds_06, 5, 7, 5},   {protocol::teeworlds_06, 6, 7, 7},
        {protocol::teeworlds_06, 6, 8, 2},   {protocol::teeworlds_07, -1, -1, 2},
        {protocol::teeworlds_07, -1, 7, 7},  {protocol::teeworlds_07, 5, 7, 5},
        {protocol::teeworlds_07, 6, 8, 2},
    };
    for (auto const& a : all) {
        CAPTURE(static_cast<int>(a.version));
        CAPTURE(a.spectated);
        CAPTURE(a.local);
        bool const v07 = a.version == protocol::teeworlds_07;
        test::script recording{"client", a.version};
        for (std::int32_t tick = 1000; tick < 1100; tick += 2) {
            test::scene scene{a.version};
            if (!v07) scene.add("game_info", 0, {});
            for (std::uint16_t const id : {2, 5, 7}) {
                bool const local = a.local == id;
                scene.add("character", id, {{"x", 100 * id}, {"y", 3}});
                if (v07) scene.add("client_info", id, {{"local", local}});
                if (v07) scene.add("player_info", id, {});
                else scene.add("player_info", id, {{"client_id", id}, {"local", local}});
            }
            if (a.local == 8 && v07) scene.add("client_info", 8, {{"local", 1}});
            if (a.local == 8 && !v07) scene.add("player_info", 8, {{"client_id", 8}, {"local", 1}});
            if (a.spectated >= 0) scene.add("spectator_info", 0, {{"spectator_id", a.spectated}});
            recording.snapshot(tick, scene);
        }
        test::temporary_file const file{recording.bytes()};
        stage s{file.path()};
        a_client& c = s.join();
        s.run(3000);
        REQUIRE(c.client->playing());
        auto const& newest = c.snapshots.rbegin()->second;
        auto const info = newest.find(make_key(12, 0));
        REQUIRE(info != newest.end());
        CHECK(info->second[v07 ? 1 : 0] == a.expected);
        CHECK(info->second[v07 ? 2 : 1] == 100 * a.expected);
    }
}

TEST_CASE("which strangers share a rate is different in every server") {
    // So many that some share a half of theirs.
    auto const curbed = [] {
        stage s{demos[1], {1, 1}};
        control_message m;
        m.code = control_code::token;
        m.token = 5;
        packet_memory out;
        auto const request = write_control(m, wire_format::v07, {}, out);
        std::vector<std::uint32_t> found;
        for (std::uint32_t i = 0; i < 490; ++i) {
            std::size_t const before = s.sent;
            for (int times = 0; times < 10; ++times) s.server->receive(request, address(0x08000000 + i, 5000), 10);
            if (s.sent < before + 10) found.push_back(i);
        }
        return found;
    };
    auto const first = curbed();
    CHECK(first.size() < 400);
    CHECK(first != curbed());
}

TEST_CASE("viewers of 0.7 are told the tuning and who is there") {
    stage s{demos[1], {}, true};
    struct listener final : client_listener {
        void map_changes(served_map const&) override {}
        void map_arrives(std::size_t) override {}
        void map_complete(served_map const&, std::vector<std::uint8_t>&&) override {}
        void receives(snapshot_event const&) override {}
        void receives(message const& m, message_type, std::span<std::uint8_t const>, bool vital) override {
            players.receive(m);
            CHECK(vital);
        }
        roster players;
    } told;
    game_client client{wire_format::v07, {}, std::array<std::uint8_t, 16>{4}, told, s.scratch, 0};
    endpoint const at = address(here, 4999);
    struct pipe final : packet_sink {
        game_client* to;
        milliseconds const* now;
        void send(endpoint const&, std::span<std::uint8_t const> d) override {
            to->receive(test::copy_of(d), *now);
        }
    } sink;
    sink.to = &client;
    sink.now = &s.now;
    replay_server server{s.shown, {.name = "test"}, std::array<std::uint8_t, 16>{9}, sink, 0};
    for (milliseconds const end = s.now + 3000; s.now < end; s.now += 4) {
        if (s.now >= server.next_tick()) server.tick(s.now);
        for (auto d = client.poll(s.now); !d.empty(); d = client.poll(s.now))
            server.receive(test::copy_of(d), at, s.now);
    }
    REQUIRE(client.playing());
    REQUIRE(told.players.tuning.has_value());
    CHECK(*told.players.tuning == s.shown.players().tuning.value_or(standard_tuning_07));
    CHECK(told.players.game == s.shown.players().game.value_or(game_item{}));
    for (std::size_t id = 0; id < max_clients_07; ++id) {
        CAPTURE(id);
        auto expected = s.shown.players().clients[id];
        if (expected) (*expected)[0] = 0; // no player is the viewer
        auto got = told.players.clients[id];
        if (static_cast<std::int32_t>(id) == s.shown.viewer_id()) {
            REQUIRE(got.has_value());
            CHECK((*got)[0] == 1);
            CHECK((*got)[1] == -1);
        } else {
            CHECK(got == expected);
        }
    }
}

TEST_CASE("hosts and ports are taken apart") {
    struct {
        char const* text;
        char const* host;
        int port; // 0: an error
    } const all[] = {
        {"example.org", "example.org", 8303},
        {"example.org:1", "example.org", 1},
        {"127.0.0.1:65535", "127.0.0.1", 65535},
        {"::1", "::1", 8303},
        {"[::1]", "::1", 8303},
        {"[fe80::1]:8304", "fe80::1", 8304},
        {"example.org:0", "", 0},
        {"example.org:65536", "", 0},
        {"example.org:", "", 0},
        {"example.org:8a", "", 0},
        {"example.org:-1", "", 0},
        {":8303", "", 0},
        {"[::1", "", 0},
        {"[::1]8303", "", 0},
        {"[::1]:", "", 0},
        {"[]:8303", "", 0},
    };
    for (auto const& a : all) {
        CAPTURE(a.text);
        if (a.port == 0) {
            CHECK_THROWS_AS(host_port::parse(a.text), usage_error);
            continue;
        }
        auto const parsed = host_port::parse(a.text);
        CHECK(parsed.host == a.host);
        CHECK(parsed.port == a.port);
    }
    CHECK(endpoint_text(address(here, 8303)) == "127.0.0.1:8303");
    CHECK(endpoint_text({boost::asio::ip::make_address("fe80::1"), 5}) == "[fe80::1]:5");
}

TEST_CASE("a client's item says what its message said, field by field") {
    roster r;
    messages::client_info info;
    info.client_id = 63;
    info.local = true;
    info.name = "name of a tee";
    info.clan = "a clan";
    info.country = -1;
    info.team = -1;
    info.skin.parts = {"p1", "p2", "p3", "p4", "p5", "p6"};
    info.skin.use_custom_colors = {1, 0, 1, 0, 1, 1};
    info.skin.colors = {11, 12, 13, 14, 15, 16};
    auto const take = [&](auto const& value) {
        std::array<std::uint8_t, 512> memory;
        auto const bytes = encode(value, protocol::teeworlds_07, memory);
        REQUIRE(bytes.has_value());
        return r.receive(*parse_message(*bytes));
    };
    CHECK(take(info));
    REQUIRE(r.clients[63].has_value());
    auto const said = [&] {
        auto described = std::make_unique<client_message>();
        describe_client(63, *r.clients[63], *described);
        return described;
    };
    {
        auto const d = said();
        messages::client_info const& m = d->message;
        CHECK(m.client_id == 63);
        CHECK(m.local);
        CHECK(m.name == "name of a tee");
        CHECK(m.clan == "a clan");
        CHECK(m.country == -1);
        CHECK(m.team == -1);
        CHECK(m.skin.parts == info.skin.parts);
        CHECK(m.skin.use_custom_colors == info.skin.use_custom_colors);
        CHECK(m.skin.colors == info.skin.colors);
    }
    CHECK((*r.clients[63])[0] == 1);
    CHECK((*r.clients[63])[1] == -1);
    CHECK((*r.clients[63])[9] == -1);
    CHECK((*r.clients[63])[46] == 1);
    CHECK((*r.clients[63])[57] == 16);
    info.local = false;
    CHECK(take(info));
    CHECK_FALSE(said()->message.local);
    // Only the team or only the skin may change; for absent clients nothing does.
    messages::team team;
    team.client_id = 63;
    team.team = 1;
    CHECK(take(team));
    CHECK(said()->message.team == 1);
    team.client_id = 62;
    CHECK(take(team));
    CHECK_FALSE(r.clients[62].has_value());
    messages::skin_change change;
    change.client_id = 63;
    change.skin = info.skin;
    change.skin.parts[5] = "another";
    change.skin.colors[0] = 99;
    CHECK(take(change));
    CHECK(said()->message.skin.parts[5] == "another");
    CHECK(said()->message.skin.colors[0] == 99);
    CHECK(said()->message.name == "name of a tee");
    messages::tune_params tuning;
    tuning.count = 2;
    tuning.values[0] = 7;
    tuning.values[1] = 8;
    CHECK(take(tuning));
    REQUIRE(r.tuning.has_value());
    CHECK((*r.tuning)[1] == 8);
    CHECK((*r.tuning)[2] == standard_tuning_07[2]); // the others are as they always are
    messages::client_drop drop;
    drop.client_id = 63;
    CHECK(take(drop));
    CHECK_FALSE(r.clients[63].has_value());
    CHECK_FALSE(take(messages::broadcast{}));
}

TEST_CASE("a roster has no clients but those with a number that one can have") {
    // The data before and after them says that there are more.
    struct {
        std::array<std::uint8_t, sizeof(std::optional<client_item>)> before;
        roster r;
        std::array<std::uint8_t, sizeof(std::optional<client_item>)> behind;
    } all;
    static_assert(offsetof(roster, game) == sizeof all.r.clients);
    all.before.fill(1);
    all.behind.fill(1);
    all.r.game.emplace().fill(0x01010101);
    all.r.tuning.emplace().fill(0x01010101);
    roster const r = all.r;
    for (std::int32_t const id : {-1, 64, 65, INT32_MIN, INT32_MAX}) {
        CAPTURE(id);
        CHECK(all.r.client(id) == nullptr);
        messages::client_info info;
        info.client_id = id;
        messages::client_drop drop;
        drop.client_id = id;
        messages::team team;
        team.client_id = id;
        team.team = 1;
        messages::skin_change change;
        change.client_id = id;
        auto const take = [&](auto const& value) {
            std::array<std::uint8_t, 512> memory;
            return all.r.receive(*parse_message(*encode(value, protocol::teeworlds_07, memory)));
        };
        CHECK(take(info));
        CHECK(take(team));
        CHECK(take(change));
        CHECK(take(drop));
    }
    CHECK((all.r == r));
    CHECK(std::count(all.before.begin(), all.before.end(), 1) == std::ssize(all.before));
    CHECK(std::count(all.behind.begin(), all.behind.end(), 1) == std::ssize(all.behind));
    for (std::int32_t const id : {0, 63}) CHECK(all.r.client(id) == &all.r.clients[static_cast<std::size_t>(id)]);
}

TEST_CASE("a roster is the same in messages and in items") {
    roster r;
    messages::client_info info;
    info.client_id = 3;
    info.name = "nameless tee";
    info.clan = "clan";
    info.country = 276;
    info.team = 1;
    info.skin.parts = {"bear", "stripes", "", "standard", "standard", "negative"};
    info.skin.use_custom_colors = {1, 0, 1, 0, 1, 0};
    info.skin.colors = {1, 2, 3, 4, 5, 6};
    std::array<std::uint8_t, 512> memory;
    auto const bytes = encode(info, protocol::teeworlds_07, memory);
    REQUIRE(bytes.has_value());
    CHECK(r.receive(*parse_message(*bytes)));
    REQUIRE(r.clients[3].has_value());
    CHECK((*r.clients[3])[9] == 276);

    // Items of a snapshot give the same.
    snapshot_builder_memory<> built;
    snapshot_builder builder{built};
    CHECK(builder.add(item{make_key(type_client_info_07, 3), *r.clients[3]}).has_value());
    roster read;
    CHECK(read.read(builder.finish()));
    CHECK(read == r);
    CHECK(!read.read(snapshot_view{}));

    // And messages out of it what was put in.
    roster copy;
    for (auto const& m : roster_changes(roster{}, r, true)) CHECK(copy.receive(*parse_message(m)));
    CHECK(copy == r);
    roster other = r;
    (*other.clients[3])[1] = 0; // only the team
    auto const changes = roster_changes(r, other, false);
    REQUIRE(changes.size() == 1);
    CHECK(identify(*parse_message(changes[0]), protocol::teeworlds_07) == message_type::team);
    auto const gone = roster_changes(r, roster{}, false);
    REQUIRE(gone.size() == 1);
    CHECK(identify(*parse_message(gone[0]), protocol::teeworlds_07) == message_type::client_drop);
}
