#include "video/sheets.hpp"

#include "base/stored_file.hpp"

#include <teewire/map/map.hpp>

#include <own_emoticons.hpp> // generated
#include <own_game.hpp>      // generated
#include <own_skin.hpp>      // generated
#include <own_tiles.hpp>     // generated

#include <fmt/format.h>

#include <algorithm>

namespace teewire::replay {
namespace {

constexpr std::uint64_t most_picture_bytes = 64 << 20;

std::span<std::uint8_t> bytes_of(picture& p) {
    static_assert(sizeof(color) == 4);
    return {reinterpret_cast<std::uint8_t*>(p.pixels.data()), p.pixels.size() * sizeof(color)};
}

picture greyed(picture from) {
    scene::make_grey(bytes_of(from), from.width, from.height);
    return from;
}

picture draw_particles() {
    picture p{2 * scene::particle_side, scene::particle_side};
    scene::draw_particles(bytes_of(p));
    return p;
}

std::string_view folder_of(scene::skin_part what) {
    using enum scene::skin_part;
    switch (what) {
    case body: return "body";
    case marking: return "marking";
    case decoration: return "decoration";
    case hands: return "hands";
    case feet: return "feet";
    case eyes: break;
    }
    return "eyes";
}

bool is_file_name(std::string_view name) {
    return !name.empty() && name.find_first_of("/\\") == std::string_view::npos &&
           name.find('\0') == std::string_view::npos;
}

} // namespace

picture_sheets::picture_sheets(std::vector<std::string> folders) : folders_{std::move(folders)} {
    game = add(find_or("game.png", own_game));
    emoticons = add(find_or("emoticons.png", own_emoticons));
    particles = add(draw_particles());
    own_skin = add_skin(decode_png(own_skin_picture));
    loaded_.physics = &sheets_.emplace_back(decode_png(own_tiles));
}

scene::texture picture_sheets::add(picture const& p) {
    loaded_.textures.emplace_back(p);
    return static_cast<scene::texture>(loaded_.textures.size() - 1);
}

scene::skin_textures picture_sheets::add_skin(picture const& p) { return {add(p), add(greyed(p))}; }

std::optional<picture> picture_sheets::find(std::string const& path) const {
    for (std::string const& folder : folders_) {
        auto const file = stored_file::open(folder, path);
        if (!file || file->size() > most_picture_bytes) continue;
        try {
            return decode_png(file->read_all());
        } catch (std::runtime_error const&) { // another folder may have one that can be read
        }
    }
    return std::nullopt;
}

picture picture_sheets::find_or(std::string const& path, std::span<unsigned char const> own) const {
    auto found = find(path);
    return found ? *std::move(found) : decode_png(own);
}

std::optional<picture> picture_sheets::map_image(teewire::map_image const& image, bool is_07) const {
    if (!image.external) {
        auto const pixels = rgba_pixels(image);
        if (pixels.empty()) return std::nullopt;
        return picture_of(static_cast<std::size_t>(image.width), static_cast<std::size_t>(image.height), pixels);
    }
    if (!is_file_name(image.name.text)) return std::nullopt;
    // Images that are not the same in 0.6 and 0.7: DDNet has both.
    constexpr std::string_view different[] = {"grass_main", "grass_doodads", "generic_unhookable"};
    if (is_07 && std::find(std::begin(different), std::end(different), image.name.text) != std::end(different))
        if (auto found = find(fmt::format("mapres/{}_0.7.png", image.name.text))) return found;
    return find(fmt::format("mapres/{}.png", image.name.text));
}

void picture_sheets::take_map(game_map const& map, bool is_07) {
    loaded_.map = &map;
    std::vector<bool> tiled(map.images.size());
    for (map_layer const& layer : map.layers)
        if (tile_layer const* const tiles = layer.tiles();
            tiles != nullptr && tiles->image >= 0 && static_cast<std::size_t>(tiles->image) < tiled.size())
            tiled[static_cast<std::size_t>(tiles->image)] = true;
    std::vector<bool> quads(map.images.size());
    for (map_layer const& layer : map.layers)
        if (quad_layer const* const some = layer.quads();
            some != nullptr && some->image >= 0 && static_cast<std::size_t>(some->image) < quads.size())
            quads[static_cast<std::size_t>(some->image)] = true;
    for (std::size_t n = 0; n < map.images.size(); ++n) {
        auto const found = tiled[n] || quads[n] ? map_image(map.images[n], is_07) : std::nullopt;
        loaded_.sheets.push_back(found && tiled[n] ? &sheets_.emplace_back(*found) : nullptr);
        if (!found) images_.push_back(scene::no_texture);
        else if (quads[n]) images_.push_back(add(*found));
        else images_.push_back(own_skin.plain); // only tiles use it
    }
}

scene::skin_textures picture_sheets::skin(std::string_view name) noexcept {
    if (auto const known = skins_.find(name); known != skins_.end()) return known->second;
    scene::skin_textures made;
    if (is_file_name(name))
        for (char const* const folder : {"skins", "downloadedskins"})
            if (auto const found = find(fmt::format("{}/{}.png", folder, name))) {
                made = add_skin(*found);
                break;
            }
    return skins_.emplace(name, made).first->second;
}

scene::texture picture_sheets::part(scene::skin_part what, std::string_view name) noexcept {
    std::string path = fmt::format("skins/{}/{}.png", folder_of(what), name);
    if (auto const known = parts_.find(path); known != parts_.end()) return known->second;
    scene::texture made = scene::no_texture;
    if (is_file_name(name))
        if (auto const found = find(path)) made = add(*found);
    return parts_.emplace(std::move(path), made).first->second;
}

} // namespace teewire::replay
