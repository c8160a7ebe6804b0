// Which words of a recording are names.
#include "happenings.hpp"
#include "scene.hpp"

#include "edit/redact.hpp"

using namespace teewire;
using namespace teewire::replay;
using test::scene;

namespace {

constexpr auto p06 = protocol::teeworlds_06;

// The server's lines in a demo of these players, once their names are gone.
std::string without_names(std::vector<std::string> const& players, std::string const& line) {
    scene s{p06};
    s.add("game_info", 0, {});
    for (std::uint16_t id = 0; id < players.size(); ++id) {
        s.add("client_info", id, {}, players[id]);
        s.add("player_info", id, {{"client_id", id}});
    }
    test::script demo;
    demo.snapshot(100, s);
    demo.message(test::say(message_type::chat, p06, {0, -1}, {line}));

    test::scratch_file const from{"from.demo"}, to{"to.demo"};
    from.store({demo.bytes().begin(), demo.bytes().end()});
    input const source{from.name()};
    demo_document opened{source};
    redaction what;
    what.server = false;
    redactor work{opened, what};
    work.find_names([](std::uint64_t) {});
    output_file out{{to.name(), false}, content::binary};
    CHECK(work.write(out, [](std::uint64_t) {}).names == players.size());
    out.finish();
    input const written{to.name()};
    demo_document changed{written};
    std::string text;
    for (timeline_event const& e : read_timeline(changed).events) text += e.text;
    return text;
}

} // namespace

TEST_CASE("redact: short names are names where they stand alone, longer ones within words, too") {
    CHECK(without_names({"ab", "cde"}, "'ab' xab abx (ab) ab") == "*** 'player 1' xab abx (player 1) player 1");
    CHECK(without_names({"ab", "cde"}, "xcdex cde") == "*** xplayer 2x player 2");
    // The longest that stands there.
    CHECK(without_names({"abc", "abcd"}, "abcd abc") == "*** player 2 player 1");
}
