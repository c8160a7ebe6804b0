#include "teewire/delta.hpp"

#include "teewire/varint.hpp"

#include "kernels.hpp"

#include <algorithm>

namespace teewire {
namespace {

constexpr std::int32_t difference(std::int32_t to, std::int32_t from) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}
constexpr std::int32_t sum(std::int32_t base, std::int32_t change) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(change));
}

} // namespace

// ---- create --------------------------------------------------------------------------------------------------------

result<std::span<std::int32_t const>> plain::create_delta(snapshot_view from, snapshot_view to,
                                                          size_table const& sizes, delta_scratch const& scratch,
                                                          std::span<std::int32_t> out) noexcept {
    key_index from_index = scratch.base_index();
    key_index to_index = scratch.added_index();
    bool const from_distinct = from_index.build(from);
    bool const to_distinct = to_index.build(to);
    if (!from_distinct || !to_distinct) return failure{errc::duplicate_key, 0};

    if (out.size() < delta_header_ints) return failure{errc::output_full, 0};
    std::size_t at = delta_header_ints;
    std::int32_t removed = 0;
    std::int32_t updates = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (to_index.find(from.key(i)) != key_index::npos) continue;
        if (at == out.size()) return failure{errc::output_full, 0};
        out[at++] = from.key(i);
        ++removed;
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
        item const now = to[i];
        std::size_t const known = from_index.find(now.key);
        item const before = known == key_index::npos ? item{} : from[known];
        if (known != key_index::npos) {
            if (before.data.size() != now.data.size()) return failure{errc::size_mismatch, i};
            if (std::equal(now.data.begin(), now.data.end(), before.data.begin())) continue;
        }
        std::size_t const agreed = sizes[now.type()];
        if (agreed != 0 && agreed != now.data.size()) return failure{errc::size_mismatch, i};
        std::size_t const head = agreed != 0 ? 2 : 3;
        if (head + now.data.size() > out.size() - at) return failure{errc::output_full, i};
        out[at] = now.key >> 16;
        out[at + 1] = now.id();
        if (agreed == 0) out[at + 2] = static_cast<std::int32_t>(now.data.size());
        at += head;
        auto const data = out.subspan(at, now.data.size());
        if (known != key_index::npos)
            std::transform(now.data.begin(), now.data.end(), before.data.begin(), data.begin(), difference);
        else std::copy(now.data.begin(), now.data.end(), data.begin());
        at += data.size();
        ++updates;
    }
    if (removed == 0 && updates == 0) return std::span<std::int32_t const>{};
    out[0] = removed;
    out[1] = updates;
    out[2] = 0;
    return std::span<std::int32_t const>{out.first(at)};
}

// ---- read ----------------------------------------------------------------------------------------------------------

bool delta_reader::next_odd(update& out) noexcept {
    if (error_.code != errc::ok) return false;
    if (read_ == updates_) {
        if (at_ != delta_.size() && delta_[1] >= 0 && notes_ != nullptr) {
            notes_->add(note::update_count, at_);
            notes_ = nullptr; // however often it is asked
        }
        return false;
    }
    std::size_t const start = at_;
    if (delta_.size() - at_ < 2) return fail(errc::truncated, delta_.size());
    std::int32_t type = delta_[at_];
    std::int32_t id = delta_[at_ + 1];
    if (type < 0 || type > last_alias || id < 0 || id > 0xffff) {
        bool const type_fits = type >= INT16_MIN && type <= UINT16_MAX;
        bool const id_fits = id >= INT16_MIN && id <= UINT16_MAX;
        if (mode_ == decoding::strict ? type < 0 || type > last_alias : !type_fits)
            return fail(errc::bad_type, at_);
        if (mode_ == decoding::strict || !id_fits) return fail(errc::bad_id, at_ + 1);
        if (notes_ != nullptr) notes_->add(note::unsigned_key_half, at_);
        type &= 0xffff;
        id &= 0xffff;
    }
    at_ += 2;
    std::size_t size = (*sizes_)[static_cast<std::uint32_t>(type)];
    if (size == 0) {
        if (at_ == delta_.size()) return fail(errc::truncated, delta_.size());
        if (delta_[at_] < 0 || delta_[at_] > INT32_MAX / 4) return fail(errc::bad_item_size, at_);
        size = static_cast<std::size_t>(delta_[at_++]);
    }
    if (size > delta_.size() - at_) return fail(errc::truncated, delta_.size());
    out.key = make_key(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id));
    out.data = delta_.subspan(at_, size);
    out.position = start;
    at_ += size;
    ++read_;
    return true;
}

result<delta_usage> inspect_delta(std::span<std::int32_t const> delta, size_table const& sizes,
                                  std::span<type_usage> out, decoding mode) noexcept {
    auto const opened = delta_reader::open(delta, sizes, mode);
    if (!opened) return opened.error();
    delta_reader reader = *opened;
    delta_usage usage;
    usage.removed = static_cast<std::uint32_t>(reader.removed_keys().size());
    usage.removed_bytes = static_cast<std::uint32_t>(varint_size(reader.removed_keys()));
    std::size_t types = 0;
    for (delta_reader::update update; reader.next(update);) {
        auto const end = static_cast<std::size_t>(update.data.data() + update.data.size() - delta.data());
        auto const bytes =
            static_cast<std::uint32_t>(varint_size(delta.subspan(update.position, end - update.position)));
        ++usage.updates;
        usage.update_bytes += bytes;
        auto const known = std::find_if(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(types),
                                        [&](type_usage const& t) { return t.type == key_type(update.key); });
        if (known == out.end()) {
            ++usage.untold_updates;
            continue;
        }
        if (known == out.begin() + static_cast<std::ptrdiff_t>(types)) {
            *known = {key_type(update.key), 0, 0};
            ++types;
        }
        ++known->updates;
        known->bytes += bytes;
    }
    if (reader.error().code != errc::ok) return reader.error();
    usage.types = out.first(types);
    return usage;
}

// ---- apply ---------------------------------------------------------------------------------------------------------

namespace {

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
    auto const places = scratch.places.first(base.size()); // in `out`; removed_place for what goes
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

    // The items section begins behind the offsets, so the new items must be counted before anything is written. Where
    // the limit is reached the count ends, and the second walk stops at the same update.
    errc refused = errc::ok;
    {
        delta_reader counter = *opened;
        counter.forget_notes();
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

// ---- the best for this machine -------------------------------------------------------------------------------------

namespace {

constinit kernels::create_delta_fn* create_fast = plain::create_delta;
constinit kernels::apply_delta_fn* apply_fast = plain::apply_delta;

[[maybe_unused]] bool const chosen =
    kernels::choose(create_fast, kernels::create_delta_variants()) &&
    kernels::choose(apply_fast, kernels::apply_delta_variants());

} // namespace

result<std::span<std::int32_t const>> create_delta(snapshot_view from, snapshot_view to, size_table const& sizes,
                                                   delta_scratch const& scratch,
                                                   std::span<std::int32_t> out) noexcept {
    bool const fast = from.distinct_keys() && to.distinct_keys() &&
                      std::max(from.data_size(), to.data_size()) / 4 <= scratch.max_ints();
    return (fast ? create_fast : plain::create_delta)(from, to, sizes, scratch, out);
}

result<snapshot_view> apply_delta(snapshot_view base, std::span<std::int32_t const> delta, size_table const& sizes,
                                  delta_scratch const& scratch, std::span<std::int32_t> out,
                                  apply_options const& options) noexcept {
    return (base.distinct_keys() ? apply_fast : plain::apply_delta)(base, delta, sizes, scratch, out, options);
}

} // namespace teewire
