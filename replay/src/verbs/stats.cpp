#include "base/json.hpp"
#include "cli/examine_files.hpp"
#include "cli/exit_codes.hpp"
#include "events/game_event.hpp"
#include "events/player_counts.hpp"
#include "game/race.hpp"
#include "recording/open_recording.hpp"
#include "verbs/verbs.hpp"

#include <teewire/demo_format.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

struct stats_options {
    std::vector<std::string> files;
    output_choice to;
    std::string connection; ///< of captures
    bool sum = false;
    std::string format = "text";
    unsigned jobs = 0; ///< files at the same time; 0: as many as there are cores
    std::optional<shard> part;
};

using file_label = std::optional<std::string>;

constexpr double units_of_tile = 32 * 256; // of player_counts::distance

double in_seconds(std::uint64_t ticks) { return static_cast<double>(ticks) / ticks_per_second; }
double tiles(std::uint64_t distance) { return static_cast<double>(distance) / units_of_tile; }
std::uint64_t sum(weapon_counts const& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}
double mean_latency(player_counts const& p) {
    return p.ticks == 0 ? 0 : static_cast<double>(p.latency) / static_cast<double>(p.ticks);
}

// The player with the longest time comes first.
using row = player_table::value_type const*;
std::vector<row> sorted(player_table const& players) {
    std::vector<row> rows;
    for (auto const& p : players) rows.push_back(&p);
    std::stable_sort(rows.begin(), rows.end(), [](row a, row b) { return a->second.played > b->second.played; });
    return rows;
}

// ---- ndjson --------------------------------------------------------------------------------------------------------

void write_weapons(object_writer& object, std::string_view key, weapon_counts const& counts) {
    object_writer weapons = object.object(key);
    for (std::size_t i = 0; i < counts.size(); ++i)
        weapons.number(weapon_text(static_cast<std::int32_t>(i)), counts[i]);
}

void print_json(text_buffer& out, file_label const& file, std::string_view name, player_counts const& p) {
    json_line{}.print(out, [&](object_writer& line) {
        if (file) line.text("file", *file);
        line.text("name", name);
        line.real("seconds", in_seconds(p.ticks));
        line.real("played_seconds", in_seconds(p.played));
        line.number("kills", p.kills);
        line.number("deaths", p.deaths);
        line.number("own_deaths", p.own_deaths);
        write_weapons(line, "kills_by", p.kills_by);
        write_weapons(line, "shots", p.shots);
        write_weapons(line, "hits", p.hits);
        line.real("distance_tiles", tiles(p.distance));
        line.real("hook_seconds", in_seconds(p.hooked));
        line.real("frozen_seconds", in_seconds(p.frozen));
        line.number("finishes", p.finishes);
        line.number_or_null("best_ms", p.best);
        line.number("chat", p.chat);
        line.real("latency_ms", mean_latency(p));
    });
}

// ---- csv -----------------------------------------------------------------------------------------------------------

std::string csv_head(bool files) {
    std::string head = files ? "file," : "";
    head += "name,seconds,played_seconds,kills,deaths,own_deaths";
    for (std::string_view const what : {"kills_by", "shots", "hits"})
        for (std::int32_t weapon = 0; weapon < static_cast<std::int32_t>(weapon_counts{}.size()); ++weapon)
            head += fmt::format(",{}_{}", what, weapon_text(weapon));
    return head + ",distance_tiles,hook_seconds,frozen_seconds,finishes,best_ms,chat,latency_ms\n";
}

void print_csv(text_buffer& out, file_label const& file, std::string_view name, player_counts const& p) {
    if (file) out.print("{},", csv_text(valid_utf8(*file), csv_texts::safe));
    out.print("{},{:.2f},{:.2f},{},{},{}", csv_text(valid_utf8(name), csv_texts::safe), in_seconds(p.ticks),
              in_seconds(p.played), p.kills, p.deaths, p.own_deaths);
    out.print(",{},{},{}", fmt::join(p.kills_by, ","), fmt::join(p.shots, ","), fmt::join(p.hits, ","));
    out.print(",{:.3f},{:.2f},{:.2f},{},{},{},{:.1f}\n", tiles(p.distance), in_seconds(p.hooked),
              in_seconds(p.frozen), p.finishes, p.best ? fmt::format("{}", *p.best) : "", p.chat, mean_latency(p));
}

