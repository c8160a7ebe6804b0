/// @file
/// The game at a moment as a list of what is to be drawn. The layers of the map are in map_scene.hpp.
#pragma once

#include "teewire/scene/camera.hpp"
#include "teewire/scene/pictures.hpp"

namespace teewire::scene {

/// Ticks for which an event is seen.
inline constexpr std::int32_t event_ticks = 40;
/// The same for what a player said without words.
inline constexpr std::int32_t emoticon_ticks = 100;

struct emoticon {
    std::int32_t client = -1;
    std::int32_t tick = 0;
    std::int32_t number = 0; ///< 0 to 15
};

/// A moment between two snapshots.
struct moment {
    world const* before = nullptr; ///< never null
    world const* after = nullptr;  ///< null at the end of what there is
    double tick = 0;               ///< from that of `before` to that of `after`
    std::span<event const> events; ///< of the last event_ticks
    std::span<emoticon const> emoticons;
    std::span<std::uint8_t const> teams; ///< DDNet's, by client; empty: there are none
    projectile_tuning tuning = usual_tuning;
    ground const* on = nullptr; ///< null without a map

    /// The world that shows what does not move by itself.
    [[nodiscard]] world const& shown() const noexcept { return after != nullptr ? *after : *before; }
};

/// A tee between two snapshots.
struct seen_tee {
    std::int32_t id = -1;
    tee const* now = nullptr;
    float x = 0;
    float y = 0;
    float vel_x = 0; ///< units a tick
    float angle = 0; ///< radians
    float hook_x = 0;
    float hook_y = 0;
};
using seen_tees = bounded_list<seen_tee, 256>;

/// Where the tees of a moment are.
void find_tees(moment const& at, seen_tees& out) noexcept;

struct scene_options {
    bool names = true;
    std::int32_t selected = -1; ///< a client that is drawn last, with its name in another colour
};

/// Draws pickups, flags, lasers, shots, hooks, tees and effects. Set the view of `out` before. O(what is in the world).
void draw_game(moment const& at, seen_tees const& tees, scene_options const& options, picture_source& pictures,
               draw_list& out) noexcept;
/// Draws names and emoticons, which nothing of the map hides.
void draw_names(moment const& at, seen_tees const& tees, scene_options const& options, float zoom,
                picture_source& pictures, draw_list& out) noexcept;

/// The layers of a map, and a texture for each of its images, see draw_map().
struct map_choice {
    game_map const* map = nullptr; ///< null: there is none
    std::span<texture const> images;
};
/// Tees of another recording, who are shown among those of this one.
struct ghosts {
    moment const& at;
    seen_tees const& tees;
};
/// Draws a whole picture: the background of the map, the game, the foreground, and names. `seen_through`: may be null.
void draw_picture(moment const& at, seen_tees const& tees, camera const& from, scene_options const& options,
                  map_choice const& map, ghosts const* seen_through, picture_source& pictures,
                  draw_list& out) noexcept;

/// How a tee holds itself.
struct posture {
    float walk = -1; ///< 0 to 1: where in a step it is; below 0: it does not walk
    bool in_air = false;
    std::int32_t emote = 0;
    bool tired = false; ///< cannot jump any more
};
/// Draws a tee around (x, y) that looks in the direction (dx, dy), of length 1.
void draw_tee(look const& l, float x, float y, float dx, float dy, posture const& how, draw_list& out) noexcept;

} // namespace teewire::scene
