#include "game/served_map.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>

namespace teewire::replay {

bool is_same_map(served_map const& a, served_map const& b) {
    return a.sha256 && b.sha256 ? *a.sha256 == *b.sha256 : a.crc == b.crc;
}

bool is_map(served_map const& map, std::span<std::uint8_t const> bytes) {
    return map.sha256 ? sha256(bytes) == *map.sha256 : map_crc32(bytes) == map.crc;
}

std::string describe(served_map const& map) {
    return fmt::format("{} with crc {:08x}", printable(map.name), map.crc);
}

std::string map_id(served_map const& map) { return map.sha256 ? hex(*map.sha256) : fmt::format("{:08x}", map.crc); }

} // namespace teewire::replay
