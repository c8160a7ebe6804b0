/// @file
/// Packed deltas from a shared_world: each pair of items is compared and packed once for all clients.
#pragma once

#include "teewire/delta.hpp"
#include "teewire/shared_world.hpp"

namespace teewire {

/// A client's snapshot as a packed delta.
struct packed_delta {
    std::span<std::uint8_t> bytes; ///< variable-length ints; empty if nothing changed
    std::int32_t tick = 0;         ///< of the snapshot
    std::int32_t base_tick = -1;   ///< -1: against the empty snapshot
    std::uint32_t checksum = 0;    ///< of the snapshot
};

/// Encodes the newest tick of a world for one client after another.
///
/// The first client that needs the difference between two contents, the old and the new one, pays for it; the others copy the
/// bytes, also where they see the contents under other keys. The fewer different ticks are acknowledged, the less work there
/// is. Use one encoder per thread.
class shared_encoder {
public:
    static constexpr std::size_t alignment = 8; ///< of the memory

    /// Bytes that hold the differences to so many acknowledged ticks until the next tick. With less, differences are dropped
    /// and made again. 1.1 MB for 8 ticks of 1024 contents with 8192 ints.
    [[nodiscard]] static std::uint64_t bytes_for(shared_limits const& limits, std::size_t contents,
                                                 std::size_t ints, std::size_t ticks) noexcept;
    /// The least memory an encoder works with.
    [[nodiscard]] static std::size_t least_bytes(shared_limits const& limits) noexcept;

    /// Makes an encoder in `memory`, which must be aligned to `alignment`, have at least least_bytes(world.limits()) and
    /// outlive it, as must the world.
    shared_encoder(shared_world const& world, std::span<std::byte> memory) noexcept;
    /// Not copyable, as its state is in the memory.
    shared_encoder(shared_encoder const&) = delete;
    /// Not copyable.
    shared_encoder& operator=(shared_encoder const&) = delete;

    /// Encodes the client's newest snapshot as a delta to its snapshot of `base_tick`, or to the empty snapshot if that
    /// is -1 or not held for this client; the result's base_tick says which. The bytes are in the encoder's memory and
    /// valid until the next call; the `max_head` bytes before them may be overwritten. Errors: unknown_tick if the client
    /// has no snapshot in the newest tick, or finish() failed for the last tick; size_mismatch, at the number of the item in
    /// the snapshot, as create_delta. O(items + bytes) if another client had the same base tick, O(items + ints) for the
    /// first.
    result<packed_delta> encode(std::size_t client, std::int32_t base_tick, size_table const& sizes) noexcept;

    /// The world that it encodes.
    [[nodiscard]] shared_world const& world() const noexcept;

    static constexpr std::size_t max_head = 32; ///< bytes before a delta that the caller may overwrite

private:
    class state;
    state* state_; // in the memory
};

} // namespace teewire
