/// @file
/// Snapshots: a read-only view over memory in the engines' own layout, and an index of its keys.
///
/// Layout, in ints: [0] bytes of the items section, [1] number of items, then one offset per item (bytes, relative to
/// the items section), then the items: key, data... See doc/format/snapshot.md#layout.
/// Limits and checks are those of DDNet.
#pragma once

#include "teewire/detail.hpp"
#include "teewire/error.hpp"
#include "teewire/schema.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

namespace teewire {

class snapshot_view;

/// Limits of a snapshot. The default is the most that every implementation can read.
struct snapshot_limits {
    std::uint32_t items = 1024;  ///< at most 65534
    std::uint32_t bytes = 65536; ///< of the whole snapshot, header and offsets included

    /// Ints of the whole snapshot.
    [[nodiscard]] constexpr std::size_t ints() const noexcept { return bytes / 4; }
};

/// The key of an item: its type in the upper half.
[[nodiscard]] constexpr std::int32_t make_key(std::uint16_t type, std::uint16_t id) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(type) << 16 | id);
}
/// The type in a key.
[[nodiscard]] constexpr std::uint16_t key_type(std::int32_t key) noexcept {
    return static_cast<std::uint16_t>(static_cast<std::uint32_t>(key) >> 16);
}
/// The id in a key.
[[nodiscard]] constexpr std::uint16_t key_id(std::int32_t key) noexcept { return static_cast<std::uint16_t>(key); }

/// Borrowed: `data` points into the snapshot.
struct item {
    std::int32_t key = 0;               ///< make_key(type, id)
    std::span<std::int32_t const> data; ///< without the key

    /// The type in its key.
    [[nodiscard]] constexpr std::uint16_t type() const noexcept { return key_type(key); }
    /// The id in its key.
    [[nodiscard]] constexpr std::uint16_t id() const noexcept { return key_id(key); }
};

/// Words for the starts of items in so many ints: a bit for every int and one after them, and some to spare.
[[nodiscard]] constexpr std::size_t starts_words(std::size_t ints) noexcept { return ints / 32 + 4; }

/// Where the items of a snapshot are, in two forms that deltas are made from.
struct snapshot_outline {
    std::span<std::int32_t const> keys; ///< in the order of the items
    /// Bit n % 32 of word n / 32 is set if an item begins at int n of the items section; one more bit is set where the
    /// last item ends, and none after it.
    std::span<std::uint32_t const> starts;
};

/// Writes the starts of all items to `out`, which has starts_words() words. O(ints / 32 + items).
void find_starts(snapshot_view snapshot, std::span<std::uint32_t> out) noexcept;

/// A snapshot in memory that someone else keeps. Copying it copies no items.
class snapshot_view {
public:
    /// The empty snapshot.
    constexpr snapshot_view() noexcept : ints_{empty_} {}

    /// Checks an untrusted snapshot as DDNet does: exact length, counts within `limits`, offsets aligned and
    /// increasing. Errors, with the int where they show: truncated, bad_count, bad_length, bad_offset, too_large; with
    /// strict decoding also bad_type for a negative key. Lenient decoding adds unsigned_key_half, and both add
    /// gap_before_items. Does not look for repeated keys: key_index::build finds them. O(items).
    static result<snapshot_view> parse(std::span<std::int32_t const> ints, decoding mode = decoding::strict,
                                       snapshot_limits limits = {}, note_log* notes = nullptr) noexcept;

    /// Takes a snapshot that the caller built or has checked. Asserts what parse() checks. Say whether the keys are known
    /// to be distinct: a wrong yes makes deltas wrong, a no makes each one look.
    static snapshot_view trusted(std::span<std::int32_t const> ints, bool distinct_keys = true) noexcept;

    /// The same snapshot with its outline at hand, so that deltas and checksums need not find it out first.
    /// The builder and the history give such views. Asserts that it is the outline.
    [[nodiscard]] snapshot_view with_outline(snapshot_outline outline) const noexcept;
    /// The outline that with_outline() got, or nothing.
    [[nodiscard]] constexpr snapshot_outline outline() const noexcept {
        if (keys_ == nullptr) return {};
        return {{keys_, size()}, {starts_, starts_words(data_size() / 4)}};
    }

    /// Whether no key is known to occur twice. False after parse(), true for what is built or results from a delta.
    [[nodiscard]] constexpr bool distinct_keys() const noexcept { return distinct_; }

