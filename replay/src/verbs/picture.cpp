#include "base/output.hpp"
#include "recording/demo/demo_document.hpp"
#include "verbs/verbs.hpp"
#include "video/drawn_demo.hpp"
#include "web/viewer_assets.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace teewire::replay {
namespace {

struct picture_options {
    std::string file;
    output_choice to;
    std::optional<time_position> at;
    std::string size = "1280x720";
    std::string map;
    std::vector<std::string> data;
    unsigned jobs = 0;
    view_choice view;
};

// "1280x720"
void read_size(std::string const& text, view_choice& view) {
    constexpr std::int32_t most = 8192;
    char const* const end = text.data() + text.size();
    auto const [x, failed] = std::from_chars(text.data(), end, view.width);
    bool good = failed == std::errc{} && x != end && *x == 'x';
    if (good) {
        auto const [rest, also_failed] = std::from_chars(x + 1, end, view.height);
        good = also_failed == std::errc{} && rest == end;
    }
    auto const fits = [](std::int32_t side) { return side >= 1 && side <= most; };
    if (!good || !fits(view.width) || !fits(view.height))
        throw usage_error{fmt::format("--size: {} is not WIDTHxHEIGHT, each up to {}", text, most)};
}

std::vector<std::uint8_t> read_map_file(std::string const& name) {
    if (name.empty()) return {};
    input const file{name};
    file.require_all();
    return {file.bytes().begin(), file.bytes().end()};
}

int draw_picture(picture_options const& options) {
    view_choice view = options.view;
    read_size(options.size, view);
    std::vector<std::string> inputs{options.file};
    if (!options.map.empty()) inputs.push_back(options.map);
    output_file out{options.to, content::binary, inputs};
    input const source{options.file};
    demo_document demo{source};
    if (demo.overview().first_tick < 0) throw bad_input{demo.name() + ": there is no tick in it"};
    std::int32_t const first = demo.overview().first_tick, last = demo.overview().last_tick;
    std::int32_t const tick = options.at ? options.at->tick(first, last) : first + (last - first) / 2;
    drawn_demo drawn{demo, read_map_file(options.map), game_pictures{options.data}.folders()};
    if (!drawn.lacks().empty()) remark(fmt::format("{}: without {}", demo.name(), drawn.lacks()));
    workers team{options.jobs};
    frame to{view.width, view.height};
    drawn.draw(tick, view, team, to);
    if (interrupted()) return exit_interrupted;
    write_whole(out, encode_png(picture_of(to)));
    if (interrupted()) return exit_interrupted;
    if (drawn.damage().empty()) return exit_ok;
    complain(fmt::format("{}: {}; the last that comes before is shown", demo.name(), drawn.damage()));
    return exit_bad_input;
}

} // namespace

verb const picture_verb{
    "picture", "Draw a moment of a demo as a PNG picture", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<picture_options>();
        options.file(chosen->file, "demo, or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.position("--at", chosen->at, "moment to show [default: the middle]");
        options.text("--follow", chosen->view.follow, "player in the middle [default: who recorded it]", "NAME");
        options.numbers("--center", chosen->view.center, 2, "tile in the middle instead: X,Y");
        options.exclusive({"--follow", "--center"});
        options.number("--zoom", chosen->view.zoom, 0.1, 20, "2 shows twice as much in each direction");
        options.text("--size", chosen->size, "pixels", "WIDTHxHEIGHT");
        options.text("--map", chosen->map, "map file for a demo without its map", "FILE");
        options.texts("--data", chosen->data, "folder of a game with its pictures; can be given several times "
                      "[default: those of the games that are installed]", "FOLDER");
        options.jobs(chosen->jobs);
        options.examples({"picture game.demo --at 2:31 -o frame.png",
                          "picture game.demo --at 2:31 --follow nameless -o frame.png"});
        return [chosen] { return draw_picture(*chosen); };
    }};

} // namespace teewire::replay
