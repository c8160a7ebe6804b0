/// @file
/// Builds a snapshot item by item in the caller's memory.
#pragma once

#include "teewire/detail.hpp"
#include "teewire/snapshot.hpp"

#include <algorithm>
#include <array>

namespace teewire {

/// Memory for a snapshot_builder. 96 KiB with the default limits, of which a snapshot touches about 6 KiB, and 20 bytes
/// per item, and its own size.
template <snapshot_limits limits = snapshot_limits{}>
struct snapshot_builder_memory {
    /// @cond memory
    std::array<std::int32_t, 2 * (limits.items + 1)> offsets;
    std::array<std::int32_t, 2 * limits.items> keys;
    std::array<std::uint32_t, detail::seen_words(limits.items)> seen;
    std::array<std::uint32_t, 2 * starts_words(limits.ints())> starts;
    std::array<std::int32_t, 2 + limits.items + limits.bytes / 4> ints;
    std::array<std::uint16_t, limits.items> order;
    /// @endcond
};

/// Collects items and lays them out as a snapshot. Nothing is dropped silently: an item that cannot be added is refused
/// with the reason, and the items before it are not changed.
///
/// One builder serves any number of clients of one thread in turn. It expects about the keys of the client's base, in
/// their order, or without a base those of the snapshot it built before: what it finds there needs no search.
///
/// Extended types get aliases as in DDNet: 0x7fff for the first one used, then downwards. The item that describes an
/// alias comes right before its first user, and from then on at the front of every later snapshot of this builder, so
/// that the numbers stay the same and deltas small.
class snapshot_builder {
public:
    static constexpr std::size_t max_extended_types = 64; ///< that one builder can describe

    /// Empty. Keeps `memory`. O(items).
    template <snapshot_limits limits>
    explicit snapshot_builder(snapshot_builder_memory<limits>& memory) noexcept
        : limits_{limits}, offsets_{memory.offsets.data()}, keys_{memory.keys.data()},
          starts_{memory.starts.data()}, offsets_before_{offsets_ + limits.items + 1},
          keys_before_{keys_ + limits.items}, starts_before_{starts_ + starts_words(limits.ints())},
          memory_{memory.ints}, seen_{memory.seen}, order_{memory.order} {
        offsets_[0] = offsets_before_[0] = 0;
        std::fill(memory.starts.begin(), memory.starts.end(), 0U);
        start();
    }

    /// Begins the next snapshot, with the describing items of the extended types used so far. Invalidates the view
    /// that finish() gave. While items are added, the processor fetches what lies `ahead`, and the base must not
    /// change: do not add to its history until all items are there. O(items of the base), and of the snapshot before O(ints / 32).
    void start(memory_ahead ahead = {}) noexcept;

    /// Adds an item whose data is all zero, and gives its data to be filled in until the next call. Errors, with the
    /// number of items so far: bad_type (0x8000 and above), duplicate_key, too_many_items, too_large. O(ints).
    result<std::span<std::int32_t>> add(std::uint16_t type, std::uint16_t id, std::size_t ints) noexcept;

    /// The same for an extended type, described first if it is new. Further error: too_many_types. If the new type's
    /// item does not fit, its describing item stays, which is harmless. O(ints + extended types).
    result<std::span<std::int32_t>> add(uuid const& extended, std::uint16_t id, std::size_t ints) noexcept;

    /// Adds a copy.
    result<std::span<std::int32_t>> add(item const& copied) noexcept;

    /// The alias of an extended type, described first if it is new: the type that its items are added with, in this
    /// snapshot and all later ones of this builder, so that a server asks once. Errors: those of add(), too_many_types.
    /// O(extended types).
    result<std::uint16_t> extended_type(uuid const& extended) noexcept;

    /// The alias of an extended type, or 0 if it was not used yet.
    [[nodiscard]] std::uint16_t alias_of(uuid const& extended) const noexcept;

    class writer;
    /// For loops: writes items after those in the builder, and take() then adds them all at once. Between the two
    /// calls, only start() may be called, to forget the written items.
    [[nodiscard]] writer write() noexcept;
    /// Adds what was written. Returns the number of items so far. Error: duplicate_key, with the number of the first
    /// written item, counting all items of the snapshot, whose key was there already; such items are left out and all
    /// others are added. O(items).
    result<std::size_t> take(writer written) noexcept;

    /// Items so far.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// The snapshot, in insertion order, inside the builder's memory: valid until start(). More items may be added
    /// afterwards and finish() called again. O(items), not O(ints).
    snapshot_view finish() noexcept;

    /// Writes the snapshot to `out` in the order asked for. Error: output_full.
    result<snapshot_view> finish(std::span<std::int32_t> out, item_order order) noexcept;

private:
    // Whether the item fits, and its key is the expected one.
    [[nodiscard]] bool is_expected(std::int32_t key, std::size_t ints) const noexcept {
        return next_ < expected_.items && expected_.keys[next_] == key && key >= 0 && count_ < limits_.items &&
               count_ + at_ + ints < most_;
    }
    // The item after the others, its data not written yet.
    std::span<std::int32_t> place(std::int32_t key, std::size_t ints) noexcept;
    result<std::span<std::int32_t>> reserve(std::int32_t key, std::size_t ints) noexcept;
    result<std::span<std::int32_t>> reserve_unexpected(std::int32_t key, std::size_t ints) noexcept;
    result<std::span<std::int32_t>> add_unexpected(item const& copied) noexcept;
    [[nodiscard]] bool is_new(std::int32_t key, std::size_t number) noexcept;
    void fill_filter(std::size_t number) noexcept;
    [[nodiscard]] std::size_t take_alike(std::size_t end) noexcept;
    [[nodiscard]] std::size_t check(std::size_t number, std::size_t end) noexcept;
    [[nodiscard]] std::size_t leave_out_known(std::size_t number, std::size_t end) noexcept;
    // The sizes of the two sections, an offset and a key come on top.
    [[nodiscard]] static constexpr std::size_t room(snapshot_limits const& limits) noexcept {
        return limits.ints() > 3 ? limits.ints() - 3 : 0;
    }
    void mark_start(std::size_t at) noexcept { starts_[at / 32] |= 1U << at % 32; }

