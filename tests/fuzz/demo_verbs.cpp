// The program's commands for demos: info, dump, events, stats, du, verify, index, export, cut, join, merge, redact, picture,
// video, and the view of `play`. The first byte chooses the command, the rest is the demo.
#include "demo_mutator.hpp"
#include "program.hpp"

#include "base/compression.hpp"
#include "base/text.hpp"
#include "verbs/play_state.hpp"
#include "verbs/play_view.hpp"
#include "web/demo_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include <unistd.h>

using namespace teewire::replay;
using fuzz::form;

namespace {

fuzz::bytes_view bytes_of(std::string const& text) {
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

// However many threads there are, and whoever reads it, it is the same.
void compare(fuzz::bytes_view demo) {
    static auto const words = [](char const* jobs) {
        return std::vector<std::string>{"@", "--format", "checksum", "--jobs", jobs};
    };
    static fuzz::command const& one = *new fuzz::command{dump_verb, form::text, words("1")};
    static fuzz::command const& three = *new fuzz::command{dump_verb, form::text, words("3")};
    static fuzz::command const& checked = *new fuzz::command{verify_verb, form::text, {"@", "--jobs", "2"}};
    auto const alone = one.run(demo);
    auto const together = three.run(demo);
    FUZZ_REQUIRE(alone.code == together.code && alone.out == together.out && alone.said == together.said);
    if (alone.code != exit_usage) FUZZ_REQUIRE(checked.run(demo).code == alone.code);
    // A database has it once, however often it is added.
    static std::string const& database = *new std::string{fmt::format("/tmp/teewire-fuzz-{}.sqlite", ::getpid())};
    static fuzz::command const& exported = *new fuzz::command{export_verb, form::text, {"@", "-o", database}};
    auto const added = exported.run(demo);
    FUZZ_REQUIRE(added.code == alone.code || alone.code == exit_usage);
    FUZZ_REQUIRE(exported.run(demo).code == added.code);
    ::unlink(database.c_str());
    // All of it in one piece is the same again, and a piece cut again is that piece.
    static fuzz::command const& all = *new fuzz::command{cut_verb, form::binary, {"@", "-o", "-"}};
    static fuzz::command const& some =
        *new fuzz::command{cut_verb, form::binary, {"@", "--from", "0:01", "--to", "-0:01", "-o", "-"}};
    if (auto const copy = all.run(demo); copy.code == exit_ok)
        FUZZ_REQUIRE(one.run(bytes_of(copy.out)).out == alone.out);
    if (auto const piece = some.run(demo); piece.code == exit_ok)
        FUZZ_REQUIRE(all.run(bytes_of(piece.out)).out == piece.out);
    // It is like itself, and where nothing has to be repaired it stays so.
    static fuzz::command const& repaired = *new fuzz::command{repair_verb, form::binary, {"@", "-o", "-"}};
    static fuzz::command const& compared = *new fuzz::command{diff_verb, form::text, {"@", "@"}};
    static fuzz::memory_file const& other = *new fuzz::memory_file;
    static fuzz::command const& with_other = *new fuzz::command{diff_verb, form::text, {"@", other.path()}};
    if (alone.code == exit_ok) {
        auto const kept = repaired.run(demo);
        bool const whole = std::count(kept.said.begin(), kept.said.end(), '\n') == 1;
        if (whole && kept.code == exit_ok) {
            // Keyframes may be elsewhere, and with them the order of items; markers that show nothing are not kept.
            other.assign(bytes_of(kept.out));
            FUZZ_REQUIRE(one.run(bytes_of(kept.out)).out == alone.out || with_other.run(demo).code == exit_ok);
        }
        FUZZ_REQUIRE(compared.run(demo).code == exit_ok);
    }
    // A joined demo can be read, and so can a merged one, which shows the same as merged with itself.
    static fuzz::command const& twice = *new fuzz::command{join_verb, form::binary, {"@", "@", "-o", "-"}};
    if (auto const both = twice.run(demo); both.code == exit_ok)
        FUZZ_REQUIRE(checked.run(bytes_of(both.out)).code == exit_ok);
    static fuzz::command const& united = *new fuzz::command{merge_verb, form::binary, {"@", "-o", "-"}};
    static fuzz::command const& doubled = *new fuzz::command{merge_verb, form::binary, {"@", "@", "-o", "-"}};
    if (auto const once = united.run(demo); once.code == exit_ok) {
        FUZZ_REQUIRE(checked.run(bytes_of(once.out)).code == exit_ok);
        auto const expected = one.run(bytes_of(once.out)).out;
        FUZZ_REQUIRE(one.run(bytes_of(doubled.run(demo).out)).out == expected);
        // So do two pieces of it that share a second.
        static fuzz::command const& begin =
            *new fuzz::command{cut_verb, form::binary, {"@", "--to", "0:02", "-o", "-"}};
        static fuzz::command const& end =
            *new fuzz::command{cut_verb, form::binary, {"@", "--from", "0:01", "-o", "-"}};
        static fuzz::command const& pieces =
            *new fuzz::command{merge_verb, form::binary, {"@", other.path(), "-o", "-"}};
        auto const first = begin.run(demo);
        auto const second = end.run(demo);
        if (alone.code != exit_ok || first.code != exit_ok || second.code != exit_ok) return;
        other.assign(bytes_of(second.out));
        FUZZ_REQUIRE(one.run(bytes_of(pieces.run(bytes_of(first.out)).out)).out == expected);
    }
}

// An index says of itself what it was made of.
void make_index(fuzz::bytes_view demo) {
    static fuzz::memory_file const& file = *new fuzz::memory_file;
    file.assign(demo);
    try {
        input const source{file.path()};
        demo_document opened{source};
        demo_index const made = teewire::replay::make_index(opened);
        auto const read = parse_index(unpack_gzip(made.bytes));
        FUZZ_REQUIRE(read && read->size == source.bytes().size() && read->sha256 == made.facts.sha256);
        FUZZ_REQUIRE(read->first_tick == made.facts.first_tick && read->last_tick == made.facts.last_tick);
        FUZZ_REQUIRE(made.bytes.size() <= most_index_bytes(demo.size()) || read->players.empty());
    } catch (bad_input const&) {   // there is nothing to be played
    } catch (usage_error const&) { // it is not a demo
    }
    // Any content of the file.
    static_cast<void>(parse_index(demo));
}

// What `play` draws at some ticks, for a terminal of any size.
void watch(fuzz::bytes_view demo) {
    if (demo.empty()) return;
    static fuzz::memory_file const& file = *new fuzz::memory_file;
    file.assign(demo);
    fuzz::cost_limit const limit{demo.size()};
    try {
        input const source{file.path()};
        demo_document opened{source};
        timeline const all = read_timeline(opened);
        FUZZ_REQUIRE(all.first_tick <= all.last_tick);
        FUZZ_REQUIRE(std::is_sorted(all.snapshots.begin(), all.snapshots.end()));
        play_state shown{opened, all};
        view v;
        v.first_tick = all.first_tick;
        v.last_tick = all.last_tick;
        std::vector<std::int32_t> const markers{v.last_tick, v.first_tick};
        v.markers = markers;
        auto const middle = static_cast<std::int32_t>(std::midpoint(v.first_tick, v.last_tick));
        std::size_t bytes = 0;
        for (std::int32_t const tick : {middle, v.last_tick, v.first_tick}) {
            v.tick = tick;
            auto const players = shown.players(tick);
            v.players = players;
            v.events = std::span{all.events}.first(all.count_until(tick));
            window const size{demo.back() % 32U, demo[demo.size() / 2]}; // the first bytes are those of every demo
            auto const rows = draw(v, size);
            FUZZ_REQUIRE(rows.size() == size.rows);
            for (std::string const& row : rows) {
                FUZZ_REQUIRE(printable(row) == row && fit(row, size.columns) == row);
                bytes += row.size();
            }
        }
        limit.check(bytes);
    } catch (bad_input const&) { // there is nothing to be played
    }
}

void run_target(fuzz::bytes_view data) {
    static auto const& lines = *new fuzz::command_lines{
        {{info_verb, form::text, {}},
         {info_verb, form::ndjson, {"--format", "ndjson"}},
         {dump_verb, form::ndjson, {"--jobs", "1"}},
         {dump_verb, form::text, {"--format", "csv", "--type", "character", "--jobs", "1"}},
         {dump_verb, form::binary, {"--format", "csv", "--type", "player_info", "--raw", "--jobs", "1"}},
         {dump_verb, form::ndjson, {"--from", "0:01", "--to", "0:02", "--jobs", "2"}},
         {events_verb, form::ndjson, {}},
         {events_verb, form::text, {"--format", "text"}},
         {events_verb,
          form::binary,
          {"--format", "csv", "--type", "chat,kill,finish,marker"}}, // with every character
         {events_verb, form::text, {"--format", "srt", "--players", "bot01"}},
         {stats_verb, form::ndjson, {"--format", "ndjson"}},
         {stats_verb, form::text, {"--sum"}},
         {du_verb, form::ndjson, {"--format", "ndjson"}},
         {du_verb, form::text, {}},
         {verify_verb, form::text, {"--jobs", "1"}},
         {verify_verb, form::ndjson, {"--strict", "--format", "ndjson", "--jobs", "1"}},
         {diff_verb, form::text, {"@"}},
         {repair_verb, form::binary, {}},
         {repair_verb, form::binary, {"--version", "4"}},
         {map_info_verb, form::text, {}},
         {cut_verb, form::binary, {"--from", "0:01", "--to", "0:02", "--from", "0:03", "--to", "-0:01", "--one"}},
         {cut_verb, form::binary, {"--strip-map", "--from", "-0:02"}},
         {join_verb, form::binary, {"@"}},
         {merge_verb, form::binary, {"@"}},
         {redact_verb, form::binary, {}},
         {compress_verb, form::binary, {"--method", "gzip", "--level", "1"}},
         {compress_verb, form::binary, {"--method", "zstd", "--level", "3"}},
         {compress_verb, form::binary, {"--method", "tda", "--jobs", "1"}},
         {redact_verb, form::binary, {"--what", "names", "--players", "bot01"}},
         {cut_verb,
          form::binary,
          {"--one", "--around", "kill", "--around", "marker", "--around", "finish", "--around", "chat:(a|b)*c$",
           "--before", "0.5", "--after", "0.1"}},
         {picture_verb, form::binary, {"--size", "64x36", "--data", "/sys", "--jobs", "1"}},
         {picture_verb,
          form::binary,
          {"--size", "80x80", "--data", "/sys", "--zoom", "15", "--at", "0:03", "--jobs", "1"}},
         {video_verb,
          form::binary,
          {"--format", "y4m", "--size", "32x18", "--data", "/sys", "--fps", "1", "--speed", "9", "--to", "0:20",
           "--no-names", "--jobs", "1"}}},
        {compare, watch}};
    if (!data.empty()) make_index(data.subspan(1));
    lines.run(data);
}

} // namespace

FUZZ_TARGET("demo_verbs", run_target)
FUZZ_MUTATOR(1, fuzz::mutate_demo)
FUZZ_CROSSOVER(1, fuzz::cross_demos)
