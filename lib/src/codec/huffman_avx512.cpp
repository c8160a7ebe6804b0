// Huffman codes with AVX-512: 64 bytes at a time.
#include "codec_functions.hpp"
#include "huffman_encode.hpp"

#if defined(__x86_64__)

#if !defined(__clang__) // GCC 12 warns about the undefined vectors inside this header.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

TEEWIRE_BEGIN_LEVEL(TEEWIRE_AVX512)

namespace teewire::kernels::avx512 {
namespace {

using namespace huffman;

struct code_bytes {
    alignas(64) std::array<std::uint8_t, 256> length{};
    alignas(64) std::array<std::uint8_t, 256> low{};
    alignas(64) std::array<std::uint8_t, 256> high{};
};

constexpr code_bytes split_codes() {
    code_bytes split;
    for (std::size_t s = 0; s < end_symbol; ++s) {
        split.length[s] = table.codes[s].length;
        split.low[s] = static_cast<std::uint8_t>(table.codes[s].bits & 0xff);
        split.high[s] = static_cast<std::uint8_t>(table.codes[s].bits >> 8);
    }
    return split;
}

constexpr code_bytes split = split_codes();

// The four quarters of a table of 256 bytes, and which of `bytes` look into which.
struct quarters {
    __m512i bytes;
    __mmask64 second, third, fourth;
};

[[gnu::always_inline]] inline quarters quarters_of(__m512i bytes) noexcept {
    __mmask64 const upper_half = _mm512_movepi8_mask(bytes);
    __mmask64 const odd = _mm512_movepi8_mask(_mm512_add_epi8(bytes, bytes));
    return {bytes, odd & ~upper_half, upper_half & ~odd, odd & upper_half};
}

[[gnu::always_inline]] inline __m512i look_up(std::array<std::uint8_t, 256> const& t, quarters q) noexcept {
    __m512i found = _mm512_permutexvar_epi8(q.bytes, _mm512_load_si512(t.data()));
    found = _mm512_mask_permutexvar_epi8(found, q.second, q.bytes, _mm512_load_si512(t.data() + 64));
    found = _mm512_mask_permutexvar_epi8(found, q.third, q.bytes, _mm512_load_si512(t.data() + 128));
    return _mm512_mask_permutexvar_epi8(found, q.fourth, q.bytes, _mm512_load_si512(t.data() + 192));
}

struct codes64 {
    __m512i length, low, high;
};

[[gnu::always_inline]] inline codes64 codes_of(__m512i bytes) noexcept {
    quarters const q = quarters_of(bytes);
    return {look_up(split.length, q), look_up(split.low, q), look_up(split.high, q)};
}

[[gnu::always_inline]] inline __m512i with_end(__m512i part, std::size_t count, unsigned of_end) noexcept {
    __mmask64 const end = std::uint64_t{1} << count;
    return _mm512_mask_mov_epi8(_mm512_maskz_mov_epi8(end - 1, part), end,
                                _mm512_set1_epi8(static_cast<char>(of_end)));
}

// For fewer than 64 bytes: the end symbol after them, and nothing after that.
[[gnu::always_inline]] inline codes64 last_codes_of(std::uint8_t const* bytes, std::size_t count) noexcept {
    constexpr code end = table.codes[end_symbol];
    codes64 const c = codes_of(_mm512_maskz_loadu_epi8((std::uint64_t{1} << count) - 1, bytes));
    return {with_end(c.length, count, end.length), with_end(c.low, count, end.bits & 0xff),
            with_end(c.high, count, end.bits >> 8)};
}

struct bit_strings {
    __m512i bits, length; // 64 each
};

// Joins four codes in each lane of 64, which hold 16 for each code and its length. Up to 60 bits.
[[gnu::always_inline]] inline bit_strings join_fours(__m512i codes, __m512i lengths) noexcept {
    __m512i const low16 = _mm512_set1_epi32(0xffff);
    __m512i const low32 = _mm512_set1_epi64(0xffffffff);
    __m512i const pairs =
        _mm512_or_si512(_mm512_and_si512(codes, low16),
                        _mm512_sllv_epi32(_mm512_srli_epi32(codes, 16), _mm512_and_si512(lengths, low16)));
    __m512i const pair_lengths = _mm512_madd_epi16(lengths, _mm512_set1_epi16(1));
    __m512i const first_length = _mm512_and_si512(pair_lengths, low32);
    return {_mm512_or_si512(_mm512_and_si512(pairs, low32),
                            _mm512_sllv_epi64(_mm512_srli_epi64(pairs, 32), first_length)),
            _mm512_add_epi64(first_length, _mm512_srli_epi64(pair_lengths, 32))};
}

struct vector_written {
    __m512i bits;    // in every lane
    __m512i pending; // in the last lane
};

template <int lane>
[[gnu::always_inline]] inline void store_lane(std::uint8_t* at, __m512i words) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm512_extracti64x2_epi64(words, lane));
}

