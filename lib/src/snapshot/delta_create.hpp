// The fast form of create_delta. Read its plain twin in delta_create.cpp first: it defines the result.
//
// An example, of items as key:data. From A:1,2 B:3,4 C:5 to A:1,2 B:8,4 D:7, whose ints lie like this:
//
//     int of the items   0 1 2  3 4 5  6 7
//     from               A 1 2  B 3 4  C 5
//     to                 A 1 2  B 8 4  D 7
//
// 1. find_partners: A B is one run, as keys and distances agree. D has no partner and is a run of its own. C is not a
//    partner of an item, so its key goes to the removed ones.
// 2. add_changed compares the ints of the run A B, whatever the items are: int 4 differs, `different` = 010000. Items
//    end at ints 2 and 5, `ends` = 100100. 010000 + 011011 (~ends) = 101011: the sum carries the difference to bit 5,
//    where its item ends. compact() then leaves one bit for each end: 10, so that B has changed, and A has not.
// 3. write gives an update for each bit: of B the differences 5,0. add_new does so for D, with its values: 7.
#pragma once

#include "key_finder.hpp"

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

// Those of 64 ints that differ; of the first n < 64.
inline std::uint64_t differing(std::int32_t const* a, std::int32_t const* b) noexcept {
#ifdef TEEWIRE_UNEQUAL_64 // a level may have its own
    return unequal_64(a, b);
#else
    std::uint64_t set = 0;
    for (std::size_t k = 0; k < 64; k += width) set |= std::uint64_t{unequal(load(a + k), load(b + k))} << k;
    return set;
#endif
}
inline std::uint64_t differing_first(std::int32_t const* a, std::int32_t const* b, std::size_t n) noexcept {
    std::uint64_t set = 0;
    std::size_t k = 0;
    for (; n - k >= width; k += width) set |= std::uint64_t{unequal(load(a + k), load(b + k))} << k;
    if (k < n) set |= std::uint64_t{unequal(load_first(a + k, n - k), load_first(b + k, n - k))} << k;
    return set;
}

// Gives the bits of an array from one on.
class bit_stream {
public:
    bit_stream(std::uint32_t const* words, std::size_t bit) noexcept : at_{words + bit / 32}, low_{bit % 32} {}
    // 64 bits; the first n count as read.
    std::uint64_t next(std::size_t n) noexcept {
        std::uint64_t const two = std::uint64_t{at_[1]} << 32 | at_[0];
        std::uint64_t const bits = two >> low_ | std::uint64_t{at_[2]} << 1 << (63 - low_);
        low_ += n;
        at_ += low_ / 32;
        low_ %= 32;
        return bits;
    }

private:
    std::uint32_t const* at_;
    std::size_t low_;
};

// a + b + carry. The builtin for this goes through memory in GCC 12.
inline std::uint64_t add_carrying(std::uint64_t a, std::uint64_t b, bool& carry) noexcept {
    std::uint64_t const part = a + b;
    std::uint64_t const sum = part + carry;
    carry = part < a || sum < part;
    return sum;
}

// How many of n items have the same keys in both snapshots, and lie as far from the first one, which has the same key.
inline std::size_t count_alike(std::int32_t const* to_keys, std::int32_t const* from_keys,
                               std::int32_t const* to_offsets, std::int32_t const* from_offsets,
                               std::size_t n) noexcept {
    // Comparing vectors for each of 1024 items in another order would take half as long again.
    if (n == 1 || to_keys[1] != from_keys[1]) return 1;
    std::int32_t const shift = *from_offsets - *to_offsets;
    std::size_t i = 0;
    for (; n - i >= width; i += width) {
        vec const keys = load(to_keys + i) ^ load(from_keys + i);
        vec const moves = plus(load(to_offsets + i), all(shift)) ^ load(from_offsets + i);
        std::uint32_t const set = unequal(keys | moves, all(0)); // leaving vectors once
        if (set != 0) return i + lowest(set);
    }
    if constexpr (width >= 8) {
        std::size_t const left = n - i;
        std::uint32_t const set =
            unequal(load_first(to_keys + i, left), load_first(from_keys + i, left)) |
            unequal(plus(load_first(to_offsets + i, left), all(shift)), load_first(from_offsets + i, left));
        return std::min(n, i + lowest(set | std::uint32_t{1} << left));
    }
    while (i < n && to_keys[i] == from_keys[i] && from_offsets[i] - to_offsets[i] == shift) ++i;
    return i;
}

