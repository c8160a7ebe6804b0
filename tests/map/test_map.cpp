#include "maps.hpp"

#include "teewire/map/map.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

using namespace teewire;
using test::bytes;
using test::ints;
using test::set_int;

namespace {

// Reads what was changed in the ints of the first item of a type.
struct damaged {
    game_map map;
    test::problems found;
    map_problem refused;
    explicit damaged(bytes file, std::uint16_t type, std::size_t item, std::size_t index, std::int32_t value,
                     decoding mode = decoding::lenient) {
        auto const first = datafile::open(file);
        REQUIRE(first);
        auto const all = first->find_type(type);
        REQUIRE(item < all.count);
        set_int(file, first->item(all.first + item).position + 8 + 4 * index, value);
        auto const opened = datafile::open(file);
        REQUIRE(opened);
        refused = read_map(*opened, map, {.mode = mode, .report = found});
    }
};

// As `map` is written, but with the ints of one item replaced.
bytes with_item(game_map const& map, std::uint16_t type, std::size_t item, ints const& replacement) {
    auto const file = test::written(map);
    auto const opened = *datafile::open(file);
    datafile_writer writer;
    std::size_t const wanted = opened.find_type(type).first + item;
    for (std::size_t i = 0; i < opened.item_count(); ++i) {
        auto const old = opened.item(i);
        ints values(old.ints.size());
        for (std::size_t n = 0; n < values.size(); ++n) values[n] = old.ints[n];
        writer.add_item(old.type, old.id, i == wanted ? replacement : values);
    }
    for (std::size_t i = 0; i < opened.block_count(); ++i)
        writer.add_stored_block(opened.block(i).stored, opened.block(i).size);
    return writer.finish();
}

std::string faults(bytes const& file) {
    test::problems found;
    test::read(file, found);
    return found.names();
}

// The same with blocks instead of items.
bytes with_block(game_map const& map, std::int32_t number, bytes const& content) {
    auto const file = test::written(map);
    auto const opened = *datafile::open(file);
    datafile_writer writer;
    for (std::size_t i = 0; i < opened.item_count(); ++i) {
        auto const old = opened.item(i);
        ints values(old.ints.size());
        for (std::size_t n = 0; n < values.size(); ++n) values[n] = old.ints[n];
        writer.add_item(old.type, old.id, values);
    }
    for (std::size_t i = 0; i < opened.block_count(); ++i) {
        if (static_cast<std::int32_t>(i) == number) writer.add_block(content);
        else writer.add_stored_block(opened.block(i).stored, opened.block(i).size);
    }
    return writer.finish();
}

bytes tile_bytes(std::vector<tile> const& tiles) {
    bytes all;
    for (tile const& t : tiles) all.insert(all.end(), {t.index, t.flags, t.skip, t.reserved});
    return all;
}

} // namespace

TEST_CASE("map: one of everything is read as it was written, and again") {
    game_map const made = test::full_map();
    for (int const version : {3, 4}) {
        auto const file = test::written(made, {.version = version});
        test::problems found;
        game_map const map = test::read(file, found);
        CHECK(found.names() == "unknown_item_type");
        REQUIRE(map.info);
        CHECK(map.info->author.text == "J\u00f6rg");
        CHECK(map.info->author.block >= 0);
        CHECK(map.info->credits.block == -1);
        CHECK(map.info->settings == made.info->settings);
        REQUIRE(map.images.size() == 2);
        CHECK(map.images[0].pixels == made.images[0].pixels);
        CHECK(map.images[0].name.text == "sheet");
        CHECK(map.images[1].external);
        CHECK(map.images[1].pixels_block == -1);
        CHECK(map.points == made.points);
        CHECK(map.bezier_item);
        CHECK(map.envelopes[0].name == "a way");
        CHECK_FALSE(map.envelopes[1].synchronized);
        CHECK(map.groups[1].name == "back");
        CHECK(map.groups[1].clip_width == 640);
        REQUIRE(map.layers.size() == 11);
        CHECK(map.layers[1].tiles()->tiles[3] == tile{game_tile::freeze, 1, 0, 0});
        CHECK(map.layers[2].tiles()->tele[4] == tele_tile{7, 26});
        CHECK(map.layers[3].tiles()->speedup[5].angle() == 270);
        CHECK(map.layers[4].tiles()->switches[6].delay == 5);
        CHECK(map.layers[5].tiles()->tune[7].number == 3);
        CHECK(map.layers[6].name == "\u00e4\u00f6\u00fc");
        CHECK(map.layers[6].flags == 1);
        CHECK(map.layers[7].quads()->quads == made.layers[7].quads()->quads);
        CHECK(map.layers[8].quads()->quads.empty());
        CHECK(map.layers[8].quads()->quads_block >= 0);
        CHECK(map.layers[9].sounds()->sources == made.layers[9].sounds()->sources);
        CHECK(map.layers[10].sounds()->deprecated);
        CHECK(map.layers[10].sounds()->sources == made.layers[10].sounds()->sources);
        CHECK(map.sounds[0].data == made.sounds[0].data);
        CHECK(map.auto_mappers[0].seed == 99);
        REQUIRE(map.unknown_items.size() == 1);
        CHECK(map.unknown_items[0] == unknown_item{0x4000, 3, {1, 2, 3}});
        CHECK(map.kept_blocks.empty());

        for (int const again : {3, 4}) CHECK(test::read(test::written(map, {.version = again})) == map);
    }
}

TEST_CASE("map: real programs' lengths and defaults of what is written") {
    auto const file = test::written(test::full_map());
    auto const opened = *datafile::open(file, {.mode = decoding::strict});
    auto const lengths = [&](std::uint16_t type) {
        std::string all;
        auto const found = opened.find_type(type);
        for (std::size_t i = 0; i < found.count; ++i) {
            CHECK(opened.item(found.first + i).id == i);
            all += std::to_string(opened.item(found.first + i).ints.size()) + " ";
        }
        return all;
    };
    CHECK(lengths(map_item_type::version) == "1 ");
    CHECK(lengths(map_item_type::info) == "6 ");
    CHECK(lengths(map_item_type::image) == "6 6 ");
    CHECK(lengths(map_item_type::envelope) == "13 13 ");
    CHECK(lengths(map_item_type::group) == "15 15 ");
    CHECK(lengths(map_item_type::layer) == "23 23 23 23 23 23 23 10 10 10 10 ");
    CHECK(lengths(map_item_type::envelope_points) == "18 ");
    CHECK(lengths(map_item_type::sound) == "5 ");
    CHECK(lengths(*opened.type_of(auto_mapper_uuid)) == "6 ");
    CHECK(lengths(*opened.type_of(bezier_uuid)) == "48 ");
    // Every block belongs to one thing, and none is empty.
    inflate_memory memory;
    for (std::size_t i = 0; i < opened.block_count(); ++i)
        CHECK(*opened.check_block(static_cast<std::int32_t>(i), memory) > 0);
    // Unused numbers of a tile layer are -1, base versions 0.
    auto const tele = opened.item(opened.find_type(map_item_type::layer).first + 2).ints;
    CHECK(tele[0] == 0);
    CHECK(tele[18] >= 0);
    for (std::size_t const i : {19, 20, 21, 22}) CHECK(tele[i] == -1);
    auto const zeros = static_cast<std::size_t>(tele[14]);
    CHECK(opened.block(zeros).size == 6 * 5 * 4);
    // The point item is there even without points.
    auto const small = test::written(test::small_map());
    CHECK(datafile::open(small)->find(map_item_type::envelope_points, 0)->ints.size() == 0);
}

