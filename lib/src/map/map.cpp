#include "item_layout.hpp"

#include "teewire/map/map.hpp"

#include <algorithm>
#include <bitset>
#include <set>

namespace teewire {

std::string_view name(uuid const& type) noexcept {
    if (type == auto_mapper_uuid) return "mapitemtype-automapper-config@ddnet.tw";
    if (type == bezier_uuid) return "mapitemtype-envpoints-bezier@ddnet.tw";
    if (type == group_extension_uuid) return "mapitemtype-group@ddnet.tw";
    if (type == test_uuid) return "mapitemtype-test@ddnet.tw";
    return {};
}

std::string_view name(tile_kind kind) noexcept {
    switch (kind) {
    case tile_kind::tiles: return "tiles";
    case tile_kind::game: return "game";
    case tile_kind::tele: return "tele";
    case tile_kind::speedup: return "speedup";
    case tile_kind::front: return "front";
    case tile_kind::switches: return "switch";
    case tile_kind::tune: return "tune";
    }
    return "tiles";
}

// ---- parts of a map ------------------------------------------------------------------------------------------------

namespace {

// As much of the range as there is.
template <class Element>
std::span<Element> part(std::span<Element> all, std::int32_t first, std::int32_t count) noexcept {
    if (first < 0 || count < 0 || static_cast<std::size_t>(first) > all.size()) return {};
    auto const rest = all.subspan(static_cast<std::size_t>(first));
    return rest.first(std::min(rest.size(), static_cast<std::size_t>(count)));
}

} // namespace

std::span<map_layer const> game_map::layers_of(map_group const& group) const noexcept {
    return part(std::span{layers}, group.first_layer, group.layer_count);
}
std::span<map_layer> game_map::layers_of(map_group const& group) noexcept {
    return part(std::span{layers}, group.first_layer, group.layer_count);
}
std::span<envelope_point const> game_map::points_of(map_envelope const& envelope) const noexcept {
    return part(std::span{points}, envelope.first_point, envelope.point_count);
}

tile_layer const* game_map::find(tile_kind kind) const noexcept {
    for (std::size_t i = layers.size(); i-- > 0;) {
        tile_layer const* const tiles = layers[i].tiles();
        if (tiles != nullptr && tiles->kind == kind) return tiles;
    }
    return nullptr;
}
tile_layer* game_map::find(tile_kind kind) noexcept {
    return const_cast<tile_layer*>(static_cast<game_map const&>(*this).find(kind));
}

// ---- convenience ---------------------------------------------------------------------------------------------------

physics_layers physics_of(game_map const& map) noexcept {
    physics_layers found;
    found.game = map.find(tile_kind::game);
    if (found.game == nullptr || found.game->tiles.empty()) return {};
    std::size_t const cells = found.game->cell_count();
    // A layer of other dimensions than the game layer's is read by the number of the cell, as in DDNet.
    auto const find = [&](tile_kind kind, auto tile_layer::*list) {
        tile_layer const* const layer = map.find(kind);
        return layer != nullptr && (layer->*list).size() >= cells ? layer : nullptr;
    };
    found.front = find(tile_kind::front, &tile_layer::tiles);
    found.tele = find(tile_kind::tele, &tile_layer::tele);
    found.speedup = find(tile_kind::speedup, &tile_layer::speedup);
    found.switches = find(tile_kind::switches, &tile_layer::switches);
    found.tune = find(tile_kind::tune, &tile_layer::tune);
    return found;
}

physics_cell physics_layers::at(std::int32_t x, std::int32_t y) const noexcept {
    assert(game != nullptr);
    x = std::clamp(x, 0, width() - 1);
    y = std::clamp(y, 0, height() - 1);
    std::size_t const cell =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(width()) + static_cast<std::size_t>(x);
    physics_cell all;
    all.game = game->tiles[cell];
    if (front != nullptr) all.front = front->tiles[cell];
    if (tele != nullptr) all.tele = tele->tele[cell];
    if (speedup != nullptr) all.speedup = speedup->speedup[cell];
    if (switches != nullptr) all.switches = switches->switches[cell];
    if (tune != nullptr) all.tune = tune->tune[cell];
    return all;
}

std::vector<std::uint8_t> rgba_pixels(map_image const& image) {
    if (image.width <= 0 || image.height <= 0) return {};
    std::uint64_t const area = static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height);
    if (image.variant == 0 && image.version >= 2) {
        if (image.pixels.size() / 3 < area) return {};
        std::vector<std::uint8_t> rgba(static_cast<std::size_t>(4 * area), 255);
        for (std::size_t i = 0; i < area; ++i) std::copy_n(&image.pixels[3 * i], 3, &rgba[4 * i]);
        return rgba;
    }
    if (image.pixels.size() / 4 < area) return {};
    return {image.pixels.begin(), image.pixels.begin() + static_cast<std::ptrdiff_t>(4 * area)};
}

