// Streams in pieces: where fragments begin and end, which parts are available, and hostile replacements.
#include "check.hpp"
#include "random.hpp"
#include "scene.hpp"
#include "temporary_file.hpp"

#include "base/errors.hpp"
#include "http/broadcast.hpp"
#include "http/folder.hpp"
#include "recording/relay/broadcast_index.hpp"
#include "recording/relay/subscriber.hpp"
#include "recording/stream/event_queue.hpp"
#include "recording/stream/whole_ticks.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/message.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace teewire;
using namespace teewire::replay;

namespace {

using bytes = std::vector<std::uint8_t>;

std::vector<std::int32_t> state_of(std::int32_t tick) {
    test::scene scene{protocol::teeworlds_06};
    scene.add("character", 0, {{"tick", tick}, {"x", tick % 1000}, {"y", 3}});
    snapshot_view const state = scene.finish();
    return {state.ints().begin(), state.ints().end()};
}

// Feeds a sink.
struct teller {
    event_sink& to;
    std::vector<std::int32_t> state{};

    void begin(bytes const& map = {}) {
        recording_info what;
        what.version = protocol::teeworlds_06;
        what.map.name = "yard";
        what.map_bytes = map;
        stream_event e;
        e.kind = event_kind::begin;
        e.begun = &what;
        to.put(e);
    }
    void snapshot(std::int32_t tick) {
        state = state_of(tick);
        stream_event e;
        e.kind = event_kind::snapshot;
        e.tick = tick;
        e.state = snapshot_view::trusted(state);
        to.put(e);
    }
    void motd(std::int32_t tick, std::string_view text) { say<messages::motd>(tick, text); }
    void chat(std::int32_t tick, std::string_view text) { say<messages::chat>(tick, text); }
    template <class Message>
    void say(std::int32_t tick, std::string_view text) {
        Message what;
        what.text = text;
        std::array<std::uint8_t, 512> memory;
        stream_event e;
        e.kind = event_kind::message;
        e.tick = tick;
        e.message = *encode(what, protocol::teeworlds_06, memory);
        to.put(e);
    }
};

// All that was offered.
struct listener final : fragment_sink {
    std::vector<broadcast_info> begun{};
    std::vector<std::vector<fragment>> fragments{};
    std::size_t ended = 0;

    void begin(broadcast_info const& what) override {
        begun.push_back(what);
        fragments.emplace_back();
    }
    void put(fragment const& f) override { fragments.back().push_back(f); }
    void end() override { ++ended; }

    [[nodiscard]] bytes joined(std::size_t which, std::size_t first, std::size_t count) const {
        bytes all = *begun[which].start;
        for (std::size_t i = first; i < first + count; ++i)
            all.insert(all.end(), fragments[which][i].bytes->begin(), fragments[which][i].bytes->end());
        return all;
    }
};

struct played {
    std::vector<std::int32_t> ticks{};
    std::size_t messages = 0;
    std::size_t wrong = 0; // states
};

played play(bytes const& demo) {
    auto const reader = demo_reader::open(demo);
    REQUIRE(reader);
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player{*reader, *memory, {&sizes_06, decoding::strict, nullptr}};
    played out;
    for (demo_event e; player.next(e);) {
        out.messages += e.kind == demo_event_kind::message;
        if (e.kind != demo_event_kind::snapshot) continue;
        out.ticks.push_back(e.tick);
        out.wrong += !std::ranges::equal(player.state().ints(), state_of(e.tick));
    }
    CHECK(player.error().what.code == errc::ok);
    return out;
}

} // namespace