TEST_CASE("map: packed tiles of 0.7") {
    game_map map = test::small_map(100, 50);
    map.layers[0].tiles()->version = 4;
    for (std::size_t i = 300; i < 1000; ++i) map.layers[0].tiles()->tiles[i] = {3, 0, 0, 0};
    auto const file = test::written(map);
    auto const back = test::read(file);
    CHECK(back.layers[0].tiles()->tiles == map.layers[0].tiles()->tiles);
    CHECK(datafile::open(file)->find(5, 0)->ints.size() == 18);
    CHECK(datafile::open(file)->block(0).size < 100 * 50 * 4 / 50);
    tile_layer game;
    CHECK(read_game_layer(*datafile::open(file), game));
    CHECK(game.tiles == map.layers[0].tiles()->tiles);
}

TEST_CASE("map: damaged tiles") {
    game_map const plain = test::small_map(4, 3);
    game_map packed = plain;
    packed.layers[0].tiles()->version = 4;
    auto const check = [&](game_map const& map, bytes const& block, std::string_view expected, bool readable) {
        test::problems found;
        auto const file = with_block(map, 0, block);
        game_map const read = test::read(file, found);
        CHECK(found.names() == expected);
        CHECK(read.layers[0].tiles()->tiles.empty() == !readable);
        if (readable) return;
        // The game layer is what a map is for.
        CHECK(found.list[0].severity == map_severity::error);
        CHECK(found.list[0].layer == 0);
        CHECK(found.list[0].group == 0);
        // It is written again as it was.
        REQUIRE(read.kept_blocks.size() == 1);
        CHECK(read.kept_blocks[0].bytes == block);
        CHECK(test::read(test::written(read)) == read);
        tile_layer game;
        CHECK_FALSE(read_game_layer(*datafile::open(file), game));
    };
    std::vector<tile> cells(12);
    check(plain, tile_bytes({11, tile{}}), "tile_data_too_small", false);
    check(plain, tile_bytes({13, tile{}}), "", true);
    cells[5].skip = 1;
    check(plain, tile_bytes(cells), "nonzero_skip", false);
    cells[5] = {0, 0, 0, 1};
    check(plain, tile_bytes(cells), "nonzero_reserved", false);
    check(packed, tile_bytes({{1, 0, 11, 0}}), "", true);
    check(packed, tile_bytes({{1, 0, 10, 0}}), "packed_tiles_too_short", false);
    check(packed, tile_bytes({{1, 0, 12, 0}}), "packed_run_overshoots", true);
    check(packed, tile_bytes({{1, 0, 11, 0}, {1, 0, 0, 0}}), "packed_tiles_too_long", false);
    check(packed, tile_bytes({{1, 0, 11, 1}}), "nonzero_reserved", false);
    check(packed, {1, 0, 11, 0, 9}, "packed_tiles_unaligned", true);
}

TEST_CASE("map: bytes behind the content of a block are kept") {
    game_map map = test::full_map();
    auto const first = test::read(test::written(map));
    for (auto const& [block, size] : {std::pair{first.layers[0].tiles()->tiles_block, 6 * 5 * 4},
                                      {first.layers[2].tiles()->tiles_block, 6 * 5 * 2},
                                      {first.layers[7].quads()->quads_block, 2 * 152},
                                      {first.layers[9].sounds()->sources_block, 52},
                                      {first.images[0].pixels_block, 16 * 16 * 4}}) {
        bytes content(static_cast<std::size_t>(size) + 3);
        content.back() = 77;
        auto const file = with_block(first, block, content);
        test::problems found;
        auto const read = test::read(file, found);
        CHECK(found.first_fault() == "ok");
        auto const again = test::written(read);
        CHECK(test::read(again) == read);
        CHECK(datafile::open(again)->block(static_cast<std::size_t>(block)).size == content.size());
    }
}

TEST_CASE("map: attributes of layers that make no sense") {
    auto const file = test::written(test::small_map());
    auto const check = [&](std::size_t index, std::int32_t value, std::string_view expected) {
        CAPTURE(index);
        CAPTURE(value);
        damaged const d{file, map_item_type::layer, 0, index, value};
        CHECK(d.refused.code == map_errc::ok);
        CHECK(d.found.first_fault() == expected);
        CHECK(d.found.list[0].item_type == map_item_type::layer);
        // It is kept unchanged, unless nothing is there to be kept.
        bytes again;
        if (expected == "bad_data_index") CHECK(write_map(d.map, again).code == map_errc::tile_data_too_small);
        else CHECK(test::read(test::written(d.map)).layers[0].raw == d.map.layers[0].raw);
        damaged const strict{file, map_item_type::layer, 0, index, value, decoding::strict};
        CHECK(name(strict.refused.code) == expected);
        CHECK(strict.map == game_map{});
    };
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    check(3, 1, "unsupported_layer_version");
    check(3, 5, "unsupported_layer_version");
    for (std::int32_t const flags : {3, 64, -1, 48, -most - 1}) check(6, flags, "bad_tilemap_flags");
    for (std::int32_t const side : {1, 0, -1, most, 1 << 29}) {
        check(4, side, "bad_dimensions");
        check(5, side, "bad_dimensions");
    }
    check(14, 1, "bad_data_index");
    check(14, -1, "bad_data_index");
    check(4, 30000, "tile_data_too_small");
    check(1, 2222, "missing_game_layer"); // an unknown type is a note
    damaged const without_game{file, map_item_type::layer, 0, 1, 2222};
    CHECK(std::any_of(without_game.found.list.begin(), without_game.found.list.end(), [](map_problem const& p) {
        return p.code == map_errc::missing_game_layer && p.position == 16 && p.item == -1; // the numbers of items
    }));
    damaged const color{test::written(test::full_map()), map_item_type::layer, 6, 8, 256};
    CHECK(color.found.first_fault() == "bad_color");
    CHECK_FALSE(color.map.layers[6].tiles()->tiles.empty());
}

