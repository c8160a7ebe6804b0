// Variable-length ints with AVX2: 24 bytes or 8 ints a step, with no branch that depends on single values.
#include "codec_functions.hpp"
#include "varint_kernels.hpp"

#if defined(__x86_64__)

#include <algorithm>
#include <array>
#include <bit>
#include <immintrin.h>

TEEWIRE_BEGIN_LEVEL(TEEWIRE_AVX2)
namespace teewire::kernels::avx2 {

namespace {

// Keeps GCC from making a constant again in every step.
inline __m256i opaque(__m256i constant) noexcept {
#if !defined(__clang__)
    asm("" : "+x"(constant));
#endif
    return constant;
}

// ---- decoding ---------------------------------------------------------------------------------------------------

// By a mask of eight lanes: the numbers of the lanes in it.
struct alignas(32) lane_list {
    std::int32_t at[8];
};
constexpr std::array<lane_list, 256> lanes_of = [] {
    std::array<lane_list, 256> lists{};
    for (unsigned mask = 0; mask < 256; ++mask)
        for (int lane = 0, n = 0; lane < 8; ++lane)
            if ((mask >> lane & 1) != 0) lists[mask].at[n++] = lane;
    return lists;
}();

struct decode_constants {
    __m256i order, top_bits, minus_one, data_bits, weights, pair_weights;
};
inline decode_constants make_decode_constants() noexcept {
    return {opaque(_mm256_setr_epi32(0x03020100, 0x04030201, 0x05040302, 0x06050403, 0x07060504, 0x08070605,
                                     0x09080706, 0x0a090807)),
            opaque(_mm256_set1_epi8(static_cast<char>(0x80))),
            opaque(_mm256_set1_epi32(-1)),
            opaque(_mm256_set1_epi32(0x7f7f7f3f)),
            opaque(_mm256_set1_epi32(static_cast<int>(0x80014001))),
            opaque(_mm256_set1_epi32(8192 << 16 | 1))};
}

// Decodes those of eight values starting at `bytes` and at the seven bytes after it that `starts` names. Unless
// `exact`, writes eight ints anyway.
template <bool exact>
inline void decode_eight(std::uint8_t const* bytes, std::uint32_t starts, bool any_fifth, std::int32_t*& to,
                         decode_constants const& c) noexcept {
    __m256i const in = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes)));
    __m256i const four = _mm256_shuffle_epi8(in, c.order);
    // The lowest clear top bit ends the value: one less than these bits has ones below it.
    __m256i const ends = _mm256_andnot_si256(four, c.top_bits);
    __m256i const own = _mm256_and_si256(four, _mm256_add_epi32(ends, c.minus_one));
    __m256i const data = _mm256_and_si256(own, c.data_bits);
    __m256i m = _mm256_madd_epi16(_mm256_maddubs_epi16(c.weights, data), c.pair_weights);
    if (any_fifth) {
        __m256i const fifth = _mm256_shuffle_epi8(in, _mm256_setr_epi32(4, 5, 6, 7, 8, 9, 10, 11));
        __m256i const has_fifth = _mm256_cmpeq_epi32(ends, _mm256_setzero_si256());
        m = _mm256_or_si256(m, _mm256_and_si256(has_fifth, _mm256_slli_epi32(fifth, 27)));
    }
    __m256i const sign = _mm256_srai_epi32(_mm256_slli_epi32(four, 25), 31);
    __m256i const value = _mm256_xor_si256(m, sign);
    __m256i const list = _mm256_load_si256(reinterpret_cast<__m256i const*>(&lanes_of[starts]));
    __m256i const packed = _mm256_permutevar8x32_epi32(value, list);
    int const count = std::popcount(starts);
    if constexpr (exact) {
        __m256i const lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_maskstore_epi32(to, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes), packed);
    } else {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), packed);
    }
    to += count;
}

