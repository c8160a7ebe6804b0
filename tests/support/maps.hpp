// Shared by tests of maps: collecting problems, ints inside files, and a map with one of everything.
#pragma once

#include "check.hpp"

#include "teewire/map/map.hpp"

namespace test {

struct problems {
    std::vector<teewire::map_problem> list;
    void operator()(teewire::map_problem const& problem) { list.push_back(problem); }

    [[nodiscard]] bool has(teewire::map_errc code) const { return find(code) != nullptr; }
    [[nodiscard]] teewire::map_problem const* find(teewire::map_errc code) const {
        for (auto const& p : list)
            if (p.code == code) return &p;
        return nullptr;
    }
    /// The name of the first one that is not a mere note, or "ok".
    [[nodiscard]] std::string first_fault() const {
        for (auto const& p : list)
            if (p.severity != teewire::map_severity::note) return std::string{name(p.code)};
        return "ok";
    }
    [[nodiscard]] std::string names() const {
        std::string all;
        for (auto const& p : list) {
            if (!all.empty()) all += ' ';
            all += name(p.code);
        }
        return all;
    }
};

inline void set_int(bytes& file, std::size_t at, std::int32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        file[at + i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(value) >> (8 * i));
}
inline std::int32_t int_at(bytes const& file, std::size_t at) {
    return teewire::item_ints{teewire::map_bytes{file}.subspan(at, 4)}[0];
}

template <class Cell>
std::vector<Cell> cells(std::int32_t width, std::int32_t height, Cell cell) {
    return std::vector<Cell>(static_cast<std::size_t>(width * height), cell);
}

inline teewire::map_layer tile_layer(teewire::tile_kind kind, std::int32_t width, std::int32_t height,
                                     std::string name = {}) {
    teewire::tile_layer tiles;
    tiles.kind = kind;
    tiles.width = width;
    tiles.height = height;
    switch (kind) {
    case teewire::tile_kind::tiles:
    case teewire::tile_kind::game:
    case teewire::tile_kind::front: tiles.tiles = cells(width, height, teewire::tile{}); break;
    case teewire::tile_kind::tele: tiles.tele = cells(width, height, teewire::tele_tile{}); break;
    case teewire::tile_kind::speedup: tiles.speedup = cells(width, height, teewire::speedup_tile{}); break;
    case teewire::tile_kind::switches: tiles.switches = cells(width, height, teewire::switch_tile{}); break;
    case teewire::tile_kind::tune: tiles.tune = cells(width, height, teewire::tune_tile{}); break;
    }
    teewire::map_layer layer;
    layer.name = std::move(name);
    layer.content = std::move(tiles);
    return layer;
}

/// Only a game layer.
inline teewire::game_map small_map(std::int32_t width = 5, std::int32_t height = 4) {
    teewire::game_map map;
    map.layers.push_back(tile_layer(teewire::tile_kind::game, width, height, "Game"));
    map.layers[0].tiles()->tiles[0] = {teewire::game_tile::solid, 0, 0, 0};
    map.layers[0].tiles()->tiles.back() = {teewire::game_tile::death, 0, 0, 0};
    map.groups.push_back({.layer_count = 1, .name = "Game"});
    return map;
}

/// One of everything, as DDNet stores it.
inline teewire::game_map full_map() {
    using namespace teewire;
    game_map map = small_map(6, 5);
    map.info.emplace();
    map.info->author.text = "J\u00f6rg";
    map.info->map_version.text = "1.2";
    map.info->settings = {"sv_deepfly 0", "", "tune gravity 0.5"};
    map_image sheet;
    sheet.width = sheet.height = 16;
    sheet.name.text = "sheet";
    for (int i = 0; i < 16 * 16 * 4; ++i) sheet.pixels.push_back(static_cast<std::uint8_t>(7 * i));
    map_image outside;
    outside.width = outside.height = 1024;
    outside.external = true;
    outside.name.text = "grass_main";
    map.images = {sheet, outside};
    map.envelopes.resize(2);
    map.envelopes[0] = {.channels = 3, .first_point = 0, .point_count = 2, .name = "a way"};
    map.envelopes[1] = {.first_point = 2, .point_count = 1, .synchronized = false};
    map.points.resize(3);
    map.points[0] = {.time = 0, .curve = envelope_curve::bezier, .values = {1, 2, 3, 0}, .out_dx = {5, 6, 7, 8}};
    map.points[1] = {.time = 1000, .values = {-1, -2, -3, 0}, .in_dy = {-5, -6, -7, -8}};
    map.points[2] = {.time = 0, .curve = envelope_curve::step, .values = {1024, 1024, 1024, 512}};

    auto const physics = [&](tile_kind kind, std::string name) {
        map.layers.push_back(tile_layer(kind, 6, 5, std::move(name)));
        return map.layers.back().tiles();
    };
    physics(tile_kind::front, "Front")->tiles[3] = {game_tile::freeze, 1, 0, 0};
    physics(tile_kind::tele, "Tele")->tele[4] = {7, 26};
    auto& boost = physics(tile_kind::speedup, "Speedup")->speedup[5];
    boost = {10, 20, 28, 0, 0, 0};
    boost.set_angle(270);
    physics(tile_kind::switches, "Switch")->switches[6] = {1, 22, 0, 5};
    physics(tile_kind::tune, "Tune")->tune[7] = {3, 68};
    map.groups[0].layer_count = 6;

    map.layers.push_back(tile_layer(tile_kind::tiles, 3, 3, "\u00e4\u00f6\u00fc"));
    map.layers.back().flags = 1;
    map.layers.back().tiles()->image = 0;
    map.layers.back().tiles()->tiles[8] = {9, tile_flag::rotate | tile_flag::mirror_x, 0, 0};
    quad_layer quads;
    quads.quads.resize(2);
    quads.quads[1].corners[3] = {32768, -32768};
    quads.quads[1].colors[2] = {255, 128, 0, 255};
    quads.quads[1].position_envelope = -2;
    map.layers.push_back({.name = "quads", .content = quads});
    map.layers.push_back({.name = "empty", .content = quad_layer{}});
    sound_layer sounds;
    sounds.sound = 0;
    sounds.sources.resize(1);
    sounds.sources[0].width = 100;
    map.layers.push_back({.name = "birds", .content = sounds});
    sounds.deprecated = true;
    map.layers.push_back({.name = "old", .content = sounds});
    map.groups.push_back({.offset_x = -320,
                          .parallax_x = 50,
                          .first_layer = 6,
                          .layer_count = 5,
                          .clipping = true,
                          .clip_width = 640,
                          .name = "back"});
    map.sounds.resize(1);
    map.sounds[0].name.text = "bird";
    map.sounds[0].data = {'O', 'g', 'g', 'S', 0, 1};
    map.auto_mappers.push_back({.group = 1, .layer = 0, .configuration = 2, .seed = 99, .flags = 1});
    map.unknown_items.push_back({0x4000, 3, {1, 2, 3}});
    return map;
}

inline bytes written(teewire::game_map const& map, teewire::datafile_write_options const& options = {}) {
    bytes file;
    REQUIRE(name(write_map(map, file, options).code) == "ok");
    return file;
}

/// Reads a file that must be a map.
inline teewire::game_map read(bytes const& file, problems& found) {
    auto const opened = teewire::datafile::open(file, {.report = found});
    REQUIRE(opened);
    teewire::game_map map;
    REQUIRE(name(read_map(*opened, map, {.report = found}).code) == "ok");
    return map;
}
inline teewire::game_map read(bytes const& file) {
    problems ignored;
    return read(file, ignored);
}

} // namespace test
