#include "map/canvas.hpp"

#include <teewire/map/tiles.hpp>

#include <algorithm>
#include <cmath>

namespace teewire::replay {
namespace {

std::uint8_t mix(std::uint8_t below, std::uint8_t above, std::uint8_t alpha) noexcept {
    return static_cast<std::uint8_t>((below * (255 - alpha) + above * alpha + 127) / 255);
}

std::uint8_t byte(double value) noexcept { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

std::size_t wrap(std::int64_t at, std::size_t size) noexcept {
    auto const n = static_cast<std::int64_t>(size);
    return static_cast<std::size_t>((at % n + n) % n);
}

} // namespace

pixel_box pixel_box::cut(pixel_box const& other) const noexcept {
    return {std::max(x0, other.x0), std::max(y0, other.y0), std::min(x1, other.x1), std::min(y1, other.y1)};
}

color multiply(color a, color b) noexcept {
    auto const product = [](std::uint8_t x, std::uint8_t y) {
        return static_cast<std::uint8_t>((x * y + 127) / 255);
    };
    return {product(a.r, b.r), product(a.g, b.g), product(a.b, b.b), product(a.a, b.a)};
}

// ---- texture -------------------------------------------------------------------------------------------------------

texture::texture(picture base) {
    levels_.push_back(std::move(base));
    while (levels_.back().width > 1 || levels_.back().height > 1) {
        picture const& last = levels_.back();
        std::size_t const width = std::max<std::size_t>(last.width / 2, 1);
        std::size_t const height = std::max<std::size_t>(last.height / 2, 1);
        levels_.push_back(scaled(last, 0, 0, last.width, last.height, width, height));
    }
}

color texture::sample(double u, double v, double level) const noexcept {
    auto const last = static_cast<double>(levels_.size() - 1);
    picture const& p = levels_[static_cast<std::size_t>(std::clamp(level + 0.5, 0.0, last))];
    // Between four pixels, weighted by transparency.
    double const x = (u - std::floor(u)) * static_cast<double>(p.width) - 0.5;
    double const y = (v - std::floor(v)) * static_cast<double>(p.height) - 0.5;
    auto const left = static_cast<std::int64_t>(std::floor(x));
    auto const top = static_cast<std::int64_t>(std::floor(y));
    double const fx = x - static_cast<double>(left);
    double const fy = y - static_cast<double>(top);
    double r = 0, g = 0, b = 0, a = 0;
    for (int k = 0; k < 4; ++k) {
        color const c = p.at(wrap(left + k % 2, p.width), wrap(top + k / 2, p.height));
        double const weight = (k % 2 != 0 ? fx : 1 - fx) * (k / 2 != 0 ? fy : 1 - fy) * c.a;
        r += weight * c.r;
        g += weight * c.g;
        b += weight * c.b;
        a += weight;
    }
    if (a <= 0) return {0, 0, 0, 0};
    return {byte(r / a), byte(g / a), byte(b / a), byte(a)};
}

picture const& texture::part(std::uint8_t index, std::size_t size) const {
    auto const [place, is_new] = parts_.try_emplace({size, index});
    if (is_new) {
        picture const& p = base();
        std::size_t const width = std::max<std::size_t>(p.width / 16, 1);
        std::size_t const height = std::max<std::size_t>(p.height / 16, 1);
        std::size_t const x = std::min(index % 16 * width, p.width - width);
        std::size_t const y = std::min(index / std::size_t{16} * height, p.height - height);
        place->second = scaled(p, x, y, width, height, size, size);
    }
    return place->second;
}

// ---- canvas --------------------------------------------------------------------------------------------------------

void canvas::blend(std::int64_t x, std::int64_t y, color c) noexcept {
    color& below = picture_.at(static_cast<std::size_t>(x), static_cast<std::size_t>(y));
    if (c.a == 255) {
        below = c;
        return;
    }
    below = {mix(below.r, c.r, c.a), mix(below.g, c.g, c.a), mix(below.b, c.b, c.a), 255};
}

void canvas::fill(pixel_box box, color c) noexcept {
    if (c.a == 0) return;
    box = box.cut(clip_);
    for (std::int64_t y = box.y0; y < box.y1; ++y)
        for (std::int64_t x = box.x0; x < box.x1; ++x) blend(x, y, c);
}

void canvas::fill_disc(pixel_box box, color c) noexcept {
    // In half pixels from the middle.
    std::int64_t const size = std::min(box.x1 - box.x0, box.y1 - box.y0);
    pixel_box const seen = box.cut(clip_);
    for (std::int64_t y = seen.y0; y < seen.y1; ++y)
        for (std::int64_t x = seen.x0; x < seen.x1; ++x) {
            std::int64_t const dx = 2 * x + 1 - box.x0 - box.x1;
            std::int64_t const dy = 2 * y + 1 - box.y0 - box.y1;
            if (dx * dx + dy * dy <= size * size) blend(x, y, c);
        }
}

void canvas::draw_tile(pixel_box box, picture const& part, std::uint8_t flags, color tint) noexcept {
    pixel_box const seen = box.cut(clip_);
    auto const n = static_cast<std::int64_t>(part.width);
    for (std::int64_t y = seen.y0; y < seen.y1; ++y)
        for (std::int64_t x = seen.x0; x < seen.x1; ++x) {
            std::int64_t u = (x - box.x0) * n / (box.x1 - box.x0);
            std::int64_t v = (y - box.y0) * n / (box.y1 - box.y0);
            if ((flags & tile_flag::rotate) != 0) {
                std::int64_t const before = u;
                u = v;
                v = n - 1 - before;
            }
            if ((flags & tile_flag::mirror_x) != 0) u = n - 1 - u;
            if ((flags & tile_flag::mirror_y) != 0) v = n - 1 - v;
            color const c = multiply(part.at(static_cast<std::size_t>(u), static_cast<std::size_t>(v)), tint);
            if (c.a != 0) blend(x, y, c);
        }
}

void canvas::draw_triangle(std::array<vertex, 3> const& corners, texture const* paint) noexcept {
    // Positions in sixteenths of pixels; those far outside are cut so that nothing overflows.
    constexpr double largest = 1 << 27;
    std::array<std::int64_t, 3> x{}, y{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (!std::isfinite(corners[i].x) || !std::isfinite(corners[i].y)) return;
        x[i] = std::llround(std::clamp(corners[i].x * 16, -largest, largest));
        y[i] = std::llround(std::clamp(corners[i].y * 16, -largest, largest));
    }
    std::array<std::size_t, 3> order{0, 1, 2};
    std::int64_t area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    if (area == 0) return;
    if (area < 0) {
        std::swap(order[1], order[2]);
        area = -area;
    }
    // Distances from the edges: positive inside. Pixels on an edge belong to the triangle only at left and top edges.
    struct edge {
        std::int64_t dx, dy, at_origin;
    };
    std::array<edge, 3> edges{};
    for (std::size_t i = 0; i < 3; ++i) {
        std::size_t const a = order[(i + 1) % 3];
        std::size_t const b = order[(i + 2) % 3];
        edges[i] = {x[b] - x[a], y[b] - y[a], 0};
        edges[i].at_origin = -edges[i].dx * y[a] + edges[i].dy * x[a];
        bool const left_or_top = edges[i].dy < 0 || (edges[i].dy == 0 && edges[i].dx > 0);
        if (!left_or_top) edges[i].at_origin -= 1;
    }
    double level = 0;
    if (paint != nullptr) {
        vertex const& a = corners[0];
        double const texels =
            std::abs((corners[1].u - a.u) * (corners[2].v - a.v) - (corners[2].u - a.u) * (corners[1].v - a.v)) *
            static_cast<double>(paint->base().width) * static_cast<double>(paint->base().height);
        double const pixels = static_cast<double>(area) / 256;
        if (texels > pixels) level = 0.5 * std::log2(texels / pixels);
    }
    auto const [low_x, high_x] = std::minmax({x[0], x[1], x[2]});
    auto const [low_y, high_y] = std::minmax({y[0], y[1], y[2]});
    pixel_box const seen = pixel_box{low_x / 16 - 1, low_y / 16 - 1, high_x / 16 + 2, high_y / 16 + 2}.cut(clip_);
    for (std::int64_t py = seen.y0; py < seen.y1; ++py)
        for (std::int64_t px = seen.x0; px < seen.x1; ++px) {
            std::int64_t const cx = 16 * px + 8;
            std::int64_t const cy = 16 * py + 8;
            std::array<double, 3> weight{};
            bool inside = true;
            for (std::size_t i = 0; i < 3 && inside; ++i) {
                std::int64_t const distance = edges[i].dx * cy - edges[i].dy * cx + edges[i].at_origin;
                inside = distance >= 0;
                weight[order[i]] = static_cast<double>(distance) / static_cast<double>(area);
            }
            if (!inside) continue;
            double u = 0, v = 0;
            std::array<double, 4> tint{};
            for (std::size_t i = 0; i < 3; ++i) {
                u += weight[i] * corners[i].u;
                v += weight[i] * corners[i].v;
                for (std::size_t k = 0; k < 4; ++k) tint[k] += weight[i] * corners[i].tint[k];
            }
            color c{byte(tint[0]), byte(tint[1]), byte(tint[2]), byte(tint[3])};
            if (c.a != 0 && paint != nullptr) c = multiply(c, paint->sample(u, v, level));
            if (c.a != 0) blend(px, py, c);
        }
}

} // namespace teewire::replay
