#include "serve/viewed.hpp"

#include "game/owned_snapshot.hpp"
#include "game/roster.hpp"

#include <teewire/packer.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

// Item types, 0.6 and 0.7.
struct item_types {
    std::uint16_t character, player_info, client_info, spectator_info, first_event, last_event;
};
constexpr item_types types_06{9, 10, 11, 12, 13, 20};
constexpr item_types types_07{10, 11, 0, 12, 16, 22};

item_types const& types(bool v07) { return v07 ? types_07 : types_06; }

constexpr std::int32_t spectators_team = -1;
constexpr std::int32_t spec_free_view = 0, spec_player = 1; // 0.7

bool is_event(item const& i, item_types const& t) { return i.type() >= t.first_event && i.type() <= t.last_event; }

} // namespace

std::bitset<max_viewed_clients> clients_in(snapshot_view snapshot, protocol p) {
    std::bitset<max_viewed_clients> found;
    item_types const& t = types(p == protocol::teeworlds_07);
    for (item const i : snapshot)
        if ((i.type() == t.character || i.type() == t.player_info) && i.id() < max_viewed_clients)
            found.set(i.id());
    return found;
}

bool is_for_viewers(message const& m, protocol p) {
    bool const v07 = p == protocol::teeworlds_07;
    if (m.system) return false;
    switch (identify(m, v07 ? protocol::teeworlds_07 : protocol::ddnet)) {
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
    case message_type::teams_state_legacy:
    case message_type::record:
    case message_type::record_legacy:
    case message_type::map_info:
    case message_type::map_sound_global: return true;
    case message_type::game_message_07: {
        // Sent to the recording client, who wanted to watch a player that cannot be watched.
        constexpr std::int32_t invalid_spectator = 1;
        return unpacker{m.fields}.read_int() != invalid_spectator;
    }
    case message_type::sound_global:
    case message_type::tune_params: return !v07;
    default: return false;
    }
}

viewed_snapshots::viewed_snapshots(protocol p)
    : protocol_{p}, v07_{p == protocol::teeworlds_07}, mover_{p},
      memory_{std::make_unique<snapshot_builder_memory<>>()}, builder_{*memory_} {}

void viewed_snapshots::choose_watched(snapshot_view snapshot) {
    item_types const& t = types(v07_);
    std::bitset<max_viewed_clients> alive;
    std::int32_t local = -1;
    std::int32_t spectated = -1;
    for (item const i : snapshot) {
        if (i.type() == t.character && i.id() < max_viewed_clients) alive.set(i.id());
        else if (i.type() == t.spectator_info && i.data.size() >= 3) spectated = i.data[v07_ ? 1 : 0];
        else if (!v07_ && i.type() == t.player_info && i.data.size() >= 2 && i.data[0] != 0) local = i.data[1];
        else if (i.type() == type_client_info_07 && v07_ && !i.data.empty() && i.data[0] != 0) local = i.id();
    }
    auto const lives = [&](std::int32_t id) {
        return id >= 0 && id < static_cast<std::int32_t>(max_viewed_clients) && alive[static_cast<std::size_t>(id)];
    };
    for (std::int32_t const id : {spectated, local, chosen_})
        if (lives(id)) {
            chosen_ = id;
            return;
        }
    for (std::size_t i = 0; i < max_viewed_clients; ++i)
        if (alive[i]) {
            chosen_ = static_cast<std::int32_t>(i);
            return;
        }
}

snapshot_view viewed_snapshots::build(snapshot_view recorded, std::int32_t shift, bool again,
                                      std::int32_t viewer_id) {
    item_types const& t = types(v07_);
    choose_watched(recorded);
    builder_.start();
    for (item const i : recorded) {
        if (again && is_event(i, t)) continue; // it has happened
        if (i.type() == t.spectator_info) continue;
        // Written by another release than the viewers have.
        std::size_t const agreed = (v07_ ? sizes_07 : sizes_06)[i.type()];
        if (agreed != 0 && agreed != i.data.size()) continue;
        if (v07_ && i.type() >= type_client_info_07 && i.type() <= type_tune_params_07) continue;
        object const* o = nullptr;
        if (i.type() >= first_alias) {
            auto const id = find_extended_type(recorded, i.type());
            o = id ? find_object(*id) : nullptr;
            if (o != nullptr && o->name == "ddnet_spectator_info") continue;
        } else if (shift != 0) {
            o = find_object(protocol_, i.type());
        }
        auto const data = builder_.add(i);
        if (!data) continue;
        if (!v07_ && i.type() == t.player_info && !data->empty()) (*data)[0] = 0;
        if (shift != 0 && o != nullptr) mover_.move(*data, *o, shift);
    }
    add_viewer(viewer_id);
    return builder_.finish();
}

void viewed_snapshots::add_viewer(std::int32_t viewer_id) {
    item_types const& t = types(v07_);
    if (viewer_id >= 0) {
        auto const id = static_cast<std::uint16_t>(viewer_id);
        if (auto const info = builder_.add(t.player_info, id, v07_ ? 3 : 5); info && !v07_) {
            (*info)[0] = 1;
            (*info)[1] = viewer_id;
            (*info)[2] = spectators_team;
        }
        if (!v07_)
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
    if (v07_) {
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

snapshot_view viewed_snapshots::watching(snapshot_view snapshot, std::int32_t watched,
                                         std::span<std::int32_t> out) const {
    item_types const& t = types(v07_);
    if (watched == watch_chosen || snapshot.empty()) return snapshot;
    item const last = snapshot[snapshot.size() - 1];
    if (last.type() != t.spectator_info || snapshot.ints().size() > out.size()) return snapshot;
    std::copy(snapshot.ints().begin(), snapshot.ints().end(), out.begin());
    auto const ints = out.first(snapshot.ints().size());
    auto const info = ints.last(last.data.size());
    std::size_t const at = v07_ ? 1 : 0;
    info[at] = watch_nobody;
    if (v07_) info[0] = spec_free_view;
    if (auto const who = snapshot.find(make_key(t.character, static_cast<std::uint16_t>(watched)));
        watched >= 0 && who && who->data.size() >= 3) {
        info[at] = watched;
        if (v07_) info[0] = spec_player;
        info[at + 1] = who->data[1];
        info[at + 2] = who->data[2];
    }
    auto const same = with_data(snapshot, ints);
    return snapshot.outline().keys.empty() ? same : same.with_outline(snapshot.outline());
}

} // namespace teewire::replay
