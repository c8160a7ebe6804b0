#include "events/match_events.hpp"

#include <fmt/format.h>

#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

bool is_playing(round_state const& r) { return !r.over && !r.paused && !r.waiting; }

// While a game does not run, servers move its start on with every tick.
bool is_new_round(round_state const& before, round_state const& now, std::int32_t last_tick) {
    if (!is_playing(now) || now.start_tick == before.start_tick) return false;
    return now.start_tick > last_tick || (!is_playing(before) && now.start_tick >= last_tick - 1);
}

} // namespace

void match_events::read() {
    round_state const &before = game_.before.round, &now = game_.now.round;
    if (!before.known || !now.known) return;
    if (now.over && !before.over) add_round_end();
    if (now.paused != before.paused && !now.over && !before.over)
        pending_.add(game_.make(now.paused ? game_pause : game_resume, evidence::derived));
    if (is_new_round(before, now, game_.before.tick)) {
        pending_.add(game_.make(round_start, evidence::derived));
        return; // the flags are back at their stands
    }
    for (std::size_t team = 0; team < now.carriers.size(); ++team)
        if (now.carriers[team] != before.carriers[team]) read_flag(team);
}

void match_events::read_flag(std::size_t team) {
    round_state const &before = game_.before.round, &now = game_.now.round;
    constexpr std::int32_t missing = round_state::flag_missing, at_stand = round_state::flag_at_stand;
    std::int32_t const from = before.carriers[team], to = now.carriers[team];
    if (from == missing || to == missing) return;
    std::size_t const others = 1 - team;
    bool const scored = before.scores && now.scores && (*now.scores)[others] > (*before.scores)[others];
    if (to == at_stand && from >= 0 && scored) return add_flag(flag_capture, team, from);
    if (from >= 0) add_flag(flag_drop, team, from);
    if (to == at_stand) return add_flag(flag_return, team, from >= 0 ? -1 : who_returned(team));
    if (from == at_stand && to < 0) { // both between two snapshots
        add_flag(flag_grab, team, -1);
        add_flag(flag_drop, team, -1);
    }
    if (to >= 0) add_flag(flag_grab, team, to);
}

void match_events::add_flag(game_event_kind kind, std::size_t team, std::int32_t client_id) {
    game_event e = game_.make(kind, evidence::derived);
    e.team = static_cast<std::int32_t>(team);
    if (client_id >= 0) {
        e.client = game_.who(client_id);
        e.where = game_.last_position(client_id);
    } else {
        e.where = game_.before.round.flags[team];
    }
    pending_.add(std::move(e));
}

// A player of the team who was where the flag lay. Flags also return by themselves after a time.
std::int32_t match_events::who_returned(std::size_t team) const {
    auto const& at = game_.before.round.flags[team];
    if (!at) return -1;
    constexpr double reach = 64;
    tee const* const t = game_.nearest(*at, reach, [&](tee const& other) {
        present_player const* const p = game_.now.player(other.client_id);
        return p != nullptr && game_.team_of(*p) == static_cast<std::int32_t>(team);
    });
    return t != nullptr ? t->client_id : -1;
}

void match_events::add_round_end() {
    game_event e = game_.make(round_end, evidence::derived);
    if (auto const& scores = game_.now.round.scores) {
        auto const [red, blue] = *scores;
        e.text = fmt::format("red {}, blue {}", red, blue);
        if (red != blue) e.team = red > blue ? 0 : 1;
    } else {
        present_player const* best = nullptr;
        bool shared = false;
        for (present_player const& p : game_.now.players) {
            if (game_.team_of(p).value_or(0) < 0) continue;
            shared = best != nullptr && (p.score == best->score || (shared && p.score < best->score));
            if (best == nullptr || p.score > best->score) best = &p;
        }
        if (best != nullptr && !shared) {
            e.client = game_.who(best->client_id);
            e.text = std::to_string(best->score);
        }
    }
    pending_.add(std::move(e));
}

} // namespace teewire::replay
