// Tees: body, feet, eyes, hands and weapons, moved as the clients move them.
#include "tee.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace teewire::scene {
namespace {

constexpr float pi = std::numbers::pi_v<float>;

struct frame {
    float time, x, y, turn; ///< turns of the circle
};

// Values between frames, for a time from 0 to 1.
frame pose_at(std::span<frame const> frames, float time) noexcept {
    std::size_t n = 0;
    while (n + 2 < frames.size() && frames[n + 1].time <= time) ++n;
    frame const& from = frames[n];
    frame const& to = frames[std::min(n + 1, frames.size() - 1)];
    float const a = to.time > from.time ? std::clamp((time - from.time) / (to.time - from.time), 0.0F, 1.0F) : 0.0F;
    return {time, from.x + (to.x - from.x) * a, from.y + (to.y - from.y) * a,
            from.turn + (to.turn - from.turn) * a};
}

constexpr frame stand_body[] = {{0, 0, -4, 0}}, stand_back[] = {{0, -7, 10, 0}}, stand_front[] = {{0, 7, 10, 0}};
constexpr frame air_back[] = {{0, -3, 10, -0.1F}}, air_front[] = {{0, 3, 10, -0.1F}};
constexpr frame walk_body[] = {{0, 0, -4, 0},    {0.2F, 0, -5, 0}, {0.4F, 0, -4, 0},
                               {0.6F, 0, -4, 0}, {0.8F, 0, -5, 0}, {1, 0, -4, 0}};
constexpr frame walk_back[] = {{0, 8, 10, 0},       {0.2F, -8, 10, 0},   {0.4F, -10, 6, 0.2F},
                               {0.6F, -8, 2, 0.3F}, {0.8F, 4, 6, -0.2F}, {1, 8, 10, 0}};
constexpr frame walk_front[] = {{0, -10, 6, 0.2F}, {0.2F, -8, 2, 0.3F}, {0.4F, 4, 6, -0.2F},
                                {0.6F, 8, 10, 0},  {0.8F, 8, 10, 0},    {1, -10, 6, 0.2F}};
constexpr frame hammer_swing[] = {
    {0, 0, 0, -0.1F}, {0.3F, 0, 0, 0.25F}, {0.4F, 0, 0, 0.3F}, {0.5F, 0, 0, 0.25F}, {1, 0, 0, -0.1F}};
constexpr frame ninja_swing[] = {{0, 0, 0, -0.25F},   {0.1F, 0, 0, -0.05F}, {0.15F, 0, 0, 0.35F},
                                 {0.42F, 0, 0, 0.4F}, {0.5F, 0, 0, 0.35F},  {1, 0, 0, -0.25F}};

// How a weapon is held: its size, its place along the direction and down, its flash, and the hand's turn and place.
struct grip {
    float size, along, down;
    bool has_flash = false;
    float flash_along = 0, flash_down = 0;
    bool has_hand = false;
    float hand_turn = 0, hand_along = 0, hand_across = 0;
};
enum weapon : std::size_t { hammer, gun, shotgun, grenade, laser_gun, ninja };
constexpr std::array<grip, game_sprite::weapons> grips = {{{96, 4, -20},
                                                           {64, 32, 4, true, 50, 6, true, -3 * pi / 4, -15, 4},
                                                           {96, 24, -2, true, 70, 6, true, -pi / 2, -5, 4},
                                                           {96, 24, -2, false, 0, 0, true, -pi / 2, -4, 7},
                                                           {92, 24, -2},
                                                           {96, 0, 0}}};

constexpr float tee_size = 64;

rgba darker(rgba color) noexcept {
    auto const half = [&](int shift) { return (color >> shift & 255) / 2 << shift; };
    return half(0) | half(8) | half(16) | (color & 0xff000000);
}

void draw_body(look const& l, bool outline, float x, float y, draw_list& out) noexcept {
    auto const draw = [&](texture from, area const& part, rgba color = white) {
        out.sprite(from, part, x, y, tee_size, tee_size, 0, color);
    };
    if (!l.is_07()) {
        if (outline) draw(l.skin, skin_sprite::body_outline);
        else draw(l.skin, skin_sprite::body, l.body);
        return;
    }
    texture const body = l.part(skin_part::body), marking = l.part(skin_part::marking),
                  decoration = l.part(skin_part::decoration);
    if (outline) {
        if (decoration != no_texture) draw(decoration, part_sprite::right);
        draw(body, part_sprite::body_outline);
        return;
    }
    if (decoration != no_texture) draw(decoration, part_sprite::left, l.decoration);
    draw(body, part_sprite::body, l.body);
    if (marking != no_texture) draw(marking, {}, l.marking);
    draw(body, part_sprite::body_shadow);
    draw(body, part_sprite::body_upper);
}

void draw_eyes(look const& l, float x, float y, float dx, float dy, std::int32_t emote, draw_list& out) noexcept {
    std::size_t const which = eyes_of(emote);
    float const at_x = x + dx * 0.125F * tee_size, at_y = y + (-0.05F + dy * 0.1F) * tee_size;
    if (texture const eyes = l.part(skin_part::eyes); eyes != no_texture) {
        float const w = tee_size * 0.6F;
        out.sprite(eyes, part_sprite::eyes[which], at_x, at_y, w, emote == blink ? w / 4 : w / 2);
        return;
    }
    float const apart = (0.075F - 0.01F * std::abs(dx)) * tee_size;
    float const width = 0.4F * tee_size, height = emote == blink ? 0.15F * tee_size : width;
    rgba const color = l.is_07() ? white : l.body;
    out.sprite(l.skin, skin_sprite::eyes[which], at_x - apart, at_y, width, height, 0, color);
    out.sprite(l.skin, skin_sprite::eyes[which], at_x + apart, at_y, -width, height, 0, color);
}

} // namespace

