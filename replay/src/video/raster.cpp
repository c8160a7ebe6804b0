#include "video/raster.hpp"

#include <teewire/map/map.hpp>
#include <teewire/map/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace teewire::replay {
namespace {

// ---- pixels --------------------------------------------------------------------------------------------------------

// The four parts of a pixel, each in 16 bits: R, B, G, A.
using wide = std::uint64_t;
constexpr wide low_bytes = 0x00ff00ff00ff00ffU;

constexpr wide widen(pixel p) noexcept { return (p & 0xff00ffU) | wide{p & 0xff00ff00U} << 24; }
constexpr pixel narrow(wide w) noexcept {
    return static_cast<pixel>((w & 0xff00ffU) | (w >> 24 & 0xff00ff00U));
}
// Each part of `a`, and of `b` with a share of `part` / 256.
constexpr wide mix(wide a, wide b, std::uint32_t part) noexcept {
    return (a * (256 - part) + b * part) >> 8 & low_bytes;
}

// A factor for each part, 256 for one.
struct tint {
    std::uint32_t r, g, b, a;
    bool is_one;  ///< changes nothing
    bool is_even; ///< the same for all parts

    static tint of(float r, float g, float b, float a) noexcept { // premultiplied, to 255
        auto const factor = [](float value) {
            return static_cast<std::uint32_t>(std::clamp(value, 0.0F, 255.0F) * (256.0F / 255) + 0.5F);
        };
        tint t{factor(r), factor(g), factor(b), factor(a), false, false};
        t.is_even = t.r == t.a && t.g == t.a && t.b == t.a;
        t.is_one = t.is_even && t.a == 256;
        return t;
    }
};

wide tinted(wide p, tint const& t) noexcept {
    if (t.is_one) return p;
    if (t.is_even) return p * t.a >> 8 & low_bytes;
    return ((p & 0xff) * t.r >> 8) | ((p >> 16 & 0xff) * t.b >> 8) << 16 | ((p >> 32 & 0xff) * t.g >> 8) << 32 |
           ((p >> 48) * t.a >> 8) << 48;
}

void blend(pixel& below, wide p) noexcept {
    auto const alpha = static_cast<std::uint32_t>(p >> 48);
    if (alpha == 255) {
        below = narrow(p);
        return;
    }
    if (p == 0) return;
    std::uint32_t const rest = 256 - (alpha + (alpha >> 7));
    below = narrow(p + (widen(below) * rest >> 8 & low_bytes));
}

pixel premultiplied(color c) noexcept {
    auto const part = [&](std::uint32_t value) { return (value * c.a + 127) / 255; };
    return part(c.r) | part(c.g) << 8 | part(c.b) << 16 | std::uint32_t{c.a} << 24;
}

// ---- levels --------------------------------------------------------------------------------------------------------

constexpr wide quarter(pixel a, pixel b, pixel c, pixel d) noexcept {
    constexpr wide half = 0x0002000200020002U;
    return (widen(a) + widen(b) + widen(c) + widen(d) + half) >> 2 & low_bytes;
}

mip_picture::level halved(std::vector<pixel> const& from, std::int32_t width, std::int32_t height) {
    mip_picture::level made{std::max(1, width / 2), std::max(1, height / 2), {}};
    made.pixels.reserve(static_cast<std::size_t>(made.width) * static_cast<std::size_t>(made.height));
    auto const at = [&](std::int32_t x, std::int32_t y) {
        return from[static_cast<std::size_t>(std::min(y, height - 1)) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(std::min(x, width - 1))];
    };
    for (std::int32_t y = 0; y < made.height; ++y)
        for (std::int32_t x = 0; x < made.width; ++x)
            made.pixels.push_back(narrow(
                quarter(at(2 * x, 2 * y), at(2 * x + 1, 2 * y), at(2 * x, 2 * y + 1), at(2 * x + 1, 2 * y + 1))));
    return made;
}

// The level for so many texels to a pixel.
int level_of(double scale) noexcept {
    return scale > 1 ? static_cast<int>(std::min(std::log2(scale) + 0.5, 20.0)) : 0;
}

// ---- triangles -----------------------------------------------------------------------------------------------------

constexpr int fraction_bits = 16;
constexpr double fixed_one = 1 << fraction_bits;

std::int64_t to_fixed(double value) noexcept {
    constexpr double most = 1e12;
    return static_cast<std::int64_t>(std::clamp(value, -most, most) * fixed_one);
}

// Four pixels around a place, by their shares.
wide sample(pixel const* pixels, std::int32_t stride, std::int32_t x0, std::int32_t x1, std::int32_t y0,
            std::int32_t y1, std::uint32_t fx, std::uint32_t fy) noexcept {
    pixel const* const top = pixels + std::size_t{1} * static_cast<std::size_t>(y0) * static_cast<std::size_t>(stride);
    pixel const* const bottom = pixels + static_cast<std::size_t>(y1) * static_cast<std::size_t>(stride);
    return mix(mix(widen(top[x0]), widen(top[x1]), fx), mix(widen(bottom[x0]), widen(bottom[x1]), fx), fy);
}

std::uint32_t share(std::int64_t fixed) noexcept {
    return static_cast<std::uint32_t>(fixed >> (fraction_bits - 8) & 0xff);
}

// Places in the texture, half a pixel before what they mean.
struct clamped {
    static std::int32_t at(std::int64_t n, std::int32_t size) noexcept {
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(n, 0, size - 1));
    }
};
struct repeated {
    static std::int32_t at(std::int64_t n, std::int32_t size) noexcept {
        auto const rest = static_cast<std::int32_t>(n % size);
        return rest < 0 ? rest + size : rest;
    }
};

