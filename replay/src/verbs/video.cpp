#include "base/output.hpp"
#include "cli/range_options.hpp"
#include "edit/around.hpp"
#include "recording/demo/demo_document.hpp"
#include "verbs/verbs.hpp"
#include "verbs/view_options.hpp"
#include "video/encoder.hpp"
#include "video/sound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teewire::replay {
namespace {

struct video_options {
    std::string file;
    output_choice to;
    std::string format;
    std::optional<time_position> from;
    std::optional<time_position> until;
    std::vector<std::string> around;
    std::optional<double> before = 5; ///< seconds
    std::optional<double> after = 5;
    double frames_per_second = 60;
    double speed = 1;
    std::optional<double> fade = 0; ///< seconds
    bool vertical = false;
    bool no_sound = false;
    view_options view;
};

video_format const& chosen_format(video_options const& options) {
    std::string const& name = options.to.name;
    auto const dot = name.rfind('.');
    std::string const ending = dot != std::string::npos ? name.substr(dot + 1) : std::string{};
    video_format const* const found = find_video_format(options.format.empty() ? ending : options.format);
    if (found == nullptr)
        throw usage_error{fmt::format("{}: name ends in neither .mp4, .webm, .gif nor .y4m; use --format", name)};
    return *found;
}

std::vector<tick_range> chosen_ranges(video_options const& options, demo_document& demo, std::string& damage) {
    std::int32_t const first = demo.overview().first_tick, last = demo.overview().last_tick;
    if (options.around.empty()) {
        tick_range const range{options.from ? options.from->tick(first, last) : first,
                               options.until ? options.until->tick(first, last) : last};
        if (range.first > range.last)
            throw usage_error{fmt::format("--from (tick {}) is after --to (tick {})", range.first, range.last)};
        return {{std::max(range.first, first), std::min(range.last, last)}};
    }
    std::vector<moment_pattern> patterns;
    for (std::string const& text : options.around) patterns.emplace_back(text);
    auto found = search_moments(demo, patterns, *options.before, *options.after, damage);
    for (tick_range& range : found) range = {std::max(range.first, first), std::min(range.last, last)};
    return found;
}

// How many frames a piece has.
std::int64_t frames_of(tick_range const& range, video_options const& options) {
    double const seconds = (double{1} * range.last - range.first) / ticks_per_second / options.speed;
    return std::max<std::int64_t>(1, std::llround(seconds * options.frames_per_second));
}

// Darkens a frame, from 1 for no change to 0 for black.
void darken(frame& to, double brightness) {
    if (brightness >= 1) return;
    auto const factor = static_cast<unsigned>(std::lround(std::max(brightness, 0.0) * 256));
    auto const part = [&](std::uint8_t value) { return static_cast<std::uint8_t>(value * factor / 256); };
    for (pixel& p : to.pixels) p = {part(p.r), part(p.g), part(p.b), p.a};
}

int make_video(video_options const& options) {
    view_options chosen = options.view;
    if (options.vertical) {
        if (chosen.size != view_options{}.size) throw usage_error{"--vertical is a --size: 1080x1920"};
        chosen.size = "1080x1920";
    }
    view_choice const view = chosen.read();
    if (view.width % 2 != 0 || view.height % 2 != 0)
        throw usage_error{fmt::format("--size: {}: width and height of a video are even", chosen.size)};
    video_format const& format = chosen_format(options);
    output_file out{options.to, content::binary, chosen.inputs(options.file)};
    input const source{options.file};
    demo_document demo{source};
    if (demo.overview().first_tick < 0) throw bad_input{demo.name(), "there is no tick in it"};
    std::string damage;
    auto const ranges = chosen_ranges(options, demo, damage);
    if (!damage.empty()) complain(damage + "; nothing after it was searched");
    if (interrupted()) return exit_interrupted;
    if (ranges.empty()) return exit_bad_input;
    std::int64_t frames = 0;
    for (tick_range const& range : ranges) frames += frames_of(range, options);

    auto const drawn = chosen.open(demo);
    workers team{chosen.jobs};
    frame to{view.width, view.height};
    video_encoder encoder{out, format, view.width, view.height, options.frames_per_second};
    std::optional<sound_track> sound;
    if (!format.sound.empty() && !options.no_sound)
        if (auto const folders = chosen.folders(); !folders.empty())
            sound.emplace(folders, out, options.frames_per_second);
    if (sound && !sound->any()) {
        remark(fmt::format("{}: without sound, as no game has samples that ffmpeg can read", out.name()));
        sound.reset();
    }
    progress shown{static_cast<std::uint64_t>(frames)};
    std::uint64_t done = 0;
    double const step = ticks_per_second * options.speed / options.frames_per_second;
    for (tick_range const& range : ranges)
        for (std::int64_t n = 0, count = frames_of(range, options); n < count && !interrupted(); ++n) {
            double const tick = range.first + static_cast<double>(n) * step;
            drawn->draw(tick, view, team, to);
            if (sound) sound->add_frame(drawn->middle().x, drawn->middle().y, drawn->happened_since(tick - step));
            double const from_end = static_cast<double>(std::min(n, count - 1 - n));
            if (*options.fade > 0) darken(to, from_end / (*options.fade * options.frames_per_second));
            encoder.add(to, team);
            shown.update(++done, out.name());
        }
    shown.clear();
    if (interrupted()) return exit_interrupted;
    drawn->read_to(ranges.back().last); // the last frame is before it
    encoder.finish(sound ? sound->finish() : "");
    if (interrupted()) return exit_interrupted;
    out.finish_as_named();
    if (!out.is_stream())
        remark(fmt::format("{}: {:.1f} seconds, {}, {}", out.name(),
                           static_cast<double>(frames) / options.frames_per_second,
                           counted(static_cast<std::uint64_t>(frames), "frame"), size_text(out.size())));
    int const code = report_damage(demo, *drawn, "the video stays at the last moment before it");
    return damage.empty() ? code : exit_bad_input;
}

} // namespace

