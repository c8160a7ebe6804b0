/// @file
/// Past snapshots by tick: the bases that deltas refer to.
#pragma once

#include "teewire/detail.hpp"
#include "teewire/snapshot.hpp"

#include <optional>
#include <span>

namespace teewire {

/// Snapshots with increasing ticks in one block of the caller's. Adding drops the oldest ones when there is no room; a
/// view that was handed out is valid until its snapshot is dropped. The held snapshots use only the first eighth of the
/// block, in a ring, while they fit there: as long as clients answer, if drop_before() follows them.
class history {
public:
    /// @cond memory
    struct entry {
        std::uint64_t word; // the caller's
        std::int32_t tick;
        std::uint32_t begin; // in the block
        std::uint32_t size;  // ints
        std::uint32_t whole; // with the outline after them
        bool distinct_keys;
        bool outlined;
    };
    /// @endcond

    /// `entries` limits the number of snapshots, `block` their ints together. 150 entries hold the 3 seconds that
    /// servers keep.
    history(std::span<entry> entries, std::span<std::int32_t> block) noexcept : entries_{entries}, block_{block} {
        assert(!entries.empty());
    }

    /// Ints of `block` in which as many snapshots always fit together, if none has more items and ints than these.
    [[nodiscard]] static constexpr std::size_t block_ints(std::size_t snapshots, std::size_t items,
                                                          std::size_t ints) noexcept {
        // Each of two rings may have less room than for one at its end, and between its newest and its oldest one.
        return (snapshots + 3) * (ints + items + starts_words(ints));
    }

    /// Copies the snapshot, and its outline if it has one, and keeps a `word` that only the caller understands, such as
    /// a time. Adding may drop the snapshot that find() gave, so use a base before you add. Errors: bad_tick when the
    /// tick is not larger than the newest one; too_large when the block could not hold the snapshot by itself, and then
    /// nothing is dropped. O(ints).
    result<snapshot_view> add(std::int32_t tick, snapshot_view snapshot, std::uint64_t word = 0) noexcept;
    /// The same for a tick that may be older than others, for streams that arrive out of order: find() then takes
    /// O(entries) until everything after it has been dropped. Error: bad_tick when the tick is there already.
    result<snapshot_view> add_late(std::int32_t tick, snapshot_view snapshot) noexcept;

    /// Valid until it is dropped, which the next add() may do. O(log entries), but see add_late().
    [[nodiscard]] std::optional<snapshot_view> find(std::int32_t tick) const noexcept;

    /// The word that was added with a snapshot. O(log entries), but see add_late().
    [[nodiscard]] std::optional<std::uint64_t> word_of(std::int32_t tick) const noexcept;

    /// The snapshot of `base_tick`, and where the next one will be added: for snapshot_builder::start(). Nothing if there is
    /// no such base. O(log entries).
    [[nodiscard]] memory_ahead ahead(std::int32_t base_tick) const noexcept;

    /// Drops everything older than `tick`; after add_late() only what came before the first that is not. O(dropped).
    void drop_before(std::int32_t tick) noexcept;
    /// Drops everything.
    void clear() noexcept;

    /// Snapshots held.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// The tick of the oldest one.
    [[nodiscard]] std::optional<std::int32_t> oldest() const noexcept;
    /// The tick of the newest one.
    [[nodiscard]] std::optional<std::int32_t> newest() const noexcept;

private:
    [[nodiscard]] snapshot_view view(entry const& e) const noexcept;
    [[nodiscard]] entry const* entry_of(std::int32_t tick) const noexcept;
    [[nodiscard]] entry& at(std::size_t i) const noexcept { return entries_[(first_ + i) % entries_.size()]; }
    [[nodiscard]] std::optional<std::size_t> room(std::size_t size) const noexcept;
    void divide_block(std::size_t first_size) noexcept;
    void drop_oldest() noexcept;
    result<snapshot_view> append(std::int32_t tick, snapshot_view snapshot, std::uint64_t word) noexcept;

    std::span<entry> entries_;
    std::span<std::int32_t> block_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    detail::ring few_{};        // in the first part of the block
    detail::ring many_{};       // in the rest: what the first has no room for
    std::size_t unordered_ = 0; // entries up to the last one that came late; 0: ticks increase
};

} // namespace teewire
