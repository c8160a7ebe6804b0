// Recordings of several clients as one, as `teewire merge` makes it.
#include "streams.hpp"

#include "base/errors.hpp"
#include "edit/merge.hpp"
#include "game/roster.hpp"

#include <teewire/message_types.hpp>

#include <fmt/format.h>

#include <memory>

using namespace teewire;
using namespace teewire::replay;
using test::begin, test::marker, test::said, test::snapshot, test::step, test::stream_script;

namespace {

using script = std::vector<step>;

/// The items at one tick.
struct shown {
    std::int32_t tick = -1;
    test::plain_items items;
    std::vector<std::string> messages;
    friend bool operator==(shown const&, shown const&) = default;
};

struct merged {
    recording_info begun; // what it borrowed is gone
    std::vector<std::int32_t> markers;
    std::vector<shown> ticks;
    merge_result result;

    [[nodiscard]] test::plain_items const& at(std::int32_t tick) const {
        for (shown const& s : ticks)
            if (s.tick == tick) return s.items;
        FAIL("no tick ", tick);
        return ticks.front().items;
    }
    [[nodiscard]] std::vector<std::string> messages() const {
        std::vector<std::string> all;
        for (shown const& s : ticks)
            for (std::string const& m : s.messages) all.push_back(fmt::format("{} {}", s.tick, m));
        return all;
    }
    [[nodiscard]] std::uint64_t conflict(std::string_view field) const {
        auto const found = result.fields.find(field);
        return found == result.fields.end() ? 0 : found->second.count;
    }
};

struct damaged_script {
    script steps;
    std::string error;
};

merged merge(std::vector<damaged_script> const& scripts) {
    std::vector<std::unique_ptr<stream_script>> sources;
    std::vector<merge_input> inputs;
    for (damaged_script const& s : scripts) {
        sources.push_back(std::make_unique<stream_script>(s.steps, s.error));
        inputs.push_back({std::string(1, static_cast<char>('a' + inputs.size())), sources.back().get()});
    }
    merged_stream stream{inputs};
    merged out;
    std::size_t begun = 0;
    for (stream_event event; stream.next(event);) {
        switch (event.kind) {
        case event_kind::begin:
            ++begun;
            out.begun = *event.begun;
            out.markers.assign(event.begun->markers.begin(), event.begun->markers.end());
            break;
        case event_kind::snapshot:
            CHECK((out.ticks.empty() || out.ticks.back().tick < event.tick));
            out.ticks.push_back({event.tick, test::items_of(event.state), {}});
            break;
        case event_kind::message:
            REQUIRE(!out.ticks.empty());
            CHECK(out.ticks.back().tick == event.tick);
            out.ticks.back().messages.push_back(test::hex(event.message));
            break;
        default: FAIL("an event of another kind");
        }
    }
    CHECK(begun == 1);
    CHECK(!out.begun.one_receiver);
    CHECK(stream.error().empty());
    out.result = stream.result();
    CHECK(out.result.ticks == out.ticks.size());
    return out;
}

merged merge(std::vector<script> const& scripts) {
    std::vector<damaged_script> all;
    for (script const& s : scripts) all.push_back({s, {}});
    return merge(all);
}

std::string refusal(std::vector<script> const& scripts) {
    try {
        static_cast<void>(merge(scripts));
    } catch (usage_error const& e) {
        return e.what();
    }
    return "";
}

// ---- items of 0.6 --------------------------------------------------------------------------------------------------

test::plain_item character(std::uint16_t id, std::int32_t x, std::int32_t health = 0) {
    test::ints data(22);
    data[1] = x;
    data[16] = health;
    return {make_key(9, id), data};
}
test::plain_item player(std::uint16_t id, bool local = false, std::int32_t latency = 0) {
    return {make_key(10, id), {local, id, 0, 0, latency}};
}
test::plain_item named(std::uint16_t id, std::int32_t name) {
    test::ints data(17);
    data[0] = name;
    return {make_key(11, id), data};
}
test::plain_item camera(std::int32_t watched, std::int32_t x) { return {make_key(12, 0), {watched, x, 0}}; }
test::plain_item pickup(std::uint16_t id, std::int32_t x, std::int32_t subtype = 0) {
    return {make_key(4, id), {x, 0, 2, subtype}};
}
test::plain_item sound(std::uint16_t id, std::int32_t x) { return {make_key(19, id), {x, 0, 1}}; }

// "hi" by the server, and another word.
constexpr std::string_view hi = "06 00 7f 68 69 00", ho = "06 00 7f 68 6f 00";

test::plain_items sorted(test::plain_items items) {
    std::sort(items.begin(), items.end());
    return items;
}

} // namespace

