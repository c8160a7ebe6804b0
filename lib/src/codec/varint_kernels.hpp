// The plain loops of variable-length ints, for the parts of a run that the functions of a level leave to them.
#pragma once

#include "teewire/varint.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::kernels {

// How far a run has come. Kernels hand the parts that they do not handle themselves to the plain loops: quirks,
// and the ends of the memory given.
struct decode_run {
    std::span<std::uint8_t const> bytes;
    std::span<std::int32_t> out;
    decoding mode;
    note_log* notes;
    std::size_t at = 0;    // bytes read
    std::size_t count = 0; // ints written
};

// Decodes the values that start before byte `until`. On an error, `at` is where the offending value starts.
errc decode_plain(decode_run& run, std::size_t until) noexcept;

// Encodes values[i...] after the `at` bytes that are written already.
result<std::size_t> encode_plain(std::span<std::int32_t const> values, std::span<std::uint8_t> out, std::size_t i,
                                 std::size_t at) noexcept;

} // namespace teewire::kernels
