#include "verbs/play_view.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>

namespace teewire::replay {

namespace {

std::string minutes(std::int64_t ticks) {
    std::int64_t const seconds = ticks / ticks_per_second;
    return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string speed_text(double speed) {
    return speed < 1 && std::trunc(1 / speed) == 1 / speed ? fmt::format("1/{}", 1 / speed)
                                                           : fmt::format("{}", speed);
}

// The clock of the first runner.
std::string race_clock(std::span<player const> players) {
    auto const runner =
        std::find_if(players.begin(), players.end(), [](player const& p) { return p.race.has_value(); });
    return runner == players.end() ? "" : fmt::format("   {} races {}", runner->name, clock_text(*runner->race));
}

std::string position_line(view const& v) {
    char const* const state = v.tick >= v.last_tick ? "end" : v.paused ? "paused" : "playing";
    return fmt::format("tick {}   {} / {}   speed {}x   {}{}", v.tick, minutes(std::int64_t{v.tick} - v.first_tick),
                       minutes(std::int64_t{v.last_tick} - v.first_tick), speed_text(v.speed), state,
                       race_clock(v.players));
}

std::string position_bar(view const& v, std::size_t columns) {
    if (columns < 3) return {};
    std::size_t const cells = columns - 2;
    double const length = std::max(1.0, static_cast<double>(v.last_tick) - v.first_tick);
    auto const cell = [&](std::int32_t tick) {
        double const part = std::clamp((static_cast<double>(tick) - v.first_tick) / length, 0.0, 1.0);
        return static_cast<std::size_t>(std::lround(part * static_cast<double>(cells - 1)));
    };
    std::string bar(cells, '-');
    std::fill_n(bar.begin(), cell(v.tick), '=');
    for (std::int32_t const marker : v.markers) bar[cell(marker)] = '|';
    bar[cell(v.tick)] = '#';
    return '[' + bar + ']';
}

// 80 columns. Times are longer than scores.
std::string player_row(bool timed, std::string_view id, std::string_view name, std::string_view clan,
                       std::string_view team, std::string_view score, std::string_view position,
                       std::string_view condition, std::string_view weapon, std::string_view latency) {
    std::size_t const score_width = timed ? 10 : 6;
    return fmt::format("{:>3} {} {} {} {:>{}} {:>13} {:>5}  {} {:>4}", id, fit(name, 15),
                       fit(clan, 17 - score_width), fit(team, 4), score, score_width, position, condition,
                       fit(weapon, 8), latency);
}

std::string player_row(player const& p, bool timed) {
    auto const number = [](std::int32_t value) { return fmt::format("{}", value); };
    std::string const score = p.time ? time_text(*p.time) : p.score ? number(*p.score) : "-";
    character const body = p.body.value_or(character{});
    return player_row(timed, number(p.client_id), p.name, p.clan, p.team, score, p.body ? body.position() : "-",
                      body.condition(), body.weapon, number(p.latency));
}

} // namespace

std::vector<std::string> draw(view const& v, window size) {
    bool const timed = std::any_of(v.players.begin(), v.players.end(), [](player const& p) { return p.timed; });
    std::vector<std::string> rows{v.title, position_line(v), position_bar(v, size.columns),
                                  player_row(timed, "id", "name", "clan", "team", timed ? "time" : "score", "x,y",
                                             "hp/ar", "weapon", "ping")};
    // Two rows more are an empty one and the last one. A third is for what happens; more if players leave it.
    std::size_t const room = size.rows - std::min(size.rows, rows.size() + 2);
    std::size_t const lines =
        std::min(v.events.size(), std::max(room / 3, room - std::min(room, v.players.size())));
    std::size_t players = std::min(v.players.size(), room - lines);
    if (players < v.players.size() && players > 0) --players; // for the line that says so
    for (player const& p : v.players.first(players)) rows.push_back(player_row(p, timed));
    if (players < v.players.size()) rows.push_back(fmt::format("    and {} more", v.players.size() - players));
    rows.emplace_back();
    for (timeline_event const& h : v.events.last(lines))
        rows.push_back(
            fmt::format("{:>6}  {}", minutes(std::max(h.tick, v.first_tick) - std::int64_t{v.first_tick}), h.text));
    rows.resize(size.rows - std::min<std::size_t>(size.rows, 1));
    rows.push_back(!v.error.empty()
                       ? v.error
                       : fmt::format("space pause  </> 5 s  PgUp/PgDn 60 s  Home/End  +/- speed  . step  {}q quit",
                                     v.markers.empty() ? "" : "n/p marker  "));
    rows.resize(size.rows);
    for (std::string& row : rows) row = fit(row, size.columns);
    return rows;
}

} // namespace teewire::replay