verb const video_verb{
    "video", "Draw a demo, or parts of it, as a video", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<video_options>();
        options.file(chosen->file, "a demo, or - for standard input");
        options.output(chosen->to, option_set::presence::required,
                       "file to write, named .mp4, .webm, .gif or .y4m; -: standard output");
        options.choice("--format", chosen->format, {"mp4", "webm", "gif", "y4m"}, "format, whatever the name is");
        options.position("--from", chosen->from, "where it starts [default: start of the demo]");
        options.position("--to", chosen->until, "where it stops [default: end of the demo]");
        options.texts("--around", chosen->around,
                      fmt::format("show what is around each {}; can be given several times", moment_forms).c_str(),
                      "WHAT");
        options.duration("--before", chosen->before, "with --around: start, before the moment");
        options.duration("--after", chosen->after, "with --around: end, after the moment");
        options.exclusive({"--around", "--from"});
        options.exclusive({"--around", "--to"});
        options.number("--fps", chosen->frames_per_second, 1, 240, "frames per second");
        options.duration("--fade", chosen->fade, "fade each piece in from black, and out again");
        options.number("--speed", chosen->speed, 0.01, 100, "0.5 is slow motion");
        chosen->view.declare(options);
        options.flag("--vertical", chosen->vertical, "a --size of 1080x1920, for phones");
        options.flag("--no-sound", chosen->no_sound, "without the sounds of the game");
        options.remark("All but .y4m needs the program ffmpeg.");
        options.examples({"video game.demo -o clip.mp4 --from 1:20 --to 1:50 --follow nameless",
                          "video game.demo -o kills.mp4 --around kill:nameless --follow nameless --speed 0.5",
                          "video game.demo -o - --format y4m | ffmpeg -i - clip.mkv"});
        return [chosen] { return make_video(*chosen); };
    }};

} // namespace teewire::replay
