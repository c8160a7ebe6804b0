#include "base/output.hpp"
#include "cli/examine_files.hpp"
#include "cli/exit_codes.hpp"
#include "cli/map_file.hpp"
#include "game/ticks.hpp"
#include "recording/capture/explain.hpp"
#include "recording/demo/demo_sink.hpp"
#include "verbs/verbs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace teewire::replay {
namespace {

struct capture_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format;     ///< empty: what the output's name says
    std::string connection; ///< its number or the client's address; empty: all, and for a demo the largest
    std::string map;        ///< path of a map file for the demo
    bool explain = false;
    bool all = false;      ///< connections without a snapshot too
    bool together = false; ///< the files are one capture
    std::optional<shard> part;
    bool named = false; ///< whether it has to be said which file something is of
};

// `done_before`: bytes of earlier readings.
void read_all(capture_pass& pass, progress& shown, std::uint64_t done_before) {
    pass.read_all([&](std::uint64_t done) {
        shown.update(done_before + done, fmt::format("{}, {}", counted(pass.frames().all, "frame"),
                                                     counted(pass.connections().size(), "connection")));
    });
}

void report_demos(std::vector<written_demo> const& demos, connection_stats const& of, std::size_t number,
                  std::size_t connections) {
    for (written_demo const& demo : demos) {
        remark(fmt::format(
            "{}: {}{}, {} of connection #{} ({}){}", demo.path, counted(demo.snapshots, "snapshot"),
            demo.unchanged == 0 ? std::string{}
                                : fmt::format(" ({} of them unchanged and not stored)", demo.unchanged),
            counted(demo.messages, "message"), number, address_text(of.client()),
            demo.left_out == 0 ? std::string{} : fmt::format(", {} left out", counted(demo.left_out, "snapshot"))));
        if (!demo.has_map)
            complain(fmt::format(
                "{}: does not include the map {}, whose download is not in the capture; use --map FILE to add it",
                demo.path, demo.map.name));
    }
    if (connections > 1)
        remark(fmt::format("{} connections in all; use --connection N for another one", connections));
}

void print(capture_options const& options, std::string const& name, capture_pass const& found, std::size_t only,
           output& out) {
    auto const all = found.connections();
    frame_counts const& frames = found.frames();
    auto const links = found.links();
    auto const notes = remarks(frames, found.watcher());
    text_buffer text;
    bool const json = options.format == "ndjson";
    if (!json) {
        if (options.explain) text.write("\n");
        text.print("{}: {}, {} in {}, {}\n", printable(name),
                   links.empty() ? "no interfaces" : fmt::format("{}", fmt::join(links, " and ")),
                   counted(frames.all, "frame"),
                   clock_text((frames.last_time - frames.first_time) / nanoseconds_per_tick),
                   counted(all.size(), "connection"));
        for (std::string const& line : notes) text.print("  {}\n", line);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (only != 0 ? only != i + 1 : !options.all && !all[i]->has_snapshots()) continue;
        if (json) {
            print_json(text, *all[i], i + 1, options.named ? &name : nullptr);
        } else {
            text.write("\n");
            print_text(text, *all[i], i + 1, frames.first_time, only != 0 || all.size() == 1);
        }
    }
    out.write(text.view());
    out.flush();
    if (json)
        for (std::string const& line : notes) complain(fmt::format("{}: {}", name, line));
}

// The name of a capture of `count` files in messages.
std::string name_of(std::string const& first, std::size_t count) {
    return count == 1 ? first : fmt::format("{} and {} more", first, count - 1);
}

// The connections of a capture, of one file or several, in words or as JSON.
int report_connections(std::span<std::string const> files, capture_options const& options, output& out) {
    bool const twice = !options.connection.empty();
    std::vector<capture_source> sources;
    std::uint64_t size = 0;
    for (std::string const& file : files) {
        sources.emplace_back(file, twice || files.size() > 1 ? passes::two : passes::one);
        size += sources.back().size();
    }
    std::string const name = name_of(sources.front().name(), files.size());
    progress shown{size * (twice && options.explain ? 2 : 1)};
    packet_printer explaining{out, 0};
    capture_listener silent;
    capture_pass found{sources, options.explain && !twice ? explaining : silent};
    read_all(found, shown, 0);
    if (twice && interrupted()) return exit_interrupted;
    auto const all = found.connections();
    std::size_t const only = twice ? choose_connection(all, options.connection, name) + 1 : 0;
    if (twice && options.explain) {
        packet_printer one{out, all[only - 1]->first_frame};
        capture_pass again{sources, one};
        read_all(again, shown, size);
    }
    shown.clear();
    print(options, name, found, only, out);
    return interrupted() ? exit_interrupted : exit_code_of(found, all, name);
}

