/// @file
/// Deltas between snapshots: what travels on the wire and fills most of a demo.
///
/// Layout, in ints: number of removed keys, number of updates, one unused int; the removed keys; then for every update
/// type, id, the size if the type has no agreed one, and the data: differences to the base if the base holds the key,
/// otherwise the values. See doc/format/snapshot.md#deltas.
#pragma once

#include "teewire/snapshot.hpp"

#include <span>

namespace teewire {

inline constexpr std::size_t delta_header_ints = 3; ///< at the start of every delta

/// Scratch memory for create_delta and apply_delta. 51 KiB with the default limits; needs no set-up.
template <snapshot_limits limits = snapshot_limits{}>
struct delta_memory {
    /// @cond memory
    static constexpr std::size_t items = limits.items;
    key_index_memory<items> base_index, added_index;
    std::array<std::uint32_t, items> base_filter;                      // of the keys of the base
    std::array<std::uint32_t, items> run_begins, run_partners;         // when a delta is created
    std::array<std::uint32_t, items> item_begins, gap_items, gap_ints; // when it is applied
    std::array<std::uint64_t, (items / 64 / 8 + 1) * 8> marks;
    std::array<std::uint32_t, starts_words(limits.ints())> starts;
    /// @endcond
};

/// Borrows a delta_memory.
struct delta_scratch {
    /// Borrows all of `memory`.
    template <snapshot_limits limits>
    delta_scratch(delta_memory<limits>& memory) noexcept
        : base_keys{memory.base_index.keys}, added_keys{memory.added_index.keys},
          base_numbers{memory.base_index.numbers}, added_numbers{memory.added_index.numbers},
          base_filter{memory.base_filter}, run_begins{memory.run_begins}, run_partners{memory.run_partners},
          item_begins{memory.item_begins}, gap_items{memory.gap_items}, gap_ints{memory.gap_ints},
          marks{memory.marks}, starts{memory.starts} {}

    /// Items.
    [[nodiscard]] std::size_t capacity() const noexcept { return base_keys.size(); }
    /// Ints of the items that the fast functions can work with.
    [[nodiscard]] std::size_t max_ints() const noexcept { return 32 * (starts.size() - 4); }
    /// @cond memory
    [[nodiscard]] key_index base_index() const noexcept { return {base_keys, base_numbers}; }
    [[nodiscard]] key_index added_index() const noexcept { return {added_keys, added_numbers}; }

    std::span<std::int32_t> base_keys, added_keys; // those of the indexes
    std::span<std::uint16_t> base_numbers, added_numbers;
    std::span<std::uint32_t> base_filter, run_begins, run_partners, item_begins, gap_items, gap_ints;
    std::span<std::uint64_t> marks; // a bit per item, and some to spare
    std::span<std::uint32_t> starts;
    /// @endcond
};

// ---- create --------------------------------------------------------------------------------------------------------

/// Ints that the delta between the two can take at most.
[[nodiscard]] constexpr std::size_t delta_bound(snapshot_view from, snapshot_view to) noexcept {
    return delta_header_ints + from.size() + 2 * to.size() + to.data_size() / 4;
}

/// Writes the delta that makes `to` out of `from`: removed keys in the order of `from`, updates in the order of `to`.
/// If nothing changed, the result is empty and nothing needs to be sent. The bytes equal those of the reference
/// implementations. Both have at most as many items as the scratch is for. Fast when their ints are not more than the
/// scratch is for; faster when their keys are known to be distinct, and fastest when they know their outlines.
/// Errors, with the number of the item in `to`: size_mismatch when an item changes its size or differs from the agreed
/// one, which no receiver could read; output_full, never with delta_bound() ints; duplicate_key, with 0, when a key
/// occurs twice in either snapshot. O(items + ints).
result<std::span<std::int32_t const>> create_delta(snapshot_view from, snapshot_view to, size_table const& sizes,
                                                   delta_scratch const& scratch,
                                                   std::span<std::int32_t> out) noexcept;

// ---- read ----------------------------------------------------------------------------------------------------------

/// Walks through a delta without a base.
class delta_reader {
public:
    /// One item of the delta.
    struct update {
        std::int32_t key = 0;               ///< of the item
        std::span<std::int32_t const> data; ///< differences, or values if the base does not hold the key
        std::size_t position = 0;           ///< int where the update begins
    };

    /// Errors, with the int reached: truncated, bad_count.
    static result<delta_reader> open(std::span<std::int32_t const> delta, size_table const& sizes,
                                     decoding mode = decoding::strict, note_log* notes = nullptr) noexcept;

    /// Keys of the items that go.
    [[nodiscard]] std::span<std::int32_t const> removed_keys() const noexcept {
        return delta_.subspan(delta_header_ints, removed_);
    }
    /// As stated, at least 0. The delta may end earlier with an error, or hold more that is ignored.
    [[nodiscard]] std::size_t stated_updates() const noexcept { return updates_; }

