// Texts of a scene, drawn with the fonts of a game or of the system.
#pragma once

#include "video/raster.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace teewire::replay {

/// A letter with its dark border, at a size in pixels.
struct glyph {
    std::int32_t x = 0; ///< of the bitmap, from where the pen is
    std::int32_t y = 0; ///< the same, from the base line, downwards
    std::int32_t width = 0;
    std::int32_t height = 0;
    float advance = 0;                ///< pixels to the next one
    std::vector<std::uint8_t> inside; ///< opacity of each pixel
    std::vector<std::uint8_t> border;
};

/// A glyph at its place in the frame.
struct placed_glyph {
    glyph const* shape = nullptr;
    std::int32_t x = 0;
    std::int32_t y = 0;
    scene::rgba color = 0;
};

/// Lays out texts. Glyphs are made when they are first needed.
class text_layout {
public:
    /// `folders` of games, whose fonts come before those of the system. `font`: a file that comes before all; may be empty.
    /// Throws usage_error if it is not a font.
    text_layout(std::vector<std::string> const& folders, std::string const& font);
    ~text_layout();
    text_layout(text_layout const&) = delete;
    text_layout& operator=(text_layout const&) = delete;

    [[nodiscard]] bool has_font() const noexcept { return !fonts_.empty(); }
    /// Width in pixels of a text of this size.
    [[nodiscard]] double measure(std::string_view text, std::int32_t size);
    /// Places the glyphs of all texts in the list, in the order of its commands.
    void place(scene::draw_list const& list, frame const& to);
    [[nodiscard]] std::vector<placed_glyph> const& placed() const noexcept { return placed_; }
    /// Those of command `number` are from here up to that of the next one.
    [[nodiscard]] std::vector<std::size_t> const& begins() const noexcept { return begins_; }

private:
    struct font;
    bool add(std::string const& file);
    /// Calls `use` with each letter's glyph.
    template <class Use>
    void each_glyph(std::string_view text, std::int32_t size, Use const& use);
    glyph const& find(std::int32_t letter, std::int32_t size);
    void place(std::string_view text, double x, double y, std::int32_t size, scene::rgba color);

    std::vector<std::unique_ptr<font>> fonts_;
    std::map<std::pair<std::int32_t, std::int32_t>, glyph> glyphs_; // by letter and size
    std::vector<placed_glyph> placed_;
    std::vector<std::size_t> begins_;
};

/// Draws a glyph on the rows from `first` up to `end`.
void draw_border(placed_glyph const& what, frame& to, std::int32_t first, std::int32_t end) noexcept;
void draw_inside(placed_glyph const& what, frame& to, std::int32_t first, std::int32_t end) noexcept;

} // namespace teewire::replay
