// The vector interface with AVX2. scalar.hpp describes the functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#define TEEWIRE_LEVEL avx2

namespace teewire::kernels::avx2 {
namespace {

using vec = __m256i;
constexpr std::size_t width = 8;

inline std::uint32_t bits(vec v) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(v)));
}
inline vec first(std::size_t n) noexcept {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline vec load(std::int32_t const* p) noexcept { return _mm256_loadu_si256(reinterpret_cast<vec const*>(p)); }
inline vec load_first(std::int32_t const* p, std::size_t n) noexcept { return _mm256_maskload_epi32(p, first(n)); }
inline void store(std::int32_t* p, vec v) noexcept { _mm256_storeu_si256(reinterpret_cast<vec*>(p), v); }
inline void store_first(std::int32_t* p, vec v, std::size_t n) noexcept { _mm256_maskstore_epi32(p, first(n), v); }
inline vec all(std::int32_t value) noexcept { return _mm256_set1_epi32(value); }
inline vec plus(vec a, vec b) noexcept { return _mm256_add_epi32(a, b); }
inline vec minus(vec a, vec b) noexcept { return _mm256_sub_epi32(a, b); }
inline std::uint32_t unequal(vec a, vec b) noexcept { return 0xffU ^ bits(_mm256_cmpeq_epi32(a, b)); }
inline bool any_equal(std::int32_t const* p, std::size_t n, vec value) noexcept {
    vec hits = _mm256_setzero_si256();
    for (std::size_t i = 0; i < n; i += 8) hits = _mm256_or_si256(hits, _mm256_cmpeq_epi32(load(p + i), value));
    return bits(hits) != 0;
}
inline std::uint32_t sum_of_lanes(vec v) noexcept {
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
}
inline unsigned popcount(std::uint64_t set) noexcept { return static_cast<unsigned>(std::popcount(set)); }
inline std::uint64_t compact(std::uint64_t set, std::uint64_t of) noexcept { return _pext_u64(set, of); }

} // namespace
} // namespace teewire::kernels::avx2
