#include "recording/capture/report.hpp"

#include "game/item_text.hpp"
#include "game/ticks.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

using named_usage = std::pair<std::string_view, usage>;

// Most bytes first.
std::vector<named_usage> by_bytes(usage_table const& table) {
    std::vector<named_usage> sorted{table.begin(), table.end()};
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](auto const& a, auto const& b) { return a.second.bytes > b.second.bytes; });
    return sorted;
}

void write_usages(object_writer& object, std::string_view key, usage_table const& table) {
    object_writer usages = object.object(key);
    for (auto const& [name, used] : by_bytes(table)) {
        object_writer one = usages.object(name);
        one.number("count", used.count);
        one.number("bytes", used.bytes);
    }
}

void write_seconds(object_writer& object, std::string_view key, std::int64_t nanoseconds) {
    std::int64_t const microseconds = nanoseconds / 1000;
    object.real(key, static_cast<double>(microseconds) / 1e6);
}

void write_direction(object_writer& object, std::string_view key, direction const& d) {
    object_writer out = object.object(key);
    out.number("packets", d.packets);
    out.number("bytes", d.bytes);
    out.number("payload_bytes", d.payload_bytes);
    out.number("connless", d.connless);
    out.number("resend_requests", d.resend_requests);
    out.number("vital", d.vital);
    out.number("vital_repeated", d.repeated_vital);
    out.number("vital_missing", d.stream.missing());
    write_usages(out, "messages", d.messages);
}

void write_stay(object_writer& out, map_stay const& stay) {
    out.text_or_null("name", stay.map.name);
    out.text_or_null("crc", stay.map.name.empty() ? std::string{} : fmt::format("{:08x}", stay.map.crc));
    out.number("size", stay.map.size);
    out.text_or_null("sha256", stay.map.sha256 ? hex(*stay.map.sha256) : std::string{});
    out.flag("downloaded", stay.downloaded);
    out.number("first_frame", stay.first_frame);
    out.number("snapshots", stay.snapshots);
    out.number("max_items", stay.max_items);
    out.tick_or_null("first_tick", stay.first_tick);
    out.tick_or_null("last_tick", stay.last_tick);
}

// A line for each kind, or one for the largest.
void print_usages(text_buffer& out, usage_table const& table, bool detailed) {
    constexpr std::string_view indent = "                 ";
    auto const sorted = by_bytes(table);
    if (detailed) {
        for (auto const& [name, used] : sorted)
            out.print("{}{:7}  {:24} {:>9}\n", indent, used.count, name, bytes_text(used.bytes));
        return;
    }
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
        text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", sorted[i].second.count, sorted[i].first,
                            bytes_text(sorted[i].second.bytes));
    if (sorted.size() > most) text += fmt::format(", {} more kinds", sorted.size() - most);
    out.print("{}{}\n", indent, text);
}

std::string stay_text(map_stay const& stay) {
    std::string map = "not named in the capture";
    if (!stay.map.name.empty())
        map = fmt::format("{}, {}, crc {:08x}{}", printable(stay.map.name), bytes_text(stay.map.size), stay.map.crc,
                          stay.downloaded ? ", downloaded" : "");
    if (stay.snapshots == 0) return map + ": no snapshots";
    if (stay.max_items == 0) // with them, servers check the addresses of clients that have no token
        return fmt::format("{}: {}", map, counted(stay.snapshots, "empty snapshot"));
    return fmt::format("{}: {} in ticks {} to {}, {}", map, counted(stay.snapshots, "snapshot"), stay.first_tick,
                       stay.last_tick, clock_text(stay.last_tick - stay.first_tick));
}

// The losses, in words.
std::vector<std::string> losses(connection_stats const& stats) {
    std::vector<std::string> found;
    auto const add = [&](std::uint64_t count, std::string text) {
        if (count != 0) found.push_back(std::move(text));
    };
    add(stats.missing_base,
        fmt::format("{} against a base that is not in the capture", counted(stats.missing_base, "snapshot")));
    add(stats.incomplete, counted(stats.incomplete, "snapshot lacks parts", "snapshots lack parts"));
    add(stats.not_captured, fmt::format("{} that the client acknowledged are not in the capture",
                                        counted(stats.not_captured, "snapshot")));
    add(stats.late, counted(stats.late, "snapshot came late", "snapshots came late"));
    add(stats.repeated, counted(stats.repeated, "snapshot message came twice", "snapshot messages came twice"));
    for (sender const s : {sender::server, sender::client}) {
        auto const& d = stats.sent_by(s);
        std::string_view const who = s == sender::server ? "server's" : "client's";
        add(d.stream.missing(),
            fmt::format("{} of the {} vital messages are not in the capture", d.stream.missing(), who));
        add(d.repeated_vital, fmt::format("{} of the {} vital messages came again", d.repeated_vital, who));
    }
    return found;
}

} // namespace

