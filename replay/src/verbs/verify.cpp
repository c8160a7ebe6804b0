#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/examine_files.hpp"
#include "recording/demo/segments.hpp"
#include "verbs/verbs.hpp"

#include <teewire/map/datafile.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

struct header_quirk {
    std::size_t position;
    std::string_view text;
};

// Headers that the games refuse, or that name another map than the one that the file holds. In the order of positions.
std::vector<header_quirk> find_header_quirks(demo_document const& demo) {
    demo_header const& header = demo.header();
    std::vector<header_quirk> found;
    std::string_view const name = text(header.map_name);
    if (valid_utf8(name) != name) found.push_back({demo_map_name_offset, "the name of the map is not UTF-8"});
    if (!demo.map().empty() && map_crc32(demo.map()) != header.map_crc)
        found.push_back({demo_map_crc_offset, "the header names another map than the embedded one"});
    return found;
}

// "6 quirks, the first at byte 123: surplus bits ..."
std::string describe_notes(note_log const& notes, std::vector<header_quirk> const& of_header) {
    std::uint64_t count = of_header.size();
    std::size_t first = of_header.empty() ? SIZE_MAX : of_header.front().position;
    std::string_view first_text = of_header.empty() ? "" : of_header.front().text;
    for (std::size_t i = 0; i < note_count; ++i) {
        auto const& entry = notes.entries[i];
        count += entry.count;
        // Notes of chunk heads carry the file offset as their position, those from inside a chunk as their origin.
        std::size_t const where = std::max(entry.origin, entry.origin == 0 ? entry.position : 0);
        if (entry.count == 0 || where >= first) continue;
        first = where;
        first_text = describe(static_cast<note>(i));
    }
    if (count == 0) return {};
    return fmt::format("{}, the first at byte {}: {}", counted(count, "quirk"), first, first_text);
}

struct verify_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format = "text";
    unsigned jobs = 0; ///< threads that decode; 0: as many as there are cores
    bool strict = false;
    std::optional<shard> part;
};

// The result for a file.
struct verdict {
    std::size_t snapshots = 0;
    std::size_t messages = 0;
    std::string notes;
    std::string error;
};

std::string counts(verdict const& v) {
    return fmt::format("{}, {}", counted(v.snapshots, "snapshot"), counted(v.messages, "message"));
}

report to_report(std::string const& name, verdict const& v, verify_options const& options) {
    bool const bad = !v.error.empty() || (options.strict && !v.notes.empty());
    int const code = bad ? exit_bad_input : exit_ok;
    if (options.format == "text") {
        std::string const what =
            !v.error.empty()
                ? v.snapshots + v.messages == 0 ? v.error : fmt::format("{} (after {})", v.error, counts(v))
            : bad             ? v.notes
            : v.notes.empty() ? counts(v)
                              : fmt::format("{}; {}", counts(v), v.notes);
        return {code, fmt::format("{}: {}: {}\n", printable(name), bad ? "bad" : "ok", what), {}};
    }
    text_buffer out;
    json_line{}.print(out, [&](object_writer& line) {
        line.text("file", name);
        line.flag("ok", !bad);
        line.number("snapshots", v.snapshots);
        line.number("messages", v.messages);
        line.text_or_null("notes", v.notes);
        line.text_or_null("error", v.error);
    });
    return {code, std::string{out.view()}, {}};
}

report check(std::string const& file, verify_options const& options, workers& team,
             std::atomic<std::uint64_t>& done_bytes) {
    verdict v;
    input const source{file};
    try {
        demo_document demo{source, size_detection::assume};
        decoded found = decode(demo, team, {{}, {}, &done_bytes});
        if (!verify_size_table(demo, found)) found = decode(demo, team, {});
        v.snapshots = found.snapshots;
        v.messages = found.messages;
        v.notes = describe_notes(found.notes, find_header_quirks(demo));
        v.error = demo.end_text(found.error);
    } catch (bad_input const& e) {
        v.error = e.reason();
    }
    return to_report(source.name(), v, options);
}

int verify(verify_options options) {
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    return out.finish(examine_files(options.files, options.jobs, out,
                                    [&](std::size_t i, workers& team, std::atomic<std::uint64_t>& done_bytes) {
                                        return check(options.files[i], options, team, done_bytes);
                                    }));
}

} // namespace

verb const verify_verb{
    "verify", "Decode everything and report whether it is valid", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<verify_options>();
        options.files(chosen->files, folder_content::demos, "demos, folders of demos, or - for standard input");
        options.output(chosen->to);
        options.format(chosen->format, {"text", "ndjson"}, "text, or ndjson: one object per file");
        options.jobs(chosen->jobs);
        options.flag("--strict", chosen->strict, "treat quirks that real programs produce as errors");
        options.part(chosen->part);
        options.examples({"verify *.demo", "verify *.demo --shard 2/8 -o verdicts"});
        return [chosen] { return verify(*chosen); };
    }};

} // namespace teewire::replay