void draw_tee(look const& l, float x, float y, float dx, float dy, posture const& how, draw_list& out) noexcept {
    bool const walks = !how.in_air && how.walk >= 0;
    float const time = std::max(0.0F, how.walk);
    frame const body = pose_at(walks ? std::span<frame const>{walk_body} : stand_body, time);
    std::array<frame, 2> const feet = {pose_at(how.in_air ? std::span<frame const>{air_back}
                                               : walks    ? std::span<frame const>{walk_back}
                                                          : stand_back,
                                               time),
                                       pose_at(how.in_air ? std::span<frame const>{air_front}
                                               : walks    ? std::span<frame const>{walk_front}
                                                          : stand_front,
                                               time)};
    texture const own_feet = l.part(skin_part::feet);
    float const width = own_feet != no_texture ? tee_size / 2.1F : tee_size;
    float const height = own_feet != no_texture ? width : tee_size / 2;
    rgba const foot_color = how.tired ? darker(l.feet) : l.feet;
    for (bool const outline : {true, false})
        for (std::size_t const n : {0U, 1U}) {
            if (n == 1) {
                draw_body(l, outline, x + body.x, y + body.y, out);
                if (!outline) draw_eyes(l, x + body.x, y + body.y, dx, dy, how.emote, out);
            }
            area const part = own_feet != no_texture ? (outline ? part_sprite::right : part_sprite::left)
                                                     : (outline ? skin_sprite::foot_outline : skin_sprite::foot);
            out.sprite(own_feet != no_texture ? own_feet : l.skin, part, x + feet[n].x, y + feet[n].y, width,
                       height, feet[n].turn * 2 * pi, outline ? white : foot_color);
        }
}

void draw_hand(look const& l, float x, float y, float dx, float dy, float turn, float along, float across,
               draw_list& out) noexcept {
    float const flip = dx < 0 ? -1.0F : 1.0F;
    float const angle = std::atan2(dy, dx) + turn * flip;
    float const at_x = x + dx + dx * along - dy * across * flip, at_y = y + dy + dy * along + dx * across * flip;
    texture const own = l.part(skin_part::hands);
    texture const from = own != no_texture ? own : l.skin;
    float const size = own != no_texture ? 30.0F : 20.0F;
    out.sprite(from, own != no_texture ? part_sprite::right : skin_sprite::hand_outline, at_x, at_y, size, size,
               angle);
    out.sprite(from, own != no_texture ? part_sprite::left : skin_sprite::hand, at_x, at_y, size, size, angle,
               l.hand);
}

void draw_weapon(look const& l, float x, float y, float dx, float dy, std::int32_t which, float since,
                 std::int32_t attack_tick, texture game, draw_list& out) noexcept {
    if (which < 0 || static_cast<std::size_t>(which) >= grips.size()) return;
    auto const n = static_cast<std::size_t>(which);
    grip const& held = grips[n];
    sprite const& shown = game_sprite::weapon[n];
    bool const left = dx < 0;
    float const w = held.size * shown.width, h = held.size * shown.height * (left ? -1 : 1);
    if (n == hammer || n == ninja) {
        float const swing = since >= 0 && since < 50 ? since / 50 : 1.0F;
        float const turn = n == hammer ? pose_at(hammer_swing, std::min(1.0F, swing * 5)).turn
                                       : pose_at(ninja_swing, std::min(1.0F, swing * 2)).turn;
        out.sprite(game, shown.part, left ? x - held.along : x, y + held.down, w, h,
                   -pi / 2 + (left ? -turn : turn) * 2 * pi);
        return;
    }
    constexpr float flash_ticks = 5;
    float const aim = std::atan2(dy, dx);
    float const part = since / flash_ticks;
    float const recoil = part >= 0 && part < 1 ? std::sin(part * pi) * 10 : 0.0F;
    float const at_x = x + dx * (held.along - recoil), at_y = y + dy * (held.along - recoil) + held.down;
    if (held.has_flash && since >= 0 && since < flash_ticks) {
        auto const& flashes = n == gun ? game_sprite::gun_flash : game_sprite::shotgun_flash;
        sprite const& flash = flashes[static_cast<std::uint32_t>(attack_tick) % flashes.size()];
        float const down = left ? held.flash_down : -held.flash_down;
        out.sprite(game, flash.part, at_x + dx * held.flash_along - dy * down,
                   at_y + dy * held.flash_along + dx * down, 96 * flash.width,
                   (left ? -96.0F : 96.0F) * flash.height, aim, faded(white, 2 * (1 - since / flash_ticks)));
    }
    out.sprite(game, shown.part, at_x, at_y, w, h, aim);
    if (held.has_hand) draw_hand(l, at_x, at_y, dx, dy, held.hand_turn, held.hand_along, held.hand_across, out);
}

} // namespace teewire::scene
