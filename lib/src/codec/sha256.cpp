#include "teewire/sha256.hpp"

#include "cpu.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace teewire {
namespace {

constexpr std::size_t block_bytes = 64;
using hash_state = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractions of the cube roots of the first primes.
alignas(16) constexpr std::uint32_t round_keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void add_block(hash_state& state, std::uint8_t const* bytes) noexcept {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = std::uint32_t{bytes[4 * i]} << 24 | std::uint32_t{bytes[4 * i + 1]} << 16 |
               std::uint32_t{bytes[4 * i + 2]} << 8 | bytes[4 * i + 3];
    for (std::size_t i = 16; i < w.size(); ++i) {
        std::uint32_t const s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        std::uint32_t const s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < w.size(); ++i) {
        std::uint32_t const s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        std::uint32_t const t1 = h + s1 + ((e & f) ^ (~e & g)) + round_keys[i] + w[i];
        std::uint32_t const s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        std::uint32_t const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    std::array const worked = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += worked[i];
}

void add_blocks(hash_state& state, std::uint8_t const* bytes, std::size_t count) noexcept {
    for (; count > 0; --count, bytes += block_bytes) add_block(state, bytes);
}

} // namespace

#if defined(__x86_64__)
// With instructions for it, which are in most processors that have AVX2, and in some that do not.
TEEWIRE_BEGIN_LEVEL("sha,sse4.1")
namespace kernels::sha {
namespace {

// The words of a block: four of them in each, followed by those computed from them.
struct words {
    __m128i a, b, c, d;
};

// Four rounds with the words in `w.a`.
inline void do_rounds(__m128i& abef, __m128i& cdgh, words const& w, std::uint32_t const* keys) noexcept {
    __m128i const keyed = _mm_add_epi32(w.a, _mm_load_si128(reinterpret_cast<__m128i const*>(keys)));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_unpackhi_epi64(keyed, keyed));
}
// Goes on by four words.
inline words following(words const& w) noexcept {
    __m128i const part = _mm_add_epi32(_mm_sha256msg1_epu32(w.a, w.b), _mm_alignr_epi8(w.d, w.c, 4));
    return {w.b, w.c, w.d, _mm_sha256msg2_epu32(part, w.d)};
}
inline __m128i load(void const* from) noexcept { return _mm_loadu_si128(static_cast<__m128i const*>(from)); }

} // namespace

void add_blocks(hash_state& state, std::uint8_t const* bytes, std::size_t count) noexcept {
    auto* const ints = reinterpret_cast<std::uint32_t*>(&state);
    __m128i const big_endian = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    // The instructions take a, b, e, f and c, d, g, h, from the highest lane down.
    __m128i const cdab = _mm_shuffle_epi32(load(ints), 0xb1);
    __m128i const efgh = _mm_shuffle_epi32(load(ints + 4), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; --count, bytes += block_bytes) {
        __m128i const abef_before = abef;
        __m128i const cdgh_before = cdgh;
        words w{_mm_shuffle_epi8(load(bytes), big_endian), _mm_shuffle_epi8(load(bytes + 16), big_endian),
                _mm_shuffle_epi8(load(bytes + 32), big_endian), _mm_shuffle_epi8(load(bytes + 48), big_endian)};
        for (std::size_t round = 0; round < 64; round += 4, w = following(w))
            do_rounds(abef, cdgh, w, round_keys + round);
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i const feba = _mm_shuffle_epi32(abef, 0x1b);
    __m128i const dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ints), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ints + 4), _mm_alignr_epi8(dchg, feba, 8));
}

} // namespace kernels::sha
TEEWIRE_END_LEVEL
#endif

namespace {

#if defined(__x86_64__)
// Compilers before GCC 11 and Clang 16 have no name for it in __builtin_cpu_supports.
bool has_sha() noexcept {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & 1U << 29) != 0 && __builtin_cpu_supports("sse4.1");
}
#endif

constinit auto* use_blocks = &add_blocks;
constinit kernels::follower layer = {[](kernels::instruction_sets allowed) noexcept {
    use_blocks = &add_blocks;
#if defined(__x86_64__)
    if (kernels::includes(allowed, kernels::required_by(cpu_level::avx2)) && has_sha())
        use_blocks = &kernels::sha::add_blocks;
#else
    static_cast<void>(allowed);
#endif
}};
[[maybe_unused]] bool const chosen = kernels::follow(layer);

} // namespace

void sha256_hash::add(std::span<std::uint8_t const> bytes) noexcept {
    std::size_t const kept = size_ % block_bytes;
    size_ += bytes.size();
    if (kept + bytes.size() < block_bytes) {
        std::copy(bytes.begin(), bytes.end(), rest_.begin() + static_cast<std::ptrdiff_t>(kept));
        return;
    }
    if (kept != 0) {
        auto const missing = bytes.first(block_bytes - kept);
        std::copy(missing.begin(), missing.end(), rest_.begin() + static_cast<std::ptrdiff_t>(kept));
        use_blocks(state_, rest_.data(), 1);
        bytes = bytes.subspan(missing.size());
    }
    std::size_t const whole = bytes.size() / block_bytes;
    use_blocks(state_, bytes.data(), whole);
    bytes = bytes.subspan(whole * block_bytes);
    std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

std::array<std::uint8_t, 32> sha256_hash::finish() noexcept {
    // The rest, a one bit, zeros, and the length in the last eight bytes.
    std::array<std::uint8_t, 2 * block_bytes> end{};
    std::size_t const kept = size_ % block_bytes;
    std::copy_n(rest_.begin(), kept, end.begin());
    end[kept] = 0x80;
    std::size_t const end_blocks = kept + 9 <= block_bytes ? 1 : 2;
    for (std::size_t i = 0; i < 8; ++i)
        end[end_blocks * block_bytes - 1 - i] = static_cast<std::uint8_t>(size_ * 8 >> 8 * i);
    use_blocks(state_, end.data(), end_blocks);

    std::array<std::uint8_t, 32> digest;
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

std::array<std::uint8_t, 32> sha256(std::span<std::uint8_t const> bytes) noexcept {
    sha256_hash hash;
    hash.add(bytes);
    return hash.finish();
}

} // namespace teewire
