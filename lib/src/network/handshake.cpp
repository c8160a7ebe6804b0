#include "teewire/handshake.hpp"

#include "teewire/siphash.hpp"

#include "../codec/bytes.hpp"

namespace teewire {
namespace {

constexpr milliseconds token_period = 16'000;
constexpr std::size_t padded_bytes = 512; // of payload: less is not answered, so that answers are always smaller

std::uint64_t period_of(milliseconds now) noexcept { return static_cast<std::uint64_t>(now) / token_period; }

// DDNet's token at the end of the payload. Costs a decompression at most, bounded by the size of a packet.
bool ends_with(packet const& p, auto&& matches) noexcept {
    payload_memory memory;
    auto const payload = decode_payload(p, memory);
    return payload && payload->size() >= 4 && matches(detail::get_be32(*payload, payload->size() - 4));
}

} // namespace

std::uint32_t server_gate::token_of(std::span<std::uint8_t const> address, std::uint64_t period) const noexcept {
    siphash hash{secret_};
    hash.add(address);
    for (int shift = 0; shift < 64; shift += 8) hash.add(static_cast<std::uint8_t>(period >> shift));
    auto const token = static_cast<std::uint32_t>(hash.finish());
    return token == 0 || token == no_token ? 0x7eee7eee : token;
}

std::uint32_t server_gate::token(std::span<std::uint8_t const> address, milliseconds now) const noexcept {
    return token_of(address, period_of(now));
}

bool server_gate::valid(std::uint32_t token, std::span<std::uint8_t const> address,
                        milliseconds now) const noexcept {
    std::uint64_t const period = period_of(now);
    return token == token_of(address, period) || token == token_of(address, period - 1);
}

server_gate::decision server_gate::receive(std::span<std::uint8_t const> datagram,
                                           std::span<std::uint8_t const> address, milliseconds now,
                                           packet_memory& out) const noexcept {
    if (datagram.empty() || datagram.size() > max_packet_bytes) return {};
    if (is_connless(datagram)) {
        decision d;
        d.what = verdict::connless;
        return d;
    }
    // An unused bit of 0.6 marks 0.7's control messages, and only those begin a connection.
    bool const v07 = (datagram[0] & 0xc4) == 0x04;
    decision const d = v07 ? receive_07(datagram, address, now, out) : receive_06(datagram, address, now, out);
    assert(d.reply.size() <= datagram.size());
    return d;
}

server_gate::decision server_gate::receive_07(std::span<std::uint8_t const> datagram,
                                              std::span<std::uint8_t const> address, milliseconds now,
                                              packet_memory& out) const noexcept {
    if (!options_.v07) return {};
    auto const p = parse_packet(datagram, wire_format::v07);
    if (!p || !p->control || p->payload.size() < padded_bytes) return {};
    auto const m = parse_control(p->payload, wire_format::v07);
    if (!m || m->token == no_token) return {};
    decision d;
    d.format = wire_format::v07;
    packet_head const to_peer{0, false, m->token};
    if (m->code == control_code::token && p->token == no_token) {
        control_message answer;
        answer.code = control_code::token;
        answer.token = token(address, now);
        d.what = verdict::answer;
        d.reply = write_control(answer, wire_format::v07, to_peer, out);
    } else if (m->code == control_code::connect && valid(p->token, address, now)) {
        control_message answer;
        answer.code = control_code::connect_accept;
        d.what = verdict::accept;
        d.tokens = {p->token, m->token};
        d.reply = write_control(answer, wire_format::v07, to_peer, out);
    }
    return d;
}

server_gate::decision server_gate::receive_06(std::span<std::uint8_t const> datagram,
                                              std::span<std::uint8_t const> address, milliseconds now,
                                              packet_memory& out) const noexcept {
    auto const p = parse_packet(datagram, wire_format::v06);
    if (!p) return {};
    auto const is_ours = [&](std::uint32_t token) { return valid(token, address, now); };
    auto const accept = [&](wire_format format, std::uint32_t token, bool data) {
        decision d;
        d.what = verdict::accept;
        d.format = format;
        d.tokens = {token, token};
        d.data = data;
        return d;
    };
    auto const answer = [&](wire_format format, control_message const& m, std::uint32_t header_token) {
        decision d;
        d.what = verdict::answer;
        d.format = format;
        d.reply = write_control(m, format, {0, false, header_token}, out);
        return d;
    };

    if (!p->control) {
        // The first message of 0.6.5's client, which sends no accept, and of one of DDNet's whose accept was lost.
        if (p->has_token)
            return options_.v06_token && is_ours(p->token) ? accept(wire_format::v06_token, p->token, true)
                                                           : decision{};
        std::uint32_t token = no_token;
        auto const matches = [&](std::uint32_t found) {
            token = found;
            return is_ours(found);
        };
        return options_.ddnet && ends_with(*p, matches) ? accept(wire_format::ddnet, token, true) : decision{};
    }
    auto const m = parse_control(p->payload, wire_format::ddnet);
    if (!m) return {};
    control_message reply;
    reply.code = control_code::connect_accept;
    if (m->code == control_code::connect) {
        if (m->ddnet) {
            if (!options_.ddnet) return {};
            reply.ddnet = true;
            return answer(wire_format::ddnet, reply, token(address, now));
        }
        if (m->has_token) {
            if (!options_.v06_token || p->has_token) return {};
            reply.token = token(address, now);
            return answer(wire_format::v06_token, reply, m->token);
        }
        if (options_.v06) return answer(wire_format::v06, reply, no_token);
    } else if (m->code == control_code::accept) {
        if (m->has_token) {
            return options_.ddnet && is_ours(m->token) ? accept(wire_format::ddnet, m->token, false) : decision{};
        }
        if (options_.v06) return accept(wire_format::v06, no_token, false);
    }
    return {};
}

} // namespace teewire
