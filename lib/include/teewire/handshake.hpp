/// @file
/// A server's side of the handshakes, without any state per client: until an address has proven that it can receive,
/// nothing is kept of it and no answer is larger than what it sent. See doc/format/session.md#handshakes.
#pragma once

#include "teewire/connection.hpp"

namespace teewire {

/// Decides about datagrams of addresses that have no connection. Tokens are made from the address, a secret and the
/// time; they hold for 16 to 32 seconds. O(bytes of the datagram); allocates and remembers nothing.
class server_gate {
public:
    /// Whose handshakes to take.
    struct options {
        bool v06 = false;      ///< plain 0.6 cannot prove its address: take it only if you limit it otherwise
        bool v06_token = true; ///< 0.6.5
        bool ddnet = true;     ///< 0.6 with DDNet's token
        bool v07 = true;       ///< 0.7
    };
    /// How to treat a datagram.
    enum class verdict : std::uint8_t {
        ignore, ///< not one that begins a connection here
        answer, ///< send `reply`, keep nothing
        accept, ///< make a connection; send `reply` if there is one, then hand the datagram to the connection if `data`
        connless, ///< for parse_connless; check its token with valid()
    };
    /// The treatment of a datagram, and its data.
    struct decision {
        verdict what = verdict::ignore;        ///< what to do
        wire_format format = wire_format::v06; ///< to accept: of the connection
        connection_tokens tokens{};            ///< to accept: for connection::server
        bool data = false;                     ///< the datagram carries chunks already
        std::span<std::uint8_t const> reply;   ///< in `out`, never larger than the datagram
    };

    /// `secret`: random bytes, for the life of the server.
    explicit server_gate(std::array<std::uint8_t, 16> const& secret) noexcept : server_gate{secret, options{}} {}
    /// The same with a choice of formats.
    server_gate(std::array<std::uint8_t, 16> const& secret, options const& chosen) noexcept
        : secret_{secret}, options_{chosen} {}

    /// `address`: bytes that distinguish addresses, port included.
    decision receive(std::span<std::uint8_t const> datagram, std::span<std::uint8_t const> address,
                     milliseconds now, packet_memory& out) const noexcept;

    /// The token of an address now; never 0 or no_token.
    [[nodiscard]] std::uint32_t token(std::span<std::uint8_t const> address, milliseconds now) const noexcept;
    /// Whether it is or was just before the token of that address.
    [[nodiscard]] bool valid(std::uint32_t token, std::span<std::uint8_t const> address,
                             milliseconds now) const noexcept;

private:
    [[nodiscard]] std::uint32_t token_of(std::span<std::uint8_t const> address,
                                         std::uint64_t period) const noexcept;
    decision receive_06(std::span<std::uint8_t const> datagram, std::span<std::uint8_t const> address,
                        milliseconds now, packet_memory& out) const noexcept;
    decision receive_07(std::span<std::uint8_t const> datagram, std::span<std::uint8_t const> address,
                        milliseconds now, packet_memory& out) const noexcept;

    std::array<std::uint8_t, 16> secret_;
    options options_;
};

} // namespace teewire
