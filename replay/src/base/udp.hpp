// Sockets and clocks for recording and serving.
#pragma once

#include <teewire/connection.hpp>

#include <boost/asio/ip/udp.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace teewire::replay {

inline constexpr std::uint16_t default_port = 8303;

/// "HOST", "HOST:PORT", "[V6]:PORT" or "V6" taken apart. Throws usage_error.
struct host_port {
    std::string host;
    std::uint16_t port = default_port;

    static host_port parse(std::string const& text);
};

[[nodiscard]] inline milliseconds to_milliseconds(std::chrono::steady_clock::time_point t) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count();
}
[[nodiscard]] inline milliseconds now() { return to_milliseconds(std::chrono::steady_clock::now()); }
[[nodiscard]] inline std::chrono::steady_clock::time_point to_time(milliseconds t) {
    return std::chrono::steady_clock::time_point{std::chrono::milliseconds{t}};
}

/// Reads an address of IPv4 or IPv6 to listen on. Throws usage_error.
[[nodiscard]] boost::asio::ip::address parse_address(std::string const& text);

/// "127.0.0.1:8303", "[::1]:8303"
[[nodiscard]] std::string endpoint_text(boost::asio::ip::udp::endpoint const& endpoint);

/// Asks the system for more room than it gives by itself: bursts of packets then wait instead of getting lost.
void widen(boost::asio::ip::udp::socket& socket);

} // namespace teewire::replay
