// DDNet's extended objects, known by UUID. They always carry their size.
#include "objects.hpp"

namespace teewire::schema {
namespace {

using enum field_kind;

// As many names and fields in a line as fit: one in each would make hundreds of lines of every table.
// clang-format off

constexpr std::string_view characterflag_names[] = {
    "solo", "jetpack", "collision_disabled", "endless_hook", "endless_jump", "super", "hammer_hit_disabled",
    "shotgun_hit_disabled", "grenade_hit_disabled", "laser_hit_disabled", "hook_hit_disabled", "telegun_gun",
    "telegun_grenade", "telegun_laser", "weapon_hammer", "weapon_gun", "weapon_shotgun", "weapon_grenade",
    "weapon_laser", "weapon_ninja", "movements_disabled", "in_freeze", "practice_mode", "lock_mode", "team0_mode",
    "invincible",
};
constexpr value_set characterflag{"characterflag", 0, characterflag_names};

constexpr std::string_view explayerflag_names[] = {
    "afk", "paused", "spec",
};
constexpr value_set explayerflag{"explayerflag", 0, explayerflag_names};

constexpr std::string_view gameinfoflag_names[] = {
    "timescore", "gametype_race", "gametype_fastcap", "gametype_fng", "gametype_ddrace", "gametype_ddnet",
    "gametype_block_worlds", "gametype_vanilla", "gametype_plus", "flag_starts_race", "race", "unlimited_ammo",
    "ddrace_record_message", "race_record_message", "allow_eye_wheel", "allow_hook_coll", "allow_zoom",
    "bug_ddrace_ghost", "bug_ddrace_input", "bug_fng_laser_range", "bug_vanilla_bounce", "predict_fng",
    "predict_ddrace", "predict_ddrace_tiles", "predict_vanilla", "entities_ddnet", "entities_ddrace",
    "entities_race", "entities_fng", "entities_vanilla", "dont_mask_entities", "entities_bw",
};
constexpr value_set gameinfoflag{"gameinfoflag", 0, gameinfoflag_names};

constexpr std::string_view gameinfoflag2_names[] = {
    "allow_x_skins", "gametype_city", "gametype_fddrace", "entities_fddrace", "hud_health_armor", "hud_ammo",
    "hud_ddrace", "no_weak_hook", "no_skin_change_for_frozen", "ddrace_team", "predict_events",
    "supports_128_teams",
};
constexpr value_set gameinfoflag2{"gameinfoflag2", 0, gameinfoflag2_names};

constexpr std::string_view projectileflag_names[] = {
    "bounce_horizontal", "bounce_vertical", "explosive", "freeze", "normalize_vel",
};
constexpr value_set projectileflag{"projectileflag", 0, projectileflag_names};

constexpr std::string_view laserflag_names[] = {
    "no_predict",
};
constexpr value_set laserflag{"laserflag", 0, laserflag_names};

constexpr std::string_view pickupflag_names[] = {
    "xflip", "yflip", "rotate", "no_predict",
};
constexpr value_set pickupflag{"pickupflag", 0, pickupflag_names};

constexpr std::string_view lasertype_names[] = {
    "rifle", "shotgun", "door", "freeze", "dragger", "gun", "plasma",
};
constexpr value_set lasertype{"lasertype", 0, lasertype_names};

constexpr std::string_view authed_names[] = {
    "none", "helper", "moderator", "admin",
};
constexpr value_set authed{"authed", 0, authed_names};

constexpr std::string_view entityclass_names[] = {
    "projectile", "door", "dragger_weak", "dragger_normal", "dragger_strong", "gun_normal", "gun_explosive",
    "gun_freeze", "gun_unfreeze", "light", "pickup",
};
constexpr value_set entityclass{"entityclass", 0, entityclass_names};

constexpr field my_own_object_fields[] = {
    {"test", integer, 0},
};
constexpr field ddnet_character_fields[] = {
    {"flags", flags, 0, 1, 1, &characterflag}, {"freeze_end", tick, 1}, {"jumps", integer, 2},
    {"tele_checkpoint", integer, 3}, {"strong_weak_id", integer, 4}, {"jumped_total", integer, 5},
    {"ninja_activation_tick", tick, 6}, {"freeze_start", tick, 7}, {"target_x", integer, 8},
    {"target_y", integer, 9}, {"tune_zone_override", integer, 10},
};
constexpr field ddnet_player_fields[] = {
    {"flags", flags, 0, 1, 1, &explayerflag}, {"auth_level", enumeration, 1, 1, 1, &authed},
    {"finish_time_seconds", integer, 2}, {"finish_time_millis", integer, 3},
};
constexpr field game_info_ex_fields[] = {
    {"flags", flags, 0, 1, 1, &gameinfoflag}, {"version", integer, 1}, {"flags2", flags, 2, 1, 1, &gameinfoflag2},
    {"min_team_size", integer, 3}, {"max_team_size", integer, 4},
};
constexpr field ddrace_projectile_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"angle", integer, 2}, {"data", integer, 3},
    {"type", enumeration, 4, 1, 1, &weapon}, {"start_tick", tick, 5},
};
constexpr field ddnet_laser_fields[] = {
    {"to_x", integer, 0}, {"to_y", integer, 1}, {"from_x", integer, 2}, {"from_y", integer, 3},
    {"start_tick", tick, 4}, {"owner", integer, 5}, {"type", enumeration, 6, 1, 1, &lasertype},
    {"switch_number", integer, 7}, {"subtype", integer, 8}, {"flags", flags, 9, 1, 1, &laserflag},
};
constexpr field ddnet_projectile_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"vel_x", integer, 2}, {"vel_y", integer, 3},
    {"type", enumeration, 4, 1, 1, &weapon}, {"start_tick", tick, 5}, {"owner", integer, 6},
    {"switch_number", integer, 7}, {"tune_zone", integer, 8}, {"flags", flags, 9, 1, 1, &projectileflag},
};
constexpr field ddnet_pickup_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"type", enumeration, 2, 1, 1, &powerup},
    {"subtype", enumeration, 3, 1, 1, &weapon}, {"switch_number", integer, 4},
    {"flags", flags, 5, 1, 1, &pickupflag},
};
constexpr field ddnet_spectator_info_fields[] = {
    {"has_camera_info", boolean, 0}, {"zoom", integer, 1}, {"deadzone", integer, 2}, {"follow_factor", integer, 3},
    {"spectator_count", integer, 4},
};
constexpr field spectator_count_fields[] = {
    {"num_spectators", integer, 0},
};
constexpr field event_birthday_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field event_finish_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field my_own_event_fields[] = {
    {"test", integer, 0},
};
constexpr field spec_char_fields[] = {
    {"x", integer, 0}, {"y", integer, 1},
};
constexpr field switch_state_fields[] = {
    {"highest_switch_number", integer, 0}, {"status", integer, 1, 1, 8}, {"switch_numbers", integer, 9, 1, 4},
    {"end_ticks", integer, 13, 1, 4},
};
constexpr field entity_ex_fields[] = {
    {"switch_number", integer, 0}, {"layer", integer, 1}, {"entity_class", enumeration, 2, 1, 1, &entityclass},
};
constexpr field map_best_time_fields[] = {
    {"map_best_time_seconds", integer, 0}, {"map_best_time_millis", integer, 1},
};
constexpr field event_map_sound_world_fields[] = {
    {"x", integer, 0}, {"y", integer, 1}, {"sound_id", integer, 2},
};

