// Big-endian numbers in archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::archive {

// `bytes` has so many from `at` on.
[[nodiscard]] constexpr std::uint64_t get_number(std::span<std::uint8_t const> bytes, std::size_t at,
                                                 std::size_t size) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) number = number << 8 | bytes[at + i];
    return number;
}
constexpr void put_number(std::span<std::uint8_t> bytes, std::size_t at, std::size_t size,
                          std::uint64_t number) noexcept {
    for (std::size_t i = size; i > 0; --i, number >>= 8) bytes[at + i - 1] = static_cast<std::uint8_t>(number);
}

} // namespace teewire::archive
