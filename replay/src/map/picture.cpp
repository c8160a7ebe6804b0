#include "map/picture.hpp"

#include "base/output.hpp"

#include <fmt/format.h>
#include <spng.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace teewire::replay {
namespace {

static_assert(sizeof(color) == 4);

using png_context = std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)>;

void check(int error) {
    if (error != 0) throw std::runtime_error{fmt::format("PNG: {}", spng_strerror(error))};
}

} // namespace

picture picture_of(std::size_t width, std::size_t height, std::span<std::uint8_t const> rgba) {
    picture p{width, height};
    std::memcpy(p.pixels.data(), rgba.data(), std::min(rgba.size(), p.pixels.size() * sizeof(color)));
    return p;
}

picture scaled(picture const& from, std::size_t x, std::size_t y, std::size_t width, std::size_t height,
               std::size_t new_width, std::size_t new_height) {
    picture to{new_width, new_height};
    for (std::size_t row = 0; row < new_height; ++row) {
        std::size_t const y0 = y + row * height / new_height;
        std::size_t const y1 = std::max(y0 + 1, y + (row + 1) * height / new_height);
        for (std::size_t column = 0; column < new_width; ++column) {
            std::size_t const x0 = x + column * width / new_width;
            std::size_t const x1 = std::max(x0 + 1, x + (column + 1) * width / new_width);
            std::uint64_t r = 0, g = 0, b = 0, a = 0;
            for (std::size_t v = y0; v < y1; ++v)
                for (std::size_t u = x0; u < x1; ++u) {
                    color const c = from.at(u, v);
                    r += std::uint64_t{c.r} * c.a;
                    g += std::uint64_t{c.g} * c.a;
                    b += std::uint64_t{c.b} * c.a;
                    a += c.a;
                }
            if (a == 0) continue;
            std::uint64_t const area = (y1 - y0) * (x1 - x0);
            to.at(column, row) = {static_cast<std::uint8_t>(r / a), static_cast<std::uint8_t>(g / a),
                                  static_cast<std::uint8_t>(b / a), static_cast<std::uint8_t>(a / area)};
        }
    }
    return to;
}

std::vector<std::uint8_t> encode_png(picture const& p) {
    bool const opaque = std::all_of(p.pixels.begin(), p.pixels.end(), [](color c) { return c.a == 255; });
    png_context const png{spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free};
    if (!png) throw std::bad_alloc{};
    check(spng_set_option(png.get(), SPNG_ENCODE_TO_BUFFER, 1));
    spng_ihdr header{};
    header.width = static_cast<std::uint32_t>(p.width);
    header.height = static_cast<std::uint32_t>(p.height);
    header.bit_depth = 8;
    header.color_type = opaque ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
    check(spng_set_ihdr(png.get(), &header));
    // Tiles and tees come again and again: without filters, pictures are smaller, and made twice as fast.
    check(spng_set_option(png.get(), SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_NONE));
    check(spng_encode_image(png.get(), nullptr, 0, SPNG_FMT_PNG, SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE));
    progress shown{p.height};
    std::vector<std::uint8_t> row;
    for (std::size_t y = 0; y < p.height; ++y) {
        if (interrupted()) return {};
        shown.update(y, "writing PNG");
        row.clear();
        for (color const c : std::span{p.pixels}.subspan(y * p.width, p.width)) {
            row.insert(row.end(), {c.r, c.g, c.b});
            if (!opaque) row.push_back(c.a);
        }
        int const state = spng_encode_row(png.get(), row.data(), row.size());
        if (state != SPNG_EOI) check(state); // that is the last row
    }
    std::size_t size = 0;
    int error = 0;
    std::unique_ptr<void, decltype(&std::free)> const buffer{spng_get_png_buffer(png.get(), &size, &error),
                                                             std::free};
    check(error);
    auto const* const bytes = static_cast<std::uint8_t const*>(buffer.get());
    return {bytes, bytes + size};
}

picture decode_png(std::span<std::uint8_t const> file) {
    constexpr std::uint32_t largest_side = 8192;
    constexpr std::size_t largest_chunk = 64 << 20;
    png_context const png{spng_ctx_new(0), spng_ctx_free};
    if (!png) throw std::bad_alloc{};
    check(spng_set_image_limits(png.get(), largest_side, largest_side));
    check(spng_set_chunk_limits(png.get(), largest_chunk, largest_chunk));
    check(spng_set_png_buffer(png.get(), file.data(), file.size()));
    spng_ihdr header{};
    check(spng_get_ihdr(png.get(), &header));
    picture p{header.width, header.height};
    check(spng_decode_image(png.get(), p.pixels.data(), p.pixels.size() * sizeof(color), SPNG_FMT_RGBA8,
                            SPNG_DECODE_TRNS));
    return p;
}

} // namespace teewire::replay
