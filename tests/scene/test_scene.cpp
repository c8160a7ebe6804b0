// Draw lists: of tees and things, and of maps.
#include "check.hpp"
#include "draw.hpp"
#include "maps.hpp"
#include "random.hpp"

#include "teewire/scene/map_scene.hpp"
#include "teewire/scene/scene.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

using namespace teewire;
using namespace teewire::scene;

namespace {

std::size_t drawn_from(draw_list const& list, texture from) {
    std::size_t count = 0;
    for (draw_command const& c : list.commands())
        if (c.what == draw_command::kind::quads && c.from == from) count += c.count / 4;
    return count;
}

bool all_finite(draw_list const& list) {
    auto const vertices = list.vertices();
    return std::all_of(vertices.begin(), vertices.end(), [](vertex const& v) {
        return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.u) && std::isfinite(v.v);
    });
}

} // namespace

TEST_CASE("colours") {
    CHECK(rgba_of(1, 0.5F, 0) == 0xff0080ff);
    CHECK(rgba_of(2, -1, NAN, 0) == 0x000000ff);
    CHECK(faded(0x12345678, 1) == 0xff345678);
    CHECK(game_color(0) == rgba_of(0.5F, 0.5F, 0.5F));
    CHECK(game_color(0x00ff00) == rgba_of(1, 0, 0)); // full saturation, half lightness
    CHECK(game_color(0x55ff00) == rgba_of(0, 1, 0)); // a third of the circle
    CHECK(game_color(0x0000ff) == white);
}

TEST_CASE("sprites turn and mirror, and rows of one texture are one command") {
    room memory;
    draw_list list = memory.list();
    list.set_view({1, 2, 3, 4});
    list.sprite(1, {0, 0.25F, 0.5F, 1}, 10, 20, 4, 2);
    auto const v = list.vertices();
    REQUIRE(v.size() == 4);
    CHECK(v[0].x == 8);
    CHECK(v[0].y == 19);
    CHECK(v[3].x == 12);
    CHECK(v[3].y == 21);
    CHECK(v[3].u == 0.5F);
    CHECK(v[0].v == 0.25F);
    list.sprite(1, {}, 0, 0, 4, 2, std::acos(-1.0F) / 2);
    CHECK(list.vertices()[4].x == doctest::Approx(1)); // top left is now top right
    CHECK(list.vertices()[4].y == doctest::Approx(-2));
    REQUIRE(list.commands().size() == 1);
    CHECK(list.commands()[0].count == 8);
    CHECK(list.commands()[0].view == view_box{1, 2, 3, 4});
    list.set_clip({0, 0, 0.5F, 1});
    list.sprite(1, {}, 0, 0, 1, 1);
    list.sprite(2, {}, 0, 0, 1, 1);
    list.line(0, 0, 3, 4, 2, white);
    list.text("a", 1, 2, 3, white);
    list.tiles(7, white);
    CHECK(list.commands().size() == 6);
    CHECK(list.commands()[5].first == 7);
    CHECK(list.complete());
}

TEST_CASE("a full draw list says so, and keeps what it has") {
    for (auto const& [vertices, commands] : {std::pair{8U, 9U}, std::pair{100U, 1U}}) {
        room memory{vertices, commands};
        draw_list list = memory.list();
        for (texture n = 0; n < 5; ++n) list.sprite(n, {}, 0, 0, 1, 1);
        CHECK_FALSE(list.complete());
        CHECK(list.vertices().size() <= vertices);
        CHECK(list.commands().size() <= commands);
        std::size_t count = 0;
        for (draw_command const& c : list.commands()) count += c.count;
        CHECK(count == list.vertices().size());
    }
}

TEST_CASE("the camera shows as much as the game's") {
    camera c;
    c.aspect = 16.0F / 9;
    CHECK(c.view().width == doctest::Approx(1430).epsilon(0.001));
    CHECK(c.view().height == doctest::Approx(804.3).epsilon(0.001));
    c.aspect = 5;
    CHECK(c.view().width == doctest::Approx(1500));
    c.aspect = 0.5F;
    CHECK(c.view().height == doctest::Approx(1050));
    c.aspect = 1;
    c.x = 1000;
    c.zoom = 2;
    view_box const near = c.view(), far = c.view({10, 0, 0, 0}), half = c.view({0, 0, 50, 50});
    CHECK(near.left + near.width / 2 == doctest::Approx(1000));
    CHECK(far.left + far.width / 2 == doctest::Approx(10));
    CHECK(far.width == doctest::Approx(near.width / 2)); // what is infinitely far away does not zoom
    CHECK(half.left + half.width / 2 == doctest::Approx(500));
}

