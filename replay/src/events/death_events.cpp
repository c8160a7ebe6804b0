#include "events/death_events.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

// Some servers make a snapshot of every tick, but send events only at even ones, and leave out ticks when they are
// late: the death of a message may be in the third tick that is recorded after it.
constexpr int max_ticks_waited = 3;

} // namespace

void death_events::end_tick() {
    if (!notes_.empty() && ++ticks_waited_ > max_ticks_waited) add_undecided();
}

void death_events::begin_tick() {
    victims_.clear();
    if (game_.one_receiver) add_unexplained(game_.tick);
}

void death_events::receive(kill_note const& note) {
    if (!game_.one_receiver) return notes_.push_back(note);
    if (!victims_.insert(note.victim).second) return; // sent to another client too
    add_death({note.victim, note.killer, note.weapon}, evidence::observed);
    add_unexplained(game_.tick);
    if (unexplained_.erase(note.victim) == 0 && can_be_client(note.victim)) announced_[note.victim] = game_.tick;
}

void death_events::read() {
    std::vector<std::int32_t> died;
    for (event_item const& i : game_.now.events)
        if (i.what == event_item::kind::death && !has_gone_to_watch(i.value)) died.push_back(i.value);
    if (game_.one_receiver) {
        add_unexplained(game_.tick);
        std::erase_if(announced_, [&](auto const& t) { return is_late(t.second, game_.tick); });
        for (std::int32_t const victim : died)
            if (announced_.erase(victim) == 0 && can_be_client(victim)) expect_message(victim);
        return;
    }
    if (died.empty()) return; // they may come yet
    game_.ids_differ = game_.ids_differ || ids_differ(died, notes_);
    std::vector<std::int32_t> present;
    if (game_.started)
        for (present_player const& p : game_.before.players) present.push_back(p.client_id);
    for (death const& d : explain_deaths(died, notes_, present)) add_death(d, evidence::observed);
    notes_.clear();
    ticks_waited_ = 0;
}

void death_events::begin_one_receiver() {
    for (kill_note const& note : std::exchange(notes_, {})) receive(note);
}

void death_events::finish() {
    add_undecided();
    add_unexplained(INT64_MAX);
}

void death_events::add_death(death const& d, evidence known) {
    game_event e = game_.make(kill, known);
    e.target = game_.who(d.victim);
    e.weapon = d.weapon;
    if (d.killer) {
        e.client = game_.who(*d.killer);
        e.client_seen = game_.now.find(*d.killer) != nullptr || game_.before.find(*d.killer) != nullptr;
    }
    e.where = game_.last_position(d.victim);
    e.toucher = game_.toucher(d.victim);
    if (can_be_client(d.victim)) game_.deaths[d.victim] = game_.tick;
    pending_.add_once(std::move(e));
}

// DDNet shows the effects of a death when a player uses /spec, which takes the tee out of the game.
bool death_events::has_gone_to_watch(std::int32_t client_id) const {
    present_player const* const p = game_.now.player(client_id);
    return p != nullptr && p->without_tee;
}

// Kill messages that nothing proves.
void death_events::add_undecided() {
    if (notes_.empty()) return;
    constexpr std::size_t most = 4;
    game_event e = game_.make(kill, evidence::observed);
    std::vector<std::int32_t> victims;
    std::set<std::int32_t> known;
    bool one_weapon = true;
    for (kill_note const& n : notes_) {
        if (known.insert(n.victim).second) victims.push_back(n.victim);
        one_weapon = one_weapon && n.weapon == notes_.front().weapon;
    }
    if (one_weapon) e.weapon = notes_.front().weapon;
    for (std::size_t i = 0; i < victims.size() && i < most; ++i)
        e.text += (i == 0 ? "messages name " : " or ") + game_.names.name(victims[i]);
    if (victims.size() > most) e.text += fmt::format(" or {} more", victims.size() - most);
    pending_.add_once(std::move(e));
    notes_.clear();
    ticks_waited_ = 0;
}

void death_events::expect_message(std::int32_t victim) {
    game_event e = game_.make(kill, evidence::observed);
    e.target = game_.who(victim);
    e.where = game_.last_position(victim);
    e.toucher = game_.toucher(victim);
    game_.deaths[victim] = game_.tick;
    auto const [entry, is_new] = unexplained_.try_emplace(victim, e);
    if (!is_new) pending_.add(std::exchange(entry->second, e));
}

// Deaths for which no message has come and none will.
void death_events::add_unexplained(std::int64_t now) {
    for (auto const& [victim, e] : unexplained_)
        if (is_late(e.tick, now)) pending_.add(e);
    std::erase_if(unexplained_, [&](auto const& t) { return is_late(t.second.tick, now); });
}

} // namespace teewire::replay
