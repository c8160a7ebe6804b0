#include "verbs/play_clock.hpp"

#include <teewire/demo_format.hpp>

#include <cassert>

namespace teewire::replay {

double pace::tick(clock::time_point now) const {
    if (paused_) return tick_;
    return tick_ + std::chrono::duration<double>{now - now_}.count() * ticks_per_second * speed_;
}

pace::clock::time_point pace::due(double tick) const {
    assert(!paused_);
    std::chrono::duration<double> const later{(tick - tick_) / (ticks_per_second * speed_)};
    return now_ + std::chrono::ceil<clock::duration>(later);
}

void pace::seek(clock::time_point now, double tick) {
    now_ = now;
    tick_ = tick;
}

void pace::set_speed(clock::time_point now, double speed) {
    seek(now, tick(now));
    speed_ = speed;
}

void pace::pause(clock::time_point now, bool paused) {
    seek(now, tick(now));
    paused_ = paused;
}

} // namespace teewire::replay
