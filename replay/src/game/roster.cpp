#include "game/roster.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

// Offsets in a client's item.
constexpr std::size_t at_local = 0, at_team = 1, at_name = 2, at_clan = 6, at_country = 9, at_parts = 10,
                      at_custom = 46, at_colors = 52;
constexpr std::size_t name_ints = 4, clan_ints = 3, part_ints = 6, parts = 6;

void put_skin(messages::skin const& skin, client_item& item) {
    std::span<std::int32_t> const ints{item};
    for (std::size_t i = 0; i < parts; ++i) {
        encode_text(skin.parts[i], ints.subspan(at_parts + i * part_ints, part_ints));
        ints[at_custom + i] = skin.use_custom_colors[i];
        ints[at_colors + i] = skin.colors[i];
    }
}

template <class T>
void add(std::vector<std::vector<std::uint8_t>>& out, T const& message) {
    std::array<std::uint8_t, 1024> memory;
    if (auto const bytes = encode(message, protocol::teeworlds_07, memory))
        out.emplace_back(bytes->begin(), bytes->end());
}

bool same_ints(client_item const& a, client_item const& b, std::size_t begin, std::size_t end) {
    return std::equal(a.begin() + static_cast<std::ptrdiff_t>(begin), a.begin() + static_cast<std::ptrdiff_t>(end),
                      b.begin() + static_cast<std::ptrdiff_t>(begin));
}

template <std::size_t size>
void copy(item const& i, std::optional<std::array<std::int32_t, size>>& to) {
    if (i.data.size() == size) std::copy(i.data.begin(), i.data.end(), to.emplace().begin());
}

} // namespace

tune_item const standard_tuning_07 = {
    1000, 200,    50,  1320, 1200,   500, 150, 95,  38000,  8000, 300,   1500,  50,  55000, 200000, 140,
    125,  220000, 200, 125,  275000, 80,  20,  700, 100000, 200,  80000, 15000, 100, 0,     100,    100,
};

bool roster::receive(message const& m) {
    constexpr protocol p = protocol::teeworlds_07;
    switch (identify(m, p)) {
    case message_type::client_info: {
        auto const info = decode<messages::client_info>(m, p);
        auto* const entry = info ? client(info->client_id) : nullptr;
        if (entry == nullptr) return true;
        client_item item{};
        std::span<std::int32_t> const ints{item};
        item[at_local] = info->local;
        item[at_team] = info->team;
        encode_text(info->name, ints.subspan(at_name, name_ints));
        encode_text(info->clan, ints.subspan(at_clan, clan_ints));
        item[at_country] = info->country;
        put_skin(info->skin, item);
        *entry = item;
        return true;
    }
    case message_type::client_drop:
        if (auto const drop = decode<messages::client_drop>(m, p))
            if (auto* const entry = client(drop->client_id)) entry->reset();
        return true;
    case message_type::skin_change:
        if (auto const change = decode<messages::skin_change>(m, p))
            if (auto* const entry = client(change->client_id); entry != nullptr && *entry)
                put_skin(change->skin, **entry);
        return true;
    case message_type::team:
        if (auto const team = decode<messages::team>(m, p))
            if (auto* const entry = client(team->client_id); entry != nullptr && *entry)
                (**entry)[at_team] = team->team;
        return true;
    case message_type::game_info:
        if (auto const info = decode<messages::game_info>(m, p))
            game = {info->flags, info->score_limit, info->time_limit, info->match_number, info->match_current};
        return true;
    case message_type::tune_params:
        if (auto const tune = decode<messages::tune_params>(m, p)) {
            tuning = standard_tuning_07;
            std::copy_n(tune->values.begin(), std::min<std::size_t>(tune->count, tuning->size()), tuning->begin());
        }
        return true;
    default: return false;
    }
}

bool roster::read(snapshot_view snapshot) {
    roster found;
    bool any = false;
    for (item const i : snapshot) {
        if (i.type() == type_client_info_07 && i.id() < max_clients_07) copy(i, found.clients[i.id()]);
        else if (i.type() == type_game_info_07) copy(i, found.game);
        else if (i.type() == type_tune_params_07) copy(i, found.tuning);
        else continue;
        any = true;
    }
    if (any) *this = found;
    return any;
}

void describe_client(std::int32_t client_id, client_item const& item, client_message& out) {
    std::span<std::int32_t const> const ints{item};
    messages::client_info& m = out.message;
    m = {};
    m.client_id = client_id;
    m.local = item[at_local] != 0;
    m.team = item[at_team];
    m.name = decode_text(ints.subspan(at_name, name_ints), out.texts[6]);
    m.clan = decode_text(ints.subspan(at_clan, clan_ints), out.texts[7]);
    m.country = item[at_country];
    for (std::size_t i = 0; i < parts; ++i) {
        m.skin.parts[i] = decode_text(ints.subspan(at_parts + i * part_ints, part_ints), out.texts[i]);
        m.skin.use_custom_colors[i] = item[at_custom + i] != 0;
        m.skin.colors[i] = item[at_colors + i];
    }
}

std::vector<std::vector<std::uint8_t>> roster_changes(roster const& from, roster const& to, bool silent) {
    std::vector<std::vector<std::uint8_t>> out;
    if (to.game && to.game != from.game) {
        auto const& g = *to.game;
        add(out, messages::game_info{g[0], g[1], g[2], g[3], g[4]});
    }
    auto const& tuning = to.tuning.value_or(standard_tuning_07);
    if (tuning != from.tuning.value_or(standard_tuning_07)) {
        messages::tune_params tune;
        tune.count = static_cast<std::uint32_t>(tuning.size());
        std::copy(tuning.begin(), tuning.end(), tune.values.begin());
        add(out, tune);
    }
    for (std::size_t i = 0; i < max_clients_07; ++i) {
        auto const& before = from.clients[i];
        auto const& now = to.clients[i];
        if (before == now) continue;
        auto const id = static_cast<std::int32_t>(i);
        // A client keeps the first name it heard for an id until that is dropped.
        bool const stays = before && now && same_ints(*before, *now, at_name, at_parts);
        if (before && !stays) add(out, messages::client_drop{id, "", silent || now.has_value()});
        if (!now) continue;
        client_message described;
        describe_client(id, *now, described);
        messages::client_info& info = described.message;
        info.local = false;
        info.silent = silent || before.has_value();
        if (!stays) {
            add(out, info);
            continue;
        }
        if (!same_ints(*before, *now, at_parts, now->size())) add(out, messages::skin_change{id, info.skin});
        if ((*before)[at_team] != (*now)[at_team]) add(out, messages::team{id, info.team, silent, 0});
    }
    return out;
}

} // namespace teewire::replay
