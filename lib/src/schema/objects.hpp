// The object tables, one file per protocol, and the value sets that all of them share.
#pragma once

#include "teewire/schema.hpp"

namespace teewire::schema {

/// Whether each text says what it can reveal about people.
constexpr bool texts_have_content(std::span<object const> objects) noexcept {
    for (object const& o : objects)
        for (field const& f : o.fields)
            if ((f.kind == field_kind::text) != (f.content != field_content::none)) return false;
    return true;
}

std::span<object const> objects_06() noexcept;
std::span<object const> objects_07() noexcept;
std::span<object const> objects_ddnet() noexcept;

// As many names in a line as fit.
// clang-format off
inline constexpr std::string_view weapon_names[] = {
    "none", "hammer", "gun", "shotgun", "grenade", "laser", "ninja",
};
inline constexpr value_set weapon{"weapon", -1, weapon_names};

inline constexpr std::string_view emote_names[] = {
    "normal", "pain", "happy", "surprise", "angry", "blink",
};
inline constexpr value_set emote{"emote", 0, emote_names};

inline constexpr std::string_view team_names[] = {
    "spectators", "red", "blue",
};
inline constexpr value_set team{"team", -1, team_names};

inline constexpr std::string_view sound_names[] = {
    "gun_fire", "shotgun_fire", "grenade_fire", "hammer_fire", "hammer_hit", "ninja_fire", "grenade_explode",
    "ninja_hit", "laser_fire", "laser_bounce", "weapon_switch", "player_pain_short", "player_pain_long",
    "body_land", "player_airjump", "player_jump", "player_die", "player_spawn", "player_skid", "tee_cry",
    "hook_loop", "hook_attach_ground", "hook_attach_player", "hook_noattach", "pickup_health", "pickup_armor",
    "pickup_grenade", "pickup_shotgun", "pickup_ninja", "weapon_spawn", "weapon_noammo", "hit", "chat_server",
    "chat_client", "chat_highlight", "ctf_drop", "ctf_return", "ctf_grab_pl", "ctf_grab_en", "ctf_capture", "menu",
};
inline constexpr value_set sound{"sound", 0, sound_names};

inline constexpr std::string_view powerup_names[] = {
    "health", "armor", "weapon", "ninja", "armor_shotgun", "armor_grenade", "armor_ninja", "armor_laser",
};
inline constexpr value_set powerup{"powerup", 0, powerup_names};
// clang-format on

} // namespace teewire::schema
