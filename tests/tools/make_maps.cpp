// Makes the map fixtures: a small arena with one of everything, in the forms that real files have.
//   make_maps FOLDER
#include <teewire/map/map.hpp>
#include <teewire/map/xvector.hpp>

#include <cstdio>
#include <fstream>
#include <string>

using namespace teewire;

namespace {

constexpr std::int32_t width = 40;
constexpr std::int32_t height = 25;

// Seen from afar it is the arena: # hookable, = unhookable, x death, f freeze, and so on.
constexpr char const* arena[height] = {
    "========================================", //
    "=......................................=", //
    "=..S................................R..=", //
    "=.####............................####.=", //
    "=......................................=", //
    "=......................................=", //
    "=............######....######..........=", //
    "=......................................=", //
    "=...h..............................a...=", //
    "=.#####..........................#####.=", //
    "=................f....f................=", //
    "=................ffffff................=", //
    "=...........#...============...#.......=", //
    "=...........#..................#.......=", //
    "=...s.......#........g.........#.....B.=", //
    "=.######....########....########..####.=", //
    "=......................................=", //
    "=..................l...................=", //
    "=..........##################..........=", //
    "=......................................=", //
    "=###................................###=", //
    "=####..............................####=", //
    "=#####xxxxxxxxxxxx====xxxxxxxxxxxx#####=", //
    "========================================", //
    "========================================", //
};

std::uint8_t game_index(char what) {
    switch (what) {
    case '#': return game_tile::solid;
    case 'x': return game_tile::death;
    case '=': return game_tile::unhookable;
    case 'f': return game_tile::freeze;
    case 'S': return 192; // spawns
    case 'R': return 193;
    case 'B': return 194;
    case 'a': return 197; // pickups
    case 'h': return 198;
    case 's': return 199;
    case 'g': return 200;
    case 'l': return 202;
    default: return game_tile::air;
    }
}

tile_layer make_layer(tile_kind kind) {
    tile_layer layer;
    layer.kind = kind;
    layer.width = width;
    layer.height = height;
    return layer;
}

map_layer named(std::string name, decltype(map_layer::content) content, bool detail = false) {
    map_layer layer;
    layer.name = std::move(name);
    layer.content = std::move(content);
    layer.flags = detail ? 1 : 0;
    return layer;
}

// A sheet of 16 by 16 parts, each of 4 by 4 pixels: a colour of its own with a bright corner.
map_image make_sheet() {
    map_image image;
    image.name.text = "bricks";
    image.width = image.height = 64;
    for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 64; ++x) {
            int const part = y / 4 * 16 + x / 4;
            bool const corner = x % 4 == 0 && y % 4 == 0;
            auto const channel = [&](int value) { return static_cast<std::uint8_t>(corner ? 255 : value % 256); };
            for (int const value : {90 + part * 5, 60 + part * 3, 40 + part * 7})
                image.pixels.push_back(channel(value));
            image.pixels.push_back(part == 0 ? 0 : 255);
        }
    return image;
}

map_quad make_sky() {
    map_quad sky;
    constexpr std::int32_t x = 800 * 1024;
    constexpr std::int32_t y = 600 * 1024;
    sky.corners = {{{-x, -y}, {x, -y}, {-x, y}, {x, y}}};
    sky.colors = {{{94, 132, 174, 255}, {94, 132, 174, 255}, {204, 232, 255, 255}, {204, 232, 255, 255}}};
    sky.texture = {{{0, 0}, {1024, 0}, {0, 1024}, {1024, 1024}}};
    sky.color_envelope = 0;
    return sky;
}

envelope_point make_point(std::int32_t time, std::int32_t curve, std::array<std::int32_t, 4> values) {
    envelope_point point;
    point.time = time;
    point.curve = curve;
    point.values = values;
    return point;
}

