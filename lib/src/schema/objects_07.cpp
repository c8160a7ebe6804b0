// Teeworlds 0.7: types 1 to 24. Types 13 to 15 occur only in demos.
#include "objects.hpp"

namespace teewire::schema {
namespace {

using enum field_kind;

// As many names and fields in a line as fit: one in each would make hundreds of lines of every table.
// clang-format off

constexpr std::string_view pickup_names[] = {
    "health", "armor", "grenade", "shotgun", "laser", "ninja", "gun", "hammer",
};
constexpr value_set pickup{"pickup", 0, pickup_names};

constexpr std::string_view specmode_names[] = {
    "free_view", "player", "red_flag", "blue_flag",
};
constexpr value_set specmode{"specmode", 0, specmode_names};

constexpr std::string_view playerflag_names[] = {
    "admin", "chatting", "scoreboard", "ready", "dead", "watching", "bot", "aim",
};
constexpr value_set playerflag{"playerflag", 0, playerflag_names};

constexpr std::string_view gameflag_names[] = {
    "teams", "flags", "survival", "race",
};
constexpr value_set gameflag{"gameflag", 0, gameflag_names};

constexpr std::string_view gamestateflag_names[] = {
    "warmup", "suddendeath", "roundover", "gameover", "paused", "startcountdown",
};
constexpr value_set gamestateflag{"gamestateflag", 0, gamestateflag_names};

constexpr std::string_view coreeventflag_names[] = {
    "ground_jump", "air_jump", "hook_attach_player", "hook_attach_ground", "hook_hit_nohook",
};
constexpr value_set coreeventflag{"coreeventflag", 0, coreeventflag_names};

constexpr std::string_view raceflag_names[] = {
    "hide_killmsg", "finishmsg_as_chat", "keep_wanted_weapon",
};
constexpr value_set raceflag{"raceflag", 0, raceflag_names};

constexpr field player_input_fields[] = {
    {"direction", integer, 0}, {"target_x", integer, 1}, {"target_y", integer, 2}, {"jump", boolean, 3},
    {"fire", integer, 4}, {"hook", boolean, 5}, {"player_flags", flags, 6, 1, 1, &playerflag},
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
    {"x", integer, 0}, {"y", integer, 1}, {"type", enumeration, 2, 1, 1, &pickup},
};
constexpr field flag_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"team", enumeration, 2, 1, 1, &team},
};
constexpr field game_data_fields[] = {
    {"game_start_tick", tick, 0}, {"game_state_flags", flags, 1, 1, 1, &gamestateflag},
    {"game_state_end_tick", tick, 2},
};
constexpr field game_data_team_fields[] = {
    {"teamscore_red", integer, 0}, {"teamscore_blue", integer, 1},
};
constexpr field game_data_flag_fields[] = {
    {"flag_carrier_red", integer, 0}, {"flag_carrier_blue", integer, 1}, {"flag_drop_tick_red", tick, 2},
    {"flag_drop_tick_blue", tick, 3},
};
constexpr field character_core_fields[] = {
    {"tick", tick, 0}, {"x", integer, 1}, {"y", integer, 2}, {"vel_x", integer, 3}, {"vel_y", integer, 4},
    {"angle", integer, 5}, {"direction", integer, 6}, {"jumped", integer, 7}, {"hooked_player", integer, 8},
    {"hook_state", integer, 9}, {"hook_tick", tick, 10}, {"hook_x", integer, 11}, {"hook_y", integer, 12},
    {"hook_dx", integer, 13}, {"hook_dy", integer, 14},
};
constexpr field character_fields[] = {
    {"tick", tick, 0}, {"x", integer, 1}, {"y", integer, 2}, {"vel_x", integer, 3}, {"vel_y", integer, 4},
    {"angle", integer, 5}, {"direction", integer, 6}, {"jumped", integer, 7}, {"hooked_player", integer, 8},
    {"hook_state", integer, 9}, {"hook_tick", tick, 10}, {"hook_x", integer, 11}, {"hook_y", integer, 12},
    {"hook_dx", integer, 13}, {"hook_dy", integer, 14}, {"health", integer, 15}, {"armor", integer, 16},
    {"ammo_count", integer, 17}, {"weapon", enumeration, 18, 1, 1, &weapon},
    {"emote", enumeration, 19, 1, 1, &emote}, {"attack_tick", tick, 20},
    {"triggered_events", flags, 21, 1, 1, &coreeventflag},
};
constexpr field player_info_fields[] = {
    {"player_flags", flags, 0, 1, 1, &playerflag}, {"score", integer, 1}, {"latency", integer, 2},
};
constexpr field spectator_info_fields[] = {
    {"spec_mode", enumeration, 0, 1, 1, &specmode}, {"spectator_id", integer, 1}, {"x", integer, 2},
    {"y", integer, 3},
};
constexpr field client_info_fields[] = {
    {"local", boolean, 0}, {"team", enumeration, 1, 1, 1, &team},
    {"name", text, 2, 4, 1, nullptr, field_content::player}, {"clan", text, 6, 3, 1, nullptr, field_content::clan},
    {"country", integer, 9}, {"skin_part_names", text, 10, 6, 6, nullptr, field_content::skin},
    {"use_custom_colors", boolean, 46, 1, 6}, {"skin_part_colors", integer, 52, 1, 6},
};
constexpr field game_info_fields[] = {
    {"game_flags", flags, 0, 1, 1, &gameflag}, {"score_limit", integer, 1}, {"time_limit", integer, 2},
    {"match_num", integer, 3}, {"match_current", integer, 4},
};
constexpr field tune_params_fields[] = {
    {"tune_params", integer, 0, 1, 32},
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
constexpr field event_sound_world_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"sound_id", enumeration, 2, 1, 1, &sound},
};
constexpr field event_damage_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"client_id", integer, 2}, {"angle", integer, 3},
    {"health_amount", integer, 4}, {"armor_amount", integer, 5}, {"self", boolean, 6},
};
constexpr field player_info_race_fields[] = {
    {"race_start_tick", tick, 0},
};
constexpr field game_data_race_fields[] = {
    {"best_time", integer, 0}, {"precision", integer, 1}, {"race_flags", flags, 2, 1, 1, &raceflag},
};

