#include "world.hpp"

#include "item_text.hpp"

#include <set>
#include <utility>

namespace teewire::replay {
namespace {

constexpr std::int32_t score_none = -9999; // what servers of races send instead of no time

std::string weapon_name(protocol p, std::int32_t weapon) {
    for (field const& f : find_object(p, "character")->fields)
        if (f.name == "weapon")
            if (std::string_view const known = (*f.values)[weapon]; !known.empty()) return std::string{known};
    return fmt::format("weapon {}", weapon);
}

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

character read_character(item const& i, object const& known, protocol p) {
    character c;
    c.x = int_field(i, known, "x");
    c.y = int_field(i, known, "y");
    c.weapon = weapon_name(p, int_field(i, known, "weapon"));
    if (std::int32_t const health = int_field(i, known, "health"); health > 0) {
        c.health = health;
        c.armor = int_field(i, known, "armor");
    }
    return c;
}

std::string chat_mode(game_message const& m, protocol p) {
    std::int32_t const mode = p == protocol::teeworlds_07 ? m.team - 1 : m.team;
    return mode <= 0 ? "" : mode == 1 ? " (team)" : " (whisper)";
}

std::string tell_kill(game_message const& m, protocol p, name_table const& names) {
    bool const alone = m.client_id < 0 || m.client_id == m.victim;
    std::string const how = m.weapon == -1   ? "world"
                            : m.weapon == -2 ? "self"
                            : m.weapon == -3 ? "game"
                                             : (alone ? "own " : "") + weapon_name(p, m.weapon);
    if (alone) return fmt::format("{} died ({})", names.name(m.victim), how);
    return fmt::format("{} killed {} with {}", names.name(m.client_id), names.name(m.victim), how);
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

std::string character::position() const { return fmt::format("{:.1f},{:.1f}", x / 32.0, y / 32.0); }

std::string character::condition() const {
    return health && armor ? fmt::format("{}/{}", *health, *armor) : std::string{};
}

std::vector<player> read_players(snapshot_view snapshot, protocol p, name_table const& names) {
    object const& info = *find_object(p, "player_info");
    object const& body = *find_object(p, "character");
    bool const team_game = is_team_game(snapshot, p);
    std::vector<player> players;
    std::map<std::int32_t, character> bodies;
    for (item const i : snapshot) {
        if (i.type() == body.type) bodies.emplace(i.id(), read_character(i, body, p));
        if (i.type() != info.type) continue;
        player one;
        one.client_id = int_field(i, info, "client_id", i.id());
        one.name = names.name(one.client_id);
        one.latency = int_field(i, info, "latency");
        if (auto const score = int_field(i, info, "score", score_none); score != score_none) one.score = score;
        auto const* const who = names.find(one.client_id);
        if (who != nullptr) one.clan = who->clan;
        if (p != protocol::teeworlds_07) one.team = team_name(int_field(i, info, "team"), team_game);
        else if (who != nullptr && who->team) one.team = team_name(*who->team, team_game);
        players.push_back(std::move(one));
    }
    for (player& one : players)
        if (auto const found = bodies.find(one.client_id); found != bodies.end()) one.body = found->second;
    std::stable_sort(players.begin(), players.end(), [](player const& a, player const& b) {
        if (a.score != b.score) return a.score > b.score; // having none is less than any
        return a.client_id < b.client_id;
    });
    return players;
}

player_ids::player_ids(protocol p) {
    object const& info = *find_object(p, "player_info");
    type_ = info.type;
    for (field const& f : info.fields)
        if (f.name == "client_id") place_ = f.offset;
}

std::vector<std::int32_t> read_client_ids(snapshot_view snapshot, protocol p) {
    player_ids const players{p};
    std::vector<std::int32_t> ids;
    for (item const i : snapshot)
        if (i.type() == players.type()) ids.push_back(players.client_id(i));
    return ids;
}

std::string tell(game_message const& m, protocol p, name_table const& names) {
    std::string const text = printable(m.text);
    if (m.kind == message_kind::kill) return tell_kill(m, p, names);
    if (text.find_first_not_of(' ') == std::string::npos) return {}; // an empty broadcast takes the last one away
    switch (m.kind) {
    case message_kind::chat: return fmt::format("{}{}: {}", names.name(m.client_id), chat_mode(m, p), text);
    case message_kind::server_message: return "*** " + text;
    case message_kind::broadcast: return "broadcast: " + text;
    case message_kind::motd: return "message of the day: " + text;
    default: return {};
    }
}

std::string tell(std::span<player const> players, std::size_t most) {
    std::string line = fmt::format("{} player{}", players.size(), players.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < players.size() && i < most; ++i) {
        line += (i == 0 ? ": " : "; ") + players[i].name;
        auto const& body = players[i].body;
        if (!body) continue;
        line += ' ' + body->position();
        if (std::string const condition = body->condition(); !condition.empty()) line += ' ' + condition;
        line += ' ' + body->weapon;
    }
    return line;
}

// ---- course of a demo ----------------------------------------------------------------------------------------------

std::size_t course::happened(std::int32_t tick) const {
    auto const end = std::upper_bound(happenings.begin(), happenings.end(), tick,
                                      [](std::int32_t t, happening const& h) { return t < h.tick; });
    return static_cast<std::size_t>(end - happenings.begin());
}

name_table course::names(std::int32_t tick) const {
    name_table names;
    for (introduction const& i : introductions)
        if (i.tick <= tick) names.add(i);
    return names;
}

namespace {

// Turns the events of a demo into its course.
class course_reader {
public:
    course_reader(course& out, protocol p) : out_{out}, protocol_{p} {}

    void marker(std::int32_t tick) {
        if (out_.first_tick < 0) out_.first_tick = tick;
        out_.last_tick = std::max(out_.last_tick, tick);
    }
    void snapshot(snapshot_view snapshot) {
        if (out_.snapshots.empty() || out_.last_tick > out_.snapshots.back())
            out_.snapshots.push_back(out_.last_tick);
        if (snapshot.empty()) return; // a client that is not in the game yet
        names_.read(snapshot, protocol_);
        std::vector<std::int32_t> now = read_client_ids(snapshot, protocol_);
        std::sort(now.begin(), now.end());
        if (started_ && now != present_) {
            tell_missing(now, present_, "joined");
            tell_missing(present_, now, "left");
        }
        present_ = std::move(now);
        started_ = true;
    }
    void message(std::span<std::uint8_t const> bytes) {
        auto const raw = parse_message(bytes);
        if (!raw || raw->system) return; // server demos hold the system messages of all clients
        auto const m = decode_game_message(*raw, protocol_);
        if (!m) return;
        if (auto i = read_introduction(*m)) {
            i->tick = out_.last_tick;
            names_.add(*i);
            out_.introductions.push_back(std::move(*i));
        }
        if (m->kind == message_kind::motd && std::exchange(day_, m->text) == m->text) return;
        if (std::string text = tell(*m, protocol_, names_); !text.empty()) add(std::move(text));
    }

private:
    void add(std::string text) {
        if (told_tick_ != out_.last_tick) told_.clear();
        told_tick_ = out_.last_tick;
        if (told_.insert(text).second) out_.happenings.push_back({out_.last_tick, std::move(text)});
    }
    void tell_missing(std::span<std::int32_t const> from, std::span<std::int32_t const> in, std::string_view what) {
        for (std::int32_t const id : from)
            if (!std::binary_search(in.begin(), in.end(), id)) add(fmt::format("{} {}", names_.name(id), what));
    }

    course& out_;
    protocol protocol_;
    name_table names_;
    std::vector<std::int32_t> present_;
    std::set<std::string> told_; // at told_tick_: server demos hold what all are told once for each client
    std::int32_t told_tick_ = -1;
    std::string day_; // the message that every new client gets
    bool started_ = false;
};

} // namespace

course read_course(session& demo) {
    course out;
    course_reader reader{out, demo.spoken()};
    demo_player& player = demo.player();
    for (demo_event event; !interrupted() && player.next(event);) {
        switch (event.kind) {
        case demo_event_kind::tick: reader.marker(event.tick); break;
        case demo_event_kind::snapshot: reader.snapshot(player.state()); break;
        case demo_event_kind::message: reader.message(event.message); break;
        }
    }
    if (player.error().what.code != errc::ok) out.error = demo.error_text(player.error());
    return out;
}

double pace::tick(clock::time_point now) const {
    if (paused_) return tick_;
    return tick_ + std::chrono::duration<double>{now - now_}.count() * ticks_per_second * speed_;
}

pace::clock::time_point pace::due(double tick) const {
    assert(!paused_);
    std::chrono::duration<double> const later{(tick - tick_) / (ticks_per_second * speed_)};
    return now_ + std::chrono::ceil<clock::duration>(later);
}

void pace::seek(clock::time_point now, double tick) {
    now_ = now;
    tick_ = tick;
}

void pace::set_speed(clock::time_point now, double speed) {
    seek(now, tick(now));
    speed_ = speed;
}

void pace::pause(clock::time_point now, bool paused) {
    seek(now, tick(now));
    paused_ = paused;
}

} // namespace teewire::replay
