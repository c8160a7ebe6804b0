#include "events/tee_events.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

// Distances in units between a tee and the things it did. They count where it is in that tick, and it may have moved
// since. Hammers reach 51, weapons lie within 48.
constexpr double hammer_reach = 96;
constexpr double pickup_reach = 80;
// On the ground a tee makes so many units in a tick.
constexpr double run_speed = 10;
// A tee is in a snapshot up to so many ticks before or after the one with its spawn.
constexpr std::int32_t arrival_lateness = 10;
// Every tee that may be new is compared with each of them.
constexpr std::size_t max_unnamed_spawns = 128;
// No tee moves so far between two snapshots by itself.
constexpr double leap = 128;

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

} // namespace

void tee_events::read_events() {
    hammerers_.clear();
    hurt_.clear();
    auto const is_old = [&](std::int32_t tick) { return std::int64_t{game_.tick} - tick > arrival_lateness; };
    std::erase_if(spawns_, [&](unnamed_spawn const& s) { return is_old(s.tick); });
    for (auto* const times : {&arrivals_, &returns_})
        std::erase_if(*times, [&](auto const& t) { return is_old(t.second); });
    for (tee const& t : game_.now.tees) read_arrival(t, game_.before.find(t.client_id));
    for (event_item const& i : game_.now.events) {
        switch (i.what) {
        case event_item::kind::spawn: spawned(i.at); break;
        case event_item::kind::hammer_hit: hammered(i.at); break;
        case event_item::kind::damage: damaged(i); break;
        case event_item::kind::death:
        case event_item::kind::sound: break;
        }
    }
    for (event_item const& i : game_.now.events)
        if (i.what == event_item::kind::sound) heard_sound(i);
}

void tee_events::read_tees() {
    for (tee const& t : game_.now.tees) {
        tee const* const before = game_.before.find(t.client_id);
        if (has_shot(t, before)) {
            game_event e = game_.make(shot, evidence::derived);
            e.tick = std::max(t.attack_tick, game_.tick - lateness); // earlier ones were given
            e.weapon = t.weapon;
            e.where = expected_position(t, game_.now.tick);
            add(&t, std::move(e));
        }
        hooks_.read(t, game_.started ? before : nullptr);
        if (t.hook_state == tee::hook_grabbed && can_be_client(t.hooked_player))
            touched(t.hooked_player, t.client_id);
        if (before == nullptr) continue;
        if (before->weapon != t.weapon) {
            game_event e = game_.make(weapon_change, evidence::derived);
            e.weapon = t.weapon;
            add(&t, std::move(e));
        }
        if (before->frozen != t.frozen) {
            game_event e = game_.make(t.frozen ? freeze : unfreeze, evidence::derived);
            if (t.frozen) e.toucher = game_.toucher(t.client_id);
            add(&t, std::move(e));
        }
    }
    for (auto& [victim, last] : game_.touches) {
        tee const* const t = game_.now.find(victim);
        if (t != nullptr && t->frozen && game_.toucher(victim)) last.tick = game_.tick;
    }
    hooks_.release_lost();
}

// Servers take inputs between two ticks, so a shot in the tick of one snapshot may show only in the next one.
bool tee_events::has_shot(tee const& t, tee const* before) const {
    std::int32_t const last = before != nullptr ? before->attack_tick : game_.before.tick;
    return t.attack_tick > last && t.attack_tick >= game_.before.tick && t.attack_tick <= game_.now.tick;
}

// A tee that was not there, has just died, or is suddenly elsewhere may have spawned.
void tee_events::read_arrival(tee const& t, tee const* before) {
    present_player const* const player = game_.before.player(t.client_id);
    if (before == nullptr && player != nullptr && player->without_tee) {
        returns_[t.client_id] = game_.tick;
        return;
    }
    auto const died = game_.deaths.find(t.client_id);
    bool const may_be_new = before == nullptr ||
                            (died != game_.deaths.end() && !is_late(died->second, game_.tick)) ||
                            distance(expected_position(*before, t.position_tick), t.at) > leap;
    if (!may_be_new) return;
    auto const seen = std::find_if(spawns_.begin(), spawns_.end(), [&](unnamed_spawn const& s) {
        return squared_distance_to(t, s.at, game_.now.tick) <= sound_reach * sound_reach;
    });
    if (seen == spawns_.end()) {
        arrivals_[t.client_id] = game_.tick;
        return;
    }
    seen->told->client = game_.who(t.client_id);
    spawns_.erase(seen);
    begin_life(t.client_id);
}

// Ends everything that belongs to the life before.
void tee_events::begin_life(std::int32_t client_id) {
    arrivals_.erase(client_id);
    game_.deaths.erase(client_id);
    game_.touches.erase(client_id);
}

void tee_events::touched(std::int32_t victim, std::int32_t by) {
    if (victim != by) game_.touches[victim] = {by, game_.tick};
}

void tee_events::add(tee const* client, game_event e) {
    if (client != nullptr) e.client = game_.who(client->client_id);
    pending_.add(std::move(e));
}

