#include "base/text.hpp"
#include "events/timeline.hpp"
#include "scene.hpp"
#include "verbs/play_clock.hpp"
#include "verbs/play_view.hpp"

#include <doctest/doctest.h>

using namespace teewire;
using namespace teewire::replay;
using test::scene;
using test::script;

namespace {

constexpr auto p06 = protocol::teeworlds_06;
constexpr auto p07 = protocol::teeworlds_07;

introduction named(std::int32_t id, std::string name, std::int32_t team = 0) {
    introduction i;
    i.client_id = id;
    i.name = std::move(name);
    i.team = team;
    return i;
}

game_message said(message_kind kind, std::int32_t id, std::int32_t team, std::string_view text) {
    game_message m;
    m.kind = kind;
    m.client_id = id;
    m.team = team;
    m.text = text;
    return m;
}

} // namespace

TEST_CASE("players of 0.6 come from items, best score first") {
    scene s{p06};
    s.add("game_info", 0, {{"game_flags", 1}});
    s.add("client_info", 0, {}, "alice", "tees");
    s.add("client_info", 5, {}, "bob");
    s.add("player_info", 0, {{"client_id", 0}, {"team", 1}, {"score", 3}, {"latency", 20}});
    s.add("player_info", 5, {{"client_id", 5}, {"team", 0}, {"score", 7}});
    s.add("player_info", 6, {{"client_id", 6}, {"team", -1}, {"score", -9999}});
    s.add("character", 0, {{"x", 400}, {"y", 16}, {"health", 10}, {"armor", 5}, {"weapon", 1}});
    s.add("character", 5, {{"x", -32}, {"y", 32}, {"health", 0}, {"weapon", 9}});
    name_table names;
    names.read(s.finish(), p06);
    auto const players = read_players(s.finish(), p06, names);

    REQUIRE(players.size() == 3);
    CHECK(players[0].name == "bob");
    CHECK(players[0].team == "red");
    CHECK(players[0].score == 7);
    REQUIRE(players[0].body);
    CHECK(players[0].body->position() == "-1.0,1.0");
    CHECK(players[0].body->condition() == ""); // others' health is not sent
    CHECK(players[0].body->weapon == "weapon 9");
    CHECK(players[1].name == "alice");
    CHECK(players[1].clan == "tees");
    CHECK(players[1].team == "blue");
    CHECK(players[1].latency == 20);
    REQUIRE(players[1].body);
    CHECK(players[1].body->position() == "12.5,0.5");
    CHECK(players[1].body->condition() == "10/5");
    CHECK(players[1].body->weapon == "gun");
    CHECK(players[2].name == "#6");
    CHECK(players[2].team == "spec");
    CHECK_FALSE(players[2].score);
    CHECK_FALSE(players[2].body);
    CHECK(to_text(players, 2) == "3 players: bob -1.0,1.0 weapon 9; alice 12.5,0.5 10/5 gun");
    CHECK(to_text({}, 2) == "0 players");
    CHECK(read_client_ids(s.finish(), p06) == std::vector<std::int32_t>{0, 5, 6});
}

TEST_CASE("players of 0.7 get names and teams from messages where there are no items") {
    scene s{p07};
    s.add("player_info", 2, {{"score", 1}});
    s.add("player_info", 3, {{"score", 1}});
    name_table names;
    names.add(named(3, "carol", -1));
    auto players = read_players(s.finish(), p07, names);
    REQUIRE(players.size() == 2);
    CHECK(players[0].client_id == 2);
    CHECK(players[0].name == "#2");
    CHECK(players[0].team == "");
    CHECK(players[1].name == "carol");
    CHECK(players[1].team == "spec");

    s.add("client_info", 3, {{"team", 1}}, "dave", "clan");
    s.add("game_data_team", 0, {});
    names.read(s.finish(), p07);
    players = read_players(s.finish(), p07, names);
    CHECK(players[1].name == "dave");
    CHECK(players[1].clan == "clan");
    CHECK(players[1].team == "blue");
}

TEST_CASE("messages introduce players") {
    game_message m = said(message_kind::client_info, 4, 1, {});
    m.name = "al\x01ice";
    m.clan = "tees";
    auto i = read_introduction(m);
    REQUIRE(i);
    CHECK(i->client_id == 4);
    CHECK(i->name == "al ice");
    CHECK(i->clan == "tees");
    CHECK(i->team == 1);

    i = read_introduction(said(message_kind::team, 4, -1, {}));
    REQUIRE(i);
    CHECK(i->client_id == 4);
    CHECK_FALSE(i->name);
    CHECK(i->team == -1);
    CHECK_FALSE(read_introduction(said(message_kind::chat, 4, 1, "hi")));
}

TEST_CASE("the timeline of a demo") {
    script demo;
    auto const snapshot = [&](std::int32_t tick, std::initializer_list<std::uint16_t> ids) {
        scene s{p06};
        s.add("game_info", 0, {});
        for (std::uint16_t const id : ids) {
            s.add("client_info", id, {}, id == 1 ? "alice" : "bob");
            s.add("player_info", id, {{"client_id", id}});
        }
        demo.snapshot(tick, s);
    };
    auto const message = [&](std::vector<std::uint8_t> const& bytes) { demo.message(bytes); };
    snapshot(100, {1});
    message({6, 0, 1, 'h', 'i', 0}); // chat by client 1, sent to two clients
    message({6, 0, 1, 'h', 'i', 0});
    message({7, 0, 1, 'h', 'i', 0}); // a system message
    message({8, 1});                 // half a kill
    snapshot(150, {1, 2});
    message({6, 0, 1, 'h', 'i', 0});
    snapshot(160, {2});

    timeline const whole = demo.read(demo.size());
    CHECK(whole.error == "");
    CHECK(whole.first_tick == 100);
    CHECK(whole.last_tick == 160);
    CHECK(whole.elapsed(150) == 50);
    CHECK(whole.elapsed(-1) == 0);
    CHECK(whole.snapshots == std::vector<std::int32_t>{100, 150, 160});
    CHECK(demo.events() == "100 alice: hi\n150 bob joined\n150 alice: hi\n160 alice left\n");
    CHECK(whole.count_until(99) == 0);
    CHECK(whole.count_until(149) == 1);
    CHECK(whole.count_until(150) == 3);

    timeline const cut = demo.read(demo.size() - 1);
    CHECK(cut.error.find("the data ends too early") != std::string::npos);
    CHECK(cut.last_tick == 160);
    CHECK(cut.events.size() == 3);
}

