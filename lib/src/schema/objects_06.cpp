// Teeworlds 0.6 and DDNet: types 1 to 20. DDNet only adds names to some sets, and no item of 0.6 uses those values.
#include "objects.hpp"

namespace teewire::schema {
namespace {

using enum field_kind;

// As many names and fields in a line as fit: one in each would make hundreds of lines of every table.
// clang-format off

constexpr std::string_view playerflag_names[] = {
    "playing", "in_menu", "chatting", "scoreboard", "aim", "spec_cam", "input_absolute", "input_manual",
};
constexpr value_set playerflag{"playerflag", 0, playerflag_names};

constexpr std::string_view gameflag_names[] = {
    "teams", "flags",
};
constexpr value_set gameflag{"gameflag", 0, gameflag_names};

constexpr std::string_view gamestateflag_names[] = {
    "gameover", "suddendeath", "paused", "racetime",
};
constexpr value_set gamestateflag{"gamestateflag", 0, gamestateflag_names};

constexpr field player_input_fields[] = {
    {"direction", integer, 0}, {"target_x", integer, 1}, {"target_y", integer, 2}, {"jump", integer, 3},
    {"fire", integer, 4}, {"hook", integer, 5}, {"player_flags", flags, 6, 1, 1, &playerflag},
    {"wanted_weapon", integer, 7}, {"next_weapon", integer, 8}, {"prev_weapon", integer, 9},
};
constexpr field projectile_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"vel_x", integer, 2}, {"vel_y", integer, 3},
    {"type", enumeration, 4, 1, 1, &weapon}, {"start_tick", tick, 5},
};
constexpr field laser_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"from_x", integer, 2}, {"from_y", integer, 3}, {"start_tick", tick, 4},
};
constexpr field pickup_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"type", enumeration, 2, 1, 1, &powerup},
    {"subtype", enumeration, 3, 1, 1, &weapon},
};
constexpr field flag_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"team", enumeration, 2, 1, 1, &team},
};
constexpr field game_info_fields[] = {
    {"game_flags", flags, 0, 1, 1, &gameflag}, {"game_state_flags", flags, 1, 1, 1, &gamestateflag},
    {"round_start_tick", tick, 2}, {"warmup_timer", integer, 3}, {"score_limit", integer, 4},
    {"time_limit", integer, 5}, {"round_num", integer, 6}, {"round_current", integer, 7},
};
constexpr field game_data_fields[] = {
    {"teamscore_red", integer, 0}, {"teamscore_blue", integer, 1}, {"flag_carrier_red", integer, 2},
    {"flag_carrier_blue", integer, 3},
};
constexpr field character_core_fields[] = {
    {"tick", integer, 0}, {"x", integer, 1}, {"y", integer, 2}, {"vel_x", integer, 3}, {"vel_y", integer, 4},
    {"angle", integer, 5}, {"direction", integer, 6}, {"jumped", integer, 7}, {"hooked_player", integer, 8},
    {"hook_state", integer, 9}, {"hook_tick", tick, 10}, {"hook_x", integer, 11}, {"hook_y", integer, 12},
    {"hook_dx", integer, 13}, {"hook_dy", integer, 14},
};
constexpr field character_fields[] = {
    {"tick", integer, 0}, {"x", integer, 1}, {"y", integer, 2}, {"vel_x", integer, 3}, {"vel_y", integer, 4},
    {"angle", integer, 5}, {"direction", integer, 6}, {"jumped", integer, 7}, {"hooked_player", integer, 8},
    {"hook_state", integer, 9}, {"hook_tick", tick, 10}, {"hook_x", integer, 11}, {"hook_y", integer, 12},
    {"hook_dx", integer, 13}, {"hook_dy", integer, 14}, {"player_flags", flags, 15, 1, 1, &playerflag},
    {"health", integer, 16}, {"armor", integer, 17}, {"ammo_count", integer, 18},
    {"weapon", enumeration, 19, 1, 1, &weapon}, {"emote", enumeration, 20, 1, 1, &emote},
    {"attack_tick", integer, 21},
};
constexpr field player_info_fields[] = {
    {"local", integer, 0}, {"client_id", integer, 1}, {"team", enumeration, 2, 1, 1, &team}, {"score", integer, 3},
    {"latency", integer, 4},
};
constexpr field client_info_fields[] = {
    {"name", text, 0, 4, 1, nullptr, field_content::player}, {"clan", text, 4, 3, 1, nullptr, field_content::clan},
    {"country", integer, 7}, {"skin", text, 8, 6, 1, nullptr, field_content::skin},
    {"use_custom_color", integer, 14}, {"color_body", integer, 15}, {"color_feet", integer, 16},
};
constexpr field spectator_info_fields[] = {
    {"spectator_id", integer, 0}, {"x", integer, 1}, {"y", integer, 2},
};
constexpr field event_common_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field event_explosion_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field event_spawn_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field event_hammer_hit_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field event_death_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"client_id", integer, 2},
};
constexpr field event_sound_global_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"sound_id", enumeration, 2, 1, 1, &sound},
};
constexpr field event_sound_world_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"sound_id", enumeration, 2, 1, 1, &sound},
};
constexpr field event_damage_ind_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"angle", integer, 2},
};

constexpr object objects[] = {
    {"player_input", 1, {}, 10, 10, player_input_fields},
    {"projectile", 2, {}, 6, 6, projectile_fields},
    {"laser", 3, {}, 5, 5, laser_fields},
    {"pickup", 4, {}, 4, 4, pickup_fields},
    {"flag", 5, {}, 3, 3, flag_fields},
    {"game_info", 6, {}, 8, 8, game_info_fields},
    {"game_data", 7, {}, 4, 4, game_data_fields},
    {"character_core", 8, {}, 15, 15, character_core_fields},
    {"character", 9, {}, 22, 22, character_fields},
    {"player_info", 10, {}, 5, 5, player_info_fields},
    {"client_info", 11, {}, 17, 17, client_info_fields},
    {"spectator_info", 12, {}, 3, 3, spectator_info_fields},
    {"event_common", 13, {}, 2, 2, event_common_fields},
    {"event_explosion", 14, {}, 2, 2, event_explosion_fields},
    {"event_spawn", 15, {}, 2, 2, event_spawn_fields},
    {"event_hammer_hit", 16, {}, 2, 2, event_hammer_hit_fields},
    {"event_death", 17, {}, 3, 3, event_death_fields},
    {"event_sound_global", 18, {}, 3, 3, event_sound_global_fields},
    {"event_sound_world", 19, {}, 3, 3, event_sound_world_fields},
    {"event_damage_ind", 20, {}, 3, 3, event_damage_ind_fields},
};
// clang-format on
static_assert(texts_have_content(objects));

} // namespace

std::span<object const> objects_06() noexcept { return objects; }

} // namespace teewire::schema
