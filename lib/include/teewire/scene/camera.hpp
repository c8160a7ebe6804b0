/// @file
/// The visible part of the world, as the clients choose it: about the same area, whatever the shape of the picture.
#pragma once

#include "teewire/scene/draw_list.hpp"

#include <algorithm>
#include <cmath>

namespace teewire::scene {

/// How a group of the map's layers lies and moves: offset in units, parallax in percent.
struct group_motion {
    float offset_x = 0;
    float offset_y = 0;
    float parallax_x = 100;
    float parallax_y = 100;
};

struct camera {
    float x = 0; ///< middle of the picture, in units
    float y = 0;
    float zoom = 1; ///< 2 shows twice as much in each direction
    float aspect = 16.0F / 9;

    /// The rectangle of the world, or of a group, that fills the picture.
    [[nodiscard]] view_box view(group_motion const& group = {}) const noexcept {
        constexpr float seen_area = 1150.0F * 1000, most_width = 1500, most_height = 1050;
        float const across = std::min(std::sqrt(seen_area * aspect), most_width);
        float const height = std::min(across / aspect, most_height);
        float const width = height * aspect;
        // Distant layers zoom less; fixed ones, not at all.
        float const share = std::clamp(std::max(group.parallax_x, group.parallax_y), 0.0F, 100.0F);
        float const scale = (share * (zoom - 1) + 100) / 100;
        float const w = width * scale, h = height * scale;
        return {x * group.parallax_x / 100 + group.offset_x - w / 2,
                y * group.parallax_y / 100 + group.offset_y - h / 2, w, h};
    }
};

} // namespace teewire::scene
