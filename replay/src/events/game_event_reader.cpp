#include "events/game_event_reader.hpp"

#include "game/deaths.hpp"
#include "game/item_text.hpp"
#include "game/players.hpp"

#include <teewire/demo_format.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>
#include <map>
#include <set>
#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

// As long as clients show a broadcast.
constexpr std::int32_t broadcast_ticks = 10 * ticks_per_second;
// Some servers make a snapshot of every tick, but send events at even ones alone, and leave out ticks when they are
// late: the death of a message may be in the third tick that is recorded after it.
constexpr int max_ticks_waited = 3;
// What belongs together, such as a kill message and the snapshot with the death, may be so far apart.
constexpr std::int32_t lateness = ticks_per_second;

// How far from a tee things are that it did, in units: what it does counts where it is in that tick, and it may have
// moved since. Hammers reach 51, weapons lie within 48, sounds are where the tee is.
constexpr double hammer_reach = 96;
constexpr double pickup_reach = 80;
constexpr double sound_reach = 64;

enum sound : std::int32_t {
    hook_attach_ground = 21,
    hook_attach_player = 22,
    pickup_health = 24,
    pickup_armor = 25,
    pickup_grenade = 26,
    pickup_shotgun = 27,
    pickup_ninja = 28,
    hit_somebody = 31,
};

constexpr std::int32_t hammer = 0;
constexpr std::size_t max_looked_at = 1000;

bool can_be_client(std::int32_t id) { return id >= 0 && id < 1024; }

// What servers without a message for it say in the chat about somebody who joins, leaves or finishes.
struct announcement {
    game_event_kind what;
    std::string name;
    std::string reason;
    std::optional<std::int64_t> time;
};

// "1 minute(s) 2.34 second(s)", in milliseconds.
std::optional<std::int64_t> read_duration(std::string_view text) {
    std::int64_t minutes = 0, seconds = 0, hundredths = 0;
    auto const number = [&](std::int64_t& to, std::string_view behind) {
        while (text.starts_with(' ')) text.remove_prefix(1);
        auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), to);
        if (failed != std::errc{} || to < 0 || to > 1'000'000) return false;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (!text.starts_with(behind)) return false;
        text.remove_prefix(behind.size());
        return true;
    };
    if (!number(minutes, " minute(s) ") || !number(seconds, ".") || !number(hundredths, " second(s)")) return {};
    return (minutes * 60 + seconds) * 1000 + hundredths * 10;
}

std::optional<announcement> read_announcement(std::string_view text) {
    if (auto const at = text.rfind(" finished in: "); at != std::string_view::npos) {
        auto const time = read_duration(text.substr(at + 14));
        if (!time) return {};
        return announcement{finish, printable(text.substr(0, at)), {}, time};
    }
    if (!text.starts_with('\'')) return {};
    if (auto const at = text.rfind("' entered and joined the "); at != std::string_view::npos && at > 0)
        return announcement{join, printable(text.substr(1, at - 1)), {}, {}};
    constexpr std::string_view left = "' has left the game";
    if (auto const at = text.rfind(left); at != std::string_view::npos && at > 0) {
        std::string_view reason = text.substr(at + left.size());
        if (reason.starts_with(" (") && reason.ends_with(')')) reason = reason.substr(2, reason.size() - 3);
        else reason = {};
        return announcement{leave, printable(text.substr(1, at - 1)), std::string{reason}, {}};
    }
    return {};
}

bool is_speech(game_event_kind k) { return k == chat || k == team_chat || k == whisper; }

} // namespace

// Of one recording.
class game_event_reader::state {
public:
    state(receiver const& tell, recording const& begun)
        : tell_{tell}, protocol_{begun.version}, client_info_{*find_object(begun.version, "client_info")},
          one_receiver_{begun.one_receiver}, first_tick_{begun.first_tick},
          world_reader_{begun.version}, markers_{begun.markers.begin(), begun.markers.end()} {
        std::sort(markers_.begin(), markers_.end(), std::greater<>{});
    }

    [[nodiscard]] bool one_receiver() const noexcept { return one_receiver_; }
    [[nodiscard]] world_state const& now() const noexcept { return world_; }
    [[nodiscard]] world_state const& before() const noexcept { return before_; }
    [[nodiscard]] std::uint64_t names_version() const noexcept { return names_version_; }
    [[nodiscard]] std::string name(std::int32_t client_id) const { return names_.name(client_id); }
    [[nodiscard]] std::optional<std::int32_t> team_of(present_player const& p) const {
        if (p.team) return p.team;
        auto const* const known = names_.find(p.client_id);
        return known != nullptr ? known->team : std::nullopt;
    }

