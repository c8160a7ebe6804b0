#include "teewire/message_types.hpp"

#include <algorithm>

namespace teewire {

// ---- names and numbers ---------------------------------------------------------------------------------------------

namespace {

using enum message_type;

constexpr message_description plain(message_type type, std::string_view name, bool system, std::uint8_t id_06,
                                    std::uint8_t id_07, bool vital = true) noexcept {
    return {type, name, system, vital, id_06, id_07, {}};
}
constexpr message_description system(message_type type, std::string_view name, std::uint8_t id_06,
                                     std::uint8_t id_07, bool vital = true) noexcept {
    return plain(type, name, true, id_06, id_07, vital);
}
constexpr message_description game(message_type type, std::string_view name, std::uint8_t id_06,
                                   std::uint8_t id_07) noexcept {
    return plain(type, name, false, id_06, id_07);
}
constexpr message_description by_uuid(message_type type, std::string_view name, bool system, std::string_view id,
                                      bool vital = true) noexcept {
    return {type, name, system, vital, 0, 0, uuid::parse(id)};
}

constexpr message_description table[] = {
    {unknown, "unknown", false, false, 0, 0, {}},
    system(info, "info", 1, 1),
    system(map_change, "map_change", 2, 2),
    system(map_data, "map_data", 3, 3),
    system(server_info, "server_info", 0, 4),
    system(con_ready, "con_ready", 4, 5),
    system(snap, "snap", 5, 6, false),
    system(snap_empty, "snap_empty", 6, 7, false),
    system(snap_single, "snap_single", 7, 8, false),
    system(snap_small, "snap_small", 8, 9, false),
    system(input_timing, "input_timing", 9, 10, false),
    system(rcon_auth_status, "rcon_auth_status", 10, 0),
    system(rcon_auth_on, "rcon_auth_on", 0, 11),
    system(rcon_auth_off, "rcon_auth_off", 0, 12),
    system(rcon_line, "rcon_line", 11, 13),
    system(rcon_cmd_add, "rcon_cmd_add", 25, 14),
    system(rcon_cmd_rem, "rcon_cmd_rem", 26, 15),
    system(ready, "ready", 14, 18),
    system(enter_game, "enter_game", 15, 19),
    system(input, "input", 16, 20, false),
    system(rcon_cmd, "rcon_cmd", 17, 21),
    system(rcon_auth, "rcon_auth", 18, 22),
    system(request_map_data, "request_map_data", 19, 23),
    system(ping, "ping", 22, 26, false),
    system(ping_reply, "ping_reply", 23, 27, false),
    system(maplist_entry_add, "maplist_entry_add", 0, 29),
    system(maplist_entry_rem, "maplist_entry_rem", 0, 30),
    by_uuid(what_is, "what_is", true, "245e5097-9fe0-39d6-bf7d-9a29e1691e4c"),
    by_uuid(it_is, "it_is", true, "6954847e-2e87-3603-b562-36da29ed1aca"),
    by_uuid(i_dont_know, "i_dont_know", true, "416911b5-7973-33bf-8d52-7bf01e519cf0"),
    by_uuid(rcon_type, "rcon_type", true, "12810e1f-a1db-3378-b4fb-164ed6505926"),
    by_uuid(map_details, "map_details", true, "f9117b3c-8039-3416-9fc0-aef2bcb75c03"),
    by_uuid(capabilities, "capabilities", true, "f621a5a1-f585-3775-8e73-41beee79f2b2"),
    by_uuid(client_version, "client_version", true, "8c001304-8461-3e47-8787-f672b3835bd4"),
    by_uuid(ping_ex, "ping_ex", true, "bcb43bf5-427c-36d8-b5b8-7975c8c06aa1", false),
    by_uuid(pong_ex, "pong_ex", true, "d8295530-14a7-3a0a-b02e-b2cee08d2033", false),
    by_uuid(checksum_request, "checksum_request", true, "60a7cef1-2ecc-3ed4-b138-00fd0c8f5994"),
    by_uuid(checksum_response, "checksum_response", true, "88fc61ec-5a3c-3fc3-8dfa-fd3b715db9e0"),
    by_uuid(checksum_error, "checksum_error", true, "090960d1-4000-3fd5-9670-4976ae702a6a"),
    by_uuid(redirect, "redirect", true, "4efe406a-7774-33f1-bfde-1806ff6d1528"),
    by_uuid(rcon_cmd_group_start, "rcon_cmd_group_start", true, "85f67ffe-f1b1-3af3-98c4-26dbf77111b7"),
    by_uuid(rcon_cmd_group_end, "rcon_cmd_group_end", true, "5e02c980-6ca1-3c99-a9af-4650ae956252"),
    by_uuid(map_reload, "map_reload", true, "9a9b28a3-19b0-37d9-b1f4-2cccfba05bac"),
    by_uuid(reconnect, "reconnect", true, "5f4d5db7-3947-3711-b04e-07a1ff23c970"),
    by_uuid(maplist_add, "maplist_add", true, "ca956101-b034-3339-92ca-aa104b20d770"),
    by_uuid(maplist_group_start, "maplist_group_start", true, "d2fafec0-5cd2-319a-a84d-480f2072dee4"),
    by_uuid(maplist_group_end, "maplist_group_end", true, "43fd0a8b-8b23-350d-b3f6-0de549246a70"),
    game(motd, "motd", 1, 1),
    game(broadcast, "broadcast", 2, 2),
    game(chat, "chat", 3, 3),
    game(team, "team", 0, 4),
    game(kill, "kill", 4, 5),
    game(sound_global, "sound_global", 5, 0),
    game(tune_params, "tune_params", 6, 6),
    game(extra_projectile, "extra_projectile", 7, 7),
    game(ready_to_enter, "ready_to_enter", 8, 8),
    game(weapon_pickup, "weapon_pickup", 9, 9),
    game(emoticon, "emoticon", 10, 10),
    game(vote_clear_options, "vote_clear_options", 11, 11),
    game(vote_option_list_add, "vote_option_list_add", 12, 12),
    game(vote_option_add, "vote_option_add", 13, 13),
    game(vote_option_remove, "vote_option_remove", 14, 14),
    game(vote_set, "vote_set", 15, 15),
    game(vote_status, "vote_status", 16, 16),
    game(server_settings, "server_settings", 0, 17),
    game(client_info, "client_info", 0, 18),
    game(game_info, "game_info", 0, 19),
    game(client_drop, "client_drop", 0, 20),
    game(game_message_07, "game_message", 0, 21),
    game(demo_client_enter, "demo_client_enter", 0, 22),
    game(demo_client_leave, "demo_client_leave", 0, 23),
    game(say, "say", 17, 24),
    game(set_team, "set_team", 18, 25),
    game(set_spectator_mode, "set_spectator_mode", 19, 26),
    game(start_info, "start_info", 20, 27),
    game(change_info, "change_info", 21, 0),
    game(kill_self, "kill_self", 22, 28),
    game(ready_change, "ready_change", 0, 29),
    game(client_emoticon, "client_emoticon", 23, 30),
    game(vote, "vote", 24, 31),
    game(call_vote, "call_vote", 25, 32),
    game(is_ddnet_legacy, "is_ddnet_legacy", 26, 0),
    game(race_time_legacy, "race_time_legacy", 27, 0),
    game(record_legacy, "record_legacy", 28, 0),
    game(teams_state_legacy, "teams_state_legacy", 30, 0),
    game(show_others_legacy, "show_others_legacy", 31, 0),
    game(skin_change, "skin_change", 0, 33),
    game(client_skin_change, "client_skin_change", 0, 34),
    game(race_finish_07, "race_finish", 0, 35),
    game(checkpoint, "checkpoint", 0, 36),
    game(command_info_07, "command_info", 0, 37),
    game(command_info_remove_07, "command_info_remove", 0, 38),
    game(command, "command", 0, 39),
    by_uuid(teams_state, "teams_state", false, "a091961a-95e8-3744-bb60-5eac9bd563c6"),
    by_uuid(race_time, "race_time", false, "5dde8b3c-6f6f-37ac-a72a-bb341fe76de5"),
    by_uuid(record, "record", false, "804f149f-9b53-3b0a-897f-59663a1c4eb9"),
    by_uuid(kill_team, "kill_team", false, "ee610b6f-909f-311e-93f7-11a95f55a086"),
    by_uuid(your_vote, "your_vote", false, "bfd7f0fc-16d5-3e10-8015-a78380f13870"),
    by_uuid(race_finish, "race_finish", false, "c915ba68-0a49-3324-915a-7a6220cecf33"),
    by_uuid(command_info, "command_info", false, "90778f65-1b8f-322a-9713-cf741aa44a05"),
    by_uuid(map_sound_global, "map_sound_global", false, "669c9741-695a-369b-856c-a254f6b7f0cb"),
    by_uuid(pre_input, "pre_input", false, "b5d3a686-ad59-382c-b3de-d9fedc3320ae", false),
    by_uuid(map_info, "map_info", false, "da46b81d-a060-30c3-9abb-dd2945e8edb4"),
    by_uuid(save_code, "save_code", false, "dc9edffb-266a-3bd6-b101-a949fa44e16b"),
    by_uuid(change_info_cooldown, "change_info_cooldown", false, "746cb54c-6b2b-39a7-8cd8-7c7a1c6c3009"),
    by_uuid(server_alert, "server_alert", false, "035206dc-9f8b-315c-9abf-5ab9153a857c"),
    by_uuid(moderator_alert, "moderator_alert", false, "d7c55683-7983-32f0-8d9a-877434ea19d5"),
    by_uuid(show_distance, "show_distance", false, "53bb28af-4252-3ac9-8fd3-6ccbc2a603e3"),
    by_uuid(show_others, "show_others", false, "7f264cdd-71a2-3962-bbce-0f94bbd81913"),
    by_uuid(camera_info, "camera_info", false, "8c470228-ee11-3808-93b9-c5c87d08b51c"),
    by_uuid(command_info_remove, "command_info_remove", false, "eb2e77ce-e9a2-35aa-94be-235f523ac1aa"),
    by_uuid(vote_option_group_start, "vote_option_group_start", false, "969d127c-b768-390d-8879-6104993769fa"),
    by_uuid(vote_option_group_end, "vote_option_group_end", false, "4f096765-39b1-3766-82dc-61b20ccf589a"),
    by_uuid(command_info_group_start, "command_info_group_start", false, "9e220138-d393-3cb0-90f1-e587c00ab1d0"),
    by_uuid(command_info_group_end, "command_info_group_end", false, "054125d8-0062-3891-840b-47462285a01f"),
    by_uuid(enable_spectator_count, "enable_spectator_count", false, "e19b66e8-0646-351b-aa03-d4aba7b9545f"),
};
static_assert(std::size(table) == message_type_count);
static_assert([] {
    for (std::size_t i = 0; i < message_type_count; ++i)
        if (table[i].type != static_cast<message_type>(i)) return false;
    return true;
}());

constexpr std::size_t ids = 64;
struct id_map {
    std::array<message_type, ids> game{}, system{};
};
constexpr id_map map_of(std::uint8_t message_description::*id) noexcept {
    id_map map;
    for (auto const& d : table)
        if (d.*id != 0) (d.system ? map.system : map.game)[static_cast<std::size_t>(d.*id)] = d.type;
    return map;
}
constexpr id_map map_06 = map_of(&message_description::id_06);
constexpr id_map map_07 = map_of(&message_description::id_07);

} // namespace

message_type identify(message const& m, protocol p) noexcept {
    if (m.id == 0) {
        auto const* const found = std::find_if(std::begin(table) + 1, std::end(table), [&](auto const& d) {
            return d.extended == m.extended && d.system == m.system && d.id_06 == 0 && d.id_07 == 0;
        });
        return found != std::end(table) ? found->type : unknown;
    }
    if (m.id < 0 || m.id >= static_cast<std::int32_t>(ids)) return unknown;
    id_map const& map = p == protocol::teeworlds_07 ? map_07 : map_06;
    return (m.system ? map.system : map.game)[static_cast<std::size_t>(m.id)];
}

message_description const& describe(message_type type) noexcept {
    auto const number = static_cast<std::size_t>(type);
    return table[number < message_type_count ? number : 0];
}

// ---- fields --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t sha256_bytes = 32;

// Both have the same members, so that the fields of a message are listed once.
class field_reader {
public:
    static constexpr bool writes = false;
    explicit field_reader(std::span<std::uint8_t const> fields) noexcept : in_{fields} {}

