#include "game/message_fields.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "game/item_text.hpp"

#include <teewire/packer.hpp>

#include <algorithm>
#include <array>

namespace teewire::replay {
namespace {

constexpr std::string_view as_06{};

// Fields are NAME:WORD, with a word of kind_words; without one an int. [N] stands for N of them, [] for all up to the end,
// and ? for a field that may be left out.
struct entry {
    message_type type;
    message_sender sender;
    std::string_view fields_06;
    std::string_view fields_07 = as_06;

    [[nodiscard]] constexpr std::string_view fields(bool v07) const noexcept {
        return v07 && fields_07.data() != nullptr ? fields_07 : fields_06;
    }
};

#define SKIN "skin_parts:skin[6] use_custom_colors:bool[6] colors[6]"
namespace message_table {
using enum message_type;
using enum message_sender;
constexpr entry entries[] = {
    {info, client, "version:fixed password:secret", "version:fixed password:secret client_version?"},
    {map_change, server, "name:map crc:crc size",
     "name:map crc:crc size chunks_per_request chunk_size sha256:sha256?"},
    {map_data, server, "last:bool crc:crc number data:sized_map_data", "data:map_data"},
    {server_info, server,
     "version:fixed name:server host_name:server map:map game_type:server flags skill_level players player_slots "
     "clients "
     "max_clients"},
    {con_ready, server, ""},
    {snap, server, "tick ticks_since_base parts part checksum data:snapshot"},
    {snap_empty, server, "tick ticks_since_base"},
    {snap_single, server, "tick ticks_since_base checksum data:snapshot"},
    {snap_small, nobody, ""},
    {input_timing, server, "tick time_left"},
    {rcon_auth_status, server, "level command_list?"},
    {rcon_auth_on, server, ""},
    {rcon_auth_off, server, ""},
    {rcon_line, server, "text:server"},
    {rcon_cmd_add, server, "name:fixed help:fixed parameters:fixed"},
    {rcon_cmd_rem, server, "name:fixed"},
    {ready, client, ""},
    {enter_game, client, ""},
    {input, client, "ack tick data:sized_ints", "ack tick data:sized_ints ping_correction?"},
    {rcon_cmd, client, "command:secret"},
    {rcon_auth, client, "name:secret password:secret command_list?", "password:secret"},
    {request_map_data, client, "number", ""},
    {ping, both, ""},
    {ping_reply, both, ""},
    {maplist_entry_add, server, "name:map"},
    {maplist_entry_rem, server, "name:map"},

    {what_is, both, "asked:uuid"},
    {it_is, both, "asked:uuid name:fixed"},
    {i_dont_know, both, "asked:uuid"},
    {rcon_type, server, "name_needed:bool"},
    {map_details, server, "name:map sha256:sha256 crc:crc size url:server?"},
    {capabilities, server, "version flags"},
    {client_version, client, "connection:secret_uuid version text:fixed"},
    {ping_ex, both, "id:uuid"},
    {pong_ex, both, "id:uuid"},
    {checksum_request, server, "id:uuid begin size"},
    {checksum_response, client, "id:uuid sha256:sha256"},
    {checksum_error, client, "id:uuid error"},
    {redirect, server, "port"},
    {rcon_cmd_group_start, server, "count?"},
    {rcon_cmd_group_end, server, ""},
    {map_reload, server, ""},
    {reconnect, server, ""},
    {maplist_add, server, "names:map[]"},
    {maplist_group_start, server, "count"},
    {maplist_group_end, server, ""},

    {motd, server, "text:server"},
    {broadcast, server, "text:server"},
    {chat, server, "team client_id text:words", "team client_id target text:words"},
    {team, server, "client_id team silent:bool cooldown_tick"},
    {kill, server, "killer victim weapon mode_special"},
    {sound_global, server, "sound"},
    {tune_params, server, "values:ints"},
    {extra_projectile, server, "count projectiles:ints"},
    {ready_to_enter, server, ""},
    {weapon_pickup, server, "weapon"},
    {emoticon, server, "client_id emoticon"},
    {vote_clear_options, server, ""},
    {vote_option_list_add, server, "count descriptions:server[15]", "count descriptions:server[]"},
    {vote_option_add, server, "description:server"},
    {vote_option_remove, server, "description:server"},
    {vote_set, server, "timeout description:server reason:words",
     "client_id type timeout description:server reason:words"},
    {vote_status, server, "yes no pass total"},
    {server_settings, server,
     "kick_vote:bool kick_min spec_vote:bool team_lock:bool team_balance:bool player_slots"},
    {client_info, server, "client_id local:bool team name:player clan:clan country " SKIN " silent:bool?"},
    {game_info, server, "flags score_limit time_limit match_number match_current"},
    {client_drop, server, "client_id reason:words silent:bool?"},
    {game_message_07, server, "message parameters:ints"},
    {demo_client_enter, recorder, "name:player client_id team"},
    {demo_client_leave, recorder, "name:player client_id reason:words"},
    {say, client, "team:bool text:words", "mode target text:words"},
    {set_team, client, "team"},
    {set_spectator_mode, client, "client_id", "mode client_id"},
    {start_info, client, "name:player clan:clan country skin:skin use_custom_color:bool color_body color_feet",
     "name:player clan:clan country " SKIN},
    {change_info, client, "name:player clan:clan country skin:skin use_custom_color:bool color_body color_feet"},
    {kill_self, client, ""},
    {ready_change, client, ""},
    {client_emoticon, client, "emoticon"},
    {vote, client, "vote"},
    {call_vote, client, "type:fixed value:words reason:words", "type:fixed value:words reason:words force:bool"},
    {is_ddnet_legacy, client, "values:ints"},
    {race_time_legacy, server, "time check finish:bool"},
    {record_legacy, server, "server_best player_best"},
    {teams_state_legacy, server, "teams:ints"},
    {show_others_legacy, client, "show"},
    {skin_change, server, "client_id " SKIN},
    {client_skin_change, client, SKIN},
    {race_finish_07, server, "client_id time difference record_personal:bool record_server:bool?"},
    {checkpoint, server, "difference"},
    {command_info_07, server, "name:fixed parameters:fixed help:fixed"},
    {command_info_remove_07, server, "name:fixed"},
    {command, client, "name:fixed arguments:words"},

    {teams_state, server, "teams:ints"},
    {race_time, server, "time check finish:bool"},
    {record, server, "server_best player_best"},
    {kill_team, server, "team first"},
    {your_vote, server, "vote"},
    {race_finish, server, "client_id time difference record_personal:bool record_server:bool?"},
    {command_info, server, "name:fixed parameters:fixed help:fixed"},
    {map_sound_global, server, "sound"},
    {pre_input, server,
     "direction target_x target_y jump fire hook wanted_weapon next_weapon previous_weapon owner tick"},
    {map_info, server, "description:server"},
    {save_code, server,
     "state error:server requester:player server:server generated_code:secret code:secret team_members:words"},
    {change_info_cooldown, server, "tick"},
    {server_alert, server, "text:server"},
    {moderator_alert, server, "text:server"},
    {show_distance, client, "x y"},
    {show_others, client, "show"},
    {camera_info, client, "zoom dead_zone follow_factor"},
    {command_info_remove, server, "name:fixed"},
    {vote_option_group_start, server, ""},
    {vote_option_group_end, server, ""},
    {command_info_group_start, server, ""},
    {command_info_group_end, server, ""},
    {enable_spectator_count, client, "enable"},
};
} // namespace message_table
#undef SKIN
constexpr auto const& table = message_table::entries;
static_assert(std::size(table) == message_type_count - 1, "all but unknown");
static_assert([] {
    for (std::size_t i = 0; i < std::size(table); ++i)
        if (table[i].type != static_cast<message_type>(i + 1)) return false;
    return true;
}());

constexpr std::string_view kind_names[] = {"int",   "bool", "crc",  "text",       "uuid",      "sha256",
                                           "texts", "ints", "data", "sized_data", "sized_ints"};

struct kind_word {
    std::string_view word;
    message_field_kind kind;
    field_content content = field_content::none;
};
constexpr kind_word kind_words[] = {
    {"bool", message_field_kind::boolean},
    {"crc", message_field_kind::crc},
    {"sha256", message_field_kind::sha256},
    {"ints", message_field_kind::ints},
    {"sized_ints", message_field_kind::sized_ints},
    {"uuid", message_field_kind::uuid, field_content::fixed},
    {"secret_uuid", message_field_kind::uuid, field_content::secret},
    {"map_data", message_field_kind::data, field_content::map},
    {"sized_map_data", message_field_kind::sized_data, field_content::map},
    {"snapshot", message_field_kind::sized_data, field_content::snapshot},
    // Texts: each has to have a content.
    {"player", message_field_kind::text, field_content::player},
    {"clan", message_field_kind::text, field_content::clan},
    {"skin", message_field_kind::text, field_content::skin},
    {"words", message_field_kind::text, field_content::words},
    {"server", message_field_kind::text, field_content::server},
    {"map", message_field_kind::text, field_content::map},
    {"fixed", message_field_kind::text, field_content::fixed},
    {"secret", message_field_kind::text, field_content::secret},
};

constexpr message_field parse_field(std::string_view word) {
    message_field f{word};
    if (f.name.ends_with('?')) {
        f.optional = true;
        f.name.remove_suffix(1);
    }
    if (std::size_t const open = f.name.find('['); open != std::string_view::npos) {
        f.count = 0;
        for (char const c : f.name.substr(open + 1, f.name.size() - open - 2)) f.count = f.count * 10 + (c - '0');
        f.name = f.name.substr(0, open);
    }
    if (std::size_t const colon = f.name.find(':'); colon != std::string_view::npos) {
        auto const* const known =
            std::find_if(std::begin(kind_words), std::end(kind_words),
                         [&](kind_word const& k) { return k.word == f.name.substr(colon + 1); });
        f.kind = known->kind; // an unknown word ends the compilation
        f.content = known->content;
        f.name = f.name.substr(0, colon);
    }
    if (f.count == 0) {
        f.count = 1;
        f.kind = message_field_kind::texts;
    }
    return f;
}

template <class Visit>
constexpr void for_each_field(std::string_view fields, Visit&& visit) {
    while (!fields.empty()) {
        std::size_t const end = std::min(fields.find(' '), fields.size());
        visit(parse_field(fields.substr(0, end)));
        fields.remove_prefix(std::min(end + 1, fields.size()));
    }
}

// The fields of all messages, first those of 0.6 and DDNet, then those of 0.7, and where those of each begin.
struct all_fields {
    static constexpr std::size_t count = [] {
        std::size_t n = 0;
        for (bool const v07 : {false, true})
            for (entry const& e : table) for_each_field(e.fields(v07), [&](message_field const&) { ++n; });
        return n;
    }();

