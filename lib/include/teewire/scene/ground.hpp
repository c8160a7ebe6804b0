/// @file
/// The ground at a position of the map.
#pragma once

#include "teewire/map/map.hpp"

#include <algorithm>
#include <cmath>

namespace teewire::scene {

/// Borrows the game layer of a map. Beyond its borders, a map goes on with what is there.
class ground {
public:
    /// `layer` has its tiles.
    explicit ground(tile_layer const& layer) noexcept : layer_{&layer} {}
    /// Null if the map has no game layer that can be read.
    [[nodiscard]] static tile_layer const* layer_of(game_map const& map) noexcept {
        tile_layer const* const found = map.find(tile_kind::game);
        return found != nullptr && !found->tiles.empty() ? found : nullptr;
    }

    /// The index of the tile at a place in units.
    [[nodiscard]] std::uint8_t tile(float x, float y) const noexcept {
        std::size_t const column = cell(x, layer_->width), row = cell(y, layer_->height);
        return layer_->tiles[row * static_cast<std::size_t>(layer_->width) + column].index;
    }
    [[nodiscard]] bool solid(float x, float y) const noexcept {
        std::uint8_t const index = tile(x, y);
        return index == hookable || index == unhookable;
    }
    static constexpr std::uint8_t hookable = 1;
    static constexpr std::uint8_t unhookable = 3;

private:
    static std::size_t cell(float at, std::int32_t count) noexcept {
        constexpr float farthest = 1 << 30;
        float const inside = at > -farthest ? std::min(at, farthest) : -farthest; // so is NaN
        auto const units = static_cast<std::int32_t>(std::floor(inside + 0.5F));
        return static_cast<std::size_t>(std::clamp(units >> 5, 0, count - 1));
    }

    tile_layer const* layer_;
};

} // namespace teewire::scene
