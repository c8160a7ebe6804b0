// Messages with a lasting effect, which a viewer needs who begins in the middle of a recording.
#pragma once

#include "game/message_fields.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// The messages in force at a moment of a recording: the last message of the day, the teams, the tuning, the records, the
/// lists of votes and commands, a running vote and so on. Each is there until another one replaces or ends it.
class lasting_messages {
public:
    /// `p`: that of the items.
    explicit lasting_messages(protocol p) noexcept : protocol_{messages_of(p)} {}

    /// Takes a message of the server's, in the order of the recording. False if it changes nothing: it has no lasting
    /// effect, or repeats a message in force. O(messages in force).
    bool receive(std::int32_t tick, std::span<std::uint8_t const> message);
    /// Removes the messages that this one replaces or ends, without adding it.
    void leave_to(std::span<std::uint8_t const> message);
    /// Whether exactly this message is in force.
    [[nodiscard]] bool holds(std::span<std::uint8_t const> message) const noexcept;
    /// Whether at() has this message.
    [[nodiscard]] bool repeats(std::int32_t tick, std::span<std::uint8_t const> message) const;
    /// Another game or map begins.
    void clear() noexcept;

    /// The messages for a client that begins at `tick`, oldest first. A running vote gets the time that is left.
    [[nodiscard]] std::vector<std::vector<std::uint8_t>> at(std::int32_t tick) const;

    friend bool operator==(lasting_messages const&, lasting_messages const&) = default;

    /// The most bytes that are kept. Later messages that do not fit are ignored.
    static constexpr std::size_t max_bytes = std::size_t{1} << 20;
    static constexpr std::size_t max_entries = 4096; ///< the same for messages

private:
    using enum message_type;

    struct entry {
        message_type type; // the first of those that replace each other
        std::int32_t client;
        std::string name;
        std::int32_t tick;
        std::vector<std::uint8_t> bytes;

        friend bool operator==(entry const&, entry const&) = default;
    };
    enum class scope : std::uint8_t;
    struct rule;
    struct ending;
    struct effect;
    static rule const lasting[];
    static ending const endings[];

    [[nodiscard]] static bool is_about(entry const& e, message_type kind, scope s, effect const& about);
    [[nodiscard]] effect effect_of(std::span<std::uint8_t const> message) const;
    void remove(effect const& ended);

    protocol protocol_;
    std::vector<entry> entries_;
    std::size_t bytes_ = 0;
};

} // namespace teewire::replay
