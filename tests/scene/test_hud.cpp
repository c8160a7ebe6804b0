// Texts and signs over the picture.
#include "check.hpp"
#include "draw.hpp"

#include "teewire/scene/hud.hpp"

#include <algorithm>
#include <memory>
#include <string>

using namespace teewire;
using namespace teewire::scene;

namespace {

// Each byte is half as wide as high.
struct half final : text_measure {
    float width(std::string_view text, float size) noexcept override {
        return static_cast<float>(text.size()) * size / 2;
    }
};

struct game {
    std::unique_ptr<world> now{new world};
    moment at;
    seen_tees tees;
    hud shown;
    pictures sheets;
    half measure;
    hud_texts texts;
    room memory;

    game() {
        now->tick = 1000;
        at.before = now.get();
        at.tick = 1000;
        shown.parts = {false, false, false, false, false, false};
        shown.selected = 3;
    }
    tee& add_tee() {
        tee* const t = now->tees.add();
        t->id = 3;
        find_tees(at, tees);
        return *t;
    }
    draw_list draw(float aspect = 16.0F / 9) {
        draw_list out = memory.list();
        draw_hud(at, tees, shown, aspect, sheets, measure, texts, out);
        return out;
    }
    // All texts, from left to right in a line, as they are given.
    std::string drawn_texts(float aspect = 16.0F / 9) {
        std::string all;
        for (draw_command const& c : draw(aspect).commands())
            if (c.what == draw_command::kind::text)
                all += std::string{all.empty() ? "" : "|"} + std::string{c.text};
        return all;
    }
    std::size_t signs() {
        std::size_t count = 0;
        for (draw_command const& c : draw().commands())
            if (c.what == draw_command::kind::quads && c.from == sheets.game) count += c.count / 4;
        return count;
    }
};

} // namespace

TEST_CASE("hud: nothing, if nothing is chosen or known") {
    game g;
    CHECK(g.draw().commands().empty());
    g.shown.parts = {true, true, true, true, true, true};
    CHECK(g.drawn_texts() == "0:20");
}

TEST_CASE("hud: the clock") {
    game g;
    g.shown.parts.clock = true;
    CHECK(g.drawn_texts() == "0:20");
    g.now->round_start = 1000 - 50 * 3605;
    CHECK(g.drawn_texts() == "1:00:05");
    g.now->round_start = 950;
    g.now->time_limit = 2;
    CHECK(g.drawn_texts() == "1:59");
    g.now->round_start = 2000; // in the future, and with a limit far away
    g.now->time_limit = 0;
    CHECK(g.drawn_texts() == "");
    g.now->round_start = INT32_MIN;
    g.now->time_limit = INT32_MAX;
    CHECK(g.drawn_texts() == "");
    g.now->warmup = 101;
    CHECK(g.drawn_texts() == "Warmup 3");
    g.now->race_start = 933;
    CHECK(g.drawn_texts() == "0:01.3");
    player* const p = g.now->players.add();
    p->id = 3;
    CHECK(g.drawn_texts() == "Warmup 3"); // it is not this player's race
    p->local = true;
    CHECK(g.drawn_texts() == "0:01.3");
    p->local = false;
    g.now->viewed = 3;
    CHECK(g.drawn_texts() == "0:01.3");
    p->race_start = 400;
    CHECK(g.drawn_texts() == "0:12.0");
    g.now->teams = true;
    g.now->scores = {-7, 12};
    CHECK(g.drawn_texts() == "0:12.0|:|-7|12");
    g.now->sudden_death = true;
    CHECK(g.drawn_texts() == "Sudden death|:|-7|12");
    g.now->paused = true;
    CHECK(g.drawn_texts() == "Paused|:|-7|12");
    g.now->over = true;
    CHECK(g.drawn_texts() == "Game over|:|-7|12");
}

TEST_CASE("hud: health, armor and ammunition") {
    game g;
    g.shown.parts.status = true;
    tee& t = g.add_tee();
    t.health = 4;
    t.armor = 99;
    t.weapon = 0;
    CHECK(g.signs() == 20); // full ones and empty ones
    t.weapon = 1;
    t.ammo_count = 7;
    CHECK(g.signs() == 27);
    t.ammo_count = -1;
    CHECK(g.signs() == 20);
    t.weapon = INT32_MAX;
    CHECK(g.signs() == 20);
    g.now->is_race = true;
    CHECK(g.signs() == 0);
}

