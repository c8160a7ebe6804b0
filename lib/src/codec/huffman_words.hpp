// Eight bytes at any address, the first one lowest, whatever the machine's byte order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace teewire::huffman {

inline std::uint64_t in_memory_order(std::uint64_t word) noexcept {
    if constexpr (std::endian::native == std::endian::big) {
        // One instruction to compilers.
        word = (word & 0x00ff00ff00ff00ffU) << 8 | (word >> 8 & 0x00ff00ff00ff00ffU);
        word = (word & 0x0000ffff0000ffffU) << 16 | (word >> 16 & 0x0000ffff0000ffffU);
        return word << 32 | word >> 32;
    }
    return word;
}
inline std::uint64_t load64(std::uint8_t const* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return in_memory_order(word);
}
inline void store64(std::uint8_t* at, std::uint64_t word) noexcept {
    word = in_memory_order(word);
    std::memcpy(at, &word, sizeof word);
}

} // namespace teewire::huffman