TEST_CASE("merge: what any of them saw") {
    auto const found = merge({{begin(), snapshot(10, {pickup(1, 5), sound(0, 5), player(0)}), marker(12)},
                              {begin(), snapshot(10, {player(0), pickup(2, 900), sound(1, 900)}),
                               snapshot(12, {player(0), sound(0, 800)})}});
    REQUIRE(found.ticks.size() == 2);
    CHECK(found.at(10) == sorted({pickup(1, 5), sound(0, 5), player(0), pickup(2, 900), sound(1, 900)}));
    // A marker by itself is the state before once more. The first one has that sound, and an unknown view.
    CHECK(found.at(12) == sorted({pickup(1, 5), sound(0, 5), player(0)}));
    CHECK(found.result.common_ticks == 2);
    CHECK(found.result.parts[0].only_here == 3);
    CHECK(found.result.parts[1].only_here == 2);
    CHECK(found.result.conflicts == 1);
    CHECK(found.conflict("event_sound_world.x") == 1);
    CHECK(found.result.fields.find("event_sound_world.x")->second.first_tick == 12);
    CHECK(found.result.held == 0);
}

TEST_CASE("merge: the nearer view wins") {
    script const left = {begin(),
                         snapshot(10, {player(0, true), character(0, 100), pickup(1, 500, 1), pickup(2, 510, 1)})};
    script const right = {begin(),
                          snapshot(10, {player(1, true), character(1, 911), pickup(1, 500, 2), pickup(2, 510, 2)})};
    for (bool const turned : {false, true}) {
        auto const found = turned ? merge({right, left}) : merge({left, right});
        CHECK(found.at(10) == sorted({player(0), player(1), character(0, 100), character(1, 911), pickup(1, 500, 1),
                                      pickup(2, 510, 2)}));
        CHECK(found.result.conflicts == 2);
        CHECK(found.conflict("pickup.subtype") == 2);
    }
    // The camera counts, where there is one.
    script watching = left;
    watching[1].items.push_back(camera(-1, 912));
    CHECK(merge({right, watching}).at(10)[1] == pickup(2, 510, 2));
    watching[1].items.back() = camera(-1, 512);
    CHECK(merge({right, watching}).at(10)[0] == pickup(1, 500, 1));
    CHECK(merge({right, watching}).at(10)[1] == pickup(2, 510, 1));
    // Places as far from each other as can be.
    script const far = {begin(), snapshot(10, {player(2, true), character(2, INT32_MIN), pickup(1, 500, 3)})};
    CHECK(merge({far, left}).at(10)[0] == pickup(1, 500, 1));
    script const farther = {begin(),
                            snapshot(10, {player(3, true), character(3, INT32_MAX), pickup(1, INT32_MIN, 4)})};
    CHECK(merge({farther, far}).at(10)[0] == pickup(1, 500, 3));
}