TEST_CASE("any fragments behind the start are a demo") {
    listener got;
    fragmenter cut{got};
    teller tell{cut};
    tell.chat(0, "before everything");
    tell.begin(bytes(100, 7));
    tell.chat(-1, "early");
    CHECK(got.begun.empty()); // no viewer could show it
    for (std::int32_t tick = 100; tick < 400; tick += 2) {
        tell.snapshot(tick);
        if (tick % 50 == 0) tell.chat(tick, "hello");
    }
    cut.finish();
    REQUIRE(got.begun.size() == 1);
    CHECK(got.ended == 1);
    CHECK(got.begun[0].id.size() == 16);
    CHECK(*got.begun[0].bytes == bytes(100, 7));
    REQUIRE(got.fragments[0].size() == 6);
    for (std::size_t first = 0; first < 6; ++first)
        for (std::size_t count = 1; first + count <= 6; ++count) {
            played const found = play(got.joined(0, first, count));
            CHECK(found.ticks.size() == 25 * count);
            CHECK(found.ticks.front() == 100 + 50 * static_cast<std::int32_t>(first));
            CHECK(found.wrong == 0);
            CHECK(found.messages == count + (first == 0));
        }
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(got.fragments[0][i].number == i);
        CHECK(got.fragments[0][i].first_tick == 100 + 50 * static_cast<std::int32_t>(i));
        CHECK(got.fragments[0][i].last_tick == 148 + 50 * static_cast<std::int32_t>(i));
    }
}

TEST_CASE("the state of a fragment has the messages that still hold") {
    listener got;
    fragmenter cut{got};
    teller tell{cut};
    tell.begin();
    tell.motd(-1, "first");
    for (std::int32_t tick = 100; tick < 400; tick += 2) {
        tell.snapshot(tick);
        if (tick == 160) tell.motd(tick, "second");
        if (tick % 50 == 0) tell.chat(tick, "hello");
    }
    cut.finish();
    auto const& all = got.fragments[0];
    REQUIRE(all.size() == 6);
    CHECK(all[0].state == nullptr); // it has that message itself
    // The messages of the day that a viewer gets who begins with that fragment.
    auto const days = [&](std::size_t number) {
        bytes demo = *got.begun[0].start;
        if (all[number].state != nullptr)
            demo.insert(demo.end(), all[number].state->begin(), all[number].state->end());
        demo.insert(demo.end(), all[number].bytes->begin(), all[number].bytes->end());
        auto const reader = demo_reader::open(demo);
        REQUIRE(reader);
        auto const memory = std::make_unique<demo_player_memory>();
        demo_player player{*reader, *memory, {&sizes_06, decoding::strict, nullptr}};
        std::string said;
        for (demo_event e; player.next(e);) {
            if (e.kind != demo_event_kind::message) continue;
            auto const m = decode_game_message(*parse_message(e.message), protocol::teeworlds_06);
            if (m && m->kind == message_kind::motd) said += std::string{m->text} + " ";
        }
        return said;
    };
    CHECK(days(0) == "first ");
    CHECK(days(1) == "first second ");
    for (std::size_t i = 2; i < 6; ++i) CHECK(days(i) == "second ");
    CHECK(all[2].state == all[5].state); // the same bytes
    // The next recording begins without.
    tell.begin();
    tell.snapshot(10);
    tell.snapshot(70);
    cut.finish();
    CHECK(got.fragments[1][1].state == nullptr);
}

TEST_CASE("what a silence leaves open is ended, and what is said in it comes later") {
    listener got;
    fragmenter cut{got};
    teller tell{cut};
    tell.begin();
    tell.snapshot(10);
    tell.snapshot(12);
    cut.settle(1000);
    cut.settle(1000 + fragmenter::longest - 1);
    CHECK(got.fragments[0].empty());
    cut.settle(1000 + fragmenter::longest);
    REQUIRE(got.fragments[0].size() == 1);
    cut.settle(9000); // there is nothing more to end
    tell.chat(12, "in the silence");
    CHECK(got.fragments[0].size() == 1);
    tell.snapshot(14);
    tell.begin(); // and another map
    tell.snapshot(3);
    cut.finish();
    REQUIRE(got.fragments.size() == 2);
    CHECK(got.ended == 2);
    CHECK(got.begun[0].id != got.begun[1].id);
    REQUIRE(got.fragments[0].size() == 2);
    CHECK(play(got.joined(0, 1, 1)).messages == 1);
    CHECK(play(got.joined(0, 0, 2)).ticks == std::vector<std::int32_t>{10, 12, 14});
    CHECK(play(got.joined(1, 0, 1)).ticks == std::vector<std::int32_t>{3});
}

