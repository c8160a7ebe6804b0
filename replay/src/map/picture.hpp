// Pictures in memory, and PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

struct color {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;
    std::uint8_t a = 255;
    friend bool operator==(color const&, color const&) = default;
};

/// Rows from the top.
struct picture {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<color> pixels;

    picture() = default;
    picture(std::size_t w, std::size_t h, color c = {0, 0, 0, 0}) : width{w}, height{h}, pixels(w * h, c) {}

    [[nodiscard]] bool empty() const noexcept { return pixels.empty(); }
    [[nodiscard]] color& at(std::size_t x, std::size_t y) noexcept { return pixels[y * width + x]; }
    [[nodiscard]] color const& at(std::size_t x, std::size_t y) const noexcept { return pixels[y * width + x]; }
};

/// A picture from width * height * 4 bytes R G B A.
[[nodiscard]] picture picture_of(std::size_t width, std::size_t height, std::span<std::uint8_t const> rgba);

/// A part, scaled by averaging whole pixels with regard to their transparency.
[[nodiscard]] picture scaled(picture const& from, std::size_t x, std::size_t y, std::size_t width,
                             std::size_t height, std::size_t new_width, std::size_t new_height);

/// Without an alpha channel if every pixel is opaque. Nothing if the program is interrupted. Throws std::runtime_error.
[[nodiscard]] std::vector<std::uint8_t> encode_png(picture const& p);
/// Decodes up to 8192 by 8192 pixels. Throws std::runtime_error with the reason.
[[nodiscard]] picture decode_png(std::span<std::uint8_t const> file);

} // namespace teewire::replay
