// Variable-length ints with AVX-512: 64 bytes or 16 ints a step, with no branch that depends on single values.
#include "codec_functions.hpp"
#include "varint_kernels.hpp"

#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__) // warns of its own headers, GCC bug 105593
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <immintrin.h>

TEEWIRE_BEGIN_LEVEL(TEEWIRE_AVX512)
namespace teewire::kernels::avx512 {

namespace {

// The lowest `count` bits, count <= 64.
inline std::uint64_t low_bits(std::size_t count) noexcept {
    return _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(count));
}

// The same as a mask for loads and stores.
inline __mmask64 first_lanes(std::size_t count) noexcept {
    __mmask64 mask = low_bits(count);
#if defined(__clang__) // version 14 fails to instrument an access for sanitizers if its mask comes from elsewhere
    asm("" : "+k"(mask));
#endif
    return mask;
}

// Keeps GCC from making a constant again in every step.
inline __m512i opaque(__m512i constant) noexcept {
#if !defined(__clang__)
    asm("" : "+v"(constant));
#endif
    return constant;
}

// Keeps GCC from computing with a mask in mask registers, where everything takes longer.
inline std::uint64_t opaque(std::uint64_t mask) noexcept {
    asm("" : "+r"(mask));
    return mask;
}

struct alignas(64) byte_list {
    std::uint8_t at[64];
};

// 0 1 2 ..., each `times` times, in lists of 64
template <std::size_t times>
constexpr std::array<byte_list, 4> repeated = [] {
    std::array<byte_list, 4> lists{};
    for (std::size_t i = 0; i < 256; ++i) lists[i / 64].at[i % 64] = static_cast<std::uint8_t>(i / times);
    return lists;
}();

// ---- decoding ---------------------------------------------------------------------------------------------------

struct decode_constants {
    __m512i minus_one, data_bits;
    // for lanes of 32 bits
    __m512i in_order, ends, weights, pair_weights, sign_bit, sixty_three;
    // for lanes of 16 bits
    __m512i in_order_16, ends_16, weights_16, sign_bit_16, sixty_three_16;
};

// Sixteen values. `which` has their places in the list of first bytes, each four times.
inline __m512i decode_sixteen(__m512i block, __m512i first_bytes, byte_list const& which, bool any_fifth,
                              decode_constants const& c) noexcept {
    __m512i const first = _mm512_permutexvar_epi8(_mm512_load_si512(&which), first_bytes);
    __m512i const four = _mm512_permutexvar_epi8(_mm512_add_epi8(first, c.in_order), block);
    // The lowest clear top bit ends the value: one less than these bits has ones below it.
    __m512i const ends = _mm512_andnot_si512(four, c.ends);
    __m512i const data = _mm512_ternarylogic_epi32(_mm512_add_epi32(ends, c.minus_one), four, c.data_bits, 0x80);
    __m512i m = _mm512_madd_epi16(_mm512_maddubs_epi16(c.weights, data), c.pair_weights);
    if (any_fifth) {
        __m512i const fifth = _mm512_permutexvar_epi8(_mm512_add_epi8(first, _mm512_set1_epi32(4)), block);
        m = _mm512_mask_add_epi32(m, _mm512_testn_epi32_mask(ends, ends), m, _mm512_slli_epi32(fifth, 27));
    }
    // The sign bit has been counted as 64, and 63 - (m + 64) is the complement of m.
    return _mm512_mask_sub_epi32(m, _mm512_test_epi32_mask(four, c.sign_bit), c.sixty_three, m);
}

// The same for thirty-two values of one or two bytes.
inline __m512i decode_short(__m512i block, __m512i first_bytes, byte_list const& which,
                            decode_constants const& c) noexcept {
    __m512i const first = _mm512_permutexvar_epi8(_mm512_load_si512(&which), first_bytes);
    __m512i const two = _mm512_permutexvar_epi8(_mm512_add_epi8(first, c.in_order_16), block);
    __m512i const ends = _mm512_andnot_si512(two, c.ends_16);
    __m512i const data = _mm512_ternarylogic_epi32(_mm512_add_epi16(ends, c.minus_one), two, c.data_bits, 0x80);
    __m512i const m = _mm512_maddubs_epi16(c.weights_16, data);
    return _mm512_mask_sub_epi16(m, _mm512_test_epi16_mask(two, c.sign_bit_16), c.sixty_three_16, m);
}

inline __m512i low_half(__m512i v) noexcept { return _mm512_cvtepi16_epi32(_mm512_castsi512_si256(v)); }
inline __m512i high_half(__m512i v) noexcept { return _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(v, 1)); }

