#include "printers.hpp"

#include <teewire/message_types.hpp>
#include <teewire/packet.hpp>
#include <teewire/server_info.hpp>

#include <cstdio>

namespace examples {

using namespace teewire;

namespace {

std::string hex32(std::uint32_t value) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(value));
    return text;
}

std::string refused(failure const& error) { return say("refused at ", error.position, ": ", describe(error.code)); }

template <class T, class Print>
std::string with(message const& m, protocol p, Print&& print) {
    auto const fields = decode<T>(m, p);
    return fields ? print(*fields) : refused(fields.error());
}

std::string snap_text(message const& m, protocol p, message_type type) {
    auto const s = decode_snap(m, p);
    if (!s) return refused(s.error());
    std::string text = say("tick ", s->tick, ", ");
    text += s->base_tick < 0 ? std::string{"no base"} : say("base ", s->base_tick);
    if (type == message_type::snap) text += say(", part ", s->part, " of ", s->parts);
    if (s->has_checksum) text += say(", checksum ", static_cast<std::int32_t>(s->checksum));
    if (!s->data.empty()) text += say(", delta ", hex(s->data));
    return text;
}

std::string fields_text(message const& m, protocol p, message_type type) {
    namespace ms = messages;
    bool const v07 = p == protocol::teeworlds_07;
    switch (type) {
    case message_type::info:
        return with<ms::info>(m, p, [&](auto const& f) {
            return say("version ", quoted(f.version), ", password ", quoted(f.password),
                       v07 ? say(", client ", f.client_version) : "");
        });
    case message_type::map_change:
        return with<ms::map_change>(m, p, [&](auto const& f) {
            std::string text = say(quoted(f.name), ", crc ", hex32(f.crc), ", ", f.size, " bytes");
            if (v07) text += say(", ", f.chunks_per_request, " chunks of ", f.chunk_size, " for each request");
            return text;
        });
    case message_type::map_data:
        return with<ms::map_data>(m, p, [&](auto const& f) {
            return v07 ? hex(f.data)
                       : say("number ", f.number, f.last ? ", the last" : "", ", crc ", hex32(f.crc), ": ",
                             hex(f.data));
        });
    case message_type::request_map_data:
        return v07 ? "" : with<ms::request_map_data>(m, p, [](auto const& f) { return say("number ", f.number); });
    case message_type::snap:
    case message_type::snap_empty:
    case message_type::snap_single: return snap_text(m, p, type);
    case message_type::input_timing:
        return with<ms::input_timing>(m, p,
                                      [](auto const& f) { return say("tick ", f.tick, ", ", f.time_left, " ms"); });
    case message_type::input:
        return with<ms::input>(m, p, [&](auto const& f) {
            return say("has ", f.ack, ", for ", f.tick, ": ", joined(std::span{f.data}.first(f.size)),
                       v07 ? say(", ping correction ", f.ping_correction) : "");
        });
    case message_type::capabilities:
        return with<ms::capabilities>(
            m, p, [](auto const& f) { return say("version ", f.version, ", flags ", f.flags); });
    case message_type::chat:
        return with<ms::chat>(m, p, [&](auto const& f) {
            return say(v07 ? "mode " : "team ", f.team, ", client ", f.client_id,
                       v07 ? say(", target ", f.target) : "", ", ", quoted(f.text));
        });
    case message_type::kill:
        return with<ms::kill>(m, p, [](auto const& f) {
            return say("killer ", f.killer, ", victim ", f.victim, ", weapon ", f.weapon, ", special ",
                       f.mode_special);
        });
    case message_type::motd: return with<ms::motd>(m, p, [](auto const& f) { return quoted(f.text); });
    case message_type::start_info:
        return with<ms::start_info>(m, p, [&](auto const& f) {
            return say(quoted(f.name), ", ", quoted(f.clan), ", country ", f.country, ", skin ",
                       quoted(v07 ? f.skin.parts[0] : f.skin_name));
        });
    case message_type::server_settings:
        return with<ms::server_settings>(m, p, [](auto const& f) {
            return say("kick vote ", f.kick_vote, " from ", f.kick_min, ", spectate vote ", f.spec_vote, ", lock ",
                       f.team_lock, ", balance ", f.team_balance, ", slots ", f.player_slots);
        });
    case message_type::set_team:
        return with<ms::set_team>(m, p, [](auto const& f) { return say("team ", f.team); });
    default: return m.fields.empty() ? std::string{} : hex(m.fields);
    }
}

