#include "teewire/scene/world.hpp"

#include "teewire/scene/reckoning.hpp"

#include <algorithm>
#include <cmath>

namespace teewire::scene {
namespace {

constexpr std::uint8_t nowhere = 0xff;

std::int32_t value_at(item const& i, std::uint8_t at, std::int32_t otherwise = 0) noexcept {
    return at < i.data.size() ? i.data[at] : otherwise;
}
float number_at(item const& i, std::uint8_t at) noexcept { return static_cast<float>(value_at(i, at)); }
std::span<std::int32_t const> ints_at(item const& i, std::uint8_t at, std::size_t count) noexcept {
    return at < i.data.size() ? i.data.subspan(at, std::min<std::size_t>(count, i.data.size() - at))
                              : std::span<std::int32_t const>{};
}

template <class List>
auto find_id(List& all, std::int32_t id) noexcept -> decltype(all.begin()) {
    auto const found = std::find_if(all.begin(), all.end(), [&](auto const& one) { return one.id == id; });
    return found != all.end() ? found : nullptr;
}
// Null if it is full.
template <class List>
auto find_or_add(List& all, std::int32_t id) noexcept -> decltype(all.begin()) {
    if (auto* const known = find_id(all, id)) return known;
    auto* const made = all.add();
    if (made != nullptr) made->id = id;
    return made;
}

constexpr std::size_t skin_ints = 6;

// A shot of DDNet: a place in hundredths, and a direction.
projectile angled(float x, float y, std::int32_t angle, std::int32_t type, std::int32_t start) noexcept {
    float const a = -static_cast<float>(angle) / 1e6F;
    return {x / 100, y / 100, std::sin(a), std::cos(a), type, start};
}

} // namespace

tee const* world::find_tee(std::int32_t id) const noexcept { return find_id(tees, id); }
player const* world::find_player(std::int32_t id) const noexcept { return find_id(players, id); }

void world_reader::know(protocol p, std::string_view name, role what,
                        std::span<std::string_view const> fields) noexcept {
    object const* const known = find_object(p, name);
    if (known == nullptr) return;
    layout l;
    l.what = what;
    l.at.fill(nowhere);
    for (std::size_t i = 0; i < fields.size(); ++i)
        for (field const& f : known->fields)
            if (f.name == fields[i]) l.at[i] = f.offset;
    if (known->is_extended()) {
        if (extended_count_ == extended_.size()) return;
        uuids_[extended_count_] = known->extended;
        extended_[extended_count_++] = l;
    } else if (known->type < plain_.size()) {
        plain_[known->type] = l;
    }
}

world_reader::world_reader(protocol p) noexcept : is_07_{p == protocol::teeworlds_07} {
    using fields = std::string_view const[];
    static constexpr fields character = {
        "tick",          "x",          "y",      "vel_x",  "vel_y",      "angle",   "direction",    "jumped",
        "hooked_player", "hook_state", "hook_x", "hook_y", "hook_dx",    "hook_dy", "player_flags", "health",
        "armor",         "ammo_count", "weapon", "emote",  "attack_tick"};
    static constexpr fields extended_character = {"flags", "freeze_end"};
    static constexpr fields player_info = {"client_id", "local", "team", "player_flags"};
    static constexpr fields client_06 = {"name", "skin", "use_custom_color", "color_body", "color_feet"};
    static constexpr fields client_07 = {
        "name", "skin_part_names", "use_custom_colors", "skin_part_colors", "local", "team"};
    static constexpr fields flags_only = {"flags"}, race = {"race_start_tick"};
    static constexpr fields game_06 = {"round_start_tick", "game_state_flags", "game_flags", "warmup_timer",
                                       "time_limit"};
    static constexpr fields game_07 = {"game_start_tick", "game_state_flags"};
    static constexpr fields carriers = {"flag_carrier_red", "flag_carrier_blue", "teamscore_red", "teamscore_blue"};
    static constexpr fields viewed = {"spectator_id", "x", "y"};
    static constexpr fields teams = {"teamscore_red", "teamscore_blue"};
    static constexpr fields shot = {"x", "y", "vel_x", "vel_y", "type", "start_tick"};
    static constexpr fields angled_shot = {"x", "y", "angle", "data", "type", "start_tick"};
    static constexpr fields far_shot = {"x", "y", "vel_x", "vel_y", "type", "start_tick", "flags"};
    static constexpr fields beam = {"x", "y", "from_x", "from_y", "start_tick"};
    static constexpr fields far_beam = {"to_x", "to_y", "from_x", "from_y", "start_tick", "type"};
    static constexpr fields thing = {"x", "y", "type", "subtype"};
    static constexpr fields team_flag = {"x", "y", "team"};
    static constexpr fields place = {"x", "y"}, death = {"x", "y", "client_id"}, damage = {"x", "y", "angle"};
    static constexpr fields sound = {"x", "y", "sound_id"};
    know(p, "character", role::character, character);
    know(p, "ddnet_character", role::extended_character, extended_character);
    know(p, "player_info", role::player_info, player_info);
    if (is_07_) know(p, "client_info", role::client_info, client_07);
    else know(p, "client_info", role::client_info, client_06);
    know(p, "ddnet_player", role::extended_player, flags_only);
    if (is_07_) know(p, "game_data", role::game_info, game_07);
    else know(p, "game_info", role::game_info, game_06);
    if (is_07_) know(p, "game_data_team", role::teams, teams);
    know(p, "spectator_info", role::viewed, viewed);
    know(p, "player_info_race", role::race, race);
    know(p, is_07_ ? "game_data_race" : "game_info_ex", role::extended_game, flags_only);
    know(p, is_07_ ? "game_data_flag" : "game_data", role::carriers, carriers);
    know(p, "projectile", role::projectile, shot);
    know(p, "ddrace_projectile", role::angled_projectile, angled_shot);
    know(p, "ddnet_projectile", role::far_projectile, far_shot);
    know(p, "laser", role::laser, beam);
    know(p, "ddnet_laser", role::far_laser, far_beam);
    know(p, "pickup", role::pickup, thing);
    know(p, "ddnet_pickup", role::pickup, thing);
    know(p, "flag", role::flag, team_flag);
    know(p, "event_explosion", role::explosion, place);
    know(p, "event_spawn", role::spawn, place);
    know(p, "event_hammer_hit", role::hammer_hit, place);
    know(p, "event_death", role::death, death);
    know(p, is_07_ ? "event_damage" : "event_damage_ind", role::damage, damage);
    know(p, "event_finish", role::finish, place);
    know(p, "event_birthday", role::finish, place);
    know(p, "event_sound_world", role::sound, sound);
    if (!is_07_) know(p, "event_sound_global", role::sound_everywhere, sound);
}

void world_reader::read(std::int32_t tick, snapshot_view snapshot, ground const* on, world& out) const noexcept {
    out.tick = tick;
    out.is_07 = is_07_;
    out.teams = false;
    out.round_start = 0;
    out.race_start = -1;
    out.viewed = world::not_viewing;
    out.warmup = out.time_limit = 0;
    out.over = out.paused = out.sudden_death = out.is_race = false;
    out.scores = {};
    out.carriers = {-3, -3};
    out.tees.clear();
    out.players.clear();
    out.projectiles.clear();
    out.lasers.clear();
    out.pickups.clear();
    out.flags.clear();
    out.events.clear();
    struct alias {
        std::uint16_t type;
        layout const* what;
    };
    std::array<alias, extended_types> aliases{};
    std::size_t alias_count = 0;
    for (item const i : snapshot) {
        if (i.type() != type_ex || i.data.size() < 4 || alias_count == aliases.size()) continue;
        uuid const named = uuid::from_ints(i.data.first<4>());
        for (std::size_t n = 0; n < extended_count_; ++n)
            if (uuids_[n] == named) aliases[alias_count++] = {i.id(), &extended_[n]};
    }
    for (item const i : snapshot) {
        if (i.type() < plain_.size()) {
            add(plain_[i.type()], i, out);
            continue;
        }
        for (std::size_t n = 0; n < alias_count; ++n)
            if (aliases[n].type == i.type()) add(*aliases[n].what, i, out);
    }
    // DDNet's item of a client can come without a character, or before it.
    tee* const end = std::remove_if(out.tees.begin(), out.tees.end(), [](tee const& t) { return !t.is_there; });
    out.tees.resize(static_cast<std::size_t>(end - out.tees.begin()));
    if (on == nullptr) return;
    for (tee& t : out.tees) reckon(t, tick, *on);
}

void world_reader::add(layout const& l, item const& i, world& out) const noexcept {
    auto const value = [&](std::size_t n, std::int32_t otherwise = 0) { return value_at(i, l.at[n], otherwise); };
    auto const number = [&](std::size_t n) { return number_at(i, l.at[n]); };
    auto const happened = [&](event::kind what, std::int32_t with = 0) {
        if (event* const made = out.events.add()) *made = {what, out.tick, number(0), number(1), with};
    };
    auto const shoot = [&](projectile const& shot) {
        if (projectile* const made = out.projectiles.add()) *made = shot;
    };
    switch (l.what) {
    case role::none: break;
    case role::character:
        if (tee* const t = find_or_add(out.tees, i.id())) {
            t->is_there = true;
            t->tick = value(0);
            t->x = number(1);
            t->y = number(2);
            t->vel_x = number(3);
            t->vel_y = number(4);
            t->angle = value(5);
            t->direction = value(6);
            t->jumped = value(7);
            t->hooked_player = value(8, -1);
            t->hook_state = value(9);
            t->hook_x = number(10);
            t->hook_y = number(11);
            t->hook_dx = number(12) / 256;
            t->hook_dy = number(13) / 256;
            t->player_flags = value(14);
            t->health = value(15);
            t->armor = value(16);
            t->ammo_count = value(17);
            t->weapon = value(18);
            t->emote = value(19);
            t->attack_tick = value(20);
        }
        break;
    case role::extended_character:
        if (tee* const t = find_or_add(out.tees, i.id())) {
            t->is_extended = true;
            t->flags = value(0);
            t->freeze_end = value(1);
        }
        break;
    case role::player_info:
        if (player* const p = find_or_add(out.players, is_07_ ? i.id() : value(0))) {
            constexpr std::int32_t dead_flag = 16;
            if (is_07_) {
                p->dead = (value(3) & dead_flag) != 0;
            } else {
                p->local = value(1) != 0;
                p->team = value(2);
            }
        }
        break;
    case role::client_info: {
        player* const p = find_or_add(out.players, i.id());
        if (p == nullptr) break;
        p->known = true;
        p->name.assign(ints_at(i, l.at[0], 4));
        if (!is_07_) {
            p->skin.assign(ints_at(i, l.at[1], skin_ints));
            p->custom_color = value(2) != 0;
            p->body_color = value(3);
            p->feet_color = value(4);
            break;
        }
        for (std::uint8_t n = 0; n < skin_parts; ++n) {
            p->parts[n].assign(ints_at(i, static_cast<std::uint8_t>(l.at[1] + skin_ints * n), skin_ints));
            p->custom_colors[n] = value_at(i, static_cast<std::uint8_t>(l.at[2] + n)) != 0;
            p->part_colors[n] = value_at(i, static_cast<std::uint8_t>(l.at[3] + n));
        }
        p->local = value(4) != 0;
        p->team = value(5);
        break;
    }
    case role::extended_player:
        if (player* const p = find_or_add(out.players, i.id())) p->away = (value(0) & 1) != 0;
        break;
    case role::game_info: {
        struct bits {
            std::int32_t over, sudden_death, paused;
        };
        constexpr bits bits_06{1, 2, 4}, bits_07{8, 2, 16};
        bits const& known = is_07_ ? bits_07 : bits_06;
        std::int32_t const state = value(1);
        out.round_start = value(0);
        out.over = (state & known.over) != 0;
        out.sudden_death = (state & known.sudden_death) != 0;
        out.paused = (state & known.paused) != 0;
        if (is_07_) break;
        constexpr std::int32_t race_time_flag = 8;
        out.teams = (value(2) & 1) != 0;
        out.warmup = std::max(value(3), 0);
        out.time_limit = value(4);
        // DDNet's servers say there when a race began.
        if ((state & race_time_flag) != 0 && value(3) < 0) out.race_start = -std::max(value(3), -INT32_MAX);
        break;
    }
    case role::extended_game: out.is_race = is_07_ || (value(0) & 1) != 0; break;
    case role::viewed:
        out.viewed = std::max(value(0, -1), -1);
        out.view_x = number(1);
        out.view_y = number(2);
        break;
    case role::race:
        if (player* const p = find_or_add(out.players, i.id())) p->race_start = value(0, -1);
        break;
    case role::teams:
        out.teams = true;
        out.scores = {value(0), value(1)};
        break;
    case role::carriers:
        out.carriers = {value(0, -3), value(1, -3)};
        if (!is_07_) out.scores = {value(2), value(3)};
        break;
    case role::projectile: {
        constexpr std::int32_t ddnet_flag = 1 << 9;
        if (std::int32_t const data = value(3); data >= 0 && (data & ddnet_flag) != 0)
            shoot(angled(number(0), number(1), value(2), value(4), value(5)));
        else shoot({number(0), number(1), number(2) / 100, number(3) / 100, value(4), value(5)});
        break;
    }
    case role::angled_projectile: shoot(angled(number(0), number(1), value(2), value(4), value(5))); break;
    case role::far_projectile: {
        float dx = number(2) / 1e6F, dy = number(3) / 1e6F;
        constexpr std::int32_t normalize_flag = 16;
        if (float const length = std::hypot(dx, dy); (value(6) & normalize_flag) != 0 && length > 0) {
            dx /= length;
            dy /= length;
        }
        shoot({number(0) / 100, number(1) / 100, dx, dy, value(4), value(5)});
        break;
    }
    case role::laser:
    case role::far_laser:
        if (laser* const made = out.lasers.add())
            *made = {number(0), number(1), number(2), number(3), l.what == role::laser ? 0 : value(5), value(4)};
        break;
    case role::pickup:
        if (pickup* const made = out.pickups.add()) {
            using enum pickup::kind;
            constexpr pickup::kind kinds_06[] = {health, armor, weapon, ninja, armor, armor, armor, armor};
            struct form {
                pickup::kind what;
                std::int32_t weapon;
            };
            constexpr form kinds_07[] = {{health, 0}, {armor, 0}, {weapon, 3}, {weapon, 2},
                                         {weapon, 4}, {ninja, 5}, {weapon, 1}, {weapon, 0}};
            auto const type = static_cast<std::size_t>(std::clamp(value(2), 0, 7));
            made->x = number(0);
            made->y = number(1);
            made->what = is_07_ ? kinds_07[type].what : kinds_06[type];
            made->weapon = is_07_ ? kinds_07[type].weapon : value(3);
        }
        break;
    case role::flag:
        if (flag* const made = out.flags.add()) *made = {number(0), number(1), value(2)};
        break;
    case role::explosion: happened(event::kind::explosion); break;
    case role::spawn: happened(event::kind::spawn); break;
    case role::hammer_hit: happened(event::kind::hammer_hit); break;
    case role::death: happened(event::kind::death, value(2, -1)); break;
    case role::damage: happened(event::kind::damage, value(2)); break;
    case role::finish: happened(event::kind::finish); break;
    case role::sound: happened(event::kind::sound, value(2, -1)); break;
    case role::sound_everywhere: happened(event::kind::sound_everywhere, value(2, -1)); break;
    }
}

projectile_tuning tuning_of(std::span<std::int32_t const> ints) noexcept {
    auto const value = [&](std::size_t n, float otherwise) {
        return n < ints.size() ? static_cast<float>(ints[n]) / 100 : otherwise;
    };
    return {{{value(17, 2200), value(16, 1.25F)},
             {value(20, 2750), value(19, 1.25F)},
             {value(24, 1000), value(23, 7)}}};
}

} // namespace teewire::scene
