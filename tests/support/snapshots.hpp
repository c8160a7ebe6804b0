// Snapshots as plain values: laid out without the library's builder, random ones, and what a delta has to give.
#pragma once

#include "check.hpp"
#include "random.hpp"
#include "records.hpp"

#include "teewire/snapshot.hpp"

#include <algorithm>

namespace test {

struct plain_item {
    std::int32_t key = 0;
    ints data;
    friend std::strong_ordering operator<=>(plain_item const&, plain_item const&) = default;
};
using plain_items = std::vector<plain_item>;

/// "type id data..."
inline plain_item parse_item(std::string_view text) {
    ints const all = from_dec(text);
    REQUIRE(all.size() >= 2);
    return {teewire::make_key(static_cast<std::uint16_t>(all[0]), static_cast<std::uint16_t>(all[1])),
            {all.begin() + 2, all.end()}};
}

inline plain_items parse_items(std::vector<std::string> const& lines) {
    plain_items items;
    for (auto const& line : lines) items.push_back(parse_item(line));
    return items;
}

/// The ints of a full snapshot.
inline ints layout(plain_items const& items) {
    ints all{0, static_cast<std::int32_t>(items.size())};
    std::int32_t size = 0;
    for (auto const& i : items) {
        all.push_back(size);
        size += static_cast<std::int32_t>(4 + 4 * i.data.size());
    }
    all[0] = size;
    for (auto const& i : items) {
        all.push_back(i.key);
        all.insert(all.end(), i.data.begin(), i.data.end());
    }
    return all;
}

/// For snapshots and deltas.
inline bool same(std::span<std::int32_t const> a, std::span<std::int32_t const> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool same(teewire::note_log const& a, teewire::note_log const& b) {
    for (std::size_t i = 0; i < teewire::note_count; ++i)
        if (a.entries[i].count != b.entries[i].count || a.entries[i].position != b.entries[i].position)
            return false;
    return true;
}

/// A view that knows whether the keys are distinct.
inline teewire::snapshot_view view_of(std::span<std::int32_t const> full) {
    auto const view = teewire::snapshot_view::trusted(full, false);
    std::vector<std::int32_t> keys;
    for (teewire::item const i : view) keys.push_back(i.key);
    std::sort(keys.begin(), keys.end());
    bool const distinct = std::adjacent_find(keys.begin(), keys.end()) == keys.end();
    return teewire::snapshot_view::trusted(full, distinct);
}

inline plain_items items_of(teewire::snapshot_view snapshot) {
    plain_items items;
    for (teewire::item const i : snapshot) items.push_back({i.key, copy_of(i.data)});
    return items;
}

inline plain_items sorted(plain_items items) {
    std::sort(items.begin(), items.end());
    return items;
}

inline bool holds(plain_items const& items, std::int32_t key) {
    return std::any_of(items.begin(), items.end(), [&](plain_item const& i) { return i.key == key; });
}

inline plain_item random_item(random& rng, teewire::size_table const& sizes) {
    static constexpr std::uint16_t types[] = {1, 2, 4, 5, 9, 10, 11, 19, 22, 0, 30, 63, 64, 0x4000, 0x7fff};
    std::uint16_t const type = types[rng.below(std::size(types))];
    auto const id = static_cast<std::uint16_t>(rng.chance(5) ? 0xffff - rng.below(3) : rng.below(40));
    std::size_t const agreed = sizes[type];
    // Without an agreed size it depends only on the key, so that no key ever changes its size.
    plain_item made{teewire::make_key(type, id), ints(agreed != 0 ? agreed : (type + id) % 9U)};
    for (auto& value : made.data) value = rng.chance(60) ? 0 : rng.value();
    return made;
}

/// Keeps most items, changes some, drops some, adds new ones, and sometimes shuffles.
inline plain_items next_items(random& rng, plain_items const& before, teewire::size_table const& sizes,
                              std::size_t added) {
    plain_items items;
    for (auto i : before) {
        if (rng.chance(10)) continue;
        if (rng.chance(30))
            for (auto& value : i.data)
                if (rng.chance(40)) value = rng.value();
        items.push_back(i);
    }
    for (std::size_t n = rng.below(added + 1); n > 0; --n) {
        auto const fresh = random_item(rng, sizes);
        if (!holds(items, fresh.key)) items.push_back(fresh);
    }
    if (rng.chance(20))
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
    return items;
}

/// `to` in the order in which a delta from `from` arrives: what survives first.
inline plain_items as_applied(plain_items const& from, plain_items const& to) {
    plain_items items;
    for (auto const& old : from)
        for (auto const& now : to)
            if (now.key == old.key) items.push_back(now);
    for (auto const& now : to)
        if (!holds(from, now.key)) items.push_back(now);
    return items;
}

/// Different keys that have one place, as place(key) says.
template <class Place>
ints colliding_keys(std::size_t count, Place&& place) {
    ints keys;
    for (std::int32_t key = 0; keys.size() < count; ++key)
        if (place(key) == place(0)) keys.push_back(key);
    return keys;
}

/// A key for each of the first `count` of `slots` slots, under the hash function that hashes are known for.
inline ints keys_in_a_row(std::size_t count, std::size_t slots) {
    ints keys;
    for (std::size_t slot = 0; slot < count; ++slot) {
        std::uint32_t inverse = 0x9e3779b1U;
        for (int i = 0; i < 5; ++i) inverse *= 2 - 0x9e3779b1U * inverse;
        auto const width = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / slots);
        for (std::uint32_t i = 0; keys.size() == slot; ++i) {
            auto const key = static_cast<std::int32_t>(inverse * (static_cast<std::uint32_t>(slot) * width + i));
            if (key >= 0) keys.push_back(key);
        }
    }
    return keys;
}

/// So many slots in a row have to be looked at before a key is known not to be there.
template <class Slots>
std::size_t longest_row(Slots const& taken) {
    std::size_t longest = 0, row = 0;
    for (auto const slot : taken) longest = std::max(longest, row = slot != 0 ? row + 1 : 0);
    return longest;
}

} // namespace test
