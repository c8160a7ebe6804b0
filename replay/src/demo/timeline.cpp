#include "demo/timeline.hpp"

#include "game/item_text.hpp"
#include "io/interrupts.hpp"

#include <map>
#include <set>
#include <utility>

namespace teewire::replay {
namespace {

// As long as clients show a broadcast.
constexpr std::int32_t broadcast_ticks = 10 * ticks_per_second;
// Some servers make a snapshot of every tick, but send events at even ones alone, and leave out ticks when they are
// late: the death of a message may be in the third tick that is recorded after it.
constexpr int max_ticks_waited = 3;
// A kill message may arrive so much before or after the snapshot with the death.
constexpr std::int32_t kill_lateness = ticks_per_second;

// Turns the events of a demo into its timeline.
//
// Recordings of clients hold what one client received, and each message is an event. Those of servers
// hold what all clients received: who died is what the items say there, and of the rest each thing is shown once.
class timeline_reader {
public:
    timeline_reader(timeline& out, session const& demo)
        : out_{out}, protocol_{demo.spoken()}, one_receiver_{text(demo.header().type) == "client"} {}

    void marker(std::int32_t tick) {
        if (!notes_.empty() && ++ticks_waited_ > max_ticks_waited) add_undecided();
        if (out_.first_tick < 0) out_.first_tick = tick;
        out_.last_tick = std::max(out_.last_tick, tick);
    }

    void snapshot(snapshot_view snapshot) {
        if (out_.snapshots.empty() || out_.last_tick > out_.snapshots.back())
            out_.snapshots.push_back(out_.last_tick);
        if (snapshot.empty()) return; // a client that is not in the game yet
        if (!started_) names_.read(snapshot, protocol_);
        if (!one_receiver_ && made_for_one(snapshot)) begin_one_receiver();
        std::vector<std::int32_t> now = read_client_ids(snapshot, protocol_);
        std::sort(now.begin(), now.end());
        read_deaths(snapshot);
        names_.read(snapshot, protocol_);
        if (started_ && now != present_) {
            add_missing(now, present_, "joined", timeline_kind::join);
            add_missing(present_, now, "left", timeline_kind::other);
        }
        present_ = std::move(now);
        racer_ = one_receiver_ ? followed_client(snapshot, protocol_) : -1;
        started_ = true;
    }

    void message(std::span<std::uint8_t const> bytes) {
        auto const raw = parse_message(bytes);
        if (!raw || raw->system) return; // server demos hold the system messages of all clients
        if (auto const news = read_race_news(*raw, protocol_))
            return add(to_text(*news, racer(*news)),
                       news->what == race_news::kind::finish ? timeline_kind::finish : timeline_kind::other);
        auto const m = decode_game_message(*raw, protocol_);
        if (!m) return;
        if (auto i = read_introduction(*m)) {
            i->tick = out_.last_tick;
            names_.add(*i);
            out_.introductions.push_back(std::move(*i));
        }
        switch (m->kind) {
        case message_kind::kill: return kill({m->client_id, m->victim, m->weapon});
        case message_kind::chat: return chat(*m);
        case message_kind::motd:
            if (std::exchange(day_, m->text) == m->text) return; // every new client gets it
            break;
        case message_kind::broadcast:
            if (!one_receiver_ && is_on_screen(m->text)) return;
            break;
        default: break;
        }
        add(to_text(*m, protocol_, names_),
            m->kind == message_kind::server_message ? timeline_kind::chat : timeline_kind::other);
    }

    // The demo is over.
    void finish() {
        add_undecided();
        add_unexplained(INT64_MAX);
        if (ids_differ_) unite_copies();
    }

private:
    // Whether a snapshot was made for one client: it marks that client as the local one, or hides the health of
    // others, which for the living is never 0.
    [[nodiscard]] bool made_for_one(snapshot_view snapshot) const {
        object const& info =
            *find_object(protocol_, protocol_ == protocol::teeworlds_07 ? "client_info" : "player_info");
        object const& body = *find_object(protocol_, "character");
        return std::any_of(snapshot.begin(), snapshot.end(), [&](item const& i) {
            return (i.type() == info.type && int_field(i, info, "local") != 0) ||
                   (i.type() == body.type && int_field(i, body, "health", 1) == 0);
        });
    }

