// Reads a map, looks things up in it, changes it and writes it:  maps FILE
#include <teewire/map/map.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

using namespace teewire;

int main(int argc, char** argv) {
    std::ifstream in{argc == 2 ? argv[1] : "", std::ios::binary};
    if (!in) return std::fprintf(stderr, "usage: maps FILE\n"), 2;
    std::vector<std::uint8_t> const bytes{std::istreambuf_iterator<char>{in}, {}};
    //! [open]
    auto print = [](map_problem const& problem) {
        std::printf("%s: byte %zu: %s\n", name(problem.severity).data(), problem.position,
                    describe(problem.code).data());
    };
    auto const file = datafile::open(bytes, {.report = print}); // the container: header, tables, items
    if (!file) return print(file.error()), 1;
    //! [open]
    std::printf("version %d, %zu items, %zu blocks, crc %08x\n", file->version(), file->item_count(),
                file->block_count(), map_crc32(bytes));

    //! [game layer]
    // The least that a server needs; costs little more than zlib's time for that one block.
    tile_layer game;
    if (!read_game_layer(*file, game, print)) return 1;
    auto const spawns = std::count_if(game.tiles.begin(), game.tiles.end(), [](tile const& t) {
        return t.index >= game_tile::first_entity && t.index < game_tile::first_entity + 3;
    });
    //! [game layer]
    std::printf("%d x %d tiles, %td spawns\n", game.width, game.height, spawns);

    //! [physics]
    // Everything except content that players only see or hear.
    game_map physics;
    if (read_map(*file, physics, {.contents = map_contents::physics}).code != map_errc::ok) return 1;
    physics_layers const layers = physics_of(physics);
    int freezing = 0;
    if (layers.game != nullptr) // or there is nothing to stand on
        for (std::int32_t y = 0; y < layers.height(); ++y)
            for (std::int32_t x = 0; x < layers.width(); ++x) {
                physics_cell const cell = layers.at(x, y);
                freezing += cell.game.index == game_tile::freeze || cell.front.index == game_tile::freeze;
            }
    //! [physics]
    std::printf("%d tiles freeze\n", freezing);

    //! [change]
    game_map map;
    if (map_problem const problem = read_map(*file, map); problem.code != map_errc::ok) return print(problem), 1;
    if (!map.info) map.info.emplace();
    map.info->author.text = "somebody else";
    map.find(tile_kind::game)->tiles[0].index = game_tile::solid;
    std::vector<std::uint8_t> written;
    if (map_problem const problem = write_map(map, written); problem.code != map_errc::ok) return print(problem), 1;
    //! [change]

    auto const again = datafile::open(written);
    game_map reread;
    if (!again || read_map(*again, reread).code != map_errc::ok) return 1;
    std::printf("read again: %s, by %s\n", reread == map ? "equal" : "different", reread.info->author.text.c_str());
}
