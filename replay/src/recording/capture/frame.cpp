#include "recording/capture/frame.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

using bytes = std::span<std::uint8_t const>;

constexpr unsigned protocol_udp = 17;

unsigned get_be16(bytes from, std::size_t at) { return static_cast<unsigned>(from[at]) << 8 | from[at + 1]; }

void set_address(udp_address& address, bytes ip) {
    std::copy(ip.begin(), ip.end(), address.ip.begin());
    address.v6 = ip.size() == 16;
}

frame_kind read_ipv4(bytes packet, udp_datagram& out, ip_fragment& part) {
    if (packet.size() < 20) return frame_kind::cut;
    std::size_t const header = (packet[0] & 15U) * 4;
    if (header < 20) return frame_kind::other;
    if (packet[9] != protocol_udp) return frame_kind::other;
    std::size_t size = get_be16(packet, 2);
    if (size == 0) size = packet.size(); // left to the network card to fill in
    if (size < header) return frame_kind::other;
    set_address(out.from, packet.subspan(12, 4));
    set_address(out.to, packet.subspan(16, 4));
    if (packet.size() < header) return frame_kind::cut;
    bytes const rest = packet.first(std::min(size, packet.size())).subspan(header);
    constexpr unsigned more = 0x2000, offset = 0x1fff;
    unsigned const place = get_be16(packet, 6);
    if ((place & (more | offset)) == 0) return read_udp(rest, out);
    if (size > packet.size()) return frame_kind::cut;
    part = {out.from, out.to, get_be16(packet, 4), (place & offset) * std::size_t{8}, (place & more) == 0, rest};
    return frame_kind::fragment;
}

frame_kind read_ipv6(bytes packet, udp_datagram& out, ip_fragment& part) {
    constexpr std::size_t header = 40;
    if (packet.size() < header) return frame_kind::cut;
    set_address(out.from, packet.subspan(8, 16));
    set_address(out.to, packet.subspan(24, 16));
    std::size_t const size = get_be16(packet, 4);
    unsigned next = packet[6];
    bytes rest = packet.subspan(header);
    if (size != 0) rest = rest.first(std::min(size, rest.size()));
    for (;;) {
        constexpr unsigned hop_by_hop = 0, routing = 43, fragment = 44, destination = 60;
        if (next == protocol_udp) return read_udp(rest, out);
        bool const known = next == hop_by_hop || next == routing || next == fragment || next == destination;
        if (!known) return frame_kind::other;
        if (rest.size() < 8) return frame_kind::cut;
        std::size_t skipped = (rest[1] + std::size_t{1}) * 8;
        if (next == fragment) {
            constexpr unsigned offset = 0xfff8, more = 1;
            unsigned const place = get_be16(rest, 2);
            if ((place & (offset | more)) != 0) {
                if (rest[0] != protocol_udp) return frame_kind::other;
                if (size > packet.size() - header) return frame_kind::cut;
                part = {out.from,
                        out.to,
                        get_be16(rest, 4) << 16 | get_be16(rest, 6),
                        place & offset,
                        (place & more) == 0,
                        rest.subspan(8)};
                return frame_kind::fragment;
            }
            skipped = 8;
        }
        next = rest[0];
        if (skipped > rest.size()) return frame_kind::cut;
        rest = rest.subspan(skipped);
    }
}

frame_kind read_ip(bytes packet, udp_datagram& out, ip_fragment& part) {
    if (packet.empty()) return frame_kind::cut;
    switch (packet[0] >> 4) {
    case 4: return read_ipv4(packet, out, part);
    case 6: return read_ipv6(packet, out, part);
    default: return frame_kind::other;
    }
}

// `type_at`: where the ethertype is; what it is about begins at `header`.
frame_kind read_ethertype(bytes frame, std::size_t type_at, std::size_t header, udp_datagram& out,
                          ip_fragment& part) {
    if (frame.size() < header) return frame_kind::cut;
    unsigned type = get_be16(frame, type_at);
    bytes rest = frame.subspan(header);
    for (;;) {
        switch (type) {
        case 0x0800:
        case 0x86dd: return read_ip(rest, out, part);
        case 0x8100: // VLAN tags
        case 0x88a8:
        case 0x9100:
            if (rest.size() < 4) return frame_kind::cut;
            type = get_be16(rest, 2);
            rest = rest.subspan(4);
            break;
        default: return frame_kind::other;
        }
    }
}

} // namespace

std::string address_text(udp_address const& address) {
    namespace ip = boost::asio::ip;
    ip::address_v4::bytes_type four;
    std::copy_n(address.ip.begin(), four.size(), four.begin());
    std::string const text = address.v6 ? ip::address_v6{address.ip}.to_string() : ip::address_v4{four}.to_string();
    return address.v6 ? fmt::format("[{}]:{}", text, address.port) : fmt::format("{}:{}", text, address.port);
}

frame_kind read_udp(bytes packet, udp_datagram& out) {
    constexpr std::size_t header = 8;
    if (packet.size() < header) return frame_kind::cut;
    std::size_t const size = get_be16(packet, 4);
    if (size < header) return frame_kind::other;
    if (size > packet.size()) return frame_kind::cut;
    out.from.port = static_cast<std::uint16_t>(get_be16(packet, 0));
    out.to.port = static_cast<std::uint16_t>(get_be16(packet, 2));
    out.payload = packet.subspan(header, size - header);
    return frame_kind::udp;
}

frame_kind read_frame(link_layer link, std::span<std::uint8_t const> frame, udp_datagram& out, ip_fragment& part) {
    switch (link) {
    case link_layer::ethernet: return read_ethertype(frame, 12, 14, out, part);
    case link_layer::cooked_1: return read_ethertype(frame, 14, 16, out, part);
    case link_layer::cooked_2: return read_ethertype(frame, 0, 20, out, part);
    case link_layer::raw_ip: return read_ip(frame, out, part);
    case link_layer::loopback:
        // The address family before it has another number and byte order on every system; IP says itself what it is.
        if (frame.size() < 4) return frame_kind::cut;
        return read_ip(frame.subspan(4), out, part);
    }
    return frame_kind::other;
}

} // namespace teewire::replay