    void begin_one_receiver() {
        one_receiver_ = true;
        ids_differ_ = false;
        for (kill_note const& note : std::exchange(notes_, {})) kill(note);
    }

    // ---- deaths

    void kill(kill_note const& note) {
        if (!one_receiver_) return notes_.push_back(note);
        add_death({note.victim, note.killer, note.weapon});
        add_unexplained(out_.last_tick);
        if (unexplained_.erase(note.victim) == 0 && can_be_client(note.victim))
            announced_deaths_[note.victim] = out_.last_tick;
    }

    void add_death(death const& d) {
        bool const by_another =
            d.weapon && *d.weapon >= 0 && (!d.killer || (*d.killer >= 0 && *d.killer != d.victim));
        add(to_text(d, protocol_, names_), by_another ? timeline_kind::kill : timeline_kind::other);
    }

    void read_deaths(snapshot_view snapshot) {
        std::vector<std::int32_t> const died = take_new_deaths(snapshot);
        if (one_receiver_) {
            add_unexplained(out_.last_tick);
            std::erase_if(announced_deaths_, [&](auto const& t) { return is_late(t.second, out_.last_tick); });
            for (std::int32_t const victim : died)
                if (announced_deaths_.erase(victim) == 0 && can_be_client(victim)) expect_message(victim);
            return;
        }
        if (died.empty()) return; // they may come yet
        ids_differ_ = ids_differ_ || ids_differ(died, notes_);
        for (death const& d : explain_deaths(died, notes_, present_)) add_death(d);
        forget_notes();
    }

    void forget_notes() {
        notes_.clear();
        ticks_waited_ = 0;
    }

    // Events are in one snapshot alone: what is there again is the same one.
    std::vector<std::int32_t> take_new_deaths(snapshot_view snapshot) {
        object const& event = *find_object(protocol_, "event_death");
        std::set<std::vector<std::int32_t>> now;
        std::vector<std::int32_t> died;
        for (item const i : snapshot) {
            if (i.type() != event.type) continue;
            std::vector<std::int32_t> which{i.id()};
            which.insert(which.end(), i.data.begin(), i.data.end());
            if (!deaths_.contains(which)) died.push_back(int_field(i, event, "client_id", -1));
            now.insert(std::move(which));
        }
        deaths_ = std::move(now);
        return died;
    }

    void add_undecided() {
        if (notes_.empty()) return;
        add(undecided_text(notes_, protocol_, names_));
        forget_notes();
    }

    static bool can_be_client(std::int32_t id) { return id >= 0 && id < 1024; }
    static bool is_late(std::int32_t then, std::int64_t now) { return now - then > kill_lateness; }

    void expect_message(std::int32_t victim) {
        auto const [place, is_new] = unexplained_.try_emplace(victim, out_.last_tick);
        if (!is_new) add_unexplained(victim, std::exchange(place->second, out_.last_tick));
    }
    // Deaths for which no message has come and none will.
    void add_unexplained(std::int64_t now) {
        for (auto const& [victim, tick] : unexplained_)
            if (is_late(tick, now)) add_unexplained(victim, tick);
        std::erase_if(unexplained_, [&](auto const& t) { return is_late(t.second, now); });
    }
    void add_unexplained(std::int32_t victim, std::int32_t tick) {
        auto const place = out_.events.begin() + static_cast<std::ptrdiff_t>(out_.count_until(tick));
        out_.events.insert(place, {tick, to_text(death{victim, {}, {}}, protocol_, names_), timeline_kind::other});
    }

    // ---- other messages

    void chat(game_message const& m) {
        std::size_t const place = out_.events.size();
        add(to_text(m, protocol_, names_), timeline_kind::chat);
        if (one_receiver_ || out_.events.size() == place) return;
        speeches_[{out_.last_tick, speech_text(m, protocol_)}].push_back({place, names_.name(m.client_id)});
    }

