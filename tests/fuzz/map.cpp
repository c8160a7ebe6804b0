// Files of maps: datafiles and the maps in them, maps of xVector, recognised by their first bytes; anything else is
// taken for cells of a tile layer.
#include "map_mutator.hpp"

#include <teewire/map/map.hpp>
#include <teewire/map/xvector.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

using bytes = std::vector<std::uint8_t>;

auto& inflate = fuzz::lasting<inflate_memory>();

// ---- datafiles -----------------------------------------------------------------------------------------------------

void check_items(datafile const& file) {
    std::size_t count = 0;
    for (std::size_t t = 0; t < file.type_count(); ++t) {
        datafile_type const type = file.type(t);
        FUZZ_REQUIRE(type.first == count);
        count += type.count;
        FUZZ_REQUIRE(file.find_type(type.type).count == type.count);
        for (std::size_t i = type.first; i < count; ++i) {
            datafile_item const item = file.item(i);
            FUZZ_REQUIRE(item.type == type.type && item.position < file.bytes().size());
            auto const found = file.find(item.type, item.id);
            FUZZ_REQUIRE(found && found->id == item.id && found->position <= item.position);
        }
        if (auto const name = file.uuid_of(type.type)) FUZZ_REQUIRE(file.type_of(*name).has_value());
    }
    FUZZ_REQUIRE(count == file.item_count());
}

void check_blocks(datafile const& file) {
    for (std::size_t n = 0; n < file.block_count(); ++n) {
        auto const number = static_cast<std::int32_t>(n);
        FUZZ_REQUIRE(file.block(n).position <= file.bytes().size());
        auto const size = file.block_size(number);
        auto const checked = file.check_block(number, inflate);
        if (!size) {
            FUZZ_REQUIRE(!checked);
            continue;
        }
        FUZZ_REQUIRE(*size <= 1032 * file.block(n).stored.size() + 1024);
        exact<std::uint8_t> const out{*size};
        auto const read = file.read_block(number, out.span(), inflate);
        FUZZ_REQUIRE(read.has_value() == checked.has_value());
        if (read) FUZZ_REQUIRE(read->size() == *checked && *checked <= *size);
        else FUZZ_REQUIRE(read.error() == checked.error());
    }
    FUZZ_REQUIRE(!file.block_size(-1) && !file.block_size(static_cast<std::int32_t>(file.block_count())));
}

// Whether the number of its type is that of DDNet's item with tangents.
bool is_of_beziers(game_map const& map, unknown_item const& item) {
    return std::any_of(map.uuid_types.begin(), map.uuid_types.end(),
                       [&](uuid_type const& type) { return type.name == bezier_uuid && type.type == item.type; });
}

// Curves get the item that they lack, unless one that does not fit them was kept.
bool gets_bezier_item(game_map const& map) {
    auto const is_wide = [](map_envelope const& e) { return e.version >= 3; };
    auto const is_curved = [](envelope_point const& p) { return p.curve == envelope_curve::bezier; };
    return !map.bezier_item && std::none_of(map.envelopes.begin(), map.envelopes.end(), is_wide) &&
           std::any_of(map.points.begin(), map.points.end(), is_curved) &&
           std::none_of(map.unknown_items.begin(), map.unknown_items.end(),
                        [&](unknown_item const& item) { return is_of_beziers(map, item); });
}
// Another item of that type with the id of the one that is written first gets another id.
bool has_second_bezier_item(game_map const& map) {
    return map.bezier_item &&
           std::any_of(map.unknown_items.begin(), map.unknown_items.end(),
                       [&](unknown_item const& item) { return item.id == 0 && is_of_beziers(map, item); });
}

// Without corrected values: the sizes of sounds, and ids after the first item of a type of which there is one.
game_map comparable(game_map map) {
    for (map_sound& sound : map.sounds)
        if (!sound.data.empty() && sound.raw.size() > 4)
            sound.raw[4] = static_cast<std::int32_t>(sound.data.size());
    for (unknown_item& item : map.unknown_items)
        if (item.type < map_item_type::image || item.type == map_item_type::envelope_points) item.id = 0;
    return map;
}

