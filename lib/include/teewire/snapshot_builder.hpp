/// @file
/// Builds a snapshot item by item in the caller's memory.
#pragma once

#include "teewire/snapshot.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace teewire {

namespace detail {

// Not a character type, since a write to one might change anything.
enum class seen_stamp : std::uint8_t {};

// Eight places per item, rounded up to a power of two.
[[nodiscard]] constexpr std::size_t seen_places(std::size_t items) noexcept {
    return std::bit_ceil(8 * items + 64);
}

[[nodiscard]] std::uint32_t seen_multiplier(void const* memory) noexcept;
[[nodiscard]] bool holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept;

} // namespace detail

/// Memory for a snapshot_builder. 96 KiB with the default limits.
template <snapshot_limits limits = snapshot_limits{}>
struct snapshot_builder_memory {
    /// @cond memory
    std::array<std::int32_t, limits.items + 1> offsets;
    std::array<std::int32_t, limits.items> keys;
    std::array<std::int32_t, 2 + limits.items + limits.bytes / 4> ints;
    std::array<std::uint16_t, limits.items> order;
    std::array<detail::seen_stamp, detail::seen_places(limits.items)> seen;
    std::array<std::uint32_t, starts_words(limits.ints())> starts;
    /// @endcond
};

/// Collects items and lays them out as a snapshot. Nothing is dropped silently: an item that cannot be added is
/// refused with the reason, and the items before it stay as they are. As long as the items have the keys and sizes of
/// the snapshot before, which a server's next tick mostly has, adding one costs little more than its data.
///
/// Extended types get aliases as in DDNet: 0x7fff for the first one used, then downwards. The item that describes an
/// alias comes right before its first user, and from then on at the front of every later snapshot of this builder, so
/// that the numbers stay the same and deltas small.
class snapshot_builder {
public:
    static constexpr std::size_t max_extended_types = 64; ///< that one builder can describe

    /// Empty. Keeps `memory`. O(size of the memory).
    template <snapshot_limits limits>
    explicit snapshot_builder(snapshot_builder_memory<limits>& memory) noexcept
        : limits_{limits}, offsets_{memory.offsets}, keys_{memory.keys}, memory_{memory.ints}, order_{memory.order},
          seen_{memory.seen}, starts_{memory.starts} {
        offsets_[0] = 0;
        std::fill(seen_.begin(), seen_.end(), detail::seen_stamp{});
        std::fill(starts_.begin(), starts_.end(), 0U);
        start();
    }

    /// Begins the next snapshot, with the describing items of the extended types used so far. Invalidates the view
    /// that finish() gave. While items are added, the processor fetches what lies `ahead`.
    void start(memory_ahead ahead = {}) noexcept;

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

    /// Items so far.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// The snapshot, in insertion order, inside the builder's memory: valid until start(). More items may be added
    /// afterwards and finish() called again. O(items), not O(ints).
    snapshot_view finish() noexcept;

    /// Writes the snapshot to `out` in the order asked for. Error: output_full.
    result<snapshot_view> finish(std::span<std::int32_t> out, item_order order) noexcept;

private:
    // The item behind the others, its data not written yet.
    result<std::span<std::int32_t>> reserve(std::int32_t key, std::size_t ints) noexcept;
    [[nodiscard]] std::size_t used() const noexcept { return static_cast<std::uint32_t>(offsets_[count_]) / 4; }
    [[nodiscard]] detail::seen_stamp& seen(std::int32_t key) const noexcept {
        // Neighbouring ids share cache lines; types lie apart, but where, no sender of keys can know. The lowest bits of
        // a product say nothing of the highest ones of a type.
        auto const bits = static_cast<std::uint32_t>(key);
        return seen_[(bits + ((bits >> 10) * seen_multiplier_ >> 12)) & seen_mask_];
    }
    void mark_start(std::size_t at) noexcept { starts_[at / 32] |= 1U << at % 32; }
    void part() noexcept;

