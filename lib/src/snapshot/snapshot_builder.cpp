#include "teewire/snapshot_builder.hpp"

#include "seen_keys.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>

namespace teewire {
bool plain::holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::uint32_t detail::seen_multiplier(std::span<std::uint32_t const> words) noexcept {
    return seen_keys::multiplier(words);
}

void snapshot_builder::start(memory_ahead ahead) noexcept {
    auto const distance = [&](void const* p) {
        return p != nullptr ? reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(items_) : 0;
    };
    bool const with_base = !ahead.base.empty();
    to_base_ = distance(with_base ? ahead.base.items().data() : nullptr);
    to_stored_ = distance(ahead.stored);
    std::swap(offsets_, offsets_before_);
    std::swap(keys_, keys_before_);
    std::swap(starts_, starts_before_);
    std::fill_n(starts_, starts_words(at_before_), 0U);
    if (auto const [keys, starts] = ahead.base.outline(); !starts.empty() && ahead.base.distinct_keys()) {
        detail::fetch(keys);
        detail::fetch(ahead.base.offsets());
        expected_ = {keys.data(), ahead.base.offsets().data(), starts.data(), keys.size()};
    } else expected_ = {keys_before_, offsets_before_, starts_before_, count_};
    at_before_ = at_;
    count_ = at_ = next_ = others_count_ = 0;
    filtered_ = false;
    for (std::size_t i = 0; i < extended_count_; ++i) {
        auto const words = extended_[i].ints();
        [[maybe_unused]] auto const added =
            add({make_key(type_ex, static_cast<std::uint16_t>(last_alias - i)), words});
        assert(added); // they were all in the snapshot before
    }
}

result<std::span<std::int32_t>> snapshot_builder::reserve_unexpected(std::int32_t key, std::size_t ints) noexcept {
    std::size_t const number = count_;
    if (number == limits_.items) return failure{errc::too_many_items, number};
    if (number + at_ + ints >= most_) return failure{errc::too_large, number};
    if (key < 0) return failure{errc::bad_type, number};
    if (!is_new(key, number)) return failure{errc::duplicate_key, number};
    return place(key, ints);
}

result<std::span<std::int32_t>> snapshot_builder::add_unexpected(item const& copied) noexcept {
    auto const data = reserve_unexpected(copied.key, copied.data.size());
    if (data) detail::copy_ints(data->data(), copied.data.data(), copied.data.size());
    return data;
}

// Whether none of the `number` first ones has this key: those that were expected, and the others. If it is expected later,
// what was expected before it has gone, or comes later and is looked for. Once many keys have been looked for, the filter
// takes over.
bool snapshot_builder::is_new(std::int32_t key, std::size_t number) noexcept {
    constexpr std::size_t near = 16;
    auto const& holds_key = kernels::snapshot.holds_key;
    std::span const later{expected_.keys + next_, expected_.items - next_};
    auto const skip_to_key = [&](std::size_t most) {
        auto const at =
            static_cast<std::size_t>(std::find(later.begin(), later.begin() + most, key) - later.begin());
        if (at != most) next_ += at + 1;
        return at != most;
    };
    if (skip_to_key(std::min(later.size(), near))) return true;
    if (!filtered_ && others_count_ == others_.size()) fill_filter(number);
    if (filtered_) {
        bool const maybe_known = seen_keys{seen_, seen_multiplier_}.note(key);
        return !maybe_known || !holds_key({keys_, number}, key);
    }
    auto const others = std::span{others_}.first(others_count_);
    bool const known = holds_key({expected_.keys, expected_.items}, key)
                           ? !skip_to_key(later.size()) && holds_key({keys_, number}, key)
                           : std::find(others.begin(), others.end(), key) != others.end();
    if (!known) others_[others_count_++] = key;
    return !known;
}

void snapshot_builder::fill_filter(std::size_t number) noexcept {
    filtered_ = true;
    next_ = expected_.items = 0;
    std::fill(seen_.begin(), seen_.end(), 0U);
    seen_keys const noted{seen_, seen_multiplier_};
    for (std::int32_t const key : std::span{keys_, number}) noted.note(key);
}

result<std::size_t> snapshot_builder::take(writer written) noexcept {
    // Copies that no write can change, to be kept in registers.
    std::int32_t const* const offsets = offsets_;
    std::uint32_t* const starts = starts_;
    auto const end = static_cast<std::size_t>(written.keys_ - keys_);
    std::size_t const first = take_alike(end);
    std::size_t const fresh = check(first, end);
    std::size_t const count = fresh == end ? end : leave_out_known(fresh, end);
    for (std::size_t number = first; number < count; ++number) {
        std::size_t const at = static_cast<std::uint32_t>(offsets[number]) / 4;
        starts[at / 32] |= 1U << at % 32;
    }
    count_ = count;
    at_ = static_cast<std::uint32_t>(offsets[count]) / 4;
    if (fresh != end) return failure{errc::duplicate_key, fresh};
    return count;
}

// As long as written items have the keys and places of the expected ones, their starts are copied. Returns the number of
// the first item that is not like this.
std::size_t snapshot_builder::take_alike(std::size_t end) noexcept {
    std::size_t const first = count_;
    std::size_t const most = std::min(end, expected_.items);
    if (first != next_ || first >= most) return first;
    std::int32_t const* const keys = keys_;
    std::int32_t const* const offsets = offsets_;
    std::int32_t const* const expected_keys = expected_.keys;
    std::int32_t const* const expected_offsets = expected_.offsets;
    constexpr std::size_t stretch = 32;
    auto const alike = [&](std::size_t from) noexcept {
        std::int32_t different = 0;
        for (std::size_t i = from; i < from + stretch; ++i)
            different |= (keys[i] ^ expected_keys[i]) | (offsets[i] ^ expected_offsets[i]);
        return different == 0;
    };
    std::size_t number = first;
    while (most - number >= stretch && alike(number)) number += stretch;
    while (number < most && keys[number] == expected_keys[number] && offsets[number] == expected_offsets[number])
        ++number;
    if (number == first) return first;
    next_ = number;
    std::size_t const begin = at_;
    std::size_t const last = static_cast<std::uint32_t>(offsets[number - 1]) / 4;
    std::uint32_t const before = starts_[begin / 32];
    std::copy(expected_.starts + begin / 32, expected_.starts + last / 32 + 1, starts_ + begin / 32);
    starts_[begin / 32] = (starts_[begin / 32] & ~std::uint32_t{0} << begin % 32) | before;
    starts_[last / 32] &= ~std::uint32_t{0} >> (31 - last % 32);
    return number;
}

// The first written item from `number` on whose key is there already.
std::size_t snapshot_builder::check(std::size_t number, std::size_t end) noexcept {
    std::int32_t const* const keys = keys_;
    for (; !filtered_; ++number) {
        std::int32_t const* const expected = expected_.keys + next_;
        std::size_t const most = std::min(end - number, expected_.items - next_);
        std::size_t i = 0;
        while (i < most && keys[number + i] == expected[i]) ++i;
        number += i;
        next_ += i;
        if (number == end || !is_new(keys[number], number)) return number;
    }
    seen_keys const seen{seen_, seen_multiplier_};
    while (number < end && !(seen.note(keys[number]) && kernels::snapshot.holds_key({keys, number}, keys[number])))
        ++number;
    return number;
}

// Moves the others together. Returns how many items there are then. All of them are looked for.
std::size_t snapshot_builder::leave_out_known(std::size_t number, std::size_t end) noexcept {
    std::size_t count = number;
    std::size_t at = static_cast<std::uint32_t>(offsets_[number]) / 4;
    fill_filter(count);
    for (std::size_t from = at; number < end; ++number) {
        std::int32_t const key = keys_[number];
        std::size_t const next = static_cast<std::uint32_t>(offsets_[number + 1]) / 4;
        std::size_t const ints = next - from;
        if (!kernels::snapshot.holds_key({keys_, count}, key)) {
            std::memmove(items_ + at, items_ + from, 4 * ints);
            at += ints;
            keys_[count++] = key;
            offsets_[count] = static_cast<std::int32_t>(4 * at);
            seen_keys{seen_, seen_multiplier_}.note(key);
        }
        from = next;
    }
    return count;
}

result<std::span<std::int32_t>> snapshot_builder::add(std::uint16_t type, std::uint16_t id,
                                                      std::size_t ints) noexcept {
    if (ints > limits_.ints()) return failure{errc::too_large, count_};
    auto const data = reserve(make_key(type, id), ints);
    if (data) std::fill(data->begin(), data->end(), 0);
    return data;
}

result<std::uint16_t> snapshot_builder::extended_type(uuid const& extended) noexcept {
    if (std::uint16_t const known = alias_of(extended); known != 0) return known;
    if (extended_count_ == max_extended_types) return failure{errc::too_many_types, size()};
    auto const alias = static_cast<std::uint16_t>(last_alias - extended_count_);
    auto const words = extended.ints();
    if (auto const described = add({make_key(type_ex, alias), words}); !described) return described.error();
    extended_[extended_count_++] = extended;
    return alias;
}

result<std::span<std::int32_t>> snapshot_builder::add(uuid const& extended, std::uint16_t id,
                                                      std::size_t ints) noexcept {
    auto const alias = extended_type(extended);
    if (!alias) return alias.error();
    return add(*alias, id, ints);
}

std::uint16_t snapshot_builder::alias_of(uuid const& extended) const noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i)
        if (extended_[i] == extended) return static_cast<std::uint16_t>(last_alias - i);
    return 0;
}

snapshot_view snapshot_builder::finish() noexcept {
    mark_start(at_);
    // The snapshot ends where the items end, so it begins as far before them as it has items.
    std::size_t const n = count_;
    auto const whole = memory_.subspan(limits_.items - n, 2 + n + at_);
    whole[0] = offsets_[n];
    whole[1] = static_cast<std::int32_t>(n);
    std::copy_n(offsets_, n, whole.begin() + 2);
    return snapshot_view{whole, true}.with_outline({{keys_, n}, {starts_, starts_words(at_)}});
}

result<snapshot_view> snapshot_builder::finish(std::span<std::int32_t> out, item_order order) noexcept {
    snapshot_view const built = finish();
    if (out.size() < built.ints().size()) return failure{errc::output_full, size()};
    if (order == item_order::insertion) {
        std::copy(built.ints().begin(), built.ints().end(), out.begin());
        return snapshot_view{out.first(built.ints().size()), true};
    }
    return sort_by_key(built, order_, out);
}

} // namespace teewire
