#include "base/output.hpp"
#include "map/drawing.hpp"
#include "verbs/verbs.hpp"

#include <filesystem>

namespace teewire::replay {
namespace {

struct map_render_options {
    std::string file;
    output_choice to;
    drawing_options how;
};

int map_render(map_render_options const& options) {
    std::string const& mapres = options.how.mapres;
    if (!mapres.empty() && !std::filesystem::is_directory(mapres))
        throw usage_error{fmt::format("--mapres: {} is not a folder", mapres)};
    output_file out{options.to, content::binary, {&options.file, 1}};
    map_source const source{options.file};
    std::optional<progress> shown;
    drawing_options how = options.how;
    how.say = [](std::string const& line) { remark(line); };
    how.done = [&](std::size_t done, std::size_t all) {
        if (!shown) shown.emplace(all);
        shown->update(done, "drawing");
    };
    picture const drawn = draw_map(source, how);
    shown.reset();
    if (interrupted()) return exit_interrupted;
    write_whole(out, encode_png(drawn));
    return interrupted() ? exit_interrupted : exit_ok;
}

} // namespace

verb const map_render_verb{
    "render", "Draw a map as a PNG picture", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<map_render_options>();
        options.file(chosen->file, "a map, a demo (for the map in it), or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.choice("--layer", chosen->how.layer, {"all", "game"},
                       "all: as in the game; game: what tiles do, one colour per kind");
        options.text("--mapres", chosen->how.mapres, "folder of PNG images that maps refer to", "FOLDER");
        options.number("--scale", chosen->how.scale, 1, 256,
                       "pixels per tile [default: chosen for a picture of moderate size]");
        options.numbers("--region", chosen->how.region, 4, "part to draw, in tiles: X,Y,WIDTH,HEIGHT");
        options.examples(
            {"map render dm1.map -o dm1.png", "map render game.demo --layer game --scale 4 -o game.png"});
        return [chosen] { return map_render(*chosen); };
    }};

} // namespace teewire::replay