std::string message_text(std::span<std::uint8_t const> data, protocol p) {
    auto const m = parse_message(data);
    if (!m) return refused(m.error());
    auto const type = identify(*m, p);
    std::string const fields = fields_text(*m, p, type);
    return say(m->system ? "system " : "game ", m->id == 0 ? "by UUID" : std::to_string(m->id), " ",
               describe(type).name, fields.empty() ? "" : ": ", fields);
}

wire_format format_named(std::string const& name) {
    for (auto const f : {wire_format::v06, wire_format::v06_token, wire_format::ddnet, wire_format::v07})
        if (teewire::name(f) == name) return f;
    throw std::runtime_error{"no wire format " + name};
}

protocol protocol_of(wire_format format) {
    return format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
}

lines print_packet(bytes const& data, wire_format format) {
    auto const p = parse_packet(data, format);
    if (!p) return {refused(p.error())};
    std::string head = say("ack ", p->ack, p->resend ? ", asks for all again" : "",
                           p->compressed ? ", compressed" : "", p->has_token ? ", token " + hex32(p->token) : "");
    if (p->control) {
        auto const m = parse_control(p->payload, format);
        if (!m) return {head, refused(m.error())};
        std::string text = say("control ", name(m->code), m->ddnet ? ", DDNet" : "");
        if (m->has_token) text += ", token " + hex32(m->token);
        if (!m->reason.empty()) text += ", reason " + quoted(m->reason);
        return {head, text};
    }
    payload_memory memory;
    auto const payload = decode_payload(*p, memory);
    if (!payload) return {head, refused(payload.error())};
    lines out{head};
    chunk_reader reader{*payload, p->chunks, format};
    for (chunk c; reader.next(c);) {
        std::string text = c.vital ? say("vital ", c.sequence, c.resend ? " again" : "") : "not vital";
        out.push_back(say(text, ", ", c.data.size(), " bytes: ", message_text(c.data, protocol_of(format))));
    }
    if (reader.error() != failure{}) out.push_back(refused(reader.error()));
    if (!reader.rest().empty()) out.push_back("then " + hex(reader.rest()));
    return out;
}

lines print_connless(bytes const& data) {
    auto const p = parse_connless(data);
    if (!p) return {refused(p.error())};
    std::string head = "connectionless";
    if (p->format == connless_format::v06_extended) head += ", extra " + hex(p->extra);
    if (p->format == connless_format::v07)
        head += say(", token ", hex32(p->token), ", response token ", hex32(p->response_token));
    if (auto const request = parse_server_info_request(*p)) return {head, say("request, token ", request->token)};
    auto const info = parse_server_info(*p);
    if (!info) return {head, refused(info.error())};
    auto const& s = info->server;
    return {head, say("answer, token ", info->token),
            say(quoted(s.name), ", version ", quoted(s.version), ", map ", quoted(s.map), ", game ",
                quoted(s.game_type), ", flags ", s.flags),
            say(s.players, " of ", s.max_players, " players, ", s.clients, " of ", s.max_clients, " clients")};
}

} // namespace

std::optional<lines> print_network(std::vector<std::string> const& words, bytes const& data) {
    auto const& kind = words.at(0);
    if (kind == "packet") return print_packet(data, format_named(words.at(1)));
    if (kind == "connless") return print_connless(data);
    if (kind == "message") return lines{message_text(data, protocol_of(format_named(words.at(1))))};
    return std::nullopt;
}

} // namespace examples
