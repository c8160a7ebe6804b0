#include "base/json.hpp"
#include "cli/examine_files.hpp"
#include "events/player_list.hpp"
#include "game/item_text.hpp"
#include "game/race.hpp"
#include "recording/demo/segments.hpp"
#include "verbs/verbs.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

// Facts about one file. Without chunks if the header or the map is damaged.
struct summary {
    std::string file;
    demo_header header;
    bool map_complete = false;
    bool map_crc_matches = false;
    // That of the embedded map, or the one that the header gives.
    std::optional<std::array<std::uint8_t, 32>> map_sha256;
    demo_overview overview;
    std::string_view protocol;
    std::vector<listed_player> players;
    std::size_t snapshots = 0;
    bool ticks_go_back = false; ///< then the overview has the lowest and the highest
    std::string error;
    bool truncated = false;
};

bool map_embedded(summary const& r) { return r.map_complete && r.header.map_size != 0; }

// Whether the header promises another map than the embedded one.
bool sha256_differs(summary const& r) {
    return map_embedded(r) && r.header.has_sha256 && r.map_sha256 != r.header.sha256;
}

struct info_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format = "text";
    unsigned jobs = 0; ///< threads that decode; 0: as many as there are cores
    std::optional<shard> part;
};

std::string type_text(demo_header const& header) { return printable(text(header.type)); }

// ---- files ---------------------------------------------------------------------------------------------------------

// For demos whose ticks do not always increase.
void find_lowest_tick(demo_document const& demo, summary& r) {
    demo_reader chunks = demo.reader(demo.first_chunk(), demo.file_size());
    std::int32_t lowest = INT32_MAX, highest = -1, last = -1;
    for (demo_chunk chunk; chunks.next(chunk);) {
        if (chunk.kind != demo_chunk_kind::tick) continue;
        r.ticks_go_back = r.ticks_go_back || chunk.tick < last;
        lowest = std::min(lowest, chunk.tick);
        highest = std::max(highest, chunk.tick);
        last = chunk.tick;
    }
    if (!r.ticks_go_back) return;
    r.overview.first_tick = lowest;
    r.overview.last_tick = highest;
}

summary examine(std::string const& file, workers& team, std::atomic<std::uint64_t>& done_bytes) {
    input const source{file};
    summary r;
    r.file = source.name();
    auto const header = parse_demo_header(source.bytes());
    if (header) r.header = *header;
    if (r.header.has_sha256) r.map_sha256 = r.header.sha256;
    try {
        demo_document demo{source, size_detection::assume};
        r.map_complete = true;
        r.map_crc_matches = map_crc32(demo.map()) == r.header.map_crc;
        if (map_embedded(r)) r.map_sha256 = sha256(demo.map());
        r.overview = demo.overview();
        auto const find_players = [&](std::atomic<std::uint64_t>* done) {
            player_list list{demo.item_protocol()};
            decoded const result = decode(demo, team, {[&] { return list.make_part(); }, {}, done});
            r.players = std::move(list.players());
            return result;
        };
        decoded found = find_players(&done_bytes);
        if (!verify_size_table(demo, found)) found = find_players(nullptr);
        if (found.notes[note::tick_order].count != 0) find_lowest_tick(demo, r);
        r.protocol = teewire::name(demo.item_protocol());
        r.snapshots = found.snapshots;
        r.error = demo.end_text(found.error);
        r.truncated = !source.damage().empty() ||
                      (found.error.stage == demo_stage::chunk && found.error.what.code == errc::truncated);
    } catch (bad_input const& e) {
        if (!header) throw; // nothing is known
        r.error = e.reason();
        r.truncated = true;
    }
    return r;
}

constexpr std::pair<std::string_view, demo_chunk_kind> chunk_kinds[] = {
    {"tick", demo_chunk_kind::tick},
    {"snapshot", demo_chunk_kind::snapshot},
    {"delta", demo_chunk_kind::delta},
    {"message", demo_chunk_kind::message},
};

demo_overview::counter const& counter(summary const& r, demo_chunk_kind kind) {
    return r.overview.kinds[static_cast<std::size_t>(kind)];
}

void print_json(text_buffer& out, summary const& r) {
    json_line{}.print(out, [&](object_writer& line) {
        line.text("file", r.file);
        line.number("version", r.header.version);
        line.text_or_null("protocol", r.protocol);
        line.text("net_version", text(r.header.net_version));
        line.text("type", text(r.header.type));
        line.text("date", text(r.header.timestamp));
        {
            object_writer map = line.object("map");
            map.text("name", text(r.header.map_name));
            map.number("size", r.header.map_size);
            map.text("crc", fmt::format("{:08x}", r.header.map_crc));
            if (map_embedded(r)) map.flag("crc_matches", r.map_crc_matches);
            map.text_or_null("sha256", r.map_sha256 ? hex(*r.map_sha256) : "");
            if (map_embedded(r) && r.header.has_sha256) map.flag("sha256_matches", !sha256_differs(r));
        }
        line.tick_or_null("first_tick", r.overview.first_tick);
        line.tick_or_null("last_tick", r.overview.last_tick);
        if (r.ticks_go_back) line.flag("ticks_go_back", true);
        line.real("seconds", (r.overview.last_tick - r.overview.first_tick) / double{ticks_per_second});
        line.number("header_seconds", std::max(0, r.header.length));
        line.number("keyframes", r.overview.keyframes);
        line.numbers("markers", r.header.markers());
        {
            object_writer chunks = line.object("chunks");
            for (auto const& [name, kind] : chunk_kinds) {
                object_writer chunk = chunks.object(fmt::format("{}s", name));
                chunk.number("count", counter(r, kind).chunks);
                chunk.number("bytes", counter(r, kind).bytes);
            }
        }
        line.number("snapshots", r.snapshots);
        line.objects("players", r.players, [](object_writer& player, listed_player const& p) {
            player.number("id", p.client_id);
            player.text("name", p.name);
            player.text("clan", p.clan);
            player.tick_or_null("first_tick", p.first_tick);
            player.number_or_null("score", p.score);
            player.text_or_null("time", p.time ? time_text(*p.time) : "");
        });
        line.flag("truncated", r.truncated);
        line.text_or_null("error", r.error);
    });
}

