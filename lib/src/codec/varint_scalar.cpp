// Variable-length ints on any machine, eight at a time in vectors of the compiler's, which takes for them what the machine
// has.
#include "codec_functions.hpp"
#include "varint_kernels.hpp"

#if defined(TEEWIRE_COMPILER_VECTORS)

#include <algorithm>
#include <bit>
#include <cstring>

#pragma GCC diagnostic ignored                                                                                     \
    "-Wpsabi" // of vectors where the machine has none: nothing here is called from elsewhere

namespace teewire::kernels::scalar {
namespace {

using ints4 [[gnu::vector_size(16)]] = std::int32_t;
using words4 [[gnu::vector_size(16)]] = std::uint32_t;
using words2 [[gnu::vector_size(16)]] = std::uint64_t;
using halves8 [[gnu::vector_size(16)]] = std::uint16_t;
using bytes16 [[gnu::vector_size(16)]] = std::uint8_t;
using signed16 [[gnu::vector_size(16)]] = std::int8_t;

// Without vectors compilers take shuffles of bytes apart, which costs ten times as much.
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__VEC__) ||                        \
    defined(__wasm_simd128__)
constexpr bool has_vectors = true;
#else
constexpr bool has_vectors = false;
#endif
constexpr bool little = std::endian::native == std::endian::little;
constexpr std::uint64_t top_bits = 0x8080808080808080;
constexpr std::uint32_t of_one_byte = 0x40; // from here on values have more
constexpr std::uint32_t of_two_bytes = 0x2000;

template <class T>
[[gnu::always_inline]] inline T load(void const* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class T>
[[gnu::always_inline]] inline void store(void* to, T value) noexcept {
    std::memcpy(to, &value, sizeof value);
}

// Those elements of two vectors, one after the other. GCC 11 has only the second form.
template <int... numbers, class V>
[[gnu::always_inline]] inline V elements(V first, V second) noexcept {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(first, second, numbers...);
#else
    return __builtin_shuffle(first, second, decltype(first < second){numbers...});
#endif
}

// Eight values.
struct eight {
    words4 low, high;

    // Whether all are from -limit to limit - 1.
    [[gnu::always_inline]] [[nodiscard]] bool within(std::uint32_t limit) const noexcept {
        auto const moved = reinterpret_cast<words2>((low + limit) | (high + limit));
        return ((moved[0] | moved[1]) & ~(2 * limit - 1) * 0x100000001U) == 0;
    }
};

// Four values as bytes, each in a lane.
[[gnu::always_inline]] inline words4 one_byte_codes(words4 values) noexcept {
    auto const sign = reinterpret_cast<words4>(reinterpret_cast<ints4>(values) >> 31);
    return (values ^ (sign & 0x3f)) & 0x7f;
}

// Eight values of a byte each.
[[gnu::always_inline]] inline void put_bytes(eight const& values, std::uint8_t* to) noexcept {
    if constexpr (!has_vectors) {
        for (unsigned k = 0; k < 8; ++k) {
            auto const value = k < 4 ? values.low[k] : values.high[k - 4];
            to[k] = static_cast<std::uint8_t>((value ^ ((0U - (value >> 31)) & 0x3f)) & 0x7f);
        }
        return;
    }
    constexpr int first = little ? 0 : 8;
    constexpr int lane = little ? 0 : 1;
    words4 const low = one_byte_codes(values.low);
    words4 const high = one_byte_codes(values.high);
    auto fours = reinterpret_cast<words2>(elements<0, 2, 4, 6>(low, high) << first | elements<1, 3, 5, 7>(low, high)
                                                                                         << (8 - first));
    fours |= fours >> 16;
    auto const lanes = reinterpret_cast<words4>(fours);
    store(to, reinterpret_cast<words2>(elements<lane, lane + 2, lane, lane + 2>(lanes, lanes))[0]);
}

// Four values as two bytes, each in a lane, followed by the number of those in use.
[[gnu::always_inline]] inline words4 two_byte_codes(words4 values) noexcept {
    auto const sign = reinterpret_cast<words4>(reinterpret_cast<ints4>(values) >> 31);
    words4 const m = values ^ sign;
    auto const more = reinterpret_cast<words4>(m >= of_one_byte) & 1;
    return (m & 0x3f) | (sign & 0x40) | more << 7 | m >> 6 << 8 | (more + 1) << 16;
}

// Eight values of one or two bytes each, without a branch. Writes a byte too much if the last one has one.
[[gnu::always_inline]] inline std::uint8_t* put_pairs(eight const& values, std::uint8_t* to) noexcept {
    std::uint32_t codes[8];
    store(codes, two_byte_codes(values.low));
    store(codes + 4, two_byte_codes(values.high));
    for (std::uint32_t const code : codes) {
        if constexpr (little) {
            store(to, static_cast<std::uint16_t>(code));
        } else {
            to[0] = static_cast<std::uint8_t>(code);
            to[1] = static_cast<std::uint8_t>(code >> 8);
        }
        to += code >> 16;
    }
    return to;
}

// The values of eight bytes that have no top bits.
[[gnu::always_inline]] inline void take_bytes(std::uint64_t word, std::int32_t* to) noexcept {
    if constexpr (!has_vectors) {
        for (int k = 0; k < 8; ++k) {
            auto const byte = static_cast<std::uint32_t>(word >> (little ? 8 * k : 56 - 8 * k));
            to[k] = static_cast<std::int32_t>((byte & 0x3f) ^ (0U - (byte >> 6 & 1)));
        }
        return;
    }
    auto bytes = reinterpret_cast<bytes16>(words2{word, 0});
    bytes += bytes; // the sign is now the top bit
    bytes ^= reinterpret_cast<bytes16>(reinterpret_cast<signed16>(bytes) < 0) & 0x7e;
    auto const twice =
        reinterpret_cast<halves8>(elements<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(bytes, bytes));
    store(to, reinterpret_cast<ints4>(elements<0, 8, 1, 9, 2, 10, 3, 11>(twice, twice)) >> 25);
    store(to + 4, reinterpret_cast<ints4>(elements<4, 12, 5, 13, 6, 14, 7, 15>(twice, twice)) >> 25);
}

// The number of the first byte with its top bit set, of which there is one.
inline std::size_t first_longer(std::uint64_t word) noexcept {
    std::uint64_t const set = word & top_bits;
    return static_cast<unsigned>(little ? std::countr_zero(set) : std::countl_zero(set)) / 8;
}

inline std::size_t count_longer(std::uint64_t word) noexcept {
    return static_cast<std::size_t>((word >> 7 & 0x0101010101010101U) * 0x0101010101010101U >> 56);
}

} // namespace

result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept {
    std::uint8_t* to = out.data();
    std::size_t i = 0;
    for (;;) {
        // Surplus bytes are overwritten: another value follows.
        std::size_t const room = out.size() - static_cast<std::size_t>(to - out.data());
        std::size_t const left = values.size() - i;
        std::size_t const sure =
            std::min(left == 0 ? 0 : (left - 1) / 8, room / (9 * max_varint_bytes)); // whatever they are
        if (sure == 0) break;
        for (std::size_t const until = i + 8 * sure; i < until; i += 8) {
            std::int32_t const* const from = values.data() + i;
            eight const next{load<words4>(from), load<words4>(from + 4)};
            if (next.within(of_one_byte)) {
                put_bytes(next, to);
                to += 8;
            } else if (next.within(of_two_bytes)) {
                to = put_pairs(next, to);
            } else {
                for (int k = 0; k < 8; ++k) to = put_varint(to, from[k]);
            }
        }
    }
    return encode_plain(values, out, i, static_cast<std::size_t>(to - out.data()));
}

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    decode_run run{bytes, out, mode, notes};
    // Surplus values are overwritten: eight values follow.
    while (bytes.size() - run.at >= 8 + 8 * max_varint_bytes && out.size() - run.count >= 8) {
        auto const word = load<std::uint64_t>(bytes.data() + run.at);
        take_bytes(word, out.data() + run.count);
        if ((word & top_bits) == 0) {
            run.at += 8;
            run.count += 8;
            continue;
        }
        std::size_t const skipped = first_longer(word);
        run.at += skipped;
        run.count += skipped;
        std::size_t until = run.at + 1;
        if (skipped == 0 && count_longer(word) >= 4) {
            until = run.at + 48; // where most are longer, more will be
        } else if (std::uint32_t const second = bytes[run.at + 1]; second - 1 < 0x7f) [[likely]] {
            // Two bytes, and no zero that makes it over-long.
            std::uint32_t const first = bytes[run.at];
            out[run.count++] = static_cast<std::int32_t>(((first & 0x3f) | second << 6) ^ (0U - (first >> 6 & 1)));
            run.at += 2;
            continue;
        }
        if (errc const error = decode_plain(run, until); error != errc::ok) return failure{error, run.at};
    }
    while (bytes.size() - run.at >= 8 && out.size() - run.count >= 8) {
        auto const word = load<std::uint64_t>(bytes.data() + run.at);
        if ((word & top_bits) == 0) {
            take_bytes(word, out.data() + run.count);
            run.at += 8;
            run.count += 8;
        } else if (errc const error = decode_plain(run, run.at + 8); error != errc::ok) {
            return failure{error, run.at};
        }
    }
    if (errc const error = decode_plain(run, bytes.size()); error != errc::ok) return failure{error, run.at};
    return run.count;
}

} // namespace teewire::kernels::scalar

#else

namespace teewire::kernels {

result<std::size_t> scalar::encode_varints(std::span<std::int32_t const> values,
                                           std::span<std::uint8_t> out) noexcept {
    return plain::encode_varints(values, out);
}
result<std::size_t> scalar::decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out,
                                           decoding mode, note_log* notes) noexcept {
    return plain::decode_varints(bytes, out, mode, notes);
}

} // namespace teewire::kernels

#endif
