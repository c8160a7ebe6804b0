#include "happenings.hpp"
#include "scene.hpp"

#include "game/deaths.hpp"

using namespace teewire;
using namespace teewire::replay;
using test::scene;
using test::script;

namespace {

using notes = std::vector<kill_note>;
using ids = std::vector<std::int32_t>;

constexpr auto p06 = protocol::teeworlds_06;
constexpr auto p07 = protocol::teeworlds_07;
constexpr std::int32_t self = -2;
constexpr std::int32_t gun = 1;

std::string lines(std::initializer_list<std::string_view> each) {
    return fmt::format("{}\n", fmt::join(each, "\n"));
}

std::uint8_t varint(std::int32_t value) { // of one byte
    return static_cast<std::uint8_t>(value < 0 ? 0x40 | ~value : value);
}
std::vector<std::uint8_t> kill(kill_note const& n) {
    return {4 << 1, varint(n.killer), varint(n.victim), varint(n.weapon), 0};
}
std::vector<std::uint8_t> words(std::uint8_t id, std::vector<std::int32_t> const& fields, std::string_view text) {
    std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(id << 1)};
    for (std::int32_t const field : fields) bytes.push_back(varint(field));
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.push_back(0);
    return bytes;
}
std::vector<std::uint8_t> chat(std::int32_t client, std::string_view text) { return words(3, {0, client}, text); }
std::vector<std::uint8_t> broadcast(std::string_view text) { return words(2, {}, text); }
std::vector<std::uint8_t> motd(std::string_view text) { return words(1, {}, text); }

// Clients 0 to 5, of whom those `died` have died. `local`: for whom it was made.
scene with_deaths(ids const& died, std::int32_t local = -1) {
    scene s{p06};
    s.add("game_info", 0, {});
    for (std::uint16_t id = 0; id < 6; ++id) {
        s.add("client_info", id, {}, fmt::format("bot{}", id));
        s.add("player_info", id, {{"client_id", id}, {"local", id == local}});
        s.add("character", id, {{"health", 10}});
    }
    std::uint16_t event = 0;
    for (std::int32_t const id : died) s.add("event_death", event++, {{"client_id", id}});
    return s;
}

void add(script& demo, std::int32_t tick, ids const& died, std::int32_t local = -1) {
    scene s = with_deaths(died, local);
    demo.snapshot(tick, s);
}

} // namespace

// ---- deaths --------------------------------------------------------------------------------------------------------

TEST_CASE("deaths that all clients are told in the same ids") {
    notes const told{{2, 1, gun}, {2, 1, gun}, {3, 3, self}, {3, 3, self}};
    CHECK_FALSE(ids_differ(ids{1, 3}, told));
    CHECK(explain_deaths(ids{1, 3}, told, ids{1, 2, 3}) == std::vector<death>{{1, 2, gun}, {3, 3, self}});
    CHECK(explain_deaths(ids{3, 1}, told, {}) == std::vector<death>{{3, 3, self}, {1, 2, gun}});
    // They do not agree, or say nothing.
    CHECK(explain_deaths(ids{1}, notes{{2, 1, gun}, {3, 1, gun}}, {}) == std::vector<death>{{1, {}, {}}});
    CHECK(explain_deaths(ids{1}, {}, ids{1}) == std::vector<death>{{1, {}, {}}});
    // A player is killed and leaves the game within one tick.
    notes const twice{{2, 1, gun}, {2, 1, gun}, {1, 1, self}, {1, 1, self}};
    CHECK(explain_deaths(ids{1, 1}, twice, {}) == std::vector<death>{{1, 2, gun}, {1, 1, self}});
    CHECK(explain_deaths(ids{1, 1, 1}, twice, {}) == std::vector<death>(3, {1, {}, {}}));
    CHECK(explain_deaths({}, told, ids{1}).empty());
}

