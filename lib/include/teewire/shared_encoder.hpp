/// @file
/// Deltas out of a shared_world, packed: what has to be done for a pair of items is done once for all clients.
#pragma once

#include "teewire/delta.hpp"
#include "teewire/shared_world.hpp"
#include "teewire/varint.hpp"

namespace teewire {

/// @cond memory
namespace kernels {
struct shared_run;
}
/// @endcond

/// What encodes a client's snapshot.
struct packed_delta {
    std::span<std::uint8_t> bytes; ///< variable-length ints; empty if nothing changed
    std::int32_t tick = 0;         ///< of the snapshot
    std::int32_t base_tick = -1;   ///< -1: against the empty snapshot
    std::uint32_t checksum = 0;    ///< of the snapshot
};

/// Encodes the newest tick of a world for one client after the other. What two of them have in common, an item and what it
/// was in the tick that they acknowledged, is compared and packed when the first of them needs it; so the fewer different
/// ticks there are, the less there is to do. With several threads each has an encoder.
class shared_encoder {
public:
    static constexpr std::size_t alignment = 8; ///< of the memory

    /// Bytes in which the comparisons with so many ticks are kept until the next tick. When they do not suffice, what was
    /// made is forgotten and made again. 1 MiB for 8 ticks and a world of 1024 items with 8192 ints.
    [[nodiscard]] static constexpr std::uint64_t bytes_for(shared_limits const& limits, std::size_t items,
                                                           std::size_t ints, std::size_t ticks) noexcept {
        return layout{limits}.end +
               (ticks + std::uint64_t{1}) * (comparison_bytes(items) + 16 * items + 2 * 4 * ints);
    }
    /// Bytes below which nothing works.
    [[nodiscard]] static constexpr std::size_t least_bytes(shared_limits const& limits) noexcept {
        return layout{limits}.end + 2 * comparison_bytes(limits.items) + piece_slack;
    }

    /// Keeps `memory`, which is aligned to `alignment` and has at least least_bytes() of the world's limits.
    shared_encoder(shared_world const& world, std::span<std::byte> memory) noexcept;
    /// There is one for its memory.
    shared_encoder(shared_encoder const&) = delete;
    /// There is one for its memory.
    shared_encoder& operator=(shared_encoder const&) = delete;

    /// The delta of the client's newest snapshot to the one of `base_tick`, or to the empty one if that is -1 or not held for
    /// this client: base_tick of the result says so. The bytes are in the encoder's memory, valid until the next call; before
    /// them is room for `max_head` bytes that the caller may overwrite. `sizes` has to stay as it is until the next tick.
    /// Errors: unknown_tick when the client was not shown the newest tick, or finish() could not hold the one made last;
    /// size_mismatch, with the number of the item in the snapshot, as create_delta.
    /// O(items / 64 + bytes) when others had the same base tick, O(items + ints) for the first.
    result<packed_delta> encode(std::size_t client, std::int32_t base_tick, size_table const& sizes) noexcept;

    /// What it encodes.
    [[nodiscard]] shared_world const& world() const noexcept { return world_; }

    static constexpr std::size_t max_head = 32; ///< bytes before those of a delta

private:
    struct job;
    static constexpr std::size_t run_bytes = 12;
    static constexpr std::size_t piece_slack = 64; // copying reads behind the last piece

    // The items of the newest tick, compared with those of another one.
    struct comparison {
        std::int32_t base_tick = -1;
        size_table const* sizes = nullptr;
        detail::shared_tick const* base = nullptr;
        std::uint64_t* changed = nullptr;  // the set of primary items whose primary content is another one now
        std::uint16_t* partners = nullptr; // by primary item: that of the base
        std::uint32_t* pieces = nullptr; // by item: where the packed update is, in eights of bytes; 0: not made yet
        kernels::shared_run* runs = nullptr; // stretches of items with the same keys
        std::size_t run_count = 0;
    };

    static constexpr std::size_t max_comparisons = 256;

    [[nodiscard]] static constexpr std::size_t comparison_bytes(std::size_t items) noexcept {
        return 8 * detail::set_words(items) + detail::eights(2 * items) + detail::eights(4 * items) +
               detail::eights(run_bytes * items);
    }

    // Where the parts lie that are always there.
    struct layout : detail::memory_plan {
        explicit constexpr layout(shared_limits const& l) noexcept
            : comparisons{take<comparison>(max_comparisons)}, base{take<std::uint64_t>(detail::set_words(l.items))},
              known{take<std::uint64_t>(detail::set_words(l.items))},
              updates{take<std::uint64_t>(detail::set_words(l.items))}, paired{take<std::uint64_t>(
                                                                            detail::set_words(l.items))},
              unshared{take<std::uint64_t>(detail::set_words(l.items))}, bases{take<std::uint16_t>(l.items)},
              out{take<std::uint8_t>(
                  max_head + 64 +
                  varint_bound(delta_header_ints + 3 * std::size_t{l.client.items} + l.client.ints()))} {}
        detail::part_of<comparison> comparisons;
        detail::part_of<std::uint64_t> base, known, updates, paired, unshared;
        detail::part_of<std::uint16_t> bases;
        detail::part_of<std::uint8_t> out;
    };

    void forget() noexcept;
    [[nodiscard]] std::byte* take(std::size_t bytes) noexcept;
    [[nodiscard]] comparison const* compare(std::int32_t base_tick, detail::shared_tick const* base,
                                            size_table const& sizes) noexcept;
    [[nodiscard]] bool match(comparison& c) noexcept;
    [[nodiscard]] std::uint16_t primary_of(std::int32_t key) const noexcept;
    std::uint8_t* write_update(std::uint8_t* out, std::size_t item, detail::shared_tick const* base,
                               std::size_t before, size_table const& sizes) const noexcept;
    void select(job& j) noexcept;
    void pair_alternatives(job& j) noexcept;
    std::uint8_t* write_removed(std::uint8_t* out, job const& j) noexcept;
    result<std::uint8_t*> write_updates(std::uint8_t* out, job const& j, size_table const& sizes) noexcept;
    void keep_piece(comparison const& c, std::size_t item, std::span<std::uint8_t const> update) noexcept;

    shared_world const& world_;
    std::span<std::byte> memory_;
    layout parts_;
    std::span<comparison> comparisons_;
    // Of the client that is encoded:
    std::uint64_t* base_;         // a set of items of the base: the primary ones; then those that are removed
    std::uint64_t* known_;        // items that the base has, too; both are primary
    std::uint64_t* updates_;      // items that it has not, or with another content
    std::uint64_t* paired_;       // items of the base that were compared with an item one by one
    std::uint64_t* unshared_;     // updates against one of these, which are packed for this client alone
    std::uint16_t* bases_;        // by item in unshared_: that of the base
    std::span<std::uint8_t> out_; // with the room before it
    std::size_t count_ = 0;       // of them
    std::size_t used_ = 0;        // bytes
    std::uint32_t seen_ = 0;      // what the world had changed
    detail::shared_tick const* now_ = nullptr;
};

} // namespace teewire
