/// @file
/// Messages: their head, and the common game messages of servers decoded. See doc/format/message.md.
#pragma once

#include "teewire/packer.hpp"
#include "teewire/schema.hpp"

#include <string_view>

namespace teewire {

/// The head of a message. Borrowed: the fields point into it.
struct message {
    std::int32_t id = 0;                  ///< 0 for extended messages
    bool system = false;                  ///< concerns the connection, not the game
    uuid extended{};                      ///< only for id 0
    std::span<std::uint8_t const> fields; ///< everything after the header
};

/// Errors, with the byte reached: truncated. Messages out of demos may carry up to three more zero bytes.
result<message> parse_message(std::span<std::uint8_t const> bytes) noexcept;

/// The messages that game_message distinguishes.
enum class message_kind : std::uint8_t {
    other,          ///< any that is not listed here
    motd,           ///< text
    broadcast,      ///< text
    chat,           ///< client_id, team, target (0.7), text
    server_message, ///< chat without a sender: text
    kill,           ///< client_id (killer), victim, weapon
    client_info,    ///< 0.7: client_id, team, name, clan
    client_enter,   ///< 0.7 demos: client_id, team, name
    client_leave,   ///< 0.7: client_id, name (demos), text (reason)
    team,           ///< 0.7: client_id, team
};

/// A decoded game message. Which members mean something depends on the kind. Texts are the bytes sent, valid UTF-8 or
/// not, and point into the message.
struct game_message {
    message_kind kind = message_kind::other; ///< which it is
    std::int32_t client_id = -1;             ///< who speaks, kills, comes or goes; -1 for the server
    std::int32_t victim = -1;                ///< who was killed
    std::int32_t weapon = 0;                 ///< -3 game, -2 self, -1 world, otherwise as an item's weapon
    std::int32_t team = 0;                   ///< for chat of 0.6: 0 all, 1 team, from 2 on DDNet's whispers
                                             ///< for chat of 0.7: 0 none, 1 all, 2 team, 3 whisper
    std::int32_t target = -1;                ///< client that is whispered to, in 0.7; -1 for none
    std::string_view text;                   ///< what was said
    std::string_view name;                   ///< of a client
    std::string_view clan;                   ///< of a client
};

/// Decodes the fields of a message without the system flag. Unknown messages give kind other. Errors, with the byte
/// of the fields: truncated, bad_text.
result<game_message> decode_game_message(message const& m, protocol p) noexcept;

} // namespace teewire