// Decodes the values that start in the first 24 of 32 bytes. False at a quirk; then nothing is written.
template <bool exact>
inline bool decode_step(std::uint8_t const* bytes, std::uint32_t& inside, std::int32_t*& to,
                        decode_constants const& c) noexcept {
    __m256i const block = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(bytes));
    auto const more = static_cast<std::uint32_t>(_mm256_movemask_epi8(block)); // another byte follows
    __m256i const zero = _mm256_setzero_si256();
    auto const zeros = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, zero)));
    // A zero after a first byte is over-long. A fifth byte has four bits.
    std::uint32_t quirks = more << 1 & zeros;
    std::uint32_t const more_4 = more & more >> 1 & more >> 2 & more >> 3;
    if (more_4 != 0) {
        __m256i const high = _mm256_and_si256(block, _mm256_set1_epi8(static_cast<char>(0xf0)));
        quirks |= more_4 << 4 & ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, zero)));
    }
    if (quirks != 0) return false;
    std::uint32_t const starts = ~(more << 1 | inside);
    decode_eight<exact>(bytes, starts & 0xff, more_4 != 0, to, c);
    decode_eight<exact>(bytes + 8, starts >> 8 & 0xff, more_4 != 0, to, c);
    decode_eight<exact>(bytes + 16, starts >> 16 & 0xff, more_4 != 0, to, c);
    inside = more >> 23 & 1;
    return true;
}

// Stops near the ends of the memory, or before values that need the plain loop.
[[gnu::noinline]] void decode_steps(decode_run& run) noexcept {
    std::uint8_t const* const bytes = run.bytes.data();
    std::size_t const size = run.bytes.size();
    std::int32_t* const out = run.out.data();
    std::int32_t* to = out + run.count;
    std::size_t at = run.at;
    decode_constants const c = make_decode_constants();
    std::uint32_t inside = 0; // 1 if the step begins inside a value
    auto const room = [&] { return run.out.size() - static_cast<std::size_t>(to - out); };
    // Surplus values are overwritten as long as eight values follow.
    while (size - at >= 72 && room() >= 32 && decode_step<false>(bytes + at, inside, to, c)) at += 24;
    while (size - at >= 32 && room() >= 32 && decode_step<true>(bytes + at, inside, to, c)) at += 24;
    while (inside != 0) inside = bytes[at++] >> 7;
    run.at = at;
    run.count = static_cast<std::size_t>(to - out);
}

// ---- encoding ---------------------------------------------------------------------------------------------------

// By key: where to find the bytes in use among sixteen, and how many they are.
template <std::size_t keys>
struct packing {
    std::array<std::array<std::uint8_t, 16>, keys> order{};
    std::array<std::uint8_t, keys> size{};
};

// By the sizes less one of four values, two bits each, first all low bits and then all high bits.
constexpr packing<256> pack_by = [] {
    packing<256> p;
    for (unsigned key = 0; key < 256; ++key)
        for (unsigned value = 0; value < 4; ++value)
            for (unsigned byte = 0; byte <= (key >> value & 1) + 2 * (key >> (value + 4) & 1); ++byte)
                p.order[key][p.size[key]++] = static_cast<std::uint8_t>(4 * value + byte);
    return p;
}();

// By five times the size less one of a value, plus that of the next: the same for two values, eight bytes apart.
constexpr packing<25> pack_pair_by = [] {
    packing<25> p;
    for (unsigned key = 0; key < 25; ++key) {
        for (unsigned byte = 0; byte <= key / 5; ++byte)
            p.order[key][p.size[key]++] = static_cast<std::uint8_t>(byte);
        for (unsigned byte = 0; byte <= key % 5; ++byte)
            p.order[key][p.size[key]++] = static_cast<std::uint8_t>(8 + byte);
    }
    return p;
}();

inline __m128i load(std::array<std::uint8_t, 16> const& list) noexcept {
    return _mm_loadu_si128(reinterpret_cast<__m128i const*>(list.data()));
}

