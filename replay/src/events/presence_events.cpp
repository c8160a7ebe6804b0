#include "events/presence_events.hpp"

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

} // namespace

bool presence_events::heard::is_about(game_event const& e) const {
    return e.kind == kind && e.client && (client_id ? e.client->client_id == *client_id : e.client->name == name);
}

void presence_events::begin_tick() {
    std::erase_if(heard_, [&](heard const& h) { return is_late(h.tick, game_.tick); });
}

void presence_events::receive(game_event_kind join_or_leave, std::optional<std::int32_t> client_id,
                              std::string name, std::string reason) {
    heard said{game_.tick, join_or_leave, client_id, std::move(name), std::move(reason)};
    game_event* const known = pending_.find(std::int64_t{game_.tick} - lateness, [&](game_event const& e) {
        return e.known == evidence::derived && said.is_about(e);
    });
    if (known == nullptr) {
        if (heard_.size() < pending_events::max_looked_at) heard_.push_back(std::move(said));
        return;
    }
    known->known = evidence::observed;
    known->text = std::move(said.reason);
}

void presence_events::receive(introduction const& i, game_message const& m) {
    std::string const before =
        game_.names.find(i.client_id) != nullptr ? game_.names.name(i.client_id) : std::string{};
    game_.names.add(i);
    ++game_.names_version;
    if (m.kind == message_kind::client_info || m.kind == message_kind::client_enter)
        if (game_.now.player(i.client_id) == nullptr) receive(join, i.client_id, {}, {});
    rename(i.client_id, before, evidence::observed);
}

void presence_events::read_names(std::span<item const> client_infos) {
    for (item const i : client_infos) {
        auto const* const known = game_.names.find(i.id());
        if (known != nullptr && std::equal(known->item.begin(), known->item.end(), i.data.begin(), i.data.end()))
            continue;
        std::string const before =
            known != nullptr && game_.before.player(i.id()) != nullptr ? game_.names.name(i.id()) : std::string{};
        game_.names.add(i, client_info_, game_.version);
        ++game_.names_version;
        rename(i.id(), before, evidence::derived);
    }
}

void presence_events::read_players() {
    auto const same = [](present_player const& a, present_player const& b) {
        return a.client_id == b.client_id && a.team == b.team;
    };
    auto const &now = game_.now.players, &before = game_.before.players;
    if (game_.started && std::exchange(names_seen_, game_.names_version) == game_.names_version &&
        std::equal(now.begin(), now.end(), before.begin(), before.end(), same))
        return;
    for (present_player const& p : now)
        if (game_.before.player(p.client_id) == nullptr) add(join, p.client_id);
    for (present_player const& p : before) {
        if (game_.now.player(p.client_id) != nullptr) continue;
        add(leave, p.client_id);
        teams_.erase(p.client_id);
    }
    for (present_player const& p : now) {
        auto const team = game_.team_of(p);
        if (!team) continue;
        auto const [known, is_new] = teams_.try_emplace(p.client_id, *team);
        if (is_new || std::exchange(known->second, *team) == *team) continue;
        game_event e = game_.make(team_change, evidence::derived);
        e.client = game_.who(p.client_id);
        e.team = team;
        pending_.add(std::move(e));
    }
}

void presence_events::add(game_event_kind join_or_leave, std::int32_t client_id) {
    game_event e = game_.make(join_or_leave, evidence::derived);
    e.client = game_.who(client_id);
    auto const said = std::find_if(heard_.begin(), heard_.end(), [&](heard const& h) { return h.is_about(e); });
    if (said != heard_.end()) {
        e.known = evidence::observed;
        e.text = said->reason;
        heard_.erase(said);
    }
    pending_.add(std::move(e));
}

void presence_events::rename(std::int32_t client_id, std::string const& before, evidence known) {
    if (!game_.started || before.empty() || game_.now.player(client_id) == nullptr ||
        game_.names.name(client_id) == before)
        return;
    game_event e = game_.make(name_change, known);
    e.client = game_.who(client_id);
    e.text = before;
    pending_.add_once(std::move(e));
}

} // namespace teewire::replay