void tee_events::spawned(position at) {
    // DDNet shows the effects of a spawn when a player comes back from /spec.
    if (game_.nearest(at, sound_reach, [&](tee const& t) { return returns_.contains(t.client_id); }) != nullptr)
        return;
    game_event e = game_.make(spawn, evidence::observed);
    e.where = at;
    tee const* t = game_.nearest(at, sound_reach,
                                 [&](tee const& other) { return game_.before.find(other.client_id) == nullptr; });
    if (t == nullptr)
        t = game_.nearest(at, sound_reach, [&](tee const& other) { return arrivals_.contains(other.client_id); });
    if (t == nullptr) {
        auto const told = pending_.add(std::move(e));
        if (spawns_.size() < max_unnamed_spawns) spawns_.push_back({told, at, game_.tick});
        return;
    }
    begin_life(t->client_id);
    add(t, std::move(e));
}

void tee_events::hammered(position at) {
    game_event e = game_.make(hit, evidence::observed);
    e.where = at;
    e.weapon = hammer;
    tee const* const attacker = game_.nearest(at, hammer_reach, [&](tee const& t) {
        return t.weapon == hammer && has_shot(t, game_.before.find(t.client_id));
    });
    tee const* const victim = game_.nearest(at, hammer_reach, [&](tee const& t) { return &t != attacker; });
    if (victim != nullptr) e.target = game_.who(victim->client_id);
    if (attacker != nullptr) hammerers_.insert(attacker->client_id);
    if (attacker != nullptr && victim != nullptr) touched(victim->client_id, attacker->client_id);
    add(attacker, std::move(e));
}

void tee_events::damaged(event_item const& i) {
    tee const* const t =
        i.value >= 0 ? game_.now.find(i.value) : game_.nearest(i.at, sound_reach, [](tee const&) { return true; });
    if (t != nullptr) hurt_.insert(t->client_id);
}

void tee_events::heard_sound(event_item const& i) {
    switch (i.value) {
    case sound::pickup_health: return picked_up("health", i.at);
    case sound::pickup_armor: return picked_up("armor", i.at);
    case sound::pickup_grenade: return picked_up("grenade", i.at);
    case sound::pickup_ninja: return picked_up("ninja", i.at);
    case sound::pickup_shotgun: {
        auto const& lasers = game_.before.lasers;
        return picked_up(std::find(lasers.begin(), lasers.end(), i.at) != lasers.end() ? "laser" : "shotgun", i.at);
    }
    case sound::hit_somebody: return was_hit(i.at);
    case sound::hook_attach_ground: return hooks_.receive(i.at, false);
    case sound::hook_attach_player: return hooks_.receive(i.at, true);
    default: return;
    }
}

void tee_events::picked_up(std::string_view pickup_name, position at) {
    game_event e = game_.make(pickup, evidence::observed);
    e.where = at;
    e.text = pickup_name;
    auto const has_more = [&](tee const& t) {
        tee const* const before = game_.before.find(t.client_id);
        if (before == nullptr) return false;
        return pickup_name == "health" ? t.health > before->health
                                       : pickup_name == "armor" && t.armor > before->armor;
    };
    tee const* who = game_.nearest(at, pickup_reach, has_more);
    if (who == nullptr) who = game_.nearest(at, pickup_reach, [](tee const&) { return true; });
    if (who == nullptr) who = nearest_unsent(at);
    add(who, std::move(e));
}

// 0.7's servers do not send a tee that moves as clients predict it: it may have run since.
tee const* tee_events::nearest_unsent(position at) const {
    auto const can_be_there = [&](tee const& t) {
        double const ticks = std::max(0.0, static_cast<double>(game_.now.tick) - t.position_tick);
        return std::sqrt(squared_distance_to(t, at, game_.now.tick)) <= pickup_reach + run_speed * ticks;
    };
    return game_.nearest(at, pickup_reach + run_speed * ticks_per_second * 2, can_be_there);
}

// Only the attacker hears it, and clients that watch the attacker.
void tee_events::was_hit(position at) {
    tee const* const attacker = game_.one_receiver
                                    ? game_.now.find(game_.racer)
                                    : game_.nearest(at, sound_reach, [](tee const&) { return true; });
    if (attacker != nullptr && hammerers_.contains(attacker->client_id)) return; // given already
    game_event e = game_.make(hit, evidence::observed);
    if (attacker != nullptr) e.weapon = attacker->weapon;
    auto const others = [&](std::int32_t id) { return attacker == nullptr || id != attacker->client_id; };
    if (std::count_if(hurt_.begin(), hurt_.end(), others) == 1) {
        tee const& victim = *game_.now.find(*std::find_if(hurt_.begin(), hurt_.end(), others));
        e.target = game_.who(victim.client_id);
        e.where = expected_position(victim, game_.now.tick);
        if (attacker != nullptr) touched(victim.client_id, attacker->client_id);
    }
    add(attacker, std::move(e));
}

} // namespace teewire::replay
