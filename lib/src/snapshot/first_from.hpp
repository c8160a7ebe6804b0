// A search in what histories and shared worlds hold, the oldest first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace teewire {

/// The first of the blocks [low, high) that is not older than `tick`, or high.
template <class TickOf>
[[nodiscard]] std::size_t first_from(std::size_t low, std::size_t high, std::int32_t tick,
                                     TickOf&& tick_of) noexcept {
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (tick_of(middle) < tick) low = middle + 1;
        else high = middle;
    }
    return low;
}

} // namespace teewire
