#include "teewire/scene/map_scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace teewire::scene {
namespace {

double cubic(double p0, double p1, double p2, double p3, double t) noexcept {
    double const s = 1 - t;
    return s * s * s * p0 + 3 * s * s * t * p1 + 3 * s * t * t * p2 + t * t * t * p3;
}

// By time: the x of the middle points stays between those of the ends, so that x grows with t.
double bezier(envelope_point const& from, envelope_point const& to, std::size_t channel, double time) noexcept {
    double const t0 = from.time, t1 = to.time;
    double const x1 = std::clamp(t0 + from.out_dx[channel], t0, t1),
                 x2 = std::clamp(t1 + to.in_dx[channel], t0, t1);
    double low = 0, high = 1;
    for (int i = 0; i < 24; ++i) {
        double const middle = (low + high) / 2;
        (cubic(t0, x1, x2, t1, middle) < time ? low : high) = middle;
    }
    double const v0 = from.values[channel], v1 = to.values[channel];
    return cubic(v0, v0 + from.out_dy[channel], v1 + to.in_dy[channel], v1, low);
}

double curved(std::int32_t curve, double a) noexcept {
    switch (curve) {
    case envelope_curve::step: return 0;
    case envelope_curve::slow: return a * a * a;
    case envelope_curve::fast: return 1 - (1 - a) * (1 - a) * (1 - a);
    case envelope_curve::smooth: return 3 * a * a - 2 * a * a * a;
    default: return a;
    }
}

// The colour of a corner or a layer, in the light of an envelope.
rgba color_of(std::array<std::int32_t, 4> const& color, std::optional<envelope_values> const& light) noexcept {
    auto const part = [&](std::size_t i) { return static_cast<float>(color[i]) / 255 * (*light)[i]; };
    if (light) return rgba_of(part(0), part(1), part(2), part(3));
    auto const byte = [&](std::size_t i) { return static_cast<rgba>(std::clamp(color[i], 0, 255)) << (8 * i); };
    return byte(0) | byte(1) | byte(2) | byte(3);
}

bool holds_game(std::span<map_layer const> layers) noexcept {
    return std::any_of(layers.begin(), layers.end(), [](map_layer const& l) {
        return l.tiles() != nullptr && l.tiles()->kind == tile_kind::game;
    });
}

double time_of(game_map const& map, map_time const& time, std::int32_t envelope) noexcept {
    bool const is_one = envelope >= 0 && static_cast<std::size_t>(envelope) < map.envelopes.size();
    bool const follows = !is_one || map.envelopes[static_cast<std::size_t>(envelope)].synchronized;
    return follows ? time.in_round : time.unsynchronized;
}

class map_painter {
public:
    map_painter(game_map const& map, map_time const& time, std::span<texture const> images, draw_list& out) noexcept
        : map_{map}, time_{time}, images_{images}, out_{out} {}

    /// Whether the picture of tiles is not to be had.
    [[nodiscard]] bool lacks_tiles() const noexcept {
        return std::any_of(map_.layers.begin(), map_.layers.end(), [&](map_layer const& l) {
            return l.tiles() != nullptr && l.tiles()->kind == tile_kind::tiles && is_missing(l.tiles()->image);
        });
    }

    void draw(std::uint32_t number, tile_layer const& layer) noexcept {
        if (layer.tiles.empty()) return;
        if (layer.kind == tile_kind::game || layer.kind == tile_kind::front) {
            if (lacks_tiles_) out_.tiles(number, white);
            return;
        }
        if (layer.kind != tile_kind::tiles || is_missing(layer.image)) return;
        auto const light = evaluate(map_, layer.color_envelope, 4,
                                    time_of(map_, time_, layer.color_envelope) + layer.color_envelope_offset);
        rgba const tint = color_of(layer.color, light);
        if (tint >> 24 != 0) out_.tiles(number, tint);
    }

    void draw(quad_layer const& layer) noexcept {
        if (is_missing(layer.image)) return;
        texture const from = is_image(layer.image) ? images_[static_cast<std::size_t>(layer.image)] : no_texture;
        for (map_quad const& quad : layer.quads) draw(quad, from);
    }

private:
    [[nodiscard]] bool is_image(std::int32_t image) const noexcept {
        return image >= 0 && static_cast<std::size_t>(image) < images_.size();
    }
    [[nodiscard]] bool is_missing(std::int32_t image) const noexcept {
        return is_image(image) && images_[static_cast<std::size_t>(image)] == no_texture;
    }

    void draw(map_quad const& quad, texture from) noexcept {
        auto const& moved = last_move_.get(map_, quad.position_envelope, 3, quad.position_envelope_offset, time_);
        constexpr float fixed = 1024;
        float const angle = moved ? (*moved)[2] * std::numbers::pi_v<float> / 180 : 0.0F;
        float const cosine = angle != 0 ? std::cos(angle) : 1.0F, sine = angle != 0 ? std::sin(angle) : 0.0F;
        float const px = static_cast<float>(quad.pivot.x) / fixed, py = static_cast<float>(quad.pivot.y) / fixed;
        std::array<vertex, 4> corners{};
        view_box const& view = out_.view();
        std::array<bool, 4> beyond{true, true, true, true}; // left, right, above, below
        for (std::size_t n = 0; n < 4; ++n) {
            float const dx = static_cast<float>(quad.corners[n].x) / fixed - px,
                        dy = static_cast<float>(quad.corners[n].y) / fixed - py;
            float const x = px + cosine * dx - sine * dy + (moved ? (*moved)[0] : 0.0F),
                        y = py + sine * dx + cosine * dy + (moved ? (*moved)[1] : 0.0F);
            beyond[0] &= x < view.left;
            beyond[1] &= x > view.left + view.width;
            beyond[2] &= y < view.top;
            beyond[3] &= y > view.top + view.height;
            corners[n].x = x;
            corners[n].y = y;
        }
        if (std::find(beyond.begin(), beyond.end(), true) != beyond.end()) return; // it is not in the picture
        auto const& light = last_light_.get(map_, quad.color_envelope, 4, quad.color_envelope_offset, time_);
        for (std::size_t n = 0; n < 4; ++n) {
            corners[n].u = static_cast<float>(quad.texture[n].x) / fixed;
            corners[n].v = static_cast<float>(quad.texture[n].y) / fixed;
            corners[n].color = color_of(quad.colors[n], light);
        }
        out_.quad(from, true, corners);
    }