    /// The whole snapshot.
    [[nodiscard]] constexpr std::span<std::int32_t const> ints() const noexcept { return ints_; }
    /// Items.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(ints_[1]); }
    /// Whether there are no items.
    [[nodiscard]] constexpr bool empty() const noexcept { return ints_[1] == 0; }
    /// Bytes of the items section.
    [[nodiscard]] constexpr std::size_t data_size() const noexcept { return static_cast<std::size_t>(ints_[0]); }
    /// Where each item begins: bytes in items().
    [[nodiscard]] constexpr std::span<std::int32_t const> offsets() const noexcept {
        return ints_.subspan(2, size());
    }
    /// The items section: keys and data.
    [[nodiscard]] constexpr std::span<std::int32_t const> items() const noexcept {
        return ints_.subspan(2 + size());
    }

    /// The key of item `number`, below size(). O(1).
    [[nodiscard]] constexpr std::int32_t key(std::size_t number) const noexcept { return items()[begins(number)]; }
    /// Item `number`, below size(). O(1).
    [[nodiscard]] constexpr item operator[](std::size_t number) const noexcept {
        std::size_t const first = begins(number);
        std::size_t const end = number + 1 < size() ? begins(number + 1) : data_size() / 4;
        return {items()[first], items().subspan(first + 1, end - first - 1)};
    }

    class iterator;
    /// The first item.
    [[nodiscard]] constexpr iterator begin() const noexcept;
    /// The position after the last item.
    [[nodiscard]] constexpr iterator end() const noexcept;

    /// The first item with that key. O(items); use a key_index for many.
    [[nodiscard]] std::optional<item> find(std::int32_t key) const noexcept;

    /// Sum of all data ints modulo 2^32; keys are left out. O(ints).
    [[nodiscard]] std::uint32_t checksum() const noexcept;

private:
    friend class snapshot_builder;
    constexpr snapshot_view(std::span<std::int32_t const> ints, bool distinct) noexcept
        : ints_{ints}, distinct_{distinct} {}
    [[nodiscard]] constexpr std::size_t begins(std::size_t number) const noexcept {
        return static_cast<std::size_t>(ints_[2 + number]) / 4;
    }

    static constexpr std::int32_t empty_[2] = {0, 0};
    std::span<std::int32_t const> ints_;
    std::int32_t const* keys_ = nullptr;
    std::uint32_t const* starts_ = nullptr;
    bool distinct_ = true;
};

/// The snapshot that the next one will be compared with, and where that will be kept. With many clients, both have gone
/// unused for a while, so the processor has to fetch them from slow memory.
struct memory_ahead {
    snapshot_view base{};         ///< empty: there is none
    void const* stored = nullptr; ///< where the new items will be copied to
};

/// Goes over the items in their order.
class snapshot_view::iterator {
public:
    /// @cond memory
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = item;
    using difference_type = std::ptrdiff_t;
    /// @endcond

    /// The end of the empty snapshot.
    constexpr iterator() noexcept = default;
    /// At item `number`.
    constexpr iterator(snapshot_view view, std::size_t number) noexcept
        : offset_{view.offsets().data() + number}, items_{view.items().data()}, end_{static_cast<std::int32_t>(
                                                                                    view.data_size())} {}
    /// The item.
    constexpr item operator*() const noexcept {
        // The items begin where the offsets end.
        std::size_t const first = static_cast<std::uint32_t>(*offset_) / 4;
        std::size_t const end = static_cast<std::uint32_t>(offset_ + 1 != items_ ? offset_[1] : end_) / 4;
        return {items_[first], {items_ + first + 1, end - first - 1}};
    }
    /// To the next one.
    constexpr iterator& operator++() noexcept {
        ++offset_;
        return *this;
    }
    /// To the next one.
    constexpr iterator operator++(int) noexcept {
        iterator const before = *this;
        ++offset_;
        return before;
    }
    /// At the same item of the same snapshot.
    friend constexpr bool operator==(iterator const& a, iterator const& b) noexcept {
        return a.offset_ == b.offset_;
    }

private:
    std::int32_t const* offset_ = empty_ + 2;
    std::int32_t const* items_ = empty_ + 2;
    std::int32_t end_ = 0;
};

constexpr snapshot_view::iterator snapshot_view::begin() const noexcept { return {*this, 0}; }
constexpr snapshot_view::iterator snapshot_view::end() const noexcept { return {*this, size()}; }

/// The meaning of an alias (an item type of 0x4000 and above) in this snapshot. Empty when no item describes it, or
/// the describing item is too short. O(items).
[[nodiscard]] std::optional<uuid> find_extended_type(snapshot_view snapshot, std::uint16_t alias) noexcept;