    void number(std::int32_t& value) noexcept { value = in_.read_int(); }
    void number(std::uint32_t& value) noexcept { value = static_cast<std::uint32_t>(in_.read_int()); }
    void number(bool& value) noexcept { value = in_.read_int() != 0; }
    // One that older programs leave out.
    template <class T>
    void optional_number(T& value) noexcept {
        value = {};
        if (!in_.rest().empty()) number(value);
    }
    void text(std::string_view& value) noexcept { value = in_.read_string(); }
    void optional_text(std::string_view& value) noexcept {
        value = {};
        if (!in_.rest().empty()) text(value);
    }
    void bytes(std::span<std::uint8_t const>& value, std::size_t size) noexcept { value = in_.read_raw(size); }
    void optional_bytes(std::span<std::uint8_t const>& value, std::size_t size) noexcept {
        value = {};
        if (in_.rest().size() >= size) bytes(value, size);
    }
    void sized_bytes(std::span<std::uint8_t const>& value) noexcept {
        std::size_t const at = in_.position();
        std::int32_t const size = in_.read_int();
        if (size < 0) refuse(at);
        else value = in_.read_raw(static_cast<std::size_t>(size));
    }
    void rest(std::span<std::uint8_t const>& value) noexcept { value = in_.read_raw(in_.rest().size()); }
    void id(uuid& value) noexcept {
        auto const raw = in_.read_raw(value.bytes.size());
        std::copy(raw.begin(), raw.end(), value.bytes.begin());
    }
    // Their size in bytes comes first; count is of ints.
    void sized_numbers(std::span<std::int32_t> values, std::uint32_t& count) noexcept {
        std::size_t const at = in_.position();
        std::int32_t const size = in_.read_int();
        if (size < 0 || static_cast<std::size_t>(size) / 4 > values.size()) return refuse(at);
        count = static_cast<std::uint32_t>(size) / 4;
        for (auto& value : values.first(count)) number(value);
    }
    void numbers_to_end(std::span<std::int32_t> values, std::uint32_t& count) noexcept {
        for (count = 0; count < values.size() && in_.ok() && !in_.rest().empty(); ++count) number(values[count]);
    }

