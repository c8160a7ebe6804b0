// The items of a live_snapshot while a delta is applied to them.
#pragma once

#include "teewire/live_snapshot.hpp"

namespace teewire::kernels {

struct in_place_state {
    detail::live_slot* items;
    std::size_t guessable; ///< slots that may be found by their place, being the first ones with their keys
    std::int32_t* pool;
    std::span<std::uint16_t const> table; ///< slot + 1 by hash
    std::uint64_t multiplier;             ///< of that hash
    unsigned shift;                       ///< and what it is moved by
    std::int32_t const* delta;
    std::uint32_t delta_number;
    std::uint32_t sum; ///< of all differences, modulo 2^32

    /// The slot with that key, or null.
    [[nodiscard]] detail::live_slot* find(std::int32_t key) const noexcept {
        std::uint16_t const found = table[detail::probe(table, detail::hash_key(key, multiplier, shift), key,
                                                        [this](std::size_t slot) { return items[slot].key; })];
        return found != 0 ? items + found - 1 : nullptr;
    }
};

} // namespace teewire::kernels