TEST_CASE("ticks that no demo can hold are left out of fragments") {
    listener got;
    fragmenter cut{got};
    teller tell{cut};
    tell.begin();
    for (std::int32_t const tick : {100, 100, 60, 102, -5, INT32_MAX - 1, INT32_MAX, 104}) tell.snapshot(tick);
    cut.finish();
    bytes const all = got.joined(0, 0, got.fragments[0].size());
    CHECK(play(all).ticks == std::vector<std::int32_t>{100, 102, INT32_MAX - 1, INT32_MAX});
    CHECK(got.fragments[0].size() == 2);
}

TEST_CASE("a broadcast offers what is in its window") {
    struct files final : broadcast_listener {
        std::map<std::string, shared_bytes> all{};
        std::size_t folders_gone = 0;
        void add(std::string const& path, shared_bytes const& b) override { CHECK(all.emplace(path, b).second); }
        void remove(std::string const& path) override { CHECK(all.erase(path) == 1); }
        void remove_folder(std::string const&) override { ++folders_gone; }
        void change(shared_bytes const&) override {}
    } seen;
    broadcast offer{3000, [] { return broadcast_state{}; }};
    offer.listen(seen);
    fragmenter cut{offer};
    teller tell{cut};
    bytes const map(10, 1);
    std::int32_t tick = 100;
    milliseconds now = 0;
    auto const second = [&] {
        for (int i = 0; i < 25; ++i, tick += 2) tell.snapshot(tick);
        now += 1000;
        offer.proceed(now);
    };
    offer.proceed(now);
    CHECK(offer.sync() == nullptr);
    tell.begin(map);
    for (int i = 0; i < 10; ++i) second();
    std::string const id = std::string{offer.sync()->begin(), offer.sync()->end()};
    std::string const first = id.substr(id.find("\"id\":\"") + 6, 16);
    CHECK(offer.find(first + "/start") != nullptr);
    CHECK(offer.find(first + "/0.frag") == nullptr);
    CHECK(offer.find(first + "/8.frag") != nullptr);
    CHECK(offer.find(first + "/9.frag") == nullptr);
    CHECK(offer.expects(first + "/9.frag"));
    CHECK_FALSE(offer.expects(first + "/10.frag"));
    CHECK_FALSE(offer.expects(first + "/8.frag"));
    for (char const* const name : {"/08.frag", "/+8.frag", "/8.frag ", "/8", "/", "", "/start/", "/8.fragfrag"})
        CHECK_MESSAGE(offer.find(first + name) == nullptr, name);
    CHECK(seen.all.size() == 1 + 1 + 2); // start, map and as many fragments as are young enough
    // The same map again: its file is there once, and is kept as long as it is needed.
    tick = 50;
    tell.begin(map);
    for (int i = 0; i < 2; ++i) second();
    CHECK(seen.folders_gone == 0);
    for (int i = 0; i < 5; ++i) second();
    CHECK(seen.folders_gone == 1);
    CHECK(offer.find(first + "/start") == nullptr);
    CHECK(offer.recordings() == 1);
    CHECK(std::count_if(seen.all.begin(), seen.all.end(),
                        [](auto const& f) { return f.first.starts_with("map/"); }) == 1);
    // Nothing comes for an hour: the last fragment stays for those who come.
    offer.proceed(now + 3'600'000);
    CHECK(offer.sync() != nullptr);
    CHECK(seen.all.size() == 1 + 1 + 1);
    cut.finish();
    offer.proceed(now + 3'600'000);
    CHECK(std::string(offer.sync()->begin(), offer.sync()->end()).find("\"ended\":true") != std::string::npos);
}