    [[nodiscard]] failure error() const noexcept { return refused_.code != errc::ok ? refused_ : in_.error(); }

private:
    void refuse(std::size_t at) noexcept {
        if (error().code == errc::ok) refused_ = {errc::bad_count, at};
    }

    unpacker in_;
    failure refused_{};
};

class field_writer {
public:
    static constexpr bool writes = true;
    explicit field_writer(packer& out) noexcept : out_{out} {}

    void number(std::int32_t value) noexcept { out_.add_int(value); }
    void number(std::uint32_t value) noexcept { out_.add_int(static_cast<std::int32_t>(value)); }
    void number(bool value) noexcept { out_.add_int(value); }
    template <class T>
    void optional_number(T value) noexcept {
        number(value);
    }
    void text(std::string_view value) noexcept { out_.add_string(value); }
    void optional_text(std::string_view value) noexcept { out_.add_string(value); }
    void bytes(std::span<std::uint8_t const> value, [[maybe_unused]] std::size_t size) noexcept {
        assert(value.size() == size);
        out_.add_raw(value);
    }
    void optional_bytes(std::span<std::uint8_t const> value, [[maybe_unused]] std::size_t size) noexcept {
        assert(value.empty() || value.size() == size);
        out_.add_raw(value);
    }
    void sized_bytes(std::span<std::uint8_t const> value) noexcept {
        out_.add_int(static_cast<std::int32_t>(value.size())).add_raw(value);
    }
    void rest(std::span<std::uint8_t const> value) noexcept { out_.add_raw(value); }
    void id(uuid const& value) noexcept { out_.add_raw(value.bytes); }
    void sized_numbers(std::span<std::int32_t const> values, std::uint32_t count) noexcept {
        assert(count <= values.size());
        out_.add_int(static_cast<std::int32_t>(4 * count));
        numbers_to_end(values, count);
    }
    void numbers_to_end(std::span<std::int32_t const> values, std::uint32_t count) noexcept {
        assert(count <= values.size());
        for (std::int32_t const value : values.first(count)) out_.add_int(value);
    }

private:
    packer& out_;
};

template <class Io>
void fields(Io& io, messages::info& m, bool v07) noexcept {
    if (Io::writes && m.version.empty()) m.version = v07 ? net_version_07 : net_version_06;
    io.text(m.version);
    io.text(m.password);
    if (v07) io.optional_number(m.client_version);
}
template <class Io>
void fields(Io& io, messages::map_change& m, bool v07) noexcept {
    io.text(m.name);
    io.number(m.crc);
    io.number(m.size);
    if (!v07) return;
    io.number(m.chunks_per_request);
    io.number(m.chunk_size);
    io.optional_bytes(m.sha256, sha256_bytes);
}
template <class Io>
void fields(Io& io, messages::map_data& m, bool v07) noexcept {
    if (v07) return io.rest(m.data);
    io.number(m.last);
    io.number(m.crc);
    io.number(m.number);
    io.sized_bytes(m.data);
}
template <class Io>
void fields(Io& io, messages::request_map_data& m, bool v07) noexcept {
    if (!v07) io.number(m.number);
}
template <class Io>
void fields(Io& io, messages::server_info& m, bool) noexcept {
    for (auto* const text : {&m.version, &m.name, &m.host_name, &m.map, &m.game_type}) io.text(*text);
    for (auto* const number : {&m.flags, &m.skill_level, &m.players, &m.player_slots, &m.clients, &m.max_clients})
        io.number(*number);
}
template <class Io>
void fields(Io&, messages::con_ready&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::ready&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::enter_game&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::ping&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::ping_reply&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::map_reload&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::reconnect&, bool) noexcept {}
template <class Io>
void fields(Io& io, messages::input_timing& m, bool) noexcept {
    io.number(m.tick);
    io.number(m.time_left);
}
template <class Io>
void fields(Io& io, messages::input& m, bool v07) noexcept {
    io.number(m.ack);
    io.number(m.tick);
    io.sized_numbers(m.data, m.size);
    if (v07) io.optional_number(m.ping_correction);
}
template <class Io>
void fields(Io& io, messages::rcon_line& m, bool) noexcept {
    io.text(m.text);
}
template <class Io>
void fields(Io& io, messages::what_is& m, bool) noexcept {
    io.id(m.asked);
}
template <class Io>
void fields(Io& io, messages::i_dont_know& m, bool) noexcept {
    io.id(m.asked);
}
template <class Io>
void fields(Io& io, messages::it_is& m, bool) noexcept {
    io.id(m.asked);
    io.text(m.name);
}
template <class Io>
void fields(Io& io, messages::capabilities& m, bool) noexcept {
    io.number(m.version);
    io.number(m.flags);
}
template <class Io>
void fields(Io& io, messages::map_details& m, bool) noexcept {
    io.text(m.name);
    io.bytes(m.sha256, sha256_bytes);
    io.number(m.crc);
    io.number(m.size);
    io.optional_text(m.url);
}
template <class Io>
void fields(Io& io, messages::client_version& m, bool) noexcept {
    io.id(m.connection);
    io.number(m.version);
    io.text(m.text);
}
template <class Io>
void fields(Io& io, messages::ping_ex& m, bool) noexcept {
    io.id(m.id);
}
template <class Io>
void fields(Io& io, messages::pong_ex& m, bool) noexcept {
    io.id(m.id);
}
template <class Io>
void fields(Io& io, messages::redirect& m, bool) noexcept {
    io.number(m.port);
}
template <class Io>
void fields(Io& io, messages::motd& m, bool) noexcept {
    io.text(m.text);
}
template <class Io>
void fields(Io& io, messages::broadcast& m, bool) noexcept {
    io.text(m.text);
}
template <class Io>
void fields(Io& io, messages::chat& m, bool v07) noexcept {
    io.number(m.team);
    io.number(m.client_id);
    if (v07) io.number(m.target);
    io.text(m.text);
}
template <class Io>
void fields(Io& io, messages::team& m, bool) noexcept {
    io.number(m.client_id);
    io.number(m.team);
    io.number(m.silent);
    io.number(m.cooldown_tick);
}
template <class Io>
void fields(Io& io, messages::kill& m, bool) noexcept {
    for (auto* const number : {&m.killer, &m.victim, &m.weapon, &m.mode_special}) io.number(*number);
}
template <class Io>
void fields(Io& io, messages::tune_params& m, bool) noexcept {
    io.numbers_to_end(m.values, m.count);
}
template <class Io>
void fields(Io&, messages::ready_to_enter&, bool) noexcept {}
template <class Io>
void fields(Io&, messages::vote_clear_options&, bool) noexcept {}
template <class Io>
void fields(Io& io, messages::weapon_pickup& m, bool) noexcept {
    io.number(m.weapon);
}
template <class Io>
void fields(Io& io, messages::emoticon& m, bool) noexcept {
    io.number(m.client_id);
    io.number(m.emoticon);
}
template <class Io>
void fields(Io& io, messages::server_settings& m, bool) noexcept {
    for (auto* const number :
         {&m.kick_vote, &m.kick_min, &m.spec_vote, &m.team_lock, &m.team_balance, &m.player_slots})
        io.number(*number);
}
template <class Io>
void fields(Io& io, messages::skin& s) noexcept {
    for (auto& part : s.parts) io.text(part);
    for (auto& use : s.use_custom_colors) io.number(use);
    for (auto& color : s.colors) io.number(color);
}
template <class Io>
void fields(Io& io, messages::client_info& m, bool) noexcept {
    io.number(m.client_id);
    io.number(m.local);
    io.number(m.team);
    io.text(m.name);
    io.text(m.clan);
    io.number(m.country);
    fields(io, m.skin);
    io.optional_number(m.silent);
}
template <class Io>
void fields(Io& io, messages::skin_change& m, bool) noexcept {
    io.number(m.client_id);
    fields(io, m.skin);
}
template <class Io>
void fields(Io& io, messages::game_info& m, bool) noexcept {
    for (auto* const number : {&m.flags, &m.score_limit, &m.time_limit, &m.match_number, &m.match_current})
        io.number(*number);
}
template <class Io>
void fields(Io& io, messages::client_drop& m, bool) noexcept {
    io.number(m.client_id);
    io.text(m.reason);
    io.optional_number(m.silent);
}
template <class Io>
void fields(Io& io, messages::say& m, bool v07) noexcept {
    io.number(m.mode);
    if (v07) io.number(m.target);
    io.text(m.text);
}
template <class Io>
void fields(Io& io, messages::set_team& m, bool) noexcept {
    io.number(m.team);
}
template <class Io>
void fields(Io& io, messages::set_spectator_mode& m, bool v07) noexcept {
    if (v07) io.number(m.mode);
    io.number(m.client_id);
}
template <class Io>
void fields(Io& io, messages::start_info& m, bool v07) noexcept {
    io.text(m.name);
    io.text(m.clan);
    io.number(m.country);
    if (v07) return fields(io, m.skin);
    io.text(m.skin_name);
    io.number(m.use_custom_color);
    io.number(m.color_body);
    io.number(m.color_feet);
}

bool is_07(protocol p) noexcept { return p == protocol::teeworlds_07; }

} // namespace