    // What was said to clients that know different ids: who of them it was cannot be known.
    void unite_copies() {
        std::set<std::size_t> copies;
        for (auto const& [what, speakers] : speeches_) {
            std::string names;
            for (auto const& [place, name] : speakers) {
                names += (names.empty() ? "" : " or ") + name;
                if (place != speakers.front().place) copies.insert(place);
            }
            out_.events[speakers.front().place].text = names + what.second;
        }
        std::size_t place = 0;
        std::erase_if(out_.events, [&](timeline_event const&) { return copies.contains(place++); });
    }

    // Servers send a broadcast to every client by itself, and again to those who come later.
    bool is_on_screen(std::string_view text) {
        auto const [place, is_new] = broadcasts_.try_emplace(std::string{text}, out_.last_tick);
        std::int64_t const age = std::int64_t{out_.last_tick} - std::exchange(place->second, out_.last_tick);
        return !is_new && age < broadcast_ticks;
    }

    [[nodiscard]] std::string racer(race_news const& news) const {
        std::int32_t const id = news.client_id.value_or(racer_);
        return id < 0 ? "?" : names_.name(id);
    }

    void add(std::string text, timeline_kind kind = timeline_kind::other) {
        if (text.empty()) return;
        if (lines_tick_ != out_.last_tick) lines_.clear();
        lines_tick_ = out_.last_tick;
        if (lines_.insert(text).second) out_.events.push_back({out_.last_tick, std::move(text), kind});
    }
    void add_missing(std::span<std::int32_t const> from, std::span<std::int32_t const> in, std::string_view what,
                     timeline_kind kind) {
        for (std::int32_t const id : from)
            if (!std::binary_search(in.begin(), in.end(), id))
                add(fmt::format("{} {}", names_.name(id), what), kind);
    }

    struct speech {
        std::size_t place; // among the events
        std::string speaker;
    };

    timeline& out_;
    protocol protocol_;
    bool one_receiver_;
    name_table names_;
    std::vector<std::int32_t> present_;
    std::set<std::string> lines_; // at lines_tick_: server demos hold what goes to all once for each client
    std::int32_t lines_tick_ = -1;
    std::string day_;         // the message that every new client gets
    std::int32_t racer_ = -1; // whom news without a client id are about
    bool started_ = false;

    std::vector<kill_note> notes_;               // of several receivers, since the last snapshot with deaths
    int ticks_waited_ = 0;                       // markers since the first of them
    std::set<std::vector<std::int32_t>> deaths_; // items of the last snapshot, with their ids
    // Of one receiver, with their ticks: whose death was announced, but not seen, and the reverse.
    std::map<std::int32_t, std::int32_t> announced_deaths_;
    std::map<std::int32_t, std::int32_t> unexplained_;
    bool ids_differ_ = false;                        // clients know other ids than the items have
    std::map<std::string, std::int32_t> broadcasts_; // when each was sent last
    std::map<std::pair<std::int32_t, std::string>, std::vector<speech>> speeches_; // by tick and words
};

} // namespace

std::size_t timeline::count_until(std::int32_t tick) const {
    auto const end = std::upper_bound(events.begin(), events.end(), tick,
                                      [](std::int32_t t, timeline_event const& h) { return t < h.tick; });
    return static_cast<std::size_t>(end - events.begin());
}

name_table timeline::names(std::int32_t tick) const {
    name_table names;
    for (introduction const& i : introductions)
        if (i.tick <= tick) names.add(i);
    return names;
}

timeline read_timeline(session& demo) {
    timeline out;
    timeline_reader reader{out, demo};
    demo_player& player = demo.player();
    for (demo_event event; !interrupted() && player.next(event);) {
        switch (event.kind) {
        case demo_event_kind::tick: reader.marker(event.tick); break;
        case demo_event_kind::snapshot: reader.snapshot(player.state()); break;
        case demo_event_kind::message: reader.message(event.message); break;
        }
    }
    reader.finish();
    out.error = demo.error_text(player.error());
    return out;
}

} // namespace teewire::replay
