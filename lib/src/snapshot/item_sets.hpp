// Sets of a shared world's items, a bit for each; and what they are made of.
#pragma once

#include "simd/bits.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace teewire::item_sets {

inline constexpr std::uint16_t none = 0xffff; // no item

[[nodiscard]] constexpr bool has(std::uint64_t const* set, std::size_t item) noexcept {
    return (set[item / 64] >> item % 64 & 1) != 0;
}
constexpr void insert(std::uint64_t* set, std::size_t item) noexcept {
    set[item / 64] |= std::uint64_t{1} << item % 64;
}
constexpr void remove(std::uint64_t* set, std::size_t item) noexcept {
    set[item / 64] &= ~(std::uint64_t{1} << item % 64);
}

/// Calls f with what is in both sets, in the order of the numbers.
template <class F>
void for_each(std::uint64_t const* a, std::uint64_t const* b, std::size_t words, F&& f) noexcept {
    for (std::size_t word = 0; word < words; ++word)
        for (std::uint64_t left = a[word] & b[word]; left != 0; left &= left - 1)
            f(64 * word + kernels::lowest(left));
}

/// The one in the set, or none, among the items with the key of `item`, which form a ring.
[[nodiscard]] inline std::uint16_t find_of_key(std::uint64_t const* set, std::uint16_t const* next_of_key,
                                               std::uint16_t item) noexcept {
    if (has(set, item)) return item;
    for (std::uint16_t other = next_of_key[item]; other != item; other = next_of_key[other])
        if (has(set, other)) return other;
    return none;
}

/// Most contents are too short for a call to pay.
[[nodiscard]] inline bool same_content(std::span<std::int32_t const> a, std::span<std::int32_t const> b) noexcept {
    if (a.size() != b.size()) return false;
    std::uint64_t different = 0;
    std::size_t i = 0;
    for (; i + 2 <= a.size(); i += 2) {
        std::uint64_t x;
        std::uint64_t y;
        std::memcpy(&x, &a[i], 8);
        std::memcpy(&y, &b[i], 8);
        different |= x ^ y;
    }
    if (i < a.size()) different |= static_cast<std::uint32_t>(a[i] ^ b[i]);
    return different == 0;
}

} // namespace teewire::item_sets
