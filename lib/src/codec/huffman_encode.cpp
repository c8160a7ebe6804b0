// The encoders behind huffman_encode. Codes are joined in pairs, the pairs in fours, and so on: that way most of the
// work does not have to wait for what was written before.
#include "huffman_kernels.hpp"

#include "huffman_table.hpp"
#include "huffman_words.hpp"

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
#endif

namespace teewire::huffman {
namespace {

struct bit_string {
    std::uint64_t bits; // first one lowest; zero above `length`
    unsigned length;
};

[[gnu::always_inline]] inline bit_string code_of(std::size_t symbol) noexcept {
    return {table.codes[symbol].bits, table.codes[symbol].length};
}

[[gnu::always_inline]] inline bit_string joined(bit_string first, bit_string second) noexcept {
    return {first.bits | second.bits << first.length, first.length + second.length};
}

struct written {
    std::size_t bits = 0;
    std::uint64_t pending = 0; // the last bits % 8 of them
};

// One store, and no branch on how many bytes are complete. At most 56 bits are added; `out` has room for 8 bytes.
[[gnu::always_inline]] inline void append(written& w, std::uint8_t* out, bit_string added) noexcept {
    unsigned const shift = w.bits & 7;
    std::uint64_t const word = w.pending | added.bits << shift;
    store64(out + w.bits / 8, word);
    w.bits += added.length;
    w.pending = word >> ((shift + added.length) & 56);
}

// For up to 60 bits; `out` has room for 16 bytes.
constexpr std::size_t group_room = 16;
[[gnu::always_inline]] inline void append(written& w, std::uint8_t* out, bit_string a, bit_string b) noexcept {
    bit_string const both = joined(a, b);
    if (both.length <= 56) [[likely]] {
        append(w, out, both);
    } else {
        append(w, out, a);
        append(w, out, b);
    }
}

// With all bits in place: the size, and the byte that older encoders add. `out` has room for it.
[[gnu::always_inline]] inline std::size_t end_bytes(std::size_t bits, std::uint8_t* out,
                                                    huffman_end ending) noexcept {
    if (bits % 8 != 0 || ending == huffman_end::exact) return (bits + 7) / 8;
    out[bits / 8] = 0;
    return bits / 8 + 1;
}

// From input byte i on, code by code: where the output may be too small.
[[gnu::noinline]] result<std::size_t> encode_slowly(std::span<std::uint8_t const> input, std::size_t i,
                                                    std::span<std::uint8_t> out, huffman_end ending,
                                                    written w) noexcept {
    for (; i <= input.size(); ++i) {
        bit_string const code = code_of(i < input.size() ? input[i] : end_symbol);
        std::size_t at = w.bits / 8;
        std::uint64_t word = w.pending | code.bits << w.bits % 8;
        w.bits += code.length;
        if (w.bits > out.size() * 8) return failure{errc::output_full, i};
        for (; at < w.bits / 8; word >>= 8) out[at++] = static_cast<std::uint8_t>(word);
        w.pending = word;
    }
    if (w.bits % 8 != 0) {
        out[w.bits / 8] = static_cast<std::uint8_t>(w.pending);
    } else if (ending == huffman_end::padded && w.bits / 8 == out.size()) {
        return failure{errc::output_full, input.size()};
    }
    return end_bytes(w.bits, out.data(), ending);
}

// Fewer than four bytes that remain, and the end symbol. `out` has room for a group.
[[gnu::always_inline]] inline std::size_t encode_last(std::span<std::uint8_t const> input, std::size_t i,
                                                      std::uint8_t* out, huffman_end ending, written w) noexcept {
    bit_string last{};
    for (; i < input.size(); ++i) last = joined(last, code_of(input[i]));
    append(w, out, last, code_of(end_symbol));
    return end_bytes(w.bits, out, ending);
}

[[gnu::always_inline]] inline result<std::size_t> encode(std::span<std::uint8_t const> input, std::size_t i,
                                                         std::span<std::uint8_t> out, huffman_end ending,
                                                         written w) noexcept {
    for (; input.size() - i >= 4 && out.size() - w.bits / 8 >= group_room; i += 4) {
        std::uint8_t const* const at = input.data() + i;
        append(w, out.data(), joined(code_of(at[0]), code_of(at[1])), joined(code_of(at[2]), code_of(at[3])));
    }
    if (out.size() - w.bits / 8 < group_room) return encode_slowly(input, i, out, ending, w);
    return encode_last(input, i, out.data(), ending, w);
}

} // namespace

result<std::size_t> encode_portable(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                    huffman_end ending) noexcept {
    return encode(input, 0, out, ending, {});
}

#if defined(__x86_64__)

[[gnu::target("bmi2")]] result<std::size_t> encode_bmi2(std::span<std::uint8_t const> input,
                                                        std::span<std::uint8_t> out, huffman_end ending) noexcept {
    return encode(input, 0, out, ending, {});
}

// ---- AVX-512: 64 bytes at a time -----------------------------------------------------------------------------------

#define TEEWIRE_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2")
#define TEEWIRE_AVX512_INLINE TEEWIRE_AVX512, gnu::always_inline

namespace {

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

[[TEEWIRE_AVX512_INLINE]] inline quarters quarters_of(__m512i bytes) noexcept {
    __mmask64 const upper_half = _mm512_movepi8_mask(bytes);
    __mmask64 const odd = _mm512_movepi8_mask(_mm512_add_epi8(bytes, bytes));
    return {bytes, odd & ~upper_half, upper_half & ~odd, odd & upper_half};
}

[[TEEWIRE_AVX512_INLINE]] inline __m512i look_up(std::array<std::uint8_t, 256> const& t, quarters q) noexcept {
    __m512i found = _mm512_permutexvar_epi8(q.bytes, _mm512_load_si512(t.data()));
    found = _mm512_mask_permutexvar_epi8(found, q.second, q.bytes, _mm512_load_si512(t.data() + 64));
    found = _mm512_mask_permutexvar_epi8(found, q.third, q.bytes, _mm512_load_si512(t.data() + 128));
    return _mm512_mask_permutexvar_epi8(found, q.fourth, q.bytes, _mm512_load_si512(t.data() + 192));
}

struct codes64 {
    __m512i length, low, high;
};

[[TEEWIRE_AVX512_INLINE]] inline codes64 codes_of(__m512i bytes) noexcept {
    quarters const q = quarters_of(bytes);
    return {look_up(split.length, q), look_up(split.low, q), look_up(split.high, q)};
}

[[TEEWIRE_AVX512_INLINE]] inline __m512i with_end(__m512i part, std::size_t count, unsigned of_end) noexcept {
    __mmask64 const end = std::uint64_t{1} << count;
    return _mm512_mask_mov_epi8(_mm512_maskz_mov_epi8(end - 1, part), end,
                                _mm512_set1_epi8(static_cast<char>(of_end)));
}

// For fewer than 64 bytes: the end symbol behind them, and nothing behind that.
[[TEEWIRE_AVX512_INLINE]] inline codes64 last_codes_of(std::uint8_t const* bytes, std::size_t count) noexcept {
    constexpr code end = table.codes[end_symbol];
    codes64 const c = codes_of(_mm512_maskz_loadu_epi8((std::uint64_t{1} << count) - 1, bytes));
    return {with_end(c.length, count, end.length), with_end(c.low, count, end.bits & 0xff),
            with_end(c.high, count, end.bits >> 8)};
}

struct bit_strings {
    __m512i bits, length; // 64 each
};

// Joins four codes in each lane of 64, which hold 16 for each code and its length. Up to 60 bits.
[[TEEWIRE_AVX512_INLINE]] inline bit_strings join_fours(__m512i codes, __m512i lengths) noexcept {
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
[[TEEWIRE_AVX512_INLINE]] inline void store_lane(std::uint8_t* at, __m512i words) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm512_extracti64x2_epi64(words, lane));
}

// Joins codes up to eights of at most 120 bits, moves all of them to their places at once and stores the first
// `count`. An eight has at least 8 bits (those behind `count` aside), so the byte where it begins has bits from the
// one before at most.
[[TEEWIRE_AVX512_INLINE]] inline void append(vector_written& w, std::uint8_t* out, codes64 c,
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

[[TEEWIRE_AVX512, gnu::noinline]] result<std::size_t>
encode_blocks(std::span<std::uint8_t const> input, std::span<std::uint8_t> out, huffman_end ending) noexcept {
    vector_written w{_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (std::size_t i = 0;; i += 64) {
        auto const bits = static_cast<std::size_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(w.bits)));
        std::uint8_t const* const at = input.data() + i;
        if (out.size() - bits / 8 < block_room) {
            auto const pending = _mm_extract_epi64(_mm512_extracti64x2_epi64(w.pending, 3), 1);
            return encode(input, i, out, ending, {bits, static_cast<std::uint64_t>(pending)});
        }
        if (input.size() - i < 64) {
            append(w, out.data(), last_codes_of(at, input.size() - i), (input.size() - i) / 8 + 1);
            auto const total = static_cast<std::size_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(w.bits)));
            return end_bytes(total, out.data(), ending);
        }
        append(w, out.data(), codes_of(_mm512_loadu_si512(at)), 8);
    }
}

} // namespace

result<std::size_t> encode_avx512(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                  huffman_end ending) noexcept {
    constexpr std::size_t too_few_to_pay = 32;
    if (input.size() < 4 && out.size() >= group_room) return encode_last(input, 0, out.data(), ending, {});
    if (input.size() < too_few_to_pay) return encode_bmi2(input, out, ending);
    return encode_blocks(input, out, ending);
}

#endif

} // namespace teewire::huffman
