#include "game/spacing.hpp"

#include <algorithm>

namespace teewire::replay {

spacing measure_spacing(distance_counts const& distances) {
    spacing s;
    auto const usual = std::max_element(distances.begin(), distances.end(),
                                        [](auto const& a, auto const& b) { return a.second < b.second; });
    if (usual == distances.end()) return s;
    s.usual = usual->first;
    for (auto gap = std::next(usual); gap != distances.end(); ++gap) {
        s.gaps += gap->second;
        s.missed += gap->second * static_cast<std::uint64_t>(gap->first / s.usual - 1);
        s.largest_gap = gap->first;
    }
    return s;
}

} // namespace teewire::replay
