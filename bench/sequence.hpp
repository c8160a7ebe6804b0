#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teewire::bench {

inline constexpr std::size_t sequence_snapshots = 120;
inline constexpr std::int32_t sequence_ticks_apart = 2;

// The first 120 snapshots of the sequence seq64, in the engines' layout: 64 players on a DDNet server, about 640
// items, the same ints on every machine. Ends the program if they are not.
std::vector<std::vector<std::int32_t>> sequence64();

} // namespace teewire::bench
