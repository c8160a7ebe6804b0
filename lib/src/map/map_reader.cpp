#include "map_reader.hpp"
#include "tile_layer_reader.hpp"

namespace teewire {

namespace map_detail {

map_problem map_reader::read() {
    map_problem const problem = read_version();
    if (problem.code != map_errc::ok) return problem;
    map_.block_count = static_cast<std::int32_t>(file_.block_count());
    read_uuids();
    read_info();
    read_images();
    read_envelopes();
    read_groups();
    read_sounds();
    read_layers();
    check_layers();
    read_auto_mappers();
    read_unknown();
    if (whole_) keep_blocks();
    return strict_ ? from_.first_error() : map_problem{};
}

bool map_reader::long_enough(item_ints ints, std::size_t needed, place const& where, map_severity severity) {
    if (ints.size() >= needed) return true;
    from_.report(map_errc::item_too_short, severity, where, static_cast<std::int64_t>(ints.size()),
                 static_cast<std::int64_t>(needed));
    return false;
}

void map_reader::mark(std::int32_t block) {
    if (block >= 0 && static_cast<std::size_t>(block) < used_.size()) used_[static_cast<std::size_t>(block)] = true;
}

map_problem map_reader::read_version() {
    datafile_type const all = file_.find_type(map_item_type::version);
    place where{map_item_type::version, 0, 16};
    if (all.count == 0) {
        from_.report(map_errc::missing_version, where);
        return from_.first_error();
    }
    datafile_item const item = file_.item(all.first);
    where.position = item.position;
    if (!long_enough(item.ints, 1, where)) return from_.first_error();
    if (item.ints[0] != 1) from_.report(map_errc::unsupported_map_version, where, item.ints[0], 1);
    return from_.first_error();
}

void map_reader::read_uuids() {
    std::vector<bool> seen(0x10000);
    each(uuid_index_type, [&](datafile_item const& item, place const& where) {
        if (item.ints.size() < 4) {
            from_.report(map_errc::short_uuid_index, where, static_cast<std::int64_t>(item.ints.size()), 4);
        } else if (seen[item.id]) {
            from_.report(map_errc::duplicate_uuid_index, where, item.id);
        } else if (item.id > 0x8000 && item.id != uuid_index_type) {
            map_.uuid_types.push_back({item.id, read_uuid(item.ints)});
        }
        seen[item.id] = true;
    });
    names_ = map_.uuid_types;
    std::sort(names_.begin(), names_.end(), [](auto const& a, auto const& b) { return a.type < b.type; });
}

std::optional<uuid> map_reader::name_of(std::uint16_t type) const {
    auto const found = std::lower_bound(names_.begin(), names_.end(), type,
                                        [](uuid_type const& known, std::uint16_t t) { return known.type < t; });
    if (found == names_.end() || found->type != type) return {};
    return found->name;
}

map_text map_reader::read_text(std::int32_t block, std::size_t most, place const& where) {
    map_text text{{}, block};
    if (block == -1) return text;
    std::vector<std::uint8_t> bytes;
    if (!from_.load(block, bytes, where)) return text;
    auto const end = std::find(bytes.begin(), bytes.end(), std::uint8_t{0});
    std::string found{bytes.begin(), end};
    if (bytes.empty() || end + 1 != bytes.end() || !is_utf8(found)) {
        from_.report(map_errc::bad_text, where, static_cast<std::int64_t>(bytes.size()), 0, block);
        return text;
    }
    if (found.size() > most)
        from_.report(map_errc::text_too_long, where, static_cast<std::int64_t>(found.size()),
                     static_cast<std::int64_t>(most), block);
    text.text = std::move(found);
    mark(block);
    return text;
}

void map_reader::read_info() {
    datafile_type const all = file_.find_type(map_item_type::info);
    if (all.count == 0) return;
    datafile_item const item = file_.item(all.first);
    place const where{map_item_type::info, 0, item.position};
    map_info& info = map_.info.emplace();
    info.raw = copy(item.ints);
    long_enough(item.ints, 5, where);
    fields const get{info.raw};
    info.version = get(0, 1);
    info.author = read_text(get(1, -1), 31, where);
    info.map_version = read_text(get(2, -1), 15, where);
    info.credits = read_text(get(3, -1), 127, where);
    info.license = read_text(get(4, -1), 31, where);
    if (info.version == 1) read_settings(get(5, -1), info, where);
}

void map_reader::read_settings(std::int32_t block, map_info& info, place const& where) {
    info.settings_block = block;
    std::vector<std::uint8_t> bytes;
    if (block == -1 || !from_.load(block, bytes, where) || bytes.empty()) return;
    // Strings take more than the bytes that end them.
    auto const count = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), std::uint8_t{0}));
    if (!from_.spend(count * sizeof(std::string), block, where, map_severity::damage)) return;
    mark(block);
    if (bytes.back() != 0) {
        from_.report(map_errc::settings_not_terminated, where, bytes.back(), 0, block);
        bytes.push_back(0);
    }
    for (auto at = bytes.begin(); at != bytes.end();) {
        auto const end = std::find(at, bytes.end(), std::uint8_t{0});
        info.settings.emplace_back(at, end);
        at = end + 1;
    }
}