game_map make_map() {
    game_map map;
    map.info.emplace();
    map.info->author.text = "teewire";
    map.info->map_version.text = "1.0";
    map.info->license.text = "zlib";
    map.info->settings = {"sv_gametype dm", "tune_zone 1 gravity 0.25"};
    map.images.push_back(make_sheet());
    map_image sun;
    sun.name.text = "sun";
    sun.width = sun.height = 256;
    sun.external = true;
    map.images.push_back(sun);

    map_envelope light;
    light.name = "light";
    light.point_count = 2;
    map.envelopes.push_back(light);
    map_envelope path;
    path.name = "path";
    path.channels = 3;
    path.first_point = 2;
    path.point_count = 3;
    map.envelopes.push_back(path);
    map.points = {make_point(0, envelope_curve::linear, {1024, 1024, 1024, 1024}),
                  make_point(60'000, envelope_curve::smooth, {900, 900, 1024, 1024}),
                  make_point(0, envelope_curve::bezier, {0, 0, 0, 0}),
                  make_point(1000, envelope_curve::step, {64 * 1024, 0, 90 * 1024, 0}),
                  make_point(2000, envelope_curve::fast, {0, 0, 0, 0})};
    map.points[2].out_dx = {300, 300, 300, 0};
    map.points[2].out_dy = {0, 1024, 0, 0};
    map.points[3].in_dx = {-300, -300, -300, 0};
    map.bezier_item = true;

    tile_layer game = make_layer(tile_kind::game);
    tile_layer ground = make_layer(tile_kind::tiles);
    ground.image = 0;
    for (std::int32_t y = 0; y < height; ++y)
        for (std::int32_t x = 0; x < width; ++x) {
            std::uint8_t const index = game_index(arena[y][x]);
            game.tiles.push_back({index, 0, 0, 0});
            bool const drawn = index != 0 && index < game_tile::first_entity;
            auto const flags = static_cast<std::uint8_t>((x % 2 != 0 ? tile_flag::mirror_x : 0) |
                                                         (y % 2 != 0 ? tile_flag::rotate : 0));
            ground.tiles.push_back(drawn ? tile{index, flags, 0, 0} : tile{});
        }
    std::size_t const cells = game.cell_count();
    auto const at = [](std::size_t x, std::size_t y) { return y * width + x; };
    tile_layer front = make_layer(tile_kind::front);
    front.tiles.resize(cells);
    front.tiles[at(4, 1)].index = 33;  // start
    front.tiles[at(35, 1)].index = 34; // finish
    tile_layer tele = make_layer(tile_kind::tele);
    tele.tele.resize(cells);
    tele.tele[at(8, 16)] = {1, 26};
    tele.tele[at(30, 16)] = {1, 27};
    tile_layer speedup = make_layer(tile_kind::speedup);
    speedup.speedup.resize(cells);
    speedup.speedup[at(20, 5)].force = 30;
    speedup.speedup[at(20, 5)].max_speed = 20;
    speedup.speedup[at(20, 5)].type = 28;
    speedup.speedup[at(20, 5)].set_angle(270);
    tile_layer switches = make_layer(tile_kind::switches);
    switches.switches.resize(cells);
    switches.switches[at(2, 8)] = {1, 24, 0, 5};
    tile_layer tune = make_layer(tile_kind::tune);
    tune.tune.resize(cells);
    for (std::size_t x = 14; x < 26; ++x) tune.tune[at(x, 16)] = {1, 68};

    map_sound sound;
    sound.name.text = "birds";
    for (char const c : std::string{"OggS: not really, but enough for a fixture"})
        sound.data.push_back(static_cast<std::uint8_t>(c));
    map.sounds.push_back(sound);
    sound_source source;
    source.position = {20 * 32 * 1024, 8 * 32 * 1024};
    source.width = 200;

    map_quad moving = make_sky();
    for (map_point& corner : moving.corners)
        corner = {corner.x / 16 + 10 * 32 * 1024, corner.y / 16 + 8 * 32 * 1024};
    moving.pivot = {10 * 32 * 1024, 8 * 32 * 1024};
    moving.position_envelope = 1;
    moving.position_envelope_offset = 500;

    quad_layer sky;
    sky.quads = {make_sky()};
    quad_layer shapes;
    shapes.image = 0;
    shapes.quads = {moving};
    sound_layer birds;
    birds.sound = 0;
    birds.sources = {source};

    map_group background;
    background.name = "Sky";
    background.parallax_x = background.parallax_y = 0;
    background.layer_count = 1;
    map_group play;
    play.name = "Game";
    play.first_layer = 1;
    map.layers.push_back(named("Gradient", sky));
    map.layers.push_back(named("Ground", ground));
    map.layers.push_back(named("Shapes", shapes, true));
    map.layers.push_back(named("Game", game));
    map.layers.push_back(named("Front", front));
    map.layers.push_back(named("Tele", tele));
    map.layers.push_back(named("Speedup", speedup));
    map.layers.push_back(named("Switch", switches));
    map.layers.push_back(named("Tune", tune));
    map.layers.push_back(named("Birds", birds));
    play.layer_count = static_cast<std::int32_t>(map.layers.size()) - 1;
    map.groups = {background, play};
    auto_mapper mapper;
    mapper.group = 1;
    mapper.seed = 7;
    map.auto_mappers.push_back(mapper);
    return map;
}

void save(std::string const& path, std::vector<std::uint8_t> const& bytes) {
    std::ofstream file{path, std::ios::binary};
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
}

void save(std::string const& path, game_map const& map, datafile_write_options const& how) {
    std::vector<std::uint8_t> bytes;
    map_problem const failed = write_map(map, bytes, how);
    if (failed.code != map_errc::ok) std::fprintf(stderr, "%s: %s\n", path.c_str(), describe(failed.code).data());
    save(path, bytes);
}

void save_xvector(std::string const& path, xvector_layout layout) {
    xvector_header h;
    h.layout = layout;
    h.name = "H\xc3\xbcgel";
    h.width = 8;
    h.height = 6;
    h.depth = 2;
    h.player_depth = 1;
    h.background = "sky.png";
    h.scroll_x = -3;
    h.parallax_y = 0.5F;
    std::vector<xvector_tile> tiles;
    for (std::uint32_t y = 3; y < h.height; ++y)
        for (std::uint32_t x = 0; x < h.width; ++x) tiles.push_back({0, x, y, 0, y * 100 + x % 3});
    tiles.push_back({0, 2, 2, 1, 4'000'000'000});
    std::vector<std::uint8_t> bytes(xvector_size(h, tiles.size()));
    if (!write_xvector(h, tiles, bytes)) std::fprintf(stderr, "%s: refused\n", path.c_str());
    save(path, bytes);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: make_maps FOLDER\n", stderr);
        return 2;
    }
    std::string const folder = std::string{argv[1]} + "/";
    game_map map = make_map();
    save(folder + "ddnet.map", map, {.version = 4, .level = 9});
    convert_to_07(map);
    save(folder + "teeworlds07.map", map, {.version = 4, .level = 9});
    save_xvector(folder + "revision_1.xvmap", xvector_layout::revision_1);
    save_xvector(folder + "original_program.xvmap", xvector_layout::original_program);
    return 0;
}