void print_text(text_buffer& out, summary const& r) {
    auto const line = [&](std::string_view label, std::string const& value) {
        out.print("{:11}{}\n", label, value);
    };
    line("file", printable(r.file));
    line("version",
         fmt::format("{}, {} ({})", r.header.version, r.protocol.empty() ? "unknown protocol" : r.protocol,
                     printable(text(r.header.net_version))));
    line("recorded", fmt::format("{}, by a {}", printable(text(r.header.timestamp)), type_text(r.header)));
    std::string const map = printable(text(r.header.map_name));
    line("map",
         r.header.map_size == 0
             ? fmt::format("{}, not embedded, crc {:08x}", map, r.header.map_crc)
             : fmt::format("{}, {}, crc {:08x}{}", map, size_text(r.header.map_size), r.header.map_crc,
                           r.map_complete && !r.map_crc_matches ? " (but the embedded map has another one)" : ""));
    if (r.map_sha256) line("map sha256", hex(*r.map_sha256));
    if (sha256_differs(r))
        line("note", fmt::format("the header names another map, sha256 {}", hex(r.header.sha256)));
    if (r.overview.ticks > 0)
        line("ticks", fmt::format("{} to {}, {}{}", r.overview.first_tick, r.overview.last_tick,
                                  clock_text(r.overview.last_tick - r.overview.first_tick),
                                  r.ticks_go_back ? ", but they go back" : ""));
    line("keyframes", fmt::format("{}", r.overview.keyframes));
    if (!r.header.markers().empty()) line("markers", fmt::format("{}", fmt::join(r.header.markers(), " ")));
    std::string chunks;
    for (auto const& [name, kind] : chunk_kinds)
        chunks += fmt::format("{}{} ({})", chunks.empty() ? "" : ", ", counted(counter(r, kind).chunks, name),
                              size_text(counter(r, kind).bytes));
    line("chunks", chunks);
    for (listed_player const& p : r.players)
        line(&p == r.players.data() ? "players" : "",
             fmt::format("{:3} {}{}{}", p.client_id, p.name, p.clan.empty() ? "" : fmt::format("  [{}]", p.clan),
                         p.time ? fmt::format("  time {} (score {})", time_text(*p.time), *p.score) : ""));
    line("state",
         r.error.empty() ? "complete" : fmt::format("{}: {}", r.truncated ? "truncated" : "damaged", r.error));
}

void print_row(text_buffer& out, std::string_view recorded, std::string_view length, std::string_view map,
               std::string_view protocol, std::string_view players, std::string_view state, std::string_view file) {
    out.print("{:19}  {:>9}  {}  {:8}  {:>7}  {:9}  {}\n", recorded, length, fit(map, 20), protocol, players, state,
              file);
}
void print_row(text_buffer& out, summary const& r) {
    auto const ticks = std::int64_t{r.overview.last_tick} - r.overview.first_tick;
    print_row(out, printable(text(r.header.timestamp)), r.overview.ticks > 0 ? clock_text(ticks) : "",
              printable(text(r.header.map_name)), r.protocol, fmt::format("{}", r.players.size()),
              r.error.empty() ? "complete"
              : r.truncated   ? "truncated"
                              : "damaged",
              printable(r.file));
}

int info(info_options options) {
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    bool const table = options.format == "text" && options.files.size() > 1;
    if (table) {
        text_buffer head;
        print_row(head, "recorded", "length", "map", "protocol", "players", "state", "file");
        out.write(head.view());
    }
    return out.finish(examine_files(options.files, options.jobs, out,
                                    [&](std::size_t i, workers& team, std::atomic<std::uint64_t>& done_bytes) {
                                        summary const r = examine(options.files[i], team, done_bytes);
                                        text_buffer text;
                                        if (options.format == "ndjson") print_json(text, r);
                                        else if (table) print_row(text, r);
                                        else print_text(text, r);
                                        bool const damaged = !r.error.empty();
                                        return report{damaged ? exit_bad_input : exit_ok, std::string{text.view()},
                                                      table && damaged ? error_line(r.file + ": " + r.error) : ""};
                                    }));
}

} // namespace

verb const info_verb{"info", "Show what is in demos", [](option_set& options) -> std::function<int()> {
                         auto const chosen = std::make_shared<info_options>();
                         options.files(chosen->files, folder_content::demos,
                                       "demos, folders of demos, or - for standard input");
                         options.output(chosen->to);
                         options.format(chosen->format, {"text", "ndjson"},
                                        "text: a page, or a table of several files; ndjson: one object per file");
                         options.jobs(chosen->jobs);
                         options.part(chosen->part);
                         options.examples({"info game.demo", "info --format ndjson *.demo | jq .map.name"});
                         return [chosen] { return info(*chosen); };
                     }};

} // namespace teewire::replay