TEST_CASE("map: the largest layers are bounded by the bytes of their cells") {
    auto const file = test::written(test::small_map());
    auto const opened = *datafile::open(file);
    auto const layer = opened.item(opened.find_type(map_item_type::layer).first).position + 8;
    struct size {
        std::int32_t width, height;
        std::string_view expected;
    };
    // Four bytes each: 2^29 - 1 of them are the most. No block has so many.
    for (auto const& s : {size{30000, 30000, "bad_dimensions"}, size{1 << 15, 1 << 14, "bad_dimensions"},
                          size{(1 << 15) - 1, 1 << 14, "tile_data_too_small"}}) {
        CAPTURE(s.width);
        bytes changed = file;
        set_int(changed, layer + 16, s.width);
        set_int(changed, layer + 20, s.height);
        test::problems found;
        game_map map;
        CHECK(read_map(*datafile::open(changed), map, {.report = found}).code == map_errc::ok);
        CHECK(found.first_fault() == s.expected);
        if (s.expected != "bad_dimensions") continue;
        CHECK(found.find(map_errc::bad_dimensions)->value == std::int64_t{s.width} * s.height);
        CHECK(found.find(map_errc::bad_dimensions)->expected == std::numeric_limits<std::int32_t>::max());
    }
    // Two bytes each.
    auto const full = test::written(test::full_map());
    auto const map = test::read(full);
    for (std::size_t i = 0; i < map.layers.size(); ++i) {
        if (map.layers[i].tiles() == nullptr || map.layers[i].tiles()->kind != tile_kind::tele) continue;
        auto const all = *datafile::open(full);
        auto const tele = all.item(all.find_type(map_item_type::layer).first + i).position + 8;
        for (auto const& s :
             {size{1 << 15, 1 << 15, "bad_dimensions"}, size{(1 << 15) - 1, 1 << 15, "tile_data_too_small"}}) {
            bytes changed = full;
            set_int(changed, tele + 16, s.width);
            set_int(changed, tele + 20, s.height);
            CHECK(faults(changed).find(s.expected) != std::string::npos);
        }
    }
}

TEST_CASE("map: items that are too short") {
    game_map const map = test::full_map();
    auto const check = [&](std::uint16_t type, std::size_t item, std::size_t shortest) {
        CAPTURE(type);
        CAPTURE(item);
        auto const file = test::written(map);
        auto const opened = *datafile::open(file);
        auto const whole = opened.item(opened.find_type(type).first + item).ints;
        ints values;
        for (std::size_t size = 0; size <= whole.size();
             values.push_back(whole[std::min(size, whole.size() - 1)]), ++size) {
            CAPTURE(size);
            test::problems found;
            game_map const read = test::read(with_item(map, type, item, values), found);
            CHECK(found.has(map_errc::item_too_short) == (size < shortest));
            bytes again;
            static_cast<void>(write_map(read, again)); // never more than an error
        }
    };
    test::problems empty;
    auto const info = test::read(with_item(map, map_item_type::info, 0, {}), empty).info;
    REQUIRE(info);
    CHECK(info->version == 1);
    CHECK(info->author.block == -1);
    CHECK(info->settings_block == -1);
    check(map_item_type::info, 0, 5);
    check(map_item_type::image, 0, 6);
    check(map_item_type::envelope, 0, 13);
    check(map_item_type::group, 0, 15);
    check(map_item_type::layer, 0, 18); // game
    check(map_item_type::layer, 1, 21); // front: its own index is the third
    check(map_item_type::layer, 7, 10); // quads
    check(map_item_type::layer, 9, 10); // sounds
    check(map_item_type::sound, 0, 5);
}

TEST_CASE("map: versions that are not maps") {
    game_map const map = test::small_map();
    auto const refusal = [](bytes const& file) {
        game_map read = test::small_map();
        auto const problem = read_map(*datafile::open(file), read);
        CHECK(read == game_map{});
        return std::string{name(problem.code)};
    };
    CHECK(refusal(with_item(map, 0, 0, {2})) == "unsupported_map_version");
    CHECK(refusal(with_item(map, 0, 0, {})) == "item_too_short");
    CHECK(refusal(datafile_writer{}.finish()) == "missing_version");
    CHECK(faults(with_item(map, 0, 0, {1, 5, 6})) == "");
}

TEST_CASE("map: groups") {
    game_map map = test::full_map();
    auto const check = [&](auto change, std::string_view expected) {
        game_map changed = map;
        change(changed);
        test::problems found;
        test::read(test::written(changed), found);
        CAPTURE(found.names());
        CHECK(found.find(map_errc::unknown_item_type) != nullptr);
        std::erase_if(found.list, [](map_problem const& p) { return p.code == map_errc::unknown_item_type; });
        CHECK(found.names() == expected);
    };
    check([](game_map& m) { m.groups[1].layer_count = 6; }, "bad_group_range");
    check([](game_map& m) { m.groups[1].layer_count = std::numeric_limits<std::int32_t>::max(); },
          "bad_group_range");
    check([](game_map& m) { m.groups[1].first_layer = -1; }, "bad_group_range bad_auto_mapper");
    check([](game_map& m) { m.groups[1].layer_count = -1; }, "bad_group_range bad_auto_mapper");
    check([](game_map& m) { --m.groups[1].first_layer; }, "layer_used_twice bad_auto_mapper");
    check([](game_map& m) { m.groups[1].version = 4; }, "unsupported_group_version");
    check([](game_map& m) { m.groups[0].parallax_x = 50; }, "game_group_fields");
    check([](game_map& m) { m.groups[0].layer_count = 5, --m.groups[1].first_layer, ++m.groups[1].layer_count; },
          "physics_layer_place bad_auto_mapper");
    // The second version: clipping, and no name
    game_map second = map;
    second.groups[1].version = 2;
    second.groups[1].name.clear();
    second.groups[1].clipping = true;
    second.groups[1].clip_x = 1;
    second.groups[1].clip_y = 2;
    second.groups[1].clip_width = 3;
    second.groups[1].clip_height = 4;
    map_group const clipped = test::read(test::written(second)).groups[1];
    CHECK(clipped.version == 2);
    CHECK(clipped.clipping);
    CHECK(clipped.clip_x == 1);
    CHECK(clipped.clip_y == 2);
    CHECK(clipped.clip_width == 3);
    CHECK(clipped.clip_height == 4);
    CHECK(map.layers_of(map.groups[1]).size() == 5);
    CHECK(map.layers_of({.first_layer = 9, .layer_count = 100}).size() == 2);
    CHECK(map.layers_of({.first_layer = -9, .layer_count = 100}).empty());
    CHECK(map.layers_of({.first_layer = 99, .layer_count = 1}).empty());
}