    void advance(std::int32_t tick) {
        if (tick <= now_) return;
        if (!notes_.empty() && ++ticks_waited_ > max_ticks_waited) add_undecided();
        if (first_tick_ < 0) first_tick_ = tick;
        now_ = tick;
        told_.clear();
        while (!markers_.empty() && markers_.back() <= now_) add_marker();
        if (one_receiver_) add_unexplained(now_);
        std::erase_if(announcements_, [&](auto const& a) { return is_late(a.tick, now_); });
        release(std::int64_t{now_} - lateness);
    }

    void snapshot(snapshot_view snapshot) {
        if (snapshot.empty()) return; // a client that is not in the game yet
        if (!started_) names_.read(snapshot, protocol_);
        world_reader_.read(now_, snapshot, next_);
        if (!one_receiver_ && world_reader_.made_for_one()) begin_one_receiver();
        std::swap(before_, world_);
        std::swap(world_, next_);
        if (!started_) before_ = world_; // nothing is told of changes then
        read_deaths();
        read_names();
        local_ = one_receiver_ ? world_reader_.local_client() : -1;
        racer_ = one_receiver_ ? world_reader_.followed_client() : -1;
        read_players();
        if (started_) read_events();
        read_tees();
        started_ = true;
    }

    void message(std::span<std::uint8_t const> bytes) {
        auto const raw = parse_message(bytes);
        if (!raw || raw->system) return; // server demos hold the system messages of all clients
        if (auto const news = read_race_news(*raw, protocol_)) return add_race(*news);
        if (identify(*raw, protocol_) == message_type::vote_set) return add_vote(*raw);
        auto const m = decode_game_message(*raw, protocol_);
        if (!m) return;
        if (auto i = read_introduction(*m)) introduce(*i, *m);
        switch (m->kind) {
        case message_kind::kill: return kill_said({m->client_id, m->victim, m->weapon});
        case message_kind::chat: return add_speech(*m);
        case message_kind::motd:
            if (std::exchange(day_, m->text) == m->text) return; // every new client gets it
            return add_text(motd, m->text);
        case message_kind::broadcast:
            if (!one_receiver_ && is_on_screen(m->text)) return;
            return add_text(broadcast, m->text);
        case message_kind::server_message: return server_says(m->text);
        case message_kind::client_leave: return announce({now_, leave, m->client_id, {}, std::string{m->text}});
        default: return;
        }
    }

    // The recording is over.
    void finish() {
        add_undecided();
        add_unexplained(INT64_MAX);
        while (!markers_.empty()) add_marker();
        finished_ = true;
        release(INT64_MAX);
    }

private:
    // ---- telling

    using queue = std::list<game_event>;
    struct words { // that were said in a tick
        std::int32_t tick;
        game_event_kind how;
        std::string text;

        auto operator<=>(words const&) const = default;
    };

    [[nodiscard]] participant who(std::int32_t id) const { return {id, names_.name(id)}; }

    [[nodiscard]] game_event make(game_event_kind kind, evidence known) const {
        game_event e;
        e.kind = kind;
        e.known = known;
        e.tick = now_;
        return e;
    }

    [[nodiscard]] double seconds(std::int32_t tick) const {
        if (tick < 0 || first_tick_ < 0) return 0;
        return static_cast<double>(std::max<std::int64_t>(0, std::int64_t{tick} - first_tick_)) / ticks_per_second;
    }

    // Behind those of the same tick.
    queue::iterator add(game_event e) {
        e.seconds = seconds(e.tick);
        auto place = queue_.end();
        while (place != queue_.begin() && std::prev(place)->tick > e.tick) --place;
        return queue_.insert(place, std::move(e));
    }
    // Server demos hold what goes to all once for each client.
    void add_once(game_event e) {
        auto const id = [](std::optional<participant> const& p) { return p ? p->client_id : -2; };
        std::string what =
            fmt::format("{} {} {} {} {} {} {}", replay::name(e.kind), id(e.client), id(e.target),
                        e.time.value_or(-1), e.difference.value_or(0), e.server_time.value_or(-1), e.text);
        if (one_receiver_ || told_.insert(std::move(what)).second) add(std::move(e));
    }

    // The last event since `tick` for which that holds, or null. It is among the last ones: not even servers of 128
    // players have more to say in a second, and who floods a recording shall not make it slow.
    template <class F>
    game_event* find_pending(std::int64_t tick, F const& holds) {
        std::size_t left = max_looked_at;
        for (auto p = queue_.rbegin(); left != 0 && p != queue_.rend() && p->tick >= tick; ++p, --left)
            if (holds(*p)) return &*p;
        return nullptr;
    }

