#include "teewire/snapshot_builder.hpp"

#include "hash.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>

namespace teewire {
std::uint32_t detail::seen_multiplier(void const* memory) noexcept {
    return static_cast<std::uint32_t>(hash_multiplier(1, memory));
}

bool detail::holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept {
    return kernels::snapshot.holds_key(keys, key);
}

bool plain::holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void snapshot_builder::start(memory_ahead ahead) noexcept {
    auto const distance = [&](void const* p) {
        return p != nullptr ? reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(items_) : 0;
    };
    to_base_ = distance(ahead.base);
    to_stored_ = distance(ahead.stored);
    before_ = count_;
    alike_ = true;
    count_ = 0;
    for (std::size_t i = 0; i < extended_count_; ++i) {
        auto const words = extended_[i].ints();
        [[maybe_unused]] auto const added =
            add({make_key(type_ex, static_cast<std::uint16_t>(last_alias - i)), words});
        assert(added); // they were all in the snapshot before
    }
}

// From the next item on, this snapshot is not like the one before.
void snapshot_builder::part() noexcept {
    alike_ = false;
    std::size_t const words = starts_words(static_cast<std::uint32_t>(offsets_[before_]) / 4);
    std::size_t const at = used();
    starts_[at / 32] &= (1U << at % 32) - 1;
    std::fill(starts_.begin() + static_cast<std::ptrdiff_t>(at / 32 + 1),
              starts_.begin() + static_cast<std::ptrdiff_t>(words), 0U);
    stamp_ = static_cast<detail::seen_stamp>(static_cast<std::uint8_t>(stamp_) + 1);
    if (stamp_ == detail::seen_stamp{}) {
        std::fill(seen_.begin(), seen_.end(), detail::seen_stamp{});
        stamp_ = detail::seen_stamp{1};
    }
    for (std::int32_t const key : keys_.first(count_)) seen(key) = stamp_;
}

result<std::span<std::int32_t>> snapshot_builder::add(std::uint16_t type, std::uint16_t id,
                                                      std::size_t ints) noexcept {
    if (ints > limits_.ints()) return failure{errc::too_large, count_};
    auto const data = reserve(make_key(type, id), ints);
    if (data) std::fill(data->begin(), data->end(), 0);
    return data;
}

result<std::span<std::int32_t>> snapshot_builder::add(uuid const& extended, std::uint16_t id,
                                                      std::size_t ints) noexcept {
    std::uint16_t alias = alias_of(extended);
    if (alias == 0) {
        if (extended_count_ == max_extended_types) return failure{errc::too_many_types, size()};
        alias = static_cast<std::uint16_t>(last_alias - extended_count_);
        auto const words = extended.ints();
        auto const described = add({make_key(type_ex, alias), words});
        if (!described) return described;
        extended_[extended_count_++] = extended;
    }
    return add(alias, id, ints);
}

std::uint16_t snapshot_builder::alias_of(uuid const& extended) const noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i)
        if (extended_[i] == extended) return static_cast<std::uint16_t>(last_alias - i);
    return 0;
}

snapshot_view snapshot_builder::finish() noexcept {
    // The snapshot ends where the items end, so it begins as far before them as it has items.
    auto const whole = memory_.subspan(limits_.items - size(), 2 + size() + used());
    whole[0] = offsets_[count_];
    whole[1] = static_cast<std::int32_t>(size());
    std::copy_n(offsets_.begin(), size(), whole.begin() + 2);
    if (alike_ && count_ != before_) part();
    mark_start(used());
    return snapshot_view{whole, true}.with_outline({keys_.first(size()), starts_.first(starts_words(used()))});
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