TEST_CASE("map: physics layers") {
    game_map map = test::full_map();
    physics_layers const all = physics_of(map);
    CHECK(all.width() == 6);
    CHECK(all.height() == 5);
    CHECK(all.at(0, 0).game.index == game_tile::solid);
    CHECK(all.at(-5, -5).game.index == game_tile::solid);
    CHECK(all.at(99, 99).game.index == game_tile::death);
    CHECK(all.at(3, 0).front.index == game_tile::freeze);
    CHECK(all.at(4, 0).tele == tele_tile{7, 26});
    CHECK(all.at(5, 0).speedup.angle() == 270);
    CHECK(all.at(0, 1).switches.number == 1);
    CHECK(all.at(1, 1).tune.type == 68);
    // The last of a kind counts.
    map.layers.push_back(test::tile_layer(tile_kind::game, 6, 5, "Game"));
    CHECK(physics_of(map).at(0, 0).game.index == 0);
    test::problems found;
    test::read(test::written(map), found);
    CHECK(found.has(map_errc::duplicate_physics_layer));
    // One that is too small is not looked at.
    map.layers[2] = test::tile_layer(tile_kind::tele, 5, 5, "Tele");
    CHECK(physics_of(map).tele == nullptr);
    CHECK(physics_of(map).at(0, 0).tele.number == 0);
    test::problems small;
    test::read(test::written(map), small);
    CHECK(small.first_fault() == "physics_layer_too_small");
    CHECK(small.find(map_errc::physics_layer_too_small)->layer == 2);
    CHECK(physics_of(game_map{}).game == nullptr);
}

TEST_CASE("map: layers without pixels, which their block still has") {
    test::bytes const file = test::written(test::full_map());
    auto const opened = *datafile::open(file);
    game_map map, whole;
    REQUIRE(read_map(opened, map, {.contents = map_contents::layers}).code == map_errc::ok);
    REQUIRE(read_map(opened, whole).code == map_errc::ok);
    CHECK(map.layers == whole.layers);
    CHECK(map.images[0].pixels.empty());
    CHECK_FALSE(whole.images[0].pixels.empty());
    CHECK(opened.block_size(map.images[0].pixels_block).value() == whole.images[0].pixels.size());
}

TEST_CASE("map: for servers, what they do not need stays unread") {
    auto const file = test::written(test::full_map());
    game_map map;
    REQUIRE(read_map(*datafile::open(file), map, {.contents = map_contents::physics}).code == map_errc::ok);
    CHECK(physics_of(map).at(4, 0).tele.number == 7);
    CHECK(map.info->settings.size() == 3);
    CHECK(map.images[0].pixels.empty());
    CHECK(map.layers[6].tiles()->tiles.empty());
    CHECK(map.layers[7].quads()->quads.empty());
    CHECK(map.sounds[0].data.empty());
    CHECK(map.kept_blocks.empty());
    bytes out;
    CHECK(write_map(map, out).code == map_errc::tile_data_too_small); // not to be written
}

TEST_CASE("map: tiles that two layers share") {
    game_map map = test::full_map();
    map.layers.push_back(test::tile_layer(tile_kind::tiles, 3, 3));
    auto const read = test::read(test::written(map));
    ints second = read.layers.back().raw;
    second[14] = read.layers[6].raw[14];
    test::problems found;
    game_map const shared = test::read(with_item(read, map_item_type::layer, 11, second), found);
    CHECK(found.first_fault() == "data_used_twice");
    CHECK(found.find(map_errc::data_used_twice)->block == second[14]);
    CHECK(shared.layers[11].tiles()->tiles.empty());
    CHECK(test::read(test::written(shared)) == shared);

    // A copy has a block of its own.
    game_map copied = read;
    copied.layers[11] = copied.layers[6];
    test::problems none;
    auto const back = test::read(test::written(copied), none);
    CHECK_FALSE(none.has(map_errc::data_used_twice));
    CHECK(back.layers[11].tiles()->tiles == copied.layers[6].tiles()->tiles);
    CHECK(back.layers[11].tiles()->tiles_block != back.layers[6].tiles()->tiles_block);

    // So may be what a layer without quads names, which comes before.
    game_map quads = read;
    std::swap(quads.layers[7], quads.layers[6]);
    REQUIRE(quads.layers[6].quads() != nullptr);
    quads.layers[6].quads()->quads.clear();
    quads.layers[6].quads()->surplus.clear();
    quads.layers[6].quads()->quads_block = quads.layers[7].tiles()->tiles_block;
    auto const apart = test::read(test::written(quads));
    CHECK(apart.layers[6].quads()->quads_block == quads.layers[7].tiles()->tiles_block);
    CHECK(apart.layers[7].tiles()->tiles_block == quads.layers[7].tiles()->tiles_block);
    CHECK(apart.layers[7].tiles()->tiles == quads.layers[7].tiles()->tiles);

    // Programs that do not know the kind may see other tiles.
    game_map seen = read;
    ints speedup = read.layers[3].raw;
    REQUIRE(read.layers[3].tiles()->kind == tile_kind::speedup);
    speedup[14] = read.layers[0].raw[14];
    seen = test::read(with_item(read, map_item_type::layer, 3, speedup));
    CHECK(seen.layers[3].tiles()->zero_block == speedup[14]);
    CHECK_FALSE(seen.layers[3].tiles()->has_zeros);
    CHECK(test::read(test::written(seen)) == seen);
    REQUIRE(seen.layers[0].tiles()->version == 3);
    convert_to_07(seen); // in which these are not read
    auto const packed = test::read(test::written(seen));
    CHECK(packed.layers[3].tiles()->has_zeros);
    CHECK(packed.layers[0].tiles()->tiles_block == speedup[14]);
    CHECK(test::read(test::written(packed)) == packed);

    // Other content in a block of tiles is kept, with room for 36 settings here.
    game_map empty = read;
    std::fill(empty.layers[11].tiles()->tiles.begin(), empty.layers[11].tiles()->tiles.end(), tile{});
    ints info = test::read(test::written(empty)).info->raw;
    info[5] = empty.layers[11].tiles()->tiles_block;
    auto const mixed = test::read(with_item(empty, map_item_type::info, 0, info));
    CHECK(mixed.info->settings.size() == 36);
    CHECK(mixed.layers[11].tiles()->tiles_block == info[5]);
    CHECK(test::read(test::written(mixed)) == mixed);
}