constexpr object objects[] = {
    {"player_input", 1, {}, 10, 10, player_input_fields},
    {"projectile", 2, {}, 6, 6, projectile_fields},
    {"laser", 3, {}, 5, 5, laser_fields},
    {"pickup", 4, {}, 3, 3, pickup_fields},
    {"flag", 5, {}, 3, 3, flag_fields},
    {"game_data", 6, {}, 3, 3, game_data_fields},
    {"game_data_team", 7, {}, 2, 2, game_data_team_fields},
    {"game_data_flag", 8, {}, 4, 4, game_data_flag_fields},
    {"character_core", 9, {}, 15, 15, character_core_fields},
    {"character", 10, {}, 22, 22, character_fields},
    {"player_info", 11, {}, 3, 3, player_info_fields},
    {"spectator_info", 12, {}, 4, 4, spectator_info_fields},
    {"client_info", 13, {}, 58, 58, client_info_fields},
    {"game_info", 14, {}, 5, 5, game_info_fields},
    {"tune_params", 15, {}, 32, 32, tune_params_fields},
    {"event_common", 16, {}, 2, 2, event_common_fields},
    {"event_explosion", 17, {}, 2, 2, event_explosion_fields},
    {"event_spawn", 18, {}, 2, 2, event_spawn_fields},
    {"event_hammer_hit", 19, {}, 2, 2, event_hammer_hit_fields},
    {"event_death", 20, {}, 3, 3, event_death_fields},
    {"event_sound_world", 21, {}, 3, 3, event_sound_world_fields},
    {"event_damage", 22, {}, 7, 7, event_damage_fields},
    {"player_info_race", 23, {}, 1, 1, player_info_race_fields},
    {"game_data_race", 24, {}, 3, 3, game_data_race_fields},
};
// clang-format on
static_assert(texts_have_content(objects));

} // namespace

std::span<object const> objects_07() noexcept { return objects; }

} // namespace teewire::schema
