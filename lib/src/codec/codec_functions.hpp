// The hot functions of this layer by level.
#pragma once

#include "teewire/huffman.hpp"
#include "teewire/varint.hpp"

#include "cpu.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::kernels {

using encode_varints_fn = result<std::size_t>(std::span<std::int32_t const>, std::span<std::uint8_t>) noexcept;
using decode_varints_fn = result<std::size_t>(std::span<std::uint8_t const>, std::span<std::int32_t>, decoding,
                                              note_log*) noexcept;
using huffman_encode_fn = result<std::size_t>(std::span<std::uint8_t const>, std::span<std::uint8_t>,
                                              huffman_end) noexcept;
using huffman_decode_fn = result<std::size_t>(std::span<std::uint8_t const>, std::span<std::uint8_t>,
                                              note_log*) noexcept;

/// One of several short inputs that are decoded at once.
struct huffman_piece {
    static constexpr std::size_t max_bytes = 256;                 ///< of `input`
    static constexpr std::size_t out_bytes = max_bytes * 8 + 128; ///< of `out`, of which any may be written

    std::span<std::uint8_t const> input;
    std::size_t behind = 0; ///< bytes after it that may be read
    std::uint8_t* out = nullptr;
    std::size_t size = 0; ///< bytes decoded
    std::size_t used = 0; ///< bytes of the input up to the end symbol; 0 if there is none
};
using huffman_decode_short_fn = void(std::span<huffman_piece>) noexcept;

struct codec_functions {
    encode_varints_fn* encode_varints;
    decode_varints_fn* decode_varints;
    huffman_encode_fn* huffman_encode;
    huffman_decode_fn* huffman_decode;
    huffman_decode_short_fn* huffman_decode_short;
};

/// Those in use. Other initialisers may call them before they are chosen; until then they are the scalar ones.
TEEWIRE_HIDDEN extern constinit codec_functions codec;
[[nodiscard]] std::span<variant<codec_functions> const> codec_variants() noexcept;

namespace scalar {
encode_varints_fn encode_varints;
decode_varints_fn decode_varints;
huffman_encode_fn huffman_encode;
huffman_decode_fn huffman_decode;
huffman_decode_short_fn huffman_decode_short;
} // namespace scalar

namespace avx2 {
encode_varints_fn encode_varints;
decode_varints_fn decode_varints;
huffman_encode_fn huffman_encode;
huffman_decode_fn huffman_decode;
huffman_decode_short_fn huffman_decode_short;
} // namespace avx2

namespace avx512 {
encode_varints_fn encode_varints;
decode_varints_fn decode_varints;
huffman_encode_fn huffman_encode;
} // namespace avx512

namespace neon {
encode_varints_fn encode_varints;
decode_varints_fn decode_varints;
} // namespace neon

} // namespace teewire::kernels

namespace teewire::plain {
kernels::encode_varints_fn encode_varints;
kernels::decode_varints_fn decode_varints;
kernels::huffman_encode_fn huffman_encode;
kernels::huffman_decode_fn huffman_decode;
kernels::huffman_decode_short_fn huffman_decode_short;
} // namespace teewire::plain
