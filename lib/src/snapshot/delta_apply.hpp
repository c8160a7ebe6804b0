// The fast form of apply_delta: delta_apply.cpp.
#pragma once

#include "delta_walk.hpp"
#include "key_finder.hpp"
#include "snapshot_functions.hpp"

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

// The index of the keys that a delta has added, where looking through all of them would take longer.
class added_index {
public:
    static constexpr std::size_t fewest = 64;

    explicit added_index(delta_scratch const& scratch) noexcept : scratch_{scratch} {}
    // Whether one of the first n of scratch.added_keys is that key.
    [[gnu::noinline]] bool contains(std::int32_t key, std::size_t n) noexcept {
        if (!index_) index_ = scratch_.added_index();
        while (index_->size() < n) index_->insert(scratch_.added_keys[index_->size()]);
        return index_->find(key) != key_index::npos;
    }

private:
    delta_scratch const& scratch_;
    std::optional<key_index> index_; // has scratch.added_keys for its own
};

inline result<snapshot_view> apply_delta(snapshot_view base_view, std::span<std::int32_t const> delta,
                                         size_table const& sizes, delta_scratch const& scratch,
                                         std::span<std::int32_t> out, apply_options const& options) noexcept {
    assert(base_view.distinct_keys() && base_view.size() <= scratch.capacity());
    std::optional<note_log> notes_before;
    if (options.notes != nullptr) notes_before = *options.notes;
    // For what no known writer makes: a key removed and added, or added twice; ints before the first item.
    auto const leave_to_plain = [&]() noexcept {
        if (options.notes != nullptr) *options.notes = *notes_before;
        return plain::apply_delta(base_view, delta, sizes, scratch, out, options);
    };
    auto const opened = delta_reader::open(delta, sizes, options.mode, options.notes);
    if (!opened) return opened.error();
    delta_reader reader = *opened;
    layout const base{base_view};
    if (base.n != 0 ? base.offsets[0] != 0 : base.size != 0) return leave_to_plain();
    key_finder finder{base_view, scratch};
    auto const marks = scratch.marks.first(base.n / 64 + 1); // what goes
    clear(marks);
    auto const is_removed = [&](std::size_t i) { return (marks[i / 64] >> i % 64 & 1) != 0; };

    std::size_t removed = 0;
    std::size_t used = base.size; // ints of the resulting items
    std::size_t expected = 0;
    auto const removed_keys = reader.removed_keys();
    for (std::size_t k = 0; k < removed_keys.size(); ++k) {
        std::size_t const number = finder.find(removed_keys[k], expected);
        if (number == key_index::npos || is_removed(number)) [[unlikely]] {
            if (options.notes != nullptr) options.notes->add(note::unknown_removed_key, delta_header_ints + k);
            else k += finder.count_unknown_ahead(removed_keys.subspan(k + 1));
            continue;
        }
        marks[number / 64] |= std::uint64_t{1} << number % 64;
        used -= base.end(number) - base.begin(number);
        ++removed;
        expected = number + 1;
    }

    std::size_t const limit = std::min(options.limits.ints(), out.size());
    errc const full = out.size() < options.limits.ints() ? errc::output_full : errc::too_large;
    std::size_t const max_items = std::min<std::size_t>(options.limits.items, scratch.capacity());
    std::size_t const survivors = base.n - removed;
    if (survivors > max_items) return failure{errc::too_many_items, 0};
    if (2 + survivors + used > limit) return failure{full, 0};

    // The number of new items is not known before the end, so there is room for as many as possible, and the snapshot
    // begins as far after the start of `out` as it turns out to need less.
    std::size_t const most_added = std::min(reader.stated_updates(), max_items - survivors);
    std::size_t begin = 2 + survivors + most_added;
    if (begin + used > out.size()) return leave_to_plain();
    std::size_t const skipped = ints_to_skip(base.items, out.data() + begin);
    if (begin + skipped + used + delta.size() <= out.size()) begin += skipped; // whatever is added
    std::int32_t* const items = out.data() + begin;

    std::uint32_t* const gap_items = scratch.gap_items.data(); // the removed ones
    std::uint32_t* const gap_ints = scratch.gap_ints.data();   // missing ints after each of them
    std::size_t gaps = 0;
    if (removed != 0) {
        std::size_t missing = 0;
        for (std::size_t word = 0; word < marks.size(); ++word)
            for (std::uint64_t bits = marks[word]; bits != 0; bits &= bits - 1) {
                std::size_t const gone = word * 64 + lowest(bits);
                missing += base.end(gone) - base.begin(gone);
                gap_items[gaps] = static_cast<std::uint32_t>(gone);
                gap_ints[gaps++] = static_cast<std::uint32_t>(missing);
            }
    }
    // The remaining items keep their order.
    std::size_t copied = 0; // ints of the base
    std::size_t missing = 0;
    for (std::size_t k = 0; k <= gaps; ++k) {
        std::size_t const end = k < gaps ? base.begin(gap_items[k]) : base.size;
        if (end != copied) copy(items + copied - missing, base.items + copied, end - copied);
        if (k == gaps) break;
        copied = base.end(gap_items[k]);
        missing = gap_ints[k];
    }

    std::size_t added = 0;
    added_index index{scratch};
    auto const is_added = [&](std::int32_t key) noexcept {
        if (added >= added_index::fewest) return index.contains(key, added);
        return find_int(scratch.added_keys.data(), 0, added, key) != added;
    };
    // Items from `run_begin` on, with no gap among them, which lie `shift` ints before where they were in the base.
    std::size_t run_begin = 0;
    std::size_t run_items = gaps != 0 ? gap_items[0] : base.n;
    std::size_t shift = 0;
    auto const find_run = [&](std::size_t number) noexcept {
        auto const gap =
            static_cast<std::size_t>(std::upper_bound(gap_items, gap_items + gaps, number) - gap_items);
        run_begin = gap > 0 ? gap_items[gap - 1] + 1 : 0;
        run_items = (gap < gaps ? gap_items[gap] : base.n) - run_begin;
        shift = gap > 0 ? gap_ints[gap - 1] : 0;
        return number - run_begin < run_items; // or it was removed
    };
    expected = 0;
    for (delta_reader::update update;;) {
        std::int32_t const key = delta_walk::next_key(reader);
        std::size_t number = key >= 0 ? finder.find_near(key, expected) : key_index::npos;
        if (number == key_index::npos ||
            !delta_walk::next_of_size(reader, finder.key(number), base.ints(number), update)) {
            if (!next_update(reader, update)) break;
            number = finder.find_far(update.key, expected);
            if (number == key_index::npos) {
                if (is_added(update.key)) return leave_to_plain();
                if (survivors + added == max_items) return failure{errc::too_many_items, update.position};
                if (2 + survivors + added + 1 + used + 1 + update.data.size() > limit)
                    return failure{full, update.position};
                if (begin + used + 1 + update.data.size() > out.size()) return leave_to_plain();
                scratch.added_keys[added] = update.key;
                scratch.item_begins[added++] = static_cast<std::uint32_t>(used);
                items[used] = update.key;
                copy_item(items + used + 1, update.data.data(), update.data.size());
                used += 1 + update.data.size();
                continue;
            }
            if (is_removed(number)) return leave_to_plain();
            if (base.ints(number) != update.data.size()) return failure{errc::size_mismatch, update.position};
        }
        if (number - run_begin >= run_items && !find_run(number)) return leave_to_plain();
        // If a key has several updates, the last one counts.
        std::size_t const first = base.begin(number) + 1;
        combine_ints<plus>(items + first - shift, base.items + first, update.data.data(), update.data.size());
        expected = number + 1;
    }
    if (reader.error().code != errc::ok) return reader.error();

    std::size_t const count = survivors + added;
    std::int32_t* const whole = items - count - 2;
    whole[0] = static_cast<std::int32_t>(used * 4);
    whole[1] = static_cast<std::int32_t>(count);
    std::int32_t* offset = whole + 2;
    auto const move_offsets = [&](std::size_t first, std::size_t end, std::size_t ints) {
        std::size_t i = first;
        vec const bytes = all(static_cast<std::int32_t>(ints * 4));
        for (; end - i >= width; i += width, offset += width) store(offset, minus(load(base.offsets + i), bytes));
        store_first(offset, minus(load_first(base.offsets + i, end - i), bytes), end - i);
        offset += end - i;
    };
    shift = 0;
    std::size_t next = 0;
    for (std::size_t k = 0; k < gaps; ++k) {
        move_offsets(next, gap_items[k], shift);
        next = gap_items[k] + 1;
        shift = gap_ints[k];
    }
    move_offsets(next, base.n, shift);
    for (std::size_t k = 0; k < added; ++k) *offset++ = static_cast<std::int32_t>(scratch.item_begins[k] * 4);
    return snapshot_view::trusted({whole, 2 + count + used});
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
