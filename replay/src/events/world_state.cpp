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
world_reader::layout world_reader::find_places(object const& known, std::span<std::string_view const> fields) {
    layout l;
    l.type = known.type;
    l.at.fill(SIZE_MAX);
    for (std::size_t i = 0; i < fields.size(); ++i)
        for (field const& f : known.fields)
            if (f.name == fields[i]) l.at[i] = f.offset;
    return l;
}

world_reader::world_reader(protocol p) : is_07_{p == protocol::teeworlds_07} {
    constexpr std::array<std::string_view, 3> player_fields = {"client_id", "team", "latency"};
    constexpr std::array<std::string_view, 14> tee_fields = {"tick",        "x",          "y",
                                                             "vel_x",       "vel_y",      "weapon",
                                                             "attack_tick", "hook_state", "hooked_player",
                                                             "hook_x",      "hook_y",     "triggered_events",
                                                             "health",      "armor"};
    constexpr std::array<std::string_view, 4> pickup_fields = {"x", "y", "type", "subtype"};
    constexpr std::array<std::string_view, 1> freeze_fields = {"freeze_end"};
    player_info_ = find_places(*find_object(p, "player_info"), player_fields);
    character_ = find_places(*find_object(p, "character"), tee_fields);
    for (field const& f : find_object(p, "character")->fields) {
        if (f.name != "triggered_events") continue;
        hit_ground_flag_ = 1 << number_of(*f.values, "hook_attach_ground");
        hit_player_flag_ = 1 << number_of(*f.values, "hook_attach_player");
    }
    object const& pickup = *find_object(p, "pickup");
    pickup_ = find_places(pickup, pickup_fields);
    laser_type_ = 0;
    for (field const& f : pickup.fields)
        if (f.name == (is_07_ ? "type" : "subtype")) laser_type_ = number_of(*f.values, "laser");
    freeze_ = find_places(*find_object(protocol::ddnet, "ddnet_character"), freeze_fields);

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
        event_types_.push_back({find_places(*known, fields), e.what});
    }
}

void world_reader::read(std::int32_t tick, snapshot_view snapshot, world_state& out) {
    out.tick = tick;
    out.players.clear();
    out.tees.clear();
    out.events.clear();
    out.lasers.clear();
    now_.clear();
    for (std::size_t n = 0; n < snapshot.size(); ++n) {
        std::uint16_t const type = key_type(snapshot.key(n));
        if (type == character_.type) {
            add_tee(snapshot[n], out);
        } else if (type == player_info_.type) {
            item const i = snapshot[n];
            present_player p;
            p.client_id = value_at(i, player_info_.at[0], i.id());
            if (player_info_.at[1] != SIZE_MAX) p.team = value_at(i, player_info_.at[1]);
            p.latency = value_at(i, player_info_.at[2]);
            out.players.push_back(p);
        } else if (type == pickup_.type) {
            item const i = snapshot[n];
            if (value_at(i, pickup_.at[is_07_ ? 2 : 3], -1) == laser_type_)
                out.lasers.push_back({value_at(i, pickup_.at[0]), value_at(i, pickup_.at[1])});
        } else {
            for (event_layout const& e : event_types_)
                if (type == e.where.type) add_event(snapshot[n], e.what, out);
        }
    }
    sort_by_id(out.players);
    sort_by_id(out.tees);
    std::sort(now_.begin(), now_.end());
    std::swap(now_, before_);
    read_freezes(snapshot, out);
}

void world_reader::add_tee(item const& i, world_state& out) const {
    auto const& at = character_.at;
    tee t;
    t.client_id = i.id();
    std::int32_t const predicted_from = value_at(i, at[0]);
    t.place_tick = predicted_from > 0 ? std::min(predicted_from, out.tick) : out.tick;
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
    out.tees.push_back(t);
}

// An event is in one snapshot alone: what is there again is the same one.
void world_reader::add_event(item const& i, event_item::kind what, world_state& out) {
    event_key key{i.type(), i.id()};
    std::copy_n(i.data.begin(), std::min(i.data.size(), key.size() - 2), key.begin() + 2);
    now_.push_back(key);
    if (std::binary_search(before_.begin(), before_.end(), key)) return;
    for (event_layout const& e : event_types_)
        if (e.where.type == i.type())
            out.events.push_back(
                {what, {value_at(i, e.where.at[0]), value_at(i, e.where.at[1])}, value_at(i, e.where.at[2], -1)});
}

void world_reader::read_freezes(snapshot_view snapshot, world_state& out) const {
    static object const& known = *find_object(protocol::ddnet, "ddnet_character");
    std::optional<std::uint16_t> alias;
    for (std::size_t n = 0; n < snapshot.size() && !alias; ++n) {
        if (key_type(snapshot.key(n)) != type_ex) continue;
        item const i = snapshot[n];
        if (i.data.size() >= 4 && uuid::from_ints(i.data.first<4>()) == known.extended) alias = i.id();
    }
    if (!alias) return;
    for (std::size_t n = 0; n < snapshot.size(); ++n) {
        if (key_type(snapshot.key(n)) != *alias) continue;
        item const i = snapshot[n];
        if (auto const* const found = out.find(i.id()))
            out.tees[static_cast<std::size_t>(found - out.tees.data())].frozen = value_at(i, freeze_.at[0]) != 0;
    }
}

place expected_place(tee const& t, std::int32_t tick) noexcept {
    auto const moved = [&](std::int32_t from, std::int32_t speed) {
        std::int64_t const to = from + std::int64_t{speed} * (std::int64_t{tick} - t.place_tick) / 256;
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(to, INT32_MIN, INT32_MAX));
    };
    return {moved(t.at.x, t.speed_x), moved(t.at.y, t.speed_y)};
}

double distance(place a, place b) noexcept {
    return std::hypot(static_cast<double>(a.x) - b.x, static_cast<double>(a.y) - b.y);
}

} // namespace teewire::replay