// Joins codes up to eights of at most 120 bits, moves all of them to their positions at once and stores the first
// `count`. An eight has at least 8 bits (except those after `count`), so the byte where it begins has bits from at most
// the one before.
[[gnu::always_inline]] inline void append(vector_written& w, std::uint8_t* out, codes64 c,
                                          std::size_t count) noexcept {
    __m512i const zero = _mm512_setzero_si512();
    __m512i const sixty_four = _mm512_set1_epi64(64);
    __m512i const seven = _mm512_set1_epi64(7);
    bit_strings const even = join_fours(_mm512_unpacklo_epi8(c.low, c.high), _mm512_unpacklo_epi8(c.length, zero));
    bit_strings const odd = join_fours(_mm512_unpackhi_epi8(c.low, c.high), _mm512_unpackhi_epi8(c.length, zero));
    // Lane n of `first` and `second`: the halves of eight n.
    bit_strings const first = {_mm512_unpacklo_epi64(even.bits, odd.bits),
                               _mm512_unpacklo_epi64(even.length, odd.length)};
    bit_strings const second = {_mm512_unpackhi_epi64(even.bits, odd.bits),
                                _mm512_unpackhi_epi64(even.length, odd.length)};
    __m512i const length = _mm512_add_epi64(first.length, second.length);
    __m512i const low = _mm512_or_si512(first.bits, _mm512_sllv_epi64(second.bits, first.length));
    __m512i const high = _mm512_srlv_epi64(second.bits, _mm512_sub_epi64(sixty_four, first.length));

    __m512i end = length; // sums of the lanes up to this one
    end = _mm512_add_epi64(end, _mm512_alignr_epi64(end, zero, 7));
    end = _mm512_add_epi64(end, _mm512_alignr_epi64(end, zero, 6));
    end = _mm512_add_epi64(end, _mm512_alignr_epi64(end, zero, 4));
    end = _mm512_add_epi64(end, w.bits);
    __m512i const begin = _mm512_sub_epi64(end, length);
    w.bits = _mm512_permutexvar_epi64(seven, end);

    // Shifts by 64 and more give zero.
    __m512i const shift = _mm512_and_si512(begin, seven);
    __m512i const low_moved = _mm512_sllv_epi64(low, shift);
    __m512i const high_moved = _mm512_or_si512(_mm512_srlv_epi64(low, _mm512_sub_epi64(sixty_four, shift)),
                                               _mm512_sllv_epi64(high, shift));
    __m512i const complete = _mm512_andnot_si512(seven, _mm512_add_epi64(shift, length));
    __m512i const pending = _mm512_or_si512(_mm512_srlv_epi64(low_moved, complete),
                                            _mm512_srlv_epi64(high_moved, _mm512_sub_epi64(complete, sixty_four)));
    __m512i const low_filled = _mm512_or_si512(low_moved, _mm512_alignr_epi64(pending, w.pending, 7));
    w.pending = pending;

    alignas(64) std::uint64_t at[8];
    _mm512_store_si512(at, _mm512_srli_epi64(begin, 3));
    asm("" : "+m"(at)); // a store and eight loads are cheaper than the shuffles that compilers make of them
    __m512i const words0246 = _mm512_unpacklo_epi64(low_filled, high_moved);
    __m512i const words1357 = _mm512_unpackhi_epi64(low_filled, high_moved);
    store_lane<0>(out + at[0], words0246);
    if (count > 1) store_lane<0>(out + at[1], words1357);
    if (count > 2) store_lane<1>(out + at[2], words0246);
    if (count > 3) store_lane<1>(out + at[3], words1357);
    if (count > 4) store_lane<2>(out + at[4], words0246);
    if (count > 5) store_lane<2>(out + at[5], words1357);
    if (count > 6) store_lane<3>(out + at[6], words0246);
    if (count > 7) store_lane<3>(out + at[7], words1357);
}

constexpr std::size_t block_room = 64 * max_code_bits / 8 + 8;

[[gnu::noinline]] result<std::size_t> encode_blocks(std::span<std::uint8_t const> input,
                                                    std::span<std::uint8_t> out, huffman_end ending) noexcept {
    vector_written w{_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (std::size_t i = 0;; i += 64) {
        auto const bits = static_cast<std::size_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(w.bits)));
        std::uint8_t const* const at = input.data() + i;
        if (out.size() - bits / 8 < block_room) {
            auto const pending = _mm_extract_epi64(_mm512_extracti64x2_epi64(w.pending, 3), 1);
            return encode(input, i, out, ending,
                          {out.data() + bits / 8,
                           std::rotr(static_cast<std::uint64_t>(pending), static_cast<int>(bits % 8)), bits % 8});
        }
        if (input.size() - i < 64) {
            append(w, out.data(), last_codes_of(at, input.size() - i), (input.size() - i) / 8 + 1);
            auto const total = static_cast<std::size_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(w.bits)));
            return end_bytes({out.data() + total / 8, 0, total % 8}, out.data(), ending);
        }
        append(w, out.data(), codes_of(_mm512_loadu_si512(at)), 8);
    }
}

} // namespace

result<std::size_t> huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   huffman_end ending) noexcept {
    constexpr std::size_t too_few_to_pay = 32;
    if (input.size() <= few && out.size() >= few_room) return encode_few(input, out.data(), ending);
    if (input.size() < too_few_to_pay) return avx2::huffman_encode(input, out, ending);
    return encode_blocks(input, out, ending);
}

} // namespace teewire::kernels::avx512

TEEWIRE_END_LEVEL

#endif