    // Tells what is older than `tick`, up to what cannot be decided yet.
    void release(std::int64_t tick) {
        while (!queue_.empty() && (finished_ || queue_.front().tick < tick)) {
            game_event& first = queue_.front();
            if (first.copied && ids_differ_) unite_copies();
            else if (first.copied && !finished_ && !one_receiver_) return;
            tell_(first);
            if (is_speech(first.kind)) speeches_.erase({first.tick, first.kind, std::move(first.text)});
            queue_.pop_front();
        }
    }

    // What was said to clients that know different ids: who of them it was cannot be known.
    void unite_copies() {
        game_event& first = queue_.front();
        auto const all = speeches_.find({first.tick, first.kind, first.text});
        if (all == speeches_.end()) return; // the first of them was told before
        std::string names = first.client->name;
        for (queue::iterator const copy : all->second) {
            if (copy == queue_.begin()) continue;
            names += " or " + copy->client->name;
            queue_.erase(copy);
        }
        speeches_.erase(all);
        first.client = participant{-1, std::move(names)};
    }

    void add_marker() {
        game_event e = make(marker, evidence::observed);
        e.tick = markers_.back();
        add(std::move(e));
        markers_.pop_back();
    }

    // ---- who was told

    void begin_one_receiver() {
        one_receiver_ = true;
        ids_differ_ = false;
        for (kill_note const& note : std::exchange(notes_, {})) kill_said(note);
    }

    // ---- deaths

    void kill_said(kill_note const& note) {
        if (!one_receiver_) return notes_.push_back(note);
        add_death({note.victim, note.killer, note.weapon}, evidence::observed);
        add_unexplained(now_);
        if (unexplained_.erase(note.victim) == 0 && can_be_client(note.victim))
            announced_deaths_[note.victim] = now_;
    }

    void add_death(death const& d, evidence known) {
        game_event e = make(kill, known);
        e.target = who(d.victim);
        e.weapon = d.weapon;
        if (d.killer) {
            e.client = who(*d.killer);
            e.client_seen = world_.find(*d.killer) != nullptr || before_.find(*d.killer) != nullptr;
        }
        e.where = last_place(d.victim);
        add_once(std::move(e));
    }

    [[nodiscard]] std::optional<place> last_place(std::int32_t client) const {
        for (event_item const& i : world_.events)
            if (i.what == event_item::kind::death && i.value == client && world_.tick == now_) return i.at;
        if (tee const* const t = world_.find(client)) return expected_place(*t, world_.tick);
        if (tee const* const t = before_.find(client)) return expected_place(*t, before_.tick);
        return {};
    }

    void read_deaths() {
        std::vector<std::int32_t> died;
        for (event_item const& i : world_.events)
            if (i.what == event_item::kind::death) died.push_back(i.value);
        if (one_receiver_) {
            add_unexplained(now_);
            std::erase_if(announced_deaths_, [&](auto const& t) { return is_late(t.second, now_); });
            for (std::int32_t const victim : died)
                if (announced_deaths_.erase(victim) == 0 && can_be_client(victim)) expect_message(victim);
            return;
        }
        if (died.empty()) return; // they may come yet
        ids_differ_ = ids_differ_ || ids_differ(died, notes_);
        std::vector<std::int32_t> present;
        if (started_)
            for (present_player const& p : before_.players) present.push_back(p.client_id);
        for (death const& d : explain_deaths(died, notes_, present)) add_death(d, evidence::observed);
        forget_notes();
    }

    void forget_notes() {
        notes_.clear();
        ticks_waited_ = 0;
    }

    // Kill messages that nothing proves.
    void add_undecided() {
        if (notes_.empty()) return;
        constexpr std::size_t most = 4;
        game_event e = make(kill, evidence::observed);
        std::vector<std::int32_t> victims;
        std::set<std::int32_t> known;
        bool one_weapon = true;
        for (kill_note const& n : notes_) {
            if (known.insert(n.victim).second) victims.push_back(n.victim);
            one_weapon = one_weapon && n.weapon == notes_.front().weapon;
        }
        if (one_weapon) e.weapon = notes_.front().weapon;
        for (std::size_t i = 0; i < victims.size() && i < most; ++i)
            e.text += (i == 0 ? "messages name " : " or ") + names_.name(victims[i]);
        if (victims.size() > most) e.text += fmt::format(" or {} more", victims.size() - most);
        add_once(std::move(e));
        forget_notes();
    }

    static bool is_late(std::int32_t then, std::int64_t now) { return now - then > lateness; }

