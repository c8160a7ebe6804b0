/// @file
/// The messages, and structs for the common ones, decoded and encoded. See doc/format/message.md#system-messages; a
/// message without a struct here is passed on unchanged.
#pragma once

#include "teewire/message.hpp"

#include <array>

namespace teewire {

/// The messages that have a number or a UUID of their own. The order has no meaning.
enum class message_type : std::uint8_t {
    unknown, ///< none of the others
    ///< of the connection
    info,              ///< client: its first message, with version and password
    map_change,        ///< server: the map to be loaded
    map_data,          ///< server: a piece of the map
    server_info,       ///< 0.7, server: what it is
    con_ready,         ///< server: the client may load the rest
    snap,              ///< server: one part of several of a snapshot
    snap_empty,        ///< server: a snapshot that equals its base
    snap_single,       ///< server: a snapshot in one part
    snap_small,        ///< unused
    input_timing,      ///< server: how early an input came
    rcon_auth_status,  ///< 0.6, server: whether remote commands are allowed
    rcon_auth_on,      ///< 0.7, server: remote commands are allowed
    rcon_auth_off,     ///< 0.7, server: they are no longer allowed
    rcon_line,         ///< server: a line of the remote console
    rcon_cmd_add,      ///< server: adds a command, for completion
    rcon_cmd_rem,      ///< server: removes a command
    ready,             ///< client: has loaded the map
    enter_game,        ///< client: enters the game
    input,             ///< client: what the player does, and which snapshot it has
    rcon_cmd,          ///< client: a remote command
    rcon_auth,         ///< client: its password for remote commands
    request_map_data,  ///< client: the next piece of the map
    ping,              ///< to be answered with ping_reply
    ping_reply,        ///< the answer to ping
    maplist_entry_add, ///< 0.7, server: a map to vote for
    maplist_entry_rem, ///< 0.7, server: removes a map to vote for
    ///< of the connection, by UUID
    what_is,              ///< asks for the name of a UUID
    it_is,                ///< names a UUID
    i_dont_know,          ///< does not know that UUID
    rcon_type,            ///< server: whether remote commands need a name
    map_details,          ///< server: SHA-256 and address of the map
    capabilities,         ///< server: what it can do
    client_version,       ///< client: DDNet's version and the id of the connection
    ping_ex,              ///< to be answered with pong_ex
    pong_ex,              ///< the answer to ping_ex
    checksum_request,     ///< server: wants bytes of the client's program checked
    checksum_response,    ///< client: the checksum
    checksum_error,       ///< client: why there is none
    redirect,             ///< server: another port of the same address
    rcon_cmd_group_start, ///< server: a list of commands begins
    rcon_cmd_group_end,   ///< server: the list of commands is complete
    map_reload,           ///< server: the same map again
    reconnect,            ///< server: connect again
    maplist_add,          ///< server: maps to vote for
    maplist_group_start,  ///< server: a list of maps begins
    maplist_group_end,    ///< server: the list of maps is complete
    ///< of the game
    motd,                   ///< server: the message of the day
    broadcast,              ///< server: text in the middle of the screen
    chat,                   ///< server: a player speaks
    team,                   ///< 0.7, server: a player changes the team
    kill,                   ///< server: a player was killed
    sound_global,           ///< 0.6, server: a sound for all
    tune_params,            ///< server: how the physics are tuned
    extra_projectile,       ///< server: a projectile between two snapshots
    ready_to_enter,         ///< server: has the client's name and skin
    weapon_pickup,          ///< server: a weapon was taken
    emoticon,               ///< server: a player shows an emoticon
    vote_clear_options,     ///< server: removes all options of votes
    vote_option_list_add,   ///< server: several options of votes
    vote_option_add,        ///< server: an option of votes
    vote_option_remove,     ///< server: removes an option
    vote_set,               ///< server: a vote begins or ends
    vote_status,            ///< server: how the vote stands
    server_settings,        ///< 0.7, server: its rules
    client_info,            ///< 0.7, server: who a client is
    game_info,              ///< 0.7, server: limits of the game
    client_drop,            ///< 0.7, server: a client left
    game_message_07,        ///< 0.7, server: something happened, by number
    demo_client_enter,      ///< 0.7, demos: a client came
    demo_client_leave,      ///< 0.7, demos: a client left
    say,                    ///< client: speaks
    set_team,               ///< client: wants another team
    set_spectator_mode,     ///< client: wants another view
    start_info,             ///< client: name and skin
    change_info,            ///< 0.6, client: name and skin again
    kill_self,              ///< client: kills its own tee to start again
    ready_change,           ///< 0.7, client: is ready, or not any more
    client_emoticon,        ///< client: shows an emotion
    vote,                   ///< client: yes or no
    call_vote,              ///< client: begins a vote
    is_ddnet_legacy,        ///< DDNet, client: its version, before client_version
    race_time_legacy,       ///< DDNet, server: race_time, before it had a UUID
    record_legacy,          ///< DDNet, server: record, before it had a UUID
    teams_state_legacy,     ///< DDNet, server: teams_state, before it had a UUID
    show_others_legacy,     ///< DDNet, client: show_others, before it had a UUID
    skin_change,            ///< 0.7, server: a player's new skin
    client_skin_change,     ///< 0.7, client: its new skin
    race_finish_07,         ///< 0.7, server: a player finished
    checkpoint,             ///< 0.7, server: a player passed a checkpoint
    command_info_07,        ///< 0.7, server: a command for the chat
    command_info_remove_07, ///< 0.7, server: removes a command
    command,                ///< 0.7, client: a command for the chat
    ///< of the game, by UUID
    teams_state,              ///< server: DDNet's teams of all players
    race_time,                ///< server: the time of the own race
    record,                   ///< server: the best times
    kill_team,                ///< server: a whole team was killed
    your_vote,                ///< server: what the client voted
    race_finish,              ///< server: a player finished
    command_info,             ///< server: a command for the chat
    map_sound_global,         ///< server: a sound of the map for all
    pre_input,                ///< server: inputs of others, early
    map_info,                 ///< server: words about the map
    save_code,                ///< server: the code of a saved team
    change_info_cooldown,     ///< server: when name and skin may change again
    server_alert,             ///< server: something urgent
    moderator_alert,          ///< server: something urgent, of a moderator
    show_distance,            ///< client: how far it can see
    show_others,              ///< client: whether it shows other teams
    camera_info,              ///< client: where it looks
    command_info_remove,      ///< server: removes a command
    vote_option_group_start,  ///< server: options of votes follow
    vote_option_group_end,    ///< server: that were all options
    command_info_group_start, ///< server: a list of commands begins
    command_info_group_end,   ///< server: the list of commands is complete
    enable_spectator_count,   ///< client: whether it wants to know who watches
};
/// Types, unknown included.
inline constexpr std::size_t message_type_count =
    static_cast<std::size_t>(message_type::enable_spectator_count) + 1;

/// The description of a message type.
struct message_description {
    message_type type = message_type::unknown; ///< which it is
    std::string_view name;                     ///< "map_change"
    bool system = false;                       ///< concerns the connection, not the game
    bool vital = true;                         ///< as the reference programs send it
    std::uint8_t id_06 = 0;                    ///< 0 if 0.6 has no such message
    std::uint8_t id_07 = 0;                    ///< 0 if 0.7 has no such message
    uuid extended{};                           ///< all zero for plain messages
};

/// The type of the message in that protocol, or unknown. O(1) for plain ones, O(types) for UUIDs.
[[nodiscard]] message_type identify(message const& m, protocol p) noexcept;
/// The description of a type; of unknown, an empty one with the name "unknown".
[[nodiscard]] message_description const& describe(message_type type) noexcept;

/// The texts by which client and server make sure that they speak the same.
inline constexpr std::string_view net_version_06 = "0.6 626fce9a778df4d4";
inline constexpr std::string_view net_version_07 = "0.7 802f1be60a05665f"; ///< the same for 0.7
inline constexpr std::int32_t client_version_07 = 0x0705; ///< what a client of 0.7 says of itself: 0.7.5

/// The messages as structs. Texts and spans point into the message. Members that only one protocol has are marked.
namespace messages {

/// A client's first message.
struct info {
    static constexpr message_type type = message_type::info; ///< what it is
    std::string_view version;                                ///< empty when encoding: the protocol's
    std::string_view password;                               ///< the server's, or empty
    std::int32_t client_version = client_version_07;         ///< 0.7
};

/// Which map the client needs.
struct map_change {
    static constexpr message_type type = message_type::map_change; ///< what it is
    std::string_view name;                                         ///< without path
    std::uint32_t crc = 0;                                         ///< CRC-32 of the file
    std::int32_t size = 0;                                         ///< bytes
    std::int32_t chunks_per_request = 0;                           ///< 0.7
    std::int32_t chunk_size = 0;                                   ///< 0.7, bytes
    std::span<std::uint8_t const> sha256;                          ///< 0.7: 32 bytes, or empty
};

/// A piece of the map.
struct map_data {
    static constexpr message_type type = message_type::map_data; ///< what it is
    bool last = false;                                           ///< 0.6
    std::uint32_t crc = 0;                                       ///< 0.6
    std::int32_t number = 0;            ///< 0.6; 0.7's chunks come in order and have no number
    std::span<std::uint8_t const> data; ///< the piece
};

/// A client asks for a piece of the map; in 0.7 for the next ones.
struct request_map_data {
    static constexpr message_type type = message_type::request_map_data; ///< what it is
    std::int32_t number = 0;                                             ///< 0.6
};

/// 0.7: what the server is.
struct server_info {
    static constexpr message_type type = message_type::server_info; ///< what it is
    std::string_view version;                                       ///< net version
    std::string_view name;                                          ///< of the server
    std::string_view host_name;                                     ///< or address
    std::string_view map;                                           ///< without path
    std::string_view game_type;                                     ///< "DM", ...
    std::int32_t flags = 0;                                         ///< 1 password, 2 time score
    std::int32_t skill_level = 0;                                   ///< 0 to 2
    std::int32_t players = 0;                                       ///< without spectators
    std::int32_t player_slots = 0;                                  ///< players at most
    std::int32_t clients = 0;                                       ///< players and spectators
    std::int32_t max_clients = 0;                                   ///< both at most
};

/// The client may load the rest.
struct con_ready {
    static constexpr message_type type = message_type::con_ready; ///< what it is
};
/// The client has loaded the map.
struct ready {
    static constexpr message_type type = message_type::ready; ///< what it is
};
/// The client enters the game.
struct enter_game {
    static constexpr message_type type = message_type::enter_game; ///< what it is
};
/// To be answered with ping_reply.
struct ping {
    static constexpr message_type type = message_type::ping; ///< what it is
};
/// The answer to ping.
struct ping_reply {
    static constexpr message_type type = message_type::ping_reply; ///< what it is
};
/// The map is sent again.
struct map_reload {
    static constexpr message_type type = message_type::map_reload; ///< what it is
};
/// The client should connect again.
struct reconnect {
    static constexpr message_type type = message_type::reconnect; ///< what it is
};

/// snap, snap_empty and snap_single, distinguished by `type_of`.
struct snap {
    std::int32_t tick = 0;              ///< of the snapshot
    std::int32_t base_tick = -1;        ///< -1 and less: none
    std::int32_t parts = 1;             ///< messages of this snapshot
    std::int32_t part = 0;              ///< this one, from 0
    std::uint32_t checksum = 0;         ///< of the whole snapshot
    bool has_checksum = false;          ///< snap_empty has none
    std::span<std::uint8_t const> data; ///< of the packed delta: at most 900 bytes
};

/// How early the input of a client came.
struct input_timing {
    static constexpr message_type type = message_type::input_timing; ///< what it is
    std::int32_t tick = 0;                                           ///< for which the input was meant
    std::int32_t time_left = 0; ///< milliseconds before it was needed; negative if it came late
};

/// The player's input, and the snapshot that the client has.
struct input {
    static constexpr message_type type = message_type::input; ///< what it is
    std::int32_t ack = -1;                ///< tick of the last good snapshot; -1 asks for a full one
    std::int32_t tick = 0;                ///< for which it is meant
    std::uint32_t size = 10;              ///< ints
    std::array<std::int32_t, 128> data{}; ///< `size` of them
    std::int32_t ping_correction = 0;     ///< 0.7
};

/// A line of the remote console.
struct rcon_line {
    static constexpr message_type type = message_type::rcon_line; ///< what it is
    std::string_view text;                                        ///< the line
};

// DDNet's, by UUID

/// Asks for the name of a UUID.
struct what_is {
    static constexpr message_type type = message_type::what_is; ///< what it is
    uuid asked;                                                 ///< the UUID
};
/// An answer to what_is.
struct i_dont_know {
    static constexpr message_type type = message_type::i_dont_know; ///< what it is
    uuid asked;                                                     ///< the UUID
};
/// The other answer to what_is.
struct it_is {
    static constexpr message_type type = message_type::it_is; ///< what it is
    uuid asked;                                               ///< the UUID
    std::string_view name;                                    ///< its name
};
/// The server's capabilities.
struct capabilities {
    static constexpr message_type type = message_type::capabilities; ///< what it is
    std::int32_t version = 5;                                        ///< of the list of flags
    std::int32_t flags =
        0; ///< 1 DDNet, 2 chat timeout code, 4 any player flag, 8 ping_ex, 16 dummy, 32 weapon input
};
/// More about the map of the next map_change.
struct map_details {
    static constexpr message_type type = message_type::map_details; ///< what it is
    std::string_view name;                                          ///< of the map
    std::span<std::uint8_t const> sha256;                           ///< 32 bytes
    std::uint32_t crc = 0;                                          ///< CRC-32 of the file
    std::int32_t size = 0;                                          ///< bytes
    std::string_view url;                                           ///< older servers send none
};
/// Of DDNet's clients, before info.
struct client_version {
    static constexpr message_type type = message_type::client_version; ///< what it is
    uuid connection;          ///< the same for both connections of a client
    std::int32_t version = 0; ///< as a number
    std::string_view text;    ///< as a text
};
/// To be answered with pong_ex.
struct ping_ex {
    static constexpr message_type type = message_type::ping_ex; ///< what it is
    uuid id;                                                    ///< to be repeated
};
/// The answer to ping_ex.
struct pong_ex {
    static constexpr message_type type = message_type::pong_ex; ///< what it is
    uuid id;                                                    ///< that of ping_ex
};
/// The client should connect to another port.
struct redirect {
    static constexpr message_type type = message_type::redirect; ///< what it is
    std::int32_t port = 0;                                       ///< of the same address
};

// of the game, from servers

/// The message of the day.
struct motd {
    static constexpr message_type type = message_type::motd; ///< what it is
    std::string_view text;                                   ///< the message
};
/// Words in the middle of the screen.
struct broadcast {
    static constexpr message_type type = message_type::broadcast; ///< what it is
    std::string_view text;                                        ///< the words
};
/// A player or the server speaks.
struct chat {
    static constexpr message_type type = message_type::chat; ///< what it is
    std::int32_t team = 0;       ///< 0.6: 0 all, 1 team, DDNet -2..3; 0.7: 0 none, 1 all, 2 team, 3 whisper
    std::int32_t client_id = -1; ///< -1: the server
    std::int32_t target = -1;    ///< 0.7
    std::string_view text;       ///< what is said
};
/// 0.7: a player changes the team.
struct team {
    static constexpr message_type type = message_type::team; ///< what it is
    std::int32_t client_id = 0;                              ///< who
    std::int32_t team = 0;                                   ///< -1 spectators, 0 red or no teams, 1 blue
    bool silent = false;                                     ///< without words in the chat
    std::int32_t cooldown_tick = 0;                          ///< when another change is possible
};
/// A player was killed.
struct kill {
    static constexpr message_type type = message_type::kill; ///< what it is
    std::int32_t killer = 0;                                 ///< client id
    std::int32_t victim = 0;                                 ///< client id
    std::int32_t weapon = 0;                                 ///< as in game_message
    std::int32_t mode_special = 0;                           ///< of the game mode, such as flags carried
};
/// How the physics are tuned.
struct tune_params {
    static constexpr message_type type = message_type::tune_params; ///< what it is
    std::uint32_t count = 0;                                        ///< of values
    std::array<std::int32_t, 64>
        values{}; ///< hundredths; servers send as many as they have, further ones are left out
};
/// The server has the client's name and skin.
struct ready_to_enter {
    static constexpr message_type type = message_type::ready_to_enter; ///< what it is
};
/// Forget all options of votes.
struct vote_clear_options {
    static constexpr message_type type = message_type::vote_clear_options; ///< what it is
};
/// A weapon was taken.
struct weapon_pickup {
    static constexpr message_type type = message_type::weapon_pickup; ///< what it is
    std::int32_t weapon = 0;                                          ///< as in an item
};
/// A player shows an emoticon.
struct emoticon {
    static constexpr message_type type = message_type::emoticon; ///< what it is
    std::int32_t client_id = 0;                                  ///< who
    std::int32_t emoticon = 0;                                   ///< which
};
/// 0.7: rules of the server.
struct server_settings {
    static constexpr message_type type = message_type::server_settings; ///< what it is
    std::int32_t kick_vote = 0;                                         ///< whether players may vote to kick
    std::int32_t kick_min = 0;                                          ///< players that such a vote needs
    std::int32_t spec_vote = 0;    ///< whether players may vote to make spectators
    std::int32_t team_lock = 0;    ///< whether teams may not be changed
    std::int32_t team_balance = 0; ///< whether teams are balanced
    std::int32_t player_slots = 0; ///< players at most
};

/// 0.7: body, marking, decoration, hands, feet, eyes.
struct skin {
    std::array<std::string_view, 6> parts{};         ///< names of the six
    std::array<std::int32_t, 6> use_custom_colors{}; ///< 0 or 1 for each of the six
    std::array<std::int32_t, 6> colors{};            ///< hue, saturation, lightness, for each of the six
};
/// 0.7: who a client is.
struct client_info {
    static constexpr message_type type = message_type::client_info; ///< what it is
    std::int32_t client_id = 0;                                     ///< who
    bool local = false;                                             ///< whether it is the client itself
    std::int32_t team = 0;                                          ///< -1 spectators, 0 red, 1 blue
    std::string_view name;                                          ///< of the player
    std::string_view clan;                                          ///< of the player
    std::int32_t country = -1;                                      ///< ISO 3166-1 number; -1 for none
    messages::skin skin;                                            ///< what it looks like
    bool silent = false;                                            ///< without words in the chat
};
/// 0.7: a player's new skin.
struct skin_change {
    static constexpr message_type type = message_type::skin_change; ///< what it is
    std::int32_t client_id = 0;                                     ///< who
    messages::skin skin;                                            ///< the new one
};
/// 0.7: limits of the game.
struct game_info {
    static constexpr message_type type = message_type::game_info; ///< what it is
    std::int32_t flags = 0;                                       ///< of the game
    std::int32_t score_limit = 0;                                 ///< 0 for none
    std::int32_t time_limit = 0;                                  ///< minutes, 0 for none
    std::int32_t match_number = 0;                                ///< matches in the rotation, 0 for none
    std::int32_t match_current = 0;                               ///< the one that is played
};
/// 0.7: a client left.
struct client_drop {
    static constexpr message_type type = message_type::client_drop; ///< what it is
    std::int32_t client_id = 0;                                     ///< who
    std::string_view reason;                                        ///< why
    bool silent = false;                                            ///< without words in the chat
};

// of the game, from clients

/// Speaks.
struct say {
    static constexpr message_type type = message_type::say; ///< what it is
    std::int32_t mode = 0;                                  ///< 0.6: 1 for the team; 0.7: as chat.team
    std::int32_t target = -1;                               ///< 0.7
    std::string_view text;                                  ///< what is said
};
/// Asks for a team.
struct set_team {
    static constexpr message_type type = message_type::set_team; ///< what it is
    std::int32_t team = -1;                                      ///< -1: spectators
};
/// Asks for another view.
struct set_spectator_mode {
    static constexpr message_type type = message_type::set_spectator_mode; ///< what it is
    std::int32_t mode = 0;       ///< 0.7: 0 free view, 1 player, 2 and 3 flags
    std::int32_t client_id = -1; ///< client id that is watched; -1 for none
};
/// Name, clan and look of the player.
struct start_info {
    static constexpr message_type type = message_type::start_info; ///< what it is
    std::string_view name;                                         ///< of the player
    std::string_view clan;                                         ///< of the player
    std::int32_t country = -1;                                     ///< ISO 3166-1 number; -1 for none
    std::string_view skin_name = "default";                        ///< 0.6
    bool use_custom_color = false;                                 ///< 0.6
    std::int32_t color_body = 0;                                   ///< 0.6
    std::int32_t color_feet = 0;                                   ///< 0.6
    messages::skin skin;                                           ///< 0.7
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
