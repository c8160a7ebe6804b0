// Arithmetic on ticks of others, which may be anything from 0 to INT32_MAX.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace teewire::replay {

/// Milliseconds from one tick to the next, in every game.
inline constexpr std::int64_t tick_time = 20;
inline constexpr std::int64_t nanoseconds_per_tick = tick_time * 1'000'000;

/// `ticks` after `tick`, or the last tick there is.
[[nodiscard]] constexpr std::int32_t later(std::int32_t tick, std::int32_t ticks) noexcept {
    return static_cast<std::int32_t>(std::min<std::int64_t>(std::int64_t{tick} + ticks, INT32_MAX));
}

/// Both included.
struct tick_range {
    std::int32_t first = 0;
    std::int32_t last = INT32_MAX;

    [[nodiscard]] constexpr bool contains(std::int32_t tick) const noexcept {
        return tick >= first && tick <= last;
    }
    friend bool operator==(tick_range const&, tick_range const&) = default;
};

/// For work that is done once in so many ticks, and when ticks restart.
class tick_interval {
public:
    explicit constexpr tick_interval(std::int32_t ticks) noexcept : ticks_{ticks} {}
    /// Whether it is time; it is then taken for done.
    constexpr bool due(std::int32_t tick) noexcept {
        if (last_ && tick >= *last_ && std::int64_t{tick} - *last_ < ticks_) return false;
        last_ = tick;
        return true;
    }

private:
    std::int32_t ticks_;
    std::optional<std::int32_t> last_;
};

} // namespace teewire::replay
