#include "base/keyed_hash.hpp"

#include <random>

namespace teewire::replay {

std::array<std::uint8_t, 16> random_bytes() {
    std::random_device source;
    std::array<std::uint8_t, 16> bytes;
    for (auto& b : bytes) b = static_cast<std::uint8_t>(source());
    return bytes;
}

} // namespace teewire::replay
