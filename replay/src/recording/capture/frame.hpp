// The frames of a capture down to their UDP datagrams.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace teewire::replay {

/// An address and port.
struct udp_address {
    std::array<std::uint8_t, 16> ip{}; ///< IPv4: the first four
    std::uint16_t port = 0;
    bool v6 = false;

    friend std::strong_ordering operator<=>(udp_address const&, udp_address const&) = default;
};
/// "127.0.0.1:8303", "[::1]:8303"
[[nodiscard]] std::string address_text(udp_address const& address);

/// Borrowed: the payload points into the frame.
struct udp_datagram {
    udp_address from;
    udp_address to;
    std::span<std::uint8_t const> payload;
};

/// The layer below IP, by the numbers that captures use.
enum class link_layer : std::uint8_t { ethernet, cooked_1, cooked_2, loopback, raw_ip };

enum class frame_kind : std::uint8_t {
    udp,
    other,    ///< not UDP
    fragment, ///< of a datagram
    cut,      ///< ends before the datagram does
};

/// A part of a datagram that IP took apart. Borrowed: the bytes point into the frame.
struct ip_fragment {
    udp_address from; ///< without a port
    udp_address to;
    std::uint32_t id = 0;
    std::size_t offset = 0; ///< in the UDP packet
    bool last = false;
    std::span<std::uint8_t const> bytes;
};

/// Finds the datagram in a frame, or a part of one. VLAN tags and the extension headers of IPv6 are passed over, padding
/// is left out; checksums are not looked at, as those of the capturing machine's own packets are often not filled in.
[[nodiscard]] frame_kind read_frame(link_layer link, std::span<std::uint8_t const> frame, udp_datagram& out,
                                    ip_fragment& part);
/// The datagram in a UDP packet. Sets the ports of `out`, and its payload.
[[nodiscard]] frame_kind read_udp(std::span<std::uint8_t const> packet, udp_datagram& out);

} // namespace teewire::replay
