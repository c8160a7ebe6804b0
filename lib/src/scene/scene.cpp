#include "teewire/scene/scene.hpp"

#include "teewire/scene/map_scene.hpp"

#include "tee.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace teewire::scene {
namespace {

constexpr float pi = std::numbers::pi_v<float>;

float mix(float a, float b, float part) noexcept { return a + (b - a) * part; }

// The shorter way round.
float mix_angle(float a, float b, float part) noexcept {
    float way = std::fmod(b - a, 2 * pi);
    if (way > pi) way -= 2 * pi;
    if (way < -pi) way += 2 * pi;
    return a + way * part;
}

// From 0 to 1, the same for the same numbers.
float chance(std::int32_t a, std::int32_t b) noexcept {
    std::uint32_t h = (static_cast<std::uint32_t>(a) ^ 0x9e3779b9U) * 0x85ebca6bU ^
                      (static_cast<std::uint32_t>(b) + 1) * 0xc2b2ae35U;
    h ^= h >> 15;
    return static_cast<float>(h * 0x27d4eb2fU >> 8) / 0x1000000;
}
std::int32_t sum(std::int32_t a, std::int32_t b) noexcept { // which wraps
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
std::int32_t whole(float at) noexcept {
    constexpr float most = 1 << 30;
    return static_cast<std::int32_t>(std::clamp(at, -most, most));
}

// Ticks since one. Servers run for weeks, and then a tick has more digits than a float.
float since(std::int32_t start, double tick) noexcept { return static_cast<float>(tick - start); }
// An angle that grows so much in a tick.
float turning(double tick, double speed) noexcept {
    return static_cast<float>(std::fmod(tick * speed, 2 * std::numbers::pi));
}

struct place {
    float x, y;
};
// Where a projectile is at a tick; nothing before it was shot.
std::optional<place> place_of(projectile const& p, double tick, projectile_tuning const& tuning) noexcept {
    float const seconds = since(p.start, tick) / 50;
    if (seconds < 0) return std::nullopt;
    flight const& f = tuning[p.type >= 1 && p.type <= 3 ? static_cast<std::size_t>(p.type - 1) : 0];
    float const way = seconds * f.speed;
    return place{p.x + p.dx * way, p.y + p.dy * way + f.curvature / 10000 * way * way};
}

seen_tee const* find(seen_tees const& tees, std::int32_t id) noexcept {
    auto const* const found = std::find_if(tees.begin(), tees.end(), [&](seen_tee const& t) { return t.id == id; });
    return found != tees.end() ? found : nullptr;
}

struct laser_colors {
    rgba outer, inner;
};
laser_colors colors_of(std::int32_t type) noexcept {
    switch (type) {
    case 1: return {rgba_of(0.125F, 0.1F, 0.05F), rgba_of(0.57F, 0.42F, 0.24F)};
    case 2: return {rgba_of(0, 0.29F, 0.15F), rgba_of(0.42F, 0.85F, 0.56F)};
    case 3: return {rgba_of(0.12F, 0.16F, 0.2F), rgba_of(0.48F, 0.55F, 0.67F)};
    case 4: return {rgba_of(0.1F, 0.1F, 0.3F), rgba_of(0.5F, 0.6F, 0.9F)};
    default: return {rgba_of(0.075F, 0.075F, 0.25F), rgba_of(0.5F, 0.5F, 1)};
    }
}

constexpr float dimmed = 0.4F; // tees that others cannot touch

class painter {
public:
    painter(moment const& at, seen_tees const& tees, picture_source& pictures, draw_list& out) noexcept
        : at_{at}, world_{at.shown()}, tees_{tees}, pictures_{pictures}, out_{out} {}

    void draw_pickups() noexcept {
        for (pickup const& p : world_.pickups) {
            using enum pickup::kind;
            auto const weapon_number = static_cast<std::size_t>(p.weapon);
            bool const known = p.weapon >= 0 && weapon_number < game_sprite::weapons;
            constexpr std::array<float, game_sprite::weapons> sizes = {96, 64, 96, 96, 92, 128};
            std::size_t const n = p.what == ninja ? 5 : known ? weapon_number : 1;
            bool const is_weapon = p.what == weapon || p.what == ninja;
            sprite const& shown = is_weapon          ? game_sprite::weapon[n]
                                  : p.what == health ? game_sprite::health
                                                     : game_sprite::armor;
            float const size = is_weapon ? sizes[n] : 64;
            float const phase = turning(at_.tick, 1.0 / 25) + p.x / 32 + p.y / 32;
            out_.sprite(pictures_.game, shown.part, p.x + std::cos(phase) * 2.5F, p.y + std::sin(phase) * 2.5F,
                        size * shown.width, size * shown.height);
        }
    }

    void draw_flags() noexcept {
        for (flag const& f : world_.flags) {
            bool const blue = f.team == 1;
            seen_tee const* const carrier = find(tees_, world_.carriers[blue ? 1 : 0]);
            constexpr float width = 42, height = 84;
            out_.sprite(pictures_.game, (blue ? game_sprite::blue_flag : game_sprite::red_flag).part,
                        carrier != nullptr ? carrier->x : f.x,
                        (carrier != nullptr ? carrier->y : f.y) - width * 0.75F, width, height);
        }
    }

    void draw_lasers() noexcept {
        for (laser const& l : world_.lasers) {
            constexpr std::int32_t first_lasting = 2; // this type and those above are doors and the like
            constexpr float ticks = 7.5F;
            float const age = since(l.start, at_.tick);
            float const rest = l.type >= first_lasting ? 1.0F : 1 - std::clamp(age / ticks, 0.0F, 1.0F);
            if (rest <= 0) continue;
            auto const [outer, inner] = colors_of(l.type);
            if (l.x != l.from_x || l.y != l.from_y) {
                out_.line(l.from_x, l.from_y, l.x, l.y, 14 * rest, outer);
                out_.line(l.from_x, l.from_y, l.x, l.y, 10 * rest, inner);
            }
            out_.sprite(pictures_.particles, disc_area, l.x, l.y, 40, 40, 0, faded(inner, 0.8F));
        }
    }

    void draw_projectiles() noexcept {
        constexpr std::int32_t grenade = 3;
        for (projectile const& p : world_.projectiles) {
            auto const now = place_of(p, at_.tick, at_.tuning);
            if (!now) continue;
            place const before =
                place_of(p, at_.tick - 0.5, at_.tuning).value_or(place{now->x - p.dx, now->y - p.dy});
            if (p.type == grenade)
                for (int n = 1; n <= 5; ++n)
                    if (auto const smoke = place_of(p, at_.tick - n * 1.5, at_.tuning)) {
                        float const size = 14 + 4 * static_cast<float>(n);
                        out_.sprite(pictures_.particles, disc_area, smoke->x, smoke->y, size, size, 0,
                                    faded(white, 0.4F - static_cast<float>(n) * 0.06F));
                    }
            auto const which = p.type >= 0 && p.type < 5 ? static_cast<std::size_t>(p.type) : std::size_t{1};
            float const angle =
                p.type == grenade ? turning(at_.tick, 0.25) : std::atan2(now->y - before.y, now->x - before.x);
            out_.sprite(pictures_.game, game_sprite::shot[which].part, now->x, now->y, 32, 32, angle);
        }
    }

    void draw_tees(std::int32_t selected) noexcept {
        // The first clients are in front, and the selected one before all.
        std::array<seen_tee const*, 256> order;
        std::size_t count = 0;
        for (seen_tee const& t : tees_) order[count++] = &t;
        auto const shown = std::span{order}.first(count);
        std::sort(shown.begin(), shown.end(), [&](seen_tee const* a, seen_tee const* b) {
            bool const a_last = a->id == selected, b_last = b->id == selected;
            return a_last != b_last ? b_last : a->id > b->id;
        });
        seen_tee const* const own = find(tees_, selected);
        for (std::size_t n = 0; n < count; ++n) {
            looks_[n] = dress(*shown[n]);
            opacities_[n] = own != nullptr ? opacity_of(*shown[n], *own) : 1;
        }
        for (std::size_t n = 0; n < count; ++n) {
            out_.set_opacity(opacities_[n]);
            draw_hook(*shown[n], looks_[n]);
        }
        for (std::size_t n = 0; n < count; ++n) {
            out_.set_opacity(opacities_[n]);
            draw(*shown[n], looks_[n]);
        }
        out_.set_opacity(1);
    }

    void draw_ghosts() noexcept {
        out_.set_opacity(dimmed);
        for (seen_tee const& t : tees_) {
            look const l = dress(t);
            draw_hook(t, l);
            draw(t, l);
        }
        out_.set_opacity(1);
    }

    void draw_effects() noexcept {
        for (event const& e : at_.events) {
            float const age = since(e.tick, at_.tick) / 50;
            if (age < 0 || age > static_cast<float>(event_ticks) / 50) continue;
            switch (e.what) {
            case event::kind::explosion: draw_explosion(e, age); break;
            case event::kind::spawn:
                if (age < 0.5F)
                    particle(ring_area, e.x, e.y, 40 + 160 * age, faded(rgba_of(0.8F, 0.9F, 1), 1 - age * 2));
                break;
            case event::kind::hammer_hit:
                if (age < 0.3F)
                    star(e.x, e.y, 60 + 80 * age, chance(whole(e.x), whole(e.y)) * 6, faded(white, 1 - age / 0.3F));
                break;
            case event::kind::death: {
                constexpr rgba usual = 0xff6699cc;
                rgba const body = look_of(world_.find_player(e.value), world_.is_07, -1, false, pictures_).body;
                burst(false, e, age, sum(e.tick, e.value), 20, body == white ? usual : body);
                break;
            }
            case event::kind::damage:
                if (age < 0.6F) {
                    float const turn = static_cast<float>(e.value) / 256 - pi / 2;
                    float const way = 28 + 60 * age;
                    star(e.x - std::cos(turn) * way, e.y - std::sin(turn) * way, 32, age * 3,
                         faded(white, 1 - age / 0.6F));
                }
                break;
            case event::kind::finish: burst(true, e, age, e.tick, 16, rgba_of(1, 0.85F, 0.3F)); break;
            case event::kind::sound:
            case event::kind::sound_everywhere: break;
            }
        }
    }

    void draw_above(scene_options const& options, float zoom) noexcept {
        for (seen_tee const& t : tees_) {
            draw_emoticon(t, options.names);
            constexpr std::int32_t chats = 1 << 2, dots = 4;
            if (!world_.is_07 && (t.now->player_flags & chats) != 0)
                out_.sprite(pictures_.emoticons, emoticon_area(dots), t.x + 24, t.y - 40, 64, 64);
            player const* const who = world_.find_player(t.id);
            if (!options.names || who == nullptr || who->name.size == 0) continue;
            // Not smaller than can be read, however far away.
            float const size = 30 * std::clamp(zoom * 0.8F, 1.0F, 2.5F);
            out_.text(who->name.view(), t.x, t.y - 38 - size / 2, size,
                      t.id == options.selected ? rgba_of(1, 0.9F, 0.45F) : white);
        }
    }

private:
    // Tees that cannot touch the selected one, `own`, are seen through.
    [[nodiscard]] float opacity_of(seen_tee const& t, seen_tee const& own) const noexcept {
        constexpr std::uint8_t with_all = 64; // a team that touches every other one
        if (t.id == own.id) return 1;
        if (own.now->is_solo() || t.now->is_solo()) return dimmed;
        auto const team_of = [&](std::int32_t id) -> std::uint8_t {
            return id >= 0 && static_cast<std::size_t>(id) < at_.teams.size()
                       ? at_.teams[static_cast<std::size_t>(id)]
                       : 0;
        };
        std::uint8_t const team = team_of(t.id), own_team = team_of(own.id);
        return team == own_team || team == with_all || own_team == with_all ? 1.0F : dimmed;
    }

    [[nodiscard]] look dress(seen_tee const& t) noexcept {
        player const* const who = world_.find_player(t.id);
        std::int32_t const team = world_.teams ? (who != nullptr ? who->team : -1) : -1;
        return look_of(who, world_.is_07, team, t.now->looks_like_ninja(at_.tick), pictures_);
    }

    void draw_hook(seen_tee const& t, look const& l) noexcept {
        if (t.now->hook_state <= 0) return;
        seen_tee const* const caught = t.now->hooked_player >= 0 ? find(tees_, t.now->hooked_player) : nullptr;
        float const hx = caught != nullptr ? caught->x : t.hook_x, hy = caught != nullptr ? caught->y : t.hook_y;
        float const length = std::hypot(hx - t.x, hy - t.y);
        constexpr float longest = 4000, link = 24, width = 16;
        if (!(length >= 1 && length <= longest)) return;
        float const dx = (t.x - hx) / length, dy = (t.y - hy) / length;
        float const angle = std::atan2(dy, dx) + pi;
        for (float way = link; way < length; way += link)
            out_.sprite(pictures_.game, game_sprite::hook_chain.part, hx + dx * way, hy + dy * way, link, width,
                        angle);
        out_.sprite(pictures_.game, game_sprite::hook_head.part, hx, hy, link, width, angle);
        draw_hand(l, t.x, t.y, -dx, -dy, -pi / 2, 20, 0, out_);
    }

    void draw(seen_tee const& t, look const& l) noexcept {
        float const dx = std::cos(t.angle), dy = std::sin(t.angle);
        tee const& now = *t.now;
        player const* const who = world_.find_player(t.id);
        posture how;
        how.in_air = at_.on != nullptr && !at_.on->solid(t.x, t.y + 16);
        if (std::abs(t.vel_x) > 1) {
            float const step = std::fmod(t.x, 100.0F);
            how.walk = (step < 0 ? step + 100 : step) / 100;
        }
        how.emote = who != nullptr && who->away ? blink : now.emote;
        how.tired = (now.jumped & 2) != 0;
        float const attacked = now.attack_tick > 0 ? since(now.attack_tick, at_.tick) : -1.0F;
        if (!now.is_frozen(at_.tick))
            draw_weapon(l, t.x, t.y, dx, dy, now.weapon, attacked, now.attack_tick, pictures_.game, out_);
        draw_tee(l, t.x, t.y, dx, dy, how, out_);
    }

    static area emoticon_area(std::int32_t number) noexcept {
        std::int32_t const row = number / 4, column = number % 4;
        return sprite_in(4, 4, static_cast<float>(column), static_cast<float>(row), 1, 1).part;
    }
    void draw_emoticon(seen_tee const& t, bool with_name) noexcept {
        for (emoticon const& e : at_.emoticons) {
            float const age = since(e.tick, at_.tick) / 50;
            if (e.client != t.id || age < 0 || age >= 2 || e.number < 0 || e.number > 15) continue;
            float const grown = std::min({1.0F, age * 10, (2 - age) * 5});
            float const tilt = age < 0.3F ? std::sin(age * 30) * (0.3F - age) : 0.0F;
            out_.sprite(pictures_.emoticons, emoticon_area(e.number), t.x,
                        t.y - 23 - 32 * grown - (with_name ? 28.0F : 0.0F), 64, 64 * grown, tilt);
        }
    }

    void particle(area const& part, float x, float y, float size, rgba color) noexcept {
        out_.sprite(pictures_.particles, part, x, y, size, size, 0, color);
    }
    void star(float x, float y, float size, float angle, rgba color) noexcept {
        out_.sprite(pictures_.game, game_sprite::star.part, x, y, size, size, angle, color);
    }

    void draw_explosion(event const& e, float age) noexcept {
        if (age < 0.4F) {
            float const a = 1 - age / 0.4F;
            particle(disc_area, e.x, e.y, 220 * (1 - a * 0.5F), faded(rgba_of(1, 0.55F, 0.15F), a));
            particle(disc_area, e.x, e.y, 120 * a + 20, faded(rgba_of(1, 0.95F, 0.7F), a));
        }
        for (std::int32_t n = 0; n < 8; ++n) {
            float const turn = chance(sum(e.tick, n), whole(e.x)) * 2 * pi;
            float const way = (30 + 90 * chance(whole(e.y), n)) * std::sqrt(age);
            particle(disc_area, e.x + std::cos(turn) * way, e.y + std::sin(turn) * way - age * 20, 24 + 50 * age,
                     faded(rgba_of(0.5F, 0.5F, 0.5F), 0.5F - age / 1.6F));
        }
    }

    void burst(bool stars, event const& e, float age, std::int32_t seed, std::int32_t count, rgba color) noexcept {
        constexpr float longest = 0.8F;
        if (age > longest) return;
        for (std::int32_t n = 0; n < count; ++n) {
            float const turn = chance(seed, n) * 2 * pi;
            float const speed = 80 + 240 * chance(n, seed);
            float const x = e.x + std::cos(turn) * speed * age,
                        y = e.y + std::sin(turn) * speed * age + 300 * age * age;
            rgba const shown = faded(color, 1 - age / longest);
            if (stars) star(x, y, 28, turn + age * 6, shown);
            else out_.sprite(pictures_.particles, disc_area, x, y, 28, 28, turn + age * 6, shown);
        }
    }

    moment const& at_;
    world const& world_;
    seen_tees const& tees_;
    picture_source& pictures_;
    draw_list& out_;
    std::array<look, 256> looks_;
    std::array<float, 256> opacities_;
};

} // namespace

void find_tees(moment const& at, seen_tees& out) noexcept {
    out.clear();
    world const& before = *at.before;
    float part = 0;
    if (at.after != nullptr && at.after->tick > before.tick)
        part = std::clamp(since(before.tick, at.tick) / since(before.tick, at.after->tick), 0.0F, 1.0F);
    for (tee const& old : before.tees) {
        tee const* const now = at.after != nullptr ? at.after->find_tee(old.id) : &old;
        if (now == nullptr) continue;
        // Further than anything moves by itself: it was put there.
        bool const far = std::hypot(now->x - old.x, now->y - old.y) > 600;
        float const p = far ? (part < 0.5F ? 0.0F : 1.0F) : part;
        seen_tee* const t = out.add();
        if (t == nullptr) return;
        bool const hooked = old.hook_state > 0;
        *t = {old.id,
              now,
              mix(old.x, now->x, p),
              mix(old.y, now->y, p),
              mix(old.vel_x, now->vel_x, p) / 256,
              mix_angle(static_cast<float>(old.angle) / 256, static_cast<float>(now->angle) / 256, p),
              mix(hooked ? old.hook_x : old.x, now->hook_x, p),
              mix(hooked ? old.hook_y : old.y, now->hook_y, p)};
    }
}

void draw_game(moment const& at, seen_tees const& tees, scene_options const& options, picture_source& pictures,
               draw_list& out) noexcept {
    painter p{at, tees, pictures, out};
    p.draw_pickups();
    p.draw_flags();
    p.draw_lasers();
    p.draw_projectiles();
    p.draw_tees(options.selected);
    p.draw_effects();
}

void draw_names(moment const& at, seen_tees const& tees, scene_options const& options, float zoom,
                picture_source& pictures, draw_list& out) noexcept {
    painter{at, tees, pictures, out}.draw_above(options, zoom);
}

void draw_picture(moment const& at, seen_tees const& tees, camera const& from, scene_options const& options,
                  map_choice const& map, ghosts const* seen_through, picture_source& pictures,
                  draw_list& out) noexcept {
    // As in games that play a demo, what does not follow the round follows the server's ticks.
    map_time const time{(at.tick - at.before->round_start) * 20, at.tick * 20};
    auto const draw_side = [&](side which) {
        if (map.map != nullptr) draw_map(*map.map, which, from, time, map.images, out);
    };
    out.set_view(from.view());
    draw_side(side::background);
    if (seen_through != nullptr) painter{seen_through->at, seen_through->tees, pictures, out}.draw_ghosts();
    draw_game(at, tees, options, pictures, out);
    draw_side(side::foreground);
    if (seen_through != nullptr)
        draw_names(seen_through->at, seen_through->tees, {options.names, -1}, from.zoom, pictures, out);
    draw_names(at, tees, options, from.zoom, pictures, out);
}

} // namespace teewire::scene
