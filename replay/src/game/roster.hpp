// The players, the game and the tuning, which 0.7 sends in messages and stores as items in demos.
#pragma once

#include <teewire/message_types.hpp>
#include <teewire/snapshot.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace teewire::replay {

/// The item types that occur only in demos.
inline constexpr std::uint16_t type_client_info_07 = 13;
inline constexpr std::uint16_t type_game_info_07 = 14;
inline constexpr std::uint16_t type_tune_params_07 = 15;

inline constexpr std::size_t max_clients_07 = 64;
using client_item = std::array<std::int32_t, 58>;
using game_item = std::array<std::int32_t, 5>;
using tune_item = std::array<std::int32_t, 32>;

/// The tuning that clients assume when they are sent none, in hundredths.
extern tune_item const standard_tuning_07;

/// Everything in the form of the items.
struct roster {
    std::array<std::optional<client_item>, max_clients_07> clients;
    std::optional<game_item> game;
    std::optional<tune_item> tuning;

    friend bool operator==(roster const&, roster const&) = default;

    /// The entry of a client, empty for a client that is not there; null for an impossible id.
    [[nodiscard]] std::optional<client_item>* client(std::int32_t id) noexcept {
        return id >= 0 && id < static_cast<std::int32_t>(max_clients_07) ? &clients[static_cast<std::size_t>(id)]
                                                                         : nullptr;
    }
    /// Reads a message of the server's. False if it is not about any of this.
    bool receive(message const& m);
    /// Reads the items of a snapshot; true if there are any. Then clients without an item are gone.
    bool read(snapshot_view snapshot);
};

/// A client_info message, and where its texts are.
struct client_message {
    messages::client_info message;
    std::array<std::array<char, 24>, 8> texts;
};
/// Fills `out` with what the item says about that client.
void describe_client(std::int32_t client_id, client_item const& item, client_message& out);

/// The messages that turn one roster into the other for a client. `silent`: without announcing joins or leaves.
[[nodiscard]] std::vector<std::vector<std::uint8_t>> roster_changes(roster const& from, roster const& to,
                                                                    bool silent);

} // namespace teewire::replay