inline void store(std::int32_t* to, __m512i a, __m512i b) noexcept {
    _mm512_storeu_si512(to, a);
    _mm512_storeu_si512(to + 16, b);
}
inline void store(std::int32_t* to, __m512i a, __m512i b, std::size_t count) noexcept {
    __mmask64 const lanes = first_lanes(count);
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lanes), a);
    _mm512_mask_storeu_epi32(to + 16, static_cast<__mmask16>(lanes >> 16), b);
}

// Stops at the end, or at the first value of a block that needs the plain loop.
[[gnu::noinline]] void decode_blocks(decode_run& run) noexcept {
    std::uint8_t const* const bytes = run.bytes.data();
    std::size_t const size = run.bytes.size();
    std::int32_t* to = run.out.data() + run.count;
    std::size_t room = run.out.size() - run.count;
    std::size_t at = run.at;
    std::uint64_t inside = 0; // 1 if the block begins inside a value
    __m512i const positions = opaque(_mm512_load_si512(&repeated<1>[0]));
    decode_constants const c{opaque(_mm512_set1_epi32(-1)),
                             opaque(_mm512_set1_epi8(0x7f)),
                             opaque(_mm512_set1_epi32(0x03020100)),
                             opaque(_mm512_set1_epi32(static_cast<int>(0x80808080))),
                             opaque(_mm512_set1_epi32(static_cast<int>(0x80014001))),
                             opaque(_mm512_set1_epi32(8192 << 16 | 1)),
                             opaque(_mm512_set1_epi32(0x40)),
                             opaque(_mm512_set1_epi32(63)),
                             opaque(_mm512_set1_epi16(0x0100)),
                             opaque(_mm512_set1_epi16(0x80)),
                             opaque(_mm512_set1_epi16(0x4001)),
                             opaque(_mm512_set1_epi16(0x40)),
                             opaque(_mm512_set1_epi16(63))};

    while (at < size) {
        // The values that start in the first 60 bytes, to which the last 4 may belong; near the end all.
        std::size_t const left = size - at;
        std::uint64_t own = low_bits(60);
        __m512i block;
        if (left >= 64) {
            block = _mm512_loadu_si512(bytes + at);
        } else {
            own = low_bits(left);
            block = _mm512_maskz_loadu_epi8(first_lanes(left), bytes + at);
        }
        std::uint64_t const more = opaque(_mm512_movepi8_mask(block)); // another byte follows
        std::uint64_t const starts = ~(more << 1 | inside) & own;
        auto const count = static_cast<std::size_t>(std::popcount(starts));

        // A zero after a first byte is either over-long or, after the end of the input, truncated. A fifth byte has
        // four bits.
        std::uint64_t const more_2 = more & more >> 1;
        std::uint64_t const more_3 = more_2 & more >> 2;
        std::uint64_t const more_4 = more_3 & more >> 3;
        std::uint64_t quirks = more << 1 & _mm512_testn_epi8_mask(block, block);
        if (more_4 != 0)
            quirks |= more_4 << 4 & _mm512_test_epi8_mask(block, _mm512_set1_epi8(static_cast<char>(0xf0)));
        if (quirks != 0 || count > room) {
            at += static_cast<std::size_t>(std::countr_zero(starts));
            break;
        }

        __m512i const first_bytes = _mm512_maskz_compress_epi8(starts, positions);
        if (more_2 == 0) {
            __m512i const a = decode_short(block, first_bytes, repeated<2>[0], c);
            if (count <= 32) {
                store(to, low_half(a), high_half(a), count);
            } else {
                store(to, low_half(a), high_half(a));
                __m512i const b = decode_short(block, first_bytes, repeated<2>[1], c);
                store(to + 32, low_half(b), high_half(b), count - 32);
            }
        } else {
            bool const any_fifth = more_4 != 0;
            __m512i const a_0 = decode_sixteen(block, first_bytes, repeated<4>[0], any_fifth, c);
            __m512i const a_1 = decode_sixteen(block, first_bytes, repeated<4>[1], any_fifth, c);
            if (count <= 32) {
                store(to, a_0, a_1, count);
            } else {
                store(to, a_0, a_1);
                __m512i const b_0 = decode_sixteen(block, first_bytes, repeated<4>[2], any_fifth, c);
                __m512i const b_1 = decode_sixteen(block, first_bytes, repeated<4>[3], any_fifth, c);
                store(to + 32, b_0, b_1, count - 32);
            }
        }
        to += count;
        room -= count;
        at += left < 64 ? left : 60;
        inside = more >> 59 & 1;
    }
    run.at = at;
    run.count = run.out.size() - room;
}

