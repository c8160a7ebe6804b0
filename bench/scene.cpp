// A scene: snapshots read as worlds, and draw lists of the game and of the map, for frames of demos.
#include "cases.hpp"
#include "measure.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/scene/map_scene.hpp>
#include <teewire/scene/scene.hpp>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::bench {
namespace {

using namespace scene;

constexpr char const* names[] = {"ddnet-git_Multeasymap_bench", "ddnet-git_RaiNyMore2_bench", "synth_ddnet64",
                                 "ddnet_yard"};
constexpr std::size_t frames = 100;

// Every picture is there, as one number.
struct any_picture final : picture_source {
    any_picture() {
        game = emoticons = particles = 0;
        own_skin = {0, 0};
    }
    skin_textures skin(std::string_view) noexcept override { return {0, 0}; }
    texture part(skin_part, std::string_view) noexcept override { return 0; }
};

// Consecutive snapshots from the middle of a demo, and its map.
struct filmed {
    explicit filmed(std::filesystem::path const& path) {
        std::ifstream in{path, std::ios::binary};
        file.assign(std::istreambuf_iterator<char>{in}, {});
        auto const opened = demo_reader::open(file);
        if (!opened) return;
        auto const memory = std::make_unique<demo_player_memory>();
        auto const& sizes = detect_size_table(*opened, *memory);
        protocol const p = sizes.sizes == &sizes_06 ? protocol::ddnet : protocol::teeworlds_07;
        reader = world_reader{p};
        if (auto const container = datafile::open(opened->map()))
            if (read_map(*container, map).code == map_errc::ok) layer = ground::layer_of(map);
        if (layer != nullptr) on.emplace(*layer);
        demo_overview const all = scan_demo(*opened, {});
        std::int32_t const middle = all.first_tick + (all.last_tick - all.first_tick) / 2;
        demo_player player{*opened, *memory, {sizes.sizes}};
        for (demo_event event; snapshots.size() < frames && player.next(event);)
            if (event.kind == demo_event_kind::snapshot && event.tick >= middle) {
                auto const ints = player.state().ints();
                snapshots.push_back({event.tick, {ints.begin(), ints.end()}});
            }
        images.assign(map.images.size(), 0);
    }
    [[nodiscard]] ground const* where() const { return on ? &*on : nullptr; }
    void read(std::size_t n, world& out) const {
        reader.read(snapshots[n].tick, snapshot_view::trusted(snapshots[n].ints), where(), out);
    }

    struct snapshot {
        std::int32_t tick;
        std::vector<std::int32_t> ints;
    };
    std::vector<std::uint8_t> file;
    std::vector<snapshot> snapshots;
    game_map map;
    tile_layer const* layer = nullptr;
    std::optional<ground> on;
    world_reader reader{protocol::ddnet};
    std::vector<texture> images;
};

void per_frame(benchmark::State& state, double seconds, std::size_t count) {
    state.counters["us_per_frame"] = 1e6 * seconds / static_cast<double>(count);
}

void read_worlds(benchmark::State& state, filmed const& demo) {
    auto const out = std::make_unique<world>();
    std::size_t tees = 0;
    double const seconds = measure(state, [&] {
        tees = 0;
        for (std::size_t n = 0; n < demo.snapshots.size(); ++n) {
            demo.read(n, *out);
            tees += out->tees.size();
        }
    });
    per_frame(state, seconds, demo.snapshots.size());
    state.counters["tees"] = static_cast<double>(tees) / static_cast<double>(demo.snapshots.size());
}

// A draw list of everything, whether or not it is in the picture.
struct drawn {
    std::vector<vertex> vertices = std::vector<vertex>(1 << 16);
    std::vector<draw_command> commands = std::vector<draw_command>(1 << 12);
};

void draw_worlds(benchmark::State& state, filmed const& demo) {
    std::vector<std::unique_ptr<world>> worlds;
    for (std::size_t n = 0; n < demo.snapshots.size(); ++n) demo.read(n, *worlds.emplace_back(new world));
    drawn to;
    any_picture pictures;
    seen_tees tees;
    bool complete = true;
    double const seconds = measure(state, [&] {
        for (std::size_t n = 0; n + 1 < worlds.size(); ++n) {
            moment at;
            at.before = worlds[n].get();
            at.after = worlds[n + 1].get();
            at.tick = static_cast<float>(at.before->tick) + 0.5F;
            at.events = {at.before->events.begin(), at.before->events.size()};
            at.on = demo.where();
            draw_list list{to.vertices, to.commands};
            find_tees(at, tees);
            draw_game(at, tees, {}, pictures, list);
            draw_names(at, tees, {}, 1, pictures, list);
            complete &= list.complete();
        }
    });
    if (!complete) state.SkipWithError("the draw list was full");
    per_frame(state, seconds, worlds.size() - 1);
}

void draw_layers(benchmark::State& state, filmed const& demo) {
    drawn to;
    bool complete = true;
    double const seconds = measure(state, [&] {
        for (std::size_t n = 0; n < frames; ++n) {
            draw_list list{to.vertices, to.commands};
            for (side const which : {side::background, side::foreground})
                draw_map(demo.map, which, {}, {20.0 * static_cast<double>(n), 0}, demo.images, list);
            complete &= list.complete();
        }
    });
    if (!complete) state.SkipWithError("the draw list was full");
    per_frame(state, seconds, frames);
}

} // namespace

void add_scenes(std::filesystem::path const& folder) {
    for (std::string const name : names) {
        auto file = folder / (name + ".demo");
        if (!std::filesystem::exists(file))
            file = std::filesystem::path{TEEWIRE_FIXTURES} / "demos" / (name + ".demo");
        if (!std::filesystem::exists(file)) continue;
        auto const demo = std::make_shared<filmed>(file);
        if (demo->snapshots.size() < 2) continue;
        auto const add = [&](char const* what, void (*run)(benchmark::State&, filmed const&)) {
            benchmark::RegisterBenchmark(("scene/" + std::string{what} + '/' + name).c_str(),
                                         [demo, run](benchmark::State& state) { run(state, *demo); });
        };
        add("read", read_worlds);
        add("game", draw_worlds);
        if (demo->layer != nullptr) add("map", draw_layers);
    }
}

} // namespace teewire::bench
