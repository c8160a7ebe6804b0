#include "edit/merge.hpp"
#include "base/json.hpp"
#include "base/output.hpp"
#include "cli/examine_files.hpp"
#include "cli/exit_codes.hpp"
#include "recording/demo/demo_sink.hpp"
#include "recording/open_recording.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace teewire::replay {
namespace {

struct merge_options {
    std::vector<std::string> files;
    std::vector<std::string> connections; ///< of the captures among them, in their order
    output_choice to;
    std::string format = "text";
};

std::vector<std::unique_ptr<open_recording>> open_all(merge_options const& options, progress& shown) {
    std::vector<std::unique_ptr<open_recording>> all;
    std::size_t captures = 0;
    std::uint64_t before = 0;
    for (std::string const& name : options.files) {
        if (interrupted()) return all;
        auto& file = *all.emplace_back(std::make_unique<open_recording>(
            name, open_options{.progress = [&](std::uint64_t bytes) { shown.update(before + bytes, name); },
                               .remark = complain}));
        if (file.capture() != nullptr && captures++ < options.connections.size() && !interrupted())
            file.choose(options.connections[captures - 1]);
        before += total_size({name});
    }
    if (captures < options.connections.size())
        throw usage_error{fmt::format("--connection: is for packet captures, of which there {}",
                                      captures == 0   ? "are none"
                                      : captures == 1 ? "is one"
                                                      : fmt::format("are {}", captures))};
    return all;
}

// The field with the most differences comes first.
std::vector<std::pair<std::string, merge_conflict>> sorted(merge_result const& result) {
    std::vector<std::pair<std::string, merge_conflict>> all{result.fields.begin(), result.fields.end()};
    std::stable_sort(all.begin(), all.end(),
                     [](auto const& a, auto const& b) { return a.second.count > b.second.count; });
    return all;
}

void print_json(output& out, merge_result const& found, written_demo const& demo) {
    json_line line;
    for (merged_part const& part : found.parts)
        line.print(out, [&](object_writer& object) {
            object.text("file", part.name);
            object.number("ticks", part.ticks);
            object.number("items_alone", part.only_here);
            object.text_or_null("damage", part.damage);
        });
    for (auto const& [field, conflict] : sorted(found))
        line.print(out, [&, &field = field, &conflict = conflict](object_writer& object) {
            object.text("conflict", field);
            object.number("count", conflict.count);
            object.number("first_tick", conflict.first_tick);
        });
    line.print(out, [&](object_writer& object) {
        object.text("result", demo.path);
        object.number("ticks", found.ticks);
        object.number("common_ticks", found.common_ticks);
        object.number("items", found.items);
        object.number("items_held", found.held);
        object.number("items_in_conflict", found.conflicts);
        object.number("items_undescribed", found.undescribed);
        object.number("items_left_out", found.refused);
        object.number("messages", demo.messages);
        object.number("messages_united", found.united);
        object.number("messages_left_out", found.unreadable);
        object.number("snapshots_left_out", demo.left_out);
    });
}

void print_text(merge_result const& found, written_demo const& demo) {
    for (merged_part const& part : found.parts)
        remark(fmt::format("{}: {}, {} in no other recording", part.name, counted(part.ticks, "tick"),
                           counted(part.only_here, "item")));
    if (found.conflicts != 0) {
        constexpr std::size_t most = 12;
        auto const fields = sorted(found);
        std::string text;
        for (std::size_t i = 0; i < std::min(fields.size(), most); ++i)
            text += fmt::format("{} {} {}", i == 0 ? ":" : ",", fields[i].first, fields[i].second.count);
        if (fields.size() > most) text += fmt::format(", and {} more", fields.size() - most);
        complain(
            fmt::format("{}: {} not equal in all recordings{}", demo.path, counted(found.conflicts, "item"), text));
    }
    auto const left_out = [&](std::uint64_t count, char const* noun, char const* why) {
        if (count != 0) complain(fmt::format("{}: {} left out{}", demo.path, counted(count, noun), why));
    };
    left_out(found.refused, "item", ", which do not fit in a snapshot or have an invalid or repeated key");
    left_out(found.undescribed, "item", ", whose type was never described");
    left_out(found.unreadable, "message", ", which are unreadable");
    left_out(demo.left_out, "snapshot", ", which a demo cannot hold");
    remark(fmt::format("{}: {} of {}, {} of them in more than one; {}, {}{}", demo.path,
                       counted(found.ticks, "tick"), counted(found.parts.size(), "recording"), found.common_ticks,
                       counted(found.items, "item"), counted(demo.messages, "message"),
                       demo.has_map ? "" : "; none has the map"));
}

int merge(merge_options const& options) {
    if (std::count(options.files.begin(), options.files.end(), "-") > 1)
        throw usage_error{"-: standard input can be read only once"};
    // All of them are in memory at the same time.
    constexpr std::size_t most_files = 512;
    if (options.files.size() > most_files)
        throw usage_error{
            fmt::format("{} are too many at once, as each stays open: {} at most, and what comes of them "
                        "can be merged again",
                        counted(options.files.size(), "recording"), most_files)};
    bool const json = options.format == "ndjson";
    if (json && options.to.name == "-")
        throw usage_error{"the demo and the --format ndjson output cannot both go to standard output"};
    demo_target target{options.to, options.files};
    progress shown{total_size(options.files)};
    auto const files = open_all(options, shown);
    if (interrupted()) return exit_interrupted;
    std::vector<std::unique_ptr<event_source>> sources;
    std::vector<merge_input> inputs;
    for (auto const& file : files) {
        sources.push_back(file->events());
        inputs.push_back({file->name(), sources.back().get()});
    }
    demo_sink sink{target};
    merged_stream stream{inputs};
    constexpr unsigned interval = 256;
    stream_event event;
    for (unsigned n = 0; stream.next(event); ++n) {
        sink.put(event);
        if (n % interval == 0) shown.update(stream.done_bytes(), "merging");
    }
    shown.clear();
    if (interrupted()) return exit_interrupted;

    merge_result const& found = stream.result();
    if (found.ticks == 0) {
        auto const damaged = std::find_if(found.parts.begin(), found.parts.end(),
                                          [](merged_part const& part) { return !part.damage.empty(); });
        throw bad_input{(damaged == found.parts.end() ? "" : damaged->damage + "; ") + "they have no snapshot"};
    }
    int code = exit_ok;
    for (merged_part const& part : found.parts) {
        if (part.damage.empty()) continue;
        complain(part.damage + "; everything before it is kept");
        code = exit_bad_input;
    }
    for (auto const& file : files) code = std::max(code, exit_code_of(*file));
    auto const demos = sink.finish();
    if (demos.empty()) throw bad_input{"they have no snapshot that a demo can hold"};
    written_demo const& demo = demos.front();
    if (demo.lost_markers != 0)
        complain(fmt::format("{}: {} of the timeline left out, as the header has no room for more", demo.path,
                             counted(demo.lost_markers, "marker")));
    if (!json) {
        print_text(found, demo);
        return code;
    }
    output out;
    print_json(out, found, demo);
    return out.finish(code);
}

} // namespace

verb const merge_verb{
    "merge", "Merge several clients' recordings of one game into one demo",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<merge_options>();
        options.files(chosen->files, folder_content::recordings,
                      "demos, pcap and pcapng files, or folders of them; one may be - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.texts(
            "--connection", chosen->connections,
            "connection in a capture: its number or the client's ADDRESS:PORT; given once per capture, in order "
            "[default: the one with the most snapshots]",
            "WHICH");
        options.format(chosen->format, {"text", "ndjson"},
                       "report what differs: text on standard error; ndjson on standard output, one object per "
                       "file and field");
        options.remark(
            "Exit codes: 0 success, 1 an input is damaged; the result has everything before the damage.");
        options.examples({"merge alice.demo bob.demo -o both.demo",
                          "merge game.pcap game.pcap --connection 1 --connection 2 -o both.demo"});
        return [chosen] { return merge(*chosen); };
    }};

} // namespace teewire::replay
