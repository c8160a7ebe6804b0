#include "teewire/message.hpp"

#include <algorithm>

namespace teewire {

result<message> parse_message(std::span<std::uint8_t const> bytes) noexcept {
    unpacker in{bytes};
    std::int32_t const head = in.read_int();
    message m;
    m.id = head >> 1;
    m.system = (head & 1) != 0;
    if (in.ok() && m.id == 0) {
        auto const id = in.read_raw(m.extended.bytes.size());
        std::copy(id.begin(), id.end(), m.extended.bytes.begin());
    }
    if (!in.ok()) return in.error();
    m.fields = in.rest();
    return m;
}

namespace {

game_message chat(std::int32_t team, std::int32_t client_id, std::int32_t target, std::string_view text) noexcept {
    game_message m;
    m.kind = client_id < 0 ? message_kind::server_message : message_kind::chat;
    m.client_id = client_id;
    m.team = team;
    m.target = target;
    m.text = text;
    return m;
}

game_message kill(unpacker& in) noexcept {
    game_message m;
    m.kind = message_kind::kill;
    m.client_id = in.read_int();
    m.victim = in.read_int();
    m.weapon = in.read_int();
    in.read_int(); // special to the game mode
    return m;
}

game_message decode_06(std::int32_t id, unpacker& in) noexcept {
    switch (id) {
    case 3: {
        std::int32_t const team = in.read_int();
        std::int32_t const client_id = in.read_int();
        return chat(team, client_id, -1, in.read_string());
    }
    case 4: return kill(in);
    default: return {};
    }
}

game_message decode_07(std::int32_t id, unpacker& in) noexcept {
    game_message m;
    switch (id) {
    case 3: {
        std::int32_t const mode = in.read_int();
        std::int32_t const client_id = in.read_int();
        std::int32_t const target = in.read_int();
        return chat(mode, client_id, target, in.read_string());
    }
    case 4:
        m.kind = message_kind::team;
        m.client_id = in.read_int();
        m.team = in.read_int();
        return m;
    case 5: return kill(in);
    case 18:
        m.kind = message_kind::client_info;
        m.client_id = in.read_int();
        in.read_int(); // whether this is the receiver itself
        m.team = in.read_int();
        m.name = in.read_string();
        m.clan = in.read_string();
        return m;
    case 20:
        m.kind = message_kind::client_leave;
        m.client_id = in.read_int();
        m.text = in.read_string();
        return m;
    case 22:
        m.kind = message_kind::client_enter;
        m.name = in.read_string();
        m.client_id = in.read_int();
        m.team = in.read_int();
        return m;
    case 23:
        m.kind = message_kind::client_leave;
        m.name = in.read_string();
        m.client_id = in.read_int();
        m.text = in.read_string();
        return m;
    default: return m;
    }
}

} // namespace

result<game_message> decode_game_message(message const& raw, protocol p) noexcept {
    if (raw.system) return game_message{};
    unpacker in{raw.fields};
    game_message m;
    if (raw.id == 1 || raw.id == 2) {
        m.kind = raw.id == 1 ? message_kind::motd : message_kind::broadcast;
        m.text = in.read_string();
    } else {
        m = p == protocol::teeworlds_07 ? decode_07(raw.id, in) : decode_06(raw.id, in);
    }
    if (!in.ok()) return in.error();
    return m;
}

} // namespace teewire