constexpr object objects[] = {
    {"my_own_object", 0, uuid::parse("0dc77a02-bfee-3a53-ac8e-0bb0241bd722"), 1, 1, my_own_object_fields},
    {"ddnet_character", 0, uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045c"), 11, 0, ddnet_character_fields},
    {"ddnet_player", 0, uuid::parse("22ca938d-1380-3e2b-9e7b-d2558ea6be11"), 4, 2, ddnet_player_fields},
    {"game_info_ex", 0, uuid::parse("933dea6a-da79-30ea-a98f-8af03689a945"), 5, 0, game_info_ex_fields},
    {"ddrace_projectile", 0, uuid::parse("0e6db85c-2b61-386f-bbf2-d0d0471b9272"), 6, 6, ddrace_projectile_fields},
    {"ddnet_laser", 0, uuid::parse("29de68a2-6928-31b8-8360-a2307e0d844f"), 10, 7, ddnet_laser_fields},
    {"ddnet_projectile", 0, uuid::parse("6550fbce-f317-3b31-8ffe-d2b37f3ab40e"), 10, 10, ddnet_projectile_fields},
    {"ddnet_pickup", 0, uuid::parse("ea5e4a51-58fb-3684-96e4-e0d267f4ca65"), 6, 5, ddnet_pickup_fields},
    {"ddnet_spectator_info", 0, uuid::parse("d13307b2-9a19-37cb-8f8c-07c718521883"), 5, 4, ddnet_spectator_info_fields},
    {"spectator_count", 0, uuid::parse("5e5ca96f-c728-30fd-bfb3-155b07692556"), 1, 1, spectator_count_fields},
    {"event_birthday", 0, uuid::parse("1fd35746-6263-358c-b4d6-6ef60e0efaaa"), 2, 2, event_birthday_fields},
    {"event_finish", 0, uuid::parse("68bf8939-ef55-3878-9082-13527eb0a597"), 2, 2, event_finish_fields},
    {"my_own_event", 0, uuid::parse("0c4fd27d-47e3-3871-a226-9f417486a311"), 1, 1, my_own_event_fields},
    {"spec_char", 0, uuid::parse("4b801c74-e24c-3ce0-b92c-b754d02cfc8a"), 2, 2, spec_char_fields},
    {"switch_state", 0, uuid::parse("ec15e669-ce11-3367-ae8e-b90e5b27b9d5"), 17, 0, switch_state_fields},
    {"entity_ex", 0, uuid::parse("2de9aec3-32e4-3986-8f7e-e7459da7f535"), 3, 3, entity_ex_fields},
    {"map_best_time", 0, uuid::parse("9ebfc6ed-bf50-30ca-988a-0ce8921ad85f"), 2, 2, map_best_time_fields},
    {"event_map_sound_world", 0, uuid::parse("54ecad2e-bfad-3be5-8903-621ba052458e"), 3, 3, event_map_sound_world_fields},
};
// clang-format on
static_assert(texts_have_content(objects));

} // namespace

std::span<object const> objects_ddnet() noexcept { return objects; }

} // namespace teewire::schema