TEST_CASE("merge: who knows better") {
    // The client itself, who is not the nearest here: it has moved on.
    script const itself = {begin(), snapshot(10, {player(0, true, 7), character(0, 100, 10), camera(-1, 9000)})};
    script const near = {
        begin(), snapshot(10, {player(0, false, 8), character(0, 100), player(1, true), character(1, 100)})};
    script const watcher = {begin(),
                            snapshot(10, {player(0), character(0, 100, 9), player(2, true), camera(0, 5000)})};
    script server = {begin(), snapshot(10, {player(0), character(0, 100, 8)})};
    server[0].begun.one_receiver = false;
    auto const health = [](merged const& m) { return m.at(10)[0].data[16]; };
    CHECK(health(merge({near, itself})) == 10);
    CHECK(health(merge({near, watcher, itself, server})) == 10);
    CHECK(health(merge({near, server, watcher})) == 9);
    CHECK(health(merge({near, server})) == 8);
    CHECK(merge({near, itself}).at(10)[2] == player(0, false, 7));
    // A client that is not in the game yet is not a server.
    server[0].begun.one_receiver = true;
    CHECK(health(merge({near, server})) == 0);
    // The first one, where nothing speaks for another one.
    script const one = {begin(), snapshot(10, {{make_key(7, 0), {1, 0, 0, 0}}})};
    script const two = {begin(), snapshot(10, {{make_key(7, 0), {2, 0, 0, 0}}})};
    CHECK(merge({one, two}).at(10)[0].data[0] == 1);
    CHECK(merge({two, one}).at(10)[0].data[0] == 2);
}

TEST_CASE("merge: what concerns one client is not there") {
    uuid const view = uuid::parse("d13307b2-9a19-37cb-8f8c-07c718521883");
    auto const words = view.ints();
    test::plain_item const alias{make_key(0, 0x7fff), {words.begin(), words.end()}};
    test::plain_item clock{make_key(6, 0), {0, 8 | 1, 0, -500, 20, 0, 1, 1}}, none = clock;
    none.data[1] = 1;
    none.data[3] = 0;
    auto const found = merge(
        {{begin(),
          snapshot(10, {player(0, true), camera(0, 1), alias, {make_key(0x7fff, 0), {1, 2, 3, 4, 5}}, clock})},
         {begin(), snapshot(10, {player(0), player(1, true), none})}});
    CHECK(found.at(10) == sorted({player(0), player(1), none}));
    CHECK(found.result.conflicts == 0);
    // A warmup concerns all players.
    test::plain_item warmup = none;
    warmup.data[3] = 500;
    CHECK(merge({{begin(), snapshot(10, {warmup})}}).at(10) == test::plain_items{warmup});
}

TEST_CASE("merge: extended types by UUID") {
    uuid const one = uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045c"),
               two = uuid::parse("22ca938d-1380-3e2b-9e7b-d2558ea6be11");
    auto const describes = [](uuid const& id, std::uint16_t alias) {
        auto const words = id.ints();
        return test::plain_item{make_key(0, alias), {words.begin(), words.end()}};
    };
    // Each client's server has counted otherwise.
    script const a = {begin(),
                      snapshot(10, {describes(one, 0x7fff),
                                    {make_key(0x7fff, 1), {1}},
                                    describes(two, 0x7ffe),
                                    {make_key(0x7ffe, 1), {2, 2}}}),
                      snapshot(12, {{make_key(0x7fff, 1), {3}}})};
    script const b = {begin(),
                      snapshot(10, {describes(two, 0x7fff),
                                    {make_key(0x7fff, 1), {2, 2}},
                                    describes(one, 0x7ffe),
                                    {make_key(0x7ffe, 2), {1}}}),
                      snapshot(12, {{make_key(0x7ff0, 1), {3}}})};
    auto const found = merge({a, b});
    CHECK(found.at(10) == sorted({describes(one, 0x7fff),
                                  describes(two, 0x7ffe),
                                  {make_key(0x7fff, 1), {1}},
                                  {make_key(0x7fff, 2), {1}},
                                  {make_key(0x7ffe, 1), {2, 2}}}));
    CHECK(found.result.conflicts == 0);
    // Earlier descriptions are still known. The other type was never described: it does not change.
    CHECK(found.at(12) == sorted({describes(one, 0x7fff),
                                  describes(two, 0x7ffe),
                                  {make_key(0x7fff, 1), {3}},
                                  {make_key(0x7ff0, 1), {3}}}));
    CHECK(found.result.undescribed == 0);
    // Unless the number is taken.
    auto const taken = merge({a, {begin(), snapshot(10, {{make_key(0x7ffe, 5), {3}}})}});
    CHECK(taken.at(10) == sorted({describes(one, 0x7fff),
                                  describes(two, 0x7ffe),
                                  {make_key(0x7fff, 1), {1}},
                                  {make_key(0x7ffe, 1), {2, 2}}}));
    CHECK(taken.result.undescribed == 1);
    // There may be more types than can be described.
    test::plain_items many;
    for (std::uint8_t i = 0; i < 70; ++i) {
        uuid id;
        id.bytes[0] = i;
        many.push_back(describes(id, static_cast<std::uint16_t>(0x7000 + i)));
        many.push_back({make_key(static_cast<std::uint16_t>(0x7000 + i), 0), {i}});
    }
    auto const crowd = merge({{begin(), snapshot(10, many)}});
    CHECK(crowd.at(10).size() == 128);
    CHECK(crowd.result.undescribed == 6);
}

