#include "capture/explain.hpp"
#include "capture/pcap_file.hpp"
#include "capture/report.hpp"
#include "capture/to_demo.hpp"
#include "demo/session.hpp"
#include "io/file_kind.hpp"
#include "io/input.hpp"
#include "io/output.hpp"
#include "verbs/verbs.hpp"

#include <teewire/map/datafile.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace teewire::replay {
namespace {

struct capture_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format;     ///< empty: what the output's name says
    std::string connection; ///< its number or the client's address; empty: all, and for a demo the largest
    std::string map;        ///< path of a map file for the demo
    bool explain = false;
    bool all = false; ///< connections without a snapshot too
};

// What one reading of the capture gives.
struct reading {
    explicit reading(capture_listener& listener) : watcher{listener} {}

    connection_watcher watcher;
    frame_counts frames;
    std::string link;
    std::string error;
};

// `done_before`: bytes of earlier readings.
void read(capture_source const& source, reading& into, progress& shown, std::uint64_t done_before) {
    capture_reader file{source};
    into.link = file.link_name();
    frame_counts& counts = into.frames;
    captured_frame frame;
    while (!interrupted() && file.next(frame)) {
        if (counts.all++ == 0) counts.first_time = frame.time;
        counts.last_time = frame.time;
        udp_datagram datagram;
        switch (read_frame(file.link(), frame.bytes, datagram)) {
        case frame_kind::udp: into.watcher.receive(frame.number, frame.time, datagram); break;
        case frame_kind::other: ++counts.other; break;
        case frame_kind::fragment: ++counts.fragments; break;
        case frame_kind::cut:
            if (counts.cut++ == 0)
                counts.first_cut = fmt::format("frame {} has {} of {} bytes", frame.number, frame.bytes.size(),
                                               frame.original_size);
            break;
        }
        constexpr std::uint64_t interval = 256;
        if (counts.all % interval == 0)
            shown.update(done_before + file.position(),
                         fmt::format("{} frames, {} connections", counts.all, into.watcher.connections().size()));
    }
    counts.untimed = file.untimed();
    into.error = file.error();
    into.watcher.finish();
}

std::string list(std::vector<connection_stats const*> const& all) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
        text += fmt::format("{}{} {} {} {} snapshots", i == 0 ? " " : ", ", i + 1, address_text(all[i]->client()),
                            protocol_text(*all[i]), all[i]->snapshots);
    if (all.size() > most) text += fmt::format(", and {} more", all.size() - most);
    return text;
}

// The number, from 1, of the one asked for: by number or by the client's address.
std::size_t choose(std::vector<connection_stats const*> const& all, std::string const& wanted,
                   std::string const& file) {
    std::size_t number = 0;
    auto const [end, failed] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (failed == std::errc{} && end == wanted.data() + wanted.size()) {
        if (number >= 1 && number <= all.size()) return number;
    } else {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (address_text(all[i]->client()) == wanted) return i + 1;
    }
    throw usage_error{fmt::format("{}: --connection: there is no connection {}; {}{}", file, wanted,
                                  all.empty() ? "there are none" : "there are these:", list(all))};
}

std::size_t choose_largest(std::vector<connection_stats const*> const& all, std::string const& file) {
    auto const most = std::max_element(all.begin(), all.end(),
                                       [](auto const* a, auto const* b) { return a->snapshots < b->snapshots; });
    if (most == all.end() || (*most)->max_items == 0)
        throw usage_error{fmt::format("{}: no connection with snapshots to make a demo of", file)};
    return static_cast<std::size_t>(most - all.begin()) + 1;
}

// Takes a map file for the stays whose map it is, and for those whose map the capture does not name.
void use_map(std::string const& path, std::vector<map_stay>& stays, map_collector& maps) {
    input const file{path};
    expect_map(path, file.bytes());
    auto const crc = map_crc32(file.bytes());
    std::string wanted;
    bool used = false;
    for (map_stay& stay : stays) {
        if (stay.map.name.empty()) {
            stay.map.name = std::filesystem::path{path}.stem().string();
            stay.map.crc = crc;
            stay.map.size = file.bytes().size();
        }
        used = used || stay.map.crc == crc;
        wanted +=
            fmt::format("{}{} with crc {:08x}", wanted.empty() ? "" : ", ", printable(stay.map.name), stay.map.crc);
    }
    if (!used) throw usage_error{fmt::format("{}: has crc {:08x}, but the connection needs {}", path, crc, wanted)};
    maps.add(crc, {file.bytes().begin(), file.bytes().end()});
}

void report_demos(std::vector<written_demo> const& demos, connection_stats const& of, std::size_t number,
                  std::size_t connections) {
    for (written_demo const& demo : demos) {
        complain(fmt::format(
            "{}: {} snapshots{}, {} messages of connection #{} ({}){}", demo.path, demo.snapshots,
            demo.unchanged == 0 ? std::string{}
                                : fmt::format(" ({} of them unchanged and not stored)", demo.unchanged),
            demo.messages, number, address_text(of.client()),
            demo.left_out == 0 ? std::string{} : fmt::format(", {} snapshots left out", demo.left_out)));
        if (!demo.has_map)
            complain(fmt::format(
                "{}: the map {} is not in it, as its download is not in the capture: --map FILE adds it", demo.path,
                demo.map.name));
    }
    if (connections > 1)
        complain(fmt::format("{} connections in all; --connection N takes another one", connections));
}