void map_reader::read_images() {
    each(map_item_type::image, [&](datafile_item const& item, place const& where) {
        map_image& image = map_.images.emplace_back();
        image.raw = copy(item.ints);
        constexpr std::size_t most = 64; // that the games load
        if (map_.images.size() == most + 1)
            from_.report(map_errc::too_many_images, where, file_.find_type(map_item_type::image).count, most);
        fields const get{image.raw};
        image.version = get(0, 1);
        long_enough(item.ints, image.version >= 2 ? 7 : 6, where);
        image.width = get(1, 0);
        image.height = get(2, 0);
        image.external = get(3, 1) != 0;
        image.name = read_text(get(4, -1), 127, where);
        image.pixels_block = get(5, -1);
        if (image.version >= 2) image.variant = get(6, 1);
        if (image.name.text.find_first_of("/\\") != std::string::npos)
            from_.report(map_errc::unsafe_image_name, where);
        if (image.external && image.name.text.empty()) from_.report(map_errc::missing_image_name, where);
        if (!image.external && whole_) read_pixels(image, where);
    });
}

void map_reader::read_pixels(map_image& image, place const& where) {
    auto const size = file_.block_size(image.pixels_block);
    if (size) {
        auto const area = image.width > 0 && image.height > 0
                              ? static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height)
                              : 0;
        if (image.variant != 1 && (image.variant != 0 || area == 0 || *size != area * 3)) {
            from_.report(map_errc::unsupported_image_variant, where, image.variant, 1, image.pixels_block);
            return;
        }
        if (area == 0 || (image.variant == 1 && *size < area * 4)) {
            from_.report(map_errc::image_data_too_small, where, static_cast<std::int64_t>(*size),
                         static_cast<std::int64_t>(area * 4), image.pixels_block);
            return;
        }
    }
    if (from_.load(image.pixels_block, image.pixels, where)) mark(image.pixels_block);
}

void map_reader::read_envelopes() {
    bool wide = false; // one envelope of version 3 makes all points wide
    each(map_item_type::envelope, [&](datafile_item const& item, place const& where) {
        map_envelope& envelope = map_.envelopes.emplace_back();
        envelope.raw = copy(item.ints);
        fields const get{envelope.raw};
        envelope.version = get(0, 1);
        long_enough(item.ints, envelope.version >= 2 ? 13 : 4, where);
        wide |= envelope.version >= 3;
        envelope.channels = get(1, 4);
        envelope.first_point = get(2, 0);
        envelope.point_count = get(3, 0);
        if (envelope.channels != 1 && envelope.channels != 3 && envelope.channels != 4)
            from_.report(map_errc::bad_envelope_channels, where, envelope.channels, 4);
        // The oldest ones have a number there, -1, and end with it.
        if (get(4, -1) != -1) {
            if (envelope.version < 2) long_enough(item.ints, 12, where, map_severity::note);
            envelope.name = read_name(from_, envelope.raw, 4, 8, map_severity::note, where);
        }
        if (envelope.version >= 2) envelope.synchronized = get(12, 1) != 0;
    });
    read_points(wide);
    read_bezier_item(wide);
    check_points();
}