TEST_CASE("merge: between two snapshots") {
    script const each = {begin(),   snapshot(10, {pickup(1, 1)}), marker(11), marker(12), marker(13), marker(14),
                         marker(40)};
    script const second = {begin(), snapshot(11, {pickup(2, 2), sound(0, 2), pickup(1, 7)}),
                           snapshot(13, {pickup(3, 3)}), marker(24)};
    auto const found = merge({each, second});
    CHECK(found.at(10) == test::plain_items{pickup(1, 1)});
    // Lasting items are shown unchanged; a sound is not, and recordings with the tick know better.
    CHECK(found.at(11) == test::plain_items{pickup(1, 1), pickup(2, 2), sound(0, 2)});
    CHECK(found.at(12) == test::plain_items{pickup(1, 1), pickup(2, 2)});
    CHECK(found.at(13) == test::plain_items{pickup(1, 1), pickup(3, 3)});
    CHECK(found.at(14) == test::plain_items{pickup(1, 1)}); // it has lost what came then
    CHECK(found.at(24) == test::plain_items{pickup(3, 3)});
    CHECK(found.at(40) == test::plain_items{pickup(1, 1)});
    CHECK(found.result.held == 1);
    CHECK(found.result.conflicts == 1); // only at tick 11
    // A client that looks there, or a server, knows that it is gone. Items without a position are sent to all.
    auto const looked = [&](std::int32_t x, std::int32_t y) {
        script looking = each;
        looking[1].items = {player(0, true), {make_key(12, 0), {-1, x, y}}};
        script seen = second;
        seen[1].items.push_back({make_key(7, 0), {1, 2, 3, 4}});
        return merge({looking, seen});
    };
    CHECK(looked(802, 700).at(12) == test::plain_items{player(0)});
    CHECK(looked(803, 0).at(12) == sorted({player(0), pickup(2, 2)}));
    CHECK(looked(2, -701).at(12) == sorted({player(0), pickup(1, 7), pickup(2, 2)}));
    script server = each;
    server[0].begun.one_receiver = false;
    CHECK(merge({server, second}).at(12) == test::plain_items{pickup(1, 1)});
    // Just near enough.
    script near = second;
    near.back() = marker(23);
    CHECK(merge({each, near}).at(14) == test::plain_items{pickup(1, 1), pickup(3, 3)});
    // The later one of two that are held.
    auto const later = merge({{begin(), snapshot(10, {pickup(1, 1)}), marker(16)},
                              {begin(), snapshot(12, {pickup(1, 2)}), marker(16)},
                              {begin(), snapshot(14, {})}});
    CHECK(later.at(14) == test::plain_items{pickup(1, 2)});
}

