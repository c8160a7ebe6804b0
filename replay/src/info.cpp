#include "item_text.hpp"
#include "session.hpp"
#include "verbs.hpp"
#include "world.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <set>

namespace teewire::replay {
namespace {

struct seen_player {
    std::int32_t client_id;
    std::string name;
    std::string clan;
    std::int32_t first_tick;
};

// What can be told about one file. Without chunks if the header or the map is damaged already.
struct report {
    std::string file;
    demo_header header;
    bool map_complete = false;
    bool map_crc_matches = false;
    demo_overview overview;
    std::string_view protocol;
    std::vector<seen_player> players;
    std::size_t snapshots = 0;
    std::string error;
    bool truncated = false;
    bool interrupted = false;
};

std::uint32_t crc32(std::span<std::uint8_t const> bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

std::string type_text(demo_header const& header) { return printable(text(header.type)); }

// Everyone who was there under a name, in the order of appearance.
void find_players(session& demo, report& r) {
    name_table names;
    std::set<std::pair<std::int32_t, std::string>> known;
    for (demo_event event; !interrupted() && demo.player().next(event);) {
        if (event.kind == demo_event_kind::message) {
            auto const raw = parse_message(event.message);
            if (!raw || raw->system) continue;
            auto const m = decode_game_message(*raw, demo.spoken());
            if (!m) continue;
            if (auto const introduced = read_introduction(*raw, *m, demo.spoken())) names.add(*introduced);
        } else if (event.kind == demo_event_kind::snapshot) {
            ++r.snapshots;
            snapshot_view const state = demo.player().state();
            names.read(state, demo.spoken());
            for (std::int32_t const id : read_client_ids(state, demo.spoken())) {
                auto const* const who = names.find(id);
                if (!known.emplace(id, names.name(id)).second) continue;
                r.players.push_back({id, names.name(id), who != nullptr ? who->clan : "", event.tick});
            }
        }
    }
}

report examine(std::string const& file) {
    input const source{file};
    report r;
    r.file = source.name();
    auto const header = parse_demo_header(source.bytes());
    if (header) r.header = *header;
    try {
        session demo{source};
        r.map_complete = true;
        r.map_crc_matches = crc32(demo.map()) == r.header.map_crc;
        r.overview = demo.overview();
        r.protocol = teewire::name(demo.spoken());
        find_players(demo, r);
        r.interrupted = interrupted();
        if (demo.failed()) r.error = explain(demo.player().error());
        r.truncated = demo.failed() && demo.player().error().stage == demo_stage::chunk &&
                      demo.player().error().what.code == errc::truncated;
    } catch (bad_input const& e) {
        if (!header) throw; // nothing is known
        std::string_view const reason = e.what();
        r.error = reason.substr(reason.find(": ") + 2);
        r.truncated = true;
    }
    return r;
}

constexpr std::pair<std::string_view, demo_chunk_kind> chunk_kinds[] = {
    {"ticks", demo_chunk_kind::tick},
    {"snapshots", demo_chunk_kind::snapshot},
    {"deltas", demo_chunk_kind::delta},
    {"messages", demo_chunk_kind::message},
};

demo_overview::counter const& counter(report const& r, demo_chunk_kind kind) {
    return r.overview.kinds[static_cast<std::size_t>(kind)];
}

std::string sha256_text(demo_header const& header) { return fmt::format("{:02x}", fmt::join(header.sha256, "")); }

void print_json(output& out, report const& r) {
    rapidjson::StringBuffer buffer;
    json_writer json{buffer};
    auto const string = [&](char const* key, std::string_view value) {
        json.Key(key);
        write_string(json, value);
    };
    auto const number = [&](char const* key, std::uint64_t value) {
        json.Key(key);
        json.Uint64(value);
    };
    auto const tick = [&](char const* key, std::int32_t value) {
        json.Key(key);
        if (value < 0) json.Null();
        else json.Int(value);
    };
    json.StartObject();
    string("file", printable(r.file));
    number("version", r.header.version);
    json.Key("protocol");
    if (r.protocol.empty()) json.Null();
    else write_string(json, r.protocol);
    string("net_version", printable(text(r.header.net_version)));
    string("type", type_text(r.header));
    string("date", printable(text(r.header.timestamp)));
    json.Key("map");
    json.StartObject();
    string("name", printable(text(r.header.map_name)));
    number("size", r.header.map_size);
    string("crc", fmt::format("{:08x}", r.header.map_crc));
    if (r.map_complete && r.header.map_size != 0) {
        json.Key("crc_matches");
        json.Bool(r.map_crc_matches);
    }
    json.Key("sha256");
    if (r.header.has_sha256) write_string(json, sha256_text(r.header));
    else json.Null();
    json.EndObject();
    tick("first_tick", r.overview.first_tick);
    tick("last_tick", r.overview.last_tick);
    json.Key("seconds");
    json.Double((r.overview.last_tick - r.overview.first_tick) / double{ticks_per_second});
    number("header_seconds", static_cast<std::uint64_t>(std::max(0, r.header.length)));
    number("keyframes", r.overview.keyframes);
    json.Key("markers");
    json.StartArray();
    for (std::int32_t const marker : r.header.markers()) json.Int(marker);
    json.EndArray();
    json.Key("chunks");
    json.StartObject();
    for (auto const& [name, kind] : chunk_kinds) {
        write_key(json, name);
        json.StartObject();
        number("count", counter(r, kind).chunks);
        number("bytes", counter(r, kind).bytes);
        json.EndObject();
    }
    json.EndObject();
    number("snapshots", r.snapshots);
    json.Key("players");
    json.StartArray();
    for (seen_player const& p : r.players) {
        json.StartObject();
        json.Key("id");
        json.Int(p.client_id);
        string("name", p.name);
        string("clan", p.clan);
        tick("first_tick", p.first_tick);
        json.EndObject();
    }
    json.EndArray();
    json.Key("truncated");
    json.Bool(r.truncated);
    json.Key("error");
    if (r.error.empty()) json.Null();
    else write_string(json, r.error);
    json.EndObject();
    out.print("{}\n", std::string_view{buffer.GetString(), buffer.GetSize()});
}

void print_text(output& out, report const& r) {
    auto const line = [&](std::string_view label, std::string const& value) {
        out.print("{:11}{}\n", label, value);
    };
    line("file", printable(r.file));
    line("version",
         fmt::format("{}, {} ({})", r.header.version, r.protocol.empty() ? "unknown protocol" : r.protocol,
                     printable(text(r.header.net_version))));
    line("recorded", fmt::format("{}, by a {}", printable(text(r.header.timestamp)), type_text(r.header)));
    std::string const map = printable(text(r.header.map_name));
    line("map", r.header.map_size == 0
                    ? fmt::format("{}, not embedded, crc {:08x}", map, r.header.map_crc)
                    : fmt::format("{}, {} bytes, crc {:08x}{}", map, r.header.map_size, r.header.map_crc,
                                  r.map_complete && !r.map_crc_matches ? " (which the embedded map has not)" : ""));
    if (r.header.has_sha256) line("map sha256", sha256_text(r.header));
    if (r.overview.ticks > 0)
        line("ticks", fmt::format("{} to {}, {}", r.overview.first_tick, r.overview.last_tick,
                                  clock_text(r.overview.last_tick - r.overview.first_tick)));
    line("keyframes", fmt::format("{}", r.overview.keyframes));
    if (!r.header.markers().empty()) line("markers", fmt::format("{}", fmt::join(r.header.markers(), " ")));
    std::string chunks;
    for (auto const& [name, kind] : chunk_kinds)
        chunks += fmt::format("{}{} {} ({} bytes)", chunks.empty() ? "" : ", ", counter(r, kind).chunks, name,
                              counter(r, kind).bytes);
    line("chunks", chunks);
    for (seen_player const& p : r.players)
        line(&p == r.players.data() ? "players" : "",
             fmt::format("{:3} {}{}", p.client_id, p.name, p.clan.empty() ? "" : fmt::format("  [{}]", p.clan)));
    line("state",
         r.error.empty() ? "complete" : fmt::format("{}: {}", r.truncated ? "truncated" : "damaged", r.error));
}

} // namespace

int info(info_options const& options) {
    output out;
    int worst = exit_ok;
    for (std::string const& file : options.files) {
        try {
            report const r = examine(file);
            if (r.interrupted) {
                worst = exit_interrupted;
                break;
            }
            if (options.format == "json") print_json(out, r);
            else print_text(out, r);
            if (options.format == "text" && &file != &options.files.back()) out.write("\n");
            if (!r.error.empty()) worst = std::max(worst, exit_bad_input);
        } catch (bad_input const& e) {
            fmt::print(stderr, "teewire: {}\n", e.what());
            worst = std::max(worst, exit_bad_input);
        } catch (io_error const& e) {
            fmt::print(stderr, "teewire: {}\n", e.what());
            worst = std::max(worst, exit_io);
        }
    }
    out.flush();
    return worst;
}

} // namespace teewire::replay
