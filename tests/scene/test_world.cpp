// Snapshots as a scene sees them, and tees between updates.
#include "check.hpp"
#include "maps.hpp"
#include "random.hpp"

#include "teewire/demo_reader.hpp"
#include "teewire/scene/reckoning.hpp"
#include "teewire/snapshot_builder.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

using namespace teewire;
using namespace teewire::scene;

namespace {

// Snapshots by the names of items and fields.
class snapshot_maker {
public:
    explicit snapshot_maker(protocol p) : protocol_{p} { builder_.start(); }

    struct value {
        std::string_view field;
        std::int32_t number;
    };
    void add(std::string_view type, std::uint16_t id, std::initializer_list<value> values,
             std::string_view name = {}) {
        object const& known = *find_object(protocol_, type);
        std::uint16_t const number = known.is_extended() ? *builder_.extended_type(known.extended) : known.type;
        auto const data = *builder_.add(number, id, known.ints);
        for (field const& f : known.fields) {
            for (value const& v : values)
                if (v.field == f.name) data[f.offset] = v.number;
            for (std::size_t n = 0; n < f.count && f.kind == field_kind::text && !name.empty(); ++n)
                encode_text(name, data.subspan(f.offset + n * f.ints, f.ints));
        }
    }
    world const& read(std::int32_t tick, ground const* on = nullptr) {
        world_reader{protocol_}.read(tick, builder_.finish(), on, *world_);
        return *world_;
    }

private:
    protocol protocol_;
    std::unique_ptr<snapshot_builder_memory<>> memory_ = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder_{*memory_};
    std::unique_ptr<world> world_ = std::make_unique<world>();
};

// A floor of one row below the tee, and a wall that a hook cannot hold.
game_map floor_map() {
    game_map map = test::small_map(40, 20);
    auto& tiles = map.layers[0].tiles()->tiles;
    std::fill(tiles.begin(), tiles.end(), tile{});
    for (std::size_t x = 0; x < 40; ++x) tiles[15 * 40 + x].index = ground::hookable;
    for (std::size_t y = 0; y < 15; ++y) tiles[y * 40 + 39].index = ground::unhookable;
    return map;
}

tee standing(float x, float y) {
    tee t;
    t.id = 0;
    t.tick = 100;
    t.x = x;
    t.y = y;
    return t;
}

} // namespace

TEST_CASE("the world of 0.6 with what DDNet adds") {
    snapshot_maker made{protocol::ddnet};
    made.add("character", 3,
             {{"tick", 90}, {"x", 320}, {"y", -64}, {"vel_x", 256}, {"weapon", 2}, {"hooked_player", -1}});
    made.add("ddnet_character", 3, {{"flags", 1}, {"freeze_end", 120}});
    made.add("ddnet_character", 7, {{"flags", 1}}); // without a tee
    made.add("player_info", 9, {{"client_id", 3}, {"local", 1}, {"team", 1}});
    made.add("client_info", 3, {{"use_custom_color", 1}, {"color_body", 77}}, "näme");
    made.add("game_info", 0, {{"game_flags", 1}, {"round_start_tick", 50}});
    made.add("game_data", 0, {{"flag_carrier_red", 3}, {"flag_carrier_blue", -2}});
    made.add("projectile", 1,
             {{"x", 10}, {"y", 20}, {"vel_x", 100}, {"vel_y", -50}, {"type", 3}, {"start_tick", 95}});
    made.add("ddnet_laser", 2, {{"to_x", 5}, {"from_y", 6}, {"type", 2}, {"start_tick", 99}});
    made.add("pickup", 3, {{"x", 1}, {"y", 2}, {"type", 2}, {"subtype", 4}});
    made.add("event_death", 5, {{"x", 8}, {"y", 9}, {"client_id", 3}});
    world const& w = made.read(100);
    REQUIRE(w.tees.size() == 1);
    tee const& t = *w.find_tee(3);
    CHECK(t.x == 320);
    CHECK(t.y == -64);
    CHECK(t.weapon == 2);
    CHECK(t.is_frozen(119));
    CHECK_FALSE(t.is_frozen(121));
    CHECK(t.looks_like_ninja(119));
    player const& p = *w.find_player(3);
    CHECK(p.local);
    CHECK(p.team == 1);
    CHECK(p.known);
    CHECK(p.name.view() == "näme");
    CHECK(p.skin.view() == "näme");
    CHECK(p.custom_color);
    CHECK(p.body_color == 77);
    CHECK(w.teams);
    CHECK(w.round_start == 50);
    CHECK(w.carriers == std::array<std::int32_t, 2>{3, -2});
    REQUIRE(w.projectiles.size() == 1);
    CHECK(w.projectiles.begin()->dx == 1);
    CHECK(w.projectiles.begin()->dy == -0.5F);
    REQUIRE(w.lasers.size() == 1);
    CHECK(w.lasers.begin()->type == 2);
    CHECK(w.lasers.begin()->x == 5);
    CHECK(w.lasers.begin()->from_y == 6);
    REQUIRE(w.pickups.size() == 1);
    CHECK(w.pickups.begin()->what == pickup::kind::weapon);
    CHECK(w.pickups.begin()->weapon == 4);
    REQUIRE(w.events.size() == 1);
    CHECK(w.events.begin()->what == event::kind::death);
    CHECK(w.events.begin()->value == 3);
    CHECK(w.find_tee(7) == nullptr);
}