template <class Border>
wide sample_at(mip_picture::level const& from, std::int64_t u, std::int64_t v) noexcept {
    std::int64_t const x = u >> fraction_bits, y = v >> fraction_bits;
    return sample(from.pixels.data(), from.width, Border::at(x, from.width), Border::at(x + 1, from.width),
                  Border::at(y, from.height), Border::at(y + 1, from.height), share(u), share(v));
}

struct pixel_clip {
    std::int32_t x0, y0, x1, y1;
};

// Where a value of a triangle's corners lies at the middle of pixel (0, 0), and how it grows.
struct gradient {
    double origin, dx, dy;
    [[nodiscard]] double at(std::int32_t x, std::int32_t y) const noexcept { return origin + dx * x + dy * y; }
};

// A corner in pixels, with its colour premultiplied, to 255.
struct corner {
    double x, y, u, v;
    std::array<double, 4> color;
};

class triangle_painter {
public:
    triangle_painter(frame& to, pixel_clip const& clip, mip_picture const* paint, bool repeats) noexcept
        : to_{to}, clip_{clip}, paint_{paint}, repeats_{repeats} {}

    void draw(corner const& a, corner const& b, corner const& c) noexcept {
        double const area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        if (!(std::abs(area) > 1e-9) || !std::isfinite(area)) return;
        auto const [top, middle, bottom] = sorted(a, b, c);
        auto const row = [](double y) { return std::ceil(y - 0.5); };
        auto const limit = [&](double y) {
            return static_cast<std::int32_t>(std::clamp(row(y), double{1} * clip_.y0, double{1} * clip_.y1));
        };
        std::int32_t const y0 = limit(top->y), y1 = limit(bottom->y);
        if (y0 >= y1) return;
        auto const grow = [&](double va, double vb, double vc) {
            gradient g{};
            g.dx = ((vb - va) * (c.y - a.y) - (vc - va) * (b.y - a.y)) / area;
            g.dy = ((vc - va) * (b.x - a.x) - (vb - va) * (c.x - a.x)) / area;
            g.origin = va + g.dx * (0.5 - a.x) + g.dy * (0.5 - a.y);
            return g;
        };
        level_ = nullptr;
        if (paint_ != nullptr) {
            auto const& base = paint_->at(0);
            double const texels = std::abs((b.u - a.u) * (c.v - a.v) - (c.u - a.u) * (b.v - a.v)) * base.width *
                                  base.height;
            level_ = &paint_->at(level_of(std::sqrt(texels / std::abs(area))));
            u_ = grow(a.u * level_->width - 0.5, b.u * level_->width - 0.5, c.u * level_->width - 0.5);
            v_ = grow(a.v * level_->height - 0.5, b.v * level_->height - 0.5, c.v * level_->height - 0.5);
        }
        bool const one_color = a.color == b.color && a.color == c.color;
        for (std::size_t i = 0; i < 4; ++i) colors_[i] = grow(a.color[i], b.color[i], c.color[i]);
        tint const whole = tint::of(static_cast<float>(a.color[0]), static_cast<float>(a.color[1]),
                                    static_cast<float>(a.color[2]), static_cast<float>(a.color[3]));
        auto const edge = [](corner const& from, corner const& until, double y) {
            return from.x + (y - from.y) * (until.x - from.x) / (until.y - from.y);
        };
        for (std::int32_t y = y0; y < y1; ++y) {
            double const at = y + 0.5;
            double const one = edge(*top, *bottom, at);
            double const other = at < middle->y ? edge(*top, *middle, at) : edge(*middle, *bottom, at);
            auto const column = [&](double x) {
                return static_cast<std::int32_t>(std::clamp(row(x), double{1} * clip_.x0, double{1} * clip_.x1));
            };
            std::int32_t const x0 = column(std::min(one, other)), x1 = column(std::max(one, other));
            if (x0 >= x1) continue;
            pixel* const line = to_.pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(to_.width);
            if (one_color && repeats_) draw_row<repeated>(line, x0, x1, y, whole);
            else if (one_color) draw_row<clamped>(line, x0, x1, y, whole);
            else if (repeats_) draw_shaded_row<repeated>(line, x0, x1, y);
            else draw_shaded_row<clamped>(line, x0, x1, y);
        }
    }

private:
    static std::array<corner const*, 3> sorted(corner const& a, corner const& b, corner const& c) noexcept {
        std::array<corner const*, 3> order{&a, &b, &c};
        std::stable_sort(order.begin(), order.end(), [](corner const* l, corner const* r) { return l->y < r->y; });
        return order;
    }