    // Neighbouring quads often share an envelope.
    struct last_values {
        std::int32_t envelope = -1;
        std::int32_t offset = 0;
        std::optional<envelope_values> values;

        std::optional<envelope_values> const& get(game_map const& map, std::int32_t wanted, std::int32_t channels,
                                                  std::int32_t its_offset, map_time const& time) noexcept {
            if (wanted != envelope || its_offset != offset) {
                envelope = wanted;
                offset = its_offset;
                values = evaluate(map, wanted, channels, time_of(map, time, wanted) + its_offset);
            }
            return values;
        }
    };

    game_map const& map_;
    map_time time_;
    last_values last_light_;
    last_values last_move_;
    std::span<texture const> images_;
    draw_list& out_;
    bool lacks_tiles_ = lacks_tiles();
};

} // namespace

std::optional<envelope_values> evaluate(game_map const& map, std::int32_t envelope, std::int32_t channels,
                                        double ms) noexcept {
    if (envelope < 0 || static_cast<std::size_t>(envelope) >= map.envelopes.size()) return std::nullopt;
    map_envelope const& e = map.envelopes[static_cast<std::size_t>(envelope)];
    auto const points = map.points_of(e);
    if (points.empty() || e.channels != channels) return std::nullopt;
    envelope_values values{};
    auto const at = [&](envelope_point const& p) {
        for (std::size_t i = 0; i < 4; ++i) values[i] = static_cast<float>(p.values[i]) / 1024;
        return values;
    };
    if (points.size() == 1) return at(points.front());
    double const length = points.back().time;
    double const time = length > 0 ? ms - std::floor(ms / length) * length : 0;
    std::size_t low = 0;
    for (std::size_t high = points.size() - 1; high - low > 1;) {
        std::size_t const middle = low + (high - low) / 2;
        (points[middle].time <= time ? low : high) = middle;
    }
    envelope_point const& from = points[low];
    envelope_point const& to = points[low + 1];
    double const span = double{1} * to.time - from.time;
    if (span <= 0 || time < from.time) return at(from);
    double const a = curved(from.curve, std::min(1.0, (time - from.time) / span));
    for (std::size_t i = 0; i < 4; ++i) {
        double const value = from.curve == envelope_curve::bezier
                                 ? bezier(from, to, i, time)
                                 : from.values[i] + (double{1} * to.values[i] - from.values[i]) * a;
        values[i] = static_cast<float>(value / 1024);
    }
    return values;
}

void draw_map(game_map const& map, side which, camera const& from, map_time const& time,
              std::span<texture const> images, draw_list& out) noexcept {
    map_painter painter{map, time, images, out};
    bool behind = true; // of the players
    for (map_group const& group : map.groups) {
        auto const layers = map.layers_of(group);
        bool const with_game = holds_game(layers);
        // Games overwrite what the group of the game layer says.
        group_motion const motion =
            with_game ? group_motion{}
                      : group_motion{static_cast<float>(group.offset_x), static_cast<float>(group.offset_y),
                                     static_cast<float>(group.parallax_x), static_cast<float>(group.parallax_y)};
        out.set_view(from.view(motion));
        clip_box clip;
        if (group.clipping && !with_game) {
            view_box const view = from.view();
            auto const part = [](float at, float begin, float size) {
                return std::clamp((at - begin) / size, 0.0F, 1.0F);
            };
            auto const x = static_cast<float>(group.clip_x), y = static_cast<float>(group.clip_y);
            clip = {part(x, view.left, view.width), part(y, view.top, view.height),
                    part(x + static_cast<float>(group.clip_width), view.left, view.width),
                    part(y + static_cast<float>(group.clip_height), view.top, view.height)};
        }
        bool const seen = clip.left < clip.right && clip.top < clip.bottom;
        out.set_clip(clip);
        for (map_layer const& layer : layers) {
            tile_layer const* const tiles = layer.tiles();
            if (tiles != nullptr && tiles->kind == tile_kind::game) behind = false;
            // Physics layers are drawn below the players.
            bool const physics = tiles != nullptr && tiles->kind != tile_kind::tiles;
            if (!seen || (which == side::background) != (behind || physics)) continue;
            auto const number = static_cast<std::uint32_t>(&layer - map.layers.data());
            if (tiles != nullptr) painter.draw(number, *tiles);
            else if (quad_layer const* const quads = layer.quads()) painter.draw(*quads);
        }
    }
    out.set_clip({});
    out.set_view(from.view());
}

} // namespace teewire::scene
