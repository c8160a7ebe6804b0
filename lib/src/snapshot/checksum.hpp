// The fast form of snapshot_view::checksum: checksum.cpp.
#pragma once

#include "layout.hpp"

#include <algorithm>

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

inline vec sum_of(std::int32_t const* a, std::size_t n) noexcept {
    vec first = all(0), second = all(0), third = all(0), fourth = all(0); // an array would stay in memory at -O2
    if (n >= 16 * width) { // long enough to mind vectors that lie across two cache lines
        std::size_t const before = (width - reinterpret_cast<std::uintptr_t>(a) / 4 % width) % width;
        first = load_first(a, before);
        a += before;
        n -= before;
    }
    std::size_t i = 0;
    for (; n - i >= 4 * width; i += 4 * width) {
        first = plus(first, load(a + i));
        second = plus(second, load(a + i + width));
        third = plus(third, load(a + i + 2 * width));
        fourth = plus(fourth, load(a + i + 3 * width));
    }
    for (; n - i >= width; i += width) first = plus(first, load(a + i));
    second = plus(second, load_first(a + i, n - i));
    return plus(plus(first, second), plus(third, fourth));
}

inline std::uint32_t checksum(snapshot_view const& view) noexcept {
    layout const s{view};
    if (s.n == 0) return 0;
    if (auto const keys = view.outline().keys; !keys.empty())
        return sum_of_lanes(
            minus(sum_of(s.items + s.begin(0), s.size - s.begin(0)), sum_of(keys.data(), keys.size())));
    // The keys are taken away in stretches, so that their scattered loads overlap with the sum of the rest.
    constexpr std::size_t stretch = 32;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < s.n; i += stretch) {
        std::size_t const end = std::min(i + stretch, s.n);
        std::uint32_t keys[2] = {};
        std::size_t k = i;
        for (; k + 1 < end; k += 2) {
            keys[0] += static_cast<std::uint32_t>(s.key(k));
            keys[1] += static_cast<std::uint32_t>(s.key(k + 1));
        }
        if (k < end) keys[0] += static_cast<std::uint32_t>(s.key(k));
        sum += sum_of_lanes(sum_of(s.items + s.begin(i), s.end(end - 1) - s.begin(i))) - keys[0] - keys[1];
    }
    return sum;
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