    void expect_message(std::int32_t victim) {
        game_event e = make(kill, evidence::observed);
        e.target = who(victim);
        e.where = last_place(victim);
        auto const [place, is_new] = unexplained_.try_emplace(victim, e);
        if (!is_new) add(std::exchange(place->second, e));
    }
    // Deaths for which no message has come and none will.
    void add_unexplained(std::int64_t now) {
        for (auto const& [victim, e] : unexplained_)
            if (is_late(e.tick, now)) add(e);
        std::erase_if(unexplained_, [&](auto const& t) { return is_late(t.second.tick, now); });
    }

    // ---- what is said

    void add_text(game_event_kind kind, std::string_view text) {
        if (printable(text).find_first_not_of(' ') == std::string::npos) return; // takes the last broadcast away
        game_event e = make(kind, evidence::observed);
        e.text = text;
        add_once(std::move(e));
    }

    void add_speech(game_message const& m) {
        if (printable(m.text).find_first_not_of(' ') == std::string::npos) return;
        bool const is_07 = protocol_ == protocol::teeworlds_07;
        std::int32_t const to_team = is_07 ? 2 : 1;
        game_event e = make(m.team < to_team ? chat : m.team == to_team ? team_chat : whisper, evidence::observed);
        e.client = who(m.client_id);
        e.text = m.text;
        if (e.kind == whisper && is_07) {
            if (m.target >= 0) e.target = who(m.target);
        } else if (e.kind == whisper && one_receiver_ && local_ >= 0) {
            constexpr std::int32_t by_receiver = 2; // 3: to it
            e.target = who(local_);
            if (m.team == by_receiver) std::swap(e.client, e.target);
        }
        if (one_receiver_) {
            add(std::move(e));
            return;
        }
        auto& copies = speeches_[{now_, e.kind, e.text}];
        constexpr std::size_t most = 1024; // clients that anybody can be
        for (queue::iterator const other : copies)
            if (other->client->name == e.client->name) return;
        if (copies.size() == most) return;
        copies.push_back(add(std::move(e)));
        if (copies.size() > 1) copies.front()->copied = copies.back()->copied = true;
    }

    // Servers send a broadcast to every client by itself, and again to those who come later.
    bool is_on_screen(std::string_view text) {
        std::erase_if(broadcasts_, [&](auto const& b) { return std::int64_t{now_} - b.second >= broadcast_ticks; });
        auto const [place, is_new] = broadcasts_.try_emplace(std::string{text}, now_);
        place->second = now_;
        return !is_new;
    }

    void server_says(std::string_view text) {
        add_text(server_message, text);
        if (text == "Vote passed" || text == "Vote failed") {
            if (game_event* const ended =
                    find_pending(std::int64_t{now_} - lateness, [](auto const& e) { return e.kind == vote_end; }))
                ended->text = text.substr(5);
        }
        auto const said = read_announcement(text);
        if (!said) return;
        if (said->what != game_event_kind::finish)
            return announce({now_, said->what, {}, said->name, said->reason});
        game_event e = make(game_event_kind::finish, evidence::observed);
        e.client = participant{-1, said->name};
        for (present_player const& p : world_.players)
            if (names_.name(p.client_id) == said->name) e.client = who(p.client_id);
        e.time = said->time;
        e.text = text;
        add_finish(std::move(e));
    }

    // ---- races

    [[nodiscard]] std::optional<participant> racer(race_news const& news) const {
        std::int32_t const id = news.client_id.value_or(racer_);
        if (id < 0) return {};
        return who(id);
    }

    void add_race(race_news const& news) {
        using what = race_news::kind;
        game_event e = make(news.what == what::finish       ? game_event_kind::finish
                            : news.what == what::checkpoint ? checkpoint
                                                            : best_times,
                            evidence::observed);
        e.client = racer(news);
        e.time = news.time;
        e.difference = news.difference;
        e.record = news.server_record     ? race_record::server
                   : news.personal_record ? race_record::personal
                                          : race_record::none;
        if (e.kind == best_times) {
            e.time = news.own_best;
            e.server_time = news.server_best;
        }
        if (e.client) e.where = last_place(e.client->client_id);
        if (e.kind == game_event_kind::finish) add_finish(std::move(e));
        else add_once(std::move(e));
    }

    // Servers say it in up to three ways in the same tick: to the client itself, to all, and in the chat.
    void add_finish(game_event e) {
        auto const hundredths = [](game_event const& f) { return f.time.value_or(0) / 10; };
        game_event* const known = find_pending(now_, [&](game_event const& other) {
            if (other.kind != game_event_kind::finish) return false;
            if (!other.client || !e.client) return hundredths(other) == hundredths(e);
            return other.client->name == e.client->name;
        });
        if (known == nullptr) {
            add(std::move(e));
            return;
        }
        if (!known->client) known->client = e.client;
        if (!known->where) known->where = e.where;
        if (!known->difference) known->difference = e.difference;
        if (!known->time || *known->time % 10 == 0) known->time = e.time;
        known->record = std::max(known->record, e.record);
        if (e.text.empty()) known->text.clear();
    }