void map_reader::read_points(bool wide) {
    datafile_type const all = file_.find_type(map_item_type::envelope_points);
    if (all.count == 0) return;
    datafile_item const item = file_.item(all.first);
    place const where{map_item_type::envelope_points, 0, item.position};
    std::size_t const stride = wide ? wide_point_ints : point_ints;
    map_.points.resize(item.ints.size() / stride);
    for (std::size_t p = 0; p < map_.points.size(); ++p) {
        read_point(map_.points[p], [&](std::size_t i) { return item.ints[p * stride + i]; });
        if (wide)
            read_tangents(map_.points[p], [&](std::size_t i) { return item.ints[p * stride + point_ints + i]; });
    }
    for (std::size_t i = map_.points.size() * stride; i < item.ints.size(); ++i)
        map_.surplus_points.push_back(item.ints[i]);
    if (!map_.surplus_points.empty())
        from_.report(map_errc::bad_envelope_points, where, static_cast<std::int64_t>(item.ints.size()),
                     static_cast<std::int64_t>(map_.points.size() * stride));
    auto const odd = std::find_if(map_.points.begin(), map_.points.end(), [](envelope_point const& p) {
        return p.curve < envelope_curve::step || p.curve > envelope_curve::bezier;
    });
    if (odd != map_.points.end()) from_.report(map_errc::bad_curve_type, where, odd->curve, 1);
}

void map_reader::read_bezier_item(bool wide) {
    beziers_ = file_.type_of(bezier_uuid);
    if (!beziers_) return;
    datafile_type const beziers = file_.find_type(*beziers_);
    if (beziers.count == 0) return;
    datafile_item const bezier = file_.item(beziers.first);
    if (wide || bezier.ints.size() != map_.points.size() * tangent_ints) {
        from_.report(map_errc::bezier_count, place{bezier.type, 0, bezier.position},
                     static_cast<std::int64_t>(bezier.ints.size()),
                     static_cast<std::int64_t>(map_.points.size() * tangent_ints));
        return;
    }
    map_.bezier_item = true;
    for (std::size_t p = 0; p < map_.points.size(); ++p)
        read_tangents(map_.points[p], [&](std::size_t i) { return bezier.ints[p * tangent_ints + i]; });
}

void map_reader::check_points() {
    // For each point, the next one that comes before its own predecessor: envelopes may share their points.
    std::vector<std::size_t> backward(map_.points.size(), map_.points.size());
    for (std::size_t i = backward.size(); i-- > 1;)
        backward[i - 1] = map_.points[i].time < map_.points[i - 1].time ? i : backward[i];
    each(map_item_type::envelope, [&](datafile_item const&, place const& where) {
        map_envelope const& envelope = map_.envelopes[static_cast<std::size_t>(where.item)];
        auto const points = map_.points_of(envelope);
        if (envelope.point_count < 0 || points.size() != static_cast<std::size_t>(envelope.point_count))
            from_.report(map_errc::bad_envelope_points, where, envelope.point_count,
                         static_cast<std::int64_t>(points.size()));
        else if (!points.empty()) {
            auto const first = static_cast<std::size_t>(envelope.first_point);
            if (backward[first] < first + points.size())
                from_.report(map_errc::point_order, where, map_.points[backward[first]].time,
                             map_.points[backward[first] - 1].time);
        }
    });
}

void map_reader::read_sounds() {
    each(map_item_type::sound, [&](datafile_item const& item, place const& where) {
        map_sound& sound = map_.sounds.emplace_back();
        sound.raw = copy(item.ints);
        long_enough(item.ints, 5, where, map_severity::damage);
        fields const get{sound.raw};
        sound.version = get(0, 1);
        sound.external = get(1, 1) != 0;
        sound.name = read_text(get(2, -1), 127, where);
        sound.data_block = get(3, -1);
        if (!sound.external && whole_ && from_.load(sound.data_block, sound.data, where)) mark(sound.data_block);
    });
}

