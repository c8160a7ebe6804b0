// What messages there are, and the common ones as structs, decoded and encoded. Follows the message tables of the
// packet references; whatever has no struct here is passed on as it is.
#pragma once

#include "teewire/message.hpp"

#include <array>

namespace teewire {

/// Every message that has a number or a UUID of its own. The order means nothing.
enum class message_type : std::uint8_t {
    unknown,
    // of the connection
    info,
    map_change,
    map_data,
    server_info, // 0.7
    con_ready,
    snap,
    snap_empty,
    snap_single,
    snap_small, // unused
    input_timing,
    rcon_auth_status, // 0.6
    rcon_auth_on,     // 0.7
    rcon_auth_off,    // 0.7
    rcon_line,
    rcon_cmd_add,
    rcon_cmd_rem,
    ready,
    enter_game,
    input,
    rcon_cmd,
    rcon_auth,
    request_map_data,
    ping,
    ping_reply,
    maplist_entry_add, // 0.7
    maplist_entry_rem, // 0.7
    // of the connection, by UUID
    what_is,
    it_is,
    i_dont_know,
    rcon_type,
    map_details,
    capabilities,
    client_version,
    ping_ex,
    pong_ex,
    checksum_request,
    checksum_response,
    checksum_error,
    redirect,
    rcon_cmd_group_start,
    rcon_cmd_group_end,
    map_reload,
    reconnect,
    maplist_add,
    maplist_group_start,
    maplist_group_end,
    // of the game
    motd,
    broadcast,
    chat,
    team, // 0.7
    kill,
    sound_global, // 0.6
    tune_params,
    extra_projectile,
    ready_to_enter,
    weapon_pickup,
    emoticon,
    vote_clear_options,
    vote_option_list_add,
    vote_option_add,
    vote_option_remove,
    vote_set,
    vote_status,
    server_settings,   // 0.7
    client_info,       // 0.7
    game_info,         // 0.7
    client_drop,       // 0.7
    game_message_07,   // 0.7
    demo_client_enter, // 0.7
    demo_client_leave, // 0.7
    say,
    set_team,
    set_spectator_mode,
    start_info,
    change_info, // 0.6
    kill_self,
    ready_change, // 0.7
    client_emoticon,
    vote,
    call_vote,
    is_ddnet_legacy,        // DDNet
    race_time_legacy,       // DDNet
    record_legacy,          // DDNet
    teams_state_legacy,     // DDNet
    show_others_legacy,     // DDNet
    skin_change,            // 0.7
    client_skin_change,     // 0.7
    race_finish_07,         // 0.7
    checkpoint,             // 0.7
    command_info_07,        // 0.7
    command_info_remove_07, // 0.7
    command,
    // of the game, by UUID
    teams_state,
    race_time,
    record,
    kill_team,
    your_vote,
    race_finish,
    command_info,
    map_sound_global,
    pre_input,
    map_info,
    save_code,
    change_info_cooldown,
    server_alert,
    moderator_alert,
    show_distance,
    show_others,
    camera_info,
    command_info_remove,
    vote_option_group_start,
    vote_option_group_end,
    command_info_group_start,
    command_info_group_end,
    enable_spectator_count,
};
inline constexpr std::size_t message_type_count =
    static_cast<std::size_t>(message_type::enable_spectator_count) + 1;

struct message_description {
    message_type type = message_type::unknown;
    std::string_view name; ///< "map_change"
    bool system = false;
    bool vital = true;     ///< as the reference programs send it
    std::int8_t id_06 = 0; ///< 0 if 0.6 has no such message
    std::int8_t id_07 = 0; ///< 0 if 0.7 has no such message
    uuid extended{};       ///< all zero for plain messages
};

/// What the message is in that protocol, or unknown. O(1) for plain ones, O(types) for UUIDs.
[[nodiscard]] message_type identify(message const& m, protocol p) noexcept;
/// The description of a type; of unknown, an empty one with the name "unknown".
[[nodiscard]] message_description const& describe(message_type type) noexcept;

/// The texts by which client and server make sure that they speak the same.
inline constexpr std::string_view net_version_06 = "0.6 626fce9a778df4d4";
inline constexpr std::string_view net_version_07 = "0.7 802f1be60a05665f";
inline constexpr std::int32_t client_version_07 = 0x0705;

/// The messages as structs. Texts and spans point into the message. Members that only one protocol has are marked.
namespace messages {

struct info {
    static constexpr message_type type = message_type::info;
    std::string_view version; ///< empty when encoding: the protocol's
    std::string_view password;
    std::int32_t client_version = client_version_07; ///< 0.7
};

struct map_change {
    static constexpr message_type type = message_type::map_change;
    std::string_view name;
    std::uint32_t crc = 0;
    std::int32_t size = 0;                ///< bytes
    std::int32_t chunks_per_request = 0;  ///< 0.7
    std::int32_t chunk_size = 0;          ///< 0.7, bytes
    std::span<std::uint8_t const> sha256; ///< 0.7: 32 bytes, or empty
};

struct map_data {
    static constexpr message_type type = message_type::map_data;
    bool last = false;       ///< 0.6
    std::uint32_t crc = 0;   ///< 0.6
    std::int32_t number = 0; ///< 0.6; 0.7's chunks come in order and have no number
    std::span<std::uint8_t const> data;
};

struct request_map_data {
    static constexpr message_type type = message_type::request_map_data;
    std::int32_t number = 0; ///< 0.6
};

struct server_info { ///< 0.7
    static constexpr message_type type = message_type::server_info;
    std::string_view version, name, host_name, map, game_type;
    std::int32_t flags = 0; ///< 1 password, 2 time score
    std::int32_t skill_level = 0, players = 0, player_slots = 0, clients = 0, max_clients = 0;
};

struct con_ready {
    static constexpr message_type type = message_type::con_ready;
};
struct ready {
    static constexpr message_type type = message_type::ready;
};
struct enter_game {
    static constexpr message_type type = message_type::enter_game;
};
struct ping {
    static constexpr message_type type = message_type::ping;
};
struct ping_reply {
    static constexpr message_type type = message_type::ping_reply;
};
struct map_reload {
    static constexpr message_type type = message_type::map_reload;
};
struct reconnect {
    static constexpr message_type type = message_type::reconnect;
};

/// snap, snap_empty and snap_single, told apart by `type_of`.
struct snap {
    std::int32_t tick = 0;
    std::int32_t base_tick = -1; ///< -1 and less: none
    std::int32_t parts = 1;
    std::int32_t part = 0;
    std::uint32_t checksum = 0;
    bool has_checksum = false; ///< snap_empty has none
    std::span<std::uint8_t const> data;
};

struct input_timing {
    static constexpr message_type type = message_type::input_timing;
    std::int32_t tick = 0;      ///< for which the input was meant
    std::int32_t time_left = 0; ///< milliseconds before it was needed; negative if it came late
};

struct input {
    static constexpr message_type type = message_type::input;
    std::int32_t ack = -1;   ///< tick of the last good snapshot; -1 asks for a full one
    std::int32_t tick = 0;   ///< for which it is meant
    std::uint32_t size = 10; ///< ints
    std::array<std::int32_t, 128> data{};
    std::int32_t ping_correction = 0; ///< 0.7
};

struct rcon_line {
    static constexpr message_type type = message_type::rcon_line;
    std::string_view text;
};

// DDNet's, by UUID

struct what_is {
    static constexpr message_type type = message_type::what_is;
    uuid asked;
};
struct i_dont_know {
    static constexpr message_type type = message_type::i_dont_know;
    uuid asked;
};
struct it_is {
    static constexpr message_type type = message_type::it_is;
    uuid asked;
    std::string_view name;
};
struct capabilities {
    static constexpr message_type type = message_type::capabilities;
    std::int32_t version = 5;
    std::int32_t flags =
        0; ///< 1 DDNet, 2 chat timeout code, 4 any player flag, 8 ping_ex, 16 dummy, 32 weapon input
};
struct map_details {
    static constexpr message_type type = message_type::map_details;
    std::string_view name;
    std::span<std::uint8_t const> sha256; ///< 32 bytes
    std::uint32_t crc = 0;
    std::int32_t size = 0;
    std::string_view url; ///< older servers send none
};
struct client_version {
    static constexpr message_type type = message_type::client_version;
    uuid connection;
    std::int32_t version = 0;
    std::string_view text;
};
struct ping_ex {
    static constexpr message_type type = message_type::ping_ex;
    uuid id;
};
struct pong_ex {
    static constexpr message_type type = message_type::pong_ex;
    uuid id;
};
struct redirect {
    static constexpr message_type type = message_type::redirect;
    std::int32_t port = 0;
};

// of the game, from servers

struct motd {
    static constexpr message_type type = message_type::motd;
    std::string_view text;
};
struct broadcast {
    static constexpr message_type type = message_type::broadcast;
    std::string_view text;
};
struct chat {
    static constexpr message_type type = message_type::chat;
    std::int32_t team = 0;       ///< 0.6: 0 all, 1 team, DDNet -2..3; 0.7: 0 none, 1 all, 2 team, 3 whisper
    std::int32_t client_id = -1; ///< -1: the server
    std::int32_t target = -1;    ///< 0.7
    std::string_view text;
};
struct team { ///< 0.7
    static constexpr message_type type = message_type::team;
    std::int32_t client_id = 0, team = 0;
    bool silent = false;
    std::int32_t cooldown_tick = 0;
};
struct kill {
    static constexpr message_type type = message_type::kill;
    std::int32_t killer = 0, victim = 0, weapon = 0, mode_special = 0;
};
struct tune_params {
    static constexpr message_type type = message_type::tune_params;
    std::uint32_t count = 0;
    std::array<std::int32_t, 64>
        values{}; ///< hundredths; servers send as many as they have, further ones are left out
};
struct ready_to_enter {
    static constexpr message_type type = message_type::ready_to_enter;
};
struct vote_clear_options {
    static constexpr message_type type = message_type::vote_clear_options;
};
struct weapon_pickup {
    static constexpr message_type type = message_type::weapon_pickup;
    std::int32_t weapon = 0;
};
struct emoticon {
    static constexpr message_type type = message_type::emoticon;
    std::int32_t client_id = 0, emoticon = 0;
};
struct server_settings { ///< 0.7
    static constexpr message_type type = message_type::server_settings;
    std::int32_t kick_vote = 0, kick_min = 0, spec_vote = 0, team_lock = 0, team_balance = 0, player_slots = 0;
};

/// Of 0.7: body, marking, decoration, hands, feet, eyes.
struct skin {
    std::array<std::string_view, 6> parts{};
    std::array<std::int32_t, 6> use_custom_colors{};
    std::array<std::int32_t, 6> colors{};
};
struct client_info { ///< 0.7
    static constexpr message_type type = message_type::client_info;
    std::int32_t client_id = 0;
    bool local = false;
    std::int32_t team = 0;
    std::string_view name, clan;
    std::int32_t country = -1;
    messages::skin skin;
    bool silent = false;
};
struct skin_change { ///< 0.7
    static constexpr message_type type = message_type::skin_change;
    std::int32_t client_id = 0;
    messages::skin skin;
};
struct game_info { ///< 0.7
    static constexpr message_type type = message_type::game_info;
    std::int32_t flags = 0, score_limit = 0, time_limit = 0, match_number = 0, match_current = 0;
};
struct client_drop { ///< 0.7
    static constexpr message_type type = message_type::client_drop;
    std::int32_t client_id = 0;
    std::string_view reason;
    bool silent = false;
};

// of the game, from clients

struct say {
    static constexpr message_type type = message_type::say;
    std::int32_t mode = 0;    ///< 0.6: 1 for the team; 0.7: as chat.team
    std::int32_t target = -1; ///< 0.7
    std::string_view text;
};
struct set_team {
    static constexpr message_type type = message_type::set_team;
    std::int32_t team = -1; ///< -1: spectators
};
struct set_spectator_mode {
    static constexpr message_type type = message_type::set_spectator_mode;
    std::int32_t mode = 0; ///< 0.7: 0 free view, 1 player, 2 and 3 flags
    std::int32_t client_id = -1;
};
struct start_info {
    static constexpr message_type type = message_type::start_info;
    std::string_view name, clan;
    std::int32_t country = -1;
    std::string_view skin_name = "default"; ///< 0.6
    bool use_custom_color = false;          ///< 0.6
    std::int32_t color_body = 0;            ///< 0.6
    std::int32_t color_feet = 0;            ///< 0.6
    messages::skin skin;                    ///< 0.7
};

} // namespace messages

/// Decodes the fields of a message whose type is T::type, which is asserted. Surplus bytes are ignored, as by all
/// programs. Errors, with the byte of the fields: truncated, bad_text, bad_count (a negative size, or one larger than
/// the struct can hold).
template <class T>
result<T> decode(message const& m, protocol p) noexcept;

/// Writes the whole message, head included, to `out`. Errors: output_full; bad_type when the protocol has no such message.
/// Texts are asserted to hold no terminator.
template <class T>
result<std::span<std::uint8_t const>> encode(T const& value, protocol p, std::span<std::uint8_t> out) noexcept;

/// The three snapshot messages, with the limits that receivers check: up to 64 parts of up to 900 bytes. Errors, with
/// the byte of the fields: truncated, bad_count, bad_tick (negative, or not newer than its base).
result<messages::snap> decode_snap(message const& m, protocol p) noexcept;

} // namespace teewire