// Items that follow each other in both snapshots: the first one in `to`, and in `from`.
struct runs {
    static constexpr std::uint32_t new_item = ~std::uint32_t{0}; // instead of the latter

    std::uint32_t* begins;
    std::uint32_t* partners;
    std::size_t count = 0;
};

// Items of `to` that are taken for new, as their keys are not near where they are expected. Keys are distinct, so that
// in the end only those of `from` that have no partner can prove it wrong, and these are few.
struct deferred_lookups {
    static constexpr std::size_t most = 16;

    std::int32_t keys[most]; // those after `count` repeat the first one
    std::size_t runs[most];  // each is a run of its own
    std::size_t count = 0;
};

template <class F>
inline void for_each_unmarked(std::span<std::uint64_t const> marks, std::size_t n, F&& f) noexcept {
    for (std::size_t word = 0; word < marks.size(); ++word) {
        std::uint64_t set = ~marks[word];
        if (word == n / 64) set &= (std::uint64_t{1} << n % 64) - 1;
        for (; set != 0; set &= set - 1) f(word * 64 + lowest(set));
    }
}

// Finds the partners of all items of `to` by their keys. Marks what has one in `from`, and returns their number.
inline std::size_t find_partners(layout const& to, std::int32_t const* to_keys, layout const& from,
                                 std::int32_t const* from_keys, key_finder& finder, std::span<std::uint64_t> marks,
                                 runs& found_runs) noexcept {
    deferred_lookups deferred;
    std::size_t kept = 0;
    std::size_t j = 0; // the item of `from` that is expected next
    for (std::size_t i = 0; i < to.n;) {
        std::int32_t const key = to_keys[i];
        found_runs.begins[found_runs.count] = static_cast<std::uint32_t>(i);
        std::size_t found = finder.find_near(key, j);
        if (found == key_index::npos) {
            if (deferred.count < deferred_lookups::most) {
                deferred.keys[deferred.count] = key;
                deferred.runs[deferred.count++] = found_runs.count;
            } else {
                found = finder.find_far(key, j);
            }
        }
        if (found == key_index::npos) {
            found_runs.partners[found_runs.count++] = runs::new_item;
            ++i;
            continue;
        }
        j = found;
        std::size_t const items = count_alike(to_keys + i, from_keys + j, to.offsets + i, from.offsets + j,
                                              std::min(to.n - i, from.n - j));
        found_runs.partners[found_runs.count++] = static_cast<std::uint32_t>(j);
        set_bits(marks, j, j + items);
        kept += items;
        i += items;
        j += items;
    }
    auto const pair = [&](std::size_t n, std::size_t number) noexcept {
        found_runs.partners[deferred.runs[n]] = static_cast<std::uint32_t>(number);
        marks[number / 64] |= std::uint64_t{1} << number % 64;
        ++kept;
    };
    if (deferred.count == 0 || kept == from.n) return kept;
    if (deferred.count == deferred_lookups::most) { // others had to be looked for as well
        for (std::size_t k = 0; k < deferred.count; ++k)
            if (std::size_t const number = finder.find_far(deferred.keys[k], 0); number != key_index::npos)
                pair(k, number);
    } else {
        std::fill(deferred.keys + deferred.count, deferred.keys + deferred_lookups::most, deferred.keys[0]);
        for_each_unmarked(marks, from.n, [&](std::size_t number) noexcept {
            if (!any_equal(deferred.keys, deferred_lookups::most, all(from_keys[number]))) return;
            for (std::size_t k = 0; k < deferred.count; ++k)
                if (deferred.keys[k] == from_keys[number]) pair(k, number);
        });
    }
    return kept;
}

// Compares items and writes the updates of a delta.
class update_writer {
public:
    update_writer(layout const& to, std::uint32_t const* to_starts, layout const& from, size_table const& sizes,
                  std::span<std::int32_t> out) noexcept
        : to_{to}, to_starts_{to_starts}, from_{from}, sizes_{sizes}, out_{out.data(), out.size()} {}

    // n items from i on are new.
    bool add_new(std::size_t i, std::size_t n) noexcept {
        for (; n > 64; i += 64, n -= 64)
            if (!write<false>(i, ~std::uint64_t{0}, 0)) return false;
        return write<false>(i, ~std::uint64_t{0} >> (64 - n), 0);
    }