TEST_CASE("merge: messages") {
    auto const found = merge({{begin(), said(-1, ho), snapshot(10, {}), said(10, hi), said(10, hi), marker(12),
                               said(12, ho), marker(300), said(300, hi)},
                              {begin(), snapshot(10, {}), said(10, hi), marker(14), said(14, hi), said(14, hi),
                               said(14, ho), said(14, "06 00 7f 68 6f 00 00 00"), marker(300)}});
    CHECK(found.messages() == std::vector<std::string>{"10 06 00 7f 68 6f 00", "10 06 00 7f 68 69 00",
                                                       "10 06 00 7f 68 69 00", "12 06 00 7f 68 6f 00",
                                                       "14 06 00 7f 68 69 00", "300 06 00 7f 68 69 00"});
    CHECK(found.result.united == 4);
    // Too late to be the same one.
    CHECK(merge({{begin(), snapshot(10, {}), said(10, hi)}, {begin(), snapshot(110, {}), said(110, hi)}})
              .messages()
              .size() == 1);
    CHECK(merge({{begin(), snapshot(10, {}), said(10, hi)}, {begin(), snapshot(111, {}), said(111, hi)}})
              .messages()
              .size() == 2);
    // Messages in the same tick of both are the same, although one had an earlier copy.
    script const early = {begin(),      snapshot(10, {}), said(10, hi), marker(60),
                          said(60, hi), marker(110),      said(110, hi)};
    script const late = {begin(),       snapshot(60, {}), said(60, hi), marker(110),
                         said(110, hi), marker(150),      said(150, hi)};
    for (auto const& both : {merge({early, late}), merge({late, early})})
        CHECK(both.messages() == std::vector<std::string>{"10 06 00 7f 68 69 00", "60 06 00 7f 68 69 00",
                                                          "110 06 00 7f 68 69 00", "150 06 00 7f 68 69 00"});
    // Servers' recordings of single connections, and unreadable ones.
    auto const others = merge({{begin(), snapshot(10, {}), said(10, "07 00"), said(10, "80"), said(10, hi)}});
    CHECK(others.messages().size() == 1);
    CHECK(others.result.unreadable == 1);
    // More than a reader gives at once.
    script many = {begin(), snapshot(10, {})};
    for (int i = 0; i < 3000; ++i)
        many.push_back(said(10, fmt::format("06 00 7f {:02x} {:02x} 00", i / 100 + 1, i % 100 + 1)));
    many.push_back(marker(12));
    auto const all = merge({many, {begin(), snapshot(10, {pickup(1, 1)}), marker(12)}});
    CHECK(all.ticks.size() == 2);
    CHECK(all.messages().size() == 3000);
}