    snapshot_limits limits_;
    std::span<std::int32_t> offsets_; // bytes, relative to items_; one more where the last item ends
    std::span<std::int32_t> keys_;
    std::span<std::int32_t> memory_; // room for what precedes the items, which finish() fills in; then the items
    std::int32_t* items_ = memory_.data() + 2 + limits_.items;
    std::span<std::uint16_t> order_; // for sorting
    // For each hash of a key, a stamp if there was one: most new keys are known for new by it alone, the others are
    // looked for.
    std::span<detail::seen_stamp> seen_;
    std::uint32_t seen_mask_ = static_cast<std::uint32_t>(seen_.size() - 1);
    std::uint32_t seen_multiplier_ = detail::seen_multiplier(seen_.data());
    detail::seen_stamp stamp_{};
    std::span<std::uint32_t> starts_;
    std::size_t count_ = 0; // items
    // What is to be fetched lies so far from the items.
    std::uintptr_t to_base_ = 0;
    std::uintptr_t to_stored_ = 0;
    // While the snapshot is like the one before: that one's items. Their keys, offsets and starts are in place, and have
    // no stamps.
    std::size_t before_ = 0;
    bool alike_ = false;
    std::array<uuid, max_extended_types> extended_{};
    std::size_t extended_count_ = 0;
};

// ---- inline, as servers call it for every item ---------------------------------------------------------------------

namespace detail {

// A hint to the processor; any address will do.
inline void fetch([[maybe_unused]] std::uintptr_t address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(reinterpret_cast<void const*>(address), 0, 2);
#endif
}

// Items are too short for a call of memcpy to pay. Some ints are copied twice.
inline void copy_ints(std::int32_t* to, std::int32_t const* from, std::size_t n) noexcept {
    auto const four = [&](std::size_t at) { std::memcpy(to + at, from + at, 16); };
    if (n < 4) {
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
        return;
    }
    if (n > 8) {
        std::size_t at = 4;
        for (; at + 12 < n; at += 8) {
            four(at);
            four(at + 4);
        }
        four(at);
        four(n - 8);
    }
    four(0);
    four(n - 4);
}

} // namespace detail

inline result<std::span<std::int32_t>> snapshot_builder::reserve(std::int32_t key, std::size_t ints) noexcept {
    std::size_t const number = count_;
    std::int32_t const offset = offsets_[number];
    std::size_t const at = static_cast<std::uint32_t>(offset) / 4;
    if (number >= limits_.items) [[unlikely]]
        return failure{errc::too_many_items, number};
    if (2 + number + 1 + at + 1 + ints > limits_.ints()) [[unlikely]]
        return failure{errc::too_large, number};
    std::int32_t const end = offset + 4 * (1 + static_cast<std::int32_t>(ints));
    std::int32_t* const place = items_ + at;
    detail::fetch(reinterpret_cast<std::uintptr_t>(place) + to_base_);
    detail::fetch(reinterpret_cast<std::uintptr_t>(place) + to_stored_);
    if (alike_ && (number >= before_ || keys_[number] != key || offsets_[number + 1] != end)) part();
    if (!alike_) {
        if (key < 0) [[unlikely]]
            return failure{errc::bad_type, number};
        detail::seen_stamp& stamp = seen(key);
        if (stamp == stamp_ && detail::holds_key(keys_.first(number), key))
            return failure{errc::duplicate_key, number};
        stamp = stamp_;
        mark_start(at);
        offsets_[number + 1] = end;
        keys_[number] = *place = key;
    }
    count_ = number + 1;
    return std::span{place + 1, ints};
}

inline result<std::span<std::int32_t>> snapshot_builder::add(item const& copied) noexcept {
    auto const data = reserve(copied.key, copied.data.size());
    if (data) detail::copy_ints(data->data(), copied.data.data(), copied.data.size());
    return data;
}

} // namespace teewire
