// Huffman codes with AVX2: four lanes, each of which joins the codes of eight bytes, so that 32 bytes are written at a
// time and no branch depends on what they are.
#include "codec_functions.hpp"
#include "huffman_encode.hpp"

#if defined(__x86_64__)

#include <algorithm>
#include <immintrin.h>

TEEWIRE_BEGIN_LEVEL(TEEWIRE_AVX2)

namespace teewire::kernels::avx2 {
namespace {

using namespace huffman;

struct bit_strings {
    __m256i top, length; // four, as joined_codes has them
};

// The codes of bytes 0, 8, 16 and 24. Loads that fill a vector and blends, because there is only one unit for shuffles.
[[gnu::always_inline]] inline __m256i four_codes(std::uint8_t const* bytes) noexcept {
    auto const code = [&](std::size_t i) {
        return _mm256_set1_epi64x(static_cast<long long>(placed_codes[bytes[i]]));
    };
    return _mm256_blend_epi32(_mm256_blend_epi32(code(0), code(8), 0x0c),
                              _mm256_blend_epi32(code(16), code(24), 0xc0), 0xf0);
}

// In each lane those of four bytes that follow each other.
[[gnu::always_inline]] inline bit_strings join_fours(std::uint8_t const* bytes) noexcept {
    __m256i const length_bits = _mm256_set1_epi64x(63);
    __m256i top = four_codes(bytes);
    __m256i length = top; // and other bits above it
    for (int k = 1; k < 4; ++k) {
        __m256i const next = four_codes(bytes + k);
        top = _mm256_or_si256(_mm256_srlv_epi64(top, _mm256_and_si256(next, length_bits)), next);
        length = _mm256_add_epi64(length, next);
    }
    return {_mm256_andnot_si256(_mm256_set1_epi64x(15), top), _mm256_and_si256(length, length_bits)};
}

struct lanes_written {
    __m256i bits; // in every lane
    __m256i last; // in the first lane: the bits that do not fill a byte
};

// Joins the fours to eights of 8 to 120 bits, moves them to their places and stores each over the rest of the one before.
// As it has 8 bits at least, the byte where one begins has bits from the one before at most.
[[gnu::always_inline]] inline void append_block(lanes_written& w, std::uint8_t* out,
                                                std::uint8_t const* bytes) noexcept {
    __m256i const sixty_four = _mm256_set1_epi64x(64);
    __m256i const seven = _mm256_set1_epi64x(7);
    bit_strings const first = join_fours(bytes);
    bit_strings const second = join_fours(bytes + 4);
    __m256i const length = _mm256_add_epi64(first.length, second.length);
    // Shifts by 64 and more, such as by less than none, give zero.
    __m256i const top = _mm256_or_si256(_mm256_srlv_epi64(first.top, second.length), second.top);
    __m256i const below = _mm256_sllv_epi64(first.top, _mm256_sub_epi64(sixty_four, second.length));

    __m256i end = _mm256_add_epi64(length, _mm256_slli_si256(length, 8)); // sums of the lanes up to this one
    __m256i const lower = _mm256_permute2x128_si256(end, end, 0x08);
    end = _mm256_add_epi64(end, _mm256_unpackhi_epi64(lower, lower));
    end = _mm256_add_epi64(end, w.bits);
    __m256i const begin = _mm256_sub_epi64(end, length);
    w.bits = _mm256_permute4x64_epi64(end, 0xff);

    // From the byte where the eight begins to its last bit: 8 to 127 bits, of which the first few are others'.
    __m256i const reach = _mm256_add_epi64(_mm256_and_si256(begin, seven), length);
    __m256i const beyond = _mm256_sub_epi64(sixty_four, reach); // negative if they are more than 64
    __m256i const rest = _mm256_add_epi64(beyond, sixty_four);
    __m256i const high = _mm256_srlv_epi64(top, rest);
    __m256i const low =
        _mm256_or_si256(_mm256_or_si256(_mm256_srlv_epi64(below, rest), _mm256_srlv_epi64(top, beyond)),
                        _mm256_sllv_epi64(top, _mm256_sub_epi64(_mm256_setzero_si256(), beyond)));
    __m256i const last = _mm256_srlv_epi64(top, _mm256_sub_epi64(sixty_four, _mm256_and_si256(end, seven)));
    __m256i const before = _mm256_permute4x64_epi64(last, 0x93); // each one lane further
    __m256i const filled = _mm256_or_si256(low, _mm256_blend_epi32(before, w.last, 3));
    w.last = before;

    alignas(32) std::uint64_t at[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(at), _mm256_srli_epi64(begin, 3));
    asm("" : "+m"(at)); // a store and four loads are cheaper than the shuffles that compilers make of them
    __m256i const words02 = _mm256_unpacklo_epi64(filled, high);
    __m256i const words13 = _mm256_unpackhi_epi64(filled, high);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at[0]), _mm256_castsi256_si128(words02));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at[1]), _mm256_castsi256_si128(words13));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at[2]), _mm256_extracti128_si256(words02, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at[3]), _mm256_extracti128_si256(words13, 1));
}

