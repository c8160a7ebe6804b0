#include "events/player_counts.hpp"

#include <teewire/demo_format.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace teewire::replay {
namespace {

// Longer gaps, such as those in a demo of several pieces, are not counted.
constexpr std::int32_t longest_gap = 5 * ticks_per_second;
// Units in a tick: what is faster was moved.
constexpr double fastest = 256;

void add_weapons(weapon_counts const& from, weapon_counts& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void count_weapon(std::optional<std::int32_t> weapon, weapon_counts& to) {
    if (weapon && *weapon >= 0 && *weapon < static_cast<std::int32_t>(to.size()))
        ++to[static_cast<std::size_t>(*weapon)];
}

} // namespace

void player_counts::add(player_counts const& other) {
    ticks += other.ticks;
    played += other.played;
    hooked += other.hooked;
    frozen += other.frozen;
    distance += other.distance;
    latency += other.latency;
    kills += other.kills;
    deaths += other.deaths;
    own_deaths += other.own_deaths;
    finishes += other.finishes;
    chat += other.chat;
    if (other.best && (!best || *other.best < *best)) best = other.best;
    add_weapons(other.kills_by, kills_by);
    add_weapons(other.shots, shots);
    add_weapons(other.hits, hits);
}

void add(player_table const& from, player_table& to) {
    for (auto const& [name, counts] : from) to[name].add(counts);
}

void player_counter::put(stream_event const& event) {
    if (event.kind == event_kind::begin) {
        finish();
        first_tick_ = tick_ = -1;
        ids_.clear();
        clients_.clear();
        version_.reset();
    } else if (event.tick > tick_) {
        std::int64_t const passed = std::int64_t{event.tick} - tick_;
        if (tick_ >= 0 && passed <= longest_gap) waiting_ += static_cast<std::uint64_t>(passed);
        if (tick_ < 0) first_tick_ = event.tick;
        tick_ = event.tick;
    }
    bool const changes = event.kind == event_kind::snapshot && !event.state.empty();
    if (changes) add_time();
    reader_.put(event);
    begun_ = begun_ || event.kind == event_kind::begin;
    if (!changes || !begun_) return;
    add_ways();
    look_who_is_there();
}

void player_counter::finish() {
    if (!begun_) return;
    add_time();
    reader_.finish();
}

// The state of the last snapshot has lasted so long.
void player_counter::add_time() {
    std::uint64_t const ticks = std::exchange(waiting_, 0);
    if (ticks == 0 || !begun_) return;
    world_state const& now = reader_.now();
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        player_counts& counts = *clients_[i].counts;
        present_player const& player = now.players[i];
        counts.ticks += ticks;
        counts.latency += ticks * static_cast<std::uint64_t>(std::clamp(player.latency, 0, 10'000));
        if (clients_[i].plays) counts.played += ticks;
        tee const* const t = now.find(player.client_id);
        if (t == nullptr) continue;
        if (t->hook_state == tee::hook_grabbed) counts.hooked += ticks;
        if (t->frozen) counts.frozen += ticks;
    }
}

void player_counter::add_ways() {
    world_state const& now = reader_.now();
    world_state const& before = reader_.before();
    if (std::int64_t{now.tick} - before.tick > longest_gap) return;
    for (std::size_t i = 0; i < clients_.size(); ++i) { // those of before
        tee const* const from = before.find(ids_[i]);
        tee const* const to = now.find(ids_[i]);
        if (from == nullptr || to == nullptr) continue;
        double const way = distance(from->at, to->at);
        std::int64_t const ticks = std::max<std::int64_t>(1, std::int64_t{to->position_tick} - from->position_tick);
        if (way <= fastest * static_cast<double>(ticks))
            clients_[i].counts->distance += static_cast<std::uint64_t>(std::llround(way * 256));
    }
}

void player_counter::look_who_is_there() {
    world_state const& now = reader_.now();
    bool const same = version_ == reader_.names_version() &&
                      std::equal(ids_.begin(), ids_.end(), now.players.begin(), now.players.end(),
                                 [](std::int32_t id, present_player const& p) { return id == p.client_id; });
    if (!same) {
        ids_.clear();
        clients_.clear();
        for (present_player const& p : now.players) {
            ids_.push_back(p.client_id);
            clients_.push_back({&players_[reader_.names().name(p.client_id)], true});
        }
        version_ = reader_.names_version();
    }
    for (std::size_t i = 0; i < clients_.size(); ++i)
        clients_[i].plays = reader_.team(now.players[i]).value_or(0) >= 0;
}

void player_counter::count(game_event const& e) {
    // A shot of the first tick is reported only in the next one, and not in a piece that ends with it.
    if (e.tick <= first_tick_ && e.kind != game_event_kind::shot) return;
    auto const of = [&](std::optional<participant> const& p) -> player_counts* {
        return p && p->client_id >= 0 ? &players_[p->name] : nullptr;
    };
    player_counts* const client = of(e.client);
    switch (e.kind) {
    case game_event_kind::kill: {
        // With one receiver, a death without a message may have been reported in another piece.
        player_counts* const victim = of(e.target);
        if (victim == nullptr || (reader_.one_receiver() && !e.weapon)) break;
        ++victim->deaths;
        bool const alone = e.weapon && (*e.weapon < 0 || client == victim);
        if (client != nullptr && client != victim) {
            ++client->kills;
            count_weapon(e.weapon, client->kills_by);
        } else if (alone) {
            ++victim->own_deaths;
        }
        break;
    }
    case game_event_kind::shot:
        if (client != nullptr) count_weapon(e.weapon, client->shots);
        break;
    case game_event_kind::hit:
        if (client != nullptr) count_weapon(e.weapon, client->hits);
        break;
    case game_event_kind::finish:
        if (client == nullptr) break;
        ++client->finishes;
        if (e.time && (!client->best || *e.time < *client->best)) client->best = e.time;
        break;
    case game_event_kind::chat:
    case game_event_kind::team_chat:
    case game_event_kind::whisper:
        if (client != nullptr && !e.copied) ++client->chat; // otherwise it may be another's
        break;
    default: break;
    }
}

} // namespace teewire::replay
