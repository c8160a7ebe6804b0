#include "cli/examine_files.hpp"
#include "map/document.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <optional>

namespace teewire::replay {
namespace {

struct map_check_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format = "text";
    bool strict = false;
    std::optional<shard> part;
};

// "1 error, 2 damages, 0 notes"
std::string counts(problem_list const& problems) {
    std::string text;
    for (auto const severity : {map_severity::error, map_severity::damage, map_severity::note}) {
        auto const n = std::count_if(problems.begin(), problems.end(),
                                     [&](map_problem const& p) { return p.severity == severity; });
        text += text.empty() ? "" : ", ";
        text += counted(static_cast<std::uint64_t>(n), name(severity));
    }
    return text;
}

report check(std::string const& file, map_check_options const& options) {
    map_source const source{file};
    problem_list const problems =
        source.format() == map_format::xvector ? read_xvector(source).problems : read_document(source).problems;
    bool const bad = any_damage(problems) || (options.strict && !problems.empty());
    text_buffer out;
    if (options.format == "ndjson") {
        json_line line;
        for (map_problem const& p : problems)
            line.print(out, [&](object_writer& object) {
                object.text("file", source.name());
                write_problem(object, p);
            });
    } else {
        for (map_problem const& p : problems)
            out.print("{}: {}: {} [{}]\n", printable(source.name()), name(p.severity), printable(problem_text(p)),
                      name(p.code));
        if (problems.empty()) out.print("{}: ok\n", printable(source.name()));
        else out.print("{}: {}: {}\n", printable(source.name()), bad ? "bad" : "ok", counts(problems));
    }
    return {bad ? exit_bad_input : exit_ok, std::string{out.view()}, {}};
}

int map_check(map_check_options options) {
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    return out.finish(
        examine_files(options.files, 0, out, [&](std::size_t i, workers&, std::atomic<std::uint64_t>&) {
            return check(options.files[i], options);
        }));
}

} // namespace

verb const map_check_verb{
    "check", "Find everything that is wrong with a map", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<map_check_options>();
        options.files(chosen->files, folder_content::maps,
                      "maps, folders of maps, demos (for the map in them), or - for standard input");
        options.output(chosen->to);
        options.format(chosen->format, {"text", "ndjson"}, "text, or ndjson: one object per problem");
        options.flag("--strict", chosen->strict, "treat notes as errors");
        options.part(chosen->part);
        options.examples({"map check *.map"});
        return [chosen] { return map_check(*chosen); };
    }};

} // namespace teewire::replay
