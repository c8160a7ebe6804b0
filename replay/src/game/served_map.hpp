// The map that a server names to its clients.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace teewire::replay {

/// The map that the server plays.
struct served_map {
    std::string name;
    std::uint32_t crc = 0;
    std::size_t size = 0; ///< bytes
    std::optional<std::array<std::uint8_t, 32>> sha256;
};

} // namespace teewire::replay
