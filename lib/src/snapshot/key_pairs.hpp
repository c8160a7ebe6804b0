// Which keys of two lists are the same, for shared worlds.
#pragma once

#include "shared_tick.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::key_pairs {

/// Room for lists of that many keys.
struct room {
    std::uint16_t* partners; ///< by key of the first list: its place in the second one, or none
    std::uint64_t* paired;   ///< the set of places in the second list that are partners: a bit for each
    std::int32_t* rest_keys;
    std::uint16_t* rest;
};

/// Fills partners and paired, and returns how many pairs there are. A key that is in the first list twice has one partner, and
/// which of them has it is not said. The keys of the second list are distinct, and there are at most 65534 of either. O(keys)
/// if both are mostly in the same order, as those of a client in two ticks are, and at worst O(keys^2).
[[nodiscard]] std::size_t find(std::span<std::int32_t const> keys, std::span<std::int32_t const> others,
                               room const& room) noexcept;

/// Calls f with each of the first `n` places of the second list without a partner.
template <class F>
void for_each_unpaired(room const& room, std::size_t n, F&& f) noexcept {
    for (std::size_t i = 0; i < n; ++i)
        if (i % 64 == 0 && room.paired[i / 64] == ~std::uint64_t{0}) i += 63;
        else if ((room.paired[i / 64] >> i % 64 & 1) == 0) f(i);
}

} // namespace teewire::key_pairs