// Which may be read as such once the text is written with its end.
bool texts_are_tiles(game_map const& map) {
    std::set<std::int32_t> texts;
    if (map.info)
        texts = {map.info->author.block, map.info->map_version.block, map.info->credits.block,
                 map.info->license.block, map.info->settings_block};
    for (map_image const& image : map.images) texts.insert(image.name.block);
    for (map_sound const& sound : map.sounds) texts.insert(sound.name.block);
    texts.erase(-1);
    return std::any_of(map.layers.begin(), map.layers.end(), [&](map_layer const& layer) {
        return layer.tiles() != nullptr && texts.contains(layer.tiles()->tiles_block);
    });
}

// A map that was read is written, and read the same. Unknown items keep their ids, of which `mode` lets two be the
// same.
void write_again(game_map const& map, int version, decoding mode) {
    bytes out;
    if (map_problem const p = write_map(map, out, {.version = version, .level = 0}); p.code != map_errc::ok) {
        FUZZ_REQUIRE(p.code == map_errc::tile_data_too_small || p.code == map_errc::decompress_failed);
        return;
    }
    auto const file = datafile::open(out, {.mode = mode});
    FUZZ_REQUIRE(file && file->version() == version);
    game_map back;
    bool damaged = false;
    auto watch = [&](map_problem const& p) { damaged = damaged || p.severity != map_severity::note; };
    FUZZ_REQUIRE(read_map(*file, back, {.report = watch}).code == map_errc::ok);
    bytes again;
    FUZZ_REQUIRE(write_map(back, again, {.version = version, .level = 0}).code == map_errc::ok);
    auto const second = datafile::open(again, {.mode = mode});
    FUZZ_REQUIRE(second);
    game_map third;
    FUZZ_REQUIRE(read_map(*second, third).code == map_errc::ok);
    if (gets_bezier_item(back)) return FUZZ_REQUIRE(third.bezier_item && third.points == back.points);
    if (has_second_bezier_item(back))
        return FUZZ_REQUIRE(third.unknown_items.size() == back.unknown_items.size() && third.points == back.points);
    // Unreadable content that shares a block makes the other content move to a block of its own.
    if (damaged || texts_are_tiles(back))
        return FUZZ_REQUIRE(third.layers.size() == back.layers.size() && third.points == back.points);
    FUZZ_REQUIRE(third == back);
    FUZZ_REQUIRE(again == out);
}

void use_map(game_map map, decoding mode) {
    for (map_group const& group : map.groups)
        FUZZ_REQUIRE(map.layers_of(group).size() == std::as_const(map).layers_of(group).size());
    for (uuid_type const& type : map.uuid_types) {
        std::string text{to_text(type.name).data(), 36};
        FUZZ_REQUIRE(uuid::parse(text) == type.name);
        static_cast<void>(name(type.name));
    }
    for (map_layer const& layer : map.layers)
        if (auto const* const tiles = layer.tiles()) FUZZ_REQUIRE(!name(tiles->kind).empty());
    for (map_envelope const& e : map.envelopes) FUZZ_REQUIRE(map.points_of(e).size() <= map.points.size());
    for (map_image const& image : map.images) {
        auto const pixels = rgba_pixels(image);
        FUZZ_REQUIRE(pixels.empty() || pixels.size() == 4 * static_cast<std::size_t>(image.width) *
                                                            static_cast<std::size_t>(image.height));
    }
    auto const physics = physics_of(map);
    if (physics.game != nullptr)
        for (std::int32_t const x : {INT32_MIN, -1, 0, 1, physics.width() - 1, physics.width(), INT32_MAX})
            static_cast<void>(physics.at(x, x));
    for (map_layer& layer : map.layers)
        if (auto* const sounds = layer.sounds()) convert_deprecated_sounds(*sounds);
    convert_to_07(map);
    write_again(map, 4, mode);
    convert_to_06(map);
    write_again(map, 4, mode);
}

