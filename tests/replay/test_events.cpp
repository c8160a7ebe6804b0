#include "happenings.hpp"

#include "events/announcement.hpp"
#include "events/event_printer.hpp"
#include "events/player_counts.hpp"

#include <teewire/message_types.hpp>

using namespace teewire;
using namespace teewire::replay;
using test::happenings;
using test::say;
using test::scene;
using receivers = test::happenings::receivers;

namespace {

constexpr auto p06 = protocol::teeworlds_06;
constexpr auto p07 = protocol::teeworlds_07;
constexpr auto ddnet = protocol::ddnet;

std::string lines(std::initializer_list<std::string_view> each) {
    return fmt::format("{}\n", fmt::join(each, "\n"));
}

struct body {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t weapon = 1;
    std::int32_t attack_tick = 0;
    std::int32_t hook_state = 0;
    std::int32_t hooked_player = -1;
    std::int32_t tick = 0;
    std::int32_t vel_x = 0;
};

constexpr std::array<std::string_view, 4> player_names = {"alice", "bob", "carl", "dora"};

scene game(protocol p, std::initializer_list<std::uint16_t> present = {0, 1, 2}) {
    scene s{p};
    for (std::uint16_t const id : present) {
        if (p == p07) s.add("client_info", id, {{"local", 0}}, player_names[id]);
        else s.add("client_info", id, {}, player_names[id]);
        s.add("player_info", id, {{"client_id", id}});
    }
    return s;
}

void add(scene& s, std::uint16_t id, body const& b) {
    s.add("character", id,
          {{"x", b.x},
           {"y", b.y},
           {"weapon", b.weapon},
           {"attack_tick", b.attack_tick},
           {"hook_state", b.hook_state},
           {"hooked_player", b.hooked_player},
           {"tick", b.tick},
           {"vel_x", b.vel_x},
           {"health", 10}});
}

void hear(scene& s, std::uint16_t id, std::int32_t sound, std::int32_t x, std::int32_t y = 0) {
    s.add("event_sound_world", id, {{"x", x}, {"y", y}, {"sound_id", sound}});
}

} // namespace

// ---- messages ------------------------------------------------------------------------------------------------------

TEST_CASE("kill messages become events") {
    auto const line = [](std::int32_t killer, std::int32_t victim, std::int32_t weapon) {
        happenings h{p06};
        scene s = game(p06);
        h.snapshot(100, s);
        h.message(say(message_type::kill, p06, {killer, victim, weapon, 0}));
        return h.lines();
    };
    CHECK(line(0, 1, 0) == "100 observed alice killed bob with hammer\n");
    CHECK(line(0, 1, -1) == "100 observed alice killed bob with world\n");
    CHECK(line(1, 1, -1) == "100 observed bob died (world)\n");
    CHECK(line(1, 1, -2) == "100 observed bob died (self)\n");
    CHECK(line(-1, 9, -3) == "100 observed #9 died (game)\n");
    CHECK(line(1, 1, 3) == "100 observed bob died (own grenade)\n");
    CHECK(line(0, 1, 77) == "100 observed alice killed bob with weapon 77\n");
}

TEST_CASE("a player does not die twice in a tick") {
    happenings h{p06}; // a server's recording that looks like a client's: it has the message to each client
    scene s = game(p06);
    h.snapshot(100, s);
    for (int i = 0; i < 2; ++i) {
        h.message(say(message_type::kill, p06, {0, 1, 1, 0}));
        h.message(say(message_type::kill, p06, {1, 0, 1, 0}));
    }
    h.tick(102);
    h.message(say(message_type::kill, p06, {0, 1, 1, 0}));
    CHECK(h.lines() == lines({"100 observed alice killed bob with gun", "100 observed bob killed alice with gun",
                              "102 observed alice killed bob with gun"}));
}

TEST_CASE("a kill has its position, and says whether the killer was in sight") {
    happenings h{p06};
    scene s = game(p06);
    add(s, 0, {.x = 100});
    add(s, 1, {.x = 200, .y = 50});
    h.snapshot(100, s);
    h.message(say(message_type::kill, p06, {0, 1, 1, 0}));
    h.message(say(message_type::kill, p06, {2, 0, 1, 0}));
    h.finish();
    REQUIRE(h.told().size() == 2);
    CHECK(h.told()[0].client == participant{0, "alice"});
    CHECK(h.told()[0].target == participant{1, "bob"});
    CHECK(h.told()[0].where == position{200, 50});
    CHECK(h.told()[0].client_seen == true);
    CHECK(h.told()[1].client_seen == false);
    CHECK(h.told()[1].where == position{100, 0});
}

TEST_CASE("what is said") {
    auto const line = [](protocol p, std::vector<std::int32_t> const& fields, std::string const& text) {
        happenings h{p};
        scene s = game(p);
        h.snapshot(100, s);
        h.message(say(message_type::chat, p, fields, {text}));
        return h.lines();
    };
    CHECK(line(p06, {0, 0}, "hi\x1b[2J") == "100 observed alice: hi [2J\n");
    CHECK(line(p06, {1, 0}, "hi") == "100 observed alice (team): hi\n");
    CHECK(line(p06, {3, 0}, "hi") == "100 observed alice (whisper): hi\n");
    CHECK(line(p07, {1, 0, -1}, "hi") == "100 observed alice: hi\n");
    CHECK(line(p07, {2, 0, -1}, "hi") == "100 observed alice (team): hi\n");
    CHECK(line(p06, {0, -1}, "hi") == "100 observed *** hi\n");
    CHECK(line(p06, {0, 0}, " ") == "");
    for (protocol const p : {p06, p07}) { // any team may be named
        std::int32_t const none = p == p07 ? 0 : -1;
        auto const said = [&](std::int32_t team) {
            std::vector<std::int32_t> fields{team, 3};
            if (p == p07) fields.push_back(none);
            return line(p, fields, "hello");
        };
        CHECK(said(INT32_MIN) == "100 observed #3: hello\n");
        CHECK(said(INT32_MAX) == "100 observed #3 (whisper): hello\n");
    }

    happenings h{p06};
    scene s = game(p06);
    h.snapshot(100, s);
    h.message(say(message_type::broadcast, p06, {}, {"a\nb"}));
    h.message(say(message_type::broadcast, p06, {}, {" "}));
    h.message(say(message_type::broadcast, p06, {}, {"00:06"}));
    h.message(say(message_type::motd, p06, {}, {"welcome"}));
    CHECK(h.lines() == lines({"100 observed broadcast: a b", "100 observed race clock: 00:06",
                              "100 observed message of the day: welcome"}));
}