void convert_deprecated_sounds(sound_layer& layer) noexcept { layer.deprecated = false; }

// ---- between 0.6 and 0.7 -------------------------------------------------------------------------------------------

namespace {

// Any number of types may have the name.
void erase_items_of(game_map& map, uuid const& name) {
    std::bitset<65536> named;
    for (uuid_type const& type : map.uuid_types)
        if (type.name == name) named.set(type.type);
    std::erase_if(map.unknown_items, [&](unknown_item const& item) { return named[item.type]; });
}

bool has_curves(game_map const& map) noexcept {
    return std::any_of(map.points.begin(), map.points.end(),
                       [](envelope_point const& p) { return p.curve == envelope_curve::bezier; });
}

// Ordinary tiles and the game layer. Unreadable cells are kept in the block unchanged, and so is the form in which it
// is to be read, unless it is that of another layer.
void set_packed(game_map& map, bool packed) {
    std::set<std::int32_t> readable;
    for (map_layer const& layer : map.layers)
        if (auto const* const tiles = layer.tiles(); tiles != nullptr && !tiles->tiles.empty())
            readable.insert(tiles->tiles_block);
    std::set<std::int32_t> changed;
    for (map_layer& layer : map.layers) {
        tile_layer* const tiles = layer.tiles();
        if (tiles == nullptr || (tiles->kind != tile_kind::tiles && tiles->kind != tile_kind::game)) continue;
        if (tiles->tiles.empty() && !readable.contains(tiles->tiles_block)) continue;
        if ((tiles->version == 4) == packed) continue;
        tiles->version = packed ? 4 : 3;
        if (packed) tiles->surplus = {}; // would be tiles too many
        changed.insert(tiles->tiles_block);
    }
    // A layer that showed these to programs that do not know its kind, and would misread them now, shows empty ones.
    for (map_layer& layer : map.layers) {
        tile_layer* const tiles = layer.tiles();
        if (tiles == nullptr || tiles->has_zeros || !changed.contains(tiles->zero_block)) continue;
        if (!map_detail::has_cells(*tiles)) continue;
        tiles->zero_block = -1;
        tiles->has_zeros = true;
    }
}

} // namespace

void convert_to_07(game_map& map) {
    for (map_image& image : map.images) {
        if (image.version < 2) image.variant = 1;
        image.version = 2;
    }
    if (map.bezier_item || has_curves(map)) {
        for (map_envelope& envelope : map.envelopes) envelope.version = 3;
        map.bezier_item = false;
    }
    set_packed(map, true);
}

void convert_to_06(game_map& map) {
    for (map_image& image : map.images) {
        // Unreadable pixels are kept in the block unchanged, and so are the fields that say how to read them.
        if (image.version >= 2 && image.variant != 1 && !image.external && image.pixels.empty()) continue;
        if (image.version >= 2 && image.variant == 0 && !image.pixels.empty()) image.pixels = rgba_pixels(image);
        image.version = 1;
        image.variant = 1;
    }
    auto const is_wide = [](map_envelope const& e) { return e.version >= 3; };
    if (std::any_of(map.envelopes.begin(), map.envelopes.end(), is_wide)) {
        for (map_envelope& envelope : map.envelopes) envelope.version = std::min(envelope.version, 2);
        map.bezier_item = has_curves(map);
        erase_items_of(map, bezier_uuid); // ignored next to points of 0.7, but not now
        if (!map.bezier_item)             // without curves DDNet has no place for tangents, which mean nothing then
            for (envelope_point& p : map.points) p.in_dx = p.in_dy = p.out_dx = p.out_dy = {};
    }
    set_packed(map, false);
}

} // namespace teewire
