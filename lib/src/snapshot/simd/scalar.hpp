// The vector interface that kernels are written with, here with vectors of the compiler's, for which it takes what the
// machine has: every other file of this folder that has the name of a level defines the same functions. All of them are
// vectors of the compiler's, too, with its operators for bits.
#pragma once

#include "bits.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#define TEEWIRE_LEVEL scalar

#pragma GCC diagnostic ignored                                                                                     \
    "-Wpsabi" // of vectors where the machine has none: nothing here is called from elsewhere

namespace teewire::kernels::scalar {
namespace {

typedef std::uint32_t vec __attribute__((vector_size(16)));
constexpr std::size_t width = 4; // ints of a vector

// Bits of all lanes.
inline std::uint32_t bits(vec v) noexcept {
    typedef std::uint64_t halves __attribute__((vector_size(16)));
    auto const two = reinterpret_cast<halves>(v);
    std::uint64_t const both = two[0] | two[1];
    return static_cast<std::uint32_t>(both | both >> 32);
}
inline vec load(std::int32_t const* p) noexcept {
    vec v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
// load_first and store_first take n < width ints; what is missing is zero.
inline vec load_first(std::int32_t const* p, std::size_t n) noexcept {
    return vec{n > 0 ? static_cast<std::uint32_t>(p[0]) : 0, n > 1 ? static_cast<std::uint32_t>(p[1]) : 0,
               n > 2 ? static_cast<std::uint32_t>(p[2]) : 0, 0};
}
inline void store(std::int32_t* p, vec v) noexcept { std::memcpy(p, &v, sizeof v); }
inline void store_first(std::int32_t* p, vec v, std::size_t n) noexcept {
    if (n > 0) p[0] = static_cast<std::int32_t>(v[0]);
    if (n > 1) p[1] = static_cast<std::int32_t>(v[1]);
    if (n > 2) p[2] = static_cast<std::int32_t>(v[2]);
}
inline vec all(std::int32_t value) noexcept { return vec{} + static_cast<std::uint32_t>(value); }
// Lane by lane, modulo 2^32.
inline vec plus(vec a, vec b) noexcept { return a + b; }
inline vec minus(vec a, vec b) noexcept { return a - b; }
// A bit for each lane, the first one lowest. Compares for equality, which most machines can do.
inline std::uint32_t unequal(vec a, vec b) noexcept {
    return 0xfU ^ bits(reinterpret_cast<vec>(a == b) & vec{1, 2, 4, 8});
}
#define TEEWIRE_UNEQUAL_64
// Of 64 ints: what unequal gives for all of them, with fewer moves out of vectors.
inline std::uint64_t unequal_64(std::int32_t const* a, std::int32_t const* b) noexcept {
    vec low{}, high{};
    vec of_lanes{1, 2, 4, 8};
    for (std::size_t k = 0; k < 32; k += width, of_lanes <<= width) {
        low |= reinterpret_cast<vec>(load(a + k) == load(b + k)) & of_lanes;
        high |= reinterpret_cast<vec>(load(a + 32 + k) == load(b + 32 + k)) & of_lanes;
    }
    return ~(std::uint64_t{bits(high)} << 32 | bits(low));
}
// Whether one of n ints, a multiple of `width`, is the one in all lanes of `value`. Without a branch for each.
inline bool any_equal(std::int32_t const* p, std::size_t n, vec value) noexcept {
    vec hits{};
    for (std::size_t i = 0; i < n; i += width) hits |= reinterpret_cast<vec>(load(p + i) == value);
    return bits(hits) != 0;
}
inline std::uint32_t sum_of_lanes(vec v) noexcept { return v[0] + v[1] + v[2] + v[3]; }
// The number of bits set.
inline unsigned popcount(std::uint64_t set) noexcept { return count_bits(set); }
// The bits of `set` that are in `of`, moved together.
inline std::uint64_t compact(std::uint64_t set, std::uint64_t of) noexcept { return extract_bits(set, of); }

} // namespace
} // namespace teewire::kernels::scalar
