// Drawing on an opaque picture: filled and textured shapes, blended over what is there.
#pragma once

#include "map/picture.hpp"

#include <array>
#include <map>

namespace teewire::replay {

/// A part of a picture: x0 <= x < x1, y0 <= y < y1.
struct pixel_box {
    std::int64_t x0 = 0;
    std::int64_t y0 = 0;
    std::int64_t x1 = 0;
    std::int64_t y1 = 0;
    [[nodiscard]] bool empty() const noexcept { return x0 >= x1 || y0 >= y1; }
    [[nodiscard]] pixel_box cut(pixel_box const& other) const noexcept;
};

[[nodiscard]] color multiply(color a, color b) noexcept;

/// A picture at all sizes down to one pixel, and its 16 by 16 parts at the sizes that were asked for.
class texture {
public:
    explicit texture(picture base);

    [[nodiscard]] picture const& base() const noexcept { return levels_.front(); }
    /// Colour at u, v (1 is the whole picture, which repeats), with about 2^level of its pixels to one.
    [[nodiscard]] color sample(double u, double v, double level) const noexcept;
    /// Part `index` of 16 by 16, `size` pixels wide and high.
    [[nodiscard]] picture const& part(std::uint8_t index, std::size_t size) const;

private:
    std::vector<picture> levels_;
    mutable std::map<std::pair<std::size_t, std::uint8_t>, picture> parts_;
};

/// A corner of a triangle. Positions are pixels of the canvas; texture coordinates as in texture::sample.
struct vertex {
    double x = 0;
    double y = 0;
    double u = 0;
    double v = 0;
    std::array<double, 4> tint{255, 255, 255, 255}; ///< r, g, b, a, to 255
};

class canvas {
public:
    canvas(std::size_t width, std::size_t height, color background) : picture_{width, height, background} {}

    [[nodiscard]] picture const& result() const noexcept { return picture_; }
    [[nodiscard]] pixel_box all() const noexcept {
        return {0, 0, static_cast<std::int64_t>(picture_.width), static_cast<std::int64_t>(picture_.height)};
    }
    /// Limits further drawing to this box.
    void set_clip(pixel_box box) noexcept { clip_ = box.cut(all()); }

    void fill(pixel_box box, color c) noexcept;
    /// As large as fits into the box.
    void fill_disc(pixel_box box, color c) noexcept;
    /// A square picture, mirrored and turned as tile flags say, stretched to the box.
    void draw_tile(pixel_box box, picture const& part, std::uint8_t flags, color tint) noexcept;
    /// Only colours if there is no texture. Triangles that share an edge leave no gap and do not overlap.
    void draw_triangle(std::array<vertex, 3> const& corners, texture const* paint) noexcept;

private:
    void blend(std::int64_t x, std::int64_t y, color c) noexcept;

    picture picture_;
    pixel_box clip_ = all();
};

} // namespace teewire::replay