// ---- key index -----------------------------------------------------------------------------------------------------

/// Memory for a key_index of up to `items` items. 12 KiB for 1024.
template <std::size_t items = snapshot_limits{}.items>
struct key_index_memory {
    static_assert(items < 65535, "item numbers are 16-bit");
    /// @cond memory
    static constexpr std::size_t places = std::bit_ceil(4 * (items < 4 ? 4 : items));
    std::array<std::int32_t, items> keys;
    std::array<std::uint16_t, places> numbers;
    /// @endcond
};

/// Finds items by key in constant time. Hash flooding does not make it slow: the hash function depends on where the
/// memory lies, and when probe clusters get long all the same, another one is taken.
class key_index {
public:
    static constexpr std::size_t npos = SIZE_MAX; ///< no such item

    /// Keeps `memory`. O(places).
    template <std::size_t items>
    explicit key_index(key_index_memory<items>& memory) noexcept : key_index{memory.keys, memory.numbers} {}
    /// For as many items as there are `keys`; `numbers` are a power of two, and at least twice as many.
    key_index(std::span<std::int32_t> keys, std::span<std::uint16_t> numbers) noexcept;

    /// Forgets everything. O(places).
    void clear() noexcept;

    /// Indexes all items. The first of items with the same key is found. Returns false if there are such items.
    /// Asserts that the snapshot has at most capacity() items. O(items + places).
    bool build(snapshot_view snapshot) noexcept;
    /// The same for the keys of all items, in their order. They may lie in the memory of the index itself.
    bool build_from_keys(std::span<std::int32_t const> keys) noexcept;

    /// Adds item number size(). If the key is there already, nothing changes and the number of its item is returned;
    /// otherwise npos. Asserts that size() is less than capacity().
    std::size_t insert(std::int32_t key) noexcept {
        assert(size_ < capacity());
        keys_[size_] = key;
        std::size_t const found = place(size_);
        if (found != npos) return found;
        ++size_;
        if (crowded()) {
            start(attempt_ + 1);
            place_all();
        }
        return npos;
    }

    /// The number of the item with that key, or npos.
    [[nodiscard]] std::size_t find(std::int32_t key) const noexcept {
        std::uint16_t const found = numbers_[probe(first_place(key), key)];
        return found != 0 ? found - 1U : npos;
    }

    /// Items in it.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Items that it can have.
    [[nodiscard]] std::size_t capacity() const noexcept { return keys_.size(); }

private:
    [[nodiscard]] std::size_t first_place(std::int32_t key) const noexcept {
        return detail::hash_key(key, multiplier_, shift_);
    }
    [[nodiscard]] std::size_t probe(std::size_t begin, std::int32_t key) const noexcept {
        return detail::probe(numbers_, begin, key, [this](std::size_t number) { return keys_[number]; });
    }
    // Puts an item where its key belongs, or returns the number of another one that has the key.
    std::size_t place(std::size_t number) noexcept {
        std::int32_t const key = keys_[number];
        std::size_t const begin = first_place(key);
        std::size_t const at = probe(begin, key);
        steps_ += (at - begin) & (numbers_.size() - 1);
        if (numbers_[at] != 0) return numbers_[at] - 1U;
        numbers_[at] = static_cast<std::uint16_t>(number + 1);
        return npos;
    }
    [[nodiscard]] bool crowded() const noexcept { return detail::crowded(steps_, size_, attempt_); }
    void start(unsigned attempt) noexcept; // empty, with that hash function
    bool place_all() noexcept;             // with it or a later one; false if keys are repeated

    std::span<std::int32_t> keys_;     // by number
    std::span<std::uint16_t> numbers_; // + 1, by hash; 0 marks a free place
    std::size_t size_ = 0;
    std::size_t steps_ = 0; // past other keys, by all that were placed
    std::uint64_t multiplier_ = 0;
    unsigned shift_;
    unsigned attempt_ = 0;
};

// ---- order ---------------------------------------------------------------------------------------------------------

/// How the items of a snapshot are sorted.
enum class item_order : std::uint8_t {
    insertion, ///< 0.6, DDNet, 0.7.0 to 0.7.3
    by_key,    ///< 0.7.4 and later: ascending by key
};

/// Writes `snapshot` with its items ascending by key to `out`, as 0.7.4 and later keep them. `order` is scratch for one
/// number per item. Error: output_full. O(n log n).
result<snapshot_view> sort_by_key(snapshot_view snapshot, std::span<std::uint16_t> order,
                                  std::span<std::int32_t> out) noexcept;

} // namespace teewire