// ---- text ----------------------------------------------------------------------------------------------------------

void print_text_head(text_buffer& out) {
    out.print("{}{:>9}{:>7}{:>7}{:>7}{:>7}{:>9}{:>8}{:>8}{:>9}{:>10}{:>6}{:>6}\n", fit("name", 16), "played",
              "kills", "deaths", "shots", "hits", "tiles", "hook", "frozen", "finishes", "best", "chat", "ping");
}

void print_text(text_buffer& out, std::string_view name, player_counts const& p) {
    auto const clock = [](std::uint64_t ticks) { return clock_text(static_cast<std::int64_t>(ticks)); };
    out.print("{}{:>9}{:>7}{:>7}{:>7}{:>7}{:>9.0f}{:>8}{:>8}{:>9}{:>10}{:>6}{:>6.0f}\n", fit(printable(name), 16),
              clock(p.played), p.kills, p.deaths, sum(p.shots), sum(p.hits), tiles(p.distance), clock(p.hooked),
              clock(p.frozen), p.finishes, p.best ? time_text(*p.best) : "-", p.chat, mean_latency(p));
}

std::string print(stats_options const& options, file_label const& file, player_table const& players) {
    text_buffer out;
    if (options.format == "text") {
        if (file) out.print("{}\n", printable(*file));
        print_text_head(out);
    }
    for (row const r : sorted(players)) {
        if (options.format == "ndjson") print_json(out, file, r->first, r->second);
        else if (options.format == "csv") print_csv(out, file, r->first, r->second);
        else print_text(out, r->first, r->second);
    }
    return std::string{out.view()};
}

int stats(stats_options options) {
    bool const separate = options.files.size() > 1 && !options.sum;
    if (options.part && options.sum)
        throw usage_error{"--sum adds up all files, so it cannot be used with --shard"};
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    if (options.format == "csv") out.write(csv_head(separate));
    std::vector<player_table> tables(options.sum ? options.files.size() : 0);
    int const code = examine_files(
        options.files, options.jobs, out, [&](std::size_t i, workers&, std::atomic<std::uint64_t>& done_bytes) {
            open_recording source{options.files[i], {options.connection, add_progress_to(done_bytes), complain}};
            player_counter counter;
            std::string const error = source.read_all(counter);
            counter.finish();
            report r;
            r.code = std::max(exit_code_of(source), error.empty() ? exit_ok : exit_bad_input);
            if (!error.empty()) r.err = error_line(fmt::format("{}: {}", source.name(), error));
            if (options.sum) {
                tables[i] = counter.players();
                return r;
            }
            r.out = print(options, separate ? file_label{source.name()} : std::nullopt, counter.players());
            if (options.format == "text" && i + 1 != options.files.size()) r.out += '\n';
            return r;
        });
    if (options.sum && !interrupted()) {
        player_table all;
        for (player_table const& table : tables) add(table, all);
        out.write(print(options, {}, all));
    }
    return out.finish(code);
}

} // namespace

verb const stats_verb{"stats", "Count what each player did in demos and packet captures",
                      [](option_set& options) -> std::function<int()> {
                          auto const chosen = std::make_shared<stats_options>();
                          options.files(chosen->files, folder_content::recordings,
                                        "demos, pcap and pcapng files, folders of them, or - for standard input");
                          options.output(chosen->to);
                          options.format(chosen->format, {"text", "ndjson", "csv"},
                                         "text: a table; ndjson: one object per player; csv: one row");
                          options.flag("--sum", chosen->sum, "one table for all files together");
                          options.connection(chosen->connection);
                          options.jobs(chosen->jobs);
                          options.part(chosen->part);
                          options.examples({"stats game.demo", "stats --sum *.demo --format csv -o season.csv",
                                            "stats game.demo --format ndjson | jq 'select(.kills > 10) | .name'"});
                          return [chosen] { return stats(*chosen); };
                      }};

} // namespace teewire::replay