    // ---- votes

    void add_vote(teewire::message const& m) {
        unpacker in{m.fields};
        std::int32_t caller = -1, type = 0;
        bool const is_07 = protocol_ == protocol::teeworlds_07;
        if (is_07) {
            caller = in.read_int();
            type = in.read_int();
        }
        std::int32_t const timeout = in.read_int();
        std::string_view const description = in.read_string();
        std::string_view const reason = in.read_string();
        if (!in.ok()) return;
        if (timeout > 0) {
            std::string text{description};
            if (!reason.empty()) text += fmt::format(" ({})", reason);
            if (std::exchange(vote_, text) == text) return; // who comes while it runs is told, too
            game_event e = make(vote, evidence::observed);
            if (caller >= 0) e.client = who(caller);
            e.text = std::move(text);
            add_once(std::move(e));
        } else if (!std::exchange(vote_, {}).empty()) {
            constexpr std::int32_t aborted = 4, passed = 5, failed = 6;
            game_event e = make(vote_end, evidence::observed);
            e.text = type == aborted ? "aborted" : type == passed ? "passed" : type == failed ? "failed" : "";
            // 0.6 says it in the chat, before or after.
            if (!is_07)
                if (auto const* const said = find_pending(now_, [](game_event const& other) {
                        return other.kind == server_message &&
                               (other.text == "Vote passed" || other.text == "Vote failed");
                    }))
                    e.text = said->text.substr(5);
            add_once(std::move(e));
        }
    }

    // ---- who is there

    // A message about somebody who comes or goes: by id in 0.7, by name in the chat of 0.6.
    struct heard {
        std::int32_t tick;
        game_event_kind what;
        std::optional<std::int32_t> client_id;
        std::string name;
        std::string reason;

        [[nodiscard]] bool is_about(game_event const& e) const {
            return e.kind == what && e.client &&
                   (client_id ? e.client->client_id == *client_id : e.client->name == name);
        }
    };

    void announce(heard said) {
        game_event* const known = find_pending(std::int64_t{now_} - lateness, [&](game_event const& e) {
            return e.known == evidence::derived && said.is_about(e);
        });
        if (known == nullptr) {
            if (announcements_.size() < max_looked_at) announcements_.push_back(std::move(said));
            return;
        }
        known->known = evidence::observed;
        known->text = std::move(said.reason);
    }

    void add_presence(game_event_kind kind, std::int32_t client) {
        game_event e = make(kind, evidence::derived);
        e.client = who(client);
        auto const said = std::find_if(announcements_.begin(), announcements_.end(),
                                       [&](heard const& h) { return h.is_about(e); });
        if (said != announcements_.end()) {
            e.known = evidence::observed;
            e.text = said->reason;
            announcements_.erase(said);
        }
        add(std::move(e));
    }

    void introduce(introduction& i, game_message const& m) {
        std::string before = names_.find(i.client_id) != nullptr ? names_.name(i.client_id) : std::string{};
        i.tick = now_;
        names_.add(i);
        ++names_version_;
        if (m.kind == message_kind::client_info || m.kind == message_kind::client_enter)
            if (world_.player(i.client_id) == nullptr) announce({now_, join, i.client_id, {}, {}});
        rename(i.client_id, before, evidence::observed);
    }

    void rename(std::int32_t client, std::string const& before, evidence known) {
        if (!started_ || before.empty() || world_.player(client) == nullptr || names_.name(client) == before)
            return;
        game_event e = make(name_change, known);
        e.client = who(client);
        e.text = before;
        add_once(std::move(e));
    }

    void read_names() {
        for (item const i : world_reader_.client_infos()) {
            auto const* const known = names_.find(i.id());
            if (known != nullptr &&
                std::equal(known->item.begin(), known->item.end(), i.data.begin(), i.data.end()))
                continue;
            std::string const before =
                known != nullptr && before_.player(i.id()) != nullptr ? names_.name(i.id()) : std::string{};
            names_.add(i, client_info_, protocol_);
            ++names_version_;
            rename(i.id(), before, evidence::derived);
        }
    }

