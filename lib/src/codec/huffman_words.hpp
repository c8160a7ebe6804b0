// Eight bytes at any address, the first one lowest, whatever the machine's byte order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace teewire::huffman {

inline std::uint64_t in_memory_order(std::uint64_t word) noexcept {
    if constexpr (std::endian::native == std::endian::big) return __builtin_bswap64(word);
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
