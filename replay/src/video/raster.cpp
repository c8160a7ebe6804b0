#include "video/raster.hpp"

#include "video/text.hpp"

#include <teewire/map/map.hpp>
#include <teewire/map/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace teewire::replay {
namespace {

// ---- pixels --------------------------------------------------------------------------------------------------------

// Two pixels at once, R G B A each: as bytes, and in 16 bits. Compilers make vectors of these on every processor.
using two_narrow = std::uint8_t __attribute__((vector_size(8)));
using two = std::uint16_t __attribute__((vector_size(16)));
using four_ints = std::int32_t __attribute__((vector_size(16)));

static_assert(sizeof(pixel) == 4);

inline two load(pixel const* from) noexcept {
    two_narrow bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return __builtin_convertvector(bytes, two);
}
inline void store(two p, pixel* to) noexcept {
    two_narrow const bytes = __builtin_convertvector(p, two_narrow);
    std::memcpy(static_cast<void*>(to), &bytes, sizeof bytes);
}
// The first pixel of each.
inline two joined(two a, two b) noexcept { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); }

constexpr std::uint16_t one = 256; // of a share or a factor

// The first of two pixels: of each part of `a` and `b`, with a share of `part` of the second ones.
inline two between(two top, two bottom, std::uint16_t fx, std::uint16_t fy) noexcept {
    two const column = (top * static_cast<std::uint16_t>(one - fy) + bottom * fy) >> 8;
    auto const rest = static_cast<std::uint16_t>(one - fx);
    two const weighed = column * two{rest, rest, rest, rest, fx, fx, fx, fx};
    return (weighed + __builtin_shufflevector(weighed, weighed, 4, 5, 6, 7, 0, 1, 2, 3)) >> 8;
}

// A factor for each part of two pixels.
struct tint {
    two factors;
    bool is_one; ///< changes nothing

    // Premultiplied, to 255.
    static tint of(std::array<double, 4> const& color) noexcept {
        std::array<std::uint16_t, 4> f{};
        for (std::size_t i = 0; i < f.size(); ++i)
            f[i] = static_cast<std::uint16_t>(std::lround(std::clamp(color[i], 0.0, 255.0) * (one / 255.0)));
        bool const all = f[0] == one && f[1] == one && f[2] == one && f[3] == one;
        return {two{f[0], f[1], f[2], f[3], f[0], f[1], f[2], f[3]}, all};
    }
};

// Two pixels over those that are there.
inline two blended(two below, two p) noexcept {
    two const alpha = __builtin_shufflevector(p, p, 3, 3, 3, 3, 7, 7, 7, 7);
    return p + ((below * (one - (alpha + (alpha >> 7)))) >> 8);
}

// Whether neither of two pixels changes what is below.
inline bool is_nothing(two p) noexcept {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), &p, sizeof p);
    return (words[0] | words[1]) == 0;
}

inline void blend_two(pixel* to, two p) noexcept { store(blended(load(to), p), to); }
inline void blend_one(pixel* to, two p) noexcept {
    std::array<pixel, 2> room{*to, *to};
    blend_two(room.data(), p);
    *to = room[0];
}

// Each colour of two pixels times the opacity.
inline two premultiplied(two p) noexcept {
    two const alpha = __builtin_shufflevector(p, p, 3, 3, 3, 3, 7, 7, 7, 7) | two{0, 0, 0, 255, 0, 0, 0, 255};
    return (p * alpha + 127) / 255;
}
void premultiply(std::span<pixel> row) noexcept {
    std::size_t n = 0;
    for (; n + 2 <= row.size(); n += 2) store(premultiplied(load(&row[n])), &row[n]);
    if (n == row.size()) return;
    std::array<pixel, 2> last{row[n], row[n]};
    store(premultiplied(load(last.data())), last.data());
    row[n] = last[0];
}

// ---- levels --------------------------------------------------------------------------------------------------------