    void read_players() {
        auto const same = [](present_player const& a, present_player const& b) {
            return a.client_id == b.client_id && a.team == b.team;
        };
        if (started_ && std::exchange(names_seen_, names_version_) == names_version_ &&
            std::equal(world_.players.begin(), world_.players.end(), before_.players.begin(), before_.players.end(),
                       same))
            return;
        for (present_player const& p : world_.players)
            if (before_.player(p.client_id) == nullptr) add_presence(join, p.client_id);
        for (present_player const& p : before_.players) {
            if (world_.player(p.client_id) != nullptr) continue;
            add_presence(leave, p.client_id);
            teams_.erase(p.client_id);
        }
        for (present_player const& p : world_.players) {
            auto const team = team_of(p);
            if (!team) continue;
            auto const [known, is_new] = teams_.try_emplace(p.client_id, *team);
            if (is_new || std::exchange(known->second, *team) == *team) continue;
            game_event e = make(team_change, evidence::derived);
            e.client = who(p.client_id);
            e.team = team;
            add(std::move(e));
        }
    }

    // ---- what tees do

    // The one that is nearest to a place, of those for which that holds.
    template <class F>
    [[nodiscard]] tee const* nearest(place at, double reach, F const& holds) const {
        tee const* best = nullptr;
        reach *= reach;
        for (tee const& t : world_.tees) {
            // It may have been stopped where nobody would have expected it.
            double const away =
                std::min(squared_distance(at, t.at), squared_distance(at, expected_place(t, world_.tick)));
            if (away > reach || !holds(t)) continue;
            reach = away;
            best = &t;
        }
        return best;
    }

    // Servers take inputs between two ticks: a shot of the tick of one snapshot may show in the next one alone.
    [[nodiscard]] bool has_shot(tee const& t) const { return has_shot(t, before_.find(t.client_id)); }
    [[nodiscard]] bool has_shot(tee const& t, tee const* before) const {
        std::int32_t const last = before != nullptr ? before->attack_tick : before_.tick;
        return t.attack_tick > last && t.attack_tick >= before_.tick && t.attack_tick <= world_.tick;
    }

    void add_of(tee const* t, game_event&& e) {
        if (t != nullptr) e.client = who(t->client_id);
        add(std::move(e));
    }

    void read_events() {
        hammerers_.clear();
        hurt_.clear();
        for (event_item const& i : world_.events) {
            switch (i.what) {
            case event_item::kind::spawn: spawned(i.at); break;
            case event_item::kind::hammer_hit: hammered(i.at); break;
            case event_item::kind::damage: damaged(i); break;
            case event_item::kind::death:
            case event_item::kind::sound: break;
            }
        }
        for (event_item const& i : world_.events)
            if (i.what == event_item::kind::sound) heard_sound(i);
    }

    void spawned(place at) {
        game_event e = make(spawn, evidence::observed);
        e.where = at;
        add_of(nearest(at, sound_reach, [&](tee const& t) { return before_.find(t.client_id) == nullptr; }),
               std::move(e));
    }

    void hammered(place at) {
        game_event e = make(hit, evidence::observed);
        e.where = at;
        e.weapon = hammer;
        tee const* const attacker =
            nearest(at, hammer_reach, [&](tee const& t) { return t.weapon == hammer && has_shot(t); });
        tee const* const victim = nearest(at, hammer_reach, [&](tee const& t) { return &t != attacker; });
        if (victim != nullptr) e.target = who(victim->client_id);
        if (attacker != nullptr) hammerers_.insert(attacker->client_id);
        add_of(attacker, std::move(e));
    }

    void damaged(event_item const& i) {
        tee const* const t =
            i.value >= 0 ? world_.find(i.value) : nearest(i.at, sound_reach, [](tee const&) { return true; });
        if (t != nullptr) hurt_.insert(t->client_id);
    }

    void heard_sound(event_item const& i) {
        switch (i.value) {
        case sound::pickup_health: return picked_up("health", i.at);
        case sound::pickup_armor: return picked_up("armor", i.at);
        case sound::pickup_grenade: return picked_up("grenade", i.at);
        case sound::pickup_ninja: return picked_up("ninja", i.at);
        case sound::pickup_shotgun: {
            auto const& lasers = before_.lasers;
            return picked_up(std::find(lasers.begin(), lasers.end(), i.at) != lasers.end() ? "laser" : "shotgun",
                             i.at);
        }
        case sound::hit_somebody: return was_hit(i.at);
        case sound::hook_attach_ground: return heard_hook(i.at, false);
        case sound::hook_attach_player: return heard_hook(i.at, true);
        default: return;
        }
    }

    void picked_up(std::string_view what, place at) {
        game_event e = make(pickup, evidence::observed);
        e.where = at;
        e.text = what;
        auto const has_more = [&](tee const& t) {
            tee const* const before = before_.find(t.client_id);
            if (before == nullptr) return false;
            return what == "health" ? t.health > before->health : what == "armor" && t.armor > before->armor;
        };
        tee const* who = nearest(at, pickup_reach, has_more);
        if (who == nullptr) who = nearest(at, pickup_reach, [](tee const&) { return true; });
        add_of(who, std::move(e));
    }

