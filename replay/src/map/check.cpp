#include "jobs.hpp"
#include "map/document.hpp"
#include "map/verbs.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

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
    if (options.format == "json") {
        for (map_problem const& p : problems) {
            rapidjson::StringBuffer buffer;
            json_writer json{buffer};
            json.StartObject();
            json.Key("file");
            write_string(json, valid_utf8(source.name()));
            write_problem(json, p);
            json.EndObject();
            out.print("{}\n", std::string_view{buffer.GetString(), buffer.GetSize()});
        }
    } else {
        for (map_problem const& p : problems)
            out.print("{}: {}: {} [{}]\n", printable(source.name()), name(p.severity), printable(problem_text(p)),
                      name(p.code));
        if (problems.empty()) out.print("{}: ok\n", printable(source.name()));
        else out.print("{}: {}: {}\n", printable(source.name()), bad ? "bad" : "ok", counts(problems));
    }
    return {bad ? exit_bad_input : exit_ok, std::string{out.view()}, {}};
}

} // namespace

int map_check(map_check_options const& options) {
    return examine_files(options.files, 0, [&](std::size_t i, workers&, std::atomic<std::uint64_t>&) {
        try {
            return check(options.files[i], options);
        } catch (bad_input const& e) {
            return report{exit_bad_input, {}, fmt::format("teewire: {}\n", printable(e.what()))};
        } catch (io_error const& e) {
            return report{exit_io, {}, fmt::format("teewire: {}\n", printable(e.what()))};
        }
    });
}

} // namespace teewire::replay
