// Sets of lanes and items as bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::kernels {

/// The number of the lowest bit that is set.
inline std::size_t lowest(std::uint64_t set) noexcept { return static_cast<unsigned>(std::countr_zero(set)); }

/// The number of bits set. std::popcount is a call where the processor may lack an instruction for it.
inline unsigned count_bits(std::uint64_t set) noexcept {
    set -= set >> 1 & 0x5555555555555555U;
    set = (set & 0x3333333333333333U) + (set >> 2 & 0x3333333333333333U);
    set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return static_cast<unsigned>(set * 0x0101010101010101U >> 56);
}

/// Sets the bits from `first` on that come before `end`, in words of 64.
inline void set_bits(std::span<std::uint64_t> bits, std::size_t first, std::size_t end) noexcept {
    if (end - first == 1) {
        bits[first / 64] |= std::uint64_t{1} << first % 64;
        return;
    }
    for (; first < end; first = (first / 64 + 1) * 64) {
        std::size_t const upto = std::min(end - first / 64 * 64, std::size_t{64});
        bits[first / 64] |= ~std::uint64_t{0} << first % 64 & ~std::uint64_t{0} >> (64 - upto);
    }
}

/// The bits of `set` that are in `of`, moved together.
inline std::uint64_t extract_bits(std::uint64_t set, std::uint64_t of) noexcept {
    std::uint64_t out = 0;
    for (; set != 0; set &= set - 1) out |= std::uint64_t{1} << count_bits(of & ((set & -set) - 1));
    return out;
}

} // namespace teewire::kernels
