// Distances between snapshots, and the number of missed ones.
#pragma once

#include <cstdint>
#include <map>

namespace teewire::replay {

/// The number of times each distance between two snapshots occurred, in ticks. All are positive.
using distance_counts = std::map<std::int32_t, std::uint64_t>;

struct spacing {
    std::int32_t usual = 0;       ///< the most frequent distance; 0 if there are fewer than two snapshots
    std::uint64_t gaps = 0;       ///< distances that are larger
    std::uint64_t missed = 0;     ///< snapshots that would have fitted into the gaps at the usual distance
    std::int32_t largest_gap = 0; ///< ticks
};

/// A snapshot that is late by less than the usual distance is not missed. Gaps may be the server's own.
[[nodiscard]] spacing measure_spacing(distance_counts const& distances);

} // namespace teewire::replay