TEST_CASE("merge: 0.7, whose players are in messages") {
    auto const info = [](std::int32_t id, bool local, std::string_view name) {
        messages::client_info m;
        m.client_id = id;
        m.local = local;
        m.name = name;
        return said(-1, m, protocol::teeworlds_07);
    };
    step const first = begin("m", protocol::teeworlds_07);
    auto const at = [](step s, std::int32_t tick) {
        s.tick = tick;
        return s;
    };
    auto const player_07 = [](std::uint16_t id) { return test::plain_item{make_key(11, id), {0, 1, 2}}; };
    // A capture of one and a demo of the other.
    test::ints joined(58);
    joined[0] = 1;
    joined[2] = static_cast<std::int32_t>(0xe2808080);
    joined[3] = joined[4] = static_cast<std::int32_t>(0x80808080);
    joined[5] = static_cast<std::int32_t>(0x80808000);
    script const capture = {
        first,      info(0, true, "a"),          info(1, false, "b"), snapshot(10, {player_07(0)}),
        marker(12), at(info(2, false, "c"), 12), marker(14)};
    script const demo = {first, snapshot(10, {player_07(0), {make_key(13, 1), joined}}), marker(12)};
    auto const found = merge({capture, demo});
    auto const ids = [&](std::int32_t tick) {
        std::vector<std::pair<int, int>> all;
        for (auto const& i : found.at(tick)) {
            all.emplace_back(key_type(i.key), key_id(i.key));
            if (key_type(i.key) == 13) CHECK(i.data[0] == 0); // no player is local
        }
        return all;
    };
    CHECK(ids(10) == std::vector<std::pair<int, int>>{{11, 0}, {13, 0}, {13, 1}});
    CHECK(ids(12) == std::vector<std::pair<int, int>>{{11, 0}, {13, 0}, {13, 1}});
    CHECK(ids(14) == std::vector<std::pair<int, int>>{{11, 0}, {13, 0}, {13, 1}, {13, 2}});
    // Where players are items, messages make no others, also when the items are gone.
    auto const left = merge({script{first, snapshot(10, {player_07(0), {make_key(13, 1), joined}}),
                                    at(info(2, false, "c"), 10), snapshot(12, {player_07(0)})}});
    CHECK(left.at(12) == test::plain_items{player_07(0)});
    // Two captures: in each, another player is local.
    script const other = {first, info(0, false, "a"), info(1, true, "b"), snapshot(10, {player_07(0)})};
    auto const both = merge({capture, other});
    CHECK(both.messages().size() == 3);
    CHECK(both.result.united == 2);
}

TEST_CASE("merge: what does not belong together") {
    script const a = {begin(), snapshot(10, {})};
    CHECK(refusal({a, {begin("m", protocol::teeworlds_07), snapshot(10, {})}}) ==
          "b: was recorded by a client of 0.7, but a by one of ddnet");
    CHECK(refusal({a, {begin("m", protocol::teeworlds_06), snapshot(10, {})}}).empty());
    step other = begin("n");
    other.begun.map.crc = 5;
    CHECK(refusal({a, {other, snapshot(10, {})}}) ==
          "b: was recorded on n with crc 00000005, but a on m with crc 00000000");
    CHECK(refusal({a, {begin(), snapshot(10, {}), begin(), snapshot(5, {})}}) ==
          "b: holds several recordings; capture --format demo makes a demo of each");
    // The same id is another player most of the time.
    script x = {begin()}, y = {begin()};
    for (std::int32_t tick = 0; tick < 10; tick += 2) {
        x.push_back(snapshot(tick, {named(3, static_cast<std::int32_t>(0xe2808080))}));
        y.push_back(snapshot(
            tick, {named(3, tick < 4 ? x.back().items[0].data[0] : static_cast<std::int32_t>(0xe3808080))}));
    }
    CHECK(refusal({x, y}) == "the recordings are not of one game, or the server gave one client different ids: "
                             "client 3 is b in a, but c in b at tick 4");
    y[4].items = x[4].items;
    CHECK(refusal({x, y}).empty());
    CHECK(merge({x, y}).conflict("client_info.name") == 2);
}

TEST_CASE("merge: damage") {
    auto const found = merge({{{begin(), snapshot(10, {pickup(1, 1)}), marker(12)}, "tick 12, byte 7: truncated"},
                              {{begin(), snapshot(10, {pickup(2, 2)}), marker(12), marker(14)}, ""}});
    CHECK(found.result.parts[0].damage == "a: tick 12, byte 7: truncated");
    CHECK(found.result.parts[1].damage.empty());
    CHECK(found.at(10).size() == 2);
    CHECK(found.at(14) == test::plain_items{pickup(2, 2)});
    auto const back = merge({{begin(), snapshot(10, {pickup(1, 1)}), marker(12), snapshot(8, {}), marker(14)},
                             {begin(), snapshot(14, {})}});
    CHECK(back.result.parts[0].damage == "a: tick 12: ticks go back to 8");
    CHECK(back.at(14).empty());
    // There is nothing at all in one.
    auto const nothing = merge({{{}, "byte 3: truncated"}, {{begin(), snapshot(10, {})}, ""}});
    CHECK(nothing.result.parts[0].damage == "a: byte 3: truncated");
    CHECK(nothing.ticks.size() == 1);
    // Two snapshots of one tick: the first one counts, as for players of demos that are written so.
    auto const twice = merge({{begin(), snapshot(10, {pickup(1, 1)}), snapshot(10, {pickup(2, 2)}), marker(12)}});
    CHECK(twice.at(10) == test::plain_items{pickup(1, 1)});
    CHECK(twice.at(12) == test::plain_items{pickup(2, 2)});
}