    snapshot_limits limits_;
    std::size_t count_ = 0; // items
    std::int32_t* offsets_; // bytes, relative to items_; one more where the last item ends
    std::int32_t* keys_;
    std::uint32_t* starts_;        // those of the items so far, and no others
    std::size_t at_ = 0;           // ints of the items
    std::int32_t* offsets_before_; // of the snapshot before
    std::int32_t* keys_before_;
    std::uint32_t* starts_before_;
    std::size_t at_before_ = 0;
    struct expected_items {
        std::int32_t const* keys = nullptr;
        std::int32_t const* offsets = nullptr;
        std::uint32_t const* starts = nullptr;
        std::size_t items = 0;
    };
    // Those of the base, or of the snapshot before. None of those from next_ on has the key of an item that was added.
    expected_items expected_;
    std::size_t next_ = 0;
    std::span<std::int32_t> memory_; // room for what precedes the items, which finish() fills in; then the items
    std::int32_t* items_ = memory_.data() + 2 + limits_.items;
    std::span<std::uint32_t> seen_; // a Bloom filter of the keys
    std::uint32_t seen_multiplier_ = detail::seen_multiplier(seen_);
    std::span<std::uint16_t> order_;       // for sorting
    std::size_t most_ = room(limits_);     // items, and ints of items, and data of the next one, must be fewer
    std::array<std::int32_t, 6> others_{}; // the keys that were looked for,
    std::size_t others_count_ = 0;         // until they are too many
    bool filtered_ = false;                // then the filter has all keys
    // Distances from the items to the memory that is to be fetched.
    std::uintptr_t to_base_ = 0;
    std::uintptr_t to_stored_ = 0;
    std::array<uuid, max_extended_types> extended_{};
    std::size_t extended_count_ = 0;
};

/// Writes items with a few instructions each: there is no call, and its state fits in registers. The items count when
/// the builder takes it; copies of it write over each other.
class snapshot_builder::writer {
public:
    /// The data of the next item, not filled with anything: to be written whole before the builder takes it. Null if it
    /// does not fit, or for types of 0x8000 and above. O(1).
    [[nodiscard]] std::int32_t* add(std::uint16_t type, std::uint16_t id, std::size_t ints) noexcept {
        return reserve(make_key(type, id), ints);
    }
    /// Writes a copy. False if it does not fit, or for a negative key. O(ints).
    bool add(item const& copied) noexcept {
        std::int32_t* const data = reserve(copied.key, copied.data.size());
        if (data != nullptr) detail::copy_ints(data, copied.data.data(), copied.data.size());
        return data != nullptr;
    }

private:
    friend class snapshot_builder;
    std::int32_t* reserve(std::int32_t key, std::size_t ints) noexcept {
        if (left_ == 0 || ints >= room_ || key < 0) [[unlikely]]
            return nullptr;
        std::int32_t* const place = next_;
        detail::fetch_ahead(place, to_base_, to_stored_);
        *place = *keys_++ = key;
        next_ += 1 + ints;
        *ends_++ = static_cast<std::int32_t>(4 * (next_ - items_));
        --left_;
        room_ = room_ > ints + 2 ? room_ - (ints + 2) : 0;
        return place + 1;
    }

    std::int32_t* items_;
    std::int32_t* next_; // among them
    std::int32_t* keys_;
    std::int32_t* ends_;     // bytes from items_
    std::size_t left_;       // items
    std::size_t room_;       // the next item must have fewer ints
    std::uintptr_t to_base_; // as the builder's
    std::uintptr_t to_stored_;
};

// ---- inline, as servers call it for every item ---------------------------------------------------------------------

inline std::span<std::int32_t> snapshot_builder::place(std::int32_t key, std::size_t ints) noexcept {
    std::size_t const number = count_;
    std::size_t const at = at_;
    std::int32_t* const place = items_ + at;
    detail::fetch_ahead(place, to_base_, to_stored_);
    mark_start(at);
    *place = keys_[number] = key;
    offsets_[number + 1] = static_cast<std::int32_t>(4 * (at + 1 + ints));
    count_ = number + 1;
    at_ = at + 1 + ints;
    return {place + 1, ints};
}

inline result<std::span<std::int32_t>> snapshot_builder::reserve(std::int32_t key, std::size_t ints) noexcept {
    if (!is_expected(key, ints)) [[unlikely]]
        return reserve_unexpected(key, ints);
    ++next_;
    return place(key, ints);
}

inline result<std::span<std::int32_t>> snapshot_builder::add(item const& copied) noexcept {
    if (!is_expected(copied.key, copied.data.size())) [[unlikely]]
        return add_unexpected(copied);
    ++next_;
    auto const data = place(copied.key, copied.data.size());
    detail::copy_ints(data.data(), copied.data.data(), copied.data.size());
    return data;
}

inline snapshot_builder::writer snapshot_builder::write() noexcept {
    writer w;
    w.items_ = items_;
    w.next_ = items_ + at_;
    w.keys_ = keys_ + count_;
    w.ends_ = offsets_ + count_ + 1;
    w.left_ = limits_.items - count_;
    w.to_base_ = to_base_;
    w.to_stored_ = to_stored_;
    w.room_ = count_ + at_ < most_ ? most_ - count_ - at_ : 0;
    return w;
}

} // namespace teewire
