/// @file
/// The cells of tile layers, as bytes in the order of the file, and the packed form of Teeworlds 0.7.
/// See doc/format/map.md#tile-layers; of a tele tile the number comes first.
#pragma once

#include "teewire/error.hpp"
#include "teewire/map/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

/// A cell of ordinary tile layers, the game layer and the front layer.
struct tile {
    std::uint8_t index = 0;    ///< 0 is nothing; otherwise the place in a sheet of 16 by 16, or what it does
    std::uint8_t flags = 0;    ///< tile_flag
    std::uint8_t skip = 0;     ///< for packed tiles: how many more cells are the same. Otherwise 0
    std::uint8_t reserved = 0; ///< 0
    friend constexpr bool operator==(tile const&, tile const&) = default;
};

/// Mirroring comes before turning.
namespace tile_flag {
inline constexpr std::uint8_t mirror_x = 1; ///< left and right change places
inline constexpr std::uint8_t mirror_y = 2; ///< above and below change places
inline constexpr std::uint8_t opaque = 4;   ///< set by editors where the image has no transparent pixel
inline constexpr std::uint8_t rotate = 8;   ///< by 90 degrees, clockwise
} // namespace tile_flag

/// Some indices of the game and front layers.
namespace game_tile {
inline constexpr std::uint8_t air = 0;            ///< nothing
inline constexpr std::uint8_t solid = 1;          ///< can be hooked
inline constexpr std::uint8_t death = 2;          ///< kills
inline constexpr std::uint8_t unhookable = 3;     ///< solid, and no hook holds
inline constexpr std::uint8_t freeze = 9;         ///< freezes
inline constexpr std::uint8_t first_entity = 192; ///< spawn; red and blue spawn, flags, armor and so on follow
} // namespace game_tile

/// Of DDNet's tele layer.
struct tele_tile {
    std::uint8_t number = 0; ///< connects entries and exits
    std::uint8_t type = 0;   ///< index, as in the game layer
    friend constexpr bool operator==(tele_tile const&, tele_tile const&) = default;
};

/// Of DDNet's speedup layer.
struct speedup_tile {
    std::uint8_t force = 0;      ///< 0: none here
    std::uint8_t max_speed = 0;  ///< of the tee; 0 for none
    std::uint8_t type = 0;       ///< index, as in the game layer
    std::uint8_t padding = 0;    ///< 0
    std::uint8_t angle_low = 0;  ///< of angle()
    std::uint8_t angle_high = 0; ///< of angle()
    /// Degrees.
    [[nodiscard]] constexpr std::int16_t angle() const noexcept {
        return static_cast<std::int16_t>(angle_low | angle_high << 8);
    }
    /// Sets angle_low and angle_high.
    constexpr void set_angle(std::int16_t degrees) noexcept {
        angle_low = static_cast<std::uint8_t>(degrees);
        angle_high = static_cast<std::uint8_t>(static_cast<std::uint16_t>(degrees) >> 8);
    }
    friend constexpr bool operator==(speedup_tile const&, speedup_tile const&) = default;
};

/// Of DDNet's switch layer.
struct switch_tile {
    std::uint8_t number = 0; ///< of the switch
    std::uint8_t type = 0;   ///< index, as in the game layer
    std::uint8_t flags = 0;  ///< tile_flag
    std::uint8_t delay = 0;  ///< seconds
    friend constexpr bool operator==(switch_tile const&, switch_tile const&) = default;
};

/// Of DDNet's tune layer.
struct tune_tile {
    std::uint8_t number = 0; ///< zone, which the map's settings define
    std::uint8_t type = 0;   ///< index, as in the game layer
    friend constexpr bool operator==(tune_tile const&, tune_tile const&) = default;
};

static_assert(sizeof(tile) == 4 && sizeof(tele_tile) == 2 && sizeof(speedup_tile) == 6 &&
              sizeof(switch_tile) == 4 && sizeof(tune_tile) == 2);

/// Why packed tiles cannot be expanded.
struct tile_failure {
    map_errc code = map_errc::ok; ///< what is wrong
    std::size_t position = 0;     ///< number of the packed tile
};

/// How many cells the runs stand for. O(runs).
[[nodiscard]] std::size_t count_tiles(std::span<tile const> packed) noexcept;

/// Writes the cells that `packed` stands for; `out` has as many as the layer. Gives how many cells the last run goes
/// too far, which real programs ignore. Errors: packed_tiles_too_short, packed_tiles_too_long, nonzero_reserved. O(cells).
result<std::size_t, tile_failure> expand_tiles(std::span<tile const> packed, std::span<tile> out) noexcept;

/// Writes the shortest runs, as Teeworlds does, and gives their number. `out` has as many elements as `cells`, whose
/// skip values are not looked at. O(cells).
std::size_t pack_tiles(std::span<tile const> cells, std::span<tile> out) noexcept;

} // namespace teewire