// The average of two neighbouring pixels and the two below them.
inline pixel average(pixel const* top, pixel const* bottom) noexcept {
    two const sums = load(top) + load(bottom);
    std::array<pixel, 2> room;
    store((sums + __builtin_shufflevector(sums, sums, 4, 5, 6, 7, 0, 1, 2, 3) + 2) >> 2, room.data());
    return room[0];
}

mip_picture::level halved(std::vector<pixel> const& from, std::int32_t width, std::int32_t height) {
    mip_picture::level made{std::max(1, width / 2), std::max(1, height / 2), {}};
    auto const w = static_cast<std::size_t>(made.width), h = static_cast<std::size_t>(made.height);
    auto const full = static_cast<std::size_t>(width);
    made.pixels.resize(w * h);
    for (std::size_t y = 0; y < h; ++y) {
        pixel* const to = made.pixels.data() + y * w;
        pixel const* const top = from.data() + 2 * y * full;
        pixel const* const bottom = height > 1 ? top + full : top;
        if (width == 1) {
            std::array<pixel, 4> const column{*top, *top, *bottom, *bottom};
            to[0] = average(column.data(), column.data() + 2);
            continue;
        }
        for (std::size_t x = 0; x < w; ++x) to[x] = average(top + 2 * x, bottom + 2 * x);
    }
    return made;
}

// The level for so many texels to a pixel.
int level_of(double scale) noexcept {
    return scale > 1 ? static_cast<int>(std::min(std::log2(scale) + 0.5, 20.0)) : 0;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

constexpr int fraction_bits = 16;
constexpr double fixed_one = 1 << fraction_bits;

std::int64_t to_fixed(double value) noexcept {
    constexpr double most = 1e9; // so that a row of steps does not overflow
    return static_cast<std::int64_t>(std::clamp(value, -most, most) * fixed_one);
}
inline std::uint16_t share(std::int64_t fixed) noexcept {
    return static_cast<std::uint16_t>(fixed >> (fraction_bits - 8) & 0xff);
}

// A texture along a row: places are half a pixel before what they mean.
struct texels {
    pixel const* pixels;
    std::int32_t stride, width, height;
    std::int64_t u, v, du, dv;
};

inline two sample(pixel const* pixels, std::int32_t stride, std::int32_t u, std::int32_t v) noexcept {
    pixel const* const at = pixels + std::ptrdiff_t{v >> fraction_bits} * stride + (u >> fraction_bits);
    return between(load(at), load(at + stride), share(u), share(v));
}

// Where some of the four pixels may be outside.
two sample_at_border(texels const& from, bool repeats) noexcept {
    std::int64_t const x = from.u >> fraction_bits, y = from.v >> fraction_bits;
    auto const inside = [&](std::int64_t n, std::int32_t size) -> std::ptrdiff_t {
        if (!repeats) return static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(n, 0, size - 1));
        std::int64_t const rest = n % size;
        return static_cast<std::ptrdiff_t>(rest < 0 ? rest + size : rest);
    };
    std::ptrdiff_t const x0 = inside(x, from.width), x1 = inside(x + 1, from.width);
    std::ptrdiff_t const y0 = inside(y, from.height) * from.stride, y1 = inside(y + 1, from.height) * from.stride;
    std::array<pixel, 2> const top{from.pixels[y0 + x0], from.pixels[y0 + x1]};
    std::array<pixel, 2> const bottom{from.pixels[y1 + x0], from.pixels[y1 + x1]};
    return between(load(top.data()), load(bottom.data()), share(from.u), share(from.v));
}

// How many places, from this one on, lie from 0 up to `end`.
std::int64_t run_of(std::int64_t at, std::int64_t step, std::int64_t end) noexcept {
    if (at < 0 || at >= end) return 0;
    if (step > 0) return (end - 1 - at) / step + 1;
    if (step < 0) return at / -step + 1;
    return INT64_MAX;
}

