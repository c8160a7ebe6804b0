#include "demo/playback.hpp"

#include "io/interrupts.hpp"

#include <teewire/message_types.hpp>

#include <algorithm>
#include <bitset>
#include <utility>

namespace teewire::replay {
namespace {

// Item types, 0.6 and 0.7.
struct item_types {
    std::uint16_t character, player_info, client_info, spectator_info, first_event, last_event;
};
constexpr item_types types_06{9, 10, 11, 12, 13, 20};
constexpr item_types types_07{10, 11, 0, 12, 16, 22};
constexpr std::size_t max_clients = 64;

item_types const& types(bool v07) { return v07 ? types_07 : types_06; }

// Server ticks are even. Those behind the latest begin last for 248 days. The other one leaves an hour for what items say
// of the time before.
constexpr std::int32_t latest_begin = INT32_MAX / 2;
constexpr std::int32_t other_begin = 3600 * ticks_per_second;

constexpr std::int32_t spectators_team = -1;
constexpr std::int32_t spec_free_view = 0, spec_player = 1; // 0.7

// What goes on in the demo and not because somebody joined it.
bool is_passed_on(message_type type, bool v07) {
    switch (type) {
    case message_type::motd:
    case message_type::broadcast:
    case message_type::chat:
    case message_type::kill:
    case message_type::emoticon:
    case message_type::vote_set:
    case message_type::vote_status:
    case message_type::kill_team:
    case message_type::race_finish:
    case message_type::race_finish_07:
    case message_type::teams_state:
    case message_type::map_sound_global:
    case message_type::game_message_07: return true;
    case message_type::sound_global:
    case message_type::tune_params: return !v07;
    default: return false;
    }
}

} // namespace

playback::playback(session& demo, bool loop, std::function<void(std::uint64_t)> const& progress)
    : demo_{demo}, loop_{loop}, player_{demo.player()}, mover_{demo.spoken()}, memory_{std::make_unique<memory>()},
      builder_{memory_->builder} {
    for (demo_keyframe const& k : demo.keyframes())
        if (keyframes_.empty() || k.tick > keyframes_.back().tick) keyframes_.push_back(k);
    if (keyframes_.empty()) throw bad_input{demo.name() + ": there is no snapshot in it"};
    read_all(progress);
    begin_tick_ = first_tick() <= latest_begin ? first_tick() + (first_tick() & 1) : other_begin;
    seek(first_tick());
}

// Who plays when, and which client id nobody has.
void playback::read_all(std::function<void(std::uint64_t)> const& progress) {
    std::bitset<max_clients> used;
    item_types const& t = types(is_07());
    last_tick_ = first_tick();
    for (demo_event e; !interrupted() && player_.next(e);) {
        if (e.kind == demo_event_kind::tick) last_tick_ = std::max(last_tick_, e.tick);
        if (e.kind == demo_event_kind::snapshot) {
            for (item const i : player_.state())
                if ((i.type() == t.character || i.type() == t.player_info) && i.id() < max_clients)
                    used.set(i.id());
            if (progress) progress(player_.position());
        } else if (e.kind == demo_event_kind::message && is_07()) {
            auto const m = parse_message(e.message);
            if (m && !m->system && roster{}.receive(*m))
                roster_messages_.push_back({e.tick, {e.message.begin(), e.message.end()}});
        }
    }
    error_ = demo_.error_text(player_.error());
    for (std::size_t i = max_clients; i-- > 0;)
        if (!used[i]) viewer_id_ = static_cast<std::int32_t>(i);
}

void playback::seek(std::int32_t tick) {
    tick = std::clamp(tick, first_tick(), last_tick());
    position_ = tick;
    static_cast<void>(player_.seek(tick, keyframes_)); // errors were found by read_all(); what is before them stays
    state_tick_ = player_.tick();
    pending_tick_ = -1;
    ended_ = false;
    shown_tick_ = -1;
    settled_ = position_ + ticks_per_second;
    roster_ = {};
    for (roster_message const& m : roster_messages_)
        if (m.tick <= tick) roster_.receive(*parse_message(m.bytes));
    roster_.read(player_.state());
}

void playback::take_message(std::span<std::uint8_t const> bytes,
                            std::function<void(std::span<std::uint8_t const>)> const& say) {
    auto const m = parse_message(bytes);
    if (!m || m->system) return;
    if (is_07()) roster_.receive(*m);
    message_type const type = identify(*m, is_07() ? protocol::teeworlds_07 : protocol::ddnet);
    if (type == message_type::tune_params) tuning_.assign(bytes.begin(), bytes.end());
    // Sent to the one who recorded, who wanted to watch somebody that cannot be watched.
    constexpr std::int32_t invalid_spectator = 1;
    if (type == message_type::game_message_07 && unpacker{m->fields}.read_int() == invalid_spectator) return;
    if (is_passed_on(type, is_07())) say(bytes);
}

// Up to the last marker that is not behind `tick`.
void playback::play_to(std::int32_t tick, std::function<void(std::span<std::uint8_t const>)> const& say) {
    if (pending_tick_ > tick) return;
    if (pending_tick_ >= 0) state_tick_ = std::exchange(pending_tick_, -1);
    for (demo_event e; !ended_;) {
        if (!player_.next(e)) {
            ended_ = true;
            return;
        }
        switch (e.kind) {
        case demo_event_kind::tick:
            if (e.tick > tick) {
                pending_tick_ = e.tick;
                return;
            }
            state_tick_ = e.tick;
            break;
        case demo_event_kind::snapshot:
            if (is_07()) roster_.read(player_.state());
            break;
        case demo_event_kind::message: take_message(e.message, say); break;
        }
    }
}

void playback::advance(std::int32_t server_tick, std::function<void(std::span<std::uint8_t const>)> const& say) {
    if (server_tick > begin_tick_) {
        if (!paused_) position_ += 2 * speed_;
        if (position_ > last_tick() + 1.0) {
            if (loop_) seek(first_tick());
            else position_ = last_tick();
        }
    }
    play_to(position(), say);

    // A gap in the demo is one for viewers too, unless it gets so long that they would think the server is gone.
    bool const again = state_tick_ == shown_tick_;
    bool const moving = !paused_ && speed_ == 1 && !at_end();
    has_snapshot_ = !again || !moving || server_tick % max_silence == 0;
    if (!has_snapshot_) return;
    shown_tick_ = state_tick_;
    build(server_tick - state_tick_, again);
}

bool playback::is_event(item const& i) const noexcept {
    item_types const& t = types(is_07());
    return i.type() >= t.first_event && i.type() <= t.last_event;
}

void playback::choose_watched(snapshot_view snapshot) {
    item_types const& t = types(is_07());
    std::bitset<max_clients> alive;
    std::int32_t local = -1;
    std::int32_t spectated = -1;
    for (item const i : snapshot) {
        if (i.type() == t.character && i.id() < max_clients) alive.set(i.id());
        else if (i.type() == t.spectator_info && i.data.size() >= 3) spectated = i.data[is_07() ? 1 : 0];
        else if (!is_07() && i.type() == t.player_info && i.data.size() >= 2 && i.data[0] != 0) local = i.data[1];
        else if (i.type() == type_client_info_07 && is_07() && !i.data.empty() && i.data[0] != 0) local = i.id();
    }
    auto const lives = [&](std::int32_t id) {
        return id >= 0 && id < static_cast<std::int32_t>(max_clients) && alive[static_cast<std::size_t>(id)];
    };
    for (std::int32_t const id : {spectated, local, chosen_})
        if (lives(id)) {
            chosen_ = id;
            return;
        }
    for (std::size_t i = 0; i < max_clients; ++i)
        if (alive[i]) {
            chosen_ = static_cast<std::int32_t>(i);
            return;
        }
}

void playback::build(std::int32_t shift, bool again) {
    snapshot_view const state = player_.state();
    item_types const& t = types(is_07());
    choose_watched(state);
    builder_.start();
    for (item const i : state) {
        if (again && is_event(i)) continue; // it has happened
        if (i.type() == t.spectator_info) continue;
        // Of another release than viewers have.
        std::size_t const agreed = (is_07() ? sizes_07 : sizes_06)[i.type()];
        if (agreed != 0 && agreed != i.data.size()) continue;
        if (is_07() && i.type() >= type_client_info_07 && i.type() <= type_tune_params_07) continue;
        object const* o = nullptr;
        if (i.type() >= first_alias) {
            auto const id = find_extended_type(state, i.type());
            o = id ? find_object(*id) : nullptr;
            if (o != nullptr && o->name == "ddnet_spectator_info") continue;
        } else if (shift != 0) {
            o = find_object(version(), i.type());
        }
        auto const data = builder_.add(i);
        if (!data) continue;
        if (!is_07() && i.type() == t.player_info && !data->empty()) (*data)[0] = 0;
        if (shift != 0 && o != nullptr) mover_.move(*data, *o, shift);
    }
    add_viewer();
    view_ = builder_.finish();
}

void playback::add_viewer() {
    item_types const& t = types(is_07());
    if (viewer_id_ >= 0) {
        auto const id = static_cast<std::uint16_t>(viewer_id_);
        if (auto const info = builder_.add(t.player_info, id, is_07() ? 3 : 5); info && !is_07()) {
            (*info)[0] = 1;
            (*info)[1] = viewer_id_;
            (*info)[2] = spectators_team;
        }
        if (!is_07())
            if (auto const info = builder_.add(t.client_info, id, 17)) {
                encode_text("viewer", info->subspan(0, 4));
                encode_text("", info->subspan(4, 3));
                (*info)[7] = -1;
                encode_text("default", info->subspan(8, 6));
            }
    }
    snapshot_view const so_far = builder_.finish();
    std::int32_t x = 0;
    std::int32_t y = 0;
    bool found = false;
    for (item const i : so_far)
        if (i.type() == t.character && i.data.size() >= 3 && (!found || i.id() == chosen_)) {
            x = i.data[1];
            y = i.data[2];
            found = true;
            if (i.id() == chosen_) break;
        }
    bool const alive = so_far.find(make_key(t.character, static_cast<std::uint16_t>(chosen_))).has_value();
    std::int32_t const watched = chosen_ >= 0 && alive ? chosen_ : watch_nobody;
    if (is_07()) {
        if (auto const info = builder_.add(t.spectator_info, 0, 4)) {
            (*info)[0] = watched >= 0 ? spec_player : spec_free_view;
            (*info)[1] = watched;
            (*info)[2] = x;
            (*info)[3] = y;
        }
    } else if (auto const info = builder_.add(t.spectator_info, 0, 3)) {
        (*info)[0] = watched;
        (*info)[1] = x;
        (*info)[2] = y;
    }
}

snapshot_view playback::watching(snapshot_view snapshot, std::int32_t watched, std::span<std::int32_t> out) const {
    item_types const& t = types(is_07());
    if (watched == watch_chosen || snapshot.empty()) return snapshot;
    item const last = snapshot[snapshot.size() - 1];
    if (last.type() != t.spectator_info || snapshot.ints().size() > out.size()) return snapshot;
    std::copy(snapshot.ints().begin(), snapshot.ints().end(), out.begin());
    auto const ints = out.first(snapshot.ints().size());
    auto const info = ints.last(last.data.size());
    std::size_t const at = is_07() ? 1 : 0;
    info[at] = watch_nobody;
    if (is_07()) info[0] = spec_free_view;
    if (auto const who = snapshot.find(make_key(t.character, static_cast<std::uint16_t>(watched)));
        watched >= 0 && who && who->data.size() >= 3) {
        info[at] = watched;
        if (is_07()) info[0] = spec_player;
        info[at + 1] = who->data[1];
        info[at + 2] = who->data[2];
    }
    auto const same = snapshot_view::trusted(ints, snapshot.distinct_keys());
    return snapshot.outline().keys.empty() ? same : same.with_outline(snapshot.outline());
}

} // namespace teewire::replay
