// Draws a scene's draw list into memory. Pixels are premultiplied.
#pragma once

#include "map/picture.hpp"

#include <teewire/scene/draw_list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace teewire {
struct game_map;
struct tile_layer;
} // namespace teewire

namespace teewire::replay {

/// Each colour times the opacity.
using pixel = color;

/// A picture in all sizes down to one pixel.
class mip_picture {
public:
    explicit mip_picture(picture const& base);

    struct level {
        std::int32_t width;
        std::int32_t height;
        std::vector<pixel> pixels;
    };
    /// About 2^n pixels of the base are one of level n; the last one where there is none.
    [[nodiscard]] level const& at(int n) const noexcept;

private:
    std::vector<level> levels_;
};

/// The 16 by 16 tiles of a picture, each in all sizes, so that none shows pixels of another.
class tile_sheet {
public:
    static constexpr std::size_t tiles = 256;

    explicit tile_sheet(picture const& base);

    struct level {
        std::int32_t side; ///< of a tile
        std::vector<pixel>
            pixels; ///< of all tiles, one after another, each with a border that repeats its outermost
        [[nodiscard]] std::int32_t stride() const noexcept { return side + 2; }
        [[nodiscard]] pixel const* tile(std::uint8_t index) const noexcept {
            auto const n = static_cast<std::size_t>(stride());
            return pixels.data() + index * n * n;
        }
    };
    [[nodiscard]] level const& at(int n) const noexcept;
    [[nodiscard]] bool is_empty(std::uint8_t index) const noexcept { return empty_[index]; }
    [[nodiscard]] bool is_opaque(std::uint8_t index) const noexcept { return opaque_[index]; }
    [[nodiscard]] std::int32_t side() const noexcept { return levels_.front().side; }

private:
    std::vector<level> levels_;
    std::array<bool, 256> empty_{};
    std::array<bool, 256> opaque_{};
};

/// The pictures and layers that a draw list refers to by number.
struct raster_pictures {
    std::vector<mip_picture const*> textures; ///< by number; null if it is not there
    game_map const* map = nullptr;
    /// By image of the map; null if it is not there.
    std::vector<tile_sheet const*> sheets;
    tile_sheet const* physics = nullptr; ///< for the layers that say what tiles do

    /// Null for a layer of plain colour.
    [[nodiscard]] tile_sheet const* sheet_of(tile_layer const& layer) const noexcept;
};

/// A picture that is being drawn.
struct frame {
    std::int32_t width = 0;
    std::int32_t height = 0;
    std::vector<pixel> pixels; ///< rows from the top

    frame(std::int32_t w, std::int32_t h)
        : width{w}, height{h}, pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
};

class text_layout;

/// Draws the rows from `first` up to `end` on what is there. Several threads may do it with rows of their own, and the
/// result is the same. `texts` has placed those of this list.
void draw_rows(scene::draw_list const& list, raster_pictures const& pictures, text_layout const& texts, frame& to,
               std::int32_t first, std::int32_t end) noexcept;

/// The frame as a picture.
[[nodiscard]] picture picture_of(frame const& drawn);

} // namespace teewire::replay
