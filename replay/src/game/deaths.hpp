// Deaths in recordings of everything that a server sent to its clients.
//
// Such a recording holds every message once for each client that it went to, without saying which, and DDNet's servers
// put it into the ids that this client knows: clients of 16 players know themselves as 0, and others by ids of their
// own. Items have the server's ids, and each death leaves one in the next snapshot.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace teewire::replay {

/// A kill message, in the ids of the client that it was sent to.
struct kill_note {
    std::int32_t killer = -1;
    std::int32_t victim = -1;
    std::int32_t weapon = 0; ///< as in game_message

    friend auto operator<=>(kill_note const&, kill_note const&) = default;
};

/// A death that an item proves, and what the messages say about it for sure.
struct death {
    std::int32_t victim = -1;
    std::optional<std::int32_t> killer;
    std::optional<std::int32_t> weapon;

    friend bool operator==(death const&, death const&) = default;
};

/// `died`: the victims in the items of a snapshot. `notes`: the kill messages between it and the one before, in order.
/// `present`: everyone who was there before, ascending. One death for each of `died`.
[[nodiscard]] std::vector<death> explain_deaths(std::span<std::int32_t const> died,
                                                std::span<kill_note const> notes,
                                                std::span<std::int32_t const> present);

/// Returns whether a message names a victim that no item does, so the ids in it are those of a client.
[[nodiscard]] bool ids_differ(std::span<std::int32_t const> died, std::span<kill_note const> notes);

} // namespace teewire::replay