TEST_CASE("servers' recordings hold messages in the form of both protocols") {
    happenings h{ddnet, happenings::receivers::all};
    scene s = game(ddnet);
    h.snapshot(100, s);
    auto const chat = [&](protocol p, std::vector<std::int32_t> const& fields, std::string const& text) {
        h.message(say(message_type::chat, p, fields, {text}));
    };
    // As long as only clients of 0.6 are seen, anything may be said in a team.
    chat(ddnet, {1, 1}, "@first");
    // The snapshot that a client of 0.7 gets.
    h.message(std::vector<std::uint8_t>{8 << 1 | 1, 1, 2, 3, 4, 5});
    for (protocol const p : {ddnet, p07}) {
        bool const is_07 = p == p07;
        auto const to_all = [&](std::int32_t mode, std::int32_t client) {
            return is_07 ? std::vector<std::int32_t>{mode + 1, client, -1}
                         : std::vector<std::int32_t>{mode, client};
        };
        chat(p, to_all(0, 1), "hello");
        chat(p, to_all(0, 1), "@all");
        chat(p, to_all(1, 2), "mates");
        chat(p, to_all(0, -1), "welcome");
        h.message(is_07 ? say(message_type::vote_set, p, {2, 1, 25}, {"kick", "no reason"})
                        : say(message_type::vote_set, p, {25}, {"kick", "no reason"}));
        h.message(say(message_type::kill, p, {1, 2, 0, 0}, {}));
    }
    // A change of team is not a kill, as 0.6 would read it.
    h.message(say(message_type::team, p07, {2, 1, 0, 5000}, {}));
    // Nor is a sound.
    h.message(say(message_type::sound_global, ddnet, {16}, {}));
    h.finish();
    CHECK(h.lines() == lines({"100 observed bob (team): @first", "100 observed bob: hello",
                              "100 observed bob: @all", "100 observed carl (team): mates",
                              "100 observed *** welcome", "100 observed carl called a vote: kick (no reason)",
                              "100 observed ? died (hammer), messages name carl"}));
}

TEST_CASE("whispers in servers' recordings come once, from whom and to whom") {
    struct {
        char const* who;
        std::vector<std::vector<std::int32_t>> copies; // the fields of each; 0.6 has two, 0.7 three
        std::optional<std::int32_t> client, target;
    } const cases[] = {
        {"0.6 to 0.6", {{2, 2}, {3, 1}}, 1, 2},
        {"0.6 to 0.7", {{2, 2}, {3, 1, 2}}, 1, 2},
        {"0.7 to 0.6", {{3, 1, 2}, {3, 1}}, 1, 2},
        {"0.7 to 0.7", {{3, 1, 2}, {3, 1, 2}}, 1, 2},
        {"only what came back to the speaker", {{2, 2}}, {}, 2},
        {"only what the receiver got", {{3, 1}}, 1, {}},
    };
    for (auto const& each : cases) {
        CAPTURE(each.who);
        happenings h{ddnet, happenings::receivers::all};
        scene s = game(ddnet);
        h.snapshot(100, s);
        h.message(std::vector<std::uint8_t>{8 << 1 | 1, 1, 2, 3, 4, 5});
        for (auto const& fields : each.copies)
            h.message(say(message_type::chat, fields.size() == 3 ? p07 : ddnet, fields, {"psst"}));
        h.finish();
        REQUIRE(h.told().size() == 1);
        game_event const& e = h.told()[0];
        CHECK(e.kind == game_event_kind::whisper);
        CHECK((e.client ? std::optional{e.client->client_id} : std::nullopt) == each.client);
        CHECK((e.target ? std::optional{e.target->client_id} : std::nullopt) == each.target);
    }
}

TEST_CASE("a whisper is from one player to another") {
    auto const whispers = [](std::int32_t team) {
        happenings h{ddnet};
        scene s{ddnet};
        s.add("client_info", 0, {}, "alice");
        s.add("client_info", 1, {}, "bob");
        s.add("player_info", 0, {{"client_id", 0}, {"local", 1}});
        s.add("player_info", 1, {{"client_id", 1}});
        h.snapshot(100, s);
        h.message(say(message_type::chat, ddnet, {team, 1}, {"psst"}));
        h.finish();
        REQUIRE(h.told().size() == 1);
        CHECK(h.told()[0].kind == game_event_kind::whisper);
        return h.told()[0];
    };
    CHECK(whispers(2).client == participant{0, "alice"}); // by the client itself
    CHECK(whispers(2).target == participant{1, "bob"});
    CHECK(whispers(3).client == participant{1, "bob"});
    CHECK(whispers(3).target == participant{0, "alice"});

    happenings h{p07};
    scene s = game(p07);
    h.snapshot(100, s);
    h.message(say(message_type::chat, p07, {3, 2, 1}, {"psst"}));
    h.finish();
    REQUIRE(h.told().size() == 1);
    CHECK(h.told()[0].client == participant{2, "carl"});
    CHECK(h.told()[0].target == participant{1, "bob"});
}

TEST_CASE("votes begin once, and end as the server says") {
    happenings h{p06};
    scene s = game(p06);
    h.snapshot(100, s);
    h.message(say(message_type::vote_set, p06, {25}, {"kick bob", "rude"}));
    h.tick(200);
    h.message(say(message_type::vote_set, p06, {20}, {"kick bob", "rude"})); // for who came since
    h.tick(300);
    h.message(say(message_type::vote_set, p06, {0}, {"", ""}));
    h.message(say(message_type::vote_set, p06, {0}, {"", ""}));
    h.message(say(message_type::chat, p06, {0, -1}, {"Vote passed"}));
    CHECK(h.lines() == lines({"100 observed ? called a vote: kick bob (rude)", "300 observed vote passed",
                              "300 observed *** Vote passed"}));
    happenings after{p06};
    after.snapshot(100, s);
    after.message(say(message_type::vote_set, p06, {25}, {"kick bob", ""}));
    after.message(say(message_type::chat, p06, {0, -1}, {"Vote failed"}));
    after.message(say(message_type::vote_set, p06, {0}, {"", ""}));
    CHECK(after.lines() == lines({"100 observed ? called a vote: kick bob", "100 observed *** Vote failed",
                                  "100 observed vote failed"}));

    // The chat names who called it, before the message or after it.
    for (bool const before : {true, false})
        for (char const* const words : {"'carl' called for vote to kick 'bob' (rude)",
                                        "'carl' called vote to change server option 'x' (rude)"}) {
            happenings named{p06};
            named.snapshot(100, s);
            auto const chat = say(message_type::chat, p06, {0, -1}, {words});
            if (before) named.message(chat);
            named.message(say(message_type::vote_set, p06, {25}, {"it", "rude"}));
            if (!before) named.message(chat);
            std::string const vote = "100 observed carl called a vote: it (rude)";
            std::string const line = fmt::format("100 observed *** {}", words);
            named.finish();
            CHECK(named.lines() == (before ? lines({line, vote}) : lines({vote, line})));
        }

    happenings v07{p07};
    scene t = game(p07);
    v07.snapshot(100, t);
    v07.message(say(message_type::vote_set, p07, {1, 1, 25}, {"map dm2", "bored"}));
    v07.message(say(message_type::vote_set, p07, {-1, 4, 0}, {"", ""}));
    CHECK(v07.lines() == lines({"100 observed bob called a vote: map dm2 (bored)", "100 observed vote aborted"}));
}