void print(capture_options const& options, std::string const& name, reading const& found, std::size_t only,
           output& out) {
    auto const all = found.watcher.connections();
    auto const notes = remarks(found.frames, found.watcher);
    text_buffer text;
    bool const json = options.format == "ndjson";
    if (!json) {
        if (options.explain) text.write("\n");
        text.print("{}: {}, {} frames in {}, {} {}\n", printable(name), found.link, found.frames.all,
                   clock_text((found.frames.last_time - found.frames.first_time) / 20'000'000), all.size(),
                   all.size() == 1 ? "connection" : "connections");
        for (std::string const& line : notes) text.print("  {}\n", line);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (only != 0 ? only != i + 1 : !options.all && !all[i]->has_snapshots()) continue;
        if (json) {
            print_json(text, *all[i], i + 1, options.files.size() > 1 ? &name : nullptr);
        } else {
            text.write("\n");
            print_text(text, *all[i], i + 1, found.frames.first_time, only != 0 || all.size() == 1);
        }
    }
    out.write(text.view());
    out.flush();
    if (json)
        for (std::string const& line : notes) complain(fmt::format("{}: {}", name, line));
}

int judge(reading const& found, std::string const& name) {
    int code = exit_ok;
    if (!found.error.empty()) {
        complain(fmt::format("{}: {}; what came before is told", name, found.error));
        code = exit_bad_input;
    }
    for (connection_stats const* const stats : found.watcher.connections())
        if (stats->checksum_bad != 0 || stats->undecodable != 0) code = exit_bad_input;
    return code;
}

// The connections of one file, in words or as JSON.
int report_connections(std::string const& file, capture_options const& options, output& out) {
    bool const twice = !options.connection.empty();
    capture_source const source{file, twice};
    progress shown{source.size() * (twice && options.explain ? 2 : 1)};
    packet_printer explaining{out, 0};
    capture_listener silent;
    reading found{options.explain && !twice ? explaining : silent};
    read(source, found, shown, 0);
    if (twice && interrupted()) return exit_interrupted;
    std::size_t const only = twice ? choose(found.watcher.connections(), options.connection, source.name()) : 0;
    if (twice && options.explain) {
        packet_printer one{out, found.watcher.connections()[only - 1]->first_frame};
        reading again{one};
        read(source, again, shown, source.size());
    }
    shown.clear();
    print(options, source.name(), found, only, out);
    return interrupted() ? exit_interrupted : judge(found, source.name());
}

// One connection as a demo.
int write_demo(std::string const& file, capture_options const& options) {
    demo_target target{options.to, {&file, 1}};
    capture_source const source{file, true};
    progress shown{source.size() * 2};
    map_collector maps;
    reading found{maps};
    read(source, found, shown, 0);
    if (interrupted()) return exit_interrupted;
    auto const all = found.watcher.connections();
    std::size_t const number = options.connection.empty() ? choose_largest(all, source.name())
                                                          : choose(all, options.connection, source.name());
    connection_stats const& chosen = *all[number - 1];
    if (chosen.max_items == 0)
        throw usage_error{
            fmt::format("{}: connection #{} has no snapshots to make a demo of", source.name(), number)};
    std::vector<map_stay> stays = chosen.stays;
    auto const with_snapshots =
        std::count_if(stays.begin(), stays.end(), [](map_stay const& stay) { return stay.max_items != 0; });
    if (target.is_stream() && with_snapshots > 1)
        throw usage_error{fmt::format("{}: connection #{} has {} maps, which make as many demos: -o FILE",
                                      source.name(), number, with_snapshots)};
    if (!options.map.empty()) use_map(options.map, stays, maps);
    demo_recorder recorder{target, chosen.first_frame, stays, maps};
    reading again{recorder};
    read(source, again, shown, source.size());
    shown.clear();
    if (interrupted()) return exit_interrupted;
    report_demos(recorder.finish(), chosen, number, options.connection.empty() ? all.size() : 0);
    return judge(found, source.name());
}

int capture(capture_options const& chosen) {
    capture_options options = chosen;
    if (options.format.empty()) options.format = options.to.name.ends_with(".demo") ? "demo" : "text";
    bool const demo = options.format == "demo";
    if (options.explain && options.format != "text") throw usage_error{"--explain prints text alone"};
    if (!options.map.empty() && !demo) throw usage_error{"--map is for --format demo"};
    if (demo && options.files.size() > 1) throw usage_error{"--format demo takes one file"};
    if (demo) return write_demo(options.files.front(), options);
    output out{options.to, options.files};
    int worst = exit_ok;
    for (std::size_t i = 0; i < options.files.size() && !interrupted(); ++i) {
        if (i != 0 && options.format == "text") out.write("\n");
        int code = exit_ok;
        try {
            code = report_connections(options.files[i], options, out);
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
    "capture", "Find the connections in a packet capture and check every snapshot",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<capture_options>();
        options.files(chosen->files, "pcap or pcapng files, or - for standard input");
        options.output(
            chosen->to, option_set::presence::optional,
            "file to write; - is standard output; further maps of a demo go to NAME_2.demo, NAME_3.demo, ...");
        options.format(
            chosen->format, {"text", "ndjson", "demo"},
            "text; ndjson: one object per line and connection; demo: what the client of one connection "
            "would have recorded, by default of that with most snapshots. By default demo if the output is "
            "called .demo, otherwise text");
        options.text("--connection", chosen->connection, "only this one: its number, or the client's ADDRESS:PORT",
                     "WHICH");
        options.flag("--all", chosen->all, "tell connections without any snapshot too");
        options.flag("--explain", chosen->explain, "print every packet, chunk and changed item first");
        options.text("--map", chosen->map, "the map for the demo, if its download is not in the capture", "FILE");
        options.examples({"capture game.pcap", "capture game.pcap --connection 2 -o game.demo"});
        return [chosen] { return capture(*chosen); };
    }};

} // namespace teewire::replay
