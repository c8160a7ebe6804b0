/// @file
/// Sending snapshots to a client: which base, how often, and the messages.
///
/// Follows doc/format/snapshot.md#acknowledging: the base is the snapshot that the client acknowledged, if it is still
/// held, otherwise the empty one; the delta travels in parts of at most 900 bytes.
#pragma once

#include "teewire/delta.hpp"
#include "teewire/history.hpp"
#include "teewire/varint.hpp"

namespace teewire {

/// Bytes of a delta in one message; only the last part may have fewer.
inline constexpr std::size_t snapshot_part_bytes = 900;
/// What DDNet takes. 0.6 and 0.7 cannot complete more than 31.
inline constexpr std::size_t max_snapshot_parts = 64;
inline constexpr std::size_t max_vanilla_snapshot_parts = 31; ///< parts that clients of 0.6 and 0.7 can take
/// A message of a part: its head of up to 22 bytes and the part.
inline constexpr std::size_t max_snapshot_message_bytes = snapshot_part_bytes + 22;

/// Scratch for encoding and decoding deltas; one serves any number of clients of one thread. 286 KiB.
struct snapshot_scratch {
    /// @cond memory
    delta_memory<> delta;
    std::array<std::int32_t, 3 + 1024 + 2 * 1024 + 16384> ints;
    std::array<std::int32_t, snapshot_limits{}.ints()> snapshot;
    std::array<std::uint8_t, 24 + varint_bound(3 + 1024 + 2 * 1024 + 16384)> bytes;
    /// @endcond
};

/// The messages of one snapshot, in the memory of what encoded it. Each is made when it is asked for, and valid until the
/// next is.
class snapshot_messages {
public:
    /// None.
    constexpr snapshot_messages() noexcept = default;

    /// A message for connection::queue, not vital. False after the last one. Only the header is copied.
    bool next(std::span<std::uint8_t const>& message) noexcept;

    /// How many messages there are.
    [[nodiscard]] constexpr std::size_t parts() const noexcept { return parts_; }
    /// Bytes of the packed delta; 0 if nothing changed.
    [[nodiscard]] constexpr std::size_t delta_bytes() const noexcept { return size_; }
    /// -1 for a full snapshot.
    [[nodiscard]] constexpr std::int32_t base_tick() const noexcept { return base_tick_; }

private:
    friend result<snapshot_messages> encode_snapshot(std::int32_t, snapshot_view, std::int32_t, snapshot_view,
                                                     struct snapshot_encoding const&, snapshot_scratch&) noexcept;
    void set(std::int32_t tick, std::int32_t base_tick, std::uint32_t checksum, std::uint8_t* delta,
             std::size_t size, protocol version) noexcept;
    std::uint8_t* delta_ = nullptr; // with room for a head before it
    std::size_t size_ = 0;
    std::size_t parts_ = 0;
    std::size_t next_ = 0;
    std::int32_t tick_ = 0;
    std::int32_t base_tick_ = -1;
    std::uint32_t checksum_ = 0;
    bool v07_ = false;
};

/// How to encode for a client.
struct snapshot_encoding {
    protocol version = protocol::ddnet;                 ///< 0.7 has other message ids
    size_table const* sizes = &sizes_06;                ///< the client's
    std::size_t max_parts = max_vanilla_snapshot_parts; ///< above them: too_large
};

/// Encodes a snapshot against a base whose tick is `base_tick`, or against nothing with -1. For servers that share one
/// history among many clients; the others use a snapshot_sender. Errors: those of create_delta; too_large when it
/// takes too many parts; bad_tick for negative ticks, INT32_MAX and bases that are not older.
result<snapshot_messages> encode_snapshot(std::int32_t tick, snapshot_view snapshot, std::int32_t base_tick,
                                          snapshot_view base, snapshot_encoding const& encoding,
                                          snapshot_scratch& scratch) noexcept;

/// How often a client gets a snapshot, and what it has acknowledged: 12 bytes. As the reference servers: every tenth
/// tick until the first acknowledge, then every second; one a second while what it acknowledged is not held any more.
class snapshot_pacing {
public:
    static constexpr std::int32_t first_interval = 10;    ///< ticks, before the first acknowledge
    static constexpr std::int32_t recovery_interval = 50; ///< ticks, without a base
    /// Snapshots are kept for so many ticks.
    static constexpr std::int32_t keep_ticks = 150;

    /// `interval`: ticks, 2 as ordinary servers or 1 with high bandwidth.
    explicit constexpr snapshot_pacing(std::int32_t interval = 2) noexcept : interval_{interval} {}

