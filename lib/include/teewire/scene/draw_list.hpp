/// @file
/// The parts of a picture, in the order in which they are drawn: rectangles with textures, layers of tiles, and texts. A
/// renderer needs to know nothing about the game.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire::scene {

/// A picture of the host, which gives them numbers.
using texture = std::uint32_t;
inline constexpr texture no_texture = UINT32_MAX;

/// R, G, B, A from the lowest byte on; not premultiplied.
using rgba = std::uint32_t;
inline constexpr rgba white = UINT32_MAX;

/// Parts from 0 to 1; others are cut off.
[[nodiscard]] inline rgba rgba_of(float r, float g, float b, float a = 1) noexcept {
    auto const part = [](float value) {
        float const cut = value > 0 ? (value < 1 ? value : 1.0F) : 0.0F; // NaN is 0
        return static_cast<rgba>(std::lround(cut * 255));
    };
    return part(r) | part(g) << 8 | part(b) << 16 | part(a) << 24;
}
/// The same colour with this opacity, from 0 to 1.
[[nodiscard]] inline rgba faded(rgba color, float alpha) noexcept {
    return (color & 0xffffff) | (rgba_of(0, 0, 0, alpha) & 0xff000000);
}

/// The rectangle of the world that fills the picture, in units.
struct view_box {
    float left = 0;
    float top = 0;
    float width = 1;
    float height = 1;
    friend bool operator==(view_box const&, view_box const&) = default;
};

/// The part of the picture that may be drawn on; 0 to 1 is all of it.
struct clip_box {
    float left = 0;
    float top = 0;
    float right = 1;
    float bottom = 1;
    friend bool operator==(clip_box const&, clip_box const&) = default;
};

/// A corner: units of the world, and a place in the texture, of which 0 to 1 is all.
struct vertex {
    float x, y;
    float u, v;
    rgba color;
};

/// A part of a texture: from (u0, v0) to (u1, v1).
struct area {
    float u0 = 0;
    float v0 = 0;
    float u1 = 1;
    float v1 = 1;
};

struct draw_command {
    enum class kind : std::uint8_t {
        /// `count` vertices from `first` on, four each: top left, top right, bottom left, bottom right. They are two
        /// triangles, which meet between the first and the last one.
        quads,
        tiles, ///< the tile layer `first` of the map, in the colour `tint`
        text,  ///< `text` around (x, y), `size` units high, in the colour `tint`
    };
    kind what = kind::quads;
    /// For quads: whether the texture repeats beyond its borders. Otherwise its outermost pixels go on.
    bool repeats = false;
    texture from = no_texture; ///< none: only the colours
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    view_box view;
    clip_box clip;
    rgba tint = white;
    float x = 0;
    float y = 0;
    float size = 0;
    std::string_view text; ///< UTF-8, the caller's
};

/// Collects commands in the caller's memory. Whatever finds no room is left out, see complete().
class draw_list {
public:
    draw_list(std::span<vertex> vertices, std::span<draw_command> commands) noexcept
        : vertices_{vertices}, commands_{commands} {}

    [[nodiscard]] std::span<vertex const> vertices() const noexcept { return vertices_.first(vertex_count_); }
    [[nodiscard]] std::span<draw_command const> commands() const noexcept {
        return commands_.first(command_count_);
    }
    /// Whether everything found room.
    [[nodiscard]] bool complete() const noexcept { return complete_; }

    /// For what follows.
    void set_view(view_box const& view) noexcept { view_ = view; }
    void set_clip(clip_box const& clip) noexcept { clip_ = clip; }
    /// From 0 to 1: quads are drawn with so much of the opacity that their colours have.
    void set_opacity(float opacity) noexcept { opacity_ = opacity; }
    [[nodiscard]] view_box const& view() const noexcept { return view_; }

    /// A part of a texture around (x, y), turned clockwise by `angle`; negative sizes mirror.
    void sprite(texture from, area const& part, float x, float y, float width, float height, float angle = 0,
                rgba color = white) noexcept {
        float const c = std::cos(angle) / 2, s = std::sin(angle) / 2;
        float const ax = c * width, ay = s * width, bx = -s * height, by = c * height;
        quad(from, false,
             {{{x - ax - bx, y - ay - by, part.u0, part.v0, color},
               {x + ax - bx, y + ay - by, part.u1, part.v0, color},
               {x - ax + bx, y - ay + by, part.u0, part.v1, color},
               {x + ax + bx, y + ay + by, part.u1, part.v1, color}}});
    }
    /// A straight line of one colour, `width` units thick.
    void line(float x0, float y0, float x1, float y1, float width, rgba color) noexcept {
        sprite(no_texture, {}, (x0 + x1) / 2, (y0 + y1) / 2, std::hypot(x1 - x0, y1 - y0), width,
               std::atan2(y1 - y0, x1 - x0), color);
    }
    void quad(texture from, bool repeats, std::array<vertex, 4> const& corners) noexcept {
        if (vertices_.size() - vertex_count_ < corners.size()) {
            complete_ = false;
            return;
        }
        draw_command* to = command_count_ > 0 ? &commands_[command_count_ - 1] : nullptr;
        if (to == nullptr || to->what != draw_command::kind::quads || to->from != from || to->repeats != repeats ||
            to->view != view_ || to->clip != clip_) {
            to = add(draw_command::kind::quads);
            if (to == nullptr) return;
            to->from = from;
            to->repeats = repeats;
            to->first = static_cast<std::uint32_t>(vertex_count_);
        }
        for (vertex const& corner : corners) {
            vertex& made = vertices_[vertex_count_++] = corner;
            if (opacity_ < 1) made.color = faded(made.color, static_cast<float>(made.color >> 24) / 255 * opacity_);
        }
        to->count += static_cast<std::uint32_t>(corners.size());
    }
    void tiles(std::uint32_t layer, rgba tint) noexcept {
        if (draw_command* const to = add(draw_command::kind::tiles)) {
            to->first = layer;
            to->tint = tint;
        }
    }
    void text(std::string_view text, float x, float y, float size, rgba color) noexcept {
        if (draw_command* const to = add(draw_command::kind::text)) {
            to->text = text;
            to->x = x;
            to->y = y;
            to->size = size;
            to->tint = color;
        }
    }

private:
    draw_command* add(draw_command::kind what) noexcept {
        if (command_count_ == commands_.size()) {
            complete_ = false;
            return nullptr;
        }
        draw_command& made = commands_[command_count_++];
        made = {};
        made.what = what;
        made.view = view_;
        made.clip = clip_;
        return &made;
    }

    std::span<vertex> vertices_;
    std::span<draw_command> commands_;
    std::size_t vertex_count_ = 0;
    std::size_t command_count_ = 0;
    view_box view_;
    clip_box clip_;
    float opacity_ = 1;
    bool complete_ = true;
};

} // namespace teewire::scene
