// Limits of the demos that a server can cause by changing its map.
#pragma once

#include <cstdint>
#include <deque>

namespace teewire::replay {

/// The defaults of --max-demos and --max-bytes.
struct demo_limits {
    unsigned demos = 1000;
    std::uint64_t bytes = std::uint64_t{16} << 30; ///< of all demos together
};

/// How often demos may begin.
class demo_frequency {
public:
    static constexpr std::size_t max_per_minute = 10; // votes for maps come at a few a minute

    /// Counts another demo, if there may be one now. `now`: milliseconds, of a clock that never goes back.
    [[nodiscard]] bool try_begin(std::int64_t now) {
        while (!begun_.empty() && begun_.front() < now - 60'000) begun_.pop_front();
        if (begun_.size() >= max_per_minute) return false;
        begun_.push_back(now);
        return true;
    }

private:
    std::deque<std::int64_t> begun_; // in the last minute
};

} // namespace teewire::replay
