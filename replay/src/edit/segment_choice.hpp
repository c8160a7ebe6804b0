// Which segments of a damaged demo belong together.
#pragma once

#include "edit/segment_player.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace teewire::replay {

/// The distances between the ticks of neighbours in the file. Borrowed arguments must outlive it.
class segment_gaps {
public:
    /// O(n log n).
    explicit segment_gaps(std::span<segment const> found);

    /// Whether nothing is damaged between that segment and the next one, and the next one begins soon after it.
    [[nodiscard]] bool fits_next(std::size_t number) const {
        return number + 1 < found_.size() && found_[number + 1].follows && gap(number) > 0 && gap(number) <= most_;
    }
    [[nodiscard]] bool fits_previous(std::size_t number) const { return number > 0 && fits_next(number - 1); }

private:
    // Ticks to the next one.
    [[nodiscard]] std::int64_t gap(std::size_t number) const {
        return std::int64_t{found_[number + 1].first_tick} - found_[number].last_tick;
    }

    std::span<segment const> found_;
    std::int64_t most_ = 0; // four times the median
};

/// The numbers of the segments that have the most snapshots together and whose ticks increase, in the order of the file.
/// A segment that fits one of its neighbours counts four times, because one that fits neither is more likely to be the
/// wrong one. Empty if no segment has a snapshot. O(n log n).
[[nodiscard]] std::vector<std::size_t> heaviest_chain(std::span<segment const> found, segment_gaps const& gaps);

/// The same keyframe may be in the file twice, and the second copy may go further. Adds such copies to `kept`, and sets
/// their `after` to the last tick of the first copy.
void keep_longer_copies(std::span<segment> found, std::vector<bool>& kept);

} // namespace teewire::replay