TEST_CASE("deaths that each client is told in its own ids") {
    // As in a recording of DDNet: the victim knows itself as 0.
    notes const suicide{{5, 5, self}, {5, 5, self}, {5, 5, self}, {5, 5, self}, {5, 5, self}, {0, 0, self}};
    CHECK(ids_differ(ids{5}, suicide));
    CHECK(explain_deaths(ids{5}, suicide, ids{0, 1, 2, 3, 4, 5})[0].weapon == self);
    CHECK(explain_deaths(ids{5}, suicide, ids{0, 1, 2, 3, 4, 5})[0].victim == 5);

    // 2 kills 3: each of these went to one of 0 to 3.
    CHECK(explain_deaths(ids{3}, notes{{2, 3, gun}, {2, 3, gun}, {0, 3, gun}, {2, 0, gun}}, ids{0, 1, 2, 3}) ==
          std::vector<death>{{3, 2, gun}});
    // 0 kills 3, and everyone else knows 0 by the place that is its own.
    notes const zero_kills{{0, 3, gun}, {1, 3, gun}, {2, 3, gun}, {3, 0, gun}};
    CHECK(explain_deaths(ids{3}, zero_kills, ids{0, 1, 2, 3}) == std::vector<death>{{3, 0, gun}});
    // The receiver is unknown.
    CHECK(explain_deaths(ids{3}, zero_kills, ids{0, 1, 2, 3, 4}) == std::vector<death>{{3, {}, gun}});
    // 7 and 8 may both be it: no receiver knows either.
    CHECK(explain_deaths(ids{9}, notes{{1, 2, gun}}, ids{7}) == std::vector<death>{{9, {}, gun}});
    // Which weapon was whose death?
    CHECK(explain_deaths(ids{3, 4}, notes{{3, 3, self}, {0, 0, gun}}, ids{3, 4}) ==
          std::vector<death>{{3, {}, {}}, {4, {}, {}}});
    CHECK(explain_deaths(ids{3, 4}, notes{{3, 3, self}, {0, 0, self}}, ids{3, 4}) ==
          std::vector<death>{{3, {}, self}, {4, {}, self}});
}

TEST_CASE("a recording of all clients tells the deaths that items prove") {
    script demo;
    add(demo, 100, {});
    for (int i = 0; i < 5; ++i) demo.message(kill({5, 5, self}));
    demo.message(kill({0, 0, self}));
    add(demo, 102, {5});
    add(demo, 104, {5}); // the same item: an event is in one snapshot
    demo.message(kill({2, 3, gun}));
    add(demo, 106, {});
    add(demo, 108, {3}); // late, as ticks were left out
    demo.message(kill({1, 1, -3}));
    demo.message(kill({0, 0, -3}));
    add(demo, 110, {});
    add(demo, 112, {});
    add(demo, 114, {});
    add(demo, 116, {});
    demo.message(kill({4, 4, -3}));
    CHECK(demo.events() ==
          lines({"102 bot5 died (self)", "108 bot2 killed bot3 with gun",
                 "114 ? died (game), messages name bot1 or bot0", "116 ? died (game), messages name bot4"}));
}

TEST_CASE("a recording of one client tells its messages, and the deaths that it saw without one") {
    for (auto const& type : {"client", "server"}) {
        script demo{type};
        add(demo, 100, {}, 0);
        demo.message(kill({5, 5, self}));
        add(demo, 102, {5, 4}, 0); // the message about 4 comes late
        add(demo, 110, {3}, 0);    // none about 3
        demo.message(kill({1, 4, gun}));
        demo.message(chat(1, "gg"));
        demo.message(kill({2, 0, gun})); // out of sight
        add(demo, 300, {}, 0);
        CHECK(demo.events() == lines({"100 bot5 died (self)", "110 bot1 killed bot4 with gun", "110 bot1: gg",
                                      "110 bot2 killed bot0 with gun", "110 bot3 died"}));
    }
}