    template <class Border>
    void draw_row(pixel* line, std::int32_t x0, std::int32_t x1, std::int32_t y, tint const& whole) noexcept {
        if (level_ == nullptr) {
            wide const p = tinted(low_bytes, whole);
            for (std::int32_t x = x0; x < x1; ++x) blend(line[x], p);
            return;
        }
        std::int64_t u = to_fixed(u_.at(x0, y)), v = to_fixed(v_.at(x0, y));
        std::int64_t const du = to_fixed(u_.dx), dv = to_fixed(v_.dx);
        for (std::int32_t x = x0; x < x1; ++x, u += du, v += dv)
            blend(line[x], tinted(sample_at<Border>(*level_, u, v), whole));
    }

    template <class Border>
    void draw_shaded_row(pixel* line, std::int32_t x0, std::int32_t x1, std::int32_t y) noexcept {
        for (std::int32_t x = x0; x < x1; ++x) {
            auto const part = [&](std::size_t i) { return static_cast<float>(colors_[i].at(x, y)); };
            tint const here = tint::of(part(0), part(1), part(2), part(3));
            wide const p = level_ == nullptr
                               ? low_bytes
                               : sample_at<Border>(*level_, to_fixed(u_.at(x, y)), to_fixed(v_.at(x, y)));
            blend(line[x], tinted(p, here));
        }
    }

    frame& to_;
    pixel_clip clip_;
    mip_picture const* paint_;
    bool repeats_;
    mip_picture::level const* level_ = nullptr;
    gradient u_{}, v_{};
    std::array<gradient, 4> colors_{};
};

