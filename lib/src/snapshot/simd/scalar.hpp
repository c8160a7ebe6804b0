// The vector interface that kernels are written with, here for machines without vectors: every other file of this folder
// that has the name of a level defines the same functions.
#pragma once

#include "bits.hpp"

#include <cstddef>
#include <cstdint>

#define TEEWIRE_LEVEL scalar

namespace teewire::kernels::scalar {
namespace {

using vec = std::int32_t;
constexpr std::size_t width = 1; // ints of a vector

// load_first and store_first take n < width ints; what is missing is zero.
inline vec load(std::int32_t const* p) noexcept { return *p; }
inline vec load_first(std::int32_t const*, std::size_t) noexcept { return 0; }
inline void store(std::int32_t* p, vec v) noexcept { *p = v; }
inline void store_first(std::int32_t*, vec, std::size_t) noexcept {}
inline vec all(std::int32_t value) noexcept { return value; }
// Lane by lane, modulo 2^32.
inline vec plus(vec a, vec b) noexcept {
    return static_cast<vec>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline vec minus(vec a, vec b) noexcept {
    return static_cast<vec>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
// A bit for each lane, the first one lowest.
inline std::uint32_t unequal(vec a, vec b) noexcept { return a != b; }
// Whether one of n ints, a multiple of `width`, is the one in all lanes of `value`. Without a branch for each.
inline bool any_equal(std::int32_t const* p, std::size_t n, vec value) noexcept {
    bool hit = false;
    for (std::size_t i = 0; i < n; ++i) hit |= p[i] == value;
    return hit;
}
inline std::uint32_t sum_of_lanes(vec v) noexcept { return static_cast<std::uint32_t>(v); }
// Two ints for each item: those of items whose bits are set, and otherwise zeros. There are width / 2 items, or none.
inline vec load_pairs(std::int32_t const*, std::uint32_t) noexcept { return 0; }
// The bits of `set` that are in `of`, moved together.
inline std::uint64_t compact(std::uint64_t set, std::uint64_t of) noexcept { return extract_bits(set, of); }

} // namespace
} // namespace teewire::kernels::scalar
