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

struct codec_functions {
    encode_varints_fn* encode_varints;
    decode_varints_fn* decode_varints;
    huffman_encode_fn* huffman_encode;
    huffman_decode_fn* huffman_decode;
};

/// Those in use. Other initialisers may call them before they are chosen; until then they are the scalar ones.
[[gnu::visibility("hidden")]] extern constinit codec_functions codec;
[[nodiscard]] std::span<variant<codec_functions> const> codec_variants() noexcept;

namespace scalar {
encode_varints_fn encode_varints;
decode_varints_fn decode_varints;
huffman_encode_fn huffman_encode;
huffman_decode_fn huffman_decode;
} // namespace scalar

namespace avx2 {
encode_varints_fn encode_varints;
decode_varints_fn decode_varints;
huffman_encode_fn huffman_encode;
huffman_decode_fn huffman_decode;
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
} // namespace teewire::plain