    // Only who hit hears it, and who watches that one.
    void was_hit(place at) {
        tee const* const attacker =
            one_receiver_ ? world_.find(racer_) : nearest(at, sound_reach, [](tee const&) { return true; });
        if (attacker != nullptr && hammerers_.contains(attacker->client_id)) return; // told already
        game_event e = make(hit, evidence::observed);
        if (attacker != nullptr) e.weapon = attacker->weapon;
        auto const others = [&](std::int32_t id) { return attacker == nullptr || id != attacker->client_id; };
        if (std::count_if(hurt_.begin(), hurt_.end(), others) == 1) {
            tee const& victim = *world_.find(*std::find_if(hurt_.begin(), hurt_.end(), others));
            e.target = who(victim.client_id);
            e.where = expected_place(victim, world_.tick);
        }
        add_of(attacker, std::move(e));
    }

    void read_tees() {
        for (tee const& t : world_.tees) {
            tee const* const before = before_.find(t.client_id);
            if (has_shot(t, before)) {
                game_event e = make(shot, evidence::derived);
                e.tick = std::max(t.attack_tick, now_ - lateness); // what came before that is told
                e.weapon = t.weapon;
                e.where = expected_place(t, world_.tick);
                add_of(&t, std::move(e));
            }
            read_hook(t, started_ ? before : nullptr);
            if (before != nullptr && before->frozen != t.frozen)
                add_of(&t, make(t.frozen ? freeze : unfreeze, evidence::derived));
        }
        // Out of sight, or dead.
        std::erase_if(hooks_, [&](auto const& h) {
            if (world_.find(h.first) != nullptr) return false;
            bool const died = std::any_of(world_.events.begin(), world_.events.end(), [&](event_item const& i) {
                return i.what == event_item::kind::death && i.value == h.first;
            });
            if (!one_receiver_ || died || world_.player(h.first) == nullptr) add_release(h.first, h.second);
            return true;
        });
    }

    // ---- hooks

    struct grip {
        std::int32_t target = -1; // -1: the ground
        std::int32_t since = 0;
        bool heard = false;   // something besides the item says that it got hold
        queue::iterator told; // while `since` is not longer ago than `sound_lateness`
    };
    // An attachment is heard in the snapshot that shows it, or so many ticks later.
    static constexpr std::int32_t sound_lateness = 3;

    void attach(tee const& t, std::int32_t target, evidence known) {
        game_event e = make(hook_attach, known);
        e.client = who(t.client_id);
        if (target >= 0) e.target = who(target);
        e.where = t.hook;
        hooks_[t.client_id] = {target, now_, known == evidence::observed, add(std::move(e))};
    }

    void add_release(std::int32_t client, grip const& g) {
        game_event e = make(hook_release, evidence::derived);
        e.client = who(client);
        if (g.target >= 0) e.target = who(g.target);
        add(std::move(e));
    }

    void release_hook(std::int32_t client) {
        auto const held = hooks_.find(client);
        if (held == hooks_.end()) return;
        add_release(client, held->second);
        hooks_.erase(held);
    }

    [[nodiscard]] grip* grip_of(tee const& t) {
        auto const held = hooks_.find(t.client_id);
        return held != hooks_.end() ? &held->second : nullptr;
    }

    // A tee whose way clients can predict is not sent again when its hook reaches the ground: its item goes on to say
    // that the hook flies.
    static bool may_hold(tee const& t, grip const& g) {
        return t.hook_state == tee::hook_grabbed ||
               (t.hook_state == tee::hook_flying && t.place_tick <= g.since && g.target < 0);
    }

    // The same attachment was told just now.
    [[nodiscard]] bool is_told(grip const& g, bool player) const {
        return !g.heard && std::int64_t{now_} - g.since <= sound_lateness && (g.target >= 0) == player;
    }

    // Something says that the hook of this tee got hold.
    void got_hold(tee const& t, bool player) {
        if (grip* const held = grip_of(t)) {
            if (is_told(*held, player)) {
                held->heard = true;
                held->told->known = evidence::observed;
                return;
            }
            release_hook(t.client_id);
        }
        attach(t, player && can_be_client(t.hooked_player) ? t.hooked_player : -1, evidence::observed);
    }

    // The sound is where the tee is: of those near it, the one that fits best.
    void heard_hook(place at, bool player) {
        auto const told = [&](tee const& t) {
            grip const* const held = grip_of(t);
            return held != nullptr && is_told(*held, player);
        };
        auto const holds = [&](tee const& t) {
            return t.hook_state == tee::hook_grabbed && (t.hooked_player >= 0) == player && grip_of(t) == nullptr;
        };
        auto const flies = [&](tee const& t) {
            return !player && t.hook_state == tee::hook_flying && grip_of(t) == nullptr;
        };
        auto const idle = [&](tee const& t) { return t.hook_state < tee::hook_flying; };
        tee const* t = nearest(at, sound_reach, told);
        if (t == nullptr) t = nearest(at, sound_reach, holds);
        if (t == nullptr) t = nearest(at, sound_reach, flies);
        if (t == nullptr) t = nearest(at, sound_reach, idle);
        if (t != nullptr) got_hold(*t, player);
    }