    // The items from i on that come before `end` have the keys and sizes of as many from j on. They are compared 64 ints
    // at a time, whatever the items are; what has changed is written while it is still in the nearest cache.
    bool add_changed(std::size_t i, std::size_t end, std::size_t j) noexcept {
        std::size_t const begin = to_.begin(i);
        auto const shift = static_cast<std::ptrdiff_t>(from_.begin(j) - begin);
        std::size_t left = to_.end(end - 1) - begin;
        std::int32_t const* a = to_.items + begin;
        std::int32_t const* b = from_.items + from_.begin(j);
        if (end - i == 1 && left <= 64) return differing_first(a, b, left) == 0 || write_known(i, shift);
        bit_stream ends_of{to_starts_, begin + 1}; // bit n: int n is the last one of its item
        std::uint64_t changed = 0;                 // bit n: item i + n has changed
        std::size_t seen = 0;                      // items that `changed` has bits for
        bool carry = false;
        auto const take = [&](std::size_t n, std::uint64_t different) noexcept {
            std::uint64_t const ends = ends_of.next(n) & ~std::uint64_t{0} >> (64 - n);
            // Adding carries every difference to the end of its item, even if that is in the next word.
            std::uint64_t const sum = add_carrying(~ends, different & ~ends, carry);
            std::uint64_t const flags = compact((sum | different) & ends, ends);
            auto const items = popcount(ends);
            changed |= flags << seen;
            seen += items;
            if (seen < 64) return true;
            if (changed != 0 && !write<true>(i, changed, shift)) return false;
            i += 64;
            seen -= 64;
            changed = flags >> 1 >> (items - seen - 1);
            return true;
        };
        if (std::size_t const n = 64 - reinterpret_cast<std::uintptr_t>(a) / 4 % 16; n < 64 && left >= 256) {
            // After these, no vector of the first snapshot lies across two cache lines.
            if (!take(n, differing(a, b) & ~std::uint64_t{0} >> (64 - n))) return false;
            a += n;
            b += n;
            left -= n;
        }
        for (; left >= 64; a += 64, b += 64, left -= 64)
            if (!take(64, differing(a, b))) return false;
        if (left != 0 && !take(left, differing_first(a, b, left))) return false;
        return changed == 0 || write<true>(i, changed, shift);
    }

    [[nodiscard]] std::int32_t* at() const noexcept { return out_.at; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] failure error() const noexcept { return error_; }

private:
    // Where the delta is written to.
    struct cursor {
        std::int32_t* at;
        std::size_t room; // ints from there on
    };

    // Item `number`, of these bytes. With `known`, its former data begin at the same byte of `from`.
    template <bool known>
    [[gnu::always_inline]] bool write_item(std::size_t number, std::int32_t begin, std::int32_t end,
                                           std::uintptr_t from, cursor& out) noexcept {
        std::size_t const size = static_cast<std::uint32_t>(end - begin) / 4 - 1; // of the data
        std::int32_t const* const item = at_byte(to_.items, begin);
        [[maybe_unused]] auto const* const before =
            reinterpret_cast<std::int32_t const*>(from + static_cast<std::uint32_t>(begin));
        std::size_t const agreed = sizes_[key_type(*item)];
        std::size_t const head = agreed != 0 ? 2 : 3;
        if (agreed != 0 && agreed != size) return fail(errc::size_mismatch, number);
        if (head + size > out.room) return fail(errc::output_full, number);
        out.room -= head + size;
        out.at[0] = *item >> 16;
        out.at[1] = key_id(*item);
        out.at[2] = static_cast<std::int32_t>(size); // or the first int of the data, which follows
        if constexpr (known) combine_ints<minus>(out.at + head, item + 1, before + 1, size);
        else copy_item(out.at + head, item + 1, size);
        out.at += head + size;
        return true;
    }
    [[nodiscard]] std::uintptr_t moved_by(std::ptrdiff_t shift) const noexcept {
        return reinterpret_cast<std::uintptr_t>(from_.items) + static_cast<std::uintptr_t>(4 * shift);
    }
    [[gnu::always_inline]] bool write_known(std::size_t number, std::ptrdiff_t shift) noexcept {
        cursor out = out_;
        auto const end = static_cast<std::int32_t>(4 * to_.end(number));
        if (!write_item<true>(number, to_.offsets[number], end, moved_by(shift), out)) return false;
        out_ = out;
        ++count_;
        return true;
    }
    // Bit n of `set` stands for item first + n. With `known`, items lie `shift` ints further on in `from`.
    template <bool known>
    [[gnu::noinline]] bool write(std::size_t first, std::uint64_t set, std::ptrdiff_t shift) noexcept {
        count_ += popcount(set);
        // Copies that nothing else points to, to be kept in registers.
        std::int32_t const* const offsets = to_.offsets + first;
        std::uintptr_t const from = moved_by(shift);
        std::size_t const left = to_.n - first;
        auto const data_end = static_cast<std::int32_t>(4 * to_.size);
        cursor out = out_;
        for (; set != 0; set &= set - 1) {
            std::size_t const i = lowest(set);
            std::int32_t const end = i + 1 < left ? offsets[i + 1] : data_end;
            if (!write_item<known>(first + i, offsets[i], end, from, out)) return false;
        }
        out_ = out;
        return true;
    }
    bool fail(errc code, std::size_t item) noexcept {
        error_ = {code, item};
        return false;
    }

