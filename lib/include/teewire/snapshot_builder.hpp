// Builds a snapshot item by item in the caller's memory.
#pragma once

#include "teewire/snapshot.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace teewire {

namespace detail {

// Eight bits per item, rounded up to a power of two, in words.
[[nodiscard]] constexpr std::size_t seen_words(std::size_t items) noexcept {
    return std::bit_ceil(8 * items + 64) / 64;
}

[[nodiscard]] bool holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept;

} // namespace detail

/// Memory for a snapshot_builder. 80 KiB with the default limits.
template <snapshot_limits limits = snapshot_limits{}>
struct snapshot_builder_memory {
    std::array<std::int32_t, limits.items> offsets, keys;
    std::array<std::int32_t, 2 + limits.items + limits.bytes / 4> ints;
    std::array<std::uint16_t, limits.items> order;
    std::array<std::uint64_t, detail::seen_words(limits.items)> seen;
    std::array<std::uint32_t, starts_words(limits.ints())> starts;
};

/// Collects items and lays them out as a snapshot. Nothing is dropped silently: an item that cannot be added is
/// refused with the reason, and the items before it stay as they are.
///
/// Extended types get aliases as in DDNet: 0x7fff for the first one used, then downwards. The item that describes an
/// alias comes right before its first user, and from then on at the front of every later snapshot of this builder, so
/// that the numbers stay the same and deltas small.
class snapshot_builder {
public:
    static constexpr std::size_t max_extended_types = 64;

    template <snapshot_limits limits>
    explicit snapshot_builder(snapshot_builder_memory<limits>& memory) noexcept
        : offsets_{memory.offsets}, keys_{memory.keys}, memory_{memory.ints}, order_{memory.order},
          seen_{memory.seen}, starts_{memory.starts}, limits_{limits} {
        std::fill(starts_.begin(), starts_.end(), 0U);
        start();
    }

    /// Begins the next snapshot, with the describing items of the extended types used so far. Invalidates the view
    /// that finish() gave.
    void start() noexcept;

    /// Adds an item whose data is all zero, and gives its data to be filled in until the next call. Errors, with the
    /// number of items so far: bad_type (0x8000 and above), duplicate_key, too_many_items, too_large. O(ints).
    result<std::span<std::int32_t>> add(std::uint16_t type, std::uint16_t id, std::size_t ints) noexcept;

    /// The same for an extended type, described first if it is new. Further error: too_many_types. If the new type's
    /// item does not fit, its describing item stays, which is harmless. O(ints + extended types).
    result<std::span<std::int32_t>> add(uuid const& extended, std::uint16_t id, std::size_t ints) noexcept;

    /// Adds a copy.
    result<std::span<std::int32_t>> add(item const& copied) noexcept;

    /// The alias of an extended type, or 0 if it was not used yet.
    [[nodiscard]] std::uint16_t alias_of(uuid const& extended) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// The snapshot, in insertion order, inside the builder's memory: valid until start(). More items may be added
    /// afterwards and finish() called again. O(items), not O(ints).
    snapshot_view finish() noexcept;

    /// Writes the snapshot to `out` in the order asked for. Error: output_full.
    result<snapshot_view> finish(std::span<std::int32_t> out, item_order order) noexcept;

private:
    // The item behind the others, its data not written yet.
    result<std::span<std::int32_t>> reserve(std::int32_t key, std::size_t ints) noexcept;
    void mark_start() noexcept { starts_[used_ / 32] |= 1U << used_ % 32; }
    [[nodiscard]] std::span<std::int32_t> items() const noexcept { return memory_.subspan(2 + limits_.items); }

    std::span<std::int32_t> offsets_; // bytes, relative to items()
    std::span<std::int32_t> keys_;
    std::span<std::int32_t> memory_; // room for what precedes the items, which finish() fills in; then the items
    std::span<std::uint16_t> order_; // for sorting
    // A bit for each hash of a key: most new keys are known for new by it alone, the others are looked for.
    std::span<std::uint64_t> seen_;
    int seen_shift_ = 26 - std::countr_zero(seen_.size());
    std::span<std::uint32_t> starts_;
    snapshot_limits limits_;
    std::size_t count_ = 0; // items
    std::size_t used_ = 0;  // ints of the items section
    std::array<uuid, max_extended_types> extended_{};
    std::size_t extended_count_ = 0;
};

// ---- inline, as servers call it for every item ---------------------------------------------------------------------

namespace detail {

// Items are too short for a call of memcpy to pay.
inline void copy_ints(std::int32_t* to, std::int32_t const* from, std::size_t n) noexcept {
    if (n < 4) {
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
        return;
    }
    for (std::size_t i = 0; i + 4 < n; i += 4) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + n - 4, from + n - 4, 16); // some of it once more
}

} // namespace detail

inline result<std::span<std::int32_t>> snapshot_builder::reserve(std::int32_t key, std::size_t ints) noexcept {
    std::size_t const number = count_;
    if (key < 0) return failure{errc::bad_type, number};
    if (number >= limits_.items) return failure{errc::too_many_items, number};
    // header, an offset and a key per item, data
    std::size_t const left = limits_.ints() - 2 - number - used_;
    if (left < 2 || ints > left - 2) return failure{errc::too_large, number};

    std::int32_t* const place = memory_.data() + 2 + limits_.items + used_;
    offsets_[number] = static_cast<std::int32_t>(used_ * 4);
    std::uint32_t const hash = static_cast<std::uint32_t>(key) * 0x9e3779b1U >> seen_shift_;
    std::uint64_t& word = seen_[hash / 64];
    std::uint64_t const bit = std::uint64_t{1} << hash % 64;
    if ((word & bit) != 0 && detail::holds_key(keys_.first(number), key))
        return failure{errc::duplicate_key, number};
    word |= bit;
    mark_start();
    *place = key;
    keys_[number] = key;
    ++count_;
    used_ += 1 + ints;
    return std::span{place + 1, ints};
}

inline result<std::span<std::int32_t>> snapshot_builder::add(item const& copied) noexcept {
    auto const data = reserve(copied.key, copied.data.size());
    if (data) detail::copy_ints(data->data(), copied.data.data(), copied.data.size());
    return data;
}

} // namespace teewire