    /// Takes what an input message says: a tick, or -1 for "send it all". Ticks that were never sent, or are older than
    /// the one known, are answered by false and change nothing.
    constexpr bool acknowledge(std::int32_t tick, std::int32_t newest_sent) noexcept {
        if (tick < -1 || tick > newest_sent) return false;
        if (tick >= 0 && tick < acked_) return false;
        acked_ = tick;
        if (tick >= 0) state_ = state::full;
        return true;
    }
    /// Whether a snapshot of this tick should be sent.
    [[nodiscard]] constexpr bool due(std::int32_t tick) const noexcept {
        switch (state_) {
        case state::first: return tick % first_interval == 0;
        case state::recovering: return tick % recovery_interval == 0;
        case state::full: break;
        }
        return tick % interval_ == 0;
    }
    /// The acknowledged snapshot is not held any more.
    constexpr void lose_base() noexcept {
        if (state_ == state::full) state_ = state::recovering;
    }
    /// The tick acknowledged last; -1 if there is none.
    [[nodiscard]] constexpr std::int32_t acked() const noexcept { return acked_; }

    /// How often snapshots are sent: by first_interval, by the interval, by recovery_interval.
    enum class state : std::uint8_t {
        first,      ///< nothing was acknowledged yet
        full,       ///< the acknowledged snapshot is held
        recovering, ///< it is not held any more
    };
    /// How often snapshots are sent now.
    [[nodiscard]] constexpr state current() const noexcept { return state_; }
    /// Ticks, at least 1: as when a server changes its bandwidth while it runs.
    constexpr void set_interval(std::int32_t interval) noexcept {
        assert(interval > 0);
        interval_ = interval;
    }

private:
    std::int32_t acked_ = -1;
    std::int32_t interval_;
    state state_ = state::first;
};

/// The state that a server keeps per client to send snapshots. It decides on the base and the rate, and makes the
/// messages. DDNet-like servers do more with a snapshot, and that is left to them: whom they build one for and with
/// which items, with or without high bandwidth; demos, whose recorder wants each snapshot; and the side effects of
/// their own functions for sending messages, which these messages do not pass.
class snapshot_sender {
public:
    /// Memory for the history, as for `history`: 75 entries hold 3 seconds, but what is older than the acknowledged
    /// snapshot is dropped at once, and a client that answers needs no more than a second of them.
    snapshot_sender(std::span<history::entry> entries, std::span<std::int32_t> block,
                    snapshot_encoding const& encoding, std::int32_t interval = 2) noexcept
        : past_{entries, block}, pacing_{interval}, encoding_{encoding}, interval_{interval} {}

    /// Takes the tick that an input message acknowledges. False if it makes no sense, which changes nothing.
    bool acknowledge(std::int32_t tick) noexcept;

    /// Whether to send a snapshot for `tick`.
    [[nodiscard]] bool due(std::int32_t tick) const noexcept { return pacing_.due(tick); }
    /// The snapshot that the client has acknowledged, and where the next one will be kept: for snapshot_builder::start().
    [[nodiscard]] memory_ahead ahead() const noexcept { return past_.ahead(pacing_.acked()); }

    /// Encodes the snapshot of `tick` for this client and keeps it. Ticks have to increase: after a map change reset().
    /// An item that changed its size, which no delta can express, makes it a full one. Errors: as encode_snapshot, and
    /// those of history::add. O(items + ints).
    result<snapshot_messages> send(std::int32_t tick, snapshot_view snapshot, snapshot_scratch& scratch) noexcept;

    /// From the next tick on, snapshots are so many ticks apart, at least 1; reset() keeps it.
    void set_interval(std::int32_t interval) noexcept {
        pacing_.set_interval(interval);
        interval_ = interval;
    }
    /// The tick that the next snapshot is compared with; -1 if it will be a full one.
    [[nodiscard]] std::int32_t base_tick() const noexcept {
        return pacing_.acked() >= 0 && past_.find(pacing_.acked()) ? pacing_.acked() : -1;
    }

    /// As before the first snapshot.
    void reset() noexcept;

    /// The client's acknowledgements and its rate.
    [[nodiscard]] snapshot_pacing const& pacing() const noexcept { return pacing_; }
    /// The snapshots held.
    [[nodiscard]] history const& past() const noexcept { return past_; }

private:
    history past_;
    snapshot_pacing pacing_;
    snapshot_encoding encoding_;
    std::int32_t interval_;
};

} // namespace teewire
