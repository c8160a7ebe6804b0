#include "base/output.hpp"
#include "recording/demo/demo_document.hpp"
#include "verbs/verbs.hpp"
#include "verbs/view_options.hpp"

#include <fmt/format.h>

namespace teewire::replay {
namespace {

struct picture_options {
    std::string file;
    output_choice to;
    std::optional<time_position> at;
    view_options view;
};

int draw_picture(picture_options const& options) {
    view_choice const view = options.view.read();
    output_file out{options.to, content::binary, options.view.inputs(options.file)};
    input const source{options.file};
    demo_document demo{source};
    if (demo.overview().first_tick < 0) throw bad_input{demo.name(), "there is no tick in it"};
    std::int32_t const first = demo.overview().first_tick, last = demo.overview().last_tick;
    std::int32_t const tick = options.at ? options.at->tick(first, last) : first + (last - first) / 2;
    auto const drawn = options.view.open(demo);
    workers team{options.view.jobs};
    frame to{view.width, view.height};
    drawn->draw(tick, view, team, to);
    if (interrupted()) return exit_interrupted;
    write_whole(out, encode_png(picture_of(to)));
    if (interrupted()) return exit_interrupted;
    return report_damage(demo, *drawn, "the last moment before it is shown");
}

} // namespace

verb const picture_verb{"picture", "Draw a moment of a demo as a PNG picture",
                        [](option_set& options) -> std::function<int()> {
                            auto const chosen = std::make_shared<picture_options>();
                            options.file(chosen->file, "a demo, or - for standard input");
                            options.output(chosen->to, option_set::presence::required);
                            options.position("--at", chosen->at, "moment to show [default: the middle]");
                            chosen->view.declare(options);
                            options.examples({"picture game.demo --at 2:31 -o frame.png",
                                              "picture game.demo --at 2:31 --follow nameless -o frame.png"});
                            return [chosen] { return draw_picture(*chosen); };
                        }};

} // namespace teewire::replay