TEST_CASE("scores, clocks, and who is watched") {
    snapshot_maker made{protocol::ddnet};
    made.add("game_info", 0,
             {{"game_flags", 1},
              {"game_state_flags", 2 | 4 | 8},
              {"round_start_tick", 7},
              {"warmup_timer", -60},
              {"time_limit", 3}});
    made.add("game_data", 0, {{"teamscore_red", 4}, {"teamscore_blue", -5}});
    made.add("game_info_ex", 0, {{"flags", 1}});
    made.add("spectator_info", 0, {{"spectator_id", 9}, {"x", 11}, {"y", -12}});
    world const& w = made.read(100);
    CHECK(w.teams);
    CHECK_FALSE(w.over);
    CHECK(w.sudden_death);
    CHECK(w.paused);
    CHECK(w.race_start == 60);
    CHECK(w.warmup == 0);
    CHECK(w.time_limit == 3);
    CHECK(w.scores == std::array{4, -5});
    CHECK(w.is_race);
    CHECK(w.viewed == 9);
    CHECK(w.view_y == -12);
    snapshot_maker warm{protocol::teeworlds_06};
    warm.add("game_info", 0, {{"game_state_flags", 1}, {"warmup_timer", 250}});
    warm.add("spectator_info", 0, {{"spectator_id", -1}});
    world const& begins = warm.read(100);
    CHECK(begins.over);
    CHECK(begins.warmup == 250);
    CHECK(begins.race_start == -1);
    CHECK(begins.viewed == -1);
    snapshot_maker seven{protocol::teeworlds_07};
    seven.add("game_data", 0, {{"game_state_flags", 8 | 16}});
    seven.add("game_data_team", 0, {{"teamscore_red", 1}, {"teamscore_blue", 2}});
    seven.add("game_data_race", 0, {});
    seven.add("player_info_race", 4, {{"race_start_tick", 33}});
    world const& race = seven.read(100);
    CHECK(race.over);
    CHECK(race.paused);
    CHECK(race.scores == std::array{1, 2});
    CHECK(race.is_race);
    CHECK(race.find_player(4)->race_start == 33);
    CHECK(race.viewed == world::not_viewing);
}

TEST_CASE("the world of 0.7") {
    snapshot_maker made{protocol::teeworlds_07};
    made.add("character", 1, {{"x", 4}, {"y", 5}, {"weapon", 0}});
    made.add("player_info", 1, {{"player_flags", 16}});
    made.add("client_info", 1, {{"local", 1}, {"team", 1}}, "seven");
    made.add("game_data", 0, {{"game_start_tick", 40}});
    made.add("game_data_team", 0, {});
    made.add("pickup", 1, {{"type", 3}});
    made.add("pickup", 2, {{"type", 5}});
    world const& w = made.read(100);
    player const& p = *w.find_player(1);
    CHECK(p.dead);
    CHECK(p.local);
    CHECK(p.team == 1);
    CHECK(p.name.view() == "seven");
    for (auto const& part : p.parts) CHECK(part.view() == "seven");
    CHECK(w.is_07);
    CHECK(w.teams);
    CHECK(w.round_start == 40);
    REQUIRE(w.pickups.size() == 2);
    CHECK(w.pickups.begin()->weapon == 2);
    CHECK((w.pickups.begin() + 1)->what == pickup::kind::ninja);
}

TEST_CASE("shots of DDNet have an angle") {
    snapshot_maker made{protocol::ddnet};
    made.add("projectile", 1, {{"x", 1000}, {"y", 2000}, {"vel_x", -1570796}, {"vel_y", 1 << 9}, {"type", 1}});
    made.add("ddnet_projectile", 2, {{"x", 100}, {"vel_x", 3000000}, {"vel_y", 4000000}, {"flags", 16}});
    world const& w = made.read(5);
    REQUIRE(w.projectiles.size() == 2);
    projectile const& first = *w.projectiles.begin();
    CHECK(first.x == 10);
    CHECK(first.dx == doctest::Approx(1));
    CHECK(std::abs(first.dy) < 1e-3);
    projectile const& second = *(w.projectiles.begin() + 1);
    CHECK(second.dx == doctest::Approx(0.6));
    CHECK(second.dy == doctest::Approx(0.8));
}

