// Properties of items for a merger: who gets them, their position, and how long they last.
#pragma once

#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace teewire::replay {

using ints_view = std::span<std::int32_t const>;

/// Exists only for the client that it was sent to.
[[nodiscard]] bool concerns_one_client(object const& o);
/// Belongs to the player whose client id is its id.
[[nodiscard]] bool belongs_to_player(object const& o);
/// Exists only for its tick.
[[nodiscard]] bool is_event(object const& o);

/// In units.
struct point {
    double x = 0, y = 0;
};

/// The position of an item that `what` describes, if it has one.
[[nodiscard]] std::optional<point> place_of(ints_view data, object const& what);

/// The types of one protocol, so that names need not be looked up.
struct type_table {
    explicit type_table(protocol spoken);
    [[nodiscard]] bool is_07() const noexcept { return p == protocol::teeworlds_07; }
    /// The type of the item that names the local player.
    [[nodiscard]] std::uint16_t local_type() const noexcept { return is_07() ? client_info : player_info; }

    struct meaning {
        object const* known = nullptr;
        bool for_one = false;
        bool lasts = false; ///< otherwise it is an event, or that is unknown
    };
    protocol p;
    std::array<meaning, sized_types> plain{};
    std::uint16_t character, player_info, client_info, spectator_info, game_info;
};

/// An item in the form that every client gets, without data for a single client. Its ints may be put into `room`.
[[nodiscard]] ints_view as_for_everybody(std::int32_t key, ints_view data, type_table const& types,
                                         std::vector<std::int32_t>& room);

} // namespace teewire::replay
