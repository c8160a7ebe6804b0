// Decoding of variable-length ints with the vectors of WebAssembly: eight at a time where each has a byte, and by a table
// where one has more.
#include "codec_functions.hpp"

#if defined(__wasm_simd128__)

#include "varint_table.hpp"

#include <wasm_simd128.h>

namespace teewire::kernels::simd128 {
namespace {

// Values from their bytes.
inline v128_t join_bytes(v128_t four) noexcept {
    auto const all = [](std::uint32_t value) { return wasm_u32x4_splat(value); };
    v128_t m = wasm_v128_and(four, all(0x3f));
    m = wasm_v128_or(m, wasm_v128_and(wasm_u32x4_shr(four, 2), all(0x1fc0)));
    m = wasm_v128_or(m, wasm_v128_and(wasm_u32x4_shr(four, 3), all(0xfe000)));
    m = wasm_v128_or(m, wasm_v128_and(wasm_u32x4_shr(four, 4), all(0x7f00000)));
    return wasm_v128_xor(m, wasm_i32x4_shr(wasm_i32x4_shl(four, 25), 31));
}

inline void decode_eight(std::uint8_t const* bytes, std::int32_t* to) noexcept {
    v128_t const eight = wasm_v128_load64_zero(bytes);
    v128_t const sign = wasm_i8x16_shr(wasm_i8x16_shl(eight, 1), 7);
    v128_t const values =
        wasm_i16x8_extend_low_i8x16(wasm_v128_xor(wasm_v128_and(eight, wasm_i8x16_splat(0x3f)), sign));
    wasm_v128_store(to, wasm_i32x4_extend_low_i16x8(values));
    wasm_v128_store(to + 4, wasm_i32x4_extend_high_i16x8(values));
}

inline void decode_found(std::uint64_t word, std::uint8_t const* order, std::int32_t* to) noexcept {
    v128_t const bytes = wasm_u64x2_make(word, 0);
    wasm_v128_store(to, join_bytes(wasm_i8x16_swizzle(bytes, wasm_v128_load(order))));
    wasm_v128_store(to + 4, join_bytes(wasm_i8x16_swizzle(bytes, wasm_v128_load(order + 16))));
}

} // namespace

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    return decode_by_table<decode_eight, decode_found>({bytes, out, mode, notes});
}

} // namespace teewire::kernels::simd128

#endif
