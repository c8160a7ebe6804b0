// Messages whose effect lasts.
#include "happenings.hpp"

#include "game/lasting_messages.hpp"

using namespace teewire;
using namespace teewire::replay;
using enum message_type;

namespace {

constexpr auto ddnet = protocol::ddnet;
constexpr auto p07 = protocol::teeworlds_07;
using messages_list = std::vector<std::vector<std::uint8_t>>;

std::vector<std::uint8_t> make(message_type type, protocol p, std::vector<std::int32_t> const& ints,
                               std::vector<std::string> const& texts = {}) {
    return test::say(type, p, ints, texts);
}

} // namespace

TEST_CASE("lasting messages: the last of each kind is in force, in the order in which they came") {
    lasting_messages lasting{ddnet};
    auto const day = make(motd, ddnet, {}, {"welcome"});
    auto const teams = make(teams_state, ddnet, {1, 2, 3});
    auto const tuning = make(tune_params, ddnet, {1000, 50});
    auto const records = make(record, ddnet, {100, 200});
    CHECK(lasting.receive(1, make(motd, ddnet, {}, {"hello"})));
    CHECK(lasting.receive(2, make(teams_state, ddnet, {0, 0, 0})));
    for (auto const& m : {day, teams, tuning, records}) CHECK(lasting.receive(3, m));
    CHECK_FALSE(lasting.receive(3, make(chat, ddnet, {0, 1}, {"hello"})));
    CHECK_FALSE(lasting.receive(3, make(broadcast, ddnet, {}, {"hello"})));
    CHECK_FALSE(lasting.receive(3, {}));
    CHECK_FALSE(lasting.receive(4, tuning)); // in force already
    CHECK(lasting.at(100) == messages_list{day, teams, tuning, records});
    CHECK(lasting.holds(teams));
    CHECK_FALSE(lasting.holds(make(teams_state, ddnet, {0, 0, 0})));

    // leave_to() removes only what the message replaces.
    lasting_messages missing = lasting;
    missing.leave_to(make(teams_state, ddnet, {9}));
    CHECK(missing.at(100) == messages_list{day, tuning, records});
    lasting.clear();
    CHECK(lasting.at(100).empty());
}

TEST_CASE("lasting messages: DDNet's old and new messages of one kind replace each other") {
    lasting_messages lasting{ddnet};
    auto const teams = make(teams_state, ddnet, {1});
    lasting.receive(1, make(teams_state_legacy, ddnet, {2}));
    lasting.receive(2, teams);
    CHECK(lasting.at(3) == messages_list{teams});
}

TEST_CASE("lasting messages: a vote runs until it ends, and has the time that is left") {
    lasting_messages lasting{ddnet};
    auto const status = make(vote_status, ddnet, {1, 0, 3, 4});
    lasting.receive(1000, make(vote_set, ddnet, {25}, {"change the map", "boring"}));
    lasting.receive(1010, status);
    CHECK(lasting.at(1500) == messages_list{make(vote_set, ddnet, {15}, {"change the map", "boring"}), status});
    CHECK(lasting.at(1501).front() == make(vote_set, ddnet, {14}, {"change the map", "boring"}));
    CHECK(lasting.at(1000 + 25 * 50).empty());
    lasting.receive(1600, make(vote_set, ddnet, {0}, {"", ""}));
    CHECK(lasting.at(1600).empty());

    lasting_messages seven{p07};
    seven.receive(1000, make(vote_set, p07, {3, 1, 25}, {"change the map", "boring"}));
    CHECK(seven.at(1500) == messages_list{make(vote_set, p07, {3, 1, 15}, {"change the map", "boring"})});
}

TEST_CASE("lasting messages: lists grow until they are cleared, and names and clients are told apart") {
    lasting_messages lasting{ddnet};
    auto const first = make(vote_option_add, ddnet, {}, {"one"});
    auto const second = make(vote_option_add, ddnet, {}, {"two"});
    auto const removed = make(vote_option_remove, ddnet, {}, {"one"});
    for (auto const& m : {first, second, removed}) lasting.receive(1, m);
    CHECK(lasting.at(1) == messages_list{first, second, removed});
    lasting.receive(2, make(vote_clear_options, ddnet, {}));
    CHECK(lasting.at(2).empty());

    auto const kill = make(command_info, ddnet, {}, {"kill", "", "dies"});
    auto const team_command = make(command_info, ddnet, {}, {"team", "?i[id]", "joins"});
    lasting.receive(3, make(command_info, ddnet, {}, {"kill", "", "old"}));
    for (auto const& m : {kill, team_command}) lasting.receive(3, m);
    CHECK(lasting.at(3) == messages_list{kill, team_command});
    lasting.receive(4, make(command_info_remove, ddnet, {}, {"kill"}));
    CHECK(lasting.at(4) == messages_list{team_command});

    lasting_messages seven{p07};
    auto const red = make(team, p07, {3, 0, 1, 0}), blue = make(team, p07, {4, 1, 1, 0});
    for (auto const& m : {red, blue}) seven.receive(1, m);
    CHECK(seven.at(1) == messages_list{red, blue});
    seven.receive(2, make(client_drop, p07, {3}, {"gone"}));
    CHECK(seven.at(2) == messages_list{blue});
}

TEST_CASE("lasting messages: their size has a bound") {
    lasting_messages lasting{ddnet};
    std::string const text(1000, 'x');
    for (std::size_t i = 0; i < lasting_messages::max_bytes / 900; ++i) // these are less than the most messages
        lasting.receive(1, make(vote_option_add, ddnet, {}, {text}));
    std::size_t size = 0;
    for (auto const& m : lasting.at(1)) size += m.size();
    CHECK(size <= lasting_messages::max_bytes);
    CHECK(size > lasting_messages::max_bytes - 2000);
    CHECK(lasting.receive(2, make(vote_clear_options, ddnet, {})));
    for (std::size_t i = 0; i < 2 * lasting_messages::max_entries; ++i)
        lasting.receive(2, make(vote_option_add, ddnet, {}, {"x"}));
    CHECK(lasting.at(2).size() == lasting_messages::max_entries);
    CHECK(lasting.receive(2, make(vote_clear_options, ddnet, {})));
    CHECK(lasting.receive(3, make(motd, ddnet, {}, {"hello"})));
    CHECK(lasting.at(3).size() == 1);
}
