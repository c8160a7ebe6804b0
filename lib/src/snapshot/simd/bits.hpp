// Sets of lanes and items as bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace teewire::kernels {

/// The number of the lowest bit that is set.
inline std::size_t lowest(std::uint64_t set) noexcept { return static_cast<unsigned>(std::countr_zero(set)); }

/// The bits of `set` that are in `of`, moved together.
inline std::uint64_t extract_bits(std::uint64_t set, std::uint64_t of) noexcept {
    std::uint64_t out = 0;
    for (; set != 0; set &= set - 1) out |= std::uint64_t{1} << std::popcount(of & ((set & -set) - 1));
    return out;
}

} // namespace teewire::kernels