// Gives `put` two pixels at a time, and the last one by itself; all of their places are inside.
template <class Put>
inline void draw_inside(texels const& from, std::int32_t count, Put const& put) noexcept {
    auto u = static_cast<std::int32_t>(from.u), v = static_cast<std::int32_t>(from.v);
    auto const du = static_cast<std::int32_t>(from.du), dv = static_cast<std::int32_t>(from.dv);
    std::int32_t n = 0;
    if (dv == 0) { // most pictures are not turned
        pixel const* const top = from.pixels + std::ptrdiff_t{v >> fraction_bits} * from.stride;
        std::uint16_t const fy = share(v);
        auto const at = [&](std::int32_t place) {
            pixel const* const left = top + (place >> fraction_bits);
            return between(load(left), load(left + from.stride), share(place), fy);
        };
        for (; n + 2 <= count; n += 2, u += 2 * du) put.both(n, joined(at(u), at(u + du)));
        if (n < count) put.first(n, at(u));
        return;
    }
    for (; n + 2 <= count; n += 2) {
        two const a = sample(from.pixels, from.stride, u, v);
        two const b = sample(from.pixels, from.stride, u + du, v + dv);
        put.both(n, joined(a, b));
        u += 2 * du;
        v += 2 * dv;
    }
    if (n < count) put.first(n, sample(from.pixels, from.stride, u, v));
}

// The same for any places.
template <class Put>
void draw_texels(texels from, bool repeats, std::int32_t count, Put put) noexcept {
    std::int64_t const wide = std::int64_t{from.width} << fraction_bits,
                       high = std::int64_t{from.height} << fraction_bits;
    std::int64_t const last_u = wide - (1 << fraction_bits), last_v = high - (1 << fraction_bits);
    while (count > 0) {
        if (repeats) {
            from.u = (from.u % wide + wide) % wide;
            from.v = (from.v % high + high) % high;
        }
        std::int64_t const run =
            std::min({run_of(from.u, from.du, last_u), run_of(from.v, from.dv, last_v), std::int64_t{count}});
        std::int32_t steps = 1;
        if (run > 0) {
            steps = static_cast<std::int32_t>(run);
            draw_inside(from, steps, put);
        } else {
            put.first(0, sample_at_border(from, repeats));
        }
        from.u += from.du * steps;
        from.v += from.dv * steps;
        count -= steps;
        put.skip(steps);
    }
}

// Ways to write the pixels of a row.
struct put_as_they_are {
    pixel* to;
    void both(std::int32_t n, two p) const noexcept { store(p, to + n); }
    void first(std::int32_t n, two p) const noexcept {
        std::array<pixel, 2> room;
        store(p, room.data());
        to[n] = room[0];
    }
    void skip(std::int32_t n) noexcept { to += n; }
};
struct put_blended {
    pixel* to;
    void both(std::int32_t n, two p) const noexcept { blend_two(to + n, p); }
    void first(std::int32_t n, two p) const noexcept { blend_one(to + n, p); }
    void skip(std::int32_t n) noexcept { to += n; }
};
struct put_tinted {
    pixel* to;
    two factors;
    void both(std::int32_t n, two p) const noexcept {
        if (is_nothing(p)) return; // much of a picture
        blend_two(to + n, p * factors >> 8);
    }
    void first(std::int32_t n, two p) const noexcept { blend_one(to + n, p * factors >> 8); }
    void skip(std::int32_t n) noexcept { to += n; }
};
// The factors change along the row: they are in 16.16 bits.
struct put_shaded {
    pixel* to;
    four_ints factors, step;
    [[nodiscard]] two at(std::int32_t n) const noexcept {
        auto const limited = [](four_ints f) {
            f = f >> 16;
            f = f < 0 ? four_ints{} : f;
            return f > one ? four_ints{one, one, one, one} : f;
        };
        four_ints const a = limited(factors + n * step), b = limited(factors + (n + 1) * step);
        return two{static_cast<std::uint16_t>(a[0]), static_cast<std::uint16_t>(a[1]),
                   static_cast<std::uint16_t>(a[2]), static_cast<std::uint16_t>(a[3]),
                   static_cast<std::uint16_t>(b[0]), static_cast<std::uint16_t>(b[1]),
                   static_cast<std::uint16_t>(b[2]), static_cast<std::uint16_t>(b[3])};
    }
    void both(std::int32_t n, two p) const noexcept { blend_two(to + n, p * at(n) >> 8); }
    void first(std::int32_t n, two p) const noexcept { blend_one(to + n, p * at(n) >> 8); }
    void skip(std::int32_t n) noexcept {
        to += n;
        factors += n * step;
    }
};

