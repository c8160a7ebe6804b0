#include "events/world_state.hpp"

#include <algorithm>
#include <cmath>

namespace teewire::replay {
namespace {

std::int32_t value_at(item const& i, std::size_t at, std::int32_t otherwise = 0) {
    return at < i.data.size() ? i.data[at] : otherwise;
}

std::int32_t number_of(value_set const& values, std::string_view name) {
    auto const found = std::find(values.names.begin(), values.names.end(), name);
    return values.first + static_cast<std::int32_t>(found - values.names.begin());
}

template <class T>
void sort_by_id(std::vector<T>& all) {
    auto const less = [](T const& a, T const& b) { return a.client_id < b.client_id; };
    if (!std::is_sorted(all.begin(), all.end(), less)) std::stable_sort(all.begin(), all.end(), less);
    auto const same = [](T const& a, T const& b) { return a.client_id == b.client_id; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

template <class T>
T const* find_id(std::vector<T> const& all, std::int32_t id) {
    auto const found =
        std::lower_bound(all.begin(), all.end(), id, [](T const& t, std::int32_t i) { return t.client_id < i; });
    return found != all.end() && found->client_id == id ? &*found : nullptr;
}

} // namespace

present_player const* world_state::player(std::int32_t client_id) const noexcept {
    return find_id(players, client_id);
}
tee const* world_state::find(std::int32_t client_id) const noexcept { return find_id(tees, client_id); }

// Fields that the kind of item does not have are nowhere.
world_reader::layout world_reader::find_offsets(object const& known, std::span<std::string_view const> fields) {
    layout l;
    l.type = known.type;
    l.at.fill(SIZE_MAX);
    for (std::size_t i = 0; i < fields.size(); ++i)
        for (field const& f : known.fields)
            if (f.name == fields[i]) l.at[i] = f.offset;
    return l;
}

world_reader::world_reader(protocol p) : is_07_{p == protocol::teeworlds_07} {
    constexpr std::array<std::string_view, 4> player_fields = {"client_id", "team", "latency", "local"};
    constexpr std::array<std::string_view, 1> client_fields = {"local"};
    constexpr std::array<std::string_view, 1> spectator_fields = {"spectator_id"};
    constexpr std::array<std::string_view, 14> tee_fields = {"tick",        "x",          "y",
                                                             "vel_x",       "vel_y",      "weapon",
                                                             "attack_tick", "hook_state", "hooked_player",
                                                             "hook_x",      "hook_y",     "triggered_events",
                                                             "health",      "armor"};
    constexpr std::array<std::string_view, 4> pickup_fields = {"x", "y", "type", "subtype"};
    constexpr std::array<std::string_view, 1> freeze_fields = {"freeze_end"};
    player_info_ = find_offsets(*find_object(p, "player_info"), player_fields);
    client_info_ = find_offsets(*find_object(p, "client_info"), client_fields);
    spectator_ = find_offsets(*find_object(p, "spectator_info"), spectator_fields);
    character_ = find_offsets(*find_object(p, "character"), tee_fields);
    for (field const& f : find_object(p, "character")->fields) {
        if (f.name != "triggered_events") continue;
        hit_ground_flag_ = 1 << number_of(*f.values, "hook_attach_ground");
        hit_player_flag_ = 1 << number_of(*f.values, "hook_attach_player");
    }
    object const& pickup = *find_object(p, "pickup");
    pickup_ = find_offsets(pickup, pickup_fields);
    laser_type_ = 0;
    for (field const& f : pickup.fields)
        if (f.name == (is_07_ ? "type" : "subtype")) laser_type_ = number_of(*f.values, "laser");
    freeze_ = find_offsets(*find_object(protocol::ddnet, "ddnet_character"), freeze_fields);

    struct entry {
        std::string_view name;
        event_item::kind what;
        std::string_view value;
    };
    using enum event_item::kind;
    constexpr entry entries[] = {
        {"event_spawn", spawn, ""},
        {"event_hammer_hit", hammer_hit, ""},
        {"event_death", death, "client_id"},
        {"event_sound_world", sound, "sound_id"},
        {"event_damage", damage, "client_id"},
        {"event_damage_ind", damage, ""},
    };
    for (entry const& e : entries) {
        object const* const known = find_object(p, e.name);
        if (known == nullptr || known->is_extended()) continue;
        std::array<std::string_view, 3> const fields = {"x", "y", e.value};
        roles_[known->type] = static_cast<role>(static_cast<std::size_t>(role::first_event) + event_types_.size());
        event_types_.push_back({find_offsets(*known, fields), e.what});
    }
    roles_[type_ex] = role::extension;
    roles_[character_.type] = role::tee;
    roles_[player_info_.type] = role::player;
    roles_[client_info_.type] = role::client;
    roles_[pickup_.type] = role::pickup;
    roles_[spectator_.type] = role::spectator;
}

void world_reader::read(std::int32_t tick, snapshot_view snapshot, world_state& out) {
    out.tick = tick;
    out.players.clear();
    out.tees.clear();
    out.events.clear();
    out.lasers.clear();
    now_.clear();
    client_infos_.clear();
    extended_.clear();
    local_ = followed_ = -1;
    hides_health_ = false;
    std::int32_t watched = -1;
    std::int32_t last_local = -1;
    auto const is_local = [&](std::int32_t client_id) {
        if (local_ < 0) local_ = client_id;
        last_local = client_id;
    };
    for (item const i : snapshot) {
        if (i.type() >= roles_.size()) {
            extended_.push_back(i);
            continue;
        }
        switch (role const r = roles_[i.type()]) {
        case role::none: break;
        case role::tee: add_tee(i, out); break;
        case role::player: {
            present_player p;
            p.client_id = value_at(i, player_info_.at[0], i.id());
            if (player_info_.at[1] != SIZE_MAX) p.team = value_at(i, player_info_.at[1]);
            p.latency = value_at(i, player_info_.at[2]);
            if (value_at(i, player_info_.at[3]) != 0) is_local(p.client_id);
            out.players.push_back(p);
            break;
        }
        case role::client:
            if (value_at(i, client_info_.at[0]) != 0) is_local(i.id());
            client_infos_.push_back(i);
            break;
        case role::pickup:
            if (value_at(i, pickup_.at[is_07_ ? 2 : 3], -1) == laser_type_)
                out.lasers.push_back({value_at(i, pickup_.at[0]), value_at(i, pickup_.at[1])});
            break;
        case role::spectator:
            if (watched < 0) watched = value_at(i, spectator_.at[0], -1);
            break;
        case role::extension: extended_.push_back(i); break;
        case role::first_event:
        default: add_event(i, static_cast<std::size_t>(r) - static_cast<std::size_t>(role::first_event), out);
        }
    }
    followed_ = watched >= 0 ? watched : last_local;
    sort_by_id(out.players);
    sort_by_id(out.tees);
    std::sort(now_.begin(), now_.end());
    std::swap(now_, before_);
    read_freezes(out);
}

void world_reader::add_tee(item const& i, world_state& out) {
    auto const& at = character_.at;
    tee& t = out.tees.emplace_back();
    t.client_id = i.id();
    std::int32_t const predicted_from = value_at(i, at[0]);
    t.position_tick = predicted_from > 0 ? std::min(predicted_from, out.tick) : out.tick;
    t.at = {value_at(i, at[1]), value_at(i, at[2])};
    t.speed_x = value_at(i, at[3]);
    t.speed_y = value_at(i, at[4]);
    t.weapon = value_at(i, at[5], -1);
    t.attack_tick = value_at(i, at[6]);
    t.hook_state = value_at(i, at[7]);
    t.hooked_player = value_at(i, at[8], -1);
    t.hook = {value_at(i, at[9]), value_at(i, at[10])};
    t.hook_hit_ground = (value_at(i, at[11]) & hit_ground_flag_) != 0;
    t.hook_hit_player = (value_at(i, at[11]) & hit_player_flag_) != 0;
    t.health = value_at(i, at[12]);
    t.armor = value_at(i, at[13]);
    hides_health_ = hides_health_ || value_at(i, at[12], 1) == 0;
}

// An event is in only one snapshot: if it is there again, it is the same one.
void world_reader::add_event(item const& i, std::size_t which, world_state& out) {
    event_key key{i.type(), i.id()};
    std::copy_n(i.data.begin(), std::min(i.data.size(), key.size() - 2), key.begin() + 2);
    now_.push_back(key);
    if (std::binary_search(before_.begin(), before_.end(), key)) return;
    event_layout const& e = event_types_[which];
    out.events.push_back(
        {e.what, {value_at(i, e.where.at[0]), value_at(i, e.where.at[1])}, value_at(i, e.where.at[2], -1)});
}

void world_reader::read_freezes(world_state& out) const {
    static object const& known = *find_object(protocol::ddnet, "ddnet_character");
    auto const named = std::find_if(extended_.begin(), extended_.end(), [](item const& i) {
        return i.type() == type_ex && i.data.size() >= 4 && uuid::from_ints(i.data.first<4>()) == known.extended;
    });
    if (named == extended_.end()) return;
    std::uint16_t const alias = named->id();
    for (item const& i : extended_)
        if (i.type() == alias)
            if (auto const* const found = out.find(i.id()))
                out.tees[static_cast<std::size_t>(found - out.tees.data())].frozen =
                    value_at(i, freeze_.at[0]) != 0;
}

position expected_position(tee const& t, std::int32_t tick) noexcept {
    auto const moved = [&](std::int32_t from, std::int32_t speed) {
        std::int64_t const to = from + std::int64_t{speed} * (std::int64_t{tick} - t.position_tick) / 256;
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(to, INT32_MIN, INT32_MAX));
    };
    return {moved(t.at.x, t.speed_x), moved(t.at.y, t.speed_y)};
}

double squared_distance(position a, position b) noexcept {
    double const x = static_cast<double>(a.x) - b.x;
    double const y = static_cast<double>(a.y) - b.y;
    return x * x + y * y;
}
double distance(position a, position b) noexcept { return std::sqrt(squared_distance(a, b)); }

} // namespace teewire::replay
