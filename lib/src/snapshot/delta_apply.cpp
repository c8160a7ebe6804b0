#include "teewire/delta.hpp"

#include "delta_walk.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>

namespace teewire {

result<snapshot_view> apply_delta(snapshot_view base, std::span<std::int32_t const> delta, size_table const& sizes,
                                  delta_scratch const& scratch, std::span<std::int32_t> out,
                                  apply_options const& options) noexcept {
    return (base.distinct_keys() ? kernels::snapshot.apply_delta : plain::apply_delta)(base, delta, sizes, scratch,
                                                                                       out, options);
}

namespace {

constexpr std::int32_t sum(std::int32_t base, std::int32_t change) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(change));
}

constexpr std::uint32_t removed_place = UINT32_MAX;

// Marks in places[] what the delta removes; 0 elsewhere.
void mark_removed(snapshot_view base, key_index const& index, bool distinct, delta_reader const& reader,
                  std::span<std::uint32_t> places, note_log* notes) noexcept {
    std::fill(places.begin(), places.end(), 0U);
    auto const keys = reader.removed_keys();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        std::size_t const number = index.find(keys[i]);
        bool const known = number != key_index::npos && places[number] != removed_place;
        if (known) places[number] = removed_place;
        else if (notes != nullptr) notes->add(note::unknown_removed_key, delta_header_ints + i);
    }
    if (distinct) return;
    // The index knows only the first of several items with the same key; they share its fate.
    for (std::size_t i = 0; i < base.size(); ++i) places[i] = places[index.find(base.key(i))];
}

} // namespace

result<snapshot_view> plain::apply_delta(snapshot_view base, std::span<std::int32_t const> delta,
                                         size_table const& sizes, delta_scratch const& scratch,
                                         std::span<std::int32_t> out, apply_options const& options) noexcept {
    auto const opened = delta_reader::open(delta, sizes, options.mode, options.notes);
    if (!opened) return opened.error();
    key_index index = scratch.base_index();
    bool const distinct = index.build(base);
    if (!distinct && options.notes != nullptr) options.notes->add(note::repeated_key, 0);
    auto const places = scratch.item_begins.first(base.size()); // in `out`; removed_place for what goes
    mark_removed(base, index, distinct, *opened, places, options.notes);
    std::size_t survivors = 0;
    std::size_t total = 0; // ints of the resulting items
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (places[i] == removed_place) continue;
        ++survivors;
        total += 1 + base[i].data.size();
    }

    std::size_t const limit = std::min(options.limits.ints(), out.size());
    errc const full = out.size() < options.limits.ints() ? errc::output_full : errc::too_large;
    key_index added_index = scratch.added_index();
    std::size_t const max_items = std::min<std::size_t>(options.limits.items, added_index.capacity());
    if (survivors > max_items) return failure{errc::too_many_items, 0};
    if (2 + survivors + total > limit) return failure{full, 0};

    // The items section begins after the offsets, so the new items must be counted before anything is written. Where
    // the limit is reached the count ends, and the second walk stops at the same update.
    errc refused = errc::ok;
    {
        delta_reader counter = *opened;
        delta_walk::forget_notes(counter);
        for (delta_reader::update update; refused == errc::ok && counter.next(update);) {
            std::size_t const number = index.find(update.key);
            if (number != key_index::npos && places[number] != removed_place) continue;
            if (added_index.find(update.key) != key_index::npos) continue;
            std::size_t const count = survivors + added_index.size() + 1;
            total += 1 + update.data.size();
            if (count > max_items) refused = errc::too_many_items;
            else if (2 + count + total > limit) refused = full;
            else added_index.insert(update.key);
        }
    }
    std::size_t const expected = survivors + added_index.size();

    auto const items = out.subspan(2 + expected);
    std::size_t used = 0;  // ints of `items`
    std::size_t count = 0; // items
    auto const append = [&](std::int32_t key, std::size_t ints) noexcept {
        out[2 + count++] = static_cast<std::int32_t>(used * 4);
        items[used] = key;
        std::size_t const place = used + 1;
        used += 1 + ints;
        return place;
    };

    for (std::size_t i = 0; i < base.size(); ++i) {
        if (places[i] == removed_place) continue;
        item const kept = base[i];
        std::size_t const place = append(kept.key, kept.data.size());
        std::copy(kept.data.begin(), kept.data.end(), items.begin() + static_cast<std::ptrdiff_t>(place));
        places[i] = static_cast<std::uint32_t>(place);
    }

    delta_reader reader = *opened;
    for (delta_reader::update update; reader.next(update);) {
        std::size_t const known = index.find(update.key);
        std::size_t place = known == key_index::npos ? removed_place : places[known];
        if (place == removed_place) {
            std::size_t const number = added_index.find(update.key);
            if (number == key_index::npos) return failure{refused, update.position};
            if (survivors + number == count) {
                place = append(update.key, update.data.size());
            } else {
                if (options.notes != nullptr) options.notes->add(note::repeated_key, update.position);
                std::size_t const next = survivors + number + 1;
                std::size_t const begin = static_cast<std::size_t>(out[1 + next]) / 4;
                std::size_t const end = next < count ? static_cast<std::size_t>(out[2 + next]) / 4 : used;
                if (end - begin - 1 != update.data.size()) return failure{errc::size_mismatch, update.position};
                place = begin + 1;
            }
        }
        auto const target = items.begin() + static_cast<std::ptrdiff_t>(place);
        if (known != key_index::npos) {
            item const old = base[known];
            if (old.data.size() != update.data.size()) return failure{errc::size_mismatch, update.position};
            std::transform(old.data.begin(), old.data.end(), update.data.begin(), target, sum);
        } else {
            std::copy(update.data.begin(), update.data.end(), target);
        }
    }
    if (reader.error().code != errc::ok) return reader.error();

    assert(count == expected);
    out[0] = static_cast<std::int32_t>(used * 4);
    out[1] = static_cast<std::int32_t>(count);
    return snapshot_view::trusted(out.first(2 + count + used), distinct);
}

} // namespace teewire