template <class T>
result<T> decode(message const& m, protocol p) noexcept {
    assert(identify(m, p) == T::type);
    field_reader io{m.fields};
    T value;
    fields(io, value, is_07(p));
    if (io.error().code != errc::ok) return io.error();
    return value;
}

template <class T>
result<std::span<std::uint8_t const>> encode(T const& value, protocol p, std::span<std::uint8_t> out) noexcept {
    auto const& what = describe(T::type);
    bool const extended = what.extended != uuid{};
    std::int32_t const id = is_07(p) ? what.id_07 : what.id_06;
    if (id == 0 && !extended) return failure{errc::bad_type, 0};
    packer packed{out};
    packed.add_int(id * 2 + what.system);
    if (extended) packed.add_raw(what.extended.bytes);
    field_writer io{packed};
    T copy = value;
    fields(io, copy, is_07(p));
    return packed.finish();
}

#define TEEWIRE_MESSAGE(T)                                                                                         \
    template result<messages::T> decode(message const&, protocol) noexcept;                                        \
    template result<std::span<std::uint8_t const>> encode(messages::T const&, protocol,                            \
                                                          std::span<std::uint8_t>) noexcept;
TEEWIRE_MESSAGE(info)
TEEWIRE_MESSAGE(map_change)
TEEWIRE_MESSAGE(map_data)
TEEWIRE_MESSAGE(request_map_data)
TEEWIRE_MESSAGE(server_info)
TEEWIRE_MESSAGE(con_ready)
TEEWIRE_MESSAGE(ready)
TEEWIRE_MESSAGE(enter_game)
TEEWIRE_MESSAGE(ping)
TEEWIRE_MESSAGE(ping_reply)
TEEWIRE_MESSAGE(map_reload)
TEEWIRE_MESSAGE(reconnect)
TEEWIRE_MESSAGE(input_timing)
TEEWIRE_MESSAGE(input)
TEEWIRE_MESSAGE(rcon_line)
TEEWIRE_MESSAGE(what_is)
TEEWIRE_MESSAGE(i_dont_know)
TEEWIRE_MESSAGE(it_is)
TEEWIRE_MESSAGE(capabilities)
TEEWIRE_MESSAGE(map_details)
TEEWIRE_MESSAGE(client_version)
TEEWIRE_MESSAGE(ping_ex)
TEEWIRE_MESSAGE(pong_ex)
TEEWIRE_MESSAGE(redirect)
TEEWIRE_MESSAGE(motd)
TEEWIRE_MESSAGE(broadcast)
TEEWIRE_MESSAGE(chat)
TEEWIRE_MESSAGE(team)
TEEWIRE_MESSAGE(kill)
TEEWIRE_MESSAGE(tune_params)
TEEWIRE_MESSAGE(ready_to_enter)
TEEWIRE_MESSAGE(vote_clear_options)
TEEWIRE_MESSAGE(weapon_pickup)
TEEWIRE_MESSAGE(emoticon)
TEEWIRE_MESSAGE(server_settings)
TEEWIRE_MESSAGE(client_info)
TEEWIRE_MESSAGE(skin_change)
TEEWIRE_MESSAGE(game_info)
TEEWIRE_MESSAGE(client_drop)
TEEWIRE_MESSAGE(say)
TEEWIRE_MESSAGE(set_team)
TEEWIRE_MESSAGE(set_spectator_mode)
TEEWIRE_MESSAGE(start_info)
#undef TEEWIRE_MESSAGE