    void read_hook(tee const& t, tee const* before) {
        std::int32_t const target = can_be_client(t.hooked_player) ? t.hooked_player : -1;
        // An item that stays as it was says the same again.
        if (before != nullptr) {
            bool const again = before->place_tick == t.place_tick;
            if (t.hook_hit_ground && !(again && before->hook_hit_ground)) got_hold(t, false);
            if (t.hook_hit_player && !(again && before->hook_hit_player)) got_hold(t, true);
        }
        grip* held = grip_of(t);
        if (held != nullptr && t.hook_state == tee::hook_grabbed && held->target != target) {
            if (held->since == now_) { // heard just now, and here it says whom
                held->target = target;
                held->told->target = target >= 0 ? std::optional{who(target)} : std::nullopt;
            } else {
                release_hook(t.client_id);
                held = nullptr;
            }
        }
        if (held != nullptr) {
            if (!may_hold(t, *held)) release_hook(t.client_id);
        } else if (t.hook_state == tee::hook_grabbed) {
            if (before != nullptr) attach(t, target, evidence::derived);
            else hooks_[t.client_id] = {target, now_ - sound_lateness - 1, true, queue_.end()};
        }
    }

    receiver const& tell_;
    protocol protocol_;
    object const& client_info_;
    bool one_receiver_;
    std::int32_t first_tick_;
    std::int32_t now_ = -1;
    bool started_ = false;
    bool finished_ = false;
    queue queue_;                                            // by tick
    std::set<std::string> told_;                             // in this tick
    std::map<words, std::vector<queue::iterator>> speeches_; // in the queue, of several receivers
    name_table names_;
    std::uint64_t names_version_ = 0;
    std::uint64_t names_seen_ = 0; // the version when players were read last

    world_reader world_reader_;
    world_state world_;
    world_state before_;
    world_state next_; // memory
    std::int32_t local_ = -1;
    std::int32_t racer_ = -1; // whom news without a client id are about

    std::vector<std::int32_t> markers_; // that lie ahead, the next one last
    std::string day_;                   // the message that every new client gets
    std::string vote_;                  // that is running
    std::vector<heard> announcements_;  // of the last second
    std::map<std::int32_t, std::int32_t> teams_;
    std::map<std::int32_t, grip> hooks_;
    std::set<std::int32_t> hammerers_; // whose hits with it this snapshot has
    std::set<std::int32_t> hurt_;      // in this snapshot

    std::vector<kill_note> notes_; // of several receivers, since the last snapshot with deaths
    int ticks_waited_ = 0;         // since the first of them
    // Of one receiver: whose death was announced, but not seen, with its tick, and the reverse.
    std::map<std::int32_t, std::int32_t> announced_deaths_;
    std::map<std::int32_t, game_event> unexplained_;
    bool ids_differ_ = false;                        // clients know other ids than the items have
    std::map<std::string, std::int32_t> broadcasts_; // when each was sent last
};

game_event_reader::game_event_reader(receiver tell) : tell_{std::move(tell)} {}
game_event_reader::~game_event_reader() = default;

void game_event_reader::take(stream_event const& event) {
    if (event.kind == event_kind::begin) {
        bool const another = state_ != nullptr;
        finish();
        state_ = std::make_unique<state>(tell_, *event.begun);
        if (another) {
            game_event e;
            e.kind = map_change;
            e.text = event.begun->map.name;
            tell_(e);
        }
        return;
    }
    if (!state_) return;
    state_->advance(event.tick);
    if (event.kind == event_kind::snapshot) state_->snapshot(event.state);
    if (event.kind == event_kind::message) state_->message(event.message);
}

void game_event_reader::finish() {
    if (state_) state_->finish();
}

bool game_event_reader::one_receiver() const noexcept { return state_->one_receiver(); }
world_state const& game_event_reader::now() const noexcept { return state_->now(); }
world_state const& game_event_reader::before() const noexcept { return state_->before(); }
std::uint64_t game_event_reader::names_version() const noexcept { return state_->names_version(); }
std::string game_event_reader::name(std::int32_t client_id) const { return state_->name(client_id); }
std::optional<std::int32_t> game_event_reader::team(present_player const& p) const { return state_->team_of(p); }

} // namespace teewire::replay
