#include "teewire/packet.hpp"

#include "../codec/bytes.hpp"

#include <algorithm>

namespace teewire {
namespace {

using detail::get_be32;
using detail::put_be32;

struct flag_bits {
    std::uint8_t control, compressed, resend, unknown;
};
// In 0.6, 0x08 says that 0.6.5's token follows; DDNet knows no such flag.
constexpr flag_bits flags_06{0x10, 0x80, 0x40, 0x04};
constexpr flag_bits flags_07{0x04, 0x10, 0x08, 0xc0};
constexpr std::uint8_t flag_connless = 0x20;
constexpr std::uint8_t flag_token_06 = 0x08;

constexpr std::size_t header_06 = 3;
constexpr std::size_t header_token = 7;
constexpr std::size_t header_connless_06 = 6;
constexpr std::size_t header_connless_07 = 9;
constexpr std::size_t padded_bytes = 512;
constexpr std::size_t max_reason_bytes = 255;
constexpr std::array<std::uint8_t, 4> magic = {'T', 'K', 'E', 'N'}; // in connects that offer DDNet's tokens

constexpr flag_bits flags(wire_format format) noexcept { return format == wire_format::v07 ? flags_07 : flags_06; }

bool starts_with_magic(std::span<std::uint8_t const> extra) noexcept {
    return extra.size() >= magic.size() && std::equal(magic.begin(), magic.end(), extra.begin());
}

// What DDNet's receivers insist on.
bool makes_sense(packet const& p) noexcept {
    if (p.control) return p.chunks == 0 && !p.payload.empty() && !p.compressed;
    return p.chunks != 0 || p.resend;
}

std::size_t write_header(packet_head const& head, wire_format format, std::uint8_t what, std::size_t chunks,
                         std::span<std::uint8_t> out) noexcept {
    assert(head.ack < sequence_modulus);
    bool const token = format == wire_format::v07 || format == wire_format::v06_token;
    unsigned const extra = format == wire_format::v06_token ? flag_token_06 : 0U;
    unsigned const resend = head.resend ? flags(format).resend : 0U;
    out[0] = static_cast<std::uint8_t>(what | extra | resend | (head.ack >> 8));
    out[1] = static_cast<std::uint8_t>(head.ack);
    out[2] = static_cast<std::uint8_t>(chunks);
    if (!token) return header_06;
    put_be32(out, 3, head.token);
    return header_token;
}

} // namespace

std::string_view name(wire_format format) noexcept {
    switch (format) {
    case wire_format::v06: return "0.6";
    case wire_format::v06_token: return "0.6.5";
    case wire_format::ddnet: return "ddnet";
    case wire_format::v07: return "0.7";
    }
    return "";
}

std::string_view name(control_code code) noexcept {
    switch (code) {
    case control_code::keep_alive: return "keep_alive";
    case control_code::connect: return "connect";
    case control_code::connect_accept: return "connect_accept";
    case control_code::accept: return "accept";
    case control_code::close: return "close";
    case control_code::token: return "token";
    }
    return "";
}

// ---- reading -------------------------------------------------------------------------------------------------------

result<packet> parse_packet(std::span<std::uint8_t const> datagram, wire_format format, decoding mode,
                            note_log* notes) noexcept {
    if (datagram.size() < header_06) return failure{errc::truncated, datagram.size()};
    if (datagram.size() > max_packet_bytes) return failure{errc::too_large, max_packet_bytes};
    std::uint8_t const first = datagram[0];
    if ((first & flag_connless) != 0) return failure{errc::bad_flags, 0};

    flag_bits const bits = flags(format);
    packet p;
    p.control = (first & bits.control) != 0;
    p.compressed = (first & bits.compressed) != 0;
    p.resend = (first & bits.resend) != 0;
    p.ack = static_cast<std::uint16_t>((first & 3) << 8 | datagram[1]);
    p.chunks = datagram[2];
    p.has_token = format == wire_format::v07 || (first & flag_token_06) != 0;
    p.header = p.has_token ? header_token : header_06;
    if (datagram.size() < p.header) return failure{errc::truncated, datagram.size()};
    if (p.has_token) p.token = get_be32(datagram, 3);
    p.payload = datagram.subspan(p.header);

    bool const unknown = (first & bits.unknown) != 0 || (format == wire_format::ddnet && p.has_token);
    if (unknown || !makes_sense(p)) {
        if (mode == decoding::strict) return failure{errc::bad_flags, 0};
        if (notes != nullptr) notes->add(note::packet_flags, 0);
    }
    return p;
}

result<std::span<std::uint8_t const>> decode_payload(packet const& p, payload_memory& memory,
                                                     note_log* notes) noexcept {
    if (!p.compressed || p.control) return p.payload;
    auto const size = huffman_decode(p.payload, memory, notes);
    if (!size) return size.error();
    return std::span<std::uint8_t const>{memory}.first(*size);
}

bool chunk_reader::next(chunk& out) noexcept {
    if (left_ == 0) return false;
    auto const bytes = rest();
    std::size_t head = 2;
    if (bytes.size() >= 2) {
        unsigned const b0 = bytes[0];
        unsigned const b1 = bytes[1];
        bool const v07 = format_ == wire_format::v07;
        out.vital = (b0 & 0x40) != 0;
        out.resend = (b0 & 0x80) != 0;
        out.sequence = 0;
        std::size_t const size = v07 ? (b0 & 0x3f) << 6 | (b1 & 0x3f) : (b0 & 0x3f) << 4 | (b1 & 0x0f);
        if (out.vital && bytes.size() >= 3) {
            // In 0.6 two bits are there twice.
            out.sequence = static_cast<std::uint16_t>((b1 & (v07 ? 0xc0U : 0xf0U)) << 2 | bytes[2]);
        }
        head += out.vital;
        if (bytes.size() >= head && size <= bytes.size() - head) {
            out.data = bytes.subspan(head, size);
            at_ += head + size;
            --left_;
            return true;
        }
    }
    left_ = 0;
    error_ = {errc::truncated, at_};
    return false;
}

// ---- control messages ----------------------------------------------------------------------------------------------

namespace {

std::string_view reason_of(std::span<std::uint8_t const> extra) noexcept {
    auto const end = std::find(extra.begin(), extra.end(), std::uint8_t{0});
    return {reinterpret_cast<char const*>(extra.data()), static_cast<std::size_t>(end - extra.begin())};
}

void take_token(control_message& m, std::span<std::uint8_t const> bytes, std::size_t at) noexcept {
    if (bytes.size() < at + 4) return;
    m.has_token = true;
    m.token = get_be32(bytes, at);
}

} // namespace

result<control_message> parse_control(std::span<std::uint8_t const> payload, wire_format format) noexcept {
    if (payload.empty()) return failure{errc::truncated, 0};
    bool const v07 = format == wire_format::v07;
    if (payload[0] > 5 || payload[0] == (v07 ? 3 : 5)) return failure{errc::bad_type, 0};
    control_message m;
    m.code = static_cast<control_code>(payload[0]);
    auto extra = payload.subspan(1);
    if (v07) {
        if (m.code == control_code::connect || m.code == control_code::token) take_token(m, extra, 0);
        if ((m.code == control_code::connect || m.code == control_code::token) && !m.has_token)
            return failure{errc::truncated, payload.size()};
        if (m.code == control_code::close) m.reason = reason_of(extra);
        return m;
    }
    if ((m.code == control_code::connect || m.code == control_code::connect_accept) && starts_with_magic(extra)) {
        take_token(m, extra, magic.size());
        m.ddnet = m.has_token;
        return m;
    }
    if (m.code == control_code::connect) {
        if (extra.size() >= padded_bytes) take_token(m, extra, 4);
        return m;
    }
    if (m.code == control_code::connect_accept) {
        take_token(m, extra, 0);
        return m;
    }
    if (format == wire_format::ddnet && extra.size() >= 4) {
        take_token(m, extra, extra.size() - 4);
        extra = extra.first(extra.size() - 4);
    }
    if (m.code == control_code::close) m.reason = reason_of(extra);
    return m;
}

// ---- writing -------------------------------------------------------------------------------------------------------

failure packet_writer::add(chunk const& c) noexcept {
    assert(c.sequence < sequence_modulus);
    if (c.data.size() > max_chunk_bytes(format_)) return {errc::too_large, used_};
    if (!fits(c.data.size())) return {errc::output_full, used_};
    std::size_t const size = c.data.size();
    bool const v07 = format_ == wire_format::v07;
    unsigned const low_bits = v07 ? 6 : 4;
    std::uint8_t* at = payload_.data() + used_;
    *at++ = static_cast<std::uint8_t>((c.resend ? 0x80U : 0U) | (c.vital ? 0x40U : 0U) | size >> low_bits);
    unsigned second = static_cast<unsigned>(size) & ((1U << low_bits) - 1);
    if (c.vital) second |= static_cast<unsigned>(c.sequence) >> 2 & (v07 ? 0xc0U : 0xf0U);
    *at++ = static_cast<std::uint8_t>(second);
    if (c.vital) *at++ = static_cast<std::uint8_t>(c.sequence);
    at = std::copy(c.data.begin(), c.data.end(), at);
    used_ = static_cast<std::size_t>(at - payload_.data());
    ++chunks_;
    return {};
}

std::span<std::uint8_t const> packet_writer::finish(packet_head const& head, packet_memory& out,
                                                    huffman_end ending) noexcept {
    std::size_t size = used_;
    if (format_ == wire_format::ddnet) {
        put_be32(payload_, size, head.token); // fits() keeps room for it
        size += 4;
    }
    std::size_t const header = write_header(head, format_, 0, chunks_, out);
    auto const payload = std::span<std::uint8_t const>{payload_}.first(size);
    auto const place = std::span{out}.subspan(header);
    auto const compressed = huffman_encode(payload, place, ending);
    if (compressed && *compressed < size) {
        out[0] |= flags(format_).compressed;
        return std::span<std::uint8_t const>{out}.first(header + *compressed);
    }
    std::copy(payload.begin(), payload.end(), place.begin());
    return std::span<std::uint8_t const>{out}.first(header + size);
}

std::span<std::uint8_t const> write_control(control_message const& m, wire_format format, packet_head const& head,
                                            packet_memory& out) noexcept {
    bool const v07 = format == wire_format::v07;
    bool const connect = m.code == control_code::connect;
    // 0.6.5's connect comes before there is a token.
    wire_format const header_format = format == wire_format::v06_token && connect ? wire_format::v06 : format;
    std::size_t at = write_header(head, header_format, flags(format).control, 0, out);
    std::size_t const code = at;
    auto const add_token = [&](std::uint32_t token) {
        put_be32(out, at, token);
        at += 4;
    };
    auto const pad = [&] {
        std::size_t const end = code + 1 + padded_bytes;
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(at), out.begin() + static_cast<std::ptrdiff_t>(end),
                  std::uint8_t{0});
        at = end;
    };
    out[at++] = static_cast<std::uint8_t>(m.code);
    if (v07) {
        if (connect || m.code == control_code::token) {
            add_token(m.token);
            if (connect || head.token == no_token) pad();
        }
    } else if (format == wire_format::v06_token) {
        if (connect) {
            add_token(0);
            add_token(m.token);
            pad();
        } else if (m.code == control_code::connect_accept) {
            add_token(m.token);
        }
    } else if (m.ddnet && (connect || m.code == control_code::connect_accept)) {
        std::copy(magic.begin(), magic.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
        at += magic.size();
    }
    if (m.code == control_code::close && !m.reason.empty()) {
        auto const reason = m.reason.substr(0, max_reason_bytes);
        std::copy(reason.begin(), reason.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
        at += reason.size();
        out[at++] = 0;
    }
    if (format == wire_format::ddnet) add_token(head.token);
    return std::span<std::uint8_t const>{out}.first(at);
}

// ---- connectionless packets ----------------------------------------------------------------------------------------

namespace {

bool is_extended(std::span<std::uint8_t const> datagram) noexcept {
    return datagram.size() >= 2 && datagram[0] == 'x' && datagram[1] == 'e';
}
bool has_connless_mark(std::span<std::uint8_t const> datagram) noexcept {
    return datagram.size() >= header_connless_06 &&
           std::all_of(datagram.begin(), datagram.begin() + header_connless_06,
                       [](std::uint8_t byte) { return byte == 0xff; });
}

} // namespace

result<connless_packet> parse_connless(std::span<std::uint8_t const> datagram, note_log* notes) noexcept {
    if (datagram.empty()) return failure{errc::truncated, 0};
    if (datagram.size() > max_packet_bytes) return failure{errc::too_large, max_packet_bytes};
    if (!is_connless(datagram)) return failure{errc::bad_flags, 0};
    connless_packet p;
    // 0.7 leaves the two top bits empty, both forms of 0.6 do not.
    if ((datagram[0] & 0xc0) == 0) {
        if ((datagram[0] & 0x03) != 1) return failure{errc::bad_version, 0};
        if (datagram.size() < header_connless_07) return failure{errc::truncated, datagram.size()};
        p.format = connless_format::v07;
        p.token = get_be32(datagram, 1);
        p.response_token = get_be32(datagram, 5);
        p.payload = datagram.subspan(header_connless_07);
        return p;
    }
    if (datagram.size() < header_connless_06) return failure{errc::truncated, datagram.size()};
    if (is_extended(datagram)) {
        p.format = connless_format::v06_extended;
        std::copy_n(datagram.begin() + 2, p.extra.size(), p.extra.begin());
    } else if (!has_connless_mark(datagram) && notes != nullptr) {
        notes->add(note::packet_flags, 0);
    }
    p.payload = datagram.subspan(header_connless_06);
    return p;
}

result<std::size_t> write_connless(connless_packet const& p, std::span<std::uint8_t> out) noexcept {
    std::size_t const header = p.format == connless_format::v07 ? header_connless_07 : header_connless_06;
    if (p.payload.size() > max_packet_bytes - header) return failure{errc::too_large, 0};
    if (out.size() < header + p.payload.size()) return failure{errc::output_full, 0};
    switch (p.format) {
    case connless_format::v06: std::fill_n(out.begin(), header, std::uint8_t{0xff}); break;
    case connless_format::v06_extended:
        out[0] = 'x';
        out[1] = 'e';
        std::copy(p.extra.begin(), p.extra.end(), out.begin() + 2);
        break;
    case connless_format::v07:
        out[0] = flag_connless | 1;
        put_be32(out, 1, p.token);
        put_be32(out, 5, p.response_token);
        break;
    }
    std::copy(p.payload.begin(), p.payload.end(), out.begin() + static_cast<std::ptrdiff_t>(header));
    return header + p.payload.size();
}

// ---- recognising ---------------------------------------------------------------------------------------------------

namespace {

// Whether the payload consists of exactly that many chunks, with at most `rest` bytes after them.
bool has_chunks(std::span<std::uint8_t const> datagram, std::size_t header, wire_format format,
                bool token) noexcept {
    if (datagram.size() < header) return false;
    chunk_reader reader{datagram.subspan(header), datagram[2], format};
    for (chunk c; reader.next(c);) {
    }
    return reader.error().code == errc::ok && (reader.rest().empty() || (token && reader.rest().size() == 4));
}

} // namespace

packet_guess guess_packet(std::span<std::uint8_t const> datagram) noexcept {
    if (datagram.size() < 4) return packet_guess::undecided;
    if (datagram.size() > max_packet_bytes) return packet_guess::foreign;
    std::uint8_t const first = datagram[0];
    std::uint8_t const chunks = datagram[2];
    if (is_connless(datagram)) {
        if (has_connless_mark(datagram) || is_extended(datagram)) return packet_guess::connless_06;
        if (first == (flag_connless | 1) && datagram.size() >= header_connless_07) return packet_guess::connless_07;
        return packet_guess::foreign;
    }
    if ((first & 0xc0) != 0) return packet_guess::v06;
    if ((first & flags_07.control) != 0) {
        bool const known = chunks == 0 && datagram.size() > header_token && datagram[header_token] <= 5 &&
                           datagram[header_token] != 3;
        return known ? packet_guess::v07 : packet_guess::foreign;
    }
    if ((first & 0x10) != 0) {
        if (chunks != 0) return packet_guess::v07;
        // 0.6's control flag; with 0.6.5's token the code comes later
        std::size_t const code = (first & flag_token_06) != 0 ? header_token : header_06;
        return datagram.size() > code && datagram[code] <= 4 ? packet_guess::v06 : packet_guess::foreign;
    }
    if ((first & flag_token_06) != 0) return packet_guess::undecided;
    bool const v06 = has_chunks(datagram, header_06, wire_format::v06, true);
    bool const v07 = has_chunks(datagram, header_token, wire_format::v07, false);
    if (v06 == v07) return packet_guess::undecided;
    return v06 ? packet_guess::v06 : packet_guess::v07;
}

} // namespace teewire