// One connection as a demo, of a capture of one file or several.
int write_demo(std::vector<std::string> const& files, capture_options const& options) {
    demo_target target{options.to, files};
    progress shown{total_size(files)};
    std::string const& file = files.front();
    open_recording source{file,
                          {.connection = options.connection,
                           .progress = [&](std::uint64_t bytes) { shown.update(bytes, file); },
                           .only_captures = true,
                           .further_files = {files.begin() + 1, files.end()}}};
    if (interrupted()) return exit_interrupted;
    auto const all = source.capture()->connections();
    connection_stats const& chosen = *source.connection();
    auto const number = static_cast<std::size_t>(std::find(all.begin(), all.end(), &chosen) - all.begin()) + 1;
    if (chosen.max_items == 0)
        throw usage_error{source.name(),
                          fmt::format("connection #{} has no snapshots, so there is no demo to write", number)};
    auto const with_snapshots = std::count_if(chosen.stays.begin(), chosen.stays.end(),
                                              [](map_stay const& stay) { return stay.max_items != 0; });
    if (target.is_stream() && with_snapshots > 1)
        throw usage_error{source.name(), fmt::format("connection #{} has {} maps, one demo for each; use -o FILE",
                                                     number, with_snapshots)};
    if (!options.map.empty()) {
        map_file const map{options.map};
        source.use_map(map.name(), map.bytes());
    }
    demo_sink sink{target};
    static_cast<void>(source.read_all(sink)); // what is damaged is known since the first reading
    shown.clear();
    if (interrupted()) return exit_interrupted;
    report_demos(sink.finish(), chosen, number, options.connection.empty() ? all.size() : 0);
    return exit_code_of(*source.capture(), all, source.name());
}

int capture(capture_options const& chosen) {
    capture_options options = chosen;
    if (options.format.empty()) options.format = options.to.name.ends_with(".demo") ? "demo" : "text";
    bool const demo = options.format == "demo";
    if (options.explain && options.format != "text") throw usage_error{"--explain prints only text"};
    if (!options.map.empty() && !demo) throw usage_error{"--map is for --format demo"};
    if (demo && options.files.size() > 1 && !options.together)
        throw usage_error{"--format demo takes one file, or the files of one capture with --together"};
    if (options.together && options.part) throw usage_error{"--shard is not for --together"};
    if (demo && options.part) throw usage_error{"--shard is not for --format demo"};
    if (demo) return write_demo(options.files, options);
    options.named = options.files.size() > 1 && !options.together;
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    int worst = exit_ok;
    std::span<std::string const> const files = options.files;
    std::size_t const each = options.together ? files.size() : 1;
    for (std::size_t i = 0; i < files.size() && !interrupted(); i += each) {
        if (i != 0 && options.format == "text") out.write("\n");
        int code = exit_ok;
        try {
            code = report_connections(files.subspan(i, each), options, out);
        } catch (output_error const&) {
            throw;
        } catch (...) {
            exit_reason const failed = current_exit_reason();
            complain(failed.text);
            code = failed.code;
        }
        worst = std::max(worst, code);
    }
    return out.finish(interrupted() ? exit_interrupted : worst);
}

} // namespace

verb const capture_verb{
    "capture", "List the connections in a packet capture, or write one as a demo",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<capture_options>();
        options.files(chosen->files, folder_content::captures,
                      "pcap or pcapng files, folders of them, or - for standard input");
        options.output(chosen->to, option_set::presence::optional,
                       "file to write; -: standard output; after a change of map, the demo continues in "
                       "NAME_2.demo, NAME_3.demo, ...");
        options.format(
            chosen->format, {"text", "ndjson", "demo"},
            "text; ndjson: one object per connection; demo: what the client of one connection would have "
            "recorded [default: demo if the output's name ends in .demo, otherwise text]");
        options.text("--connection", chosen->connection,
                     "only this connection: its number or the client's ADDRESS:PORT [default for a demo: the one "
                     "with the most snapshots]",
                     "WHICH");
        options.flag("--all", chosen->all, "also list connections without snapshots");
        options.flag("--together", chosen->together,
                     "the files are one capture, as tcpdump and dumpcap write them in turn: read in order of time");
        options.flag("--explain", chosen->explain, "first print every packet, chunk and changed item");
        options.text("--map", chosen->map, "map for the demo, if the capture does not contain its download",
                     "FILE");
        options.part(chosen->part);
        options.examples({"capture game.pcap", "capture game.pcap --connection 2 -o game.demo",
                          "capture --together game.pcap0 game.pcap1 game.pcap2"});
        return [chosen] { return capture(*chosen); };
    }};

} // namespace teewire::replay