TEST_CASE("merge: what a snapshot cannot hold") {
    auto const many = [](std::uint16_t from, std::size_t count) {
        test::plain_items items;
        for (std::size_t i = 0; i < count; ++i) items.push_back(pickup(static_cast<std::uint16_t>(from + i), 1));
        return items;
    };
    // The second one has smaller keys, and loses nevertheless.
    auto const found = merge({{begin(), snapshot(10, many(5000, 800))}, {begin(), snapshot(10, many(100, 300))}});
    CHECK(found.at(10).size() == 1024);
    CHECK(found.result.refused == 76);
    CHECK(found.at(10).front() == pickup(100, 1));
    CHECK(found.at(10)[223] == pickup(323, 1));
    CHECK(found.at(10)[224] == pickup(5000, 1));
    test::plain_item const large{make_key(30, 1), test::ints(10'000)}, larger{make_key(30, 0), test::ints(10'000)};
    auto const bytes = merge({{begin(), snapshot(10, {large})}, {begin(), snapshot(10, {larger, pickup(1, 1)})}});
    CHECK(bytes.at(10) == sorted({large, pickup(1, 1)}));
    CHECK(bytes.result.refused == 1);
    // Keys that occur twice, and negative ones.
    auto const odd = merge({{begin(), snapshot(10, {pickup(1, 1), pickup(1, 2), {make_key(0x8001, 0), {1}}})}});
    CHECK(odd.at(10) == test::plain_items{pickup(1, 1)});
    CHECK(odd.result.refused == 2);
}

TEST_CASE("merge: what holds for all of it") {
    step first = begin(), second = begin("m", protocol::teeworlds_06);
    std::vector<std::int32_t> const some = {50, 200}, others = {100, 200};
    std::vector<std::uint8_t> const map = {1, 2, 3};
    first.begun.first_tick = 10;
    first.begun.last_tick = 90;
    first.begun.began = 5000;
    first.begun.markers = some;
    first.begun.map.crc = second.begun.map.crc = 0x55bc801d; // of the second's map
    second.begun.first_tick = 8;
    second.begun.last_tick = 80;
    second.begun.began = 4000;
    second.begun.markers = others;
    second.begun.map_bytes = map;
    auto const found = merge({{second, snapshot(8, {})}, {first, snapshot(10, {})}});
    CHECK(found.begun.version == protocol::ddnet);
    CHECK(found.begun.first_tick == 8);
    CHECK(found.begun.last_tick == 90);
    CHECK(found.begun.began == 4000);
    CHECK(found.begun.map_bytes.size() == 3);
    CHECK(found.markers == std::vector<std::int32_t>{50, 100, 200});
    // The map that they name goes before another that one of them holds.
    std::vector<std::uint8_t> const other_map = {1, 2};
    first.begun.map_bytes = other_map;
    for (bool const turned : {false, true})
        CHECK(merge({{turned ? first : second, snapshot(8, {})}, {turned ? second : first, snapshot(10, {})}})
                  .begun.map_bytes.size() == 3);
    second.begun.map_bytes = {};
    CHECK(merge({{second, snapshot(8, {})}, {first, snapshot(10, {})}}).begun.map_bytes.size() == 2);
}
