#include "video/text.hpp"

#include "base/errors.hpp"
#include "base/os/process.hpp"
#include "base/stored_file.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>

// The functions are this file's own. Fonts are the user's, and of the system.
#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif
#include <stb_truetype.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace teewire::replay {

struct text_layout::font {
    std::vector<std::uint8_t> bytes;
    stbtt_fontinfo info{};
};

namespace {

constexpr std::uint64_t most_font_bytes = 64 << 20;
// As shares of a text's height.
constexpr double letter_share = 26.0 / 40, border_share = 2.5 / 40;
constexpr std::uint32_t border_opacity = 204;
constexpr std::int32_t most_size = 400; // pixels

// Each pixel gets the highest opacity around it.
std::vector<std::uint8_t> spread(std::vector<std::uint8_t> const& from, std::int32_t width, std::int32_t height,
                                 double radius) {
    std::vector<std::uint8_t> to(from.size());
    auto const reach = static_cast<std::int32_t>(std::ceil(radius));
    auto const at = [&](std::int32_t x, std::int32_t y) {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    };
    for (std::int32_t dy = -reach; dy <= reach; ++dy)
        for (std::int32_t dx = -reach; dx <= reach; ++dx) {
            double const share = std::clamp(radius + 0.5 - std::hypot(dx, dy), 0.0, 1.0);
            if (share == 0) continue;
            for (std::int32_t y = std::max(0, -dy); y < std::min(height, height - dy); ++y)
                for (std::int32_t x = std::max(0, -dx); x < std::min(width, width - dx); ++x) {
                    auto const opacity = static_cast<std::uint8_t>(from[at(x, y)] * share);
                    std::uint8_t& there = to[at(x + dx, y + dy)];
                    there = std::max(there, opacity);
                }
        }
    return to;
}

void draw(std::vector<std::uint8_t> const& opacity, placed_glyph const& what, std::uint32_t color, frame& to,
          std::int32_t first, std::int32_t end) noexcept {
    glyph const& g = *what.shape;
    std::int32_t const y0 = std::max(first, what.y), y1 = std::min(end, what.y + g.height);
    std::int32_t const x0 = std::max(0, what.x), x1 = std::min(to.width, what.x + g.width);
    for (std::int32_t y = y0; y < y1; ++y)
        for (std::int32_t x = x0; x < x1; ++x) {
            std::uint32_t const a =
                opacity[static_cast<std::size_t>(y - what.y) * static_cast<std::size_t>(g.width) +
                        static_cast<std::size_t>(x - what.x)] *
                (color >> 24) / 255;
            if (a == 0) continue;
            pixel& below = to.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(to.width) +
                                     static_cast<std::size_t>(x)];
            auto const part = [&](std::uint32_t under, int shift) {
                std::uint32_t const over = color >> shift & 255;
                return static_cast<std::uint8_t>((under * (255 - a) + over * a + 127) / 255);
            };
            below = {part(below.r, 0), part(below.g, 8), part(below.b, 16), 255};
        }
}

} // namespace

text_layout::text_layout(std::vector<std::string> const& folders, std::string const& font) {
    if (!font.empty() && !add(font))
        throw usage_error{fmt::format("--font: {} is not a font that can be read", font)};
    constexpr char const* names[] = {"DejaVuSans.ttf", "SourceHanSansSC-Regular.otf", "SourceHanSans.ttc",
                                     "GlowSansJCompressed-Book.otf"};
    for (std::string const& folder : folders)
        for (char const* const name : names) add(fmt::format("{}/fonts/{}", folder, name));
    for (std::string const& file : os::font_files()) add(file);
}

text_layout::~text_layout() = default;

bool text_layout::add(std::string const& name) {
    constexpr std::size_t most_fonts = 8;
    auto const file = fonts_.size() < most_fonts ? stored_file::open(name) : nullptr;
    if (!file || file->size() > most_font_bytes) return false;
    auto made = std::make_unique<text_layout::font>();
    made->bytes = file->read_all();
    constexpr std::size_t least = 12; // of a table of tables
    if (made->bytes.size() < least) return false;
    int const offset = stbtt_GetFontOffsetForIndex(made->bytes.data(), 0);
    if (offset < 0 || stbtt_InitFont(&made->info, made->bytes.data(), offset) == 0) return false;
    fonts_.push_back(std::move(made));
    return true;
}

