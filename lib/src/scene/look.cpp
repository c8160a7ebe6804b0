#include "teewire/scene/pictures.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace teewire::scene {
namespace {

constexpr float least_07 = 61.0F / 255;
constexpr std::int32_t red_06 = 65387, blue_06 = 10223467;

rgba ninja_body() noexcept { return rgba_of(0.25F, 0.25F, 0.3F); }

// The colour of a team in 0.7; of the player's own it has a fifth of the saturation and the lightness.
rgba team_color_07(std::int32_t team, bool custom, std::int32_t own) noexcept {
    std::int32_t const hue = team == 0 ? 0 : 0x9b;
    std::int32_t s = 0xff, l = 0x6b;
    if (custom) {
        s = std::max(160, (4 * s + (own >> 8 & 255)) / 5);
        l = (4 * l + (own & 255)) / 5;
    }
    return game_color(hue << 16 | s << 8 | l, least_07);
}

// The same colour for the same name.
rgba color_of_name(std::string_view name) noexcept {
    if (name == "default" || name == "standard") return rgba_of(0.78F, 0.62F, 0.4F);
    std::uint32_t hash = 2166136261U;
    for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return game_color(static_cast<std::int32_t>(hash >> 24 << 16 | 150 << 8 | 80));
}

look look_06(player const* who, std::int32_t team, bool ninja, picture_source& pictures) noexcept {
    std::string_view const name = who != nullptr && who->known ? who->skin.view() : std::string_view{"default"};
    skin_textures skin = pictures.skin(ninja ? std::string_view{"x_ninja"} : name);
    if (skin.plain == no_texture && !ninja) skin = pictures.skin("default");
    bool const own = skin.plain == no_texture;
    if (own) skin = pictures.own_skin;
    auto const dyed = [&](rgba body, rgba feet) {
        look l;
        l.skin = skin.grey;
        l.body = l.hand = body;
        l.feet = feet;
        return l;
    };
    look plain;
    plain.skin = skin.plain;
    if (ninja) return own ? dyed(ninja_body(), rgba_of(0.2F, 0.2F, 0.25F)) : plain;
    if (team >= 0) {
        rgba const color = game_color(team == 0 ? red_06 : blue_06);
        return dyed(color, color);
    }
    if (who != nullptr && who->custom_color) return dyed(game_color(who->body_color), game_color(who->feet_color));
    if (!own) return plain;
    rgba const color = color_of_name(name);
    return dyed(color, color);
}

look look_07(player const* who, std::int32_t team, bool ninja, picture_source& pictures) noexcept {
    static player const nobody{};
    player const& p = who != nullptr ? *who : nobody;
    auto const number = [](skin_part what) { return static_cast<std::size_t>(what); };
    auto const color = [&](skin_part what) {
        std::size_t const n = number(what);
        if (ninja) return ninja_body();
        if (team >= 0) return team_color_07(team, p.custom_colors[n], p.part_colors[n]);
        return p.custom_colors[n] ? game_color(p.part_colors[n], least_07) : white;
    };
    look l;
    l.skin = pictures.own_skin.grey;
    for (std::size_t n = 0; n < skin_parts; ++n)
        if (p.parts[n].size != 0) l.parts[n] = pictures.part(static_cast<skin_part>(n), p.parts[n].view());
    if (l.is_07()) {
        std::size_t const marking = number(skin_part::marking);
        auto const alpha = static_cast<std::uint32_t>(p.part_colors[marking]) >> 24;
        l.body = color(skin_part::body);
        l.marking =
            faded(color(skin_part::marking), p.custom_colors[marking] ? static_cast<float>(alpha) / 255 : 1.0F);
        l.decoration = color(skin_part::decoration);
        l.hand = color(skin_part::hands);
        l.feet = color(skin_part::feet);
        return l;
    }
    l.parts.fill(no_texture);
    auto const own = [&](skin_part what) {
        std::size_t const n = number(what);
        if (ninja || team >= 0 || p.custom_colors[n]) return color(what);
        return color_of_name(p.parts[n].size != 0 ? p.parts[n].view() : std::string_view{"standard"});
    };
    l.body = own(skin_part::body);
    l.feet = own(skin_part::feet);
    l.hand = own(skin_part::hands);
    return l;
}

} // namespace

rgba game_color(std::int32_t packed, float least) noexcept {
    auto const byte = [&](int shift) {
        return static_cast<float>(static_cast<std::uint32_t>(packed) >> shift & 255) / 255;
    };
    float const h = byte(16) * 6, s = byte(8), l = least + byte(0) * (1 - least);
    float const c = (1 - std::abs(2 * l - 1)) * s;
    float const x = c * (1 - std::abs(std::fmod(h, 2.0F) - 1));
    float const m = l - c / 2;
    switch (static_cast<int>(h)) {
    case 0: return rgba_of(c + m, x + m, m);
    case 1: return rgba_of(x + m, c + m, m);
    case 2: return rgba_of(m, c + m, x + m);
    case 3: return rgba_of(m, x + m, c + m);
    case 4: return rgba_of(x + m, m, c + m);
    default: return rgba_of(c + m, m, x + m);
    }
}

look look_of(player const* who, bool is_07, std::int32_t team, bool ninja, picture_source& pictures) noexcept {
    return is_07 ? look_07(who, team, ninja, pictures) : look_06(who, team, ninja, pictures);
}

// A soft disc, and a ring beside it.
void draw_particles(std::span<std::uint8_t> pixels) noexcept {
    constexpr std::size_t side = particle_side, width = 2 * side;
    assert(pixels.size() == 4 * width * side);
    for (std::size_t y = 0; y < side; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            float const middle = (side - 1) / 2.0F;
            float const r =
                std::hypot(static_cast<float>(x % side) - middle, static_cast<float>(y) - middle) / middle;
            float const a =
                x < side ? std::pow(std::max(0.0F, 1 - r), 0.8F) : std::max(0.0F, 1 - std::abs(r - 0.8F) * 6);
            std::uint8_t* const to = pixels.data() + (y * width + x) * 4;
            std::fill_n(to, 3, std::uint8_t{255});
            to[3] = static_cast<std::uint8_t>(std::lround(a * 255));
        }
}

void make_grey(std::span<std::uint8_t> pixels, std::size_t width, std::size_t height) noexcept {
    assert(pixels.size() == 4 * width * height);
    std::size_t const body_width = width * 3 / 8, body_height = height * 3 / 4;
    std::array<std::size_t, 256> counts{};
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            std::uint8_t* const p = pixels.data() + (y * width + x) * 4;
            auto const grey = static_cast<std::uint8_t>((p[0] + p[1] + p[2]) / 3);
            std::fill_n(p, 3, grey);
            if (x < body_width && y < body_height && p[3] > 128) ++counts[grey];
        }
    std::size_t common = 1;
    for (std::size_t n = 2; n < counts.size(); ++n)
        if (counts[n] > counts[common]) common = n;
    constexpr std::size_t wanted = 192;
    std::array<std::uint8_t, 256> moved{};
    for (std::size_t n = 0; n < moved.size(); ++n)
        moved[n] = static_cast<std::uint8_t>(n <= common ? n * wanted / common
                                                         : (n - common) * (255 - wanted) / (255 - common) + wanted);
    for (std::size_t y = 0; y < body_height; ++y)
        for (std::size_t x = 0; x < body_width; ++x) {
            std::uint8_t* const p = pixels.data() + (y * width + x) * 4;
            std::fill_n(p, 3, moved[p[0]]);
        }
}

} // namespace teewire::scene
