/// @file
/// SHA-256 (FIPS 180-4), by which demos and 0.7 servers name a map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

/// The digest of `bytes`. O(size): about 5 ns a byte, and 0.7 ns where the processor has instructions for it.
[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::span<std::uint8_t const> bytes) noexcept;

/// The digest of bytes that come in pieces. Costs as much as sha256().
class sha256_hash {
public:
    /// At the end.
    void add(std::span<std::uint8_t const> bytes) noexcept;
    /// The digest of all that was added. Nothing can be added later.
    [[nodiscard]] std::array<std::uint8_t, 32> finish() noexcept;

private:
    // The first 32 bits of the fractions of the square roots of the first primes.
    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> rest_{}; // bytes after the last whole block
    std::uint64_t size_ = 0;              // of all that was added
};

} // namespace teewire
