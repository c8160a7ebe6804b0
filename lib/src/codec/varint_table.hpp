// Decoding of variable-length ints by a table, with vectors of sixteen bytes that are found by their places.
#pragma once

#include "varint_kernels.hpp"

#include <array>
#include <cstring>

namespace teewire::kernels {
namespace {

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

constexpr std::uint64_t top_bits = 0x8080808080808080;

using decode_eight_fn = void(std::uint8_t const* bytes, std::int32_t* to) noexcept;
using decode_found_fn = void(std::uint64_t word, std::uint8_t const* order, std::int32_t* to) noexcept;

// The values that lie in eight bytes, of which some are longer than a byte. Writes eight ints. False, with nothing
// taken, if the first one has five bytes, or a zero behind another byte makes one over-long.
template <decode_found_fn& found>
inline bool decode_some(decode_run& run, std::uint64_t word) noexcept {
    std::uint64_t const zeros = ~(((word & ~top_bits) + ~top_bits) | word) & top_bits;
    std::uint64_t const key = (word >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56;
    if ((zeros & (word & top_bits) << 8) != 0 || unpack_by.bytes[key] == 0) return false;
    found(word, unpack_by.order[key].data(), run.out.data() + run.count);
    run.count += unpack_by.values[key];
    run.at += unpack_by.bytes[key];
    return true;
}

/// `eight`: eight values of a byte each. `found`: eight values whose bytes a line of the table finds.
template <decode_eight_fn& eight, decode_found_fn& found>
inline result<std::size_t> decode_by_table(decode_run run) noexcept {
    std::span const bytes = run.bytes;
    std::span const out = run.out;
    while (bytes.size() - run.at >= 8 && out.size() - run.count >= 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + run.at, sizeof word);
        if ((word & top_bits) == 0) {
            eight(bytes.data() + run.at, out.data() + run.count);
            run.at += 8;
            run.count += 8;
            continue;
        }
        // What is written too much is written again, since eight values follow.
        bool const many = bytes.size() - run.at >= 8 + 8 * max_varint_bytes && out.size() - run.count >= 16;
        if (many && decode_some<found>(run, word)) continue;
        if (errc const error = decode_plain(run, run.at + 8); error != errc::ok) return failure{error, run.at};
    }
    if (errc const error = decode_plain(run, bytes.size()); error != errc::ok) return failure{error, run.at};
    return run.count;
}

} // namespace
} // namespace teewire::kernels
