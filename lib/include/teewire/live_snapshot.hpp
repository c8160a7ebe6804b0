/// @file
/// A snapshot that deltas change in place: what a client or a replayer holds.
#pragma once

#include "teewire/delta.hpp"
#include "teewire/detail.hpp"

#include <bit>

namespace teewire {

/// Memory for a live_snapshot. 190 KiB with the default limits.
template <snapshot_limits limits = snapshot_limits{}>
struct live_snapshot_memory {
    static_assert(limits.items <= 16384, "places are 16-bit, with room for removed items");
    /// @cond memory
    static constexpr std::size_t slots = 2 * limits.items;
    static constexpr std::size_t table_size = [] {
        std::size_t n = 16;
        while (n < 2 * slots) n *= 2;
        return n;
    }();
    std::array<std::int32_t, 2 + limits.items + 2 * (limits.bytes / 4)> ints;
    std::array<detail::live_slot, slots> items;
    std::array<std::uint16_t, limits.items> pending_removals;
    std::array<std::uint16_t, table_size> table;
    /// @endcond
};

/// Applies deltas at a cost that follows the delta and not the snapshot, removals included: items that go leave a gap,
/// and gaps are closed when they have become as many as the items, or a quarter of them when view() comes by. The result is that of apply_delta: same items, same
/// order, same errors and notes.
class live_snapshot {
public:
    /// Empty. Keeps `memory`. O(limits.items).
    template <snapshot_limits limits>
    explicit live_snapshot(live_snapshot_memory<limits>& memory) noexcept
        : limits_{limits}, ints_{memory.ints}, items_{memory.items},
          pending_removals_{memory.pending_removals}, table_{memory.table} {
        clear();
    }

    /// The empty snapshot again. O(limits.items).
    void clear() noexcept;

    /// Takes a copy. Errors: too_many_items, too_large; then it is empty. O(ints).
    failure assign(snapshot_view snapshot) noexcept;

    /// Makes the snapshot that `delta` describes. options.limits is not looked at: the memory's limits hold. Errors as
    /// apply_delta; then nothing has changed. Amortised O(ints of the delta); O(items + ints) after an error, and when
    /// items go while two have one key.
    failure apply(std::span<std::int32_t const> delta, size_table const& sizes,
                  apply_options const& options = {}) noexcept;

    /// Items.
    [[nodiscard]] std::size_t size() const noexcept { return live_count_; }
    /// Kept up to date with every change. O(1).
    [[nodiscard]] std::uint32_t checksum() const noexcept { return checksum_; }
    /// Valid until the next change. O(1).
    [[nodiscard]] std::optional<item> find(std::int32_t key) const noexcept;

    /// The snapshot in the engines' layout, inside the memory, valid until the next change. O(1); O(items) if there are new
    /// ones since the last time, and O(ints) if some were removed.
    snapshot_view view() noexcept;

private:
    using slot = detail::live_slot;
    static constexpr std::size_t none = SIZE_MAX;

    [[nodiscard]] std::int32_t* pool() const noexcept { return ints_.data() + 2 + limits_.items; }
    [[nodiscard]] std::span<std::int32_t> data(slot const& s) const noexcept {
        return {pool() + s.begin + 1, s.size};
    }
    [[nodiscard]] std::size_t probe(std::size_t begin, std::int32_t key) const noexcept {
        return detail::probe(table_, begin, key, [this](std::size_t number) { return items_[number].key; });
    }
    [[nodiscard]] std::uint16_t& table_entry(std::int32_t key) noexcept;
    [[nodiscard]] std::size_t find_slot(std::int32_t key) const noexcept;
    void index_all(unsigned attempt) noexcept;
    [[nodiscard]] bool crowded() const noexcept;
    void lay_out() noexcept;
    void close_gaps() noexcept;
    void mark_removed(std::span<std::int32_t const> keys, note_log* notes) noexcept;
    [[nodiscard]] failure update_item(delta_reader::update const& update, std::span<std::int32_t const> delta,
                                      note_log* notes) noexcept;
    [[nodiscard]] failure add_item(delta_reader::update const& update, std::span<std::int32_t const> delta,
                                   std::size_t source, std::uint16_t& entry) noexcept;
    void begin_delta() noexcept;
    void undo(slot const& s, std::span<std::int32_t const> delta) noexcept;
    void commit() noexcept;
    void take_back(std::span<std::int32_t const> delta) noexcept;

    snapshot_limits limits_;
    std::span<std::int32_t> ints_;
    // In the order of the items, and so is their data in the pool; removed ones are skipped.
    std::span<slot> items_;
    std::span<std::uint16_t> pending_removals_; // slots that this delta removes
    std::span<std::uint16_t> table_; // slot + 1 by hash of the key; removed keys stay until the gaps are closed
    std::size_t slots_ = 0;
    std::size_t used_ = 0; // ints of the pool
    std::size_t live_count_ = 0;
    std::size_t live_ints_ = 0;
    std::size_t repeated_ = 0; // items whose key an earlier one has
    std::size_t pending_count_ = 0;
    std::size_t slots_before_ = 0; // this delta
    std::uint32_t delta_ = 0;      // counts deltas, to know which slots this one has changed
    std::size_t steps_ = 0;
    unsigned attempt_ = 0;
    std::uint64_t multiplier_ = 0;
    unsigned shift_ = 32U - static_cast<unsigned>(std::countr_zero(table_.size()));
    std::uint32_t checksum_ = 0;
    bool laid_out_ = false; // the data has no gaps, and the offsets are right
};

} // namespace teewire
