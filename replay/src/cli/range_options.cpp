#include "cli/range_options.hpp"

#include "base/errors.hpp"

#include <fmt/format.h>

#include <iterator>

namespace teewire::replay {

void range_options(option_set& options, chosen_range& to, char const* from_help) {
    options.position("--from", to.from, from_help);
    options.position("--to", to.until, "where to stop");
}

void check_range(chosen_range const& chosen, bool live) {
    auto const from_end = [](std::optional<time_position> const& t) {
        return t && t->from == time_position::origin::end;
    };
    if (live && (from_end(chosen.from) || from_end(chosen.until)))
        throw usage_error{"a live source has no known end: --from and --to must count from the beginning"};
    // If one counts from the beginning and one from the end, it depends on the recording.
    if (!chosen.from || !chosen.until || chosen.from->from != chosen.until->from) return;
    std::int64_t const between = chosen.until->ticks - chosen.from->ticks;
    if (from_end(chosen.from) ? between > 0 : between < 0) throw usage_error{"--from is after --to"};
}

tick_range range_of(chosen_range const& chosen, recording_info const& what) {
    tick_range range;
    if (chosen.from) range.first = chosen.from->tick(what.first_tick, what.last_tick);
    if (chosen.until) range.last = chosen.until->tick(what.first_tick, what.last_tick);
    return range;
}

part_choice part_of(chosen_range const& chosen) {
    return {[chosen](demo_ticks whole) {
                recording_info what;
                what.first_tick = whole.first;
                what.last_tick = whole.last;
                tick_range const range = range_of(chosen, what);
                return demo_ticks{range.first, range.last};
            },
            false};
}

std::string nothing_text(tick_range range, std::int32_t first_tick, std::int32_t last_tick) {
    std::string text = fmt::format("nothing to show from tick {} ", range.first);
    if (range.last == INT32_MAX) text += "on";
    else fmt::format_to(std::back_inserter(text), "to {}", range.last);
    if (first_tick < 0) return text;
    fmt::format_to(std::back_inserter(text), "; it has ticks {} to {}", first_tick, last_tick);
    // A time is never before the beginning.
    if (range.last < first_tick)
        fmt::format_to(std::back_inserter(text), " ({0} is a tick, {0}s a time)", range.last);
    return text;
}

std::string missed_text(tick_range range, recording_info const& what) {
    bool const known = what.first_tick >= 0 && what.first_tick <= what.last_tick;
    bool const missed = range.first > range.last || range.first > what.last_tick || range.last < what.first_tick;
    return known && missed ? nothing_text(range, what.first_tick, what.last_tick) : std::string{};
}

} // namespace teewire::replay
