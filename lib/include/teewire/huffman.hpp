/// @file
/// The protocol's fixed Huffman code: packet payloads and every demo chunk.
///
/// 256 byte values and an end symbol. The first bit of a code goes into the least significant bit of the first byte.
/// Codes have 1 to 15 bits; the code is complete, so that any bit string decodes to something. See doc/format/huffman.md.
#pragma once

#include "teewire/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

/// How an encoder ends when the bits end exactly on a byte boundary.
enum class huffman_end : std::uint8_t {
    padded, ///< one more zero byte: 0.6, 0.7, and DDNet before 2026-05-11
    exact,  ///< nothing more: DDNet since 2026-05-11
};

/// Bytes that the code of `bytes` input bytes can take at most, with either ending.
[[nodiscard]] constexpr std::size_t huffman_bound(std::size_t bytes) noexcept { return (bytes * 15 + 15) / 8 + 1; }

/// Bytes that `input` takes when encoded. Linear.
[[nodiscard]] std::size_t huffman_size(std::span<std::uint8_t const> input, huffman_end ending) noexcept;

/// Encodes `input`. Returns the bytes written. Error: output_full with the number of the first input byte whose code
/// did not fit. Never fails when `out` has huffman_bound(input.size()) bytes. Linear.
result<std::size_t> huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   huffman_end ending = huffman_end::exact) noexcept;

/// Decodes up to the end symbol; what follows it is ignored, with the note data_after_end when it is more than the
/// one zero byte of huffman_end::padded. Returns the bytes written. Errors, with the input byte reached: truncated
/// (no end symbol), output_full, with `out` full of what was decoded. Linear in the input and the output.
result<std::size_t> huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   note_log* notes = nullptr) noexcept;

} // namespace teewire
