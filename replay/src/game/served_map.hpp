// The map of a recording, or of a server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace teewire::replay {

/// The map that a server or a recording names. It is known by its SHA-256, or by its CRC if there is no SHA-256.
struct served_map {
    std::string name;
    std::uint32_t crc = 0;
    std::size_t size = 0; ///< bytes
    std::optional<std::array<std::uint8_t, 32>> sha256;
};

[[nodiscard]] bool is_same_map(served_map const& a, served_map const& b);
/// Whether these are the bytes of that map. O(bytes).
[[nodiscard]] bool is_map(served_map const& map, std::span<std::uint8_t const> bytes);
/// "dm1 with crc f2159e6e"
[[nodiscard]] std::string describe(served_map const& map);
/// The SHA-256 in hexadecimal, or the CRC if there is no SHA-256.
[[nodiscard]] std::string map_id(served_map const& map);

} // namespace teewire::replay
