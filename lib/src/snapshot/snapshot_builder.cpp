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
    to_base_ = distance(ahead.base);
    to_stored_ = distance(ahead.stored);
    end_alike();
    std::swap(offsets_, offsets_before_);
    std::swap(keys_, keys_before_);
    alike_ = count_;
    at_before_ = at_;
    count_ = at_ = 0;
    if (alike_ == 0) part(0);
    for (std::size_t i = 0; i < extended_count_; ++i) {
        auto const words = extended_[i].ints();
        [[maybe_unused]] auto const added =
            add({make_key(type_ex, static_cast<std::uint16_t>(last_alias - i)), words});
        assert(added); // they were all in the snapshot before
    }
}

// From this item on, the snapshot is not like the one before.
void snapshot_builder::part(std::size_t at) noexcept {
    alike_ = 0;
    starts_[at / 32] &= (1U << at % 32) - 1;
    std::fill(starts_.begin() + static_cast<std::ptrdiff_t>(at / 32 + 1),
              starts_.begin() + static_cast<std::ptrdiff_t>(starts_words(at_before_)), 0U);
    looked_ = 0;
}

errc snapshot_builder::admit(std::int32_t key, std::size_t number, std::size_t at) noexcept {
    if (alike_ != 0) part(at);
    if (key < 0) return errc::bad_type;
    prepare_filter(number, 1);
    bool const maybe_known = looked_ <= few_lookups || seen_keys{seen_, seen_multiplier_}.note(key);
    if (maybe_known && kernels::snapshot.holds_key({keys_, number}, key)) return errc::duplicate_key;
    mark_start(at);
    return errc::ok;
}

// Once more than a few keys have been looked for, the filter has those that are there; before, it would cost more.
void snapshot_builder::prepare_filter(std::size_t number, std::size_t more) noexcept {
    if (looked_ > few_lookups || (looked_ += more) <= few_lookups) return;
    looked_ = few_lookups + 1;
    std::fill(seen_.begin(), seen_.end(), 0U);
    seen_keys const noted{seen_, seen_multiplier_};
    for (std::int32_t const key : std::span{keys_, number}) noted.note(key);
}

result<std::size_t> snapshot_builder::take(writer written) noexcept {
    // Copies that no write can change, to be kept in registers.
    std::int32_t* const keys = keys_;
    std::int32_t* const offsets = offsets_;
    auto const end = static_cast<std::size_t>(written.keys_ - keys);
    std::size_t number = count_; // the written item that is looked at
    if (alike_ != 0) {
        std::size_t const most = std::min(end, alike_);
        std::int32_t const* const keys_before = keys_before_;
        std::int32_t const* const offsets_before = offsets_before_;
        constexpr std::size_t stretch = 32;
        auto const alike = [&](std::size_t first) noexcept {
            std::int32_t different = 0;
            for (std::size_t i = first; i < first + stretch; ++i)
                different |= (keys[i] ^ keys_before[i]) | (offsets[i + 1] ^ offsets_before[i + 1]);
            return different == 0;
        };
        while (most - number >= stretch && alike(number)) number += stretch;
        while (number < most && keys[number] == keys_before[number] &&
               offsets[number + 1] == offsets_before[number + 1])
            ++number;
        count_ = number;
        at_ = static_cast<std::uint32_t>(offsets[number]) / 4;
        if (number == end) return count_;
        part(at_);
    }
    std::size_t const first = number;
    std::size_t const fresh = check(number, end);
    std::size_t const count = fresh == end ? end : leave_out_known(fresh, end);
    std::uint32_t* const starts = starts_.data();
    for (number = first; number < count; ++number) {
        std::size_t const at = static_cast<std::uint32_t>(offsets[number]) / 4;
        starts[at / 32] |= 1U << at % 32;
    }
    count_ = count;
    at_ = static_cast<std::uint32_t>(offsets[count]) / 4;
    if (fresh != end) return failure{errc::duplicate_key, fresh};
    return count;
}

// The first written item from `number` on whose key is there already.
std::size_t snapshot_builder::check(std::size_t number, std::size_t end) noexcept {
    std::int32_t const* const keys = keys_;
    auto const known = [&] { return kernels::snapshot.holds_key({keys, number}, keys[number]); };
    prepare_filter(number, end - number);
    if (looked_ <= few_lookups) {
        while (number < end && !known()) ++number;
    } else {
        seen_keys const seen{seen_, seen_multiplier_};
        while (number < end && !(seen.note(keys[number]) && known())) ++number;
    }
    return number;
}

// Moves the others together. Returns how many items there are then.
std::size_t snapshot_builder::leave_out_known(std::size_t number, std::size_t end) noexcept {
    std::size_t count = number;
    std::size_t at = static_cast<std::uint32_t>(offsets_[number]) / 4;
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
    end_alike();
    mark_start(at_);
    // The snapshot ends where the items end, so it begins as far before them as it has items.
    std::size_t const n = count_;
    auto const whole = memory_.subspan(limits_.items - n, 2 + n + at_);
    whole[0] = offsets_[n];
    whole[1] = static_cast<std::int32_t>(n);
    std::copy_n(offsets_, n, whole.begin() + 2);
    return snapshot_view{whole, true}.with_outline({{keys_, n}, starts_.first(starts_words(at_))});
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