TEST_CASE("hud: kills") {
    game g;
    g.shown.parts.kills = true;
    std::vector<kill_line> kills{
        {900, "killer", "victim", 3}, {910, "fallen", "fallen", -1}, {920, "world", "he", -3}};
    g.shown.kills = kills;
    CHECK(g.drawn_texts() == "victim|killer|fallen|\xe2\x98\xa0 |he| \xe2\x86\x92 |world");
    CHECK(g.signs() == 1);
    kills[0].weapon = INT32_MAX;
    CHECK(g.signs() == 0);
    // They are at the right, without overlapping, the oldest above.
    auto const list = g.draw(2);
    float right = 1e6F;
    for (draw_command const& c : list.commands().first(3)) {
        float const w = g.measure.width(c.text, c.size);
        CHECK(c.x + w / 2 <= doctest::Approx(std::min(right, 600.0F)));
        right = c.x - w / 2;
    }
    CHECK(list.commands().front().y < list.commands().back().y);
    kills.assign(9, kills[1]);
    g.shown.kills = kills;
    CHECK(g.draw().commands().size() == 10); // five of them
}

TEST_CASE("hud: chat, the newest below, long lines in pieces") {
    game g;
    g.shown.parts.chat = true;
    using enum said_line::audience;
    std::string const longest = "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo pppp";
    std::vector<said_line> said{
        {900, everyone, "he", longest}, {950, server, {}, "it began"}, {960, team, "she", "go"}};
    g.shown.said = said;
    std::string const all = g.drawn_texts();
    CHECK(all.starts_with("she|: |go|*** |it began|he|: |aaaa "));
    auto const list = g.draw();
    std::string joined;
    float last_y = 0;
    for (draw_command const& c : list.commands().subspan(7)) {
        CHECK(c.x - g.measure.width(c.text, c.size) / 2 >= 4.9F);
        CHECK(c.x + g.measure.width(c.text, c.size) / 2 <= 256);
        CHECK(c.y > last_y);
        last_y = c.y;
        joined += c.text;
    }
    CHECK(joined == longest);
    CHECK(last_y < list.commands()[3].y);
    // Letters stay whole, and words that find no room are cut.
    std::string wide;
    for (int n = 0; n < 200; ++n) wide += "\xc3\xa4";
    said.assign(1, {900, everyone, "he", wide});
    g.shown.said = said;
    for (draw_command const& c : g.draw().commands().subspan(2)) CHECK(c.text.size() % 2 == 0);
    // As many as find room.
    said.assign(100, {900, everyone, "he", "x"});
    g.shown.said = said;
    CHECK(g.draw().commands().size() < 60);
    // A picture that is very narrow, and an endless one.
    static_cast<void>(g.draw(1e-6F));
    static_cast<void>(g.draw(1e6F));
}

TEST_CASE("hud: keys and speed") {
    game g;
    g.shown.parts.keys = g.shown.parts.speed = true;
    tee& t = g.add_tee();
    t.direction = -1;
    t.hook_state = 5;
    t.attack_tick = 998;
    t.vel_y = 256 * 3;
    g.tees.begin()->vel_x = 4;
    CHECK(g.drawn_texts() == "left|right|jump|hook|fire|7.8 tiles/s");
    auto const pressed = [&] {
        auto const list = g.draw();
        std::string which;
        for (std::size_t n = 0; n < list.vertices().size(); n += 4)
            which += list.vertices()[n].color >> 24 > 150 ? '1' : '0';
        return which;
    };
    CHECK(pressed() == "10011");
    t.direction = 1;
    t.hook_state = 0;
    t.jumped = 3;
    t.attack_tick = 900;
    CHECK(pressed() == "01100");
    // Texts find room in the memory that is there.
    g.texts.used = 999;
    CHECK(g.drawn_texts().ends_with("tiles/s"));
}