TEST_CASE("map: what is decompressed can be listened to") {
    auto const file = test::written(test::full_map());
    auto const opened = *datafile::open(file);
    for (auto const contents : {map_contents::all, map_contents::physics}) {
        std::map<std::int32_t, bytes> heard;
        auto const listen = [&](std::int32_t block, std::span<std::uint8_t const> content) {
            heard[block] = {content.begin(), content.end()};
        };
        game_map map;
        REQUIRE(read_map(opened, map, {.contents = contents, .on_block = listen}).code == map_errc::ok);
        CHECK(heard.size() <= opened.block_count());
        CHECK((heard.size() == opened.block_count()) == (contents == map_contents::all));
        auto const memory = std::make_unique<inflate_memory>();
        for (auto const& [block, content] : heard) {
            bytes again(*opened.block_size(block));
            REQUIRE(opened.read_block(block, again, *memory));
            CHECK(again == content);
        }
        // As it was read, not as it was understood.
        if (contents == map_contents::all) CHECK(heard.at(map.images[0].pixels_block) == map.images[0].pixels);
    }
}

TEST_CASE("map: a budget for all blocks together") {
    auto const file = test::written(test::full_map());
    test::problems found;
    game_map map;
    REQUIRE(read_map(*datafile::open(file), map, {.max_bytes = 300, .report = found}).code == map_errc::ok);
    CHECK(found.has(map_errc::too_large));
    CHECK(map.images[0].pixels.empty());
    // Unread content is kept.
    CHECK(test::read(test::written(map)) == test::read(file));

    // Packed tiles need little room in the file.
    game_map packed = test::small_map(1000, 1000);
    packed.layers[0].tiles()->version = 4;
    auto const small = test::written(packed);
    CHECK(small.size() < 1000);
    test::problems refused;
    REQUIRE(read_map(*datafile::open(small), map, {.max_bytes = 3'000'000, .report = refused}).code ==
            map_errc::ok);
    CHECK(refused.names() == "too_large");
    CHECK(refused.list[0].severity == map_severity::error);
    CHECK(map.layers[0].tiles()->tiles.empty());
    CHECK(test::read(test::written(map)) == test::read(small));
}

TEST_CASE("map: a block that costs more than it holds") {
    // A byte after 20000 empty pieces, and 1000 sounds that are all this byte.
    bytes stream{0x78, 0x01};
    for (int i = 0; i < 20000; ++i) stream.insert(stream.end(), {0x00, 0x00, 0x00, 0xff, 0xff});
    stream.insert(stream.end(), {0x01, 0x01, 0x00, 0xfe, 0xff, 'x', 0x00, 0x79, 0x00, 0x79});
    datafile_writer writer;
    writer.add_item(map_item_type::version, 0, ints{1});
    for (std::uint16_t id = 0; id < 1000; ++id) writer.add_item(map_item_type::sound, id, ints{1, 0, -1, 0, 1});
    writer.add_stored_block(stream, 1);
    auto const file = writer.finish();
    game_map map;
    test::problems found;
    REQUIRE(read_map(*datafile::open(file), map, {.max_bytes = 10 * stream.size(), .report = found}).code ==
            map_errc::ok);
    REQUIRE(map.sounds.size() == 1000);
    CHECK(map.sounds[0].data == bytes{'x'});
    CHECK(std::count_if(map.sounds.begin(), map.sounds.end(), [](auto const& s) { return !s.data.empty(); }) == 10);
    CHECK(found.has(map_errc::too_large));
}

