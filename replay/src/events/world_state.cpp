#include "events/world_state.hpp"

#include <teewire/demo_format.hpp>

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

// Those of them that the field has.
std::int32_t flags_of(object const& known, std::string_view field_name,
                      std::initializer_list<std::string_view> names) {
    std::int32_t flags = 0;
    for (field const& f : known.fields)
        if (f.name == field_name)
            for (std::string_view const name : names)
                if (std::find(f.values->names.begin(), f.values->names.end(), name) != f.values->names.end())
                    flags |= 1 << number_of(*f.values, name);
    return flags;
}

template <class T>
void sort_by_id(std::vector<T>& all) {
    auto const less = [](T const& a, T const& b) { return a.client_id < b.client_id; };
    if (!std::is_sorted(all.begin(), all.end(), less)) std::stable_sort(all.begin(), all.end(), less);
    auto const same = [](T const& a, T const& b) { return a.client_id == b.client_id; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

// Null if there is none.
auto find_id(auto& all, std::int32_t id) {
    auto const found =
        std::lower_bound(all.begin(), all.end(), id, [](auto const& t, std::int32_t i) { return t.client_id < i; });
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
    constexpr std::array<std::string_view, 6> player_fields = {"client_id", "team",  "latency",
                                                               "local",     "score", "player_flags"};
    constexpr std::array<std::string_view, 1> client_fields = {"local"};
    constexpr std::array<std::string_view, 1> spectator_fields = {"spectator_id"};
    constexpr std::array<std::string_view, 15> tee_fields = {"tick",        "x",          "y",
                                                             "vel_x",       "vel_y",      "weapon",
                                                             "attack_tick", "hook_state", "hooked_player",
                                                             "hook_x",      "hook_y",     "triggered_events",
                                                             "health",      "armor",      "direction"};
    constexpr std::array<std::string_view, 4> pickup_fields = {"x", "y", "type", "subtype"};
    constexpr std::array<std::string_view, 1> freeze_fields = {"freeze_end"};
    constexpr std::array<std::string_view, 1> flags_fields = {"flags"};
    std::array<std::string_view, 2> const round_fields = {"game_state_flags",
                                                          is_07_ ? "game_start_tick" : "round_start_tick"};
    constexpr std::array<std::string_view, 2> score_fields = {"teamscore_red", "teamscore_blue"};
    constexpr std::array<std::string_view, 2> carrier_fields = {"flag_carrier_red", "flag_carrier_blue"};
    constexpr std::array<std::string_view, 3> flag_fields = {"x", "y", "team"};
    player_info_ = find_offsets(*find_object(p, "player_info"), player_fields);
    client_info_ = find_offsets(*find_object(p, "client_info"), client_fields);
    spectator_ = find_offsets(*find_object(p, "spectator_info"), spectator_fields);
    character_ = find_offsets(*find_object(p, "character"), tee_fields);
    hit_ground_flag_ = flags_of(*find_object(p, "character"), "triggered_events", {"hook_attach_ground"});
    hit_player_flag_ = flags_of(*find_object(p, "character"), "triggered_events", {"hook_attach_player"});
    ready_flag_ = flags_of(*find_object(p, "player_info"), "player_flags", {"ready"});
    object const& round = *find_object(p, is_07_ ? "game_data" : "game_info");
    round_ = find_offsets(round, round_fields);
    over_flags_ = flags_of(round, "game_state_flags", {"roundover", "gameover"});
    paused_flag_ = flags_of(round, "game_state_flags", {"paused"});
    waiting_flags_ = flags_of(round, "game_state_flags", {"warmup", "startcountdown"});
    scores_ = find_offsets(*find_object(p, is_07_ ? "game_data_team" : "game_data"), score_fields);
    carriers_ = find_offsets(*find_object(p, is_07_ ? "game_data_flag" : "game_data"), carrier_fields);
    flag_ = find_offsets(*find_object(p, "flag"), flag_fields);
    object const& pickup = *find_object(p, "pickup");
    pickup_ = find_offsets(pickup, pickup_fields);
    laser_type_ = 0;
    for (field const& f : pickup.fields)
        if (f.name == (is_07_ ? "type" : "subtype")) laser_type_ = number_of(*f.values, "laser");
    freeze_ = find_offsets(*find_object(protocol::ddnet, "ddnet_character"), freeze_fields);
    object const& extended_player = *find_object(protocol::ddnet, "ddnet_player");
    extended_player_ = find_offsets(extended_player, flags_fields);
    spec_flag_ = flags_of(extended_player, "flags", {"spec"});
    paused_flags_ = flags_of(extended_player, "flags", {"spec", "paused"});

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
    roles_[flag_.type] = role::flag;
    for (layout const* const l : {&round_, &scores_, &carriers_}) roles_[l->type] = role::round;
}

void world_reader::read(std::int32_t tick, snapshot_view snapshot, world_state& out) {
    out.tick = tick;
    out.players.clear();
    out.tees.clear();
    out.events.clear();
    out.lasers.clear();
    out.round = {};
    now_.clear();
    client_infos_.clear();
    extended_.clear();
    local_ = followed_ = -1;
    hides_health_ = false;
    watched_.reset();
    for (item const i : snapshot) {
        if (i.type() >= roles_.size()) {
            extended_.push_back(i);
            continue;
        }
        switch (role const r = roles_[i.type()]) {
        case role::none: break;
        case role::tee: add_tee(i, out); break;
        case role::player: add_player(i, out); break;
        case role::client:
            if (value_at(i, client_info_.at[0]) != 0) set_local(i.id());
            client_infos_.push_back(i);
            break;
        case role::pickup:
            if (value_at(i, pickup_.at[is_07_ ? 2 : 3], -1) == laser_type_)
                out.lasers.push_back({value_at(i, pickup_.at[0]), value_at(i, pickup_.at[1])});
            break;
        case role::spectator:
            if (watched_.value_or(-1) < 0) watched_ = std::max(-1, value_at(i, spectator_.at[0], -1));
            break;
        case role::round: read_round(i, out.round); break;
        case role::flag: read_flag(i, out.round); break;
        case role::extension: extended_.push_back(i); break;
        case role::first_event:
        default: add_event(i, static_cast<std::size_t>(r) - static_cast<std::size_t>(role::first_event), out);
        }
    }
    if (watched_.value_or(-1) >= 0) followed_ = *watched_;
    sort_by_id(out.players);
    sort_by_id(out.tees);
    std::sort(now_.begin(), now_.end());
    std::swap(now_, before_);
    read_extended(out);
}

void world_reader::set_local(std::int32_t client_id) {
    if (local_ < 0) local_ = client_id;
    followed_ = client_id;
}

void world_reader::add_player(item const& i, world_state& out) {
    auto const& at = player_info_.at;
    present_player& p = out.players.emplace_back();
    p.client_id = value_at(i, at[0], i.id());
    if (at[1] != SIZE_MAX) p.team = value_at(i, at[1]);
    p.latency = value_at(i, at[2]);
    if (value_at(i, at[3]) != 0) set_local(p.client_id);
    p.score = value_at(i, at[4]);
    p.ready = (value_at(i, at[5]) & ready_flag_) != 0;
}

// The items of 0.6 hold what several of 0.7 do.
void world_reader::read_round(item const& i, round_state& out) const {
    if (i.type() == round_.type) {
        std::int32_t const flags = value_at(i, round_.at[0]);
        out.known = true;
        out.start_tick = value_at(i, round_.at[1]);
        out.over = (flags & over_flags_) != 0;
        out.paused = (flags & paused_flag_) != 0 && !out.over;
        out.waiting = (flags & waiting_flags_) != 0;
    }
    if (i.type() == scores_.type) out.scores = {{value_at(i, scores_.at[0]), value_at(i, scores_.at[1])}};
    if (i.type() == carriers_.type)
        for (std::size_t team = 0; team < out.carriers.size(); ++team)
            out.carriers[team] = value_at(i, carriers_.at[team], round_state::flag_missing);
}

void world_reader::read_flag(item const& i, round_state& out) const {
    std::int32_t const team = value_at(i, flag_.at[2], -1);
    if (team == 0 || team == 1)
        out.flags[static_cast<std::size_t>(team)] = {value_at(i, flag_.at[0]), value_at(i, flag_.at[1])};
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
    t.direction = value_at(i, at[14]);
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

template <class F>
void world_reader::each_extended(object const& known, F const& read) const {
    auto const named = std::find_if(extended_.begin(), extended_.end(), [&](item const& i) {
        return i.type() == type_ex && i.data.size() >= 4 && uuid::from_ints(i.data.first<4>()) == known.extended;
    });
    if (named == extended_.end()) return;
    std::uint16_t const alias = named->id();
    for (item const& i : extended_)
        if (i.type() == alias) read(i);
}

void world_reader::read_extended(world_state& out) const {
    static object const& character = *find_object(protocol::ddnet, "ddnet_character");
    static object const& player = *find_object(protocol::ddnet, "ddnet_player");
    each_extended(character, [&](item const& i) {
        if (tee* const t = find_id(out.tees, i.id())) t->frozen = value_at(i, freeze_.at[0]) != 0;
    });
    each_extended(player, [&](item const& i) {
        if (present_player* const p = find_id(out.players, i.id())) {
            p->paused = (value_at(i, extended_player_.at[0]) & paused_flags_) != 0;
            p->without_tee = (value_at(i, extended_player_.at[0]) & spec_flag_) != 0;
        }
    });
}

namespace {

std::int32_t to_int(double value) noexcept {
    return static_cast<std::int32_t>(std::clamp<double>(value, INT32_MIN, INT32_MAX));
}

// The place of a tee that goes on as a client would predict it: on the ground, in the direction that it presses, by the
// tuning of all games unless a server changes it. None in the air or if it stands, perhaps at a wall.
std::optional<position> walked_position(tee const& t, std::int32_t tick) noexcept {
    constexpr std::int32_t resting = 128; // the speed downwards that gravity gives a tee on the ground
    constexpr double top_speed = 10, acceleration = 2;
    double const ticks = std::clamp<double>(static_cast<double>(tick) - t.position_tick, 0, 500);
    double const direction = t.direction > 0 ? 1 : t.direction < 0 ? -1 : 0;
    double const speed = t.speed_x / 256.0;
    if (std::abs(t.speed_y) > resting || speed == 0) return {};
    if (direction == 0) return position{to_int(t.at.x + speed), t.at.y}; // half of the speed each tick
    double const forward = direction * speed;
    double const faster = std::clamp(std::floor((top_speed - forward) / acceleration), 0.0, ticks);
    double const way = forward >= top_speed ? forward * ticks
                                            : forward * faster + acceleration * faster * (faster + 1) / 2 +
                                                  top_speed * (ticks - faster);
    return position{to_int(t.at.x + direction * way), t.at.y};
}

} // namespace

position expected_position(tee const& t, std::int32_t tick) noexcept {
    // Servers send no position for as long as clients predict it, so that after a while it is where they do.
    constexpr std::int64_t long_since = ticks_per_second / 2;
    if (std::int64_t{tick} - t.position_tick > long_since)
        if (auto const walked = walked_position(t, tick)) return *walked;
    auto const moved = [&](std::int32_t from, std::int32_t speed) {
        std::int64_t const to = from + std::int64_t{speed} * (std::int64_t{tick} - t.position_tick) / 256;
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(to, INT32_MIN, INT32_MAX));
    };
    return {moved(t.at.x, t.speed_x), moved(t.at.y, t.speed_y)};
}

double squared_distance_to(tee const& t, position at, std::int32_t tick) noexcept {
    position const moved = expected_position(t, tick);
    position fallen = moved;
    // The tuning of all games unless a server changes it: half a unit per tick and tick.
    double const ticks = std::clamp<double>(static_cast<double>(tick) - t.position_tick, 0, 500);
    fallen.y = static_cast<std::int32_t>(std::min(fallen.y + ticks * ticks / 4, static_cast<double>(INT32_MAX)));
    return std::min({squared_distance(at, t.at), squared_distance(at, moved), squared_distance(at, fallen)});
}

double squared_distance(position a, position b) noexcept {
    double const x = static_cast<double>(a.x) - b.x;
    double const y = static_cast<double>(a.y) - b.y;
    return x * x + y * y;
}
double distance(position a, position b) noexcept { return std::sqrt(squared_distance(a, b)); }

} // namespace teewire::replay