    /// Gives the next update. False at the end and on errors: truncated, bad_type, bad_id, bad_item_size. Lenient
    /// decoding takes the halves of a key as unsigned 16-bit numbers, with the note unsigned_key_half.
    bool next(update& out) noexcept {
        if (next_ordinary(out)) [[likely]]
            return true;
        return next_with_quirks(out);
    }
    /// Why next() returned false; ok at the end.
    [[nodiscard]] failure error() const noexcept { return error_; }

private:
    delta_reader() noexcept = default;
    friend class result<delta_reader>;
    friend struct delta_walk;
    // next() for an update without quirks; false if there is none, or next_with_quirks() must be asked.
    bool next_ordinary(update& out) noexcept {
        std::int32_t const key = next_key();
        if (key < 0) return false;
        std::size_t const agreed = (*sizes_)[key_type(key)];
        return take(key, agreed != 0 ? 2 : 3, agreed != 0 ? agreed : static_cast<std::uint32_t>(delta_[at_ + 2]),
                    out);
    }
    // The key that next_ordinary() will give, or -1.
    [[nodiscard]] std::int32_t next_key() const noexcept {
        if (read_ == updates_ || delta_.size() - at_ < 3) return -1;
        auto const type = static_cast<std::uint32_t>(delta_[at_]);
        auto const id = static_cast<std::uint32_t>(delta_[at_ + 1]);
        return type <= last_alias && id <= 0xffff ? static_cast<std::int32_t>(type << 16 | id) : -1;
    }
    bool next_with_quirks(update& out) noexcept;
    bool take(std::int32_t key, std::size_t head, std::size_t size, update& out) noexcept {
        if (size > delta_.size() - at_ - head) return false;
        out.key = key;
        out.data = delta_.subspan(at_ + head, size);
        out.position = at_;
        at_ += head + size;
        ++read_;
        return true;
    }
    bool fail(errc code, std::size_t position) noexcept {
        error_ = {code, position};
        return false;
    }

    std::span<std::int32_t const> delta_;
    size_table const* sizes_ = nullptr;
    note_log* notes_ = nullptr;
    decoding mode_ = decoding::strict;
    std::size_t removed_ = 0;
    std::size_t updates_ = 0;
    std::size_t read_ = 0; // updates
    std::size_t at_ = 0;
    failure error_{};
};

// Inline, as a result in memory costs more than what is done here.
inline result<delta_reader> delta_reader::open(std::span<std::int32_t const> delta, size_table const& sizes,
                                               decoding mode, note_log* notes) noexcept {
    if (!delta.empty() && delta[0] < 0) return failure{errc::bad_count, 0};
    if (delta.size() < delta_header_ints) return failure{errc::truncated, delta.size()};
    delta_reader reader;
    reader.delta_ = delta;
    reader.sizes_ = &sizes;
    reader.mode_ = mode;
    reader.notes_ = notes;
    reader.removed_ = static_cast<std::size_t>(delta[0]);
    if (reader.removed_ > delta.size() - delta_header_ints) return failure{errc::truncated, delta.size()};
    reader.at_ = delta_header_ints + reader.removed_;
    reader.updates_ = delta[1] < 0 ? 0 : static_cast<std::size_t>(delta[1]);
    if (notes != nullptr) {
        if (delta[1] < 0) notes->add(note::update_count, 1);
        if (delta[2] != 0) notes->add(note::unused_header_int, 2);
    }
    return reader;
}

/// The share of one item type in a delta.
struct type_usage {
    std::uint16_t type = 0;    ///< of the items
    std::uint32_t updates = 0; ///< items changed or new
    std::uint32_t bytes = 0;   ///< as variable-length ints: type, id, size and data
};

/// The parts of a delta, counted.
struct delta_usage {
    std::uint32_t removed = 0;          ///< keys
    std::uint32_t removed_bytes = 0;    ///< as variable-length ints
    std::uint32_t updates = 0;          ///< items changed or new
    std::uint32_t update_bytes = 0;     ///< as variable-length ints, without the removed keys
    std::span<type_usage const> types;  ///< in the order of their first use
    std::uint32_t unlisted_updates = 0; ///< of types for which `out` had no room
};

/// Counts what a delta is made of, in bytes of variable-length ints. `out` is memory for the list of types. Errors as
/// delta_reader. O(ints + updates * out.size()).
result<delta_usage> inspect_delta(std::span<std::int32_t const> delta, size_table const& sizes,
                                  std::span<type_usage> out, decoding mode = decoding::strict) noexcept;

// ---- apply ---------------------------------------------------------------------------------------------------------

/// How to read a delta, and how large its result may be.
struct apply_options {
    decoding mode = decoding::strict; ///< strict for a peer, lenient for recordings
    snapshot_limits limits = {};      ///< of the result
    note_log* notes = nullptr;        ///< where quirks go, or null
};

/// Writes the snapshot that `delta` makes of `base` to `out`: what survives in the order of the base, then what is new
/// in the order of the delta, as 0.6 and DDNet do; sort_by_key gives the order of 0.7.4. The snapshot may lie anywhere
/// in `out`, which must not overlap the inputs, and the base must have at most as many items as the scratch is for.
///
/// As all games do: a key that is both removed and updated moves to the end, with the difference applied to the
/// old data; of several updates of one key the last wins, each computed from the base; unknown removed keys, surplus
/// ints after the last update and the unused header int are ignored, with notes.
///
/// Errors, with the int of the delta: those of delta_reader, and size_mismatch, too_many_items, too_large. `out` never
/// needs more than limits.ints(); less gives output_full. O(items + ints).
result<snapshot_view> apply_delta(snapshot_view base, std::span<std::int32_t const> delta, size_table const& sizes,
                                  delta_scratch const& scratch, std::span<std::int32_t> out,
                                  apply_options const& options = {}) noexcept;

} // namespace teewire