constexpr two all_white = {255, 255, 255, 255, 255, 255, 255, 255};

// A row without a texture.
template <class Put>
void draw_plain(std::int32_t count, Put const& put) noexcept {
    std::int32_t n = 0;
    for (; n + 2 <= count; n += 2) put.both(n, all_white);
    if (n < count) put.first(n, all_white);
}

// ---- triangles -----------------------------------------------------------------------------------------------------

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
            double const texels =
                std::abs((b.u - a.u) * (c.v - a.v) - (c.u - a.u) * (b.v - a.v)) * base.width * base.height;
            level_ = &paint_->at(level_of(std::sqrt(texels / std::abs(area))));
            u_ = grow(a.u * level_->width - 0.5, b.u * level_->width - 0.5, c.u * level_->width - 0.5);
            v_ = grow(a.v * level_->height - 0.5, b.v * level_->height - 0.5, c.v * level_->height - 0.5);
        }
        bool const one_color = a.color == b.color && a.color == c.color;
        for (std::size_t i = 0; i < 4; ++i) colors_[i] = grow(a.color[i], b.color[i], c.color[i]);
        tint const whole = tint::of(a.color);
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
            pixel* const line =
                to_.pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(to_.width) + x0;
            if (!one_color) draw_row(x0, x1, y, shade(line, x0, y));
            else if (whole.is_one) draw_row(x0, x1, y, put_blended{line});
            else draw_row(x0, x1, y, put_tinted{line, whole.factors});
        }
    }

private:
    static std::array<corner const*, 3> sorted(corner const& a, corner const& b, corner const& c) noexcept {
        std::array<corner const*, 3> order{&a, &b, &c};
        std::stable_sort(order.begin(), order.end(), [](corner const* l, corner const* r) { return l->y < r->y; });
        return order;
    }

    template <class Put>
    void draw_row(std::int32_t x0, std::int32_t x1, std::int32_t y, Put const& put) const noexcept {
        if (level_ == nullptr) return draw_plain(x1 - x0, put);
        draw_texels({level_->pixels.data(), level_->width, level_->width, level_->height, to_fixed(u_.at(x0, y)),
                     to_fixed(v_.at(x0, y)), to_fixed(u_.dx), to_fixed(v_.dx)},
                    repeats_, x1 - x0, put);
    }

    [[nodiscard]] put_shaded shade(pixel* to, std::int32_t x, std::int32_t y) const noexcept {
        put_shaded put{to, {}, {}};
        for (std::size_t i = 0; i < 4; ++i) {
            constexpr double factor = one / 255.0 * 65536;
            put.factors[i] = static_cast<std::int32_t>(std::clamp(colors_[i].at(x, y), 0.0, 255.0) * factor);
            // In a row of two pixels or more, the step is at most this.
            put.step[i] = static_cast<std::int32_t>(std::clamp(colors_[i].dx, -255.0, 255.0) * factor);
        }
        return put;
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
        bool const seen =
            std::any_of(corners.begin(), corners.end(), [](corner const& c) { return c.color[3] > 0; });
        if (!seen || !(top < clip.y1 && bottom > clip.y0)) continue;
        painter.draw(corners[0], corners[1], corners[3]);
        painter.draw(corners[0], corners[3], corners[2]);
    }
}