std::string protocol_text(connection_stats const& stats) {
    std::string text = stats.v07 ? "0.7" : stats.format == wire_format::v06_token ? "0.6.5" : "0.6";
    if (stats.ddnet) text += ", DDNet";
    return text;
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 1000) return fmt::format("{} B", bytes);
    double const value = static_cast<double>(bytes);
    if (bytes < 1'000'000) return fmt::format("{:.1f} kB", value / 1e3);
    return fmt::format("{:.1f} MB", value / 1e6);
}

void print_json(text_buffer& out, connection_stats const& stats, std::size_t number, std::string const* file) {
    json_line{}.print(out, [&](object_writer& line) {
        if (file != nullptr) line.text("file", *file);
        line.text("client", address_text(stats.client()));
        line.text("server", address_text(stats.server()));
        line.text("protocol", stats.v07 ? "0.7" : "0.6");
        line.number("snapshots", stats.snapshots);
        line.number("checksum_ok", stats.checksum_ok);
        line.number("checksum_bad", stats.checksum_bad);
        line.number("empty", stats.empty);
        line.number("missing_base", stats.missing_base);
        line.number("undecodable", stats.undecodable);
        line.text("checksum_sum", fmt::format("{:08x}", stats.checksum_sum));
        line.number("max_items", stats.max_items);

        line.number("number", number);
        line.text_or_null("packet_format", stats.format ? name(*stats.format) : std::string_view{});
        line.flag("ddnet", stats.ddnet);
        line.text_or_null("player", stats.player);
        line.text_or_null("client_version", stats.client_version);
        line.number("first_frame", stats.first_frame);
        write_seconds(line, "first_time", stats.first_time);
        write_seconds(line, "last_time", stats.last_time);
        line.text_or_null("closed_by", !stats.closed_by                     ? ""
                                       : *stats.closed_by == sender::server ? "server"
                                                                            : "client");
        line.text_or_null("close_reason", stats.close_reason);
        line.objects("maps", stats.stays, write_stay);
        {
            object_writer losses = line.object("losses");
            auto const space = measure_spacing(stats.distances);
            losses.number("missed", space.missed);
            losses.number("not_captured", stats.not_captured);
            losses.number("incomplete", stats.incomplete);
            losses.number("repeated", stats.repeated);
            losses.number("late", stats.late);
            losses.number("usual_distance", space.usual);
            losses.number("gaps", space.gaps);
            losses.number("largest_gap", space.largest_gap);
        }
        write_direction(line, "from_server", stats.sent_by(sender::server));
        write_direction(line, "from_client", stats.sent_by(sender::client));
        line.number("delta_bytes", stats.snapshot_bytes);
        write_usages(line, "items", stats.items);
        {
            object_writer removed = line.object("removed_items");
            removed.number("count", stats.removed_items);
            removed.number("bytes", stats.removed_bytes);
        }
        line.number("malformed", stats.malformed.count);
        line.text_or_null("first_malformed", stats.malformed.first);
        line.text_or_null("first_damaged", stats.damaged.first);
    });
}

