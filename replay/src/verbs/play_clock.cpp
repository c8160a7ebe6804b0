#include "verbs/play_clock.hpp"

#include <teewire/demo_format.hpp>

#include <cassert>

namespace teewire::replay {

double play_clock::tick(clock::time_point now) const {
    if (paused_) return tick_;
    return tick_ + std::chrono::duration<double>{now - now_}.count() * ticks_per_second * speed_;
}

play_clock::clock::time_point play_clock::due(double tick) const {
    assert(!paused_);
    std::chrono::duration<double> const later{(tick - tick_) / (ticks_per_second * speed_)};
    return now_ + std::chrono::ceil<clock::duration>(later);
}

void play_clock::seek(clock::time_point now, double tick) {
    now_ = now;
    tick_ = tick;
}

void play_clock::set_speed(clock::time_point now, double speed) {
    seek(now, tick(now));
    speed_ = speed;
}

void play_clock::pause(clock::time_point now, bool paused) {
    seek(now, tick(now));
    paused_ = paused;
}

} // namespace teewire::replay