constexpr std::size_t block_bytes = 32;
constexpr std::size_t block_room = block_bytes * max_code_bits / 8 + 8;

[[gnu::noinline]] result<std::size_t> encode_blocks(std::span<std::uint8_t const> input,
                                                    std::span<std::uint8_t> out, huffman_end ending) noexcept {
    lanes_written w{_mm256_setzero_si256(), _mm256_setzero_si256()};
    std::size_t i = 0;
    std::size_t bits = 0;
    for (;;) {
        std::size_t const room = out.size() - bits / 8;
        std::size_t const blocks =
            std::min((input.size() - i) / block_bytes, room < 8 ? 0 : (room - 8) / (block_room - 8));
        if (blocks == 0) break;
        for (std::size_t n = 0; n < blocks; ++n, i += block_bytes) append_block(w, out.data(), input.data() + i);
        bits = static_cast<std::size_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(w.bits)));
    }
    if (std::size_t const left = input.size() - i; left >= step && out.size() - bits / 8 >= block_room) {
        // A block that is too short is padded with zeros, and their bits are taken off again.
        alignas(32) std::uint8_t padded[2 * block_bytes];
        _mm256_store_si256(reinterpret_cast<__m256i*>(padded), _mm256_loadu_si256(reinterpret_cast<__m256i const*>(
                                                                   input.data() + input.size() - block_bytes)));
        _mm256_store_si256(reinterpret_cast<__m256i*>(padded + block_bytes), _mm256_setzero_si256());
        append_block(w, out.data(), padded + (block_bytes - left));
        bits = static_cast<std::size_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(w.bits))) - (block_bytes - left);
        cursor to{out.data() + bits / 8, 0, bits % 8};
        to.top = std::rotr(std::uint64_t{*to.at}, static_cast<int>(bits % 8));
        append(to, {placed_codes[end_symbol], placed_codes[end_symbol]});
        return end_bytes(to, out.data(), ending);
    }
    auto const last = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(w.last)));
    return encode(input, i, out, ending,
                  {out.data() + bits / 8, std::rotr(last, static_cast<int>(bits % 8)), bits % 8});
}

// Apart from where it is called, which has no registers to save then.
[[gnu::noinline]] result<std::size_t> encode_singly(std::span<std::uint8_t const> input,
                                                    std::span<std::uint8_t> out, huffman_end ending) noexcept {
    return encode(input, 0, out, ending, {out.data()});
}

} // namespace

result<std::size_t> huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   huffman_end ending) noexcept {
    constexpr std::size_t too_few_to_pay = 64;
    if (input.size() <= few && out.size() >= few_room) return encode_few(input, out.data(), ending);
    if (input.size() < too_few_to_pay) return encode_singly(input, out, ending);
    return encode_blocks(input, out, ending);
}

} // namespace teewire::kernels::avx2

TEEWIRE_END_LEVEL

#endif
