/// @file
/// The pictures of the games that a scene is drawn with, and where in them each sprite is.
#pragma once

#include "teewire/scene/draw_list.hpp"
#include "teewire/scene/world.hpp"

namespace teewire::scene {

/// A skin of 0.6: in its own colours, and in greys that can be tinted.
struct skin_textures {
    texture plain = no_texture;
    texture grey = no_texture;
};

/// Gives pictures. The host's; asked for each tee of each frame, so it remembers what it has found.
class picture_source {
public:
    texture game = no_texture;      ///< weapons, shots, pickups, flags and hook
    texture emoticons = no_texture; ///< four by four
    texture particles = no_texture; ///< a soft disc, and a ring beside it
    skin_textures own_skin;         ///< instead of one that is not there

    /// A skin of 0.6; no_texture in both if it is not there.
    virtual skin_textures skin(std::string_view name) noexcept = 0;
    /// A part of a skin of 0.7; no_texture if it is not there.
    virtual texture part(skin_part what, std::string_view name) noexcept = 0;

protected:
    ~picture_source() = default;
};

/// A part of a picture; width and height are shares of its diagonal.
struct sprite {
    area part;
    float width = 1;
    float height = 1;
};

/// The sprite at (x, y) of w by h cells, in a picture of so many cells.
[[nodiscard]] constexpr sprite sprite_in(float columns, float rows, float x, float y, float w, float h) noexcept {
    // The square root: std::hypot is not constexpr.
    float root = w + h;
    for (int i = 0; i < 20; ++i) root = (root + (w * w + h * h) / root) / 2;
    return {{x / columns, y / rows, (x + w) / columns, (y + h) / rows}, w / root, h / root};
}

/// Sprites in picture_source::game.
namespace game_sprite {
[[nodiscard]] constexpr sprite at(float x, float y, float w, float h) noexcept {
    return sprite_in(32, 16, x, y, w, h);
}
inline constexpr sprite hook_chain = at(2, 0, 1, 1), hook_head = at(3, 0, 2, 1);
inline constexpr sprite health = at(10, 2, 2, 2), armor = at(12, 2, 2, 2);
inline constexpr sprite blue_flag = at(12, 8, 4, 8), red_flag = at(16, 8, 4, 8);
inline constexpr sprite star = at(15, 0, 2, 2);
/// Signs of a player's health and armor.
inline constexpr sprite full_health = at(21, 0, 2, 2), empty_health = at(23, 0, 2, 2);
inline constexpr sprite full_armor = at(21, 2, 2, 2), empty_armor = at(23, 2, 2, 2);
/// Weapons in a tee's hands: hammer, gun, shotgun, grenade, laser, ninja.
inline constexpr std::size_t weapons = 6;
inline constexpr std::array<sprite, weapons> weapon = {at(2, 1, 4, 3), at(2, 4, 4, 2),  at(2, 6, 8, 2),
                                                       at(2, 8, 7, 2), at(2, 12, 7, 3), at(2, 10, 8, 2)};
/// Their projectiles.
inline constexpr std::array<sprite, weapons> shot = {at(6, 4, 2, 2),  at(6, 4, 2, 2),   at(10, 6, 2, 2),
                                                     at(10, 8, 2, 2), at(10, 12, 2, 2), at(6, 4, 2, 2)};
/// Flashes of the gun and the shotgun.
inline constexpr std::array<sprite, 3> gun_flash = {at(8, 4, 3, 2), at(12, 4, 3, 2), at(16, 4, 3, 2)};
inline constexpr std::array<sprite, 3> shotgun_flash = {at(12, 6, 3, 2), at(16, 6, 3, 2), at(20, 6, 3, 2)};
} // namespace game_sprite

/// Areas in picture_source::particles.
inline constexpr area disc_area = {0, 0, 0.5F, 1}, ring_area = {0.5F, 0, 1, 1};
/// Height in pixels of draw_particles(), which is twice as wide.
inline constexpr std::size_t particle_side = 64;
/// Draws picture_source::particles: 2 * particle_side by particle_side pixels of R, G, B, A, not premultiplied.
void draw_particles(std::span<std::uint8_t> pixels) noexcept;

/// Makes skin_textures::grey of the pixels of skin_textures::plain: greys, of which the commonest of the body is the same in
/// all skins. `pixels`: 4 * width * height bytes of R, G, B, A. O(pixels).
void make_grey(std::span<std::uint8_t> pixels, std::size_t width, std::size_t height) noexcept;

/// Areas in a skin of 0.6.
namespace skin_sprite {
[[nodiscard]] constexpr area at(float x, float y, float w, float h) noexcept {
    return sprite_in(8, 4, x, y, w, h).part;
}
inline constexpr area body = at(0, 0, 3, 3), body_outline = at(3, 0, 3, 3);
inline constexpr area foot = at(6, 1, 2, 1), foot_outline = at(6, 2, 2, 1);
inline constexpr area hand = at(6, 0, 1, 1), hand_outline = at(7, 0, 1, 1);
/// By the numbers of eyes below.
inline constexpr std::array<area, 5> eyes = {at(2, 3, 1, 1), at(4, 3, 1, 1), at(5, 3, 1, 1), at(7, 3, 1, 1),
                                             at(3, 3, 1, 1)};
} // namespace skin_sprite

/// Parts of a skin of 0.7, each of which has a picture.
namespace part_sprite {
inline constexpr area body_outline = {0, 0, 0.5F, 0.5F}, body = {0.5F, 0, 1, 0.5F},
                      body_shadow = {0, 0.5F, 0.5F, 1}, body_upper = {0.5F, 0.5F, 1, 1};
/// Areas in hands, feet and decorations.
inline constexpr area left = {0, 0, 0.5F, 1}, right = {0.5F, 0, 1, 1};
/// By the numbers of eyes.
inline constexpr std::array<area, 5> eyes = {{{0, 0, 0.5F, 0.25F},
                                              {0, 0.25F, 0.5F, 0.5F},
                                              {0.5F, 0.25F, 1, 0.5F},
                                              {0, 0.5F, 0.5F, 0.75F},
                                              {0.5F, 0, 1, 0.25F}}};
} // namespace part_sprite

/// The eyes of an emote: normal, pain, happy, surprise, angry; and blink, which are normal ones.
[[nodiscard]] constexpr std::size_t eyes_of(std::int32_t emote) noexcept {
    return emote >= 0 && emote < 5 ? static_cast<std::size_t>(emote) : 0;
}
inline constexpr std::int32_t blink = 5;

/// A colour as the games keep it: hue, saturation and lightness in bytes; the darkest lightness is `least`.
[[nodiscard]] rgba game_color(std::int32_t packed, float least = 0.5F) noexcept;

/// How a tee looks: pictures and colours. With a body of 0.7, `skin` is for parts that are not there.
struct look {
    texture skin = no_texture;
    rgba body = white;
    rgba feet = white;
    rgba hand = white;
    std::array<texture, skin_parts> parts = {no_texture, no_texture, no_texture,
                                             no_texture, no_texture, no_texture};
    rgba marking = white;
    rgba decoration = white;

    [[nodiscard]] texture part(skin_part what) const noexcept { return parts[static_cast<std::size_t>(what)]; }
    [[nodiscard]] bool is_07() const noexcept { return part(skin_part::body) != no_texture; }
};

/// `team`: -1 where colours are the player's own. `who` may be null.
[[nodiscard]] look look_of(player const* who, bool is_07, std::int32_t team, bool ninja,
                           picture_source& pictures) noexcept;

} // namespace teewire::scene