glyph const& text_layout::find(std::int32_t letter, std::int32_t size) {
    auto const [place, is_new] = glyphs_.try_emplace({letter, size});
    glyph& g = place->second;
    if (!is_new) return g;
    auto const has = [&](auto const& f) { return stbtt_FindGlyphIndex(&f->info, letter) != 0; };
    auto const found = std::find_if(fonts_.begin(), fonts_.end(), has);
    stbtt_fontinfo const* const from = &(found != fonts_.end() ? *found : fonts_.front())->info;
    int const index = stbtt_FindGlyphIndex(from, letter);
    float const scale = stbtt_ScaleForMappingEmToPixels(from, static_cast<float>(size * letter_share));
    int advance = 0, bearing = 0, x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    stbtt_GetGlyphHMetrics(from, index, &advance, &bearing);
    stbtt_GetGlyphBitmapBox(from, index, scale, scale, &x0, &y0, &x1, &y1);
    g.advance = static_cast<float>(advance) * scale;
    if (x1 <= x0 || y1 <= y0 || x1 - x0 > 2 * most_size || y1 - y0 > 2 * most_size) return g;
    double const radius = size * border_share;
    auto const rim = static_cast<std::int32_t>(std::ceil(radius)) + 1;
    g.x = x0 - rim;
    g.y = y0 - rim;
    g.width = x1 - x0 + 2 * rim;
    g.height = y1 - y0 + 2 * rim;
    g.inside.resize(static_cast<std::size_t>(g.width) * static_cast<std::size_t>(g.height));
    auto const begin =
        static_cast<std::size_t>(rim) * static_cast<std::size_t>(g.width) + static_cast<std::size_t>(rim);
    stbtt_MakeGlyphBitmap(from, g.inside.data() + begin, x1 - x0, y1 - y0, g.width, scale, scale, index);
    g.border = spread(g.inside, g.width, g.height, radius);
    return g;
}

template <class Use>
void text_layout::each_glyph(std::string_view text, std::int32_t size, Use const& use) {
    auto const* at = reinterpret_cast<utf8proc_uint8_t const*>(text.data());
    for (auto left = static_cast<utf8proc_ssize_t>(text.size()); left > 0;) {
        utf8proc_int32_t letter = 0;
        utf8proc_ssize_t const used = std::max<utf8proc_ssize_t>(utf8proc_iterate(at, left, &letter), 1);
        // Names have room for so many bytes, and may end within a letter.
        constexpr utf8proc_uint8_t first_of_several = 0xc2;
        if (letter < 0 && left < 4 && *at >= first_of_several) return;
        if (letter < 0) letter = 0xfffd; // bytes that are not UTF-8
        at += used;
        left -= used;
        if (letter < ' ') continue;
        use(find(letter, size));
    }
}

double text_layout::measure(std::string_view text, std::int32_t size) {
    double width = 0;
    if (has_font()) each_glyph(text, size, [&](glyph const& g) { width += double{g.advance}; });
    return width;
}

void text_layout::place(std::string_view text, double x, double y, std::int32_t size, scene::rgba color) {
    std::size_t const begin = placed_.size();
    double pen = 0;
    each_glyph(text, size, [&](glyph const& g) {
        if (g.width > 0) placed_.push_back({&g, static_cast<std::int32_t>(std::lround(pen)) + g.x, g.y, color});
        pen += double{g.advance};
    });
    // In the middle; capitals are about 0.7 of a letter's size high.
    auto const left = static_cast<std::int32_t>(std::lround(x - pen / 2));
    auto const base = static_cast<std::int32_t>(std::lround(y + size * letter_share * 0.35));
    for (std::size_t n = begin; n < placed_.size(); ++n) {
        placed_[n].x += left;
        placed_[n].y += base;
    }
}

void text_layout::place(scene::draw_list const& list, frame const& to) {
    placed_.clear();
    begins_.clear();
    for (scene::draw_command const& what : list.commands()) {
        begins_.push_back(placed_.size());
        if (what.what != scene::draw_command::kind::text || !has_font()) continue;
        double const scale = to.height / double{what.view.height};
        double const x = (double{what.x} - double{what.view.left}) * scale,
                     y = (double{what.y} - double{what.view.top}) * scale;
        double const size = what.size * scale;
        bool const seen = x > -to.width && x < 2.0 * to.width && y > -size && y < to.height + size; // not for NaN
        if (seen && size >= 4)
            place(what.text, x, y, static_cast<std::int32_t>(std::min<double>(std::lround(size), most_size)),
                  what.tint);
    }
    begins_.push_back(placed_.size());
}

void draw_border(placed_glyph const& what, frame& to, std::int32_t first, std::int32_t end) noexcept {
    draw(what.shape->border, what, ((what.color >> 24) * border_opacity / 255) << 24, to, first, end); // black
}

void draw_inside(placed_glyph const& what, frame& to, std::int32_t first, std::int32_t end) noexcept {
    draw(what.shape->inside, what, what.color, to, first, end);
}

} // namespace teewire::replay