// ---- encoding ---------------------------------------------------------------------------------------------------

// By the number of leading zeros of a magnitude (0 for zero itself), for bytes 0 to 3 of its code: bit 6 where the
// value has this byte, bit 7 where another one follows.
struct alignas(64) shape_list {
    std::uint32_t at[32];
};
constexpr shape_list shapes = [] {
    shape_list list{};
    for (unsigned zeros = 0; zeros < 32; ++zeros) {
        unsigned const bits = zeros == 0 ? 0 : 32 - zeros;
        list.at[zeros] = 0x40;
        for (unsigned byte = 1; byte < 5 && bits >= 7 * byte; ++byte)
            list.at[zeros] |= (byte < 4 ? 0x40U << 8 * byte : 0U) | 0x80U << 8 * (byte - 1);
    }
    return list;
}();

struct encode_constants {
    __m512i shapes_low, shapes_high, more_than_four, spread, data_bits, top_bits, used_bit;
};

// Codes, with unused bytes between them, from the bits of magnitudes in their bytes.
inline __m512i make_code(__m512i spread, __m512i data_bits, __m512i sign, __m512i shape,
                         encode_constants const& c) noexcept {
    __m512i const data = _mm512_ternarylogic_epi32(spread, data_bits, sign, 0xe2); // data_bits ? spread : sign
    return _mm512_ternarylogic_epi32(data, c.top_bits, shape, 0xb8);               // top_bits ? shape : data
}

// Writes the used bytes. If `whole`, writes 64 bytes anyway, and there is room.
template <bool whole>
inline bool put(__m512i code, __m512i shape, std::uint8_t*& to, std::size_t& room,
                encode_constants const& c) noexcept {
    __mmask64 const used = _mm512_test_epi8_mask(shape, c.used_bit);
    __m512i const packed = _mm512_maskz_compress_epi8(used, code);
    auto const size = static_cast<std::size_t>(std::popcount(used));
    if constexpr (whole) {
        _mm512_storeu_si512(to, packed);
    } else {
        if (size > room) return false;
        _mm512_mask_storeu_epi8(to, first_lanes(size), packed);
    }
    to += size;
    room -= size;
    return true;
}

