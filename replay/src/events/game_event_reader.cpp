#include "events/game_event_reader.hpp"

#include "events/announcement.hpp"
#include "events/death_events.hpp"
#include "events/match_events.hpp"
#include "events/pending_events.hpp"
#include "events/presence_events.hpp"
#include "events/race_events.hpp"
#include "events/speech_events.hpp"
#include "events/status_events.hpp"
#include "events/tee_events.hpp"
#include "events/vote_events.hpp"
#include "game/mixed_messages.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace teewire::replay {

// The state of one recording. Knows the order in which the parts of a tick are read.
class game_event_reader::state {
public:
    state(receiver const& tell, recording_info const& begun)
        : game_{begun.version, begun.one_receiver, begun.first_tick}, pending_{game_, tell},
          world_reader_{begun.version}, markers_{begun.markers.begin(), begun.markers.end()} {
        std::sort(markers_.begin(), markers_.end(), std::greater<>{});
    }

    [[nodiscard]] event_context const& game() const noexcept { return game_; }
    [[nodiscard]] std::optional<introduction> const& introduced() const noexcept { return introduced_; }

    void advance(std::int32_t tick) {
        if (tick <= game_.tick) return;
        deaths_.end_tick();
        if (game_.first_tick < 0) game_.first_tick = tick;
        game_.tick = tick;
        pending_.begin_tick();
        while (!markers_.empty() && markers_.back() <= tick) add_marker();
        deaths_.begin_tick();
        presence_.begin_tick();
        pending_.release(std::int64_t{tick} - lateness);
    }

    void snapshot(snapshot_view snapshot) {
        if (snapshot.empty()) return; // a client that is not in the game yet
        if (!game_.started) game_.names.read(snapshot, game_.version);
        world_reader_.read(game_.tick, snapshot, next_);
        if (!game_.one_receiver && world_reader_.made_for_one()) begin_one_receiver();
        std::swap(game_.before, game_.now);
        std::swap(game_.now, next_);
        if (!game_.started) game_.before = game_.now; // no change is reported then
        deaths_.read();
        presence_.read_names(world_reader_.client_infos());
        game_.local = game_.one_receiver ? world_reader_.local_client() : -1;
        game_.racer = game_.one_receiver ? world_reader_.followed_client() : -1;
        presence_.read_players();
        if (game_.started) {
            status_.read_players();
            match_.read();
        }
        if (game_.one_receiver) status_.read_watched(world_reader_.watched_client());
        if (game_.started) tees_.read_events();
        tees_.read_tees();
        game_.started = true;
    }

    void message(std::span<std::uint8_t const> bytes) {
        introduced_.reset();
        auto const raw = parse_message(bytes);
        if (!raw) return;
        if (raw->system) return messages_.see(*raw); // server demos hold those of all clients
        protocol const version = game_.one_receiver ? game_.version : messages_.protocol_of(*raw);
        if (version != game_.version) return message_of_07(*raw);
        if (auto const news = read_race_news(*raw, game_.version)) return races_.receive(*news);
        switch (identify(*raw, game_.version)) {
        case message_type::vote_set: return votes_.receive(*raw, version);
        case message_type::emoticon: return status_.receive_emoticon(raw->fields);
        case message_type::teams_state:
        case message_type::teams_state_legacy: return status_.receive_teams(raw->fields);
        default: break;
        }
        auto const m = decode_game_message(*raw, game_.version);
        if (!m) return;
        if ((introduced_ = read_introduction(*m))) {
            introduced_->tick = game_.tick;
            presence_.receive(*introduced_, *m);
        }
        if (m->kind == message_kind::client_leave)
            return presence_.receive(game_event_kind::leave, m->client_id, {}, std::string{m->text});
        receive(*m, version);
    }

    // The recording is over.
    void finish() {
        deaths_.finish();
        while (!markers_.empty()) add_marker();
        pending_.finish();
    }

private:
    // To one of the clients of 0.7 on a server of 0.6. The items show the clients and their teams.
    void message_of_07(teewire::message const& raw) {
        protocol const version = protocol::teeworlds_07;
        if (auto const news = read_race_news(raw, version)) return races_.receive(*news);
        if (identify(raw, version) == message_type::vote_set) return votes_.receive(raw, version);
        if (auto const m = decode_game_message(raw, version)) receive(*m, version);
    }

    void receive(game_message const& m, protocol version) {
        switch (m.kind) {
        case message_kind::kill: return deaths_.receive({m.client_id, m.victim, m.weapon});
        case message_kind::chat: return speech_.chat(m, version);
        case message_kind::motd: return speech_.motd(m.text);
        case message_kind::broadcast: return speech_.broadcast(m.text);
        case message_kind::server_message: return server_says(m.text);
        default: return;
        }
    }

    void server_says(std::string_view text) {
        speech_.server_message(text);
        votes_.receive(text);
        auto const announced = read_announcement(text);
        if (!announced) return;
        if (announced->kind == game_event_kind::finish) races_.receive(*announced, text);
        else presence_.receive(announced->kind, {}, announced->name, announced->reason);
    }

    void add_marker() {
        game_event e = game_.make(game_event_kind::marker, evidence::observed);
        e.tick = markers_.back();
        pending_.add(std::move(e));
        markers_.pop_back();
    }

    void begin_one_receiver() {
        game_.one_receiver = true;
        game_.ids_differ = false;
        deaths_.begin_one_receiver();
    }

    event_context game_;
    pending_events pending_;
    death_events deaths_{game_, pending_};
    presence_events presence_{game_, pending_};
    speech_events speech_{game_, pending_};
    vote_events votes_{game_, pending_};
    race_events races_{game_, pending_};
    status_events status_{game_, pending_};
    match_events match_{game_, pending_};
    tee_events tees_{game_, pending_};
    mixed_messages messages_{game_.version};
    world_reader world_reader_;
    world_state next_; // memory
    std::optional<introduction> introduced_;
    std::vector<std::int32_t> markers_; // that lie ahead, the next one last
};

game_event_reader::game_event_reader(receiver tell) : tell_{std::move(tell)} {}
game_event_reader::~game_event_reader() = default;

void game_event_reader::put(stream_event const& event) {
    if (event.kind == event_kind::begin) {
        bool const another = state_ != nullptr;
        finish();
        state_ = std::make_unique<state>(tell_, *event.begun);
        if (another) {
            game_event e;
            e.kind = game_event_kind::map_change;
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

bool game_event_reader::one_receiver() const noexcept { return state_->game().one_receiver; }
world_state const& game_event_reader::now() const noexcept { return state_->game().now; }
world_state const& game_event_reader::before() const noexcept { return state_->game().before; }
std::uint64_t game_event_reader::names_version() const noexcept { return state_->game().names_version; }
name_table const& game_event_reader::names() const noexcept { return state_->game().names; }
std::optional<introduction> const& game_event_reader::introduced() const noexcept { return state_->introduced(); }
std::optional<std::int32_t> game_event_reader::team(present_player const& p) const {
    return state_->game().team_of(p);
}

} // namespace teewire::replay