void read_datafile(fuzz::bytes_view data) {
    bool inside = true;
    std::size_t problems = 0;
    auto watch = [&](map_problem const& p) {
        ++problems;
        inside = inside && p.position <= data.size() && p.code != map_errc::ok && !describe(p.code).empty() &&
                 !name(p.code).empty() && !name(p.severity).empty();
    };
    datafile_options options;
    options.max_block_bytes = 1 << 20;
    options.report = watch;
    auto const file = datafile::open(data, options);
    FUZZ_REQUIRE(inside);
    options.mode = decoding::strict;
    options.report = {};
    auto const strict_file = datafile::open(data, options);
    if (!file) return FUZZ_REQUIRE(!strict_file && file.error().position <= data.size());
    FUZZ_REQUIRE(file->bytes().size() == data.size() && file->magic().size() == 4);
    FUZZ_REQUIRE(file->item_bytes() + file->data_bytes() < data.size());
    check_items(*file);
    check_blocks(*file);

    constexpr std::size_t max_bytes = 1 << 21;
    game_map map;
    map_problem const problem = read_map(*file, map, {.max_bytes = max_bytes, .report = watch});
    FUZZ_REQUIRE(inside);
    game_map strict;
    map_problem const refused = read_map(*file, strict, {.mode = decoding::strict, .max_bytes = max_bytes});
    if (problem.code != map_errc::ok) return FUZZ_REQUIRE(refused.code != map_errc::ok && map == game_map{});
    if (refused.code == map_errc::ok) FUZZ_REQUIRE(strict == map);
    else FUZZ_REQUIRE(strict == game_map{});
    game_map physics;
    FUZZ_REQUIRE(read_map(*file, physics, {.contents = map_contents::physics, .max_bytes = max_bytes}).code ==
                 map_errc::ok);
    FUZZ_REQUIRE(physics.layers.size() == map.layers.size());
    tile_layer game;
    bool const has_game = read_game_layer(*file, game);
    auto const* const expected = map.find(tile_kind::game);
    if (has_game && expected != nullptr && !expected->tiles.empty()) FUZZ_REQUIRE(game.tiles == expected->tiles);
    decoding const mode = strict_file ? decoding::strict : decoding::lenient;
    write_again(map, 4, mode);
    write_again(map, 3, mode);
    use_map(std::move(map), mode);
    if (strict_file && problems == 0) {
        // Nothing odd in it: what is written reads equal, unless a layer needs a block of its own.
        game_map clean, back;
        FUZZ_REQUIRE(read_map(*strict_file, clean).code == map_errc::ok);
        bytes out;
        FUZZ_REQUIRE(write_map(clean, out).code == map_errc::ok);
        auto const written = datafile::open(out);
        FUZZ_REQUIRE(written && read_map(*written, back).code == map_errc::ok);
        FUZZ_REQUIRE(comparable(back) == comparable(clean) || gets_bezier_item(clean) ||
                     back.block_count > clean.block_count);
    }
}

// ---- xVector -------------------------------------------------------------------------------------------------------

struct read_xvector_map {
    xvector_header header;
    std::vector<xvector_tile> tiles;
    map_problem error;
    bool opened = false;
};

read_xvector_map read_tiles(fuzz::bytes_view data, decoding mode, std::optional<xvector_layout> layout = {}) {
    read_xvector_map r;
    xvector_options options;
    options.mode = mode;
    options.max_cells = 1 << 16;
    options.layout = layout;
    auto reader = xvector_reader::open(data, options);
    if (!reader) {
        r.error = reader.error();
        return r;
    }
    r.opened = true;
    xvector_reader tiles = *reader;
    r.header = tiles.header();
    FUZZ_REQUIRE(r.header.cells() <= options.max_cells);
    for (xvector_tile t; tiles.next(t);) {
        FUZZ_REQUIRE(t.x < r.header.width && t.y < r.header.height && t.z < r.header.depth);
        r.tiles.push_back(t);
    }
    r.error = tiles.error();
    FUZZ_REQUIRE(r.tiles.size() <= tiles.tiles() && tiles.position() <= data.size());

    std::vector<std::uint32_t> sprites(r.header.cells());
    std::vector<std::uint8_t> given(r.header.cells());
    xvector_reader second = *reader;
    FUZZ_REQUIRE(read_xvector_cells(second, sprites, given) == r.error);
    for (auto t = r.tiles.rbegin(); t != r.tiles.rend(); ++t) {
        std::size_t const cell = r.header.cell(t->x, t->y, t->z);
        if (given[cell] == 1) FUZZ_REQUIRE(sprites[cell] == t->sprite);
        FUZZ_REQUIRE(given[cell] != 0);
        given[cell] = 2;
    }
    return r;
}

