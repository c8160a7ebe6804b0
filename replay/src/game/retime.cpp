#include "game/retime.hpp"

#include "game/owned_snapshot.hpp"
#include "game/race.hpp"

#include <algorithm>
#include <cassert>

namespace teewire::replay {
namespace {

// Some are plain ints by their definition, and one that is called a tick counts how long something lasts.
bool is_tick(object const& o, field const& f) {
    if (o.name == "character" || o.name == "character_core") return f.name == "tick" || f.name == "attack_tick";
    if (f.name == "end_ticks") return true;
    return f.kind == field_kind::tick && f.name != "hook_tick";
}

std::int32_t moved(std::int32_t tick, std::int32_t shift) {
    if (tick <= 0) return tick;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{tick} + shift, 1, INT32_MAX));
}

} // namespace

tick_mover::places const& tick_mover::find(object const& what) {
    auto const found = std::find_if(known_.begin(), known_.end(), [&](places const& p) { return p.what == &what; });
    if (found != known_.end()) return *found;
    places& made = known_.emplace_back(places{&what, {}});
    for (field const& f : what.fields)
        for (std::size_t i = 0; i < f.count && is_tick(what, f); ++i) made.ticks.push_back(f.offset + i);
    return made;
}

void tick_mover::move(std::span<std::int32_t> data, object const& what, std::int32_t shift) {
    for (std::size_t const place : find(what).ticks)
        if (place < data.size()) data[place] = moved(data[place], shift);
    if (auto const start = race_start_offset(data, what)) data[*start] = -moved(-data[*start], shift);
}

object const* tick_mover::find(std::uint16_t type) const {
    if (type < first_alias) return find_object(protocol_, type);
    auto const found = std::lower_bound(aliases_.begin(), aliases_.end(), type,
                                        [](alias const& a, std::uint16_t t) { return a.type < t; });
    return found != aliases_.end() && found->type == type ? found->what : nullptr;
}

snapshot_view tick_mover::move(snapshot_view snapshot, std::int32_t shift, std::span<std::int32_t> out) {
    auto const ints = snapshot.ints();
    assert(out.size() >= ints.size());
    std::copy(ints.begin(), ints.end(), out.begin());
    auto const copy = with_data(snapshot, out.first(ints.size()));
    if (shift == 0) return copy;
    aliases_.clear();
    for (item const i : snapshot)
        if (i.type() == type_ex && i.data.size() >= 4)
            aliases_.push_back({i.id(), find_object(uuid::from_ints(i.data.first<4>()))});
    // The first one of a number is the one that counts.
    std::stable_sort(aliases_.begin(), aliases_.end(),
                     [](alias const& a, alias const& b) { return a.type < b.type; });
    for (item const i : snapshot) {
        auto const begin = static_cast<std::size_t>(i.data.data() - ints.data());
        if (object const* const what = find(i.type())) move(out.subspan(begin, i.data.size()), *what, shift);
    }
    return copy;
}

} // namespace teewire::replay