result<messages::snap> decode_snap(message const& m, protocol p) noexcept {
    constexpr std::int32_t max_parts = 64;
    constexpr std::int32_t max_part_bytes = 900;
    message_type const type = identify(m, p);
    assert(type == snap || type == snap_empty || type == snap_single);
    unpacker in{m.fields};
    messages::snap s;
    s.tick = in.read_int();
    std::size_t const distance_at = in.position();
    std::int32_t const distance = in.read_int();
    std::size_t const parts_at = in.position();
    std::int32_t size = 0;
    std::size_t size_at = 0;
    if (type == snap) {
        s.parts = in.read_int();
        s.part = in.read_int();
    }
    if (type != snap_empty) {
        s.has_checksum = true;
        s.checksum = static_cast<std::uint32_t>(in.read_int());
        size_at = in.position();
        size = in.read_int();
    }
    if (!in.ok()) return in.error();
    if (s.tick < 0) return failure{errc::bad_tick, 0};
    // A base of -1 is a distance one larger than the tick; any larger distance means no base, too.
    std::int64_t const base = std::int64_t{s.tick} - distance;
    if (distance <= 0) return failure{errc::bad_tick, distance_at};
    s.base_tick = base < 0 ? -1 : static_cast<std::int32_t>(base);
    if (s.parts < 1 || s.parts > max_parts || s.part < 0 || s.part >= s.parts)
        return failure{errc::bad_count, parts_at};
    if (size < 0 || size > max_part_bytes) return failure{errc::bad_count, size_at};
    s.data = in.read_raw(static_cast<std::size_t>(size));
    if (!in.ok()) return in.error();
    return s;
}

} // namespace teewire