// Eight values, some of which have five bytes.
template <bool whole>
inline bool encode_wide(__m256i m, __m256i sign, __m256i shape, __mmask8 has_fifth, std::uint8_t*& to,
                        std::size_t& room, encode_constants const& c) noexcept {
    __m512i const four = _mm512_cvtepu32_epi64(shape);
    __m512i const five = _mm512_mask_or_epi64(four, has_fifth, four, _mm512_set1_epi64(0x4000000000));
    __m512i const spread = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(0x1b140d0600), _mm512_cvtepu32_epi64(m));
    __m512i const data_bits = _mm512_set1_epi64(0x0f7f7f7f3f);
    return put<whole>(make_code(spread, data_bits, _mm512_cvtepu32_epi64(sign), five, c), five, to, room, c);
}

// Up to sixteen values. False if there is not enough room; then perhaps some of them have been written.
template <bool whole>
inline bool encode_sixteen(std::int32_t const* values, std::size_t count, std::uint8_t*& to, std::size_t& room,
                           encode_constants const& c) noexcept {
    __mmask16 const lanes = whole ? 0xffff : static_cast<__mmask16>(first_lanes(count));
    __m512i const value = whole ? _mm512_loadu_si512(values) : _mm512_maskz_loadu_epi32(lanes, values);
    __m512i const sign = _mm512_srai_epi32(value, 31);
    __m512i const m = _mm512_xor_si512(value, sign);
    __m512i shape = _mm512_permutex2var_epi32(c.shapes_low, _mm512_lzcnt_epi32(m), c.shapes_high);
    if constexpr (!whole) shape = _mm512_maskz_mov_epi32(lanes, shape); // lanes without a value use no bytes
    __mmask16 const has_fifth = _mm512_test_epi32_mask(m, c.more_than_four);
    if (has_fifth == 0) {
        __m512i const spread = _mm512_multishift_epi64_epi8(c.spread, m);
        return put<whole>(make_code(spread, c.data_bits, sign, shape, c), shape, to, room, c);
    }
    return encode_wide<whole>(_mm512_castsi512_si256(m), _mm512_castsi512_si256(sign),
                              _mm512_castsi512_si256(shape), static_cast<__mmask8>(has_fifth), to, room, c) &&
           encode_wide<whole>(_mm512_extracti64x4_epi64(m, 1), _mm512_extracti64x4_epi64(sign, 1),
                              _mm512_extracti64x4_epi64(shape, 1), static_cast<__mmask8>(has_fifth >> 8), to, room,
                              c);
}

} // namespace

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    decode_run run{bytes, out, mode, notes};
    for (;;) {
        decode_blocks(run);
        if (run.at == bytes.size()) return run.count;
        errc const error = decode_plain(run, run.at + std::min<std::size_t>(bytes.size() - run.at, 60));
        if (error != errc::ok) return failure{error, run.at};
    }
}

result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept {
    encode_constants const c{opaque(_mm512_load_si512(&shapes.at[0])),
                             opaque(_mm512_load_si512(&shapes.at[16])),
                             opaque(_mm512_set1_epi32(static_cast<int>(0xf8000000))),
                             opaque(_mm512_set1_epi64(0x342d2620140d0600)),
                             opaque(_mm512_set1_epi32(0x7f7f7f3f)),
                             opaque(_mm512_set1_epi8(static_cast<char>(0x80))),
                             opaque(_mm512_set1_epi8(0x40))};
    std::uint8_t* to = out.data();
    std::size_t room = out.size();
    std::size_t i = 0;
    // Stores of 64 bytes, as long as what they write too much is sure to be written again.
    for (; values.size() - i >= 80 && room >= 128; i += 16)
        encode_sixteen<true>(values.data() + i, 16, to, room, c);
    for (; i < values.size(); i += 16) {
        std::size_t const left = values.size() - i;
        std::uint8_t* const start = to;
        if (!encode_sixteen<false>(values.data() + i, left < 16 ? left : 16, to, room, c))
            return encode_plain(values, out, i, static_cast<std::size_t>(start - out.data()));
    }
    return out.size() - room;
}

} // namespace teewire::kernels::avx512

TEEWIRE_END_LEVEL

#endif
