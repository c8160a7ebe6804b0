/// @file
/// What servers say to the browser: requests and answers, which travel in connectionless packets.
///
/// See doc/format/packet.md#connectionless-packets. 0.6 in three forms (original, DDNet's older one for 64 players, DDNet's extended one) and 0.7. Answers of 0.6 go to
/// addresses that have proven nothing and are larger than the request: limit their rate.
#pragma once

#include "teewire/packet.hpp"

namespace teewire {

/// In which form a server describes itself.
enum class server_info_kind : std::uint8_t {
    v06,          ///< up to 16 clients
    v06_64,       ///< DDNet's older form
    v06_extended, ///< DDNet
    v07,          ///< Teeworlds 0.7
};

/// A request for information.
struct server_info_request {
    server_info_kind kind = server_info_kind::v06; ///< in which form
    std::int32_t token = 0; ///< to be repeated: 8 bits in v06 and v06_64, 24 in v06_extended, any int in v07
};

/// Reads the request in a connectionless packet. Errors, with the byte of its payload: bad_magic (something else),
/// truncated.
result<server_info_request> parse_server_info_request(connless_packet const& p) noexcept;

/// Writes a request as a whole datagram. In 0.7, `tokens` are the server's (first a control message has to ask for it) and
/// the asker's. Error: output_full, never with 32 bytes.
result<std::size_t> write_server_info_request(server_info_request const& request, std::uint32_t server_token,
                                              std::uint32_t own_token, std::span<std::uint8_t> out) noexcept;

/// A client on the server.
struct listed_client {
    std::string_view name;     ///< of the player
    std::string_view clan;     ///< of the player
    std::int32_t country = -1; ///< ISO 3166-1 number; -1 for none
    std::int32_t score = 0;    ///< points, or seconds
    bool player = true;        ///< or a spectator
};

/// A server's description of itself.
struct server_description {
    std::string_view version;     ///< of the program
    std::string_view name;        ///< of the server
    std::string_view host_name;   ///< 0.7
    std::string_view map;         ///< without path
    std::uint32_t map_crc = 0;    ///< v06_extended
    std::int32_t map_size = 0;    ///< v06_extended
    std::string_view game_type;   ///< "DM", "DDraceNetwork",
    std::int32_t flags = 0;       ///< 1 password, 0.7: 2 time score
    std::int32_t skill_level = 0; ///< 0.7
    std::int32_t players = 0;     ///< without spectators
    std::int32_t max_players = 0; ///< of them
    std::int32_t clients = 0;     ///< players and spectators
    std::int32_t max_clients = 0; ///< of them
};

/// Writes the payload of the answer for a connectionless packet of the request's format, which goes back with the
/// tokens exchanged. Lists as many of `clients` as fit and the form allows. Texts must hold no terminator. Error:
/// output_full, when not even the description fits.
result<std::size_t> write_server_info(server_info_request const& request, server_description const& server,
                                      std::span<listed_client const> clients, std::span<std::uint8_t> out) noexcept;

/// A server's answer.
struct server_info_answer {
    server_info_kind kind = server_info_kind::v06; ///< in which form
    std::int32_t token = 0;                        ///< of the request
    server_description server;                     ///< what it says
};

/// Reads an answer without its list of clients. Borrowed: texts point into the packet. Errors, with the byte of its
/// payload: bad_magic, truncated, bad_text, bad_count (a number that is none).
result<server_info_answer> parse_server_info(connless_packet const& p) noexcept;

} // namespace teewire