TEST_CASE("names at a tick") {
    timeline c;
    c.introductions = {named(1, "alice"), named(1, "bob")};
    c.introductions[0].tick = -1;
    c.introductions[1].tick = 50;
    CHECK(c.names(49).name(1) == "alice");
    CHECK(c.names(50).name(1) == "bob");
}

TEST_CASE("the clock of play does not drift") {
    using std::chrono::milliseconds;
    play_clock::clock::time_point const start{};
    play_clock p{start, 100, 1};
    CHECK(p.tick(start + milliseconds{1000}) == doctest::Approx(150));
    CHECK(p.due(150) == start + milliseconds{1000});
    p.set_speed(start + milliseconds{1000}, 4);
    CHECK(p.tick(start + milliseconds{1000}) == doctest::Approx(150));
    CHECK(p.due(350) == start + milliseconds{2000});
    p.pause(start + milliseconds{2000}, true);
    CHECK(p.tick(start + milliseconds{9000}) == doctest::Approx(350));
    p.pause(start + milliseconds{9000}, false);
    CHECK(p.tick(start + milliseconds{9500}) == doctest::Approx(450));
    p.seek(start + milliseconds{9500}, 10);
    CHECK(p.tick(start + milliseconds{9500}) == doctest::Approx(10));
}

TEST_CASE("keys are taken from what was typed") {
    std::string typed = " q\x1b[D\x1bOC\x1b[1;2C\x1b[5~x\x1b[99~=\x1bn\x1b[";
    CHECK(take_keys(typed) == std::vector<key>{key::space, key::q, key::left, key::right, key::page_down,
                                               key::page_up, key::plus, key::n});
    CHECK(typed == "\x1b["); // more may come
    typed += "H\x1b";
    CHECK(take_keys(typed) == std::vector<key>{key::home});
    CHECK(typed == "\x1b");
    CHECK(take_keys(typed).empty());
}

TEST_CASE("text is cut and padded by its width") {
    CHECK(fit("abc", 5) == "abc  ");
    CHECK(fit("abc", 2) == "ab");
    CHECK(fit("", 0) == "");
    CHECK(fit("クラン", 5) == "クラ ");
    CHECK(fit("e\u0301x", 2) == "e\u0301x");
    CHECK(fit("жук", 4) == "жук ");
    CHECK(fit("a\u1ab0\u200b\ufe0fx", 2) == "a\u1ab0\u200b\ufe0fx"); // marks and what cannot be seen
    CHECK(fit("😀x", 3) == "😀x");
    CHECK(fit("😀", 1) == " "); // half of it is nothing
    CHECK(fit("☕", 2) == "☕"); // wide, though older than emoji
}

TEST_CASE("a view fills every window exactly") {
    std::vector<player> players(20);
    for (std::size_t i = 0; i < players.size(); ++i) {
        players[i].client_id = static_cast<std::int32_t>(i);
        players[i].name = "クランクランクラン";
        players[i].body = character{320, 64, 10, 3, "ninja"};
    }
    std::vector<timeline_event> events;
    for (std::int32_t i = 0; i < 30; ++i) events.push_back({100 + 50 * i, fmt::format("line {}", i)});
    std::vector<std::int32_t> const markers{100, 5100};
    view v;
    v.title = "title";
    v.tick = 2600;
    v.first_tick = 100;
    v.last_tick = 5100;
    v.speed = 0.25;
    v.players = players;
    v.events = events;
    v.markers = markers;

    for (std::size_t rows = 1; rows < 70; ++rows)
        for (std::size_t const columns : {1, 2, 3, 10, 80, 200}) {
            auto const drawn = draw(v, {rows, columns});
            CHECK(drawn.size() == rows);
            for (std::string const& row : drawn) CHECK(row == fit(row, columns));
        }

    auto drawn = draw(v, {24, 80});
    CHECK(drawn[0].starts_with("title "));
    CHECK(drawn[1].starts_with("tick 2600   0:50 / 1:40   speed 1/4x   playing"));
    CHECK(drawn[2] == "[|" + std::string(38, '=') + "#" + std::string(37, '-') + "|]");
    CHECK(drawn[4] == "  0 クランクランク" + std::string(24, ' ') + "-      10.0,2.0  10/3  ninja       0  ");
    CHECK(drawn[15].starts_with("    and 9 more"));
    CHECK(drawn[22].starts_with("  0:29  line 29"));
    CHECK(drawn[23].find("n/p marker") != std::string::npos);

    v.tick = 5100;
    v.players = {};
    v.events = {};
    v.error = "broken";
    drawn = draw(v, {24, 80});
    CHECK(drawn[1].find("   end") != std::string::npos);
    CHECK(drawn[2].ends_with("#]"));
    CHECK(drawn[23].starts_with("broken "));
}
