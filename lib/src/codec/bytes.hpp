// Big-endian numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::detail {

/// `bytes` has four from `at` on.
[[nodiscard]] constexpr std::uint32_t get_be32(std::span<std::uint8_t const> bytes, std::size_t at) noexcept {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
           bytes[at + 3];
}
constexpr void put_be32(std::span<std::uint8_t> bytes, std::size_t at, std::uint32_t value) noexcept {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}
/// The same with eight.
[[nodiscard]] constexpr std::uint64_t get_be64(std::span<std::uint8_t const> bytes, std::size_t at) noexcept {
    return std::uint64_t{get_be32(bytes, at)} << 32 | get_be32(bytes, at + 4);
}
constexpr void put_be64(std::span<std::uint8_t> bytes, std::size_t at, std::uint64_t value) noexcept {
    put_be32(bytes, at, static_cast<std::uint32_t>(value >> 32));
    put_be32(bytes, at + 4, static_cast<std::uint32_t>(value));
}

} // namespace teewire::detail
