// Variable-length ints with NEON: eight at a time where each has a byte, and by tables where one has more.
#include "codec_functions.hpp"
#include "varint_kernels.hpp"

#if defined(TEEWIRE_NEON)

#include <arm_neon.h>
#include <array>
#include <cstring>

namespace teewire::kernels::neon {
namespace {

// By the sizes less one of four values, two bits each: where to find the bytes in use among sixteen, and how many they
// are.
struct packing {
    std::array<std::array<std::uint8_t, 16>, 256> order{};
    std::array<std::uint8_t, 256> size{};
};
constexpr packing pack_by = [] {
    packing p;
    for (unsigned key = 0; key < 256; ++key)
        for (unsigned value = 0; value < 4; ++value)
            for (unsigned byte = 0; byte <= (key >> 2 * value & 3); ++byte)
                p.order[key][p.size[key]++] = static_cast<std::uint8_t>(4 * value + byte);
    return p;
}();

constexpr std::uint32_t of_one_byte = 0x40; // from here on values have more
constexpr std::uint32_t of_two_bytes = 0x2000;
constexpr std::uint32_t of_three_bytes = 0x100000;
constexpr std::uint32_t of_four_bytes = 0x8000000;

// Four values and what their bits are inverted by. None has five bytes. Writes sixteen bytes.
inline std::uint8_t* put_four(uint32x4_t m, uint32x4_t sign, std::uint8_t* to) noexcept {
    static constexpr std::int32_t places[] = {0, 2, 4, 6};
    auto const all = [](std::uint32_t value) { return vdupq_n_u32(value); };
    uint32x4_t code = vandq_u32(vbslq_u32(all(0x40), sign, m), all(0x7f));
    code = vbslq_u32(all(0x7f00), vshlq_n_u32(m, 2), code);
    code = vbslq_u32(all(0x7f0000), vshlq_n_u32(m, 3), code);
    code = vbslq_u32(all(0xff000000), vshlq_n_u32(m, 4), code);
    // One less than the size, negative.
    uint32x4_t const longer = vaddq_u32(vaddq_u32(vcgeq_u32(m, all(of_one_byte)), vcgeq_u32(m, all(of_two_bytes))),
                                        vcgeq_u32(m, all(of_three_bytes)));
    int32x4_t const sizes = vnegq_s32(vreinterpretq_s32_u32(longer));
    // The top bits of all bytes but the last.
    code = vorrq_u32(code, vshlq_u32(all(0x808080), vmlaq_n_s32(vdupq_n_s32(-24), sizes, 8)));
    std::uint32_t const key = vaddvq_u32(vreinterpretq_u32_s32(vshlq_s32(sizes, vld1q_s32(places))));
    vst1q_u8(to, vqtbl1q_u8(vreinterpretq_u8_u32(code), vld1q_u8(pack_by.order[key].data())));
    return to + pack_by.size[key];
}

// Eight values. Needs room for 48 bytes, of which it may write fourteen too many.
inline std::uint8_t* encode_eight(std::int32_t const* values, std::uint8_t* to) noexcept {
    int32x4_t const low = vld1q_s32(values);
    int32x4_t const high = vld1q_s32(values + 4);
    uint32x4_t const low_sign = vreinterpretq_u32_s32(vshrq_n_s32(low, 31));
    uint32x4_t const high_sign = vreinterpretq_u32_s32(vshrq_n_s32(high, 31));
    uint32x4_t const low_m = veorq_u32(vreinterpretq_u32_s32(low), low_sign);
    uint32x4_t const high_m = veorq_u32(vreinterpretq_u32_s32(high), high_sign);
    std::uint32_t const most = vmaxvq_u32(vorrq_u32(low_m, high_m));
    if (most < of_one_byte) {
        uint32x4_t const bit = vdupq_n_u32(0x40);
        uint16x8_t const codes = vuzp1q_u16(vreinterpretq_u16_u32(vbslq_u32(bit, low_sign, low_m)),
                                            vreinterpretq_u16_u32(vbslq_u32(bit, high_sign, high_m)));
        vst1_u8(to, vmovn_u16(codes));
        return to + 8;
    }
    if (most < of_four_bytes) return put_four(high_m, high_sign, put_four(low_m, low_sign, to));
    for (int k = 0; k < 8; ++k) to = put_varint(to, values[k]);
    return to;
}

// By the top bits of eight bytes: the values of up to four bytes that lie in them, from the first byte on.
struct unpacking {
    std::array<std::array<std::uint8_t, 32>, 256> order{}; // for each value the places of four bytes
    std::array<std::uint8_t, 256> values{}, bytes{};
};
constexpr unpacking unpack_by = [] {
    constexpr std::uint8_t none = 0xff;
    unpacking u;
    for (unsigned key = 0; key < 256; ++key) {
        u.order[key].fill(none);
        unsigned at = 0;
        for (unsigned size = 1; size <= 4 && at + size <= 8; ++size) {
            if ((key >> (at + size - 1) & 1) != 0) continue;
            for (unsigned byte = 0; byte < size; ++byte)
                u.order[key][4 * u.values[key] + byte] = static_cast<std::uint8_t>(at + byte);
            ++u.values[key];
            at += size;
            size = 0;
        }
        u.bytes[key] = static_cast<std::uint8_t>(at);
    }
    return u;
}();

// Values from their bytes.
inline int32x4_t join_bytes(uint8x16_t bytes) noexcept {
    auto const all = [](std::uint32_t value) { return vdupq_n_u32(value); };
    uint32x4_t const four = vreinterpretq_u32_u8(bytes);
    uint32x4_t m = vandq_u32(four, all(0x3f));
    m = vbslq_u32(all(0x1fc0), vshrq_n_u32(four, 2), m);
    m = vbslq_u32(all(0xfe000), vshrq_n_u32(four, 3), m);
    m = vbslq_u32(all(0x7f00000), vshrq_n_u32(four, 4), m);
    int32x4_t const sign = vshrq_n_s32(vreinterpretq_s32_u32(vshlq_n_u32(four, 25)), 31);
    return veorq_s32(vreinterpretq_s32_u32(m), sign);
}

constexpr std::uint64_t top_bits = 0x8080808080808080;

// Eight values of a byte each.
inline void decode_eight(std::uint8_t const* bytes, std::int32_t* to) noexcept {
    int8x8_t const eight = vreinterpret_s8_u8(vld1_u8(bytes));
    int8x8_t const sign = vshr_n_s8(vshl_n_s8(eight, 1), 7);
    int16x8_t const values = vmovl_s8(veor_s8(vand_s8(eight, vdup_n_s8(0x3f)), sign));
    vst1q_s32(to, vmovl_s16(vget_low_s16(values)));
    vst1q_s32(to + 4, vmovl_s16(vget_high_s16(values)));
}

// The values in eight bytes, of which some are longer than a byte. Writes eight ints. False, with nothing taken, if the
// first one has five bytes, or a zero after another byte makes one over-long.
inline bool decode_some(decode_run& run, std::uint64_t word) noexcept {
    std::uint64_t const zeros = ~(((word & ~top_bits) + ~top_bits) | word) & top_bits;
    std::uint64_t const key = (word >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56;
    if ((zeros & (word & top_bits) << 8) != 0 || unpack_by.bytes[key] == 0) return false;
    uint8x16_t const bytes = vcombine_u8(vcreate_u8(word), vdup_n_u8(0));
    std::uint8_t const* const order = unpack_by.order[key].data();
    std::int32_t* const to = run.out.data() + run.count;
    vst1q_s32(to, join_bytes(vqtbl1q_u8(bytes, vld1q_u8(order))));
    vst1q_s32(to + 4, join_bytes(vqtbl1q_u8(bytes, vld1q_u8(order + 16))));
    run.count += unpack_by.values[key];
    run.at += unpack_by.bytes[key];
    return true;
}

} // namespace

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    decode_run run{bytes, out, mode, notes};
    while (bytes.size() - run.at >= 8 && out.size() - run.count >= 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + run.at, sizeof word);
        if ((word & top_bits) == 0) {
            decode_eight(bytes.data() + run.at, out.data() + run.count);
            run.at += 8;
            run.count += 8;
            continue;
        }
        // Surplus values are overwritten: eight values follow.
        bool const many = bytes.size() - run.at >= 8 + 8 * max_varint_bytes && out.size() - run.count >= 16;
        if (many && decode_some(run, word)) continue;
        if (errc const error = decode_plain(run, run.at + 8); error != errc::ok) return failure{error, run.at};
    }
    if (errc const error = decode_plain(run, bytes.size()); error != errc::ok) return failure{error, run.at};
    return run.count;
}

result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept {
    std::uint8_t* to = out.data();
    std::uint8_t* const end = to + out.size();
    std::size_t i = 0;
    // Surplus bytes are overwritten: fourteen values follow.
    for (; values.size() - i >= 22 && end - to >= 48; i += 8) to = encode_eight(values.data() + i, to);
    return encode_plain(values, out, i, static_cast<std::size_t>(to - out.data()));
}

} // namespace teewire::kernels::neon

#endif
