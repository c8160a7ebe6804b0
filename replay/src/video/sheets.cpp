#include "video/sheets.hpp"

#include "base/lent.hpp"
#include "base/stored_file.hpp"
#include "video/bands.hpp"

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
    game = add([this] { return find_or("game.png", own_game); });
    emoticons = add([this] { return find_or("emoticons.png", own_emoticons); });
    particles = add([] { return draw_particles(); });
    own_skin = add_skin([] { return decode_png(own_skin_picture); });
    sheets_.push_back({[] { return decode_png(own_tiles); }, {}});
}

scene::texture picture_sheets::add(source from, std::function<void()> forget) {
    textures_.push_back({std::move(from), std::move(forget)});
    return static_cast<scene::texture>(textures_.size() - 1);
}

scene::skin_textures picture_sheets::add_skin(source const& from, std::function<void()> const& forget) {
    auto const grey = [from]() -> std::optional<picture> {
        auto found = from();
        return found ? std::optional{greyed(*std::move(found))} : std::nullopt;
    };
    return {add(from, forget), add(grey, forget)};
}

bool picture_sheets::is_there(std::string const& path) const {
    return std::any_of(folders_.begin(), folders_.end(), [&](std::string const& folder) {
        auto const file = stored_file::open(folder, path);
        return file && file->size() <= most_picture_bytes;
    });
}

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

// Throws map_problem.
std::optional<picture> read_image(map_document const& document, map_image const& image) {
    if (image.width <= 0 || image.height <= 0) return std::nullopt;
    auto const width = static_cast<std::size_t>(image.width), height = static_cast<std::size_t>(image.height);
    bool const has_alpha = image.variant != 0 || image.version < 2;
    auto const size = document.container->block_size(image.pixels_block);
    if (has_alpha && size && *size == width * height * sizeof(color)) {
        picture made{width, height}; // in place, as most are
        lent<inflate_memory> inflating;
        if (auto const read = document.container->read_block(image.pixels_block, bytes_of(made), *inflating); !read)
            throw read.error();
        return made;
    }
    map_image whole = image;
    whole.pixels = read_block(*document.container, image.pixels_block);
    auto const pixels = rgba_pixels(whole);
    return pixels.empty() ? std::nullopt : std::optional{picture_of(width, height, pixels)};
}

// Nothing if the image is not there. `budget`: bytes of pixels that a map may still have.
picture_sheets::source picture_sheets::map_image(map_document const& document, std::size_t number, bool is_07,
                                                 std::uint64_t& budget) const {
    teewire::map_image const& image = document.map->images[number];
    if (!image.external) {
        auto const size = document.container->block_size(image.pixels_block);
        if (!size || *size == 0 || *size > budget) return {};
        budget -= *size;
        return [&document, &image]() -> std::optional<picture> {
            try {
                return read_image(document, image);
            } catch (map_problem const&) {
                return std::nullopt;
            }
        };
    }
    if (!is_file_name(image.name.text)) return {};
    // Images that are not the same in 0.6 and 0.7: DDNet has both.
    constexpr std::string_view different[] = {"grass_main", "grass_doodads", "generic_unhookable"};
    bool const differs =
        is_07 && std::find(std::begin(different), std::end(different), image.name.text) != std::end(different);
    for (std::string_view const suffix : {"_0.7", ""}) {
        if (!suffix.empty() && !differs) continue;
        auto path = fmt::format("mapres/{}{}.png", image.name.text, suffix);
        if (is_there(path)) return [this, path = std::move(path)] { return find(path); };
    }
    return {};
}

void picture_sheets::take_map(map_document const& document, bool is_07) {
    game_map const& map = *document.map;
    loaded_.map = &map;
    loaded_.sheets.resize(map.images.size());
    std::uint64_t budget = std::uint64_t{1} << 30;
    for (std::size_t n = 0; n < map.images.size(); ++n) {
        source const from = map_image(document, n, is_07, budget);
        auto const forget = [this, n] { images_[n] = scene::no_texture; };
        images_.push_back(from ? add(from, forget) : scene::no_texture);
        sheets_.push_back({from, forget});
    }
}

bool picture_sheets::load(scene::draw_list const& list, workers& team) {
    using kind = scene::draw_command::kind;
    for (scene::draw_command const& what : list.commands()) {
        if (what.what == kind::quads && what.from < textures_.size()) textures_[what.from].wanted = true;
        if (what.what != kind::tiles || loaded_.map == nullptr) continue;
        tile_layer const& layer = *loaded_.map->layers[what.first].tiles();
        std::size_t const number = layer.kind != tile_kind::tiles ? 0 : static_cast<std::size_t>(layer.image + 1);
        if ((layer.image >= 0 || number == 0) && number < sheets_.size()) sheets_[number].wanted = true;
    }
    std::vector<std::function<void()>> work;
    auto const find_work = [&](auto& pictures) {
        for (auto& one : pictures)
            if (one.wanted && one.from)
                work.push_back([&one] {
                    using made_type = typename std::remove_reference_t<decltype(one.made)>::element_type;
                    if (auto const found = one.from()) one.made = std::make_unique<made_type>(*found);
                });
    };
    find_work(textures_);
    find_work(sheets_);
    if (work.empty()) return true;
    for_each_of(work.size(), team, [&](std::size_t n) { work[n](); });
    bool complete = true;
    auto const take = [&](auto& pictures) {
        for (auto& one : pictures) {
            if (!one.wanted || !one.from) continue;
            one.from = {};
            if (one.made) continue;
            complete = false;
            one.forget();
        }
    };
    take(textures_);
    take(sheets_);
    loaded_.textures.clear();
    for (auto const& one : textures_) loaded_.textures.push_back(one.made.get());
    loaded_.physics = sheets_[0].made.get();
    for (std::size_t n = 1; n < sheets_.size(); ++n) loaded_.sheets[n - 1] = sheets_[n].made.get();
    return complete;
}

scene::skin_textures picture_sheets::skin(std::string_view name) noexcept {
    if (auto const known = skins_.find(name); known != skins_.end()) return known->second;
    scene::skin_textures made;
    if (is_file_name(name))
        for (char const* const folder : {"skins", "downloadedskins"}) {
            auto path = fmt::format("{}/{}.png", folder, name);
            if (!is_there(path)) continue;
            made = add_skin([this, path = std::move(path)] { return find(path); },
                            [this, its_name = std::string{name}] { skins_[its_name] = {}; });
            break;
        }
    return skins_.emplace(name, made).first->second;
}

scene::texture picture_sheets::part(scene::skin_part what, std::string_view name) noexcept {
    std::string path = fmt::format("skins/{}/{}.png", folder_of(what), name);
    if (auto const known = parts_.find(path); known != parts_.end()) return known->second;
    scene::texture made = scene::no_texture;
    if (is_file_name(name) && is_there(path))
        made = add([this, path] { return find(path); }, [this, path] { parts_[path] = scene::no_texture; });
    return parts_.emplace(std::move(path), made).first->second;
}

} // namespace teewire::replay