struct encode_constants {
    __m256i more_than_one, more_than_four, low_bits, high_bits, weights, one_byte, two_bytes, three_bytes, more_1,
        more_2, more_3, sign_bit;
};

// Two values whose first four bytes and fifth byte alternate. Writes sixteen bytes.
inline std::uint8_t* put_pair(__m128i pair, unsigned key, std::uint8_t* to) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(pair, load(pack_pair_by.order[key])));
    return to + pack_pair_by.size[key];
}

// The rest of encode_eight for values of which some have five bytes.
inline std::uint8_t* put_pairs(__m256i code, __m256i m, __m256i has_2, __m256i has_3, __m256i has_4,
                               std::uint8_t* to) noexcept {
    __m256i const fifth = _mm256_srli_epi32(m, 27);
    __m256i const has_5 = _mm256_cmpgt_epi32(fifth, _mm256_setzero_si256());
    __m256i const four =
        _mm256_or_si256(code, _mm256_and_si256(has_5, _mm256_set1_epi32(static_cast<int>(0x80808080))));
    __m256i const low = _mm256_unpacklo_epi32(four, fifth);
    __m256i const high = _mm256_unpackhi_epi32(four, fifth);
    // One minus each size; then the keys, two in each half.
    __m256i const sizes =
        _mm256_min_epi32(_mm256_add_epi32(_mm256_add_epi32(has_2, has_3), has_4), _mm256_slli_epi32(has_5, 2));
    __m256i const keys =
        _mm256_madd_epi16(_mm256_packs_epi32(sizes, sizes), _mm256_set1_epi32(static_cast<int>(0xfffffffb)));
    auto const keys_0 = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(keys)));
    auto const keys_1 = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_extracti128_si256(keys, 1)));
    to = put_pair(_mm256_castsi256_si128(low), static_cast<unsigned>(keys_0 & 31), to);
    to = put_pair(_mm256_castsi256_si128(high), static_cast<unsigned>(keys_0 >> 32), to);
    to = put_pair(_mm256_extracti128_si256(low, 1), static_cast<unsigned>(keys_1 & 31), to);
    return put_pair(_mm256_extracti128_si256(high, 1), static_cast<unsigned>(keys_1 >> 32), to);
}

// Eight values. Needs room for 48 bytes, of which it may write fourteen too many.
inline std::uint8_t* encode_eight(std::int32_t const* values, std::uint8_t* to,
                                  encode_constants const& c) noexcept {
    __m256i const value = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(values));
    __m256i const sign = _mm256_srai_epi32(value, 31);
    __m256i const m = _mm256_xor_si256(value, sign);
    // Split into 13 bits and the rest, each in sixteen; then each half into 6 or 7 bits and the rest.
    __m256i const halves = _mm256_blend_epi16(m, _mm256_slli_epi32(m, 3), 0xaa);
    __m256i const low = _mm256_and_si256(halves, c.low_bits);
    __m256i const high = _mm256_and_si256(_mm256_mullo_epi16(halves, c.weights), c.high_bits);
    __m256i const data = _mm256_or_si256(low, high);
    __m256i const has_2 = _mm256_cmpgt_epi32(data, c.one_byte);
    __m256i const has_3 = _mm256_cmpgt_epi32(data, c.two_bytes);
    __m256i const has_4 = _mm256_cmpgt_epi32(data, c.three_bytes);
    __m256i const more =
        _mm256_or_si256(_mm256_or_si256(_mm256_and_si256(has_2, c.more_1), _mm256_and_si256(has_3, c.more_2)),
                        _mm256_and_si256(has_4, c.more_3));
    __m256i const code = _mm256_or_si256(_mm256_or_si256(data, more), _mm256_and_si256(sign, c.sign_bit));

    if (!_mm256_testz_si256(m, c.more_than_four)) return put_pairs(code, m, has_2, has_3, has_4, to);
    __m256i const even = _mm256_xor_si256(_mm256_xor_si256(has_2, has_3), has_4);
    auto const key_0 = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(even)));
    auto const key_1 = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(has_3)));
    unsigned const first = (key_0 & 15) | (key_1 & 15) << 4;
    unsigned const second = key_0 >> 4 | (key_1 & 0xf0);
    __m256i const order = _mm256_set_m128i(load(pack_by.order[second]), load(pack_by.order[first]));
    __m256i const packed = _mm256_shuffle_epi8(code, order);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
    to += pack_by.size[first];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_extracti128_si256(packed, 1));
    return to + pack_by.size[second];
}

