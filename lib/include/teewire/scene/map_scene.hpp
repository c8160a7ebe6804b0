/// @file
/// The layers of a map at a moment, as a list of what is to be drawn.
#pragma once

#include "teewire/scene/camera.hpp"

#include "teewire/map/map.hpp"

#include <array>
#include <optional>
#include <span>

namespace teewire::scene {

/// Values of an envelope, 1 for 1024 of the file: x, y, degrees; or r, g, b, a.
using envelope_values = std::array<float, 4>;
/// At a time in ms since the round began, with the offset of whoever uses it. Nothing if there is no such envelope, or if it
/// has another number of channels. O(log points).
[[nodiscard]] std::optional<envelope_values> evaluate(game_map const& map, std::int32_t envelope,
                                                      std::int32_t channels, double ms) noexcept;

/// The time that envelopes follow, in ms.
struct map_time {
    double in_round = 0;       ///< since the round began
    double unsynchronized = 0; ///< for envelopes that do not follow the round
};

/// Which layers, as seen from the players.
enum class side : std::uint8_t { background, foreground };

/// Draws the layers of one side. `images`: a texture for each image of the map; no_texture leaves out the layers that need
/// it, and if there are tiles among them, the layers of the game show what tiles do. A command's number of a tile layer is
/// that in map.layers. O(layers and quads).
void draw_map(game_map const& map, side which, camera const& from, map_time const& time,
              std::span<texture const> images, draw_list& out) noexcept;

} // namespace teewire::scene
