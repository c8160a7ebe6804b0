// Recordings of DDNet servers with clients of 0.7 in the game: their items are those of 0.6, but messages were sent, and
// recorded, in the form of either protocol.
#pragma once

#include <teewire/message.hpp>

namespace teewire::replay {

/// Finds the protocol of each message. A number can mean another message of the same length in the other protocol, so 0.7
/// is considered only once a client of 0.7 was seen: a server's recording also holds the system messages to each client.
class mixed_messages {
public:
    /// `items`: the protocol of the items.
    explicit mixed_messages(protocol items) noexcept : items_{items} {}

    /// Takes a system message, in the order of the recording.
    void see(message const& system) noexcept;
    /// That of a message without the system flag.
    [[nodiscard]] protocol protocol_of(message const& m) const noexcept;

private:
    protocol items_;
    bool has_07_ = false; // a client
};

} // namespace teewire::replay
