// A snapshot that deltas change in place: what a client or a replayer holds.
#pragma once

#include "teewire/delta.hpp"

namespace teewire {

/// Memory for a live_snapshot. 188 KiB with the default limits.
template <snapshot_limits limits = snapshot_limits{}>
struct live_snapshot_memory {
    static_assert(limits.items <= 16384, "places are 16-bit, with room for those that are gone");
    static constexpr std::size_t slots = 2 * limits.items;
    static constexpr std::size_t table_size = [] {
        std::size_t n = 16;
        while (n < 2 * slots) n *= 2;
        return n;
    }();
    std::array<std::int32_t, 2 + limits.items + 2 * (limits.bytes / 4)> ints;
    std::array<std::int32_t, slots> keys;
    std::array<std::uint32_t, slots> begins, sizes, positions, sources;
    std::array<std::uint16_t, slots> touched;
    std::array<std::uint8_t, slots> states;
    std::array<std::uint16_t, table_size> table;
};

/// Applies deltas at a cost that follows the delta and not the snapshot, removals included: items that go leave a gap,
/// and gaps are closed when they have become as many as the items. The result is that of apply_delta: same items, same
/// order, same errors and notes.
class live_snapshot {
public:
    template <snapshot_limits limits>
    explicit live_snapshot(live_snapshot_memory<limits>& memory) noexcept
        : limits_{limits}, ints_{memory.ints}, keys_{memory.keys}, begins_{memory.begins}, sizes_{memory.sizes},
          positions_{memory.positions}, sources_{memory.sources}, touched_{memory.touched}, states_{memory.states},
          table_{memory.table} {
        clear();
    }

    /// The empty snapshot again. O(limits.items).
    void clear() noexcept;

    /// Takes a copy. Errors: too_many_items, too_large; then it is empty. O(ints).
    failure assign(snapshot_view snapshot) noexcept;

    /// Makes the snapshot that `delta` describes. options.limits is not looked at: the memory's limits hold. Errors as
    /// apply_delta; then nothing has changed. Amortised O(ints of the delta); an error costs O(items).
    failure apply(std::span<std::int32_t const> delta, size_table const& sizes,
                  apply_options const& options = {}) noexcept;

    /// Items.
    [[nodiscard]] std::size_t size() const noexcept { return alive_; }
    /// Kept up to date with every change. O(1).
    [[nodiscard]] std::uint32_t checksum() const noexcept { return checksum_; }
    /// Valid until the next change. O(1).
    [[nodiscard]] std::optional<item> find(std::int32_t key) const noexcept;

    /// The snapshot in the engines' layout, inside the memory, valid until the next change. O(items), and O(ints) if
    /// items were removed since the last time.
    snapshot_view view() noexcept;

private:
    enum state : std::uint8_t { gone, alive, going, coming, changing };
    static constexpr std::size_t none = SIZE_MAX;

    [[nodiscard]] std::int32_t* pool() const noexcept { return ints_.data() + 2 + limits_.items; }
    [[nodiscard]] std::uint16_t& table_entry(std::int32_t key) noexcept;
    [[nodiscard]] std::size_t find_slot(std::int32_t key) const noexcept;
    std::size_t add_slot(std::int32_t key, std::size_t ints) noexcept;
    void index_all(unsigned attempt) noexcept;
    [[nodiscard]] bool crowded() const noexcept;
    void close_gaps() noexcept;
    void take_back(std::size_t slots_before) noexcept;
    void mark_removed(std::span<std::int32_t const> keys, note_log* notes) noexcept;
    [[nodiscard]] failure check(delta_reader& reader, std::span<std::int32_t const> delta,
                                apply_options const& options) noexcept;
    void commit(std::span<std::int32_t const> delta, std::size_t slots_before) noexcept;

    snapshot_limits limits_;
    // Slots are in the order of the items, and so is their data in the pool; those that are gone are skipped.
    std::span<std::int32_t> ints_, keys_;
    std::span<std::uint32_t> begins_, sizes_; // in the pool; a slot's size is that of its data, behind the key
    std::span<std::uint32_t> positions_;      // of a changing or coming slot's data in the delta
    std::span<std::uint32_t> sources_;        // slot whose data a coming one starts from, or UINT32_MAX
    std::span<std::uint16_t> touched_;        // slots that go or change in this delta
    std::span<std::uint8_t> states_;
    std::span<std::uint16_t>
        table_; // slot + 1 by hash of the key; keys that are gone stay until the gaps are closed
    std::size_t slots_ = 0;
    std::size_t used_ = 0; // ints of the pool
    std::size_t alive_ = 0;
    std::size_t alive_ints_ = 0;
    std::size_t repeated_ = 0; // items whose key an earlier one has
    std::size_t touched_count_ = 0;
    std::size_t steps_ = 0;
    unsigned attempt_ = 0;
    std::uint32_t multiplier_ = 0;
    std::uint32_t checksum_ = 0;
};

} // namespace teewire
