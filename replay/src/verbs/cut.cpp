#include "edit/cut.hpp"
#include "base/output.hpp"
#include "cli/map_file.hpp"
#include "cli/range_options.hpp"
#include "edit/around.hpp"
#include "recording/demo/demo_file.hpp"
#include "recording/demo/demo_stream.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

struct cut_options {
    std::string file;
    output_choice to;
    std::vector<time_position> from;
    std::vector<time_position> until; ///< the last tick of each
    std::vector<std::string> around;
    std::optional<double> before = 5; ///< seconds
    std::optional<double> after = 5;
    bool one = false; ///< a demo of all pieces
    bool strip_map = false;
    std::string map; ///< path of a map file
};

std::vector<tick_range> chosen_ranges(cut_options const& options, demo_overview const& all) {
    std::vector<tick_range> ranges;
    if (options.from.size() > 1 || options.until.size() > 1)
        if (options.from.size() != options.until.size())
            throw usage_error{fmt::format("--from given {} times and --to {} times; each piece needs both",
                                          options.from.size(), options.until.size())};
    for (std::size_t i = 0; i < std::max<std::size_t>({1, options.from.size(), options.until.size()}); ++i) {
        tick_range r;
        if (i < options.from.size()) r.first = options.from[i].tick(all.first_tick, all.last_tick);
        if (i < options.until.size()) r.last = options.until[i].tick(all.first_tick, all.last_tick);
        if (r.first > r.last)
            throw usage_error{fmt::format("--from (tick {}) is after --to (tick {})", r.first, r.last)};
        if (options.one && !ranges.empty() && r.first < ranges.back().first)
            throw usage_error{
                fmt::format("--one: ticks cannot go back in a demo, from {} to {}", ranges.back().first, r.first)};
        ranges.push_back(r);
    }
    return options.one ? unite(std::move(ranges)) : ranges;
}

// The pieces of each demo to write.
std::vector<std::vector<demo_piece>> sort_out(cut_options const& options, demo_cutter const& cutter,
                                              std::vector<tick_range> const& ranges) {
    std::vector<std::vector<demo_piece>> demos;
    if (options.one) {
        demos.push_back(cutter.find(ranges));
    } else if (!options.around.empty()) {
        for (demo_piece const& piece : cutter.find(ranges)) demos.push_back({piece});
    } else { // in any order
        for (tick_range const& r : ranges) demos.push_back(cutter.find({&r, 1}));
    }
    return demos;
}

// A range that nothing was found in.
std::optional<tick_range> find_missing(cut_options const& options,
                                       std::vector<std::vector<demo_piece>> const& demos,
                                       std::vector<tick_range> const& ranges) {
    if (!options.around.empty()) { // what was found there was in a snapshot
        bool const any =
            std::any_of(demos.begin(), demos.end(), [](auto const& pieces) { return !pieces.empty(); });
        return any ? std::nullopt : std::optional{tick_range{ranges.front().first, ranges.back().last}};
    }
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        auto const& pieces = demos[options.one ? 0 : i];
        auto const in_range = [&](demo_piece const& p) {
            return p.ticks.first >= ranges[i].first && p.ticks.first <= ranges[i].last;
        };
        if (std::none_of(pieces.begin(), pieces.end(), in_range)) return ranges[i];
    }
    return std::nullopt;
}

void report_length(output_file& file, std::span<tick_range const> written) {
    std::uint64_t const size = file.size();
    std::int64_t ticks = 0;
    for (tick_range const& r : written) ticks += std::int64_t{r.last} - r.first;
    remark(fmt::format("{}: {} from tick {} to {}{}, {}", file.finish(), clock_text(ticks), written.front().first,
                       written.back().last,
                       written.size() == 1 ? std::string{} : fmt::format(" in {} pieces", written.size()),
                       size_text(size)));
}

