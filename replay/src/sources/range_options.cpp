#include "sources/range_options.hpp"

#include "io/errors.hpp"

namespace teewire::replay {

void range_options(option_set& options, chosen_range& to, char const* from_help) {
    options.position("--from", to.from, from_help);
    options.position("--to", to.until, "where to end");
}

tick_range range_of(chosen_range const& chosen, recording const& what) {
    auto const from_end = [](std::optional<time_position> const& t) {
        return t && t->from == time_position::origin::end;
    };
    if (what.last_tick < 0 && (from_end(chosen.from) || from_end(chosen.until)))
        throw usage_error{"nobody knows when this will end: --from and --to count from the beginning"};
    tick_range range;
    if (chosen.from) range.first = chosen.from->tick(what.first_tick, what.last_tick);
    if (chosen.until) range.last = chosen.until->tick(what.first_tick, what.last_tick);
    return range;
}

} // namespace teewire::replay