TEST_CASE("map: settings that are nothing but their ends") {
    game_map map = test::small_map(2, 2);
    map.info.emplace();
    map.info->settings.assign(100'000, "");
    auto const file = test::written(map);
    CHECK(test::read(file).info->settings.size() == 100'000);
    test::problems found;
    game_map read;
    REQUIRE(read_map(*datafile::open(file), read, {.max_bytes = 1'000'000, .report = found}).code == map_errc::ok);
    CHECK(found.names() == "too_large");
    CHECK(read.info->settings.empty());
    CHECK(test::read(test::written(read)).info->settings.size() == 100'000); // the block is kept
}

TEST_CASE("map: texts") {
    game_map map = test::full_map();
    auto const first = test::read(test::written(map));
    auto const check = [&](bytes const& block, std::string_view expected, std::string_view text) {
        test::problems found;
        auto const read = test::read(with_block(first, first.info->author.block, block), found);
        std::erase_if(found.list, [](map_problem const& p) { return p.code == map_errc::unknown_item_type; });
        CHECK(found.names() == expected);
        CHECK(read.info->author.text == text);
        CHECK(read.info->author.block == first.info->author.block);
        CHECK(test::read(test::written(read)) == read);
    };
    check({'a', 0}, "", "a");
    check({0}, "", "");
    check({'a'}, "bad_text", "");
    check({'a', 0, 'b', 0}, "bad_text", "");
    check({0xff, 0}, "bad_text", "");
    check({0xc0, 0x80, 0}, "bad_text", "");             // overlong
    check({0xed, 0xa0, 0x80, 0}, "bad_text", "");       // surrogate
    check({0xf4, 0x90, 0x80, 0x80, 0}, "bad_text", ""); // above U+10FFFF
    check({0xe2, 0x82, 0}, "bad_text", "");             // cut
    check({0xf0, 0x9f, 0x98, 0x80, 0}, "", "\xf0\x9f\x98\x80");
    bytes many(33, 'x');
    many.back() = 0;
    check(many, "text_too_long", std::string(32, 'x'));
    CHECK(faults(with_item(test::small_map(), 0, 0, {1})) == "");

    // Editing: the text gets a place if it had none.
    game_map edited = first;
    edited.info->credits.text = "someone";
    edited.info->author.text = "nobody";
    auto const again = test::read(test::written(edited));
    CHECK(again.info->credits.text == "someone");
    CHECK(again.info->credits.block == first.block_count);
    CHECK(again.info->author.text == "nobody");
    CHECK(again.info->author.block == first.info->author.block);
}

TEST_CASE("map: settings") {
    auto const first = test::read(test::written(test::full_map()));
    auto const lines = [&](bytes const& block, std::string_view expected) {
        test::problems found;
        auto const read = test::read(with_block(first, first.info->settings_block, block), found);
        CHECK(found.names() == std::string{expected} + (expected.empty() ? "" : " ") + "unknown_item_type");
        CHECK(test::read(test::written(read)) == read);
        return read.info->settings;
    };
    CHECK(lines({'a', 0, 0, 'b', 0}, "") == std::vector<std::string>{"a", "", "b"});
    CHECK(lines({0}, "") == std::vector<std::string>{""});
    CHECK(lines({'a', 0, 'b'}, "settings_not_terminated") == std::vector<std::string>{"a", "b"});
    game_map none = first;
    none.info->settings.clear();
    CHECK(test::read(test::written(none)).info->settings_block == -1);
}

TEST_CASE("map: images") {
    game_map map = test::full_map();
    auto const rgba = rgba_pixels(map.images[0]);
    CHECK(rgba == map.images[0].pixels);
    CHECK(rgba_pixels(map.images[1]).empty());

    map_image& rgb = map.images[0];
    rgb.version = 2;
    rgb.variant = 0;
    rgb.pixels.resize(16 * 16 * 3);
    auto const read = test::read(test::written(map));
    auto const wide = rgba_pixels(read.images[0]);
    REQUIRE(wide.size() == 16 * 16 * 4);
    CHECK(wide[4] == rgb.pixels[3]);
    CHECK(wide[7] == 255);

    auto const fault = [&](auto change) {
        game_map changed = test::full_map();
        change(changed.images[0]);
        test::problems found;
        auto const back = test::read(test::written(changed), found);
        CHECK((found.first_fault() == "ok") == !rgba_pixels(back.images[0]).empty());
        CHECK(test::read(test::written(back)) == back);
        return found.first_fault();
    };
    CHECK(fault([](map_image&) {}) == "ok");
    CHECK(fault([](map_image& i) { i.pixels.push_back(0); }) == "ok");
    CHECK(fault([](map_image& i) { i.pixels.pop_back(); }) == "image_data_too_small");
    CHECK(fault([](map_image& i) { i.width = 0; }) == "image_data_too_small");
    CHECK(fault([](map_image& i) { i.width = i.height = -65536; }) == "image_data_too_small");
    CHECK(fault([](map_image& i) { i.width = i.height = std::numeric_limits<std::int32_t>::max(); }) ==
          "image_data_too_small");
    CHECK(fault([](map_image& i) { i.version = 2, i.variant = 0; }) == "unsupported_image_variant");
    CHECK(fault([](map_image& i) { i.version = 2, i.variant = 7; }) == "unsupported_image_variant");
    CHECK(fault([](map_image& i) { i.pixels.clear(); }) == "bad_data_index");

    // Cut after the size: a missing int names no block.
    test::problems cut;
    auto const nothing = test::read(with_item(test::full_map(), map_item_type::image, 0, {1, 16, 16, 1}), cut);
    CHECK(cut.first_fault() == "item_too_short");
    CHECK(nothing.images[0].name.block == -1);
    CHECK(nothing.images[0].name.text.empty());
    CHECK(nothing.images[0].pixels_block == -1);

    game_map named = test::full_map();
    named.images[1].name.text = "../../etc/passwd";
    test::problems unsafe;
    test::read(test::written(named), unsafe);
    CHECK(unsafe.first_fault() == "unsafe_image_name");
    named.images[1].name.text.clear();
    test::problems nameless;
    test::read(test::written(named), nameless);
    CHECK(nameless.has(map_errc::missing_image_name));
}

TEST_CASE("map: envelopes of all versions") {
    game_map map = test::full_map();
    // The oldest: five ints, the last a name that never was.
    auto const oldest = with_item(map, map_item_type::envelope, 1, {1, 4, 2, 1, -1});
    auto read = test::read(oldest);
    CHECK(read.envelopes[1].name.empty());
    CHECK(read.envelopes[1].synchronized);
    CHECK(test::read(test::written(read)) == read);
    read.envelopes[1].name = "now it has one";
    CHECK(test::read(test::written(read)).envelopes[1].name == "now it has one");

    // A part of a name: none, and the item gets room for one.
    test::problems cut_off;
    auto const part = test::read(with_item(map, map_item_type::envelope, 1, {1, 4, 2, 1, 0, 0}), cut_off);
    CHECK(cut_off.names() == "item_too_short unknown_item_type");
    CHECK(cut_off.list.front().severity == map_severity::note);
    CHECK(part.envelopes[1].name.empty());
    auto const whole = test::read(test::written(part));
    CHECK(whole.envelopes[1].raw.size() == 12);
    CHECK(whole.envelopes[1].name.empty());

    // Version 3: tangents stand with the points.
    for (auto& e : map.envelopes) e.version = 3;
    auto const file = test::written(map);
    auto const opened = *datafile::open(file);
    CHECK(opened.find(map_item_type::envelope_points, 0)->ints.size() == 3 * 22);
    CHECK_FALSE(opened.type_of(bezier_uuid));
    CHECK(test::read(file).points == map.points);

    auto const fault = [&](std::uint16_t type, ints const& values, std::string_view expected) {
        CAPTURE(expected);
        test::problems found;
        auto const back = test::read(with_item(test::full_map(), type, 0, values), found);
        std::erase_if(found.list, [](map_problem const& p) { return p.code == map_errc::unknown_item_type; });
        CHECK(found.names() == expected);
        CHECK(test::read(test::written(back)) == back);
    };
    ints point(18);
    point[6] = 1000;
    fault(map_item_type::envelope_points, point, "");
    point[7] = 6;
    fault(map_item_type::envelope_points, point, "bad_curve_type");
    point[7] = 1;
    point[0] = 2000;
    fault(map_item_type::envelope_points, point, "point_order");
    point[0] = 0;
    point.push_back(5);
    fault(map_item_type::envelope_points, point, "bad_envelope_points");
    point.resize(13);
    fault(map_item_type::envelope_points, point, "bad_envelope_points bezier_count bad_envelope_points");
    fault(0xfffd, {1, 2, 3}, "bezier_count");

    // Without points there may be an item for the tangents of none.
    datafile_writer writer;
    writer.add_item(map_item_type::version, 0, ints{1});
    writer.add_item(writer.number_of(bezier_uuid), 0, ints{});
    game_map const pointless = test::read(writer.finish());
    CHECK(pointless.bezier_item);
    CHECK(pointless.unknown_items.empty());
    CHECK(test::read(test::written(pointless)) == pointless);

    ints envelope(13, -1);
    envelope[0] = 2;
    envelope[1] = 2;
    fault(map_item_type::envelope, envelope, "bad_envelope_channels bad_envelope_points");
}

TEST_CASE("map: of items of which there is one, others stay behind it") {
    auto const source = test::written(test::full_map());
    auto const opened = *datafile::open(source);
    auto const expected = test::read(source);
    REQUIRE(expected.bezier_item);
    std::uint16_t const beziers = *opened.type_of(bezier_uuid);
    for (std::uint16_t const type :
         {map_item_type::version, map_item_type::info, map_item_type::envelope_points, beziers})
        for (std::uint16_t const id : {0, 1}) {
            CAPTURE(type);
            CAPTURE(id);
            datafile_writer writer;
            for (std::size_t i = 0; i < opened.item_count(); ++i) {
                auto const item = opened.item(i);
                ints values(item.ints.size());
                for (std::size_t n = 0; n < values.size(); ++n) values[n] = item.ints[n];
                writer.add_item(item.type, item.id, values);
                if (item.type == type) writer.add_item(type, id, ints(values.size(), 3));
            }
            for (std::size_t i = 0; i < opened.block_count(); ++i)
                writer.add_stored_block(opened.block(i).stored, opened.block(i).size);
            auto map = test::read(writer.finish());
            CHECK(map.points == expected.points);
            CHECK(map.unknown_items.size() == expected.unknown_items.size() + 1);
            auto const file = test::written(map);
            CHECK(datafile::open(file, {.mode = decoding::strict}));
            // Two of one id, which DDNet refuses, have two.
            for (unknown_item& item : map.unknown_items)
                if (item.type == type) item.id = 1;
            CHECK(test::read(file) == map);
        }
}

TEST_CASE("map: names packed into ints") {
    std::int32_t three[3];
    pack_name("Game", three);
    CHECK(static_cast<std::uint32_t>(three[0]) == 0xC7E1EDE5);
    CHECK(static_cast<std::uint32_t>(three[1]) == 0x80808080);
    CHECK(static_cast<std::uint32_t>(three[2]) == 0x80808000);
    CHECK(unpack_name(three) == "Game");
    pack_name("", three);
    CHECK(unpack_name(three) == "");
    pack_name("elevenchars", three);
    CHECK(unpack_name(three) == "elevenchars");
    pack_name("twelve chars", three);
    CHECK(unpack_name(three) == "twelve char");
    pack_name("ten chars \u00e4", three); // the last letter does not fit as a whole
    CHECK(unpack_name(three) == "ten chars ");
    three[2] = static_cast<std::int32_t>(0x80808080); // other tools' last byte
    CHECK(unpack_name(three) == "ten char");
    three[0] = 0;
    CHECK_FALSE(unpack_name(three)); // 0x80 is not text

    // Bytes that another program put after the end of a name are kept.
    game_map map = test::small_map();
    auto const read = test::read(test::written(map));
    ints group = read.groups[0].raw;
    group[14] = 0x12345678;
    group[13] = static_cast<std::int32_t>(0x80ffffff);
    auto const odd = test::read(with_item(read, map_item_type::group, 0, group));
    CHECK(odd.groups[0].name == "Game");
    CHECK(test::read(test::written(odd)) == odd);
}

TEST_CASE("map: a name that is cut before its first character is empty") {
    ints packed(3, 7);
    pack_name(std::string(40, '\x80'), packed);
    CHECK(unpack_name(packed) == "");
    std::string const whole = "abcdefghij\xc3\xa9";
    pack_name(whole, packed); // 11 bytes have room
    CHECK(unpack_name(packed) == "abcdefghij");
    pack_name(whole.substr(1), packed);
    CHECK(unpack_name(packed) == whole.substr(1));
}

TEST_CASE("map: flags that are changed are written, others stay as they are") {
    game_map const map = test::read(test::written(test::full_map()));
    for (bool const before : {false, true}) {
        for (bool const after : {false, true}) {
            CAPTURE(before);
            CAPTURE(after);
            game_map changed = map;
            changed.groups[1].version = 3;
            changed.groups[1].clipping = before;
            changed.envelopes[0].version = 2;
            changed.envelopes[0].synchronized = before;
            changed = test::read(test::written(changed));
            changed.groups[1].clipping = after;
            changed.envelopes[0].synchronized = after;
            auto const read = test::read(test::written(changed));
            CHECK(read.groups[1].clipping == after);
            CHECK(read.envelopes[0].synchronized == after);
        }
    }
    // Any number but 0 is one.
    game_map odd = map;
    odd.groups[1].version = 3;
    odd.groups[1].clipping = true;
    odd = test::read(test::written(odd));
    odd.groups[1].raw[7] = 5;
    CHECK(test::read(test::written(odd)).groups[1].raw[7] == 5);
}

TEST_CASE("map: deprecated sound sources") {
    game_map map = test::read(test::written(test::full_map()));
    sound_layer& old = *map.layers[10].sounds();
    REQUIRE(old.deprecated);
    CHECK(map.layers[10].raw[1] == map_layer_type::deprecated_sounds);
    CHECK(old.sources[0].shape == sound_source::circle);
    CHECK(old.sources[0].width == 100);
    CHECK(old.sources[0].pan == 1);
    CHECK(old.sources[0].falloff == 0);
    convert_deprecated_sounds(old);
    auto const read = test::read(test::written(map));
    CHECK(read.layers[10].raw[1] == map_layer_type::sounds);
    CHECK(read.layers[10].sounds()->sources == old.sources);
}

TEST_CASE("map: unknown layers, items, UUIDs and blocks are kept") {
    datafile_writer writer;
    uuid const strange{{9, 9, 9}};
    auto const source = test::written(test::full_map());
    auto const opened = *datafile::open(source);
    for (std::size_t i = 0; i < opened.item_count(); ++i) {
        auto const item = opened.item(i);
        if (item.type == uuid_index_type) continue;
        ints values(item.ints.size());
        for (std::size_t n = 0; n < values.size(); ++n) values[n] = item.ints[n];
        writer.add_item(item.type, item.id, values);
    }
    for (auto const& known : {auto_mapper_uuid, bezier_uuid}) writer.name_type(*opened.type_of(known), known);
    writer.name_type(0x8765, strange);
    writer.add_item(strange, 4, ints{1, 2});
    writer.add_item(0x8123, 5, ints{3});
    writer.add_item(map_item_type::layer, 11, ints{5, 77, 0, 12, 13});
    writer.add_item(map_item_type::info, 1, ints{9});
    for (std::size_t i = 0; i < opened.block_count(); ++i)
        writer.add_stored_block(opened.block(i).stored, opened.block(i).size);
    auto const lonely = writer.add_block(bytes{1, 2, 3});
    auto const broken = writer.add_stored_block(bytes{1, 2, 3}, 50);
    auto const nothing = writer.add_stored_block(bytes{0x78, 0x9c, 3, 0, 0, 0, 0, 1}, 0);

    test::problems found;
    auto const map = test::read(writer.finish(), found);
    CHECK(found.has(map_errc::unknown_uuid));
    CHECK(found.has(map_errc::unknown_layer_type));
    CHECK(found.has(map_errc::data_size_zero));
    CHECK(map.unknown_items.size() == 4);
    REQUIRE(map.kept_blocks.size() == 3);
    CHECK(map.kept_blocks[0].block == lonely);
    CHECK(map.kept_blocks[0].bytes == bytes{1, 2, 3});
    CHECK_FALSE(map.kept_blocks[0].stored);
    CHECK(map.kept_blocks[1].block == broken);
    CHECK(map.kept_blocks[1].stored);
    CHECK(map.kept_blocks[2].block == nothing);
    CHECK(map.layers[11].raw == raw_ints{5, 77, 0, 12, 13});

    auto const again = test::written(map);
    CHECK(test::read(again) == map);
    auto const written = *datafile::open(again);
    CHECK(written.type_of(strange) == 0x8765);
    CHECK(written.find(0x8765, 4)->ints[1] == 2);
    // Version 3 cannot hold an unreadable stream.
    bytes out;
    auto const refused = write_map(map, out, {.version = 3});
    CHECK(refused.code == map_errc::decompress_failed);
    CHECK(refused.block == broken);
    CHECK(out.empty());
}

TEST_CASE("map: blocks keep their numbers when things are taken away") {
    game_map map = test::read(test::written(test::full_map()));
    auto const sheet = map.images[0].pixels_block;
    auto const game = map.layers[0].tiles()->tiles_block;
    map.images.clear();
    map.layers[6].tiles()->image = -1;
    auto const file = test::written(map);
    auto const opened = *datafile::open(file);
    CHECK(opened.block(static_cast<std::size_t>(sheet)).size == 1);
    CHECK(test::read(file).layers[0].tiles()->tiles_block == game);
}

TEST_CASE("map: a number that was no block does not become that of a new one") {
    game_map map = test::small_map();
    auto& tiles = *map.layers[0].tiles();
    tiles.tiles.clear(); // unreadable
    tiles.tiles_block = 0;
    REQUIRE(map.block_count == 0);
    map.info.emplace().author.text = "x"; // the new block 0
    bytes out;
    auto const problem = write_map(map, out);
    CHECK(problem.code == map_errc::tile_data_too_small);
    CHECK(problem.block == 0);
}

TEST_CASE("map: what a caller must not do is told") {
    game_map map = test::small_map();
    map.layers[0].tiles()->tiles.pop_back();
    bytes out{1};
    auto const problem = write_map(map, out);
    CHECK(problem.code == map_errc::tile_data_too_small);
    CHECK(problem.layer == 0);
    CHECK(problem.value == 19);
    CHECK(problem.expected == 20);
    CHECK(out.empty());
}

TEST_CASE("map: to 0.7 and back") {
    game_map map = test::read(test::written(test::full_map()));
    game_map const before = map;
    convert_to_07(map);
    auto const file = test::written(map);
    auto const new_one = test::read(file);
    CHECK(new_one.images[0].version == 2);
    CHECK(new_one.images[0].raw.size() == 7);
    CHECK(new_one.layers[0].tiles()->version == 4);
    CHECK(new_one.layers[2].tiles()->version == 3); // 0.7 does not know it
    CHECK(new_one.envelopes[0].version == 3);
    CHECK(new_one.points == before.points);
    CHECK_FALSE(new_one.bezier_item);
    CHECK(new_one.layers[0].tiles()->tiles == before.layers[0].tiles()->tiles);
    game_map back = new_one;
    convert_to_06(back);
    back = test::read(test::written(back));
    CHECK(back.points == before.points);
    CHECK(back.bezier_item);
    CHECK(back.images == before.images);
    CHECK(back.layers == before.layers);
    CHECK(back.groups == before.groups);

    // DDNet's item beside points of 0.7 means nothing, and would be taken for their curves.
    game_map beside = new_one;
    beside.uuid_types.push_back({0xfff0, bezier_uuid});
    beside.unknown_items.push_back({0xfff0, 0, ints(16 * beside.points.size(), 7)});
    beside = test::read(test::written(beside));
    REQUIRE(beside.unknown_items.size() == new_one.unknown_items.size() + 1);
    CHECK(beside.points == before.points);
    convert_to_06(beside);
    CHECK(test::read(test::written(beside)).points == before.points);
    CHECK(test::read(test::written(beside)).unknown_items == new_one.unknown_items);

    // Bytes after the cells would be tiles too many where they are packed.
    game_map surplus = test::full_map();
    surplus.layers[0].tiles()->surplus = bytes(44);
    surplus = test::read(test::written(surplus));
    REQUIRE(surplus.layers[0].tiles()->surplus.size() == 44);
    convert_to_07(surplus);
    CHECK(test::read(test::written(surplus)).layers[0].tiles()->tiles == before.layers[0].tiles()->tiles);

    // An image without an alpha channel, which 0.6 does not know
    game_map rgb = test::full_map();
    rgb.images[0].version = 2;
    rgb.images[0].variant = 0;
    rgb.images[0].pixels.resize(16 * 16 * 3);
    auto const pixels = rgba_pixels(rgb.images[0]);
    convert_to_06(rgb);
    CHECK(rgb.images[0].version == 1);
    CHECK(rgb.images[0].variant == 1);
    CHECK(rgb.images[0].pixels == pixels);

    // Layers of version 2 have no name to go before the indices of DDNet.
    game_map old = test::full_map();
    for (auto& layer : old.layers)
        if (layer.tiles() != nullptr) layer.tiles()->version = 2;
    old = test::read(test::written(old));
    CHECK(old.layers[2].raw.size() == 16);
    CHECK(old.layers[0].raw.size() == 15);
    CHECK(old.layers[0].name.empty());
    convert_to_07(old);
    test::problems found;
    auto const converted = test::read(test::written(old), found);
    CHECK(found.first_fault() == "ok");
    CHECK(converted.layers[0].raw.size() == 18);
    CHECK(converted.layers[0].tiles()->tiles == before.layers[0].tiles()->tiles);
    CHECK(converted.layers[2].tiles()->version == 2);
    for (auto& layer : old.layers)
        if (layer.tiles() != nullptr) layer.tiles()->version = 3;
    auto const third = test::read(test::written(old), found);
    CHECK(found.first_fault() == "ok");
    CHECK(third.layers[2].tiles()->tele[4] == tele_tile{7, 26});
    for (auto& layer : old.layers)
        if (layer.tiles() != nullptr) layer.tiles()->version = 2;
    CHECK(test::read(test::written(old)).layers[2].tiles()->tele[4] == tele_tile{7, 26});
}

TEST_CASE("map: names of known UUIDs") {
    CHECK(name(auto_mapper_uuid) == "mapitemtype-automapper-config@ddnet.tw");
    CHECK(name(bezier_uuid) == "mapitemtype-envpoints-bezier@ddnet.tw");
    CHECK(name(group_extension_uuid) == "mapitemtype-group@ddnet.tw");
    CHECK(name(test_uuid) == "mapitemtype-test@ddnet.tw");
    CHECK(name(uuid{}).empty());
}
