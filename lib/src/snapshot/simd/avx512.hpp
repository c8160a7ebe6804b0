// The vector interface with AVX-512. scalar.hpp describes the functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#define TEEWIRE_LEVEL avx512

namespace teewire::kernels::avx512 {
namespace {

using vec = __m512i;
constexpr std::size_t width = 16;

inline __mmask16 first(std::size_t n) noexcept { return static_cast<__mmask16>((1U << n) - 1); }
inline vec load(std::int32_t const* p) noexcept { return _mm512_loadu_si512(p); }
inline vec load_first(std::int32_t const* p, std::size_t n) noexcept {
    return _mm512_maskz_loadu_epi32(first(n), p);
}
inline void store(std::int32_t* p, vec v) noexcept { _mm512_storeu_si512(p, v); }
inline void store_first(std::int32_t* p, vec v, std::size_t n) noexcept {
    _mm512_mask_storeu_epi32(p, first(n), v);
}
inline vec all(std::int32_t value) noexcept { return _mm512_set1_epi32(value); }
inline vec plus(vec a, vec b) noexcept { return _mm512_add_epi32(a, b); }
inline vec minus(vec a, vec b) noexcept { return _mm512_sub_epi32(a, b); }
inline std::uint32_t unequal(vec a, vec b) noexcept {
    std::uint32_t set = _mm512_cmpneq_epi32_mask(a, b);
#if !defined(__clang__)
    asm("" : "+r"(set)); // GCC 12 may keep 16 bits in memory otherwise, and read 64 of them
#endif
    return set;
}
inline bool any_equal(std::int32_t const* p, std::size_t n, vec value) noexcept {
    __mmask16 hits = 0;
    for (std::size_t i = 0; i < n; i += 16) hits |= _mm512_cmpeq_epi32_mask(load(p + i), value);
    return hits != 0;
}
inline std::uint32_t sum_of_lanes(vec v) noexcept {
    // The forms without a mask make GCC 12 warn of its own header.
    __m256i const half =
        _mm256_add_epi32(_mm512_maskz_extracti64x4_epi64(0xf, v, 0), _mm512_maskz_extracti64x4_epi64(0xf, v, 1));
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
}
inline unsigned popcount(std::uint64_t set) noexcept { return static_cast<unsigned>(std::popcount(set)); }
inline std::uint64_t compact(std::uint64_t set, std::uint64_t of) noexcept { return _pext_u64(set, of); }

} // namespace
} // namespace teewire::kernels::avx512