TEST_CASE("what was told before it is known that there is one receiver is told then") {
    script demo;
    add(demo, 100, {});
    demo.message(kill({5, 5, self}));
    add(demo, 102, {}, 0);
    CHECK(demo.events() == lines({"102 bot5 died (self)"}));
}

TEST_CASE("messages that cannot be read say nothing") {
    script demo{"client"};
    add(demo, 100, {}, 0);
    demo.message(chat(1, "gg"));
    demo.message({3 << 1});
    demo.message({1 << 1});
    demo.message({4 << 1, 1});
    demo.message({63 << 1});
    add(demo, 102, {}, 0);
    CHECK(demo.events() == lines({"100 bot1: gg"}));
}

TEST_CASE("a snapshot that hides the health of others was made for one client") {
    script demo;
    scene s = with_deaths({});
    s.add("player_info", 9, {{"client_id", 9}});
    s.add("character", 9, {{"health", 0}});
    demo.snapshot(100, s);
    demo.message(kill({5, 5, self}));
    add(demo, 102, {});
    CHECK(demo.events() == lines({"100 bot5 died (self)", "102 #9 left"}));
}

// ---- what is said once for each client -----------------------------------------------------------------------------

TEST_CASE("copies of what is said are told once") {
    script demo;
    add(demo, 100, {});
    demo.message(motd("welcome"));
    demo.message(motd("welcome"));
    demo.message(broadcast("hello"));
    add(demo, 102, {});
    demo.message(broadcast("hello")); // to a client that has come since
    demo.message(motd("welcome"));
    demo.message(broadcast("00:07"));
    add(demo, 602, {});
    demo.message(broadcast("hello"));
    CHECK(demo.events() == lines({"100 message of the day: welcome", "100 broadcast: hello",
                                  "102 race clock: 00:07", "602 broadcast: hello"}));

    script client{"client"}; // where it was sent twice, really
    add(client, 100, {}, 0);
    client.message(broadcast("hello"));
    add(client, 102, {}, 0);
    client.message(broadcast("hello"));
    CHECK(client.events() == lines({"100 broadcast: hello", "102 broadcast: hello"}));
}

TEST_CASE("who spoke is left open where clients know different ids") {
    for (bool const same_ids : {true, false}) {
        script demo;
        add(demo, 100, {});
        demo.message(chat(3, "gg"));
        demo.message(chat(0, "gg"));
        demo.message(chat(3, "gg"));
        demo.message(chat(1, "hi"));
        add(demo, 102, {});
        demo.message(chat(3, "gg"));
        demo.message(kill({2, 2, self}));
        if (!same_ids) demo.message(kill({0, 0, self}));
        add(demo, 104, {2});
        CHECK(demo.events() ==
              (same_ids
                   ? lines({"100 bot3: gg", "100 bot0: gg", "100 bot1: hi", "102 bot3: gg", "104 bot2 died (self)"})
                   : lines({"100 bot3 or bot0: gg", "100 bot1: hi", "102 bot3: gg", "104 bot2 died (self)"})));
    }
}

// ---- races ---------------------------------------------------------------------------------------------------------

