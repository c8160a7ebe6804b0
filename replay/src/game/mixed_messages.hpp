// Recordings of DDNet servers with clients of 0.7 in the game: their items are those of 0.6, but messages were sent, and
// recorded, in the form of either protocol.
#pragma once

#include <teewire/message.hpp>

namespace teewire::replay {

/// Tells which protocol's a message is. Numbers mean different messages in the two, and many have the same length, so that
/// this is known only where a client of 0.7 was seen: server's recordings also hold the system messages of each client.
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
