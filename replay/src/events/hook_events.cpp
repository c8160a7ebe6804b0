#include "events/hook_events.hpp"

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

// An attachment is heard in the snapshot that shows it, or so many ticks later.
constexpr std::int32_t sound_lateness = 3;

} // namespace

// The sound is where the tee is: of those near it, the one that fits best.
void hook_events::receive(position at, bool player) {
    auto const told = [&](tee const& t) {
        grip const* const held = grip_of(t);
        return held != nullptr && is_told(*held, player);
    };
    auto const holds = [&](tee const& t) {
        return t.hook_state == tee::hook_grabbed && (t.hooked_player >= 0) == player && grip_of(t) == nullptr;
    };
    // Servers repeat a sound in the next snapshot.
    auto const is_repeated = [&](tee const& t) {
        grip const* const held = grip_of(t);
        return held != nullptr && held->heard && (held->target >= 0) == player &&
               std::int64_t{game_.tick} - held->since <= sound_lateness;
    };
    auto const flies = [&](tee const& t) {
        return !player && t.hook_state == tee::hook_flying && grip_of(t) == nullptr;
    };
    // It got hold and let go since the last snapshot.
    auto const flew = [&](tee const& t) {
        tee const* const before = game_.before.find(t.client_id);
        return t.hook_state < tee::hook_flying && before != nullptr && before->hook_state == tee::hook_flying;
    };
    tee const* t = game_.nearest(at, sound_reach, told);
    if (t == nullptr) t = game_.nearest(at, sound_reach, holds);
    if (t == nullptr && game_.nearest(at, sound_reach, is_repeated) != nullptr) return;
    if (t == nullptr) t = game_.nearest(at, sound_reach, flies);
    if (t == nullptr) t = game_.nearest(at, sound_reach, flew);
    if (t != nullptr) got_hold(*t, player);
}

void hook_events::read(tee const& t, tee const* before) {
    if (before != nullptr && is_thrown(t, *before)) {
        game_event e = game_.make(hook_throw, evidence::derived);
        e.client = game_.who(t.client_id);
        e.where = expected_position(t, game_.now.tick);
        pending_.add(std::move(e));
    }
    std::int32_t const target = can_be_client(t.hooked_player) ? t.hooked_player : -1;
    // An item that stays as it was says the same again.
    if (before != nullptr) {
        bool const again = before->position_tick == t.position_tick;
        if (t.hook_hit_ground && !(again && before->hook_hit_ground)) got_hold(t, false);
        if (t.hook_hit_player && !(again && before->hook_hit_player)) got_hold(t, true);
    }
    grip* held = grip_of(t);
    if (held != nullptr && t.hook_state == tee::hook_grabbed && held->target != target) {
        if (held->since == game_.tick) { // heard just now, and here it says whom
            held->target = target;
            held->told->target = target >= 0 ? std::optional{game_.who(target)} : std::nullopt;
        } else {
            release(t.client_id);
            held = nullptr;
        }
    }
    if (held != nullptr) {
        if (!may_hold(t, *held)) release(t.client_id);
    } else if (t.hook_state == tee::hook_grabbed) {
        if (before != nullptr) attach(t, target, evidence::derived);
        else grips_[t.client_id] = {target, game_.tick - sound_lateness - 1, true, {}};
    }
}

void hook_events::release_lost() {
    std::erase_if(grips_, [&](auto const& g) {
        if (game_.now.find(g.first) != nullptr) return false;
        bool const died = std::any_of(game_.now.events.begin(), game_.now.events.end(), [&](event_item const& i) {
            return i.what == event_item::kind::death && i.value == g.first;
        });
        if (!game_.one_receiver || died || game_.now.player(g.first) == nullptr) add_release(g.first, g.second);
        return true;
    });
}

hook_events::grip* hook_events::grip_of(tee const& t) {
    auto const held = grips_.find(t.client_id);
    return held != grips_.end() ? &held->second : nullptr;
}

// A hook that held and flies now was thrown again in between.
bool hook_events::is_thrown(tee const& t, tee const& before) {
    return t.hook_state == tee::hook_flying
               ? before.hook_state != tee::hook_flying
               : t.hook_state == tee::hook_grabbed && before.hook_state < tee::hook_flying;
}

// A tee whose way clients can predict is not sent again when its hook reaches the ground: its item goes on to say
// that the hook flies.
bool hook_events::may_hold(tee const& t, grip const& g) {
    return t.hook_state == tee::hook_grabbed ||
           (t.hook_state == tee::hook_flying && t.position_tick <= g.since && g.target < 0);
}

// Whether the same attachment was reported just now.
bool hook_events::is_told(grip const& g, bool player) const {
    return !g.heard && std::int64_t{game_.tick} - g.since <= sound_lateness && (g.target >= 0) == player;
}

void hook_events::attach(tee const& t, std::int32_t target, evidence known) {
    game_event e = game_.make(hook_attach, known);
    e.client = game_.who(t.client_id);
    if (target >= 0) e.target = game_.who(target);
    e.where = t.hook;
    grips_[t.client_id] = {target, game_.tick, known == evidence::observed, pending_.add(std::move(e))};
}

// Something says that the hook of this tee got hold.
void hook_events::got_hold(tee const& t, bool player) {
    if (grip* const held = grip_of(t)) {
        if (is_told(*held, player)) {
            held->heard = true;
            held->told->known = evidence::observed;
            return;
        }
        release(t.client_id);
    }
    attach(t, player && can_be_client(t.hooked_player) ? t.hooked_player : -1, evidence::observed);
}

void hook_events::release(std::int32_t client_id) {
    auto const held = grips_.find(client_id);
    if (held == grips_.end()) return;
    add_release(client_id, held->second);
    grips_.erase(held);
}

void hook_events::add_release(std::int32_t client_id, grip const& g) {
    game_event e = game_.make(hook_release, evidence::derived);
    e.client = game_.who(client_id);
    if (g.target >= 0) e.target = game_.who(g.target);
    pending_.add(std::move(e));
}

} // namespace teewire::replay