// ---- commands ------------------------------------------------------------------------------------------------------

// Where units of the world are in the frame.
struct projection {
    double scale_x, scale_y, left, top;

    projection(scene::view_box const& view, frame const& to) noexcept
        : scale_x{to.width / double{view.width}}, scale_y{to.height / double{view.height}}, left{view.left},
          top{view.top} {}
    [[nodiscard]] double x(double units) const noexcept { return (units - left) * scale_x; }
    [[nodiscard]] double y(double units) const noexcept { return (units - top) * scale_y; }
};

std::array<double, 4> parts_of(scene::rgba color) noexcept { // premultiplied
    double const a = color >> 24;
    auto const part = [&](int shift) { return (color >> shift & 255) * a / 255; };
    return {part(0), part(8), part(16), a};
}

void draw_quads(scene::draw_list const& list, scene::draw_command const& what, mip_picture const* paint, frame& to,
                pixel_clip const& clip) noexcept {
    projection const p{what.view, to};
    triangle_painter painter{to, clip, paint, what.repeats};
    auto const vertices = list.vertices().subspan(what.first, what.count);
    for (std::size_t n = 0; n + 4 <= vertices.size(); n += 4) {
        std::array<corner, 4> corners;
        double top = 1e300, bottom = -1e300;
        for (std::size_t i = 0; i < 4; ++i) {
            scene::vertex const& v = vertices[n + i];
            corners[i] = {p.x(v.x), p.y(v.y), v.u, v.v, parts_of(v.color)};
            top = std::min(top, corners[i].y);
            bottom = std::max(bottom, corners[i].y);
        }
        if (!(top < clip.y1 && bottom > clip.y0)) continue;
        painter.draw(corners[0], corners[1], corners[2]);
        painter.draw(corners[2], corners[1], corners[3]);
    }
}

class tile_painter {
public:
    tile_painter(tile_layer const& layer, tile_sheet const* sheet, scene::draw_command const& what, frame& to,
                 pixel_clip const& clip) noexcept
        : layer_{layer}, sheet_{sheet}, to_{to}, clip_{clip}, at_{what.view, to} {
        auto const parts = parts_of(what.tint);
        tint_ = tint::of(static_cast<float>(parts[0]), static_cast<float>(parts[1]), static_cast<float>(parts[2]),
                         static_cast<float>(parts[3]));
        constexpr double units = 32;
        size_x_ = units * at_.scale_x;
        size_y_ = units * at_.scale_y;
        if (sheet != nullptr) level_ = &sheet->at(level_of(sheet->side() / size_x_));
    }

