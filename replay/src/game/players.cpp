#include "game/players.hpp"

#include "base/text.hpp"
#include "game/item_text.hpp"

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

std::string team_name(std::int32_t team, bool team_game) {
    if (team < 0) return "spec";
    if (!team_game) return "game";
    return team == 0 ? "red" : "blue";
}

bool is_team_game(snapshot_view snapshot, protocol p) {
    object const& game = *find_object(p, "game_info");
    for (item const i : snapshot) {
        if (i.type() == game.type) return (int_field(i, game, "game_flags") & 1) != 0;
        // game_info is missing in the demos of 0.7 servers, but only team games have this.
        if (p == protocol::teeworlds_07 && i.type() == find_object(p, "game_data_team")->type) return true;
    }
    return false;
}

character read_character(item const& i, object const& known) {
    character c;
    c.x = int_field(i, known, "x");
    c.y = int_field(i, known, "y");
    c.weapon = weapon_name(int_field(i, known, "weapon"));
    if (std::int32_t const health = int_field(i, known, "health"); health > 0) {
        c.health = health;
        c.armor = int_field(i, known, "armor");
    }
    return c;
}

} // namespace

// ---- names ---------------------------------------------------------------------------------------------------------

std::optional<introduction> read_introduction(game_message const& m) {
    introduction i;
    i.client_id = m.client_id;
    switch (m.kind) {
    case message_kind::client_info: i.clan = printable(m.clan); [[fallthrough]];
    case message_kind::client_enter:
        i.name = printable(m.name);
        i.team = m.team;
        return i;
    case message_kind::team: i.team = m.team; return i;
    default: return {};
    }
}

void name_table::add(introduction const& i) {
    identity& who = known_[i.client_id];
    if (i.name) who.name = *i.name;
    if (i.clan) who.clan = *i.clan;
    if (i.team) who.team = i.team;
}

void name_table::read(snapshot_view snapshot, protocol p) {
    object const& info = *find_object(p, "client_info");
    for (item const i : snapshot)
        if (i.type() == info.type) add(i, info, p);
}

void name_table::add(item const& i, object const& info, protocol p) {
    identity& who = known_[i.id()];
    if (std::equal(who.item.begin(), who.item.end(), i.data.begin(), i.data.end())) return;
    who.item.assign(i.data.begin(), i.data.end());
    who.name = text_field(i, info, "name");
    who.clan = text_field(i, info, "clan");
    if (p == protocol::teeworlds_07) who.team = int_field(i, info, "team");
}

name_table::identity const* name_table::find(std::int32_t client_id) const {
    auto const found = known_.find(client_id);
    return found != known_.end() ? &found->second : nullptr;
}

std::string name_table::name(std::int32_t client_id) const {
    identity const* const who = find(client_id);
    return who != nullptr && !who->name.empty() ? who->name : fmt::format("#{}", client_id);
}

// ---- players -------------------------------------------------------------------------------------------------------

std::string weapon_name(std::int32_t weapon) {
    for (field const& f : find_object(protocol::ddnet, "character")->fields)
        if (f.name == "weapon")
            if (std::string_view const known = (*f.values)[weapon]; !known.empty()) return std::string{known};
    return fmt::format("weapon {}", weapon);
}

std::string character::position() const { return fmt::format("{:.1f},{:.1f}", x / 32.0, y / 32.0); }

std::string character::condition() const {
    return health && armor ? fmt::format("{}/{}", *health, *armor) : std::string{};
}

std::vector<player> read_players(snapshot_view snapshot, protocol p, name_table const& names, std::int32_t tick) {
    object const& info = *find_object(p, "player_info");
    object const& body = *find_object(p, "character");
    bool const team_game = is_team_game(snapshot, p);
    score_reader const scores{snapshot, p};
    std::vector<player> players;
    std::map<std::int32_t, character> bodies;
    for (item const i : snapshot) {
        if (i.type() == body.type) bodies.emplace(i.id(), read_character(i, body));
        if (i.type() != info.type) continue;
        player one;
        one.client_id = int_field(i, info, "client_id", i.id());
        one.name = names.name(one.client_id);
        one.latency = int_field(i, info, "latency");
        std::int32_t const score = int_field(i, info, "score", no_time);
        one.timed = scores.times();
        one.time = scores.time(one.client_id, score);
        if (score != no_time && (!one.timed || one.time)) one.score = score;
        auto const* const who = names.find(one.client_id);
        if (who != nullptr) one.clan = who->clan;
        if (p != protocol::teeworlds_07) one.team = team_name(int_field(i, info, "team"), team_game);
        else if (who != nullptr && who->team) one.team = team_name(*who->team, team_game);
        players.push_back(std::move(one));
    }
    for (player& one : players)
        if (auto const found = bodies.find(one.client_id); found != bodies.end()) one.body = found->second;
    if (tick >= 0)
        for (running_race const& r : read_races(snapshot, p))
            for (player& one : players)
                if (one.client_id == r.client_id && r.start_tick <= tick)
                    one.race = std::int64_t{tick} - r.start_tick;
    std::stable_sort(players.begin(), players.end(), [](player const& a, player const& b) {
        if (a.timed && a.time != b.time) return a.time && (!b.time || *a.time < *b.time);
        if (!a.timed && a.score != b.score) return a.score > b.score; // having none is less than any
        return a.client_id < b.client_id;
    });
    return players;
}

player_ids::player_ids(protocol p) {
    object const& info = *find_object(p, "player_info");
    type_ = info.type;
    for (field const& f : info.fields)
        if (f.name == "client_id") offset_ = f.offset;
}

std::vector<std::int32_t> read_client_ids(snapshot_view snapshot, protocol p) {
    player_ids const players{p};
    std::vector<std::int32_t> ids;
    for (item const i : snapshot)
        if (i.type() == players.type()) ids.push_back(players.client_id(i));
    return ids;
}

std::string to_text(std::span<player const> players, std::size_t most) {
    std::string line = counted(players.size(), "player");
    for (std::size_t i = 0; i < players.size() && i < most; ++i) {
        line += (i == 0 ? ": " : "; ") + players[i].name;
        player const& one = players[i];
        if (auto const& body = one.body) {
            line += ' ' + body->position();
            if (std::string const condition = body->condition(); !condition.empty()) line += ' ' + condition;
            line += ' ' + body->weapon;
        }
        if (one.time) line += ", time " + time_text(*one.time);
        if (one.race) line += ", race " + clock_text(*one.race);
    }
    return line;
}

} // namespace teewire::replay
