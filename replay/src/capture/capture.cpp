#include "capture/explain.hpp"
#include "capture/pcap_file.hpp"
#include "capture/report.hpp"
#include "capture/to_demo.hpp"
#include "input.hpp"
#include "session.hpp"
#include "verbs.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace teewire::replay {
namespace {

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
    into.error = file.error();
    into.watcher.finish();
}

std::string list(std::vector<watched const*> const& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
        text += fmt::format("\n  {:3} {} {} {} snapshots", i + 1, address_text(all[i]->client()),
                            protocol_text(*all[i]), all[i]->snapshots);
    return text;
}

// The number, from 1, of the one asked for: by number or by the client's address.
std::size_t choose(std::vector<watched const*> const& all, std::string const& wanted, std::string const& file) {
    std::size_t number = 0;
    auto const [end, failed] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (failed == std::errc{} && end == wanted.data() + wanted.size()) {
        if (number >= 1 && number <= all.size()) return number;
    } else {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (address_text(all[i]->client()) == wanted) return i + 1;
    }
    throw usage_error{fmt::format("--connection: {} has no connection {}; it has {}{}", file, wanted,
                                  all.empty() ? "none" : "these:", list(all))};
}

std::size_t choose_largest(std::vector<watched const*> const& all, std::string const& file) {
    auto const most = std::max_element(all.begin(), all.end(),
                                       [](auto const* a, auto const* b) { return a->snapshots < b->snapshots; });
    if (most == all.end() || (*most)->max_items == 0)
        throw bad_input{fmt::format("{}: no connection with snapshots to make a demo of", file)};
    return static_cast<std::size_t>(most - all.begin()) + 1;
}

// Takes a map file for the stays whose map it is, and for those whose map the capture does not name.
void use_map(std::string const& path, std::vector<map_stay>& stays, map_collector& maps) {
    input const file{path};
    auto const crc = static_cast<std::uint32_t>(crc32_z(0, file.bytes().data(), file.bytes().size()));
    std::string wanted;
    bool used = false;
    for (map_stay& stay : stays) {
        if (stay.map.name.empty()) {
            stay.map.name = std::filesystem::path{path}.stem().string();
            stay.map.crc = crc;
            stay.map.size = file.bytes().size();
        }
        used = used || stay.map.crc == crc;
        wanted += fmt::format("{}{} with crc {:08x}", wanted.empty() ? "" : ", ", stay.map.name, stay.map.crc);
    }
    if (!used) throw bad_input{fmt::format("{}: has crc {:08x}, but the connection needs {}", path, crc, wanted)};
    maps.add(crc, {file.bytes().begin(), file.bytes().end()});
}

void tell(std::vector<written_demo> const& demos, watched const& of, std::size_t number, std::size_t connections) {
    for (written_demo const& demo : demos) {
        fmt::print(stderr, "{}: {} snapshots{}, {} messages of connection #{} ({}){}\n", printable(demo.path),
                   demo.snapshots,
                   demo.unchanged == 0 ? std::string{}
                                       : fmt::format(" ({} of them unchanged and not stored)", demo.unchanged),
                   demo.messages, number, address_text(of.client()),
                   demo.left_out == 0 ? std::string{} : fmt::format(", {} snapshots left out", demo.left_out));
        if (!demo.has_map)
            fmt::print(stderr,
                       "{}: the map {} is not in it, as its download is not in the capture: --map FILE adds it\n",
                       printable(demo.path), printable(demo.map.name));
    }
    if (connections > 1)
        fmt::print(stderr, "{} connections in all; --connection N takes another one\n", connections);
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
            print_json(text, *all[i], i + 1);
        } else {
            text.write("\n");
            print_text(text, *all[i], i + 1, found.frames.first_time, only != 0 || all.size() == 1);
        }
    }
    out.write(text.view());
    out.flush();
    if (json)
        for (std::string const& line : notes) fmt::print(stderr, "{}: {}\n", printable(name), line);
}

int judge(reading const& found, std::string const& name) {
    int code = exit_ok;
    if (!found.error.empty()) {
        fmt::print(stderr, "teewire: {}: {}; what came before is told\n", printable(name), printable(found.error));
        code = exit_bad_input;
    }
    for (watched const* const w : found.watcher.connections())
        if (w->checksum_bad != 0 || w->undecodable != 0) code = exit_bad_input;
    return code;
}

} // namespace

int capture(capture_options const& options) {
    if (options.explain && options.format != "text") throw usage_error{"--explain prints text alone"};
    if (!options.map.empty() && options.demo.empty()) throw usage_error{"--map is for --demo"};
    bool const twice = !options.demo.empty() || !options.connection.empty();
    capture_source const source{options.file, twice};
    output out;
    progress shown{source.size() * (twice ? 2 : 1)};

    if (!twice) {
        packet_printer explaining{out, 0};
        capture_listener silent;
        reading found{options.explain ? explaining : silent};
        read(source, found, shown, 0);
        shown.clear();
        print(options, source.name(), found, 0, out);
        return interrupted() ? exit_interrupted : judge(found, source.name());
    }

    map_collector maps;
    reading found{maps};
    read(source, found, shown, 0);
    if (interrupted()) return exit_interrupted;
    auto const all = found.watcher.connections();
    std::size_t const number = options.connection.empty() ? choose_largest(all, source.name())
                                                          : choose(all, options.connection, source.name());
    watched const& chosen = *all[number - 1];
    if (options.explain) {
        packet_printer explaining{out, chosen.first_frame};
        reading again{explaining};
        read(source, again, shown, source.size());
    }
    if (!options.demo.empty()) {
        if (chosen.max_items == 0)
            throw bad_input{
                fmt::format("{}: connection #{} has no snapshots to make a demo of", source.name(), number)};
        std::vector<map_stay> stays = chosen.stays;
        if (!options.map.empty()) use_map(options.map, stays, maps);
        demo_recorder recorder{options.demo, chosen.first_frame, stays, maps};
        reading again{recorder};
        read(source, again, shown, source.size());
        shown.clear();
        if (interrupted()) return exit_interrupted;
        tell(recorder.finish(), chosen, number, options.connection.empty() ? all.size() : 0);
    }
    shown.clear();
    print(options, source.name(), found, options.connection.empty() ? 0 : number, out);
    return interrupted() ? exit_interrupted : judge(found, source.name());
}

} // namespace teewire::replay