    void draw() noexcept {
        // Beyond its borders a layer goes on with what is at them.
        auto const first = [](double pixels, double size) {
            constexpr double most = 1e9;
            return static_cast<std::int64_t>(std::clamp(std::floor(pixels / size), -most, most));
        };
        double const origin_x = at_.x(0), origin_y = at_.y(0);
        std::int64_t const x0 = first(clip_.x0 - origin_x - 1, size_x_), x1 = first(clip_.x1 - origin_x + 1, size_x_);
        std::int64_t const y0 = first(clip_.y0 - origin_y - 1, size_y_), y1 = first(clip_.y1 - origin_y + 1, size_y_);
        for (std::int64_t y = y0; y <= y1; ++y) {
            auto const row = static_cast<std::size_t>(std::clamp<std::int64_t>(y, 0, layer_.height - 1));
            tile const* const tiles = layer_.tiles.data() + row * static_cast<std::size_t>(layer_.width);
            for (std::int64_t x = x0; x <= x1; ++x) {
                tile const& t = tiles[std::clamp<std::int64_t>(x, 0, layer_.width - 1)];
                if (t.index != 0)
                    draw(t, origin_x + static_cast<double>(x) * size_x_, origin_y + static_cast<double>(y) * size_y_);
            }
        }
    }

private:
    void draw(tile const& t, double left, double top) noexcept {
        if (sheet_ != nullptr && sheet_->is_empty(t.index)) return;
        auto const edge = [](double at, std::int32_t low, std::int32_t high) {
            return static_cast<std::int32_t>(std::clamp(std::floor(at + 0.5), double{1} * low, double{1} * high));
        };
        std::int32_t const x0 = edge(left, clip_.x0, clip_.x1), x1 = edge(left + size_x_, clip_.x0, clip_.x1);
        std::int32_t const y0 = edge(top, clip_.y0, clip_.y1), y1 = edge(top + size_y_, clip_.y0, clip_.y1);
        if (x0 >= x1) return;
        if (sheet_ == nullptr) {
            wide const p = tinted(low_bytes, tint_);
            for (std::int32_t y = y0; y < y1; ++y)
                for (std::int32_t x = x0; x < x1; ++x) blend(line(y)[x], p);
            return;
        }
        // Along a row of the frame, u and v grow by these. Turned tiles swap them.
        double const side = level_->side;
        double const a = (x0 + 0.5 - left) / size_x_, da = 1 / size_x_;
        bool const turned = (t.flags & tile_flag::rotate) != 0;
        bool const opaque = sheet_->is_opaque(t.index) && tint_.is_one;
        pixel const* const pixels = level_->tile(t.index);
        for (std::int32_t y = y0; y < y1; ++y) {
            double const b = (y + 0.5 - top) / size_y_;
            double u = turned ? b : a, v = turned ? 1 - a : b;
            double du = turned ? 0 : da, dv = turned ? -da : 0;
            if ((t.flags & tile_flag::mirror_x) != 0) {
                u = 1 - u;
                du = -du;
            }
            if ((t.flags & tile_flag::mirror_y) != 0) {
                v = 1 - v;
                dv = -dv;
            }
            draw_row(line(y) + x0, x1 - x0, pixels, to_fixed(u * side - 0.5), to_fixed(v * side - 0.5),
                     to_fixed(du * side), to_fixed(dv * side), opaque);
        }
    }

    void draw_row(pixel* to, std::int32_t count, pixel const* pixels, std::int64_t u, std::int64_t v, std::int64_t du,
                  std::int64_t dv, bool opaque) noexcept {
        std::int32_t const side = level_->side;
        for (std::int32_t n = 0; n < count; ++n, u += du, v += dv) {
            std::int64_t const x = u >> fraction_bits, y = v >> fraction_bits;
            wide const p = sample(pixels, side, clamped::at(x, side), clamped::at(x + 1, side), clamped::at(y, side),
                                  clamped::at(y + 1, side), share(u), share(v));
            if (opaque) to[n] = narrow(p);
            else blend(to[n], tinted(p, tint_));
        }
    }

    [[nodiscard]] pixel* line(std::int32_t y) const noexcept {
        return to_.pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(to_.width);
    }

    tile_layer const& layer_;
    tile_sheet const* sheet_;
    frame& to_;
    pixel_clip clip_;
    projection at_;
    tint tint_{};
    double size_x_ = 1;
    double size_y_ = 1;
    tile_sheet::level const* level_ = nullptr;
};

void draw_tiles(scene::draw_command const& what, raster_pictures const& pictures, frame& to,
                pixel_clip const& clip) noexcept {
    if (pictures.map == nullptr || what.first >= pictures.map->layers.size()) return;
    tile_layer const* const layer = pictures.map->layers[what.first].tiles();
    if (layer == nullptr || layer->tiles.empty()) return;
    tile_sheet const* sheet = nullptr;
    if (layer->kind != tile_kind::tiles) sheet = pictures.physics;
    else if (layer->image >= 0 && static_cast<std::size_t>(layer->image) < pictures.sheets.size())
        sheet = pictures.sheets[static_cast<std::size_t>(layer->image)];
    tile_painter{*layer, sheet, what, to, clip}.draw();
}

} // namespace

