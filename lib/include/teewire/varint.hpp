/// @file
/// Variable-length ints: one signed 32-bit value in 1 to 5 bytes.
///
/// Byte 0 is E S d5..d0 (E: another byte follows, S: sign), bytes 1..4 are E d6..d0, least significant group first;
/// of the fifth byte only four bits are data. Negative values are stored as their one's complement. See
/// doc/format/varint.md.
#pragma once

#include "teewire/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

inline constexpr std::size_t max_varint_bytes = 5; ///< of a value

/// Bytes that `ints` values need at most.
[[nodiscard]] constexpr std::size_t varint_bound(std::size_t ints) noexcept { return ints * max_varint_bytes; }

/// Bytes that `value` takes when encoded, 1..5.
[[nodiscard]] constexpr std::size_t varint_size(std::int32_t value) noexcept {
    std::uint32_t const m = static_cast<std::uint32_t>(value) ^ static_cast<std::uint32_t>(value >> 31);
    return 1U + (m >> 6 != 0) + (m >> 13 != 0) + (m >> 20 != 0) + (m >> 27 != 0);
}

/// Bytes that a run of ints takes when encoded. Linear.
[[nodiscard]] std::size_t varint_size(std::span<std::int32_t const> values) noexcept;

/// Writes `value` in its shortest form to `out`, which must have room for max_varint_bytes. Returns the byte after it.
constexpr std::uint8_t* put_varint(std::uint8_t* out, std::int32_t value) noexcept {
    std::uint32_t const sign = static_cast<std::uint32_t>(value >> 31);
    std::uint32_t m = static_cast<std::uint32_t>(value) ^ sign;
    std::uint32_t byte = (sign & 0x40) | (m & 0x3f);
    m >>= 6;
    while (m != 0) {
        *out++ = static_cast<std::uint8_t>(byte | 0x80);
        byte = m & 0x7f;
        m >>= 7;
    }
    *out++ = static_cast<std::uint8_t>(byte);
    return out;
}

/// A value and its size.
struct decoded_varint {
    std::int32_t value = 0; ///< the value
    std::size_t size = 0;   ///< bytes read, 1..5
};

/// Reads one value from the start of `bytes`. Like DDNet, a fifth byte ends the value whatever its top bits say.
/// Errors: truncated; with strict decoding bad_varint. Lenient decoding adds overlong_varint and dirty_varint notes.
result<decoded_varint> decode_varint(std::span<std::uint8_t const> bytes, decoding mode = decoding::lenient,
                                     note_log* notes = nullptr) noexcept;

/// Encodes a run. Returns the bytes written. Errors: output_full, with the number of the int that did not fit; then
/// the output holds the ints before it. Never fails when `out` has varint_bound(values.size()) bytes. Linear.
result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept;

/// Decodes a run up to the end of `bytes`. Returns the ints written. Errors, with the byte where the offending value
/// starts: truncated, output_full, with strict decoding bad_varint. Linear.
result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out,
                                   decoding mode = decoding::lenient, note_log* notes = nullptr) noexcept;

} // namespace teewire