    constexpr all_fields() {
        std::size_t n = 0;
        std::size_t* begin = begins.data();
        for (bool const v07 : {false, true})
            for (entry const& e : table) {
                *begin++ = n;
                for_each_field(e.fields(v07), [&](message_field const& f) { fields[n++] = f; });
            }
        *begin = n;
    }

    std::array<message_field, count> fields{};
    std::array<std::size_t, 2 * std::size(table) + 1> begins{};
};
constexpr all_fields parsed;
std::size_t read_size(unpacker& in) { return static_cast<std::size_t>(std::max(0, in.read_int())); }

std::string read_uuid(unpacker& in) {
    uuid id;
    auto const raw = in.read_raw(id.bytes.size());
    std::copy(raw.begin(), raw.end(), id.bytes.begin());
    return uuid_text(id);
}

std::string value_text(message_field const& f, unpacker& in) {
    auto const up_to_end = [&](auto&& read) {
        std::string text;
        while (in.ok() && !in.rest().empty()) text += fmt::format("{}{}", text.empty() ? "" : " ", read());
        return text;
    };
    auto const text = [&] { return fmt::format("\"{}\"", printable(in.read_string())); };
    switch (f.kind) {
    case message_field_kind::integer:
    case message_field_kind::boolean: break;
    case message_field_kind::crc: return fmt::format("{:08x}", static_cast<std::uint32_t>(in.read_int()));
    case message_field_kind::text: return text();
    case message_field_kind::uuid: return read_uuid(in);
    case message_field_kind::sha256: return hex(in.read_raw(32));
    case message_field_kind::texts: return up_to_end(text);
    case message_field_kind::ints: return up_to_end([&] { return in.read_int(); });
    case message_field_kind::data: return first_bytes_text(in.read_raw(in.rest().size()));
    case message_field_kind::sized_data: return first_bytes_text(in.read_raw(read_size(in)));
    case message_field_kind::sized_ints: {
        std::string values;
        for (std::size_t left = read_size(in) / 4; left > 0 && in.ok(); --left)
            values += fmt::format("{}{}", values.empty() ? "" : " ", in.read_int());
        return values;
    }
    }
    return fmt::format("{}", in.read_int());
}

void write_value(json_writer& json, message_field const& f, unpacker& in) {
    auto const up_to_end = [&](auto&& read) {
        json.StartArray();
        while (in.ok() && !in.rest().empty()) read();
        json.EndArray();
    };
    auto const text = [&] { write_string(json, valid_utf8(in.read_string())); };
    auto const bytes = [&](std::size_t count) { write_string(json, hex(in.read_raw(count))); };
    switch (f.kind) {
    case message_field_kind::integer:
    case message_field_kind::crc: break;
    case message_field_kind::boolean: {
        std::int32_t const value = in.read_int();
        if (value == 0 || value == 1) json.Bool(value == 1);
        else json.Int(value);
        return;
    }
    case message_field_kind::text: return text();
    case message_field_kind::uuid: return write_string(json, read_uuid(in));
    case message_field_kind::sha256: return bytes(32);
    case message_field_kind::texts: return up_to_end(text);
    case message_field_kind::ints: return up_to_end([&] { json.Int(in.read_int()); });
    case message_field_kind::data: return bytes(in.rest().size());
    case message_field_kind::sized_data: return bytes(read_size(in));
    case message_field_kind::sized_ints:
        json.StartArray();
        for (std::size_t left = read_size(in) / 4; left > 0 && in.ok(); --left) json.Int(in.read_int());
        json.EndArray();
        return;
    }
    json.Int(in.read_int());
}

} // namespace

std::string_view name(message_sender s) noexcept {
    constexpr std::string_view names[] = {"server", "client", "both", "recorder", "nobody"};
    return names[static_cast<std::size_t>(s)];
}

std::string_view name(message_field_kind kind) noexcept {
    return kind_names[static_cast<std::size_t>(kind == message_field_kind::crc ? message_field_kind::integer
                                                                               : kind)];
}

bool has_message(message_type type, protocol p) noexcept {
    using enum message_type;
    if (type == unknown) return false;
    message_description const& d = describe(type);
    bool const by_uuid = d.id_06 == 0 && d.id_07 == 0;
    // DDNet's own, which other servers of 0.6 do not know.
    bool const legacy = type == is_ddnet_legacy || type == race_time_legacy || type == record_legacy ||
                        type == teams_state_legacy || type == show_others_legacy;
    switch (p) {
    case protocol::teeworlds_06: return d.id_06 != 0 && !legacy;
    case protocol::ddnet: return d.id_06 != 0 || by_uuid;
    case protocol::teeworlds_07: return d.id_07 != 0 || by_uuid;
    }
    return false;
}

std::optional<message_layout> find_layout(message_type type, protocol p) {
    if (!has_message(type, p)) return {};
    std::size_t const number = static_cast<std::size_t>(type) - 1;
    std::size_t const row = number + (p == protocol::teeworlds_07 ? std::size(table) : 0);
    return message_layout{
        table[number].sender,
        std::span{parsed.fields}.subspan(parsed.begins[row], parsed.begins[row + 1] - parsed.begins[row])};
}

void skip(message_field const& f, unpacker& in) {
    switch (f.kind) {
    case message_field_kind::integer:
    case message_field_kind::boolean:
    case message_field_kind::crc: static_cast<void>(in.read_int()); break;
    case message_field_kind::text: static_cast<void>(in.read_string()); break;
    case message_field_kind::uuid: static_cast<void>(in.read_raw(16)); break;
    case message_field_kind::sha256: static_cast<void>(in.read_raw(32)); break;
    case message_field_kind::texts:
    case message_field_kind::ints:
    case message_field_kind::data: static_cast<void>(in.read_raw(in.rest().size())); break;
    case message_field_kind::sized_data: static_cast<void>(in.read_raw(read_size(in))); break;
    case message_field_kind::sized_ints:
        for (std::size_t left = read_size(in) / 4; left > 0 && in.ok(); --left) static_cast<void>(in.read_int());
        break;
    }
}

bool at_end(unpacker const& in) noexcept {
    constexpr std::size_t most_padding = 3;
    auto const rest = in.rest();
    return in.ok() && rest.size() <= most_padding &&
           std::all_of(rest.begin(), rest.end(), [](std::uint8_t b) { return b == 0; });
}

std::string name_message(message const& m, message_type type) {
    if (type != message_type::unknown) return std::string{describe(type).name};
    if (m.id == 0) return "uuid_" + uuid_text(m.extended);
    return fmt::format("{}_{}", m.system ? "system" : "game", m.id);
}

std::optional<std::string> fields_text(message const& m, message_type type, protocol p, std::size_t* wrong_at) {
    auto const layout = find_layout(type, p);
    if (!layout) return {};
    unpacker in{m.fields};
    std::string text;
    for (message_field const& f : layout->fields) {
        if (f.optional && in.rest().empty()) break;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", f.name);
        if (f.name == "password" && !in.rest().empty() && in.rest()[0] != 0) {
            text += " (not shown)";
            skip(f, in);
            continue;
        }
        for (std::size_t i = 0; i < f.count && in.ok(); ++i) text += fmt::format(" {}", value_text(f, in));
    }
    if (at_end(in)) return text;
    if (wrong_at != nullptr) *wrong_at = in.position();
    return {};
}

std::string fields_json(message const& m, message_type type, protocol p) {
    rapidjson::StringBuffer buffer;
    json_writer json{buffer};
    if (auto const layout = find_layout(type, p)) {
        unpacker in{m.fields};
        {
            object_writer object{json};
            for (message_field const& f : layout->fields) {
                if (f.optional && in.rest().empty()) break;
                object.member(f.name);
                if (f.count > 1) json.StartArray();
                for (std::size_t i = 0; i < f.count && in.ok(); ++i) write_value(json, f, in);
                if (f.count > 1) json.EndArray();
            }
        }
        if (at_end(in)) return {buffer.GetString(), buffer.GetSize()};
    }
    return fmt::format("{{\"data\":\"{}\"}}", hex(m.fields));
}

} // namespace teewire::replay