TEST_CASE("looks: skins that are there, teams, ninjas, and parts of 0.7") {
    pictures from;
    player p;
    p.known = true;
    auto const name = [](auto& text, std::string_view value) {
        text.size = static_cast<std::uint8_t>(value.size());
        std::copy(value.begin(), value.end(), text.bytes.begin());
    };
    name(p.skin, "known");
    CHECK(look_of(&p, false, -1, false, from).skin == 6);
    CHECK(look_of(&p, false, 0, false, from).skin == 7);
    CHECK(look_of(&p, false, 0, false, from).body != look_of(&p, false, 1, false, from).body);
    CHECK(look_of(&p, false, -1, true, from).skin == 5); // our own, dyed
    p.custom_color = true;
    CHECK(look_of(&p, false, -1, false, from).skin == 7);
    name(p.skin, "unknown");
    p.custom_color = false;
    CHECK(look_of(&p, false, -1, false, from).skin == 5);
    CHECK(look_of(nullptr, false, -1, false, from).skin == 5);

    CHECK_FALSE(look_of(&p, true, -1, false, from).is_07());
    for (auto& part : p.parts) name(part, "known");
    look const seven = look_of(&p, true, -1, false, from);
    CHECK(seven.is_07());
    CHECK(seven.part(skin_part::eyes) == 15);
    CHECK(seven.body == white);
    // The team's red, whatever else; of one's own colour it takes a little.
    CHECK(look_of(&p, true, 0, false, from).body == game_color(0xff6b, 61.0F / 255));
    p.custom_colors[0] = true;
    p.part_colors[0] = 0x55ff00;
    CHECK(look_of(&p, true, 0, false, from).body == game_color((0xff << 8) | (0x6b * 4 / 5), 61.0F / 255));
}

TEST_CASE("tees stand between two snapshots, but do not fly where they were put") {
    auto const before = std::make_unique<world>(), after = std::make_unique<world>();
    before->tick = 100;
    after->tick = 102;
    for (auto* w : {before.get(), after.get()})
        for (std::int32_t id : {1, 2}) w->tees.add()->id = id;
    after->tees.begin()->x = 40;
    (after->tees.begin() + 1)->x = 4000;
    before->tees.begin()->angle = 700; // nearly all around
    after->tees.begin()->angle = -700;
    moment at;
    at.before = before.get();
    at.after = after.get();
    at.tick = 100.5F;
    seen_tees seen;
    find_tees(at, seen);
    REQUIRE(seen.size() == 2);
    CHECK(seen.begin()->x == 10);
    CHECK(std::abs(seen.begin()->angle) > 2.5F); // the shorter way
    CHECK((seen.begin() + 1)->x == 0);
    at.tick = 101.5F;
    find_tees(at, seen);
    CHECK((seen.begin() + 1)->x == 4000);
    at.after = nullptr;
    find_tees(at, seen);
    CHECK(seen.size() == 2);
    CHECK(seen.begin()->x == 0);
}

TEST_CASE("what is in the world is drawn") {
    pictures from;
    room memory;
    auto const w = std::make_unique<world>();
    w->tick = 100;
    moment at;
    at.before = w.get();
    at.tick = 100;
    auto const count = [&](texture what) {
        seen_tees tees;
        find_tees(at, tees);
        draw_list list = memory.list();
        draw_game(at, tees, {}, from, list);
        draw_names(at, tees, {}, 1, from, list);
        CHECK(list.complete());
        CHECK(all_finite(list));
        return drawn_from(list, what);
    };
    CHECK(count(1) == 0);
    w->pickups.add();
    w->flags.add();
    CHECK(count(1) == 2);
    *w->projectiles.add() = {0, 0, 1, 0, 1, 90};
    CHECK(count(1) == 3);
    w->projectiles.add()->start = 110; // not yet
    CHECK(count(1) == 3);
    laser& l = *w->lasers.add();
    l.x = 50;
    l.start = 99;
    CHECK(count(no_texture) == 2);
    l.start = 80; // over
    CHECK(count(no_texture) == 0);
    l.type = 2; // a door
    CHECK(count(no_texture) == 2);
    tee& t = *w->tees.add();
    t.id = 1;
    t.weapon = 1;
    CHECK(count(5) == 10); // two outlines and two parts of feet, body twice, eyes twice, a hand of two
    CHECK(count(1) == 4);
    t.is_extended = true;
    t.freeze_end = -1; // holds nothing
    CHECK(count(5) == 8);
    t.hook_state = 5;
    t.hook_x = 240;
    CHECK(count(1) == 3 + 9 + 1); // links of 24 units, and the head
    std::array<event, 1> const events{{{event::kind::explosion, 95, 0, 0, 0}}};
    at.events = events;
    CHECK(count(3) == 1 + 10);
    std::array<emoticon, 2> const said{{{1, 70, 4}, {1, 70, 99}}};
    at.emoticons = said;
    CHECK(count(2) == 1);
}

