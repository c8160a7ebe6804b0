// Announcements in the chat, by servers that have no message for it, that a player joins, leaves or finishes.
#pragma once

#include "events/game_event.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

struct announcement {
    game_event_kind kind;             ///< join, leave or finish
    std::string name;                 ///< printable
    std::string reason;               ///< to leave; empty if none is given
    std::optional<std::int64_t> time; ///< of a finish, in milliseconds
};
/// Empty if the words are about something else.
[[nodiscard]] std::optional<announcement> read_announcement(std::string_view text);

} // namespace teewire::replay