int cut(cut_options const& options) {
    std::vector<moment_pattern> patterns;
    for (std::string const& text : options.around) patterns.emplace_back(text);
    std::vector<std::string> inputs{options.file};
    if (!options.map.empty()) inputs.push_back(options.map);
    demo_target target{options.to, inputs};
    // A piece depends on all that comes before it, and on nothing after it.
    part_choice const until{[&](demo_ticks whole) {
        demo_overview what;
        what.first_tick = whole.first;
        what.last_tick = whole.last;
        std::int32_t last = patterns.empty() ? 0 : INT32_MAX;
        if (patterns.empty())
            for (tick_range const& r : chosen_ranges(options, what)) last = std::max(last, r.last);
        return demo_ticks{0, last};
    }};
    input const source{options.file, until};
    demo_document demo{source};
    if (demo.overview().first_tick < 0)
        throw bad_input{
            demo.overview().error.code == errc::ok
                ? demo.name() + ": there is no tick in it"
                : demo.error_text({demo.overview().error, demo_stage::chunk, -1, demo.overview().error.position})};
    std::optional<map_file> chosen_map;
    if (!options.map.empty()) chosen_map.emplace(options.map).expect_map_of(map_of(demo.header()), demo.name());
    auto const map = chosen_map          ? chosen_map->bytes()
                     : options.strip_map ? std::span<std::uint8_t const>{}
                                         : demo.map();

    int code = exit_ok;
    progress shown{demo.file_size()};
    std::string last_damage;
    auto const damaged = [&](std::string const& what) {
        if (std::exchange(last_damage, what) == what) return; // of another piece too
        shown.clear();
        complain(what);
        code = exit_bad_input;
    };
    std::string damage;
    auto const ranges = patterns.empty() ? chosen_ranges(options, demo.overview())
                                         : search_moments(demo, patterns, *options.before, *options.after, damage);
    if (!damage.empty()) damaged(damage + "; nothing after it was searched");
    if (interrupted()) return exit_interrupted;
    if (ranges.empty()) return code;

    demo_cutter cutter{demo, damaged};
    auto const demos = sort_out(options, cutter, ranges);
    if (interrupted()) return exit_interrupted;
    if (auto const missing = find_missing(options, demos, ranges)) {
        std::string const what = fmt::format(
            "{}: {}", demo.name(), nothing_text(*missing, demo.overview().first_tick, demo.overview().last_tick));
        if (code == exit_ok) throw usage_error{what};
        complain(what);
    }
    if (target.is_stream() && demos.size() > 1)
        throw usage_error{
            fmt::format("{}: {} pieces, one demo for each; use -o FILE or --one", demo.name(), demos.size())};
    for (std::vector<demo_piece> const& pieces : demos) {
        if (pieces.empty()) continue;
        auto file = target.next();
        auto const written =
            cutter.write(*file, pieces, map, [&](std::uint64_t bytes) { shown.update(bytes, file->name()); });
        if (interrupted()) break;
        shown.clear();
        if (written.empty()) target.reuse();
        else report_length(*file, written);
    }
    return interrupted() ? exit_interrupted : code;
}

} // namespace

verb const cut_verb{
    "cut", "Extract pieces of a demo, by time or around kills, finishes or chat",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<cut_options>();
        options.file(chosen->file, "a demo, or - for standard input");
        options.output(chosen->to, option_set::presence::required,
                       "file to write; -: standard output; further pieces go to NAME_2.demo, NAME_3.demo, ...");
        options.positions("--from", chosen->from,
                          "where a piece starts [default: start of the demo]; can be given several times");
        options.positions("--to", chosen->until, "where a piece stops [default: end of the demo]");
        options.texts("--around", chosen->around,
                      fmt::format("cut around each {}; can be given several times", moment_forms).c_str(), "WHAT");
        options.duration("--before", chosen->before, "start of the piece, before the moment");
        options.duration("--after", chosen->after, "end of the piece, after the moment");
        options.flag("--one", chosen->one, "write all pieces into one demo");
        options.flag("--strip-map", chosen->strip_map, "leave out the map");
        options.text("--map", chosen->map, "include this map, which must be the one in the demo's header", "FILE");
        options.exclusive({"--around", "--from"});
        options.exclusive({"--around", "--to"});
        options.exclusive({"--strip-map", "--map"});
        options.examples({"cut game.demo --from 1:00 --to 1:30 -o piece.demo",
                          "cut game.demo --around kill --around 'chat:gg' --after 3 --one -o best.demo"});
        return [chosen] { return cut(*chosen); };
    }};

} // namespace teewire::replay
