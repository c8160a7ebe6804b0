#include "teewire/snapshot_builder.hpp"

#include <algorithm>

namespace teewire {

void snapshot_builder::start() noexcept {
    index_.clear();
    used_ = 0;
    for (std::size_t i = 0; i < extended_count_; ++i) {
        auto const words = extended_[i].ints();
        [[maybe_unused]] auto const added =
            add({make_key(type_describing, static_cast<std::uint16_t>(last_alias - i)), words});
        assert(added); // they were all in the snapshot before
    }
}

result<std::span<std::int32_t>> snapshot_builder::add(std::uint16_t type, std::uint16_t id,
                                                      std::size_t ints) noexcept {
    std::size_t const number = size();
    if (type > last_alias) return failure{errc::bad_type, number};
    if (number >= limits_.items) return failure{errc::too_many_items, number};
    // header, an offset and a key per item, data
    std::size_t const left = limits_.ints() - 2 - number - used_;
    if (left < 2 || ints > left - 2) return failure{errc::too_large, number};

    std::int32_t const key = make_key(type, id);
    auto const key_of = [this](std::size_t i) { return items()[static_cast<std::size_t>(offsets_[i]) / 4]; };
    offsets_[number] = static_cast<std::int32_t>(used_ * 4);
    items()[used_] = key; // before insert(), which may ask for it
    if (index_.insert(key, key_of) != key_index::npos) return failure{errc::duplicate_key, number};
    auto const data = items().subspan(used_ + 1, ints);
    std::fill(data.begin(), data.end(), 0);
    used_ += 1 + ints;
    return data;
}

result<std::span<std::int32_t>> snapshot_builder::add(uuid const& extended, std::uint16_t id,
                                                      std::size_t ints) noexcept {
    std::uint16_t alias = alias_of(extended);
    if (alias == 0) {
        if (extended_count_ == max_extended_types) return failure{errc::too_many_types, size()};
        alias = static_cast<std::uint16_t>(last_alias - extended_count_);
        auto const words = extended.ints();
        auto const described = add({make_key(type_describing, alias), words});
        if (!described) return described;
        extended_[extended_count_++] = extended;
    }
    return add(alias, id, ints);
}

result<std::span<std::int32_t>> snapshot_builder::add(item const& copied) noexcept {
    auto const added = add(copied.type(), copied.id(), copied.data.size());
    if (added) std::copy(copied.data.begin(), copied.data.end(), added->begin());
    return added;
}

std::uint16_t snapshot_builder::alias_of(uuid const& extended) const noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i)
        if (extended_[i] == extended) return static_cast<std::uint16_t>(last_alias - i);
    return 0;
}

snapshot_view snapshot_builder::finish() noexcept {
    // The snapshot ends where the items end, so it begins as far before them as it has items.
    auto const whole = memory_.subspan(limits_.items - size(), 2 + size() + used_);
    whole[0] = static_cast<std::int32_t>(used_ * 4);
    whole[1] = static_cast<std::int32_t>(size());
    std::copy_n(offsets_.begin(), size(), whole.begin() + 2);
    return snapshot_view{whole};
}

result<snapshot_view> snapshot_builder::finish(std::span<std::int32_t> out, item_order order) noexcept {
    snapshot_view const built = finish();
    if (out.size() < built.ints().size()) return failure{errc::output_full, size()};
    if (order == item_order::insertion) {
        std::copy(built.ints().begin(), built.ints().end(), out.begin());
        return snapshot_view{out.first(built.ints().size())};
    }
    return sort_by_key(built, order_, out);
}

} // namespace teewire
