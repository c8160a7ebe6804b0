// The clock of `play`.
#pragma once

#include <chrono>

namespace teewire::replay {

/// Which tick is due when. Everything is reckoned from one origin, so that errors do not add up.
class play_clock {
public:
    using clock = std::chrono::steady_clock;

    play_clock(clock::time_point now, double tick, double speed) : now_{now}, tick_{tick}, speed_{speed} {}

    [[nodiscard]] double tick(clock::time_point now) const;
    /// Asserts that it is not paused.
    [[nodiscard]] clock::time_point due(double tick) const;
    [[nodiscard]] double speed() const noexcept { return speed_; }
    [[nodiscard]] bool paused() const noexcept { return paused_; }

    void seek(clock::time_point now, double tick);
    void set_speed(clock::time_point now, double speed);
    void pause(clock::time_point now, bool paused);

private:
    clock::time_point now_; // when tick_ was or will be due
    double tick_;
    double speed_;
    bool paused_ = false;
};

} // namespace teewire::replay