TEST_CASE("fragments share their state, which counts once and goes with the last of them") {
    struct files final : broadcast_listener {
        std::map<std::string, shared_bytes> all{};
        void add(std::string const& path, shared_bytes const& b) override { CHECK(all.emplace(path, b).second); }
        void remove(std::string const& path) override { CHECK(all.erase(path) == 1); }
        void remove_folder(std::string const&) override {}
        void change(shared_bytes const&) override {}
    } seen;
    broadcast offer{3000, [] { return broadcast_state{}; }};
    offer.listen(seen);
    fragmenter cut{offer};
    teller tell{cut};
    tell.begin();
    milliseconds now = 0;
    auto const counted = [&] { // of what is there
        std::size_t fragments = 0;
        std::map<shared_bytes, std::size_t> states;
        for (auto const& [path, content] : seen.all) {
            if (path.ends_with(".frag")) fragments += content->size();
            if (path.ends_with(".state")) states[content] = content->size();
        }
        for (auto const& [content, size] : states) fragments += size;
        return fragments;
    };
    for (std::int32_t tick = 100; tick < 1100; tick += 2) {
        tell.snapshot(tick);
        if (tick % 300 == 0) tell.motd(tick, std::string(static_cast<std::size_t>(tick) / 10, 'x'));
        if (tick % 50 != 0) continue;
        now += 1000;
        offer.proceed(now);
        CHECK(offer.bytes() == counted());
    }
    CHECK(std::count_if(seen.all.begin(), seen.all.end(),
                        [](auto const& f) { return f.first.ends_with(".state"); }) == 2);
    for (auto const& fragment : seen.all)
        CHECK_MESSAGE(offer.find(fragment.first) == fragment.second, fragment.first);
    cut.finish();
    offer.proceed(now + 60'000);
    CHECK(offer.bytes() == counted());
}

TEST_CASE("maps of a broadcast have a limit, too, and the same one is there once") {
    broadcast offer{60'000, [] { return broadcast_state{}; }, 1000};
    fragmenter cut{offer};
    teller tell{cut};
    for (std::uint8_t i = 0; i < 10; ++i) {
        tell.begin(bytes(400, i));
        tell.snapshot(10);
        CHECK(offer.recordings() == std::min(i + 1, 3)); // two beside the newest
    }
    tell.begin(bytes(5000, 1)); // that of the newest stays, however large
    tell.snapshot(10);
    CHECK(offer.recordings() == 3);
    tell.begin(bytes(400, 1));
    tell.snapshot(10);
    CHECK(offer.recordings() == 1);

    listener got;
    fragmenter shared{got};
    teller tell_again{shared};
    for (int i = 0; i < 2; ++i) {
        tell_again.begin(bytes(400, 1));
        tell_again.snapshot(10);
    }
    CHECK(got.begun[0].bytes == got.begun[1].bytes);
}

TEST_CASE("events wait for their time, as copies") {
    struct sink final : event_sink {
        std::vector<std::pair<event_kind, std::int32_t>> got{};
        std::string map{};
        bytes message{};
        std::size_t wrong = 0;
        void put(stream_event const& e) override {
            got.emplace_back(e.kind, e.tick);
            if (e.kind == event_kind::begin) map.assign(e.begun->map_bytes.begin(), e.begun->map_bytes.end());
            if (e.kind == event_kind::message) {
                message.assign(e.message.begin(), e.message.end());
                // A demo's messages have this property.
                wrong += std::any_of(e.message.data() + e.message.size(), e.message.data() + e.message.size() + 3,
                                     [](std::uint8_t b) { return b != 0; });
            }
            if (e.kind == event_kind::snapshot) wrong += !std::ranges::equal(e.state.ints(), state_of(e.tick));
        }
    } seen;
    event_queue queue;
    struct at final : event_sink {
        event_queue& queue;
        milliseconds due = 0;
        explicit at(event_queue& to) : queue{to} {}
        void put(stream_event const& e) override { queue.add(e, due); }
    } in{queue};
    teller tell{in};
    CHECK_FALSE(queue.next());
    in.due = 10;
    tell.begin(bytes{'a', 'b'});
    in.due = 20;
    tell.snapshot(5);
    tell.chat(5, "hello");
    in.due = 30;
    tell.snapshot(7);
    CHECK(queue.next() == 10);
    queue.release(9, seen);
    CHECK(seen.got.empty());
    queue.release(25, seen);
    using what = std::pair<event_kind, std::int32_t>;
    CHECK(seen.got ==
          std::vector{what{event_kind::begin, -1}, what{event_kind::snapshot, 5}, what{event_kind::message, 5}});
    CHECK(seen.map == "ab");
    CHECK(seen.message.size() > 5);
    CHECK(queue.next() == 30);
    queue.release(30, seen);
    CHECK(seen.got.size() == 4);
    CHECK(seen.wrong == 0);
    CHECK(queue.bytes() == 0);
}

TEST_CASE("a queue of events has a limit, whatever its source sends") {
    constexpr std::size_t most = 100'000;
    event_queue queue{most};
    struct at_once final : event_sink {
        event_queue& queue;
        explicit at_once(event_queue& to) : queue{to} {}
        void put(stream_event const& e) override { queue.add(e, 0); }
    } in{queue};
    struct sink final : event_sink {
        std::map<event_kind, int> kinds{};
        std::vector<std::size_t> maps{};
        void put(stream_event const& e) override {
            ++kinds[e.kind];
            if (e.kind == event_kind::begin) maps.push_back(e.begun->map_bytes.size());
        }
    } seen;
    teller tell{in};
    tell.begin(bytes(most / 2));
    tell.begin(bytes(most / 2)); // there is no room for another one
    for (std::int32_t tick = 0; tick < 10'000; ++tick) {
        tell.snapshot(tick);
        tell.chat(tick, "hello");
    }
    CHECK(queue.bytes() <= most + 1000);
    queue.release(0, seen);
    CHECK(queue.bytes() == 0);
    CHECK(seen.maps == std::vector<std::size_t>{most / 2, 0});
    CHECK(seen.kinds[event_kind::snapshot] > 10);
    CHECK(seen.kinds[event_kind::lost] == 1);
    tell.snapshot(10'000);
    queue.release(0, seen);
    CHECK(seen.kinds[event_kind::lost] == 1);
}

TEST_CASE("ticks without snapshots become snapshots") {
    struct sink final : event_sink {
        std::vector<std::int32_t> ticks{};
        void put(stream_event const& e) override {
            if (e.kind == event_kind::snapshot) ticks.push_back(e.tick);
        }
    } seen;
    whole_ticks whole{seen};
    auto const state = state_of(1);
    auto const give = [&](event_kind kind, std::int32_t tick) {
        stream_event e;
        e.kind = kind;
        e.tick = tick;
        e.state = snapshot_view::trusted(state);
        whole.put(e);
    };
    give(event_kind::tick, 8); // no state is known yet
    give(event_kind::message, 8);
    give(event_kind::tick, 10);
    give(event_kind::snapshot, 10);
    give(event_kind::tick, 12);
    give(event_kind::tick, 14);
    give(event_kind::snapshot, 14);
    give(event_kind::tick, 16);
    give(event_kind::message, 16);
    give(event_kind::tick, 18);
    whole.finish(snapshot_view::trusted(state));
    whole.finish(snapshot_view::trusted(state));
    CHECK(seen.ticks == std::vector<std::int32_t>{10, 12, 14, 16, 18});
}

TEST_CASE("a broadcast as files") {
    test::scratch_folder const here{"broadcast"};
    std::vector<std::string> said;
    broadcast_folder files{here.name("to"), [&](std::string const& what) { said.push_back(what); }};
    auto const holds = [&](std::string const& path) {
        std::ifstream file{here.path() / "to" / path, std::ios::binary};
        return bytes{std::istreambuf_iterator<char>{file}, {}};
    };
    auto const some = std::make_shared<bytes const>(bytes{1, 2, 3});
    for (std::string const path : {"map/a.map", "0123456789abcdef/start", "0123456789abcdef/0.frag"}) {
        files.add(path, some);
        CHECK_MESSAGE(holds(path) == *some, path);
    }
    // A map whose size is right is there; one that an earlier relay has left in part is not.
    static_cast<void>(here.store("to/map/a.map", bytes{7, 7, 7}));
    files.add("map/a.map", some);
    CHECK(holds("map/a.map") == bytes{7, 7, 7});
    static_cast<void>(here.store("to/map/a.map", bytes{7}));
    files.add("map/a.map", some);
    CHECK(holds("map/a.map") == *some);
    files.remove("0123456789abcdef/0.frag");
    files.remove("0123456789abcdef/start");
    files.remove_folder("0123456789abcdef");
    CHECK_FALSE(std::filesystem::exists(here.path() / "to/0123456789abcdef"));
    CHECK(said.empty());
    // A failed file is reported once.
    static_cast<void>(here.store("to/fedcba9876543210", bytes{1}));
    files.add("fedcba9876543210/0.frag", some);
    files.add("fedcba9876543210/1.frag", some);
    CHECK(said.size() == 1);
    CHECK(files.failures() == 2);
    files.change(some);
    CHECK(holds("sync") == *some);
    CHECK(said.size() == 2);
}

TEST_CASE("addresses of broadcasts") {
    auto const whole = web_address::parse("http://[::1]:8080/a/b");
    REQUIRE(whole);
    CHECK(whole->host == "::1");
    CHECK(whole->port == "8080");
    CHECK(whole->path == "/a/b/");
    CHECK(web_address::parse("http://x")->port == "80");
    CHECK(web_address::parse("http://x")->path == "/");
    CHECK_FALSE(web_address::parse("localhost:8303"));
    for (char const* const wrong : {"https://x", "http://", "http://:80", "http://x:", "http://x:8o",
                                    "http://x:123456", "http://x/a b", "http://x/\r\nHost: y"})
        CHECK_THROWS_AS(static_cast<void>(web_address::parse(wrong)), usage_error);
}

TEST_CASE("whatever a stranger sends as an index") {
    std::string const good =
        R"({"version":1,"recordings":[{"id":"0123456789abcdef","protocol":"0.7","first":3,"last":9,"ended":false,"map":)"
        R"({"name":"dm1","crc":"0000000a","size":10,"sha256":")" +
        std::string(64, 'a') + R"(","path":"map/x.map"}}]})";
    auto const parse = [](std::string_view text) {
        return broadcast_index::parse({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()});
    };
    auto const index = parse(good);
    REQUIRE(index);
    REQUIRE(index->recordings.size() == 1);
    auto const& one = index->recordings[0];
    CHECK(one.version == protocol::teeworlds_07);
    CHECK(one.first == 3);
    CHECK(one.last == 9);
    CHECK_FALSE(one.ended);
    CHECK(one.has_map);
    CHECK(one.map.name == "dm1");
    CHECK(one.map.size == 10);
    CHECK(one.map.crc == 10);
    CHECK(one.map.sha256 == std::array<std::uint8_t, 32>([] {
              std::array<std::uint8_t, 32> sum{};
              sum.fill(0xaa);
              return sum;
          }()));
    std::string over = good;
    over.replace(over.find("false"), 5, "true");
    CHECK(parse(over)->recordings[0].ended);
    for (auto const& [old, other] :
         std::initializer_list<std::pair<std::string, std::string>>{{"0123456789abcdef", "../../../etc/pas"},
                                                                    {"0123456789abcdef", "0123456789ABCDEF"},
                                                                    {"\"0.7\"", "\"0.8\""},
                                                                    {":3", ":10"},
                                                                    {":3", ":-3"},
                                                                    {":9", ":1e30"},
                                                                    {"false", "0"},
                                                                    {"[{", "[[{"},
                                                                    {"\"recordings\"", "\"records\""}}) {
        std::string wrong = good;
        wrong.replace(wrong.find(old), old.size(), other);
        CHECK_MESSAGE(!parse(wrong), wrong);
    }
    CHECK_FALSE(parse(std::string(100'000, '[')));
    test::random random{5};
    for (int i = 0; i < 20'000; ++i) {
        std::string damaged = good;
        for (std::size_t n = 1 + random.below(4); n > 0; --n)
            damaged[random.below(damaged.size())] = static_cast<char>(random.byte());
        if (auto const found = parse(damaged))
            for (auto const& entry : found->recordings) {
                CHECK(entry.first <= entry.last);
                CHECK(entry.id.find_first_not_of("0123456789abcdef") == std::string::npos);
            }
    }
}
