#include "events/event_context.hpp"

namespace teewire::replay {

participant event_context::named(std::string_view name) const {
    for (present_player const& p : now.players)
        if (names.name(p.client_id) == name) return who(p.client_id);
    return {-1, std::string{name}};
}

std::optional<std::int32_t> event_context::team_of(present_player const& p) const {
    if (p.team) return p.team;
    auto const* const known = names.find(p.client_id);
    return known != nullptr ? known->team : std::nullopt;
}

game_event event_context::make(game_event_kind kind, evidence known) const {
    game_event e;
    e.kind = kind;
    e.known = known;
    e.tick = tick;
    return e;
}

double event_context::seconds(std::int32_t at) const noexcept {
    if (at < 0 || first_tick < 0) return 0;
    return static_cast<double>(std::max<std::int64_t>(0, std::int64_t{at} - first_tick)) / ticks_per_second;
}

std::optional<position> event_context::last_position(std::int32_t client_id) const {
    for (event_item const& i : now.events)
        if (i.what == event_item::kind::death && i.value == client_id && now.tick == tick) return i.at;
    if (tee const* const t = now.find(client_id)) return expected_position(*t, now.tick);
    if (tee const* const t = before.find(client_id)) return expected_position(*t, before.tick);
    return {};
}

std::optional<participant> event_context::toucher(std::int32_t client_id) const {
    auto const found = touches.find(client_id);
    if (found == touches.end() || std::int64_t{tick} - found->second.tick > touch_ticks) return {};
    return who(found->second.by);
}

} // namespace teewire::replay