TEST_CASE("a finish is one, in however many ways the server says it") {
    auto const told = [](std::vector<std::vector<std::uint8_t>> const& messages) {
        happenings h{ddnet};
        scene s = game(ddnet);
        h.snapshot(100, s);
        for (auto const& m : messages) h.message(m);
        h.finish();
        std::vector<game_event> found;
        for (game_event const& e : h.told())
            if (e.kind == game_event_kind::finish) found.push_back(e);
        return found;
    };
    auto const chat = say(message_type::chat, ddnet, {0, -1}, {"bob finished in: 1 minute(s)  2.34 second(s)"});
    auto const all = say(message_type::race_finish, ddnet, {1, 62'345, -1500, 1, 0});
    auto const own = say(message_type::race_time, ddnet, {6234, 0, 1});
    for (auto const& messages : {std::vector{chat, all, own}, {own, all, chat}, {all}, {all, own}}) {
        auto const found = told(messages);
        REQUIRE(found.size() == 1);
        CHECK(found[0].client == participant{1, "bob"});
        CHECK(found[0].time == 62'345);
        CHECK(found[0].difference == -1500);
        CHECK(found[0].record == race_record::personal);
        CHECK(found[0].text.empty());
    }
    auto const old = told({chat});
    REQUIRE(old.size() == 1);
    CHECK(old[0].client == participant{1, "bob"});
    CHECK(old[0].time == 62'340);
    CHECK(told({all, say(message_type::race_finish, ddnet, {2, 62'345, 0, 0, 0})}).size() == 2);
    for (auto const* const text : {"bob finished in: ", "bob finished in: x minute(s) 1.00 second(s)",
                                   "bob finished in: 1 minute(s) 99999999999.0 second(s)", "finished in:"})
        CHECK(told({say(message_type::chat, ddnet, {0, -1}, {text})}).empty());
}

TEST_CASE("best times in a server's recording are of who has just run that time") {
    auto const record = say(message_type::record, ddnet, {4400, 6234});
    auto const chat = say(message_type::chat, ddnet, {0, -1}, {"bob finished in: 1 minute(s)  2.34 second(s)"});
    auto const slower = say(message_type::chat, ddnet, {0, -1}, {"bob finished in: 1 minute(s)  2.35 second(s)"});
    auto const best = [](std::vector<std::vector<std::uint8_t>> const& messages) {
        happenings h{ddnet, happenings::receivers::all};
        scene s = game(ddnet);
        h.snapshot(100, s);
        for (auto const& m : messages) h.message(m);
        h.finish();
        for (game_event const& e : h.told())
            if (e.kind == game_event_kind::best_times) return e.client;
        return std::optional{participant{-2, "none"}};
    };
    CHECK(best({record, chat}) == participant{1, "bob"});
    CHECK(best({chat, record}) == participant{1, "bob"});
    CHECK(best({record, slower}) == std::nullopt);
    CHECK(best({record}) == std::nullopt);
}

TEST_CASE("lines of the chat that announce a finish, and lines that do not") {
    constexpr struct {
        char const* text;
        char const* name;
        std::int64_t milliseconds;
    } finishes[] = {
        {"bob finished in: 1 minute(s)  2.34 second(s)", "bob", 62'340},
        {"bob finished in: 1 minute(s) 2.34 second(s)", "bob", 62'340},
        {"bob finished in: 1 minute(s) 2.345 second(s)", "bob", 62'345},
        {"bob finished in: 1 minute(s) 2.3 second(s)", "bob", 62'300},
        {"bob finished in: 0 minute(s)  0.01 second(s)", "bob", 10},
        {"bob finished in: 0 minute(s) 59.99 second(s)", "bob", 59'990},
        {"bob finished in: 59.871 second(s)", "bob", 59'871},
        {"bob finished in: 9.05 second(s)", "bob", 9'050},
        {"bob finished in: 75.5 second(s)", "bob", 75'500},
        {"bob finished in: 120 minute(s)  0.00 second(s)", "bob", 7'200'000},
        {"bob finished in: 1 minute(s) 02.34 second(s)", "bob", 62'340},
        {"bob finished in: 1 minute(s) 2.034 second(s)", "bob", 62'034},
        {"bob the 2nd finished in: 0 minute(s)  1.00 second(s)", "bob the 2nd", 1000},
        {"(1)bob finished in: 0 minute(s)  1.00 second(s)", "(1)bob", 1000},
        {"bob finished in: alice finished in: 0 minute(s)  1.00 second(s)", "bob finished in: alice", 1000},
        {"#bob finished in: 0 minute(s)  1.00 second(s)", "#bob", 1000},
        {"###bob finished in: 0 minute(s)  1.00 second(s)", "###bob", 1000},
        {"Your team finished in: 0 minute(s)  1.00 second(s)", "Your team", 1000},
        {"' finished in: 0 minute(s)  1.00 second(s)", "'", 1000},
        {"bob finished in:  7 minute(s) 11.11 second(s)", "bob", 431'110},
    };
    for (auto const& f : finishes) {
        CAPTURE(f.text);
        auto const found = read_announcement(f.text);
        REQUIRE(found);
        CHECK(found->kind == game_event_kind::finish);
        CHECK(found->name == f.name);
        CHECK(found->time == f.milliseconds);
    }
    constexpr char const* others[] = {
        "### bob finished in: 0 minute(s)  1.00 second(s)",
        "Your team would've finished in: 0 minute(s)  8.50 second(s)",
        "Your team would've finished in: 0 minute(s)  8.50 second(s). Since you had practice mode enabled your "
        "rank "
        "doesn't count.",
        " finished in: 0 minute(s)  1.00 second(s)",
        "bob finished in: 0 minute(s)  1.00 second(s)!",
        "bob finished in: 0 minute(s)  1.00 second(s) finished in: soon",
        "bob finished in: 0 minute(s)  1 second(s)",
        "bob finished in: 0 minute(s)  1. second(s)",
        "bob finished in: 0 minute(s)  1.0001 second(s)",
        "bob finished in: 0 minute(s) -1.00 second(s)",
        "bob finished in: -1 minute(s)  1.00 second(s)",
        "bob finished in: 1 minute(s)",
        "bob finished in: 1 minute(s) 1.00",
        "bob finished in: 1 minute(s)1.00 second(s)",
        "bob finished in: 1.00 minute(s) 1.00 second(s)",
        "bob finished in: 1,00 second(s)",
        "bob finished in: 9999999 minute(s)  1.00 second(s)",
        "bob finished in: 1:02.34",
        "bob finished in 0 minute(s)  1.00 second(s)",
        "bob finished: 0 minute(s)  1.00 second(s)",
        "bob finished in:",
        "",
    };
    for (auto const* const text : others) {
        CAPTURE(text);
        CHECK_FALSE(read_announcement(text));
    }
}

TEST_CASE("counts of two recordings add up, and the best time is the best of both") {
    player_counts const none;
    player_counts slow, fast;
    slow.finishes = 1;
    slow.best = 62'345;
    fast.finishes = 2;
    fast.best = 61'000;
    auto const sum = [](player_counts a, player_counts const& b) {
        a.add(b);
        return a;
    };
    CHECK(sum(slow, fast).finishes == 3);
    CHECK(sum(slow, fast).best == 61'000);
    CHECK(sum(fast, slow).best == 61'000);
    CHECK(sum(none, slow).best == 62'345);
    CHECK(sum(slow, none).best == 62'345);
    CHECK_FALSE(sum(none, none).best);
}

TEST_CASE("deaths that no weapon causes have words of their own") {
    CHECK(weapon_text(-1) == "world");
    CHECK(weapon_text(-2) == "self");
    CHECK(weapon_text(-3) == "game");
    CHECK(weapon_text(4) == "laser");
    CHECK(weapon_text(99) == "weapon 99");
    CHECK(weapon_text(-4) == "weapon -4");
}

// ---- who is there --------------------------------------------------------------------------------------------------

TEST_CASE("who comes and goes, and whether the server says so") {
    happenings h{p06};
    scene first = game(p06, {0});
    h.snapshot(100, first);
    h.message(say(message_type::chat, p06, {0, -1}, {"'bob' entered and joined the game"}));
    scene second = game(p06, {0, 1});
    h.snapshot(102, second);
    scene third = game(p06, {0, 1, 2});
    h.snapshot(104, third);
    scene fourth = game(p06, {0, 2});
    h.snapshot(106, fourth);
    h.message(say(message_type::chat, p06, {0, -1}, {"'bob' has left the game (bored (really))"}));
    scene fifth = game(p06, {0});
    h.snapshot(108, fifth);
    h.message(say(message_type::chat, p06, {0, -1}, {"'dora' has left the game"}));
    h.finish();
    CHECK(h.lines() == lines({"100 observed *** 'bob' entered and joined the game", "102 observed bob joined",
                              "104 derived carl joined", "106 observed bob left",
                              "106 observed *** 'bob' has left the game (bored (really))", "108 derived carl left",
                              "108 observed *** 'dora' has left the game"}));
    for (game_event const& e : h.told())
        if (e.kind == game_event_kind::leave && e.client->name == "bob") CHECK(e.text == "bored (really)");
}

TEST_CASE("0.7 says who comes and goes by id") {
    happenings h{p07};
    scene first = game(p07, {0});
    h.snapshot(100, first);
    h.message(say(message_type::demo_client_enter, p07, {}, {}));
    scene second = game(p07, {0, 1});
    std::vector<std::uint8_t> enter{
        static_cast<std::uint8_t>(describe(message_type::demo_client_enter).id_07 << 1), 'b', 'o', 'b', 0, 1, 0};
    h.message(enter);
    h.snapshot(102, second);
    scene third = game(p07, {0});
    h.message(say(message_type::client_drop, p07, {1}, {"gone fishing"}));
    h.snapshot(104, third);
    h.finish();
    CHECK(h.lines() == lines({"102 observed bob joined", "104 observed bob left"}));
    CHECK(h.told().back().text == "gone fishing");
}

TEST_CASE("servers of 0.7 say who comes") {
    happenings h{p07};
    scene first = game(p07, {0});
    h.snapshot(100, first);
    messages::client_info info;
    info.client_id = 1;
    info.name = "bob";
    std::array<std::uint8_t, 512> memory;
    auto const bytes = *encode(info, p07, memory);
    h.message({bytes.begin(), bytes.end()});
    scene second = game(p07, {0, 1});
    h.snapshot(102, second);
    h.finish();
    CHECK(h.lines() == "102 observed bob joined\n");
}

TEST_CASE("names and teams change") {
    happenings h{p06};
    scene first = game(p06, {0, 1});
    h.snapshot(100, first);
    scene second{p06};
    second.add("client_info", 0, {}, "ally");
    second.add("player_info", 0, {{"client_id", 0}, {"team", -1}});
    second.add("client_info", 1, {}, "bob", "clan");
    second.add("player_info", 1, {{"client_id", 1}, {"team", 1}});
    h.snapshot(102, second);
    h.finish();
    CHECK(h.lines() == lines({"102 derived alice is now ally", "102 derived ally joined the spectators",
                              "102 derived bob joined the blue team"}));
    // A client that has left gets no new name, even when its info stays.
    happenings gone{p06};
    gone.snapshot(100, first);
    scene third = game(p06, {0});
    third.add("client_info", 1, {}, "robert");
    gone.snapshot(102, third);
    gone.finish();
    CHECK(gone.lines().find("is now") == std::string::npos);
    CHECK(gone.lines().find("left") != std::string::npos);
}

// ---- what tees do --------------------------------------------------------------------------------------------------

TEST_CASE("a shot is told with its own tick, once, and not of the first snapshot") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, std::int32_t attack_tick) {
        scene s = game(p06);
        add(s, 0, {.x = tick, .weapon = 3, .attack_tick = attack_tick});
        h.snapshot(tick, s);
    };
    at(100, 100);
    at(102, 100);
    at(104, 103);
    at(106, 103);
    at(108, 106); // of the tick of the snapshot before, after it
    at(110, 999); // has not been yet
    at(112, -5);
    at(114, 90); // another player has the id now
    CHECK(h.lines() == lines({"103 derived alice fired grenade", "106 derived alice fired grenade"}));
}

TEST_CASE("hooks are told when they hold and let go") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, std::int32_t state, std::int32_t target = -1) {
        scene s = game(p06);
        add(s, 0, {.x = tick, .hook_state = state, .hooked_player = target});
        h.snapshot(tick, s);
    };
    at(100, 5); // held since an unknown tick
    at(102, 4);
    at(104, 5);
    at(106, 5);
    at(108, 0);
    at(110, 4);
    at(112, 5, 1);
    at(114, 5, 2); // let go of the one and caught the other between two snapshots
    at(116, -1);
    CHECK(h.lines() == lines({"102 derived alice threw the hook", "102 derived alice let go of the ground",
                              "104 derived alice hooked the ground", "108 derived alice let go of the ground",
                              "110 derived alice threw the hook", "112 derived alice hooked bob",
                              "114 derived alice let go of bob", "114 derived alice hooked carl",
                              "116 derived alice let go of carl"}));
}

TEST_CASE("a hook is thrown once, whether it holds in the same snapshot or not") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, std::int32_t state) {
        scene s = game(p06);
        add(s, 0, {.x = tick, .hook_state = state});
        h.snapshot(tick, s);
    };
    at(100, 0);
    at(102, 4);
    at(104, 4);
    at(106, 2); // on its way back
    at(108, -1);
    at(110, 5);
    CHECK(h.lines() == lines({"102 derived alice threw the hook", "110 derived alice threw the hook",
                              "110 derived alice hooked the ground"}));
}

TEST_CASE("a repeated sound of a hook is not one of an idle hook nearby") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, std::int32_t state, bool heard) {
        scene s = game(p06);
        add(s, 0, {.x = tick, .hook_state = state, .hooked_player = state == 5 ? 1 : -1});
        add(s, 1, {.x = tick - 20});
        add(s, 2, {.x = tick + 3});
        if (heard) hear(s, 0, 22, tick);
        h.snapshot(tick, s);
    };
    at(100, 0, false);
    at(102, 4, false);
    at(104, 5, true);
    at(106, 5, true);
    at(108, 5, false);
    CHECK(h.lines() == lines({"102 derived alice threw the hook", "104 observed alice hooked bob"}));
    // Nor is one that nothing explains.
    happenings other{p06};
    for (std::int32_t const tick : {100, 102}) {
        scene s = game(p06);
        add(s, 0, {.x = tick});
        hear(s, 0, 21, tick);
        other.snapshot(tick, s);
    }
    CHECK(other.lines() == "");
}

TEST_CASE("a hook whose item goes on to fly as predicted is heard to hold") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, std::int32_t state, std::int32_t since, std::int32_t sound = -1) {
        scene s = game(p06);
        add(s, 0, {.x = 1000, .hook_state = state, .tick = since, .vel_x = 2560}); // 10 units in a tick
        if (sound >= 0) hear(s, static_cast<std::uint16_t>(tick), sound, 1040);
        h.snapshot(tick, s);
    };
    at(100, 4, 100);
    at(104, 4, 100, 21);
    at(106, 4, 100);
    at(108, 5, 108); // the item is sent again
    at(110, 0, 110);
    at(112, 4, 112);
    at(114, 0, 114, 21); // held and let go between two snapshots
    CHECK(h.lines() == lines({"104 observed alice hooked the ground", "110 derived alice let go of the ground",
                              "112 derived alice threw the hook", "114 observed alice hooked the ground",
                              "114 derived alice let go of the ground"}));
}

TEST_CASE("who dies lets go") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, bool alive, bool died) {
        scene s = game(p06);
        if (alive) add(s, 0, {.hook_state = 5, .hooked_player = 1});
        if (died) s.add("event_death", 0, {{"client_id", 0}});
        h.snapshot(tick, s);
    };
    at(100, false, false);
    at(102, true, false);  // comes in sight with it
    at(104, false, false); // goes out of sight
    at(106, true, false);
    at(108, false, true);
    h.message(say(message_type::kill, p06, {0, 0, -2, 0}));
    CHECK(h.lines() == lines({"108 derived alice let go of bob", "108 observed alice died (self)"}));
}

TEST_CASE("freezing") {
    happenings h{ddnet};
    auto const at = [&](std::int32_t tick, std::int32_t freeze_end) {
        scene s = game(ddnet);
        add(s, 0, {.x = tick});
        s.add("ddnet_character", 0, {{"freeze_end", freeze_end}});
        h.snapshot(tick, s);
    };
    at(100, 0);
    at(102, 250);
    at(104, 254);
    at(106, 0);
    at(108, -1);
    CHECK(h.lines() == lines({"102 derived alice froze", "106 derived alice thawed", "108 derived alice froze"}));
}

TEST_CASE("a death and a freeze name who touched the tee last") {
    happenings h{ddnet};
    auto const at = [&](std::int32_t tick, std::int32_t hooked, std::int32_t freeze_end) {
        scene s = game(ddnet);
        add(s, 0, {.x = 0, .hook_state = hooked >= 0 ? 5 : 0, .hooked_player = hooked});
        add(s, 1, {.x = 100});
        s.add("ddnet_character", 1, {{"freeze_end", freeze_end}});
        h.snapshot(tick, s);
    };
    auto const touchers = [&](game_event_kind kind) {
        std::vector<std::string> found;
        for (game_event const& e : h.told())
            if (e.kind == kind) found.push_back(e.toucher ? e.toucher->name : "");
        return found;
    };
    auto const dies = [&] { h.message(say(message_type::kill, ddnet, {1, 1, -1, 0})); };
    at(100, -1, 0);
    dies(); // untouched
    at(102, 1, 0);
    at(110, -1, 900); // frozen
    for (std::int32_t tick = 150; tick <= 900; tick += 50) at(tick, -1, 900);
    dies(); // a long time after the touch, but never thawed since
    at(902, -1, 0);
    at(1050, -1, 0);
    dies(); // three seconds after it thawed
    at(1102, -1, 0);
    dies(); // later
    at(1110, -1, 900);
    h.finish();
    CHECK(touchers(game_event_kind::kill) == std::vector<std::string>{"", "alice", "alice", ""});
    CHECK(touchers(game_event_kind::freeze) == std::vector<std::string>{"alice", ""});
    for (game_event const& e : h.told())
        if (e.kind == game_event_kind::freeze && e.toucher) CHECK(to_text(e) == "bob froze, touched by alice");
}

TEST_CASE("a hammer touches, and a spawn forgets") {
    happenings h{p06};
    auto const at = [&](std::int32_t tick, std::int32_t attack, bool hit, bool spawned) {
        scene s = game(p06);
        add(s, 0, {.x = 0, .weapon = 0, .attack_tick = attack});
        add(s, 1, {.x = 50});
        if (hit) s.add("event_hammer_hit", 0, {{"x", 30}});
        if (spawned) s.add("event_spawn", 1, {{"x", 50}});
        h.snapshot(tick, s);
    };
    at(100, 0, false, false);
    at(102, 101, true, false);
    h.message(say(message_type::kill, p06, {1, 1, -1, 0}));
    at(110, 101, false, true);
    h.message(say(message_type::kill, p06, {1, 1, -1, 0}));
    CHECK(h.lines() == lines({"101 derived alice fired hammer", "102 observed alice hit bob with hammer",
                              "102 observed bob died (world), touched by alice", "110 observed bob spawned",
                              "110 observed bob died (world)"}));
}

TEST_CASE("weapons change") {
    happenings h{p06};
    for (std::int32_t const tick : {100, 102, 104, 106}) {
        scene s = game(p06);
        add(s, 0, {.x = tick, .weapon = tick < 104 ? 1 : 3});
        h.snapshot(tick, s);
    }
    CHECK(h.lines() == "104 derived alice took grenade\n");
}

TEST_CASE("a spawn names its tee, whichever of them a snapshot has first") {
    auto const told =
        [](std::vector<std::pair<std::int32_t, bool>> const& steps) { // where the tee is; whether it spawns
            happenings h{p06};
            std::int32_t tick = 100;
            for (auto const& [x, spawned] : steps) {
                scene s = game(p06);
                if (x >= 0) add(s, 0, {.x = x});
                add(s, 1, {.x = 3000});
                if (spawned) s.add("event_spawn", 0, {{"x", 1000}});
                h.snapshot(tick, s);
                tick += 2;
            }
            return h.lines();
        };
    CHECK(told({{-1, false}, {1000, true}}) == "102 observed alice spawned\n");
    CHECK(told({{-1, false}, {-1, true}, {1010, false}}) == "102 observed alice spawned\n");
    CHECK(told({{-1, false}, {1000, false}, {1004, true}}) == "104 observed alice spawned\n");
    CHECK(told({{200, false}, {1000, true}}) == "102 observed alice spawned\n"); // within one snapshot
    CHECK(told({{200, false}, {1000, false}, {1010, true}}) == "104 observed alice spawned\n");
    CHECK(told({{1000, false}, {1000, true}}) == "102 observed ? spawned\n"); // it was there all the time
    CHECK(told({{200, false}, {200, true}}) == "102 observed ? spawned\n");
}

TEST_CASE("who uses /spec neither dies nor spawns") {
    happenings h{ddnet, receivers::all};
    auto const at = [&](std::int32_t tick, std::int32_t flags, std::string_view effect = {}) {
        scene s = game(ddnet);
        s.add("ddnet_player", 0, {{"flags", flags}});
        if ((flags & 4) == 0) add(s, 0, {.x = 100});
        if (effect == "event_death") s.add(effect, 0, {{"x", 100}, {"client_id", 0}});
        if (effect == "event_spawn") s.add(effect, 0, {{"x", 100}});
        h.snapshot(tick, s);
    };
    at(100, 0);
    at(102, 4, "event_death");
    at(104, 4);
    at(106, 0, "event_spawn");
    at(108, 2); // /pause, with the tee in the game
    at(110, 2, "event_death");
    at(112, 0);
    CHECK(h.lines() == lines({"102 derived alice paused", "106 derived alice resumed", "108 derived alice paused",
                              "110 observed alice died", "112 derived alice resumed"}));
}

TEST_CASE("a tee that is not sent while it moves as predicted can pick things up") {
    happenings h{p07};
    scene before = game(p07);
    add(before, 0, {.x = 1000, .tick = 100, .vel_x = -1280});
    h.snapshot(100, before);
    scene s = game(p07);
    add(s, 0, {.x = 1000, .tick = 100, .vel_x = -1280}); // 5 units in a tick, and faster on the ground
    hear(s, 0, 24, 650, 100);
    hear(s, 1, 24, 0, 100); // farther than it can have run
    h.snapshot(140, s);
    CHECK(h.lines() == lines({"140 observed alice picked up health", "140 observed ? picked up health"}));
}

// ---- rounds and flags ----------------------------------------------------------------------------------------------

namespace {

struct round {
    std::int32_t start = 50;
    std::int32_t flags = 0; // of the state
    std::int32_t red = 0, blue = 0;
    std::int32_t red_flag = -2, blue_flag = -2; // at their stands
};

void add(scene& s, protocol p, round const& r) {
    if (p == p07) {
        s.add("game_data", 0, {{"game_start_tick", r.start}, {"game_state_flags", r.flags}});
        s.add("game_data_team", 0, {{"teamscore_red", r.red}, {"teamscore_blue", r.blue}});
        s.add("game_data_flag", 0, {{"flag_carrier_red", r.red_flag}, {"flag_carrier_blue", r.blue_flag}});
        return;
    }
    s.add("game_info", 0, {{"round_start_tick", r.start}, {"game_state_flags", r.flags}});
    s.add("game_data", 0,
          {{"teamscore_red", r.red},
           {"teamscore_blue", r.blue},
           {"flag_carrier_red", r.red_flag},
           {"flag_carrier_blue", r.blue_flag}});
}

std::string told(protocol p, std::vector<round> const& rounds) {
    happenings h{p};
    std::int32_t tick = 100;
    for (round const& r : rounds) {
        scene s{p};
        for (std::uint16_t const id : {0, 1}) {
            if (p == p07) s.add("client_info", id, {{"team", id}}, player_names[id]);
            else s.add("client_info", id, {}, player_names[id]);
            s.add("player_info", id, {{"client_id", id}, {"team", id}});
            add(s, id, {.x = id * 1000});
        }
        s.add("flag", 0, {{"x", 10}, {"team", 0}});
        s.add("flag", 1, {{"x", 500}, {"team", 1}});
        add(s, p, r);
        h.snapshot(tick, s);
        tick += 2;
    }
    return h.lines();
}

} // namespace

TEST_CASE("a tee whose position was sent long ago is where a client predicts it") {
    auto const x_after = [](std::int32_t ticks, std::int32_t speed, std::int32_t direction,
                            std::int32_t falling = 0) {
        tee t;
        t.at = {1000, 500};
        t.position_tick = 100;
        t.speed_x = speed;
        t.speed_y = falling;
        t.direction = direction;
        return expected_position(t, 100 + ticks).x;
    };
    CHECK(x_after(2, -512, -1) == 996);        // as fast as it was
    CHECK(x_after(100, -512, -1) == 12);       // faster up to 10 units a tick
    CHECK(x_after(100, 2560, -1) == 90);       // turns
    CHECK(x_after(100, 2560, 0) == 1010);      // comes to rest
    CHECK(x_after(100, 0, 1) == 1000);         // at a wall
    CHECK(x_after(100, 256, 1, 1000) == 1100); // in the air
    CHECK(x_after(INT32_MAX - 100, 2560, 1) == 1000 + 5000);
}

TEST_CASE("flags are taken, dropped, returned and captured") {
    for (protocol const p : {p06, p07}) {
        CHECK(told(p, {{}, {.blue_flag = 0}, {.blue_flag = -1}, {.blue_flag = 0}, {.red = 100}}) ==
              lines({"102 derived alice took the blue flag", "104 derived alice dropped the blue flag",
                     "106 derived alice took the blue flag", "108 derived alice captured the blue flag"}));
        // The red player is where the red flag lies; none is where the blue one does.
        CHECK(told(p, {{.red_flag = -1, .blue_flag = -1}, {}}) ==
              lines({"102 derived alice returned the red flag", "102 derived the blue flag returned"}));
        CHECK(told(p, {{.red_flag = 1}, {}}) == // fell where no flag can lie
              lines({"102 derived bob dropped the red flag", "102 derived the red flag returned"}));
        CHECK(told(p, {{}, {.red_flag = -1}}) ==
              lines({"102 derived ? took the red flag", "102 derived ? dropped the red flag"}));
        CHECK(told(p, {{.red_flag = 1}, {.red_flag = 0}}) ==
              lines({"102 derived bob dropped the red flag", "102 derived alice took the red flag"}));
        CHECK(told(p, {{.red_flag = -3}, {.red_flag = -2}, {.red_flag = -3}}) == "");
        CHECK(told(p, {{.red_flag = INT32_MIN}, {.red_flag = INT32_MAX}}).find("took the red flag") !=
              std::string::npos);
        CHECK(told(p, {{.red_flag = 1}, {.start = 101}}) == "102 derived the round started\n");
    }
}

TEST_CASE("rounds end and start, and games are paused") {
    constexpr std::int32_t over_06 = 1, paused_06 = 4, roundover_07 = 4, gameover_07 = 8, paused_07 = 16,
                           countdown_07 = 32;
    CHECK(told(p06, {{.red = 3, .blue = 5}, {.flags = over_06 | paused_06, .red = 3, .blue = 5}, {.start = 104}}) ==
          lines({"102 derived the round ended: red 3, blue 5", "104 derived the round started"}));
    CHECK(told(p06, {{}, {.start = 51, .flags = paused_06}, {.start = 53, .flags = paused_06}, {.start = 54}}) ==
          lines({"102 derived the game was paused", "106 derived the game went on"}));
    CHECK(told(p07, {{.red = 1},
                     {.flags = roundover_07, .red = 1},
                     {.start = 104, .flags = countdown_07},
                     {.start = 105}}) ==
          lines({"102 derived the round ended: red 1, blue 0", "106 derived the round started"}));
    CHECK(told(p07, {{}, {.flags = gameover_07}}) == "102 derived the round ended: red 0, blue 0\n");
    CHECK(told(p07, {{}, {.flags = paused_07}, {.start = 52, .flags = countdown_07}, {.start = 54}}) ==
          lines({"102 derived the game was paused", "104 derived the game went on"}));
    // Without teams, the player with the most points wins, unless another has as many.
    auto const ended = [](std::int32_t bobs) {
        happenings h{p06};
        for (bool const over : {false, true}) {
            scene s{p06};
            for (std::uint16_t const id : {0, 1, 2}) {
                s.add("client_info", id, {}, player_names[id]);
                s.add("player_info", id,
                      {{"client_id", id}, {"score", id == 1 ? bobs : 7}, {"team", id == 2 ? -1 : 0}});
            }
            s.add("game_info", 0, {{"game_state_flags", over ? over_06 : 0}});
            h.snapshot(over ? 102 : 100, s);
        }
        return h.lines();
    };
    CHECK(ended(20) == "102 derived the round ended: bob won, 20\n");
    CHECK(ended(-3) == "102 derived the round ended: alice won, 7\n");
    CHECK(ended(7) == "102 derived the round ended\n");
}

// ---- what players are besides --------------------------------------------------------------------------------------

TEST_CASE("players of 0.7 are ready or not") {
    happenings h{p07};
    for (std::int32_t const tick : {100, 102, 104}) {
        scene s{p07};
        s.add("client_info", 0, {}, "alice");
        s.add("player_info", 0, {{"player_flags", tick == 102 ? 8 : 0}});
        h.snapshot(tick, s);
    }
    CHECK(h.lines() == lines({"102 derived alice is ready", "104 derived alice is not ready"}));
}

TEST_CASE("whom a spectator watches") {
    happenings h{p06};
    std::int32_t tick = 100;
    for (std::int32_t const watched : {1, -1, 2, -9, 1, 1}) {
        scene s{p06};
        for (std::uint16_t const id : {0, 1, 2}) {
            s.add("client_info", id, {}, player_names[id]);
            s.add("player_info", id, {{"client_id", id}, {"local", id == 0 ? 1 : 0}});
        }
        if (watched >= -1) s.add("spectator_info", 0, {{"spectator_id", watched}});
        h.snapshot(tick, s);
        tick += 2;
    }
    CHECK(h.lines() == lines({"102 derived alice watches freely", "104 derived alice watches carl",
                              "106 derived alice stopped watching", "108 derived alice watches bob"}));
}

TEST_CASE("race teams change, and the first ones are none that do") {
    for (receivers const who : {receivers::one, receivers::all}) {
        happenings h{ddnet, who};
        scene s = game(ddnet);
        h.snapshot(100, s);
        h.message(say(message_type::teams_state, ddnet, {0, 1, 1, 0}));
        h.message(say(message_type::teams_state, ddnet, {5, 1, 0, 7}));
        h.message(say(message_type::teams_state, ddnet, {5, 1, 0, 7})); // for another client
        CHECK(h.lines() ==
              lines({"100 observed alice joined race team 5", "100 observed carl left the race team"}));
    }
    happenings broken{ddnet};
    scene s = game(ddnet);
    broken.snapshot(100, s);
    auto bytes = say(message_type::teams_state, ddnet, {0, 1});
    broken.message(bytes);
    bytes.back() = 0xff; // an int that does not end
    broken.message(bytes);
    CHECK(broken.lines() == "");
}

TEST_CASE("emoticons") {
    happenings h{p06, receivers::all};
    scene s = game(p06);
    h.snapshot(100, s);
    h.message(say(message_type::emoticon, p06, {0, 2}));
    h.message(say(message_type::emoticon, p06, {0, 2})); // for another client
    h.message(say(message_type::emoticon, p06, {1, 16}));
    h.message(say(message_type::emoticon, p06, {1, -1}));
    h.message(say(message_type::emoticon, p06, {-1, 0}));
    CHECK(h.lines() == lines({"100 observed alice shows hearts", "100 observed bob shows emoticon 16",
                              "100 observed bob shows emoticon -1"}));
}

TEST_CASE("spawns, pickups and hits go to whom they fit") {
    happenings h{p06};
    scene before = game(p06);
    add(before, 0, {.x = 0, .weapon = 0});
    add(before, 1, {.x = 50, .weapon = 1});
    before.add("pickup", 0, {{"x", 500}, {"type", 2}, {"subtype", 4}});
    h.snapshot(100, before);
    scene s = game(p06);
    add(s, 0, {.x = 0, .weapon = 0, .attack_tick = 101});
    add(s, 1, {.x = 50, .weapon = 1});
    add(s, 2, {.x = 520, .weapon = 1});
    s.add("event_spawn", 0, {{"x", 519}});
    s.add("event_hammer_hit", 1, {{"x", 30}});
    hear(s, 2, 27, 500);
    hear(s, 3, 27, 60);
    hear(s, 4, 24, 5000);
    h.snapshot(102, s);
    h.snapshot(104, s); // the same events
    CHECK(h.lines() == lines({"101 derived alice fired hammer", "102 observed carl spawned",
                              "102 observed alice hit bob with hammer", "102 observed carl picked up laser",
                              "102 observed bob picked up shotgun", "102 observed ? picked up health"}));
}

TEST_CASE("of two who are near, the one picks it up who has more then") {
    happenings h{p06};
    scene before{p06}, after{p06};
    for (scene* const s : {&before, &after})
        for (std::uint16_t const id : {0, 1}) {
            s->add("client_info", id, {}, player_names[id]);
            s->add("player_info", id, {{"client_id", id}});
        }
    before.add("character", 0, {{"health", 10}});
    before.add("character", 1, {{"x", 30}, {"health", 5}});
    after.add("character", 0, {{"health", 10}});
    after.add("character", 1, {{"x", 30}, {"health", 6}, {"armor", 1}});
    hear(after, 0, 24, 0);
    hear(after, 1, 25, 0);
    hear(after, 2, 26, 0);
    h.snapshot(100, before);
    h.snapshot(102, after);
    CHECK(h.lines() == lines({"102 observed bob picked up health", "102 observed bob picked up armor",
                              "102 observed alice picked up grenade"}));
}

TEST_CASE("the sound of a hit goes to who hit, and damage to whom") {
    for (protocol const p : {p06, p07}) {
        happenings h{p, receivers::all};
        scene before = game(p);
        h.snapshot(100, before);
        scene s = game(p);
        add(s, 0, {.x = 0, .weapon = 2});
        add(s, 1, {.x = 400});
        if (p == p06) s.add("event_damage_ind", 0, {{"x", 400}});
        else s.add("event_damage", 0, {{"x", 400}, {"client_id", 1}});
        hear(s, 1, 31, 0);
        h.snapshot(102, s);
        CHECK(h.lines() == "102 observed alice hit bob with shotgun\n");
    }
}

TEST_CASE("a hammer that hits somebody is told once, although its sound is heard as well") {
    happenings h{p06, receivers::all};
    scene before = game(p06);
    add(before, 0, {.weapon = 0});
    add(before, 1, {.x = 50, .weapon = 1});
    h.snapshot(100, before);
    scene s = game(p06);
    add(s, 0, {.weapon = 0, .attack_tick = 101});
    add(s, 1, {.x = 50, .weapon = 1});
    s.add("event_hammer_hit", 0, {{"x", 30}});
    hear(s, 1, 31, 0);
    h.snapshot(102, s);
    CHECK(h.lines() == lines({"101 derived alice fired hammer", "102 observed alice hit bob with hammer"}));
}

// ---- order ---------------------------------------------------------------------------------------------------------

TEST_CASE("markers and other maps are told where they are") {
    happenings h{p06, receivers::one, {300, 102, 900}};
    scene s = game(p06);
    h.snapshot(100, s);
    h.message(say(message_type::chat, p06, {0, 0}, {"hi"}));
    h.tick(500);
    h.message(say(message_type::chat, p06, {0, 0}, {"ho"}));
    h.tick(560);
    h.begin();
    h.snapshot(10, s);
    h.message(say(message_type::chat, p06, {0, 0}, {"new"}));
    CHECK(h.lines() ==
          lines({"100 observed alice: hi", "102 observed marker", "300 observed marker", "500 observed alice: ho",
                 "900 observed marker", "-1 observed map: dm1", "10 observed alice: new", "102 observed marker",
                 "300 observed marker", "900 observed marker"}));
    CHECK(h.told()[3].seconds == 8);
}

TEST_CASE("of one receiver everything is told when it is a second old") {
    happenings h{p06};
    scene s = game(p06);
    h.snapshot(100, s);
    h.message(say(message_type::chat, p06, {0, 0}, {"hi"}));
    h.tick(150);
    CHECK(h.told().empty());
    h.tick(151);
    CHECK(h.told().size() == 1);
}

TEST_CASE("floods take no longer than they are") {
    for (receivers const who : {receivers::one, receivers::all}) {
        happenings h{p06, who};
        scene s = game(p06);
        h.snapshot(100, s);
        for (int i = 0; i < 100'000; ++i) {
            h.message(say(message_type::chat, p06, {0, i % 64}, {fmt::format("{}", i / 64)}));
            h.message(say(message_type::chat, p06, {0, -1}, {fmt::format("'{}' has left the game", i)}));
            h.message(say(message_type::kill, p06, {0, i, 0, 0}));
        }
        h.finish();
        CHECK(h.told().size() >= 200'000);
    }
}

// ---- printing ------------------------------------------------------------------------------------------------------

namespace {

std::string print(event_format format, std::vector<game_event> const& events,
                  std::optional<std::string> const& file = {}) {
    auto const printer = make_event_printer(format, file, csv_texts::safe);
    text_buffer out;
    out.write(printer->head());
    for (game_event const& e : events) printer->print(out, e);
    printer->finish(out);
    return std::string{out.view()};
}

game_event said_at(double seconds, std::string_view text) {
    game_event e;
    e.kind = game_event_kind::chat;
    e.tick = 100;
    e.seconds = seconds;
    e.client = participant{1, "bob"};
    e.text = text;
    return e;
}

} // namespace

TEST_CASE("events as JSON and CSV") {
    game_event e = said_at(1.5, "=1+1, \"x\"");
    e.where = position{3, -4};
    e.time = 1234;
    e.weapon = 3;
    e.client_seen = false;
    CHECK(print(event_format::ndjson, {e}) ==
          "{\"kind\":\"chat\",\"known\":\"observed\",\"tick\":100,\"seconds\":1.5,\"client\":1,\"name\":\"bob\","
          "\"weapon\":\"grenade\",\"killer_seen\":false,\"time_ms\":1234,\"x\":3,\"y\":-4,"
          "\"text\":\"=1+1, \\\"x\\\"\"}\n");
    CHECK(print(event_format::csv, {e}, "a.demo") ==
          "file,kind,known,tick,seconds,client,name,target,target_name,weapon,killer_seen,team,time_ms,"
          "difference_ms,server_time_ms,record,x,y,text,toucher,toucher_name\n"
          "\"a.demo\",chat,observed,100,1.50,1,\"bob\",,,grenade,0,,1234,,,,3,-4,\"'=1+1, \"\"x\"\"\",,\n");
    CHECK(print(event_format::text, {e}, "a.demo") == "a.demo: 0:01.5  bob: =1+1, \"x\"\n");
}

TEST_CASE("events as subtitles: lines come and go") {
    CHECK(print(event_format::srt, {said_at(1, "a"), said_at(1, "b"), said_at(3661.25, "<i>c")}) ==
          "1\n00:00:01,000 --> 00:00:06,000\nbob: a\nbob: b\n\n"
          "2\n01:01:01,250 --> 01:01:06,250\nbob: <\u2060i>c\n\n");
    CHECK(print(event_format::srt, {said_at(1, "a"), said_at(3, "b")}) ==
          "1\n00:00:01,000 --> 00:00:03,000\nbob: a\n\n2\n00:00:03,000 --> 00:00:06,000\nbob: a\nbob: b\n\n"
          "3\n00:00:06,000 --> 00:00:08,000\nbob: b\n\n");
    CHECK(print(event_format::srt, {}) == "");
}

TEST_CASE("every kind has a name of its own") {
    for (std::size_t i = 0; i < game_event_kind_count; ++i) {
        auto const kind = static_cast<game_event_kind>(i);
        CHECK(find_event_kind(name(kind)) == kind);
        game_event e;
        e.kind = kind;
        CHECK_FALSE(to_text(e).empty());
    }
    CHECK_FALSE(find_event_kind("nothing"));
}