TEST_CASE("times are written as clients do") {
    CHECK(time_text(389'000) == "6:29.00");
    CHECK(time_text(59'999) == "0:59.99");
    CHECK(time_text(-1'500) == "-0:01.50");
    CHECK(time_text(3'599'990) == "59:59.99");
    CHECK(time_text(3'989'120) == "1:06:29.12");
    CHECK(time_text(0) == "0:00.00");
}

TEST_CASE("scores are times where the server says so") {
    auto const time = [](scene& s, protocol p, std::int32_t score, std::int32_t id = 1) {
        score_reader const reader{s.finish(), p};
        return reader.time(id, score);
    };
    scene plain{p06};
    plain.add("game_info", 0, {});
    CHECK_FALSE(score_reader{plain.finish(), p06}.times());
    CHECK_FALSE(time(plain, p06, -389));
    scene odd{p06}; // with the number that is a race in 0.7
    odd.add("game_info", 0, {{"game_flags", 8}});
    CHECK_FALSE(score_reader{odd.finish(), p06}.times());

    scene race{protocol::ddnet};
    race.add("game_info_ex", 0, {{"flags", 1}});
    CHECK(score_reader{race.finish(), protocol::ddnet}.times());
    CHECK(time(race, protocol::ddnet, -389) == 389'000);
    CHECK(time(race, protocol::ddnet, INT32_MIN) == 2'147'483'648'000);
    CHECK_FALSE(time(race, protocol::ddnet, -9999));

    scene other{protocol::ddnet}; // of DDNet, but no race
    other.add("game_info_ex", 0, {{"flags", 2}});
    CHECK_FALSE(time(other, protocol::ddnet, -389));

    // Newer servers send it more exactly.
    race.add("ddnet_player", 1, {{"finish_time_seconds", 388}, {"finish_time_millis", 120}});
    race.add("ddnet_player", 2, {{"finish_time_seconds", -1}});
    race.add("ddnet_player", 3, {{"finish_time_seconds", -2}});
    score_reader const exact{race.finish(), protocol::ddnet};
    CHECK(exact.time(1, -389) == 388'120);
    CHECK_FALSE(exact.time(2, -389));
    CHECK(exact.time(3, -389) == 389'000);
    CHECK(exact.time(4, -389) == 389'000);

    scene v07{p07};
    v07.add("game_info", 0, {{"game_flags", 8}});
    CHECK(time(v07, p07, 389'120) == 389'120);
    CHECK_FALSE(time(v07, p07, -1));
    scene teams{p07};
    teams.add("game_info", 0, {{"game_flags", 1}});
    CHECK_FALSE(time(teams, p07, 5));
    scene data{p07};
    data.add("game_data_race", 0, {});
    CHECK(time(data, p07, 1000) == 1000);
}

TEST_CASE("players of a race have times and clocks, and the fastest is the first") {
    scene s{protocol::ddnet};
    s.add("game_info_ex", 0, {{"flags", 1}});
    s.add("game_info", 0, {{"game_state_flags", 8}, {"warmup_timer", -1000}});
    s.add("player_info", 1, {{"client_id", 1}, {"score", -9999}, {"local", 1}});
    s.add("player_info", 2, {{"client_id", 2}, {"score", -400}});
    s.add("player_info", 3, {{"client_id", 3}, {"score", -389}});
    auto const players = read_players(s.finish(), protocol::ddnet, {}, 2030);
    REQUIRE(players.size() == 3);
    CHECK(players[0].client_id == 3);
    CHECK(players[0].time == 389'000);
    CHECK(players[0].score == -389);
    CHECK(players[1].client_id == 2);
    CHECK_FALSE(players[2].time);
    CHECK_FALSE(players[2].score);
    CHECK(players[2].race == 1030);
    CHECK_FALSE(players[0].race);
    CHECK(to_text(players, 3) == "3 players: #3, time 6:29.00; #2, time 6:40.00; #1, race 0:20.6");
    CHECK_FALSE(read_players(s.finish(), protocol::ddnet, {}, 999)[2].race); // begins later

    scene watching{p06};
    watching.add("game_info", 0, {{"game_state_flags", 8}, {"warmup_timer", -1000}});
    watching.add("player_info", 1, {{"client_id", 1}, {"local", 1}});
    watching.add("spectator_info", 1, {{"spectator_id", 2}});
    auto const races = read_races(watching.finish(), p06);
    REQUIRE(races.size() == 1);
    CHECK(races[0].client_id == 2);
    CHECK(races[0].start_tick == 1000);

    scene warmup{p06}; // of another game, in ticks that are left
    warmup.add("game_info", 0, {{"warmup_timer", 500}});
    warmup.add("player_info", 1, {{"client_id", 1}, {"local", 1}});
    CHECK(read_races(warmup.finish(), p06).empty());

    scene v07{p07};
    v07.add("player_info_race", 4, {{"race_start_tick", 70}});
    auto const of_07 = read_races(v07.finish(), p07);
    REQUIRE(of_07.size() == 1);
    CHECK(of_07[0].client_id == 4);
    CHECK(of_07[0].start_tick == 70);
}

TEST_CASE("messages about races") {
    auto const said = [](message_type type, protocol p, std::vector<std::int32_t> const& fields) {
        test::happenings h{p};
        scene game{p};
        if (p == p07) game.add("client_info", 3, {{"local", 1}}, "alice");
        else game.add("client_info", 3, {}, "alice");
        game.add("player_info", 3, {{"client_id", 3}, {"local", 1}});
        h.snapshot(100, game);
        h.message(test::say(type, p, fields));
        h.finish();
        return h.told().empty() ? std::string{} : to_text(h.told().front());
    };
    auto const ddnet = protocol::ddnet;
    CHECK(said(message_type::race_time, ddnet, {2064, 1282, 0}) ==
          "alice passed a checkpoint at 0:20.64 (+0:12.82)");
    CHECK(said(message_type::race_time, ddnet, {2064, 0, 0}) == ""); // sets the clock
    CHECK(said(message_type::race_time_legacy, ddnet, {38912, -150, 1}) == "alice finished in 6:29.12 (-0:01.50)");
    CHECK(said(message_type::race_time, ddnet, {38912, 0, 1}) == "alice finished in 6:29.12");
    CHECK(said(message_type::race_finish, ddnet, {3, 389'120, -1500, 1, 0}) ==
          "alice finished in 6:29.12 (-0:01.50), a personal record");
    CHECK(said(message_type::race_finish, ddnet, {3, 389'120, 0, 1}) ==
          "alice finished in 6:29.12, a personal record");
    CHECK(said(message_type::race_finish_07, p07, {3, 389'120, 1500, 1, 1}) ==
          "alice finished in 6:29.12 (+0:01.50), the server's record");
    CHECK(said(message_type::checkpoint, p07, {-250}) == "alice passed a checkpoint (-0:00.25)");
    CHECK(said(message_type::record, ddnet, {38000, 38912}) == "best times: server 6:20.00, alice 6:29.12");
    CHECK(said(message_type::record, ddnet, {0, 38912}) == "best times: alice 6:29.12");
    CHECK(said(message_type::record_legacy, ddnet, {38000, 0}) == "best times: server 6:20.00");
    CHECK(said(message_type::record, ddnet, {0, 0}) == "");
    CHECK(said(message_type::race_finish, ddnet, {3, 389'120}) == ""); // half of one
    CHECK(said(message_type::motd, ddnet, {0}) == "");
    CHECK(is_race_clock("00:06"));
    CHECK(is_race_clock("123:59"));
    for (std::string_view const text : {"0:06", "00:6", "00:060", "00.06", "at 00:06", "", ":", "00:"})
        CHECK_FALSE(is_race_clock(text));
}

TEST_CASE("news about a race name whom they are about, if that is known") {
    std::vector<std::uint8_t> finish{0};
    auto const& uuid = describe(message_type::race_time).extended.bytes;
    finish.insert(finish.end(), uuid.begin(), uuid.end());
    for (std::uint8_t const byte : {0x90, 0x20, 0x00, 0x01}) finish.push_back(byte); // 2064, 0, 1
    script of_one{"client"};
    add(of_one, 100, {}, 4);
    of_one.message(finish);
    CHECK(of_one.events() == lines({"100 bot4 finished in 0:20.64"}));
    script of_all;
    add(of_all, 100, {});
    of_all.message(finish);
    CHECK(of_all.events() == lines({"100 ? finished in 0:20.64"}));
}