// Sixteen values of a byte each, as most of a delta are. False if they are not. Eight would be so more often, but where
// values of all sizes are mixed, the mispredictions would cost more than is gained.
inline bool encode_sixteen(std::int32_t const* values, std::uint8_t* to, encode_constants const& c) noexcept {
    __m256i const a = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(values));
    __m256i const b = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(values + 8));
    __m256i const sign_a = _mm256_srai_epi32(a, 31), sign_b = _mm256_srai_epi32(b, 31);
    __m256i const m_a = _mm256_xor_si256(a, sign_a), m_b = _mm256_xor_si256(b, sign_b);
    if (!_mm256_testz_si256(_mm256_or_si256(m_a, m_b), c.more_than_one)) return false;
    __m256i const code_a = _mm256_or_si256(m_a, _mm256_and_si256(sign_a, c.sign_bit));
    __m256i const code_b = _mm256_or_si256(m_b, _mm256_and_si256(sign_b, c.sign_bit));
    __m256i const words = _mm256_packs_epi32(code_a, code_b); // fours of a, b, a, b
    __m256i const ordered = _mm256_permute4x64_epi64(words, 0xd8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
    return true;
}

} // namespace

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    decode_run run{bytes, out, mode, notes};
    for (;;) {
        if (bytes.size() - run.at >= 32) decode_steps(run);
        std::size_t const left = bytes.size() - run.at;
        errc const error = decode_plain(run, run.at + std::min<std::size_t>(left, 32));
        if (error != errc::ok) return failure{error, run.at};
        if (run.at == bytes.size()) return run.count;
    }
}

result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept {
    encode_constants const c{opaque(_mm256_set1_epi32(static_cast<int>(0xffffffc0))),
                             opaque(_mm256_set1_epi32(static_cast<int>(0xf8000000))),
                             opaque(_mm256_set1_epi32(0x007f003f)),
                             opaque(_mm256_set1_epi32(0x7f007f00)),
                             opaque(_mm256_set1_epi32(0x00020004)),
                             opaque(_mm256_set1_epi32(0xff)),
                             opaque(_mm256_set1_epi32(0xffff)),
                             opaque(_mm256_set1_epi32(0xffffff)),
                             opaque(_mm256_set1_epi32(0x80)),
                             opaque(_mm256_set1_epi32(0x8000)),
                             opaque(_mm256_set1_epi32(0x800000)),
                             opaque(_mm256_set1_epi32(0x40))};
    std::uint8_t* to = out.data();
    std::uint8_t* const end = to + out.size();
    std::size_t i = 0;
    // Surplus bytes are overwritten: fourteen values follow.
    for (; values.size() - i >= 30 && end - to >= 96; i += 16) {
        if (encode_sixteen(values.data() + i, to, c)) {
            to += 16;
            continue;
        }
        to = encode_eight(values.data() + i, to, c);
        to = encode_eight(values.data() + i + 8, to, c);
    }
    for (; values.size() - i >= 22 && end - to >= 48; i += 8) to = encode_eight(values.data() + i, to, c);
    return encode_plain(values, out, i, static_cast<std::size_t>(to - out.data()));
}

} // namespace teewire::kernels::avx2

TEEWIRE_END_LEVEL

#endif
