#include "events/game_event.hpp"

#include "base/text.hpp"
#include "game/players.hpp"

#include <algorithm>
#include <array>

namespace teewire::replay {
namespace {

constexpr std::array<std::string_view, game_event_kind_count> kind_names = {
    "join",       "leave",       "name_change",   "team_change", "race_team",      "spectate",     "spectate_end",
    "pause",      "resume",      "ready",         "unready",     "spawn",          "kill",         "hit",
    "pickup",     "shot",        "weapon_change", "hook_throw",  "hook_attach",    "hook_release", "freeze",
    "unfreeze",   "flag_grab",   "flag_drop",     "flag_return", "flag_capture",   "round_start",  "round_end",
    "game_pause", "game_resume", "checkpoint",    "finish",      "best_times",     "vote",         "vote_end",
    "chat",       "team_chat",   "whisper",       "emoticon",    "server_message", "broadcast",    "motd",
    "map_change", "marker",
};
static_assert(std::none_of(kind_names.begin(), kind_names.end(), [](auto n) { return n.empty(); }));

std::string who(std::optional<participant> const& p) { return p ? p->name : "?"; }

// DDNet's servers and mods have ways to die in which the last touch is what matters.
std::string after_touch(game_event const& e) {
    bool const adds = e.toucher && (!e.client || e.client->client_id != e.toucher->client_id);
    return adds ? fmt::format(", touched by {}", e.toucher->name) : std::string{};
}

std::string death_text(game_event const& e) {
    std::string const victim = who(e.target);
    if (!e.target && !e.text.empty())
        return fmt::format("? died{}, {}", e.weapon ? fmt::format(" ({})", weapon_text(*e.weapon)) : "", e.text);
    if (!e.weapon) return victim + " died";
    if (!e.client)
        return *e.weapon < 0 ? fmt::format("{} died ({})", victim, weapon_text(*e.weapon))
                             : fmt::format("{} was killed with {}", victim, weapon_text(*e.weapon));
    bool const alone = e.client->client_id < 0 || (e.target && e.client->client_id == e.target->client_id);
    if (alone) return fmt::format("{} died ({}{})", victim, *e.weapon < 0 ? "" : "own ", weapon_text(*e.weapon));
    return fmt::format("{} killed {} with {}", e.client->name, victim, weapon_text(*e.weapon));
}

std::string kill_text(game_event const& e) { return death_text(e) + after_touch(e); }

std::string flag_text(game_event const& e, std::string_view verb) {
    std::string_view const flag = e.team == 0 ? "the red flag" : "the blue flag";
    if (e.kind == game_event_kind::flag_return && !e.client) return fmt::format("{} returned", flag);
    return fmt::format("{} {} {}", who(e.client), verb, flag);
}

std::string round_end_text(game_event const& e) {
    std::string line = "the round ended";
    if (e.client) line += fmt::format(": {} won", e.client->name);
    if (!e.text.empty()) line += fmt::format("{} {}", e.client ? "," : ":", printable(e.text));
    return line;
}

std::string race_text(game_event const& e) {
    std::string line = who(e.client);
    if (e.kind == game_event_kind::finish) line += " finished in " + time_text(e.time.value_or(0));
    else line += " passed a checkpoint" + (e.time ? " at " + time_text(*e.time) : std::string{});
    if (e.difference) line += fmt::format(" ({}{})", *e.difference < 0 ? "" : "+", time_text(*e.difference));
    if (e.record == race_record::server) line += ", the server's record";
    if (e.record == race_record::personal) line += ", a personal record";
    return line;
}

std::string best_times_text(game_event const& e) {
    std::string line = "best times:";
    if (e.server_time) line += " server " + time_text(*e.server_time);
    if (e.time) line += fmt::format("{} {} {}", e.server_time ? "," : "", who(e.client), time_text(*e.time));
    return line;
}

std::string hook_text(game_event const& e, std::string_view verb) {
    return fmt::format("{} {}{}", who(e.client), verb, e.target ? e.target->name : "the ground");
}

std::string_view team_text(std::int32_t team) {
    return team < 0 ? "the spectators" : team == 0 ? "the game or the red team" : "the blue team";
}

} // namespace

std::string_view name(game_event_kind k) noexcept { return kind_names[static_cast<std::size_t>(k)]; }

std::optional<game_event_kind> find_event_kind(std::string_view name) noexcept {
    auto const found = std::find(kind_names.begin(), kind_names.end(), name);
    if (found == kind_names.end()) return {};
    return static_cast<game_event_kind>(found - kind_names.begin());
}

std::string_view name(evidence e) noexcept { return e == evidence::observed ? "observed" : "derived"; }

std::string_view name(race_record r) noexcept {
    switch (r) {
    case race_record::none: break;
    case race_record::personal: return "personal";
    case race_record::server: return "server";
    }
    return "";
}

bool is_kill_by_another(game_event const& e) noexcept {
    if (e.kind != game_event_kind::kill || !e.target || !e.weapon || *e.weapon < 0) return false;
    return !e.client || (e.client->client_id >= 0 && e.client->client_id != e.target->client_id);
}

std::string weapon_text(std::int32_t weapon) {
    if (weapon == -1) return "world";
    if (weapon == -2) return "self";
    if (weapon == -3) return "game";
    return weapon_name(weapon);
}

std::string to_text(game_event const& e) {
    using enum game_event_kind;
    auto const weapon = [&] { return e.weapon ? weapon_text(*e.weapon) : std::string{"something"}; };
    switch (e.kind) {
    case join: return who(e.client) + " joined";
    case leave: return who(e.client) + " left";
    case name_change: return fmt::format("{} is now {}", printable(e.text), who(e.client));
    case team_change: return fmt::format("{} joined {}", who(e.client), team_text(e.team.value_or(0)));
    case race_team:
        return e.team.value_or(0) == 0 ? who(e.client) + " left the race team"
                                       : fmt::format("{} joined race team {}", who(e.client), *e.team);
    case spectate: return fmt::format("{} watches {}", who(e.client), e.target ? e.target->name : "freely");
    case spectate_end: return who(e.client) + " stopped watching";
    case pause: return who(e.client) + " paused";
    case resume: return who(e.client) + " resumed";
    case ready: return who(e.client) + " is ready";
    case unready: return who(e.client) + " is not ready";
    case spawn: return who(e.client) + " spawned";
    case kill: return kill_text(e);
    case hit: return fmt::format("{} hit {} with {}", who(e.client), who(e.target), weapon());
    case pickup: return fmt::format("{} picked up {}", who(e.client), printable(e.text));
    case shot: return fmt::format("{} fired {}", who(e.client), weapon());
    case weapon_change: return fmt::format("{} took {}", who(e.client), weapon());
    case hook_throw: return who(e.client) + " threw the hook";
    case hook_attach: return hook_text(e, "hooked ");
    case hook_release: return hook_text(e, "let go of ");
    case freeze: return who(e.client) + " froze" + after_touch(e);
    case unfreeze: return who(e.client) + " thawed";
    case flag_grab: return flag_text(e, "took");
    case flag_drop: return flag_text(e, "dropped");
    case flag_return: return flag_text(e, "returned");
    case flag_capture: return flag_text(e, "captured");
    case round_start: return "the round started";
    case round_end: return round_end_text(e);
    case game_pause: return "the game was paused";
    case game_resume: return "the game went on";
    case checkpoint:
    case finish: return race_text(e);
    case best_times: return best_times_text(e);
    case vote: return fmt::format("{} called a vote: {}", who(e.client), printable(e.text));
    case vote_end: return "vote " + (e.text.empty() ? std::string{"ended"} : printable(e.text));
    case chat: return fmt::format("{}: {}", who(e.client), printable(e.text));
    case team_chat: return fmt::format("{} (team): {}", who(e.client), printable(e.text));
    case whisper: return fmt::format("{} (whisper): {}", who(e.client), printable(e.text));
    case emoticon: return fmt::format("{} shows {}", who(e.client), printable(e.text));
    case server_message: return "*** " + printable(e.text);
    case broadcast: {
        std::string const text = printable(e.text);
        return (is_race_clock(text) ? "race clock: " : "broadcast: ") + text;
    }
    case motd: return "message of the day: " + printable(e.text);
    case map_change: return "map: " + printable(e.text);
    case marker: return "marker";
    }
    return {};
}

} // namespace teewire::replay
