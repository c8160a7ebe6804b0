// Blocks of different sizes in one memory, the oldest first, each with its tick: what histories and shared worlds are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace teewire {

struct ring_block {
    std::size_t begin, size;
};

/// Where a new block goes, behind the newest one, which ends at `end`; blocks that are in its way are dropped. They are
/// never split: what does not fit before the end of the memory goes to its start. Precondition: size <= capacity.
template <class Oldest, class Drop>
[[nodiscard]] std::size_t make_room(std::size_t size, std::size_t capacity, std::size_t end, Oldest&& oldest,
                                    Drop&& drop_oldest) noexcept {
    std::size_t begin = end;
    if (size > capacity - begin) {
        // Those behind it lie in the part that is skipped.
        for (std::optional<ring_block> b; (b = oldest()) && b->begin >= begin;) drop_oldest();
        begin = 0;
    }
    for (std::optional<ring_block> b; (b = oldest()) && b->begin < begin + size && b->begin + b->size > begin;)
        drop_oldest();
    return begin;
}

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
