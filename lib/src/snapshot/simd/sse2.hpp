// The vector interface with SSE2. scalar.hpp describes the functions.
#pragma once

#include "bits.hpp"

#include <cstddef>
#include <cstdint>
#include <emmintrin.h>

#define TEEWIRE_LEVEL sse2

namespace teewire::kernels::sse2 {
namespace {

using vec = __m128i;
constexpr std::size_t width = 4;

inline std::uint32_t bits(vec v) noexcept {
    return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(v)));
}
inline vec load(std::int32_t const* p) noexcept { return _mm_loadu_si128(reinterpret_cast<vec const*>(p)); }
inline vec load_first(std::int32_t const* p, std::size_t n) noexcept {
    return _mm_setr_epi32(n > 0 ? p[0] : 0, n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0);
}
inline void store(std::int32_t* p, vec v) noexcept { _mm_storeu_si128(reinterpret_cast<vec*>(p), v); }
inline void store_first(std::int32_t* p, vec v, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i, v = _mm_srli_si128(v, 4)) p[i] = _mm_cvtsi128_si32(v);
}
inline vec all(std::int32_t value) noexcept { return _mm_set1_epi32(value); }
inline vec plus(vec a, vec b) noexcept { return _mm_add_epi32(a, b); }
inline vec minus(vec a, vec b) noexcept { return _mm_sub_epi32(a, b); }
inline std::uint32_t unequal(vec a, vec b) noexcept { return 0xfU ^ bits(_mm_cmpeq_epi32(a, b)); }
#define TEEWIRE_UNEQUAL_64
// Of 64 ints: what unequal gives for all of them, with fewer moves out of vectors.
inline std::uint64_t unequal_64(std::int32_t const* a, std::int32_t const* b) noexcept {
    std::uint64_t equal = 0;
    for (int k = 0; k < 64; k += 16) {
        auto const eight = [&](int i) {
            return _mm_packs_epi32(_mm_cmpeq_epi32(load(a + k + i), load(b + k + i)),
                                   _mm_cmpeq_epi32(load(a + k + i + 4), load(b + k + i + 4)));
        };
        auto const sixteen = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(eight(0), eight(8))));
        equal |= std::uint64_t{sixteen} << k;
    }
    return ~equal;
}
inline bool any_equal(std::int32_t const* p, std::size_t n, vec value) noexcept {
    vec hits = _mm_setzero_si128();
    for (std::size_t i = 0; i < n; i += 4) hits = _mm_or_si128(hits, _mm_cmpeq_epi32(load(p + i), value));
    return bits(hits) != 0;
}
inline std::uint32_t sum_of_lanes(vec v) noexcept {
    __m128i sum = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
}
inline unsigned popcount(std::uint64_t set) noexcept { return count_bits(set); }
inline std::uint64_t compact(std::uint64_t set, std::uint64_t of) noexcept { return extract_bits(set, of); }

} // namespace
} // namespace teewire::kernels::sse2
