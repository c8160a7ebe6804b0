// Whether two contents of items are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace teewire {

/// Most contents are too short for a call to pay. Some ints are compared twice.
[[nodiscard]] inline bool same_content(std::span<std::int32_t const> a, std::span<std::int32_t const> b) noexcept {
    std::size_t const n = a.size();
    if (n != b.size()) return false;
    std::uint64_t different = 0;
    if (n < 4) {
        for (std::size_t i = 0; i < n; ++i) different |= static_cast<std::uint32_t>(a[i] ^ b[i]);
        return different == 0;
    }
    auto const four = [&](std::size_t at) {
        std::uint64_t x[2];
        std::uint64_t y[2];
        std::memcpy(x, a.data() + at, 16);
        std::memcpy(y, b.data() + at, 16);
        different |= (x[0] ^ y[0]) | (x[1] ^ y[1]);
    };
    for (std::size_t at = 0; at + 4 < n; at += 4) four(at);
    four(n - 4);
    return different == 0;
}

} // namespace teewire
