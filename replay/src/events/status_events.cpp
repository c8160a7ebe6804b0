#include "events/status_events.hpp"

#include <teewire/packer.hpp>

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

constexpr std::array<std::string_view, 16> emoticon_names = {
    "oop",   "exclamation", "hearts",   "drop", "dotdot", "music", "sorry", "ghost",
    "sushi", "splattee",    "deviltee", "zomg", "zzz",    "wtf",   "eyes",  "question",
};

} // namespace

void status_events::read_players() {
    for (present_player const& p : game_.now.players) {
        present_player const* const before = game_.before.player(p.client_id);
        if (before == nullptr) continue;
        auto const add = [&](game_event_kind kind) {
            game_event e = game_.make(kind, evidence::derived);
            e.client = game_.who(p.client_id);
            pending_.add(std::move(e));
        };
        if (p.paused != before->paused) add(p.paused ? pause : resume);
        if (p.ready != before->ready) add(p.ready ? ready : unready);
    }
}

void status_events::read_watched(std::optional<std::int32_t> client_id) {
    if (std::exchange(watched_, client_id) == client_id || !game_.started) return;
    game_event e = game_.make(client_id ? spectate : spectate_end, evidence::derived);
    if (game_.local >= 0) e.client = game_.who(game_.local);
    if (client_id && *client_id >= 0) e.target = game_.who(*client_id);
    pending_.add(std::move(e));
}

void status_events::receive_teams(std::span<std::uint8_t const> fields) {
    if (!game_.one_receiver && game_.ids_differ) return; // each client is sent its own ids
    constexpr std::size_t most = 1024;
    unpacker in{fields};
    std::vector<std::int32_t> teams;
    while (teams.size() < most && !in.rest().empty()) {
        std::int32_t const team = in.read_int();
        if (!in.ok()) break;
        teams.push_back(team);
    }
    auto const known = std::exchange(teams_, std::move(teams));
    for (std::size_t i = 0; i < std::min(known.size(), teams_.size()); ++i) {
        auto const client_id = static_cast<std::int32_t>(i);
        if (known[i] == teams_[i] || game_.now.player(client_id) == nullptr) continue;
        game_event e = game_.make(race_team, evidence::observed);
        e.client = game_.who(client_id);
        e.team = teams_[i];
        pending_.add(std::move(e));
    }
}

void status_events::receive_emoticon(std::span<std::uint8_t const> fields) {
    unpacker in{fields};
    std::int32_t const client_id = in.read_int();
    std::int32_t const which = in.read_int();
    if (!in.ok() || !can_be_client(client_id)) return;
    game_event e = game_.make(emoticon, evidence::observed);
    e.client = game_.who(client_id);
    bool const has_name = which >= 0 && static_cast<std::size_t>(which) < emoticon_names.size();
    e.text =
        has_name ? std::string{emoticon_names[static_cast<std::size_t>(which)]} : fmt::format("emoticon {}", which);
    pending_.add_speech(std::move(e));
}

} // namespace teewire::replay