mip_picture::mip_picture(picture const& base) {
    level first{static_cast<std::int32_t>(base.width), static_cast<std::int32_t>(base.height), {}};
    first.pixels.reserve(base.pixels.size());
    for (color const c : base.pixels) first.pixels.push_back(premultiplied(c));
    if (first.pixels.empty()) first = {1, 1, {0}};
    levels_.push_back(std::move(first));
    while (levels_.back().width > 1 || levels_.back().height > 1)
        levels_.push_back(halved(levels_.back().pixels, levels_.back().width, levels_.back().height));
}

mip_picture::level const& mip_picture::at(int n) const noexcept {
    return levels_[std::min(static_cast<std::size_t>(std::max(n, 0)), levels_.size() - 1)];
}

tile_sheet::tile_sheet(picture const& base) {
    constexpr std::int32_t most_side = 64, tiles = 256;
    auto const wanted = static_cast<std::int32_t>(std::min(base.width, base.height) / 16);
    level first{std::clamp(wanted, 1, most_side), {}};
    auto const side = static_cast<std::size_t>(first.side);
    first.pixels.resize(tiles * side * side);
    bool const fits = base.width == 16 * side && base.height == 16 * side;
    picture const sheet = fits ? picture{} : scaled(base, 0, 0, base.width, base.height, 16 * side, 16 * side);
    picture const& from = fits ? base : sheet;
    for (std::size_t n = 0; n < tiles; ++n) {
        empty_[n] = opaque_[n] = true;
        for (std::size_t y = 0; y < side; ++y)
            for (std::size_t x = 0; x < side; ++x) {
                color const c = from.at(n % 16 * side + x, n / 16 * side + y);
                empty_[n] = empty_[n] && c.a == 0;
                opaque_[n] = opaque_[n] && c.a == 255;
                first.pixels[(n * side + y) * side + x] = premultiplied(c);
            }
    }
    levels_.push_back(std::move(first));
    while (levels_.back().side > 1) {
        // The tiles lie below each other, so that each of an even side halves by itself.
        level const& last = levels_.back();
        if (last.side % 2 != 0) break;
        auto half = halved(last.pixels, last.side, tiles * last.side);
        levels_.push_back({last.side / 2, std::move(half.pixels)});
    }
}

tile_sheet::level const& tile_sheet::at(int n) const noexcept {
    return levels_[std::min(static_cast<std::size_t>(std::max(n, 0)), levels_.size() - 1)];
}

void draw_rows(scene::draw_list const& list, raster_pictures const& pictures, frame& to, std::int32_t first,
               std::int32_t end) noexcept {
    using kind = scene::draw_command::kind;
    for (scene::draw_command const& what : list.commands()) {
        auto const side = [](float part, std::int32_t size) {
            return static_cast<std::int32_t>(std::lround(part * static_cast<float>(size)));
        };
        pixel_clip const clip{side(what.clip.left, to.width), std::max(first, side(what.clip.top, to.height)),
                              side(what.clip.right, to.width), std::min(end, side(what.clip.bottom, to.height))};
        if (clip.x0 >= clip.x1 || clip.y0 >= clip.y1) continue;
        switch (what.what) {
        case kind::quads: {
            bool const known = what.from < pictures.textures.size();
            if (known || what.from == scene::no_texture)
                draw_quads(list, what, known ? &pictures.textures[what.from] : nullptr, to, clip);
            break;
        }
        case kind::tiles: draw_tiles(what, pictures, to, clip); break;
        case kind::text: break;
        }
    }
}

picture picture_of(frame const& drawn) {
    picture made{static_cast<std::size_t>(drawn.width), static_cast<std::size_t>(drawn.height)};
    for (std::size_t n = 0; n < made.pixels.size(); ++n) {
        pixel const p = drawn.pixels[n];
        made.pixels[n] = {static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(p >> 8),
                          static_cast<std::uint8_t>(p >> 16), 255};
    }
    return made;
}

} // namespace teewire::replay