TEST_CASE("servers run for weeks, and fractions of a tick still count") {
    pictures from;
    auto const drawn = [&](std::int32_t origin) {
        auto const before = std::make_unique<world>(), after = std::make_unique<world>();
        before->tick = origin;
        after->tick = origin + 2;
        for (auto* w : {before.get(), after.get()}) {
            tee& t = *w->tees.add();
            t.id = 1;
            t.x = static_cast<float>(w->tick - origin) * 20;
            t.weapon = 1;
            t.attack_tick = origin - 2;
            *w->projectiles.add() = {0, 0, 1, 0, 1, origin - 5};
            *w->lasers.add() = {10, 0, 0, 0, 0, origin - 3};
        }
        std::array<event, 1> const events{{{event::kind::explosion, origin - 4, 0, 0, 0}}};
        std::array<emoticon, 1> const said{{{1, origin - 10, 3}}};
        moment at;
        at.before = before.get();
        at.after = after.get();
        at.tick = origin + 0.75;
        at.events = events;
        at.emoticons = said;
        seen_tees tees;
        find_tees(at, tees);
        room memory;
        draw_list list = memory.list();
        draw_game(at, tees, {}, from, list);
        draw_names(at, tees, {}, 1, from, list);
        return std::vector<vertex>(list.vertices().begin(), list.vertices().end());
    };
    auto const young = drawn(3000), old = drawn(1'500'003'000);
    REQUIRE(young.size() == old.size());
    std::size_t same = 0;
    for (std::size_t n = 0; n < young.size(); ++n)
        same += young[n].x == old[n].x && young[n].y == old[n].y && young[n].color == old[n].color;
    // But for the eight clouds of smoke, whose places are chosen by the tick.
    CHECK(same >= young.size() - 4 * 8);
}

TEST_CASE("any world is drawn within bounds") {
    test::random rng{5};
    pictures from;
    room memory{1 << 16, 1 << 12};
    auto const before = std::make_unique<world>(), after = std::make_unique<world>();
    auto const any = [&] {
        auto const value = static_cast<std::int32_t>(rng.next());
        return rng.below(2) == 0 ? value : value % 1000;
    };
    auto const place = [&] { return static_cast<float>(any()); };
    for (int round = 0; round < 200; ++round) {
        for (auto* w : {before.get(), after.get()}) {
            *w = {};
            w->is_07 = rng.below(2) == 0;
            w->teams = rng.below(2) == 0;
            w->tick = any() % 1000;
            for (std::int32_t id = 0; id < 20; ++id) {
                tee& t = *w->tees.add();
                t = {id,    any(), place(),    place(), place(), place(), any(),
                     any(), any(), any() % 20, any(),   place(), place()};
                t.weapon = any() % 8;
                t.emote = any() % 9;
                t.attack_tick = any();
                player& p = *w->players.add();
                p.id = id;
                p.team = any() % 3;
                *w->projectiles.add() = {place(), place(), place(), place(), any() % 6, any()};
                *w->lasers.add() = {place(), place(), place(), place(), any() % 7, any()};
                *w->pickups.add() = {place(), place(), pickup::kind::weapon, any()};
                *w->flags.add() = {place(), place(), any()};
                *w->events.add() = {static_cast<event::kind>(rng.below(6)), w->tick, place(), place(), any()};
                if (id == 15) break; // flags are full
            }
        }
        moment at;
        at.before = before.get();
        at.after = rng.below(4) == 0 ? nullptr : after.get();
        at.tick = static_cast<float>(before->tick + static_cast<std::int32_t>(rng.below(10)));
        at.events = {before->events.begin(), before->events.size()};
        seen_tees tees;
        find_tees(at, tees);
        draw_list list = memory.list();
        draw_game(at, tees, {}, from, list);
        draw_names(at, tees, {}, 1, from, list);
        CHECK(list.vertices().size() < 50'000);
    }
}

TEST_CASE("tees that cannot touch the selected one are seen through") {
    auto const w = std::make_unique<world>();
    for (std::int32_t const id : {1, 2, 3}) {
        tee* const t = w->tees.add();
        t->id = id;
        t->x = static_cast<float>(200 * id);
        t->is_there = true;
    }
    pictures from;
    room memory;
    moment at;
    at.before = w.get();
    // The least opacity of what is drawn around each tee.
    auto const drawn = [&](std::int32_t selected) {
        seen_tees tees;
        find_tees(at, tees);
        draw_list list = memory.list();
        scene_options options;
        options.selected = selected;
        draw_game(at, tees, options, from, list);
        std::array<int, 3> least{255, 255, 255};
        for (vertex const& v : list.vertices()) {
            auto const n = static_cast<std::size_t>(v.x / 200 - 0.5F);
            least[n] = std::min(least[n], static_cast<int>(v.color >> 24));
        }
        return least;
    };
    CHECK(drawn(1) == std::array{255, 255, 255});
    std::vector<std::uint8_t> teams{0, 1, 1, 2};
    at.teams = teams;
    CHECK(drawn(1) == std::array{255, 255, 102});
    CHECK(drawn(3) == std::array{102, 102, 255});
    CHECK(drawn(-1) == std::array{255, 255, 255}); // no tee is
    teams[3] = 64;
    CHECK(drawn(1) == std::array{255, 255, 255});
    at.teams = std::span{teams}.first(1);
    CHECK(drawn(1) == std::array{255, 255, 255});
    w->tees.begin()[1].is_extended = true;
    w->tees.begin()[1].flags = 1;
    CHECK(drawn(1) == std::array{255, 102, 255});
    CHECK(drawn(2) == std::array{102, 255, 102});
}

TEST_CASE("who writes has dots beside the tee") {
    auto const w = std::make_unique<world>();
    tee* const t = w->tees.add();
    t->id = 1;
    moment at;
    at.before = w.get();
    seen_tees tees;
    find_tees(at, tees);
    pictures from;
    for (auto const& [flags, is_07, count] :
         {std::tuple{4, false, 1U}, std::tuple{1, false, 0U}, std::tuple{4, true, 0U}}) {
        t->player_flags = flags;
        w->is_07 = is_07;
        room memory;
        draw_list list = memory.list();
        scene_options options;
        options.names = false;
        draw_names(at, tees, options, 1, from, list);
        CHECK(drawn_from(list, from.emoticons) == count);
    }
}

TEST_CASE("envelopes follow the round, or the ticks") {
    game_map map = test::small_map();
    map.points = {{.time = 0, .values = {0, 1024, 1024, 1024}}, {.time = 1000, .values = {1024, 1024, 1024, 1024}}};
    map.envelopes = {{.channels = 4, .first_point = 0, .point_count = 2},
                     {.channels = 4, .first_point = 0, .point_count = 2, .synchronized = false}};
    quad_layer quads;
    quads.quads.resize(2);
    for (std::size_t n = 0; n < 2; ++n) {
        quads.quads[n].corners = {{{-1024, -1024}, {1024, -1024}, {-1024, 1024}, {1024, 1024}}};
        for (auto& color : quads.quads[n].colors) color = {255, 255, 255, 255};
        quads.quads[n].color_envelope = static_cast<std::int32_t>(n);
    }
    map.layers.insert(map.layers.begin(), map_layer{.content = quads});
    map.groups[0].layer_count = static_cast<std::int32_t>(map.layers.size());
    room memory;
    draw_list list = memory.list();
    draw_map(map, side::background, {}, {500, 250}, {}, list);
    REQUIRE(list.vertices().size() == 8);
    CHECK((list.vertices()[0].color & 255) == 128);
    CHECK((list.vertices()[4].color & 255) == 64);
}

TEST_CASE("envelopes: curves, rounds, and what cannot be") {
    game_map map;
    map.points = {{.time = 0, .curve = envelope_curve::linear, .values = {0, 1024, 0, 2048}},
                  {.time = 1000, .curve = envelope_curve::step, .values = {1024, 1024, 0, 0}},
                  {.time = 2000, .curve = envelope_curve::linear, .values = {2048, 0, 0, 0}}};
    map.envelopes.push_back({.channels = 4, .first_point = 0, .point_count = 3});
    auto const at = [&](double ms) { return evaluate(map, 0, 4, ms).value_or(envelope_values{-1}); };
    CHECK(at(0)[0] == 0);
    CHECK(at(500)[0] == 0.5F);
    CHECK(at(500)[3] == 1);
    CHECK(at(1500)[0] == 1);    // a step
    CHECK(at(2500)[0] == 0.5F); // again
    CHECK(at(-1500)[0] == 0.5F);
    for (auto const& [curve, half] :
         {std::pair{envelope_curve::slow, 0.125F}, std::pair{envelope_curve::fast, 0.875F},
          std::pair{envelope_curve::smooth, 0.5F}, std::pair{envelope_curve::bezier, 0.5F}}) {
        map.points[0].curve = curve;
        CHECK(at(500)[0] == doctest::Approx(half));
    }
    CHECK_FALSE(evaluate(map, 0, 3, 0));
    CHECK_FALSE(evaluate(map, 1, 4, 0));
    CHECK_FALSE(evaluate(map, -1, 4, 0));
    map.points[2].time = -5; // going back
    CHECK(std::isfinite(at(100)[0]));
    map.points[1].time = INT32_MAX;
    map.points[0].time = INT32_MIN;
    CHECK(std::isfinite(at(1e15)[0]));
}

TEST_CASE("layers before and behind the players") {
    game_map map = test::small_map();
    auto const add = [&](std::size_t place, std::string name) {
        map.layers.insert(map.layers.begin() + static_cast<std::ptrdiff_t>(place),
                          test::tile_layer(tile_kind::tiles, 5, 4, std::move(name)));
    };
    add(0, "behind");
    add(2, "before");
    map.layers[0].tiles()->image = 0;
    map.groups[0].layer_count = 3;
    map.images.resize(1);
    room memory;
    camera from;
    auto const drawn = [&](side which, std::vector<texture> const& images) {
        draw_list list = memory.list();
        draw_map(map, which, from, {}, images, list);
        std::vector<std::uint32_t> layers;
        for (draw_command const& c : list.commands()) layers.push_back(c.first);
        return layers;
    };
    CHECK(drawn(side::background, {3}) == std::vector<std::uint32_t>{0});
    CHECK(drawn(side::foreground, {3}) == std::vector<std::uint32_t>{2});
    // Without its image, what the tiles do is shown instead.
    CHECK(drawn(side::background, {no_texture}) == std::vector<std::uint32_t>{1});
    CHECK(drawn(side::foreground, {no_texture}) == std::vector<std::uint32_t>{2});

    map.groups.push_back({.offset_x = 7,
                          .parallax_x = 0,
                          .parallax_y = 0,
                          .first_layer = 0,
                          .layer_count = 1,
                          .clipping = true,
                          .clip_x = 0,
                          .clip_y = 0,
                          .clip_width = 100,
                          .clip_height = 100});
    draw_list list = memory.list();
    draw_map(map, side::foreground, from, {}, std::vector<texture>{3}, list);
    REQUIRE(list.commands().size() == 2);
    draw_command const& clipped = list.commands()[1];
    CHECK(clipped.clip.left == doctest::Approx(0.5));
    CHECK(clipped.clip.right == doctest::Approx(0.5 + 100 / 1430.0).epsilon(0.001));
    CHECK(clipped.view.left == doctest::Approx(7 - 715).epsilon(0.001));
    map.groups.back().clip_width = -5;
    draw_list none = memory.list();
    draw_map(map, side::foreground, from, {}, std::vector<texture>{3}, none);
    CHECK(none.commands().size() == 1);
}

TEST_CASE("quads turn around their pivot") {
    game_map map = test::small_map();
    map_quad quad;
    for (std::size_t n = 0; n < 4; ++n) {
        quad.corners[n] = {static_cast<std::int32_t>(n % 2 * 32 * 1024),
                           static_cast<std::int32_t>(n / 2 * 32 * 1024)};
        quad.colors[n] = {255, 255, 255, 128};
    }
    quad.position_envelope = 0;
    map.points = {{.time = 0, .values = {1024 * 10, 0, 1024 * 90, 0}}};
    map.envelopes.push_back({.channels = 3, .first_point = 0, .point_count = 1});
    quad_layer layer;
    layer.quads.push_back(quad);
    map.layers.emplace_back();
    map.layers.back().content = layer;
    map.groups[0].layer_count = 2;
    room memory;
    draw_list list = memory.list();
    draw_map(map, side::foreground, {}, {}, {}, list);
    auto const v = list.vertices();
    REQUIRE(v.size() == 4);
    CHECK(v[1].x == doctest::Approx(10)); // a quarter turn, and ten units to the right
    CHECK(v[1].y == doctest::Approx(32));
    CHECK(v[0].color == 0x80ffffff);
    CHECK(list.commands()[0].repeats);
}