class tile_painter {
public:
    tile_painter(tile_layer const& layer, tile_sheet const* sheet, scene::draw_command const& what, frame& to,
                 pixel_clip const& clip) noexcept
        : layer_{layer}, sheet_{sheet}, to_{to}, clip_{clip}, at_{what.view, to} {
        tint_ = tint::of(parts_of(what.tint));
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
        std::int64_t const x0 = first(clip_.x0 - origin_x - 1, size_x_),
                           x1 = first(clip_.x1 - origin_x + 1, size_x_);
        std::int64_t const y0 = first(clip_.y0 - origin_y - 1, size_y_),
                           y1 = first(clip_.y1 - origin_y + 1, size_y_);
        for (std::int64_t y = y0; y <= y1; ++y) {
            auto const row = static_cast<std::size_t>(std::clamp<std::int64_t>(y, 0, layer_.height - 1));
            tile const* const tiles = layer_.tiles.data() + row * static_cast<std::size_t>(layer_.width);
            for (std::int64_t x = x0; x <= x1; ++x) {
                tile const& t = tiles[std::clamp<std::int64_t>(x, 0, layer_.width - 1)];
                if (t.index != 0)
                    draw(t, origin_x + static_cast<double>(x) * size_x_,
                         origin_y + static_cast<double>(y) * size_y_);
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
            for (std::int32_t y = y0; y < y1; ++y) draw_plain(x1 - x0, put_tinted{line(y) + x0, tint_.factors});
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
            // The border of a tile is before its first pixel.
            texels const from{pixels,
                              level_->stride(),
                              level_->stride(),
                              level_->stride(),
                              to_fixed(u * side + 0.5),
                              to_fixed(v * side + 0.5),
                              to_fixed(du * side),
                              to_fixed(dv * side)};
            pixel* const to = line(y) + x0;
            if (opaque) draw_texels(from, false, x1 - x0, put_as_they_are{to});
            else if (tint_.is_one) draw_texels(from, false, x1 - x0, put_blended{to});
            else draw_texels(from, false, x1 - x0, put_tinted{to, tint_.factors});
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
    tile_sheet const* const sheet = pictures.sheet_of(*layer);
    tile_painter{*layer, sheet, what, to, clip}.draw();
}

// All borders first, so that none hides the letter before.
void draw_text(std::size_t command, text_layout const& texts, frame& to, pixel_clip const& clip) noexcept {
    auto const glyphs = std::span{texts.placed()}.subspan(texts.begins()[command],
                                                          texts.begins()[command + 1] - texts.begins()[command]);
    for (placed_glyph const& g : glyphs) draw_border(g, to, clip.y0, clip.y1);
    for (placed_glyph const& g : glyphs) draw_inside(g, to, clip.y0, clip.y1);
}

} // namespace

tile_sheet const* raster_pictures::sheet_of(tile_layer const& layer) const noexcept {
    if (layer.kind != tile_kind::tiles) return physics;
    if (layer.image < 0 || static_cast<std::size_t>(layer.image) >= sheets.size()) return nullptr;
    return sheets[static_cast<std::size_t>(layer.image)];
}

mip_picture::mip_picture(picture const& base) {
    level first{static_cast<std::int32_t>(base.width), static_cast<std::int32_t>(base.height), base.pixels};
    premultiply(first.pixels);
    if (first.pixels.empty()) first = {1, 1, {pixel{}}};
    levels_.push_back(std::move(first));
    while (levels_.back().width > 1 || levels_.back().height > 1)
        levels_.push_back(halved(levels_.back().pixels, levels_.back().width, levels_.back().height));
}

mip_picture::level const& mip_picture::at(int n) const noexcept {
    return levels_[std::min(static_cast<std::size_t>(std::max(n, 0)), levels_.size() - 1)];
}

namespace {

// The pixels of a tile get the border that they have in a sheet.
void add_border(pixel* tile, std::size_t side) noexcept {
    std::size_t const stride = side + 2;
    for (std::size_t y = 1; y <= side; ++y) {
        pixel* const line = tile + y * stride;
        line[0] = line[1];
        line[side + 1] = line[side];
    }
    std::copy_n(tile + stride, stride, tile);
    std::copy_n(tile + side * stride, stride, tile + (side + 1) * stride);
}

// A sheet of tiles of half the size; their borders are left out.
tile_sheet::level halved_tiles(tile_sheet::level const& from) {
    tile_sheet::level made{from.side / 2, {}};
    auto const side = static_cast<std::size_t>(made.side), stride = static_cast<std::size_t>(made.stride());
    auto const full = static_cast<std::size_t>(from.stride());
    made.pixels.resize(tile_sheet::tiles * stride * stride);
    for (std::size_t n = 0; n < tile_sheet::tiles; ++n) {
        pixel const* top = from.tile(static_cast<std::uint8_t>(n)) + full + 1;
        pixel* const tile = made.pixels.data() + n * stride * stride;
        for (std::size_t y = 1; y <= side; ++y, top += 2 * full)
            for (std::size_t x = 0; x < side; ++x)
                tile[y * stride + x + 1] = average(top + 2 * x, top + 2 * x + full);
        add_border(tile, side);
    }
    return made;
}

} // namespace

tile_sheet::tile_sheet(picture const& base) {
    constexpr std::int32_t most_side = 64;
    auto const wanted = static_cast<std::int32_t>(std::min(base.width, base.height) / 16);
    level first{std::clamp(wanted, 1, most_side), {}};
    auto const side = static_cast<std::size_t>(first.side), stride = static_cast<std::size_t>(first.stride());
    bool const fits = base.width == 16 * side && base.height == 16 * side;
    picture const sheet = fits ? picture{} : scaled(base, 0, 0, base.width, base.height, 16 * side, 16 * side);
    picture const& from = fits ? base : sheet;
    first.pixels.resize(tiles * stride * stride);
    for (std::size_t n = 0; n < tiles; ++n) {
        pixel* const tile = first.pixels.data() + n * stride * stride;
        unsigned all = 255, any = 0;
        for (std::size_t y = 0; y < side; ++y) {
            color const* const line = &from.at(n % 16 * side, n / 16 * side + y);
            for (std::size_t x = 0; x < side; ++x) {
                all &= line[x].a;
                any |= line[x].a;
            }
            std::copy_n(line, side, tile + (y + 1) * stride + 1);
        }
        empty_[n] = any == 0;
        opaque_[n] = all == 255;
        if (all != 255)
            for (std::size_t y = 1; y <= side; ++y) premultiply({tile + y * stride + 1, side});
        add_border(tile, side);
    }
    levels_.push_back(std::move(first));
    while (levels_.back().side % 2 == 0) levels_.push_back(halved_tiles(levels_.back()));
}
tile_sheet::level const& tile_sheet::at(int n) const noexcept {
    return levels_[std::min(static_cast<std::size_t>(std::max(n, 0)), levels_.size() - 1)];
}

void draw_rows(scene::draw_list const& list, raster_pictures const& pictures, text_layout const& texts, frame& to,
               std::int32_t first, std::int32_t end) noexcept {
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
            auto const* const paint = what.from < pictures.textures.size() ? pictures.textures[what.from] : nullptr;
            if (paint != nullptr || what.from == scene::no_texture) draw_quads(list, what, paint, to, clip);
            break;
        }
        case kind::tiles: draw_tiles(what, pictures, to, clip); break;
        case kind::text:
            draw_text(static_cast<std::size_t>(&what - list.commands().data()), texts, to, clip);
            break;
        }
    }
}

picture picture_of(frame const& drawn) {
    picture made{static_cast<std::size_t>(drawn.width), static_cast<std::size_t>(drawn.height)};
    for (std::size_t n = 0; n < made.pixels.size(); ++n) {
        pixel const p = drawn.pixels[n];
        made.pixels[n] = {p.r, p.g, p.b, 255};
    }
    return made;
}

} // namespace teewire::replay