void print_text(text_buffer& out, connection_stats const& stats, std::size_t number, std::int64_t begin,
                bool detailed) {
    auto const line = [&](std::string_view label, std::string_view value) {
        out.print("    {:12} {}\n", label, value);
    };
    auto const clock = [](std::int64_t nanoseconds) { return clock_text(nanoseconds / nanoseconds_per_tick); };
    out.print("#{} {} -> {}  {}\n", number, address_text(stats.client()), address_text(stats.server()),
              protocol_text(stats));
    if (!stats.player.empty() || !stats.client_version.empty())
        line("client",
             fmt::format("{}{}{}", stats.player, stats.player.empty() || stats.client_version.empty() ? "" : ", ",
                         stats.client_version));
    std::string end = "still open at the end of the capture, or silent";
    if (stats.closed_by) {
        end = fmt::format("closed by the {}", *stats.closed_by == sender::server ? "server" : "client");
        if (!stats.close_reason.empty()) end += fmt::format(": \"{}\"", stats.close_reason);
    }
    line("time", fmt::format("{} to {}, {}", clock(stats.first_time - begin), clock(stats.last_time - begin), end));
    for (map_stay const& stay : stats.stays) line(&stay == stats.stays.data() ? "map" : "", stay_text(stay));

    std::string checks = fmt::format("{} of up to {}, {} right", stats.snapshots, counted(stats.max_items, "item"),
                                     counted(stats.checksum_ok, "checksum"));
    checks += stats.checksum_bad == 0 ? ", none wrong" : fmt::format(", {} WRONG", stats.checksum_bad);
    if (stats.empty != 0) checks += fmt::format(", {} unchanged and without one", stats.empty);
    if (stats.undecodable != 0) checks += fmt::format(", {} undecodable", stats.undecodable);
    line("snapshots", checks);
    if (stats.damaged.count != 0) line("", stats.damaged.first);
    if (auto const space = measure_spacing(stats.distances); space.usual != 0) {
        std::string rate = space.usual == 1 ? "every tick" : fmt::format("every {} ticks", space.usual);
        if (space.gaps != 0)
            rate += fmt::format(", {} ({} missed; the largest is {} ticks)", counted(space.gaps, "gap"),
                                space.missed, space.largest_gap);
        line("rate", fmt::format("{}; {} for each delta", rate,
                                 bytes_text(stats.snapshot_bytes / std::max<std::uint64_t>(1, stats.snapshots))));
    }
    auto const lost = losses(stats);
    if (lost.empty()) line("losses", "none");
    for (auto const& each : lost) line(&each == lost.data() ? "losses" : "", each);
    if (stats.malformed.count != 0)
        line("malformed",
             fmt::format("{}, the first in {}", counted(stats.malformed.count, "packet"), stats.malformed.first));
    for (sender const s : {sender::server, sender::client}) {
        auto const& d = stats.sent_by(s);
        line(s == sender::server ? "from server" : "from client",
             fmt::format("{}, {} ({} uncompressed)", counted(d.packets, "packet"), bytes_text(d.bytes),
                         bytes_text(d.payload_bytes)));
        print_usages(out, d.messages, detailed);
    }
    if (stats.items.empty()) return;
    line("items", fmt::format("changed in {} of deltas, and {} removed ({})", bytes_text(stats.snapshot_bytes),
                              stats.removed_items, bytes_text(stats.removed_bytes)));
    print_usages(out, stats.items, detailed);
}

std::vector<std::string> remarks(frame_counts const& frames, connection_watcher const& all) {
    constexpr std::size_t most = 3;
    std::vector<std::string> lines;
    if (frames.cut != 0)
        lines.push_back(fmt::format("{} truncated when captured, left out: {}",
                                    counted(frames.cut, "frame was", "frames were"), frames.first_cut));
    if (frames.fragments != 0)
        lines.push_back(fmt::format("{} left out: the rest of the datagram is missing",
                                    counted(frames.fragments, "IP fragment")));
    if (frames.unreadable != 0)
        lines.push_back(fmt::format("{} left out, of interfaces whose link layer is unreadable",
                                    counted(frames.unreadable, "frame")));
    if (frames.untimed != 0)
        lines.push_back(fmt::format("{} with an impossible time, replaced by that of the frame before",
                                    counted(frames.untimed, "frame")));
    std::string silent;
    std::size_t count = 0;
    for (auto const* const stats : all.connections()) {
        if (stats->has_snapshots()) continue;
        if (++count <= most)
            silent += fmt::format("{} {}", silent.empty() ? ":" : ",", address_text(stats->client()));
    }
    if (count != 0)
        lines.push_back(fmt::format("{} without snapshots, listed with --all{}{}", counted(count, "connection"),
                                    silent, count > most ? ", ..." : ""));
    if (auto const foreign = all.foreign(); foreign != 0)
        lines.push_back(fmt::format("{} outside any connection{}", counted(foreign, "datagram"),
                                    all.foreign_connless() != 0
                                        ? fmt::format(", {} of them about server info", all.foreign_connless())
                                        : std::string{}));
    if (all.left_out() != 0)
        lines.push_back(fmt::format("{} not listed: only the first {} are", counted(all.left_out(), "connection"),
                                    connection_watcher::max_connections));
    if (all.dropped() != 0)
        lines.push_back(fmt::format("more than {} connections at once: snapshots of others were dropped {}",
                                    connection_watcher::max_live, counted(all.dropped(), "time")));
    return lines;
}

} // namespace teewire::replay
