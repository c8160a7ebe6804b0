// Opening datafiles, and reading the largest game layer beside zlib's own time for its block.
#include "cases.hpp"
#include "measure.hpp"

#include <teewire/map/map.hpp>

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace teewire::bench {

namespace {

using bytes = std::vector<std::uint8_t>;

bytes read(std::filesystem::path const& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

// As large as real ones in items, and far larger in blocks.
bytes large_file(int version) {
    datafile_writer writer{{.version = version, .level = 1}};
    std::int32_t const ints[23] = {};
    for (std::uint16_t id = 0; id < 200; ++id) writer.add_item(5, id, ints);
    bytes block(std::size_t{1} << 20);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(i * i >> 11);
    for (int i = 0; i < 64; ++i) writer.add_block(block);
    return writer.finish();
}

void open(benchmark::State& state, bytes const& file) {
    bool good = true;
    measure(state, [&] { good &= datafile::open(file).has_value(); });
    if (!good) state.SkipWithError("not a datafile");
    state.counters["MB"] = 1e-6 * static_cast<double>(file.size());
}

void report(benchmark::State& state, bool good, std::size_t size) {
    if (!good) state.SkipWithError("the block was not read");
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void read_layer(benchmark::State& state, bytes const& file) {
    auto const opened = datafile::open(file);
    tile_layer layer;
    bool good = true;
    for (auto _ : state) {
        good &= read_game_layer(*opened, layer);
        benchmark::ClobberMemory();
    }
    report(state, good, layer.tiles.size() * sizeof(tile));
}

void read_block(benchmark::State& state, bytes const& file, std::int32_t block) {
    auto const opened = datafile::open(file);
    bytes out(*opened->block_size(block));
    auto const memory = std::make_unique<inflate_memory>();
    bool good = true;
    measure(state, [&] { good &= opened->read_block(block, out, *memory).has_value(); });
    report(state, good, out.size());
}

// The floor: only zlib. It allocates.
void zlib_block(benchmark::State& state, bytes const& file, std::int32_t block) {
    datafile_block const from = datafile::open(file)->block(static_cast<std::size_t>(block));
    bytes out(from.size);
    bool good = true;
    for (auto _ : state) {
        uLongf size = out.size();
        good &= uncompress(out.data(), &size, from.stored.data(), from.stored.size()) == Z_OK;
        benchmark::ClobberMemory();
    }
    report(state, good, out.size());
}

void read_whole(benchmark::State& state, bytes const& file) {
    auto const opened = datafile::open(file);
    bool good = true;
    for (auto _ : state) {
        game_map map;
        good &= read_map(*opened, map).code == map_errc::ok;
    }
    report(state, good, file.size());
}

} // namespace

void add_maps(std::filesystem::path const& folder) {
    for (int const version : {3, 4})
        benchmark::RegisterBenchmark(("map_open/64_blocks_v" + std::to_string(version)).c_str(),
                                     [file = large_file(version)](benchmark::State& state) { open(state, file); });
    if (!std::filesystem::is_directory(folder)) return;

    // The largest file, and that with the largest game layer.
    struct source {
        std::string name;
        bytes file;
        std::size_t size = 0;
        std::int32_t block = -1; // of the game layer
    };
    source by_file;
    source by_layer;
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        if (entry.path().extension() != ".map") continue;
        bytes const file = read(entry.path());
        tile_layer layer;
        auto const opened = datafile::open(file);
        if (!opened || !read_game_layer(*opened, layer)) continue;
        std::string const name = entry.path().stem().string();
        if (file.size() > by_file.size) by_file = {name, file, file.size(), layer.tiles_block};
        // Packed ones hold less than they are.
        if (layer.version < 4 && layer.cell_count() > by_layer.size)
            by_layer = {name, file, layer.cell_count(), layer.tiles_block};
    }
    auto const add = [](std::string const& name, auto run) { benchmark::RegisterBenchmark(name.c_str(), run); };
    add("map_open/" + by_file.name, [f = by_file.file](benchmark::State& state) { open(state, f); });
    add("map_whole/" + by_file.name, [f = by_file.file](benchmark::State& state) { read_whole(state, f); });
    for (source const& s : {by_layer, by_file}) {
        add("map_game_layer/" + s.name, [s](benchmark::State& state) { read_layer(state, s.file); });
        add("map_block/" + s.name, [s](benchmark::State& state) { read_block(state, s.file, s.block); });
        add("map_zlib/" + s.name, [s](benchmark::State& state) { zlib_block(state, s.file, s.block); });
    }
}

} // namespace teewire::bench