    layout to_;
    std::uint32_t const* to_starts_;
    layout from_;
    size_table const& sizes_;
    cursor out_;
    std::size_t count_ = 0;
    failure error_{};
};

inline result<std::span<std::int32_t const>> create_delta(snapshot_view from_view, snapshot_view to_view,
                                                          size_table const& sizes, delta_scratch const& scratch,
                                                          std::span<std::int32_t> out) noexcept {
    assert(std::max(from_view.size(), to_view.size()) <= scratch.capacity());
    assert(std::max(from_view.data_size(), to_view.data_size()) / 4 <= scratch.max_ints());
    if (out.size() < delta_header_ints) return failure{errc::output_full, 0};
    layout const from{from_view};
    layout const to{to_view};
    key_finder finder{from_view, scratch};
    std::int32_t const* const from_keys = finder.keys();
    auto [to_keys, to_starts] = to_view.outline();
    if (to_keys.empty()) {
        for (std::size_t i = 0; i < to.n; ++i) scratch.added_keys[i] = to.key(i);
        to_keys = scratch.added_keys.first(to.n);
        find_starts(to_view, scratch.starts.first(starts_words(to.size)));
        to_starts = scratch.starts;
    }
    auto const marks = scratch.marks.first(from.n / 64 + 1); // what is still there
    clear(marks);
    runs all{scratch.run_begins.data(), scratch.run_partners.data()};
    std::size_t const removed = from.n - find_partners(to, to_keys.data(), from, from_keys, finder, marks, all);

    if (removed > out.size() - delta_header_ints) return failure{errc::output_full, 0};
    if (removed != 0) {
        std::int32_t* at = out.data() + delta_header_ints;
        for_each_unmarked(marks, from.n, [&](std::size_t number) noexcept { *at++ = from_keys[number]; });
    }
    update_writer updates{to, to_starts.data(), from, sizes, out.subspan(delta_header_ints + removed)};
    for (std::size_t run = 0; run < all.count; ++run) {
        std::size_t const i = all.begins[run];
        std::size_t const j = all.partners[run];
        if (j == runs::new_item) {
            while (run + 1 < all.count && all.partners[run + 1] == runs::new_item) ++run;
            if (!updates.add_new(i, all.begins[run] + 1 - i)) return updates.error();
            continue;
        }
        // Only the last item of a run can have another size than before.
        std::size_t const last = (run + 1 < all.count ? all.begins[run + 1] : to.n) - 1;
        std::size_t const last_before = j + last - i;
        bool const resized = to.end(last) - to.begin(last) != from.end(last_before) - from.begin(last_before);
        std::size_t const end = resized ? last : last + 1;
        if (i != end && !updates.add_changed(i, end, j)) return updates.error();
        if (resized) return failure{errc::size_mismatch, last};
    }
    if (removed == 0 && updates.count() == 0) return std::span<std::int32_t const>{};
    out[0] = static_cast<std::int32_t>(removed);
    out[1] = static_cast<std::int32_t>(updates.count());
    out[2] = 0;
    return std::span<std::int32_t const>{out.first(static_cast<std::size_t>(updates.at() - out.data()))};
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