void map_reader::read_auto_mappers() {
    auto_mappers_ = file_.type_of(auto_mapper_uuid);
    if (!auto_mappers_) return;
    each(*auto_mappers_, [&](datafile_item const& item, place where) {
        auto_mapper& mapper = map_.auto_mappers.emplace_back();
        mapper.raw = copy(item.ints);
        bool const whole = long_enough(item.ints, 6, where, map_severity::damage);
        fields const get{mapper.raw};
        mapper.version = get(0, 1);
        mapper.group = get(1, 0);
        mapper.layer = get(2, 0);
        mapper.configuration = get(3, -1);
        mapper.seed = get(4, 0);
        mapper.flags = get(5, 0);
        if (!whole || (mapper.version == 1 && is_mapped(mapper))) return;
        where.group = mapper.group;
        from_.report(map_errc::bad_auto_mapper, where, mapper.version != 1 ? mapper.version : mapper.layer, 1);
    });
}

bool map_reader::is_mapped(auto_mapper const& mapper) const {
    if (mapper.group < 0 || static_cast<std::size_t>(mapper.group) >= map_.groups.size()) return false;
    auto const layers = map_.layers_of(map_.groups[static_cast<std::size_t>(mapper.group)]);
    if (mapper.layer < 0 || static_cast<std::size_t>(mapper.layer) >= layers.size()) return false;
    tile_layer const* const tiles = layers[static_cast<std::size_t>(mapper.layer)].tiles();
    return tiles != nullptr && tiles->kind == tile_kind::tiles;
}

void map_reader::keep_items(datafile_type type, std::size_t from) {
    each(
        type,
        [&](datafile_item const& item, place const&) {
            map_.unknown_items.push_back({item.type, item.id, copy(item.ints)});
        },
        from);
}

void map_reader::read_unknown() {
    for (std::size_t t = 0; t < file_.type_count(); ++t) {
        datafile_type const type = file_.type(t);
        switch (type.type) {
        case map_item_type::image:
        case map_item_type::envelope:
        case map_item_type::group:
        case map_item_type::layer:
        case map_item_type::sound:
        case uuid_index_type: continue;
        case map_item_type::version: // there is one, or there should be
        case map_item_type::info:
        case map_item_type::envelope_points: keep_items(type, 1); continue;
        default: break;
        }
        if (type.type == auto_mappers_) continue;
        if (type.type == beziers_ && map_.bezier_item) {
            keep_items(type, 1);
            continue;
        }
        place const where{type.type, 0, file_.item(type.first).position};
        auto const name = name_of(type.type);
        if (!name) from_.report(map_errc::unknown_item_type, where, type.count);
        else if (teewire::name(*name).empty()) from_.report(map_errc::unknown_uuid, where, type.count);
        keep_items(type, 0);
    }
}

void map_reader::keep_blocks() {
    for (std::size_t i = 0; i < used_.size(); ++i) {
        if (used_[i]) continue;
        kept_block& kept = map_.kept_blocks.emplace_back();
        kept.block = static_cast<std::int32_t>(i);
        datafile_block const block = file_.block(i);
        place const where{-1, -1, block.position};
        if (block.size != 0 && from_.load(kept.block, kept.bytes, where)) continue;
        kept.bytes.assign(block.stored.begin(), block.stored.end());
        kept.stored = file_.version() == 4;
        kept.stated_size = static_cast<std::uint32_t>(block.size);
    }
}

} // namespace map_detail

using namespace map_detail;

map_problem read_map(datafile const& file, game_map& out, map_read_options const& options) {
    out = {};
    map_problem const problem = map_reader{file, out, options}.read();
    if (problem.code != map_errc::ok) out = {};
    return problem;
}

bool read_game_layer(datafile const& file, tile_layer& out, map_report report) {
    out = {};
    datafile_type const layers = file.find_type(map_item_type::layer);
    for (std::size_t i = layers.count; i-- > 0;) {
        datafile_item const item = file.item(layers.first + i);
        if (item.ints.size() < 7 || item.ints[1] != map_layer_type::tiles ||
            item.ints[6] != static_cast<std::int32_t>(tile_kind::game))
            continue;
        auto const number = static_cast<std::int32_t>(i);
        loader from{file, {.report = report}};
        tile_layer_reader reader{from, place{map_item_type::layer, number, item.position, -1, number}};
        return reader.read_attributes(copy(item.ints), out) && reader.read_cells(out);
    }
    return false;
}

} // namespace teewire