TEST_CASE("any ints make a world") {
    test::random rng{11};
    auto const w = std::make_unique<world>();
    game_map const map = floor_map();
    ground const on{*ground::layer_of(map)};
    for (auto const p : {protocol::ddnet, protocol::teeworlds_07}) {
        world_reader const reader{p};
        auto const memory = std::make_unique<snapshot_builder_memory<>>();
        for (int round = 0; round < 60; ++round) {
            snapshot_builder builder{*memory};
            builder.start();
            std::uint16_t id = 0;
            for (int n = 0; n < 150; ++n) {
                bool const plain = rng.below(3) != 0;
                auto const all = plain ? plain_objects(p) : extended_objects();
                object const& chosen = all[rng.below(all.size())];
                auto const alias =
                    plain ? result<std::uint16_t>{chosen.type} : builder.extended_type(chosen.extended);
                auto const type = alias ? *alias : std::uint16_t{0};
                auto const data = builder.add(type, static_cast<std::uint16_t>(++id % 300),
                                              std::min<std::size_t>(rng.below(chosen.ints + 1U), 60));
                if (!data) continue;
                std::uint32_t const mask = rng.below(2) == 0 ? UINT32_MAX : 0x3ff;
                for (auto& value : *data)
                    value = static_cast<std::int32_t>(static_cast<std::uint32_t>(rng.next()) & mask);
            }
            reader.read(static_cast<std::int32_t>(rng.below(2000)), builder.finish(), &on, *w);
            for (tee const& t : w->tees)
                CHECK((std::isfinite(t.x) && std::isfinite(t.y) && std::isfinite(t.hook_x)));
        }
    }
}

TEST_CASE("tees fall, stand and walk as in the game") {
    game_map const map = floor_map();
    ground const on{*ground::layer_of(map)};
    CHECK(on.solid(5, 15 * 32));
    CHECK_FALSE(on.solid(5, 15 * 32 - 1));
    CHECK(on.solid(-1e9F, 1e9F) == on.solid(0, 19 * 32));
    CHECK_FALSE(on.solid(NAN, 0));

    tee falls = standing(200, 200);
    reckon(falls, 103, on);
    CHECK(falls.tick == 103);
    CHECK(falls.x == 200);
    CHECK(falls.vel_y == 3 * 128);
    CHECK(falls.y == 204); // half a unit a tick more each tick, rounded

    tee lands = standing(200, 400);
    reckon(lands, 200, on);
    CHECK(lands.y == doctest::Approx(15 * 32 - 15).epsilon(0.003));
    CHECK(lands.vel_y < 256);

    tee walks = standing(200, 15 * 32 - 15);
    walks.direction = 1;
    reckon(walks, 120, on);
    CHECK(walks.vel_x == 10 * 256);
    CHECK(walks.x > 350);

    tee hooks = standing(200, 400);
    hooks.hook_state = 4;
    hooks.hook_x = 200;
    hooks.hook_y = 400;
    hooks.hook_dy = 1;
    reckon(hooks, 102, on);
    CHECK(hooks.hook_state == 5);
    CHECK(hooks.hook_y == doctest::Approx(15 * 32).epsilon(0.01));

    // Nothing to be moved on from.
    tee now = standing(200, 200);
    reckon(now, 100, on);
    CHECK(now.y == 200);
    now.tick = 0;
    reckon(now, 150, on);
    CHECK(now.y == 200);
    // Not for ever.
    tee old = standing(200, -30000), older = old;
    reckon(old, 100 + most_reckoned_ticks, on);
    reckon(older, 1'000'000, on);
    CHECK(old.y == older.y);
}

TEST_CASE("between a server's updates of a tee, it is at the right position, unless its player did something") {
    std::ifstream file{std::filesystem::path{TEEWIRE_FIXTURES} / "demos/ddnet_yard.demo", std::ios::binary};
    test::bytes const demo{std::istreambuf_iterator<char>{file}, {}};
    auto const opened = demo_reader::open(demo);
    REQUIRE(opened);
    auto const container = datafile::open(opened->map());
    REQUIRE(container);
    game_map map;
    static_cast<void>(read_map(*container, map));
    REQUIRE(ground::layer_of(map) != nullptr);
    ground const on{*ground::layer_of(map)};
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player{*opened, *memory, {}};
    world_reader const reader{protocol::ddnet};
    auto const w = std::make_unique<world>();
    std::map<std::int32_t, tee> before;
    int told = 0, exact = 0, near = 0;
    for (demo_event event; player.next(event);) {
        if (event.kind != demo_event_kind::snapshot) continue;
        reader.read(event.tick, player.state(), nullptr, *w);
        std::map<std::int32_t, tee> now;
        for (tee const& t : w->tees) {
            now[t.id] = t;
            auto const old = before.find(t.id);
            if (old == before.end() || old->second.tick <= 0 || t.tick <= old->second.tick ||
                t.tick > old->second.tick + 50)
                continue;
            tee moved = old->second;
            reckon(moved, t.tick, on);
            float const way = std::hypot(moved.x - t.x, moved.y - t.y);
            ++told;
            exact += way <= 1;
            near += way <= 8;
        }
        before = std::move(now);
    }
    CHECK(told > 200);
    CHECK(exact > 0.7 * told);
    CHECK(near > 0.88 * told);
}

TEST_CASE("tunings of projectiles") {
    std::vector<std::int32_t> ints(32, 100);
    ints[24] = 50000;
    auto const tuning = tuning_of(ints);
    CHECK(tuning[2].speed == 500);
    CHECK(tuning[0].curvature == 1);
    CHECK(tuning_of({})[1].speed == usual_tuning[1].speed);
}
