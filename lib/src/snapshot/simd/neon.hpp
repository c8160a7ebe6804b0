// The vector interface with NEON. scalar.hpp describes the functions.
#pragma once

#if defined(__aarch64__)

#include "bits.hpp"

#include <arm_neon.h>
#include <bit>
#include <cstddef>
#include <cstdint>

#define TEEWIRE_LEVEL neon

namespace teewire::kernels::neon {
namespace {

using vec = int32x4_t;
constexpr std::size_t width = 4;

inline vec all(std::int32_t value) noexcept { return vdupq_n_s32(value); }
inline vec load(std::int32_t const* p) noexcept { return vld1q_s32(p); }
inline vec load_first(std::int32_t const* p, std::size_t n) noexcept {
    vec v = all(0);
    if (n > 0) v = vld1q_lane_s32(p, v, 0);
    if (n > 1) v = vld1q_lane_s32(p + 1, v, 1);
    if (n > 2) v = vld1q_lane_s32(p + 2, v, 2);
    return v;
}
inline void store(std::int32_t* p, vec v) noexcept { vst1q_s32(p, v); }
inline void store_first(std::int32_t* p, vec v, std::size_t n) noexcept {
    if (n > 0) vst1q_lane_s32(p, v, 0);
    if (n > 1) vst1q_lane_s32(p + 1, v, 1);
    if (n > 2) vst1q_lane_s32(p + 2, v, 2);
}
inline vec plus(vec a, vec b) noexcept { return vaddq_s32(a, b); }
inline vec minus(vec a, vec b) noexcept { return vsubq_s32(a, b); }
inline std::uint32_t unequal(vec a, vec b) noexcept {
    static constexpr std::uint32_t of_lanes[] = {1, 2, 4, 8};
    return vaddvq_u32(vbicq_u32(vld1q_u32(of_lanes), vceqq_s32(a, b)));
}
#define TEEWIRE_UNEQUAL_64
// Of 64 ints: what unequal gives for all of them, with fewer moves out of vectors.
inline std::uint64_t unequal_64(std::int32_t const* a, std::int32_t const* b) noexcept {
    static constexpr std::uint8_t of_lanes[] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t const weights = vld1q_u8(of_lanes);
    uint8x16_t bits[4];
    for (int k = 0; k < 4; ++k) {
        auto const equal = [&](int i) { // eight ints
            uint32x4_t const low = vceqq_s32(load(a + 16 * k + i), load(b + 16 * k + i));
            uint32x4_t const high = vceqq_s32(load(a + 16 * k + i + 4), load(b + 16 * k + i + 4));
            return vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
        };
        bits[k] = vbicq_u8(weights, vuzp1q_u8(equal(0), equal(8)));
    }
    uint8x16_t const sums = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}
inline bool any_equal(std::int32_t const* p, std::size_t n, vec value) noexcept {
    uint32x4_t hits = vdupq_n_u32(0);
    for (std::size_t i = 0; i < n; i += 4) hits = vorrq_u32(hits, vceqq_s32(load(p + i), value));
    return vmaxvq_u32(hits) != 0;
}
inline std::uint32_t sum_of_lanes(vec v) noexcept { return static_cast<std::uint32_t>(vaddvq_s32(v)); }
inline unsigned popcount(std::uint64_t set) noexcept { return static_cast<unsigned>(std::popcount(set)); }
inline std::uint64_t compact(std::uint64_t set, std::uint64_t of) noexcept { return extract_bits(set, of); }

} // namespace
} // namespace teewire::kernels::neon

#endif