void read_xvector(fuzz::bytes_view data) {
    auto const strict = read_tiles(data, decoding::strict);
    auto const lenient = read_tiles(data, decoding::lenient);
    FUZZ_REQUIRE(!strict.opened || lenient.opened);
    FUZZ_REQUIRE(strict.error.position <= data.size() && lenient.error.position <= data.size());
    exact<std::uint8_t> const stripped{data.size()};
    auto const size = strip_xvector(data, stripped.span());
    if (size) {
        FUZZ_REQUIRE(*size <= data.size());
        if (!strict.opened) return FUZZ_REQUIRE(strict.error.code == map_errc::too_large); // for this target
        // Senseless flags and a short name can look like the other layout.
        auto const again = read_tiles(stripped.view().first(*size), decoding::strict, strict.header.layout);
        FUZZ_REQUIRE(again.opened && again.error.code == map_errc::ok && again.header.stripped());
        FUZZ_REQUIRE(again.tiles.size() == strict.tiles.size());
    }
    if (!strict.opened) return;
    exact<std::uint8_t> const out{xvector_size(strict.header, strict.tiles.size())};
    exact<std::uint8_t> const cells{static_cast<std::size_t>(strict.header.cells())};
    auto const written = write_xvector(strict.header, strict.tiles, out.span(), cells.span());
    if (!written) {
        FUZZ_REQUIRE(written.error().code == map_errc::duplicate_tile ||
                     written.error().code == map_errc::unsupported_version);
        return;
    }
    FUZZ_REQUIRE(*written == out.view().size());
    auto const back = read_tiles(out.view(), decoding::strict, strict.header.layout);
    FUZZ_REQUIRE(back.opened && back.error.code == map_errc::ok && back.tiles.size() == strict.tiles.size());
    FUZZ_REQUIRE(back.header.layout == strict.header.layout && back.header.name == strict.header.name);
    for (std::size_t i = 0; i < back.tiles.size(); ++i)
        FUZZ_REQUIRE(back.tiles[i].x == strict.tiles[i].x && back.tiles[i].sprite == strict.tiles[i].sprite);
}

// ---- tiles ---------------------------------------------------------------------------------------------------------

void read_cells(fuzz::bytes_view data) {
    exact<tile> const packed{data.size() / 4};
    if (!packed.view().empty()) std::memcpy(packed.span().data(), data.data(), packed.view().size_bytes());
    std::size_t const count = count_tiles(packed.view());
    FUZZ_REQUIRE(count >= packed.view().size() && count <= 256 * packed.view().size());
    std::size_t const missing = data.size() % 4; // of the last run, or of more
    exact<tile> const out{count > missing ? count - missing : 0};
    auto const beyond = expand_tiles(packed.view(), out.span());
    if (beyond) {
        FUZZ_REQUIRE(*beyond <= missing);
        exact<tile> const again{out.view().size()};
        std::size_t const runs = pack_tiles(out.view(), again.span());
        FUZZ_REQUIRE(runs <= packed.view().size());
        exact<tile> const back{out.view().size()};
        auto const same_cells = expand_tiles(again.view().first(runs), back.span());
        FUZZ_REQUIRE(same_cells && *same_cells == 0 &&
                     std::equal(back.view().begin(), back.view().end(), out.view().begin()));
    } else {
        FUZZ_REQUIRE(beyond.error().position <= packed.view().size());
    }
}

// Names in items.
void read_names(fuzz::bytes_view data) {
    std::vector<std::int32_t> ints;
    for (fuzz::input in{data}; !in.empty() && ints.size() < 8;) ints.push_back(in.integer());
    if (ints.empty()) return;
    auto const name = unpack_name(ints);
    if (!name) return;
    std::vector<std::int32_t> again(ints.size());
    pack_name(*name, again);
    FUZZ_REQUIRE(unpack_name(again) == name);
}

void run_target(fuzz::bytes_view data) {
    auto const begins = [&](std::string_view magic) {
        return data.size() >= magic.size() && std::memcmp(data.data(), magic.data(), magic.size()) == 0;
    };
    if (begins("DATA") || begins("ATAD")) return read_datafile(data);
    if (begins({"\x01\x05\x0b\0", 4})) return read_xvector(data);
    FUZZ_REQUIRE(!datafile::open(data) && !xvector_reader::open(data));
    read_cells(data);
    read_names(data);
}

} // namespace

FUZZ_TARGET("map", run_target)
FUZZ_MUTATOR(0, fuzz::mutate_map)
FUZZ_CROSSOVER(0, fuzz::cross_maps)
