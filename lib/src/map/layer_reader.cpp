#include "map_reader.hpp"
#include "tile_layer_reader.hpp"

#include <array>

namespace teewire::map_detail {

void map_reader::read_groups() {
    std::size_t const layers = file_.find_type(map_item_type::layer).count;
    group_of_.assign(layers, -1);
    each(map_item_type::group, [&](datafile_item const& item, place where) {
        where.group = where.item;
        map_group& group = map_.groups.emplace_back();
        group.raw = copy(item.ints);
        fields const get{group.raw};
        group.version = get(0, 1);
        if (group.version < 1 || group.version > 3)
            from_.report(map_errc::unsupported_group_version, where, group.version, 3);
        long_enough(item.ints, group.version >= 3 ? 15 : group.version == 2 ? 12 : 7, where);
        group.offset_x = get(1, 0);
        group.offset_y = get(2, 0);
        group.parallax_x = get(3, 100);
        group.parallax_y = get(4, 100);
        group.first_layer = get(5, 0);
        group.layer_count = get(6, 0);
        if (group.version >= 2) {
            group.clipping = get(7, 0) != 0;
            group.clip_x = get(8, 0);
            group.clip_y = get(9, 0);
            group.clip_width = get(10, 0);
            group.clip_height = get(11, 0);
        }
        if (group.version >= 3) group.name = read_name(from_, group.raw, 12, 3, map_severity::note, where);
        auto const end = std::int64_t{group.first_layer} + group.layer_count;
        if (group.first_layer < 0 || group.layer_count < 0 || end > static_cast<std::int64_t>(layers)) {
            from_.report(map_errc::bad_group_range, where, end, static_cast<std::int64_t>(layers));
            return;
        }
        for (auto i = static_cast<std::size_t>(group.first_layer); i < static_cast<std::size_t>(end); ++i) {
            if (group_of_[i] >= 0) {
                where.layer = static_cast<std::int32_t>(i);
                from_.report(map_errc::layer_used_twice, where, group_of_[i]);
                break;
            }
            group_of_[i] = where.group;
        }
    });
}

void map_reader::read_layers() {
    each(map_item_type::layer, [&](datafile_item const& item, place where) {
        where.layer = where.item;
        where.group = group_of_[static_cast<std::size_t>(where.item)];
        map_layer& layer = map_.layers.emplace_back();
        layer.raw = copy(item.ints);
        if (!long_enough(item.ints, 3, where)) return;
        layer.flags = item.ints[2];
        switch (item.ints[1]) {
        case map_layer_type::tiles: read_tile_layer(layer, where); break;
        case map_layer_type::quads: read_quads(layer, where); break;
        case map_layer_type::sounds:
        case map_layer_type::deprecated_sounds: read_sources(layer, where); break;
        default: from_.report(map_errc::unknown_layer_type, where, item.ints[1]); break;
        }
    });
}

void map_reader::read_tile_layer(map_layer& layer, place const& where) {
    tile_layer tiles;
    tile_layer_reader reader{from_, where};
    bool const is_game = layer.raw.size() > 6 && layer.raw[6] == static_cast<std::int32_t>(tile_kind::game);
    tried_game_ |= is_game;
    if (!reader.read_attributes(layer.raw, tiles)) return;
    if (tiles.version >= 3) layer.name = read_name(from_, layer.raw, 15, 3, map_severity::error, where);
    if (tiles.image < -1 || tiles.image >= static_cast<std::int32_t>(map_.images.size())) {
        from_.report(map_errc::bad_image_index, where, tiles.image, static_cast<std::int64_t>(map_.images.size()));
    } else if (tiles.image >= 0) {
        map_image const& image = map_.images[static_cast<std::size_t>(tiles.image)];
        if (image.width % 16 != 0 || image.height % 16 != 0)
            from_.report(map_errc::tile_image_size, where, image.width % 16 != 0 ? image.width : image.height, 16);
    }
    check_envelope(tiles.color_envelope, where);
    if (layers_ || tiles.kind != tile_kind::tiles) {
        auto const block = static_cast<std::size_t>(tiles.tiles_block);
        if (tiles.tiles_block >= 0 && block < tiles_.size() && tiles_[block]) {
            from_.report(map_errc::data_used_twice, where, 0, 0, tiles.tiles_block);
        } else {
            if (reader.read_cells(tiles)) mark(tiles.tiles_block);
            if (tiles.tiles_block >= 0 && block < tiles_.size()) tiles_[block] = true;
        }
        if (tile_layer_slot(tiles.kind)) check_zero_block(tiles, where);
    }
    layer.content = std::move(tiles);
}

void map_reader::check_zero_block(tile_layer& tiles, place const& where) {
    auto const size = file_.block_size(tiles.zero_block);
    if (!size || *size < 4 * tiles.cell_count()) {
        from_.report(map_errc::missing_zero_block, where, size ? static_cast<std::int64_t>(*size) : 0,
                     static_cast<std::int64_t>(4 * tiles.cell_count()), tiles.zero_block);
        tiles.has_zeros = has_cells(tiles);
        return;
    }
    if (!whole_) return;
    tiles.has_zeros = *size == 4 * tiles.cell_count() && is_zero(tiles.zero_block, where);
    if (tiles.has_zeros) mark(tiles.zero_block);
}

bool map_reader::is_zero(std::int32_t block, place const& where) {
    std::vector<std::uint8_t> bytes;
    return from_.load(block, bytes, where) &&
           std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
}

void map_reader::read_empty_block(std::int32_t block, std::size_t element, place const& where) {
    auto const size = file_.block_size(block);
    if (whole_ && size && (*size == 0 || (*size == element && is_zero(block, where)))) mark(block);
}

void map_reader::read_quads(map_layer& layer, place const& where) {
    raw_ints const& raw = layer.raw;
    quad_layer quads;
    if (raw.size() > 3) quads.version = raw[3];
    if (!supported(quads.version, where)) return;
    if (!long_enough_raw(raw, quads.version >= 2 ? 10 : 7, where)) return;
    quads.quads_block = raw[5];
    quads.image = raw[6];
    if (quads.version >= 2) layer.name = read_name(from_, raw, 7, 3, map_severity::note, where);
    if (quads.image < -1 || quads.image >= static_cast<std::int32_t>(map_.images.size()))
        from_.report(map_errc::bad_image_index, where, quads.image, static_cast<std::int64_t>(map_.images.size()));
    read_elements(raw[4], quads.quads_block, quads.quads, quads.surplus, quad_ints, read_quad,
                  map_errc::quad_data_too_small, where);
    std::int32_t highest = -1;
    for (map_quad const& q : quads.quads) highest = std::max({highest, q.position_envelope, q.color_envelope});
    check_envelope(highest, where);
    layer.content = std::move(quads);
}

void map_reader::read_sources(map_layer& layer, place const& where) {
    raw_ints const& raw = layer.raw;
    sound_layer sounds;
    if (raw.size() > 3) sounds.version = raw[3];
    if (!supported(sounds.version, where) || !long_enough_raw(raw, 10, where)) return;
    sounds.deprecated = raw[1] == map_layer_type::deprecated_sounds;
    sounds.sources_block = raw[5];
    sounds.sound = raw[6];
    layer.name = read_name(from_, raw, 7, 3, map_severity::note, where);
    if (sounds.sound < -1 || sounds.sound >= static_cast<std::int32_t>(map_.sounds.size()))
        from_.report(map_errc::bad_sound_index, where, sounds.sound, static_cast<std::int64_t>(map_.sounds.size()));
    read_elements(raw[4], sounds.sources_block, sounds.sources, sounds.surplus,
                  sounds.deprecated ? deprecated_source_ints : source_ints,
                  sounds.deprecated ? read_deprecated_source : read_source, map_errc::sound_data_too_small, where);
    std::int32_t highest = -1;
    for (sound_source const& s : sounds.sources)
        highest = std::max({highest, s.position_envelope, s.sound_envelope});
    check_envelope(highest, where);
    layer.content = std::move(sounds);
}

// Real maps have negative numbers for none.
void map_reader::check_envelope(std::int32_t index, place const& where) {
    if (index >= static_cast<std::int32_t>(map_.envelopes.size()))
        from_.report(map_errc::bad_envelope_index, where, index, static_cast<std::int64_t>(map_.envelopes.size()));
}

bool map_reader::supported(std::int32_t version, place const& where) {
    if (version == 1 || version == 2) return true;
    from_.report(map_errc::unsupported_layer_version, map_severity::damage, where, version, 2);
    return false;
}

bool map_reader::long_enough_raw(raw_ints const& raw, std::size_t needed, place const& where) {
    if (raw.size() >= needed) return true;
    from_.report(map_errc::item_too_short, where, static_cast<std::int64_t>(raw.size()),
                 static_cast<std::int64_t>(needed));
    return false;
}

void map_reader::check_layers() {
    tile_layer const* const game = map_.find(tile_kind::game);
    if (game == nullptr) {
        if (!tried_game_) from_.report(map_errc::missing_game_layer, place{map_item_type::layer, -1, 16});
        return;
    }
    std::int32_t game_group = -1;
    std::array<int, 33> seen{};
    datafile_type const all = file_.find_type(map_item_type::layer);
    for (std::size_t i = 0; i < map_.layers.size(); ++i)
        if (map_.layers[i].tiles() == game) game_group = group_of_[i];
    for (std::size_t i = 0; i < map_.layers.size(); ++i) {
        tile_layer const* const tiles = map_.layers[i].tiles();
        if (tiles == nullptr || tiles->kind == tile_kind::tiles) continue;
        place const where{map_item_type::layer, static_cast<std::int32_t>(i), file_.item(all.first + i).position,
                          group_of_[i], static_cast<std::int32_t>(i)};
        auto const kind = static_cast<std::size_t>(tiles->kind);
        if (seen[kind]++ != 0) from_.report(map_errc::duplicate_physics_layer, where);
        if (tiles->cell_count() < game->cell_count())
            from_.report(map_errc::physics_layer_too_small, where, static_cast<std::int64_t>(tiles->cell_count()),
                         static_cast<std::int64_t>(game->cell_count()));
        if (group_of_[i] != game_group)
            from_.report(map_errc::physics_layer_place, where, group_of_[i], game_group);
    }
    if (game_group < 0) return;
    map_group const& group = map_.groups[static_cast<std::size_t>(game_group)];
    if (group.offset_x != 0 || group.offset_y != 0 || group.parallax_x != 100 || group.parallax_y != 100 ||
        group.clipping) {
        std::size_t const first = file_.find_type(map_item_type::group).first;
        from_.report(map_errc::game_group_fields,
                     place{map_item_type::group, game_group,
                           file_.item(first + static_cast<std::size_t>(game_group)).position, game_group});
    }
}

} // namespace teewire::map_detail
