/// @file
/// Receiving snapshots: collects parts, finds the base, applies, checks, and says what to acknowledge.
///
/// See doc/format/snapshot.md#acknowledging.
#pragma once

#include "teewire/message_types.hpp"
#include "teewire/snapshot_sender.hpp"

namespace teewire {

/// The parts of one snapshot that is being collected. 57 KiB.
struct snapshot_parts {
    /// @cond memory
    std::array<std::uint8_t, max_snapshot_parts * snapshot_part_bytes> bytes;
    std::uint64_t present = 0; // a bit per part
    std::int32_t tick = -1;
    std::int32_t base_tick = -1;
    std::uint32_t checksum = 0;
    std::uint32_t count = 0;
    std::uint32_t size = 0; // bytes, known with the last part
    /// @endcond
};

/// The effect of a message.
enum class snapshot_event_kind : std::uint8_t {
    other,        ///< not a snapshot message
    ignored,      ///< an old one, or one more of what is there
    part,         ///< more parts are needed
    snapshot,     ///< decoded, checked and stored
    missing_base, ///< the base is not there; a full one is asked for
    damaged,      ///< could not be decoded, or has another checksum: error
    malformed,    ///< the message itself cannot be: error, with the byte of its fields
};

/// The content of a message, and its effect.
struct snapshot_event {
    snapshot_event_kind kind = snapshot_event_kind::other; ///< what it led to
    std::int32_t tick = -1;                                ///< of the snapshot; -1 for other messages
    std::int32_t base_tick = -1;                           ///< -1: it was sent without a base
    bool restarted = false;              ///< observers: ticks restart with this one, and the history is forgotten
    bool has_checksum = false;           ///< an unchanged snapshot may be sent without
    std::uint32_t checksum = 0;          ///< as sent
    std::size_t delta_bytes = 0;         ///< packed
    std::span<std::int32_t const> delta; ///< its ints, in the scratch memory; empty if nothing changed
    snapshot_view snapshot;              ///< valid until it is dropped from the history
    failure error{};                     ///< damaged: position in ints of the delta; or bad_checksum
};

/// Which snapshots count.
enum class snapshot_listening : std::uint8_t {
    client,   ///< as a client: old ticks are ignored
    observer, ///< for captures: late snapshots count, and a tick far back restarts
};

/// The state of a client that receives snapshots.
class snapshot_receiver {
public:
    /// Options of a receiver.
    struct options {
        protocol version = protocol::ddnet;                        ///< whose message ids
        size_table const* sizes = &sizes_06;                       ///< the server's
        snapshot_listening listening = snapshot_listening::client; ///< a client or an observer
        decoding mode = decoding::strict;                          ///< for the delta
        note_log* notes = nullptr;                                 ///< where quirks go, or null
    };

    /// `parts`: one for a client; an observer needs one for each snapshot whose parts may arrive mixed, 4 are plenty.
    /// `entries` and `block`: memory for a history; 150 entries hold 3 seconds of every tick. A history that is too small
    /// costs missing bases, nothing else.
    snapshot_receiver(std::span<snapshot_parts> parts, std::span<history::entry> entries,
                      std::span<std::int32_t> block, options const& chosen) noexcept
        : parts_{parts}, past_{entries, block}, options_{chosen} {
        assert(!parts.empty());
        reset();
    }

    /// Takes a message; others than snapshots are reported and left alone. O(bytes), and for the last part O(items + ints).
    snapshot_event receive(message const& m, snapshot_scratch& scratch) noexcept;

    /// The tick that the next input message should acknowledge: that of the snapshot decoded last, or -1.
    [[nodiscard]] std::int32_t ack() const noexcept { return ack_; }
    /// Whether an input message should be sent at once, as the server has to send a full snapshot. Reading it clears it.
    bool take_urgent() noexcept {
        bool const urgent = urgent_;
        urgent_ = false;
        return urgent;
    }

    /// Forgets everything: at a map change and with a new connection.
    void reset() noexcept;

    /// The snapshots held, for looking at them again.
    [[nodiscard]] history const& past() const noexcept { return past_; }

private:
    snapshot_parts* collect(messages::snap const& m, snapshot_event& event) noexcept;
    void decode(std::span<std::uint8_t const> bytes, snapshot_view base, snapshot_scratch& scratch,
                snapshot_event& event) noexcept;
    void ask_for_all() noexcept;

    std::span<snapshot_parts> parts_;
    history past_;
    options options_;
    std::int32_t ack_ = -1;
    std::int32_t newest_ = -1; // tick
    std::uint32_t errors_ = 0;
    bool urgent_ = false;
};

} // namespace teewire
