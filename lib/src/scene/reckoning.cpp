#include "teewire/scene/reckoning.hpp"

#include <algorithm>
#include <cmath>

namespace teewire::scene {
namespace {

constexpr float gravity = 0.5F;
struct control {
    float speed, acceleration, friction;
};
constexpr control on_ground = {10, 2, 0.5F}, in_air = {5, 1.5F, 0.95F};
constexpr float hook_length = 380, hook_speed = 80, hook_drag = 3, most_hook_speed = 15;
constexpr float ramp_start = 550, ramp_range = 2000, ramp_curvature = 1.4F;
constexpr float half = 14; // of a tee's box
constexpr std::int32_t hook_idle = 0, hook_retracting = 1, hook_retracted = -1, hook_flying = 4, hook_grabbed = 5;
constexpr float fastest = 6000; // units a tick
constexpr int most_steps = 512; // of a move: more than a tee of the game ever needs

// A tee on its way; speeds in units a tick.
struct core {
    float x, y, vx, vy;
    float hook_x, hook_y, hook_dx, hook_dy;
    std::int32_t direction, jumped, hook_state, hooked_player;
};

bool box_hits(ground const& on, float x, float y) noexcept {
    return on.solid(x - half, y - half) || on.solid(x + half, y - half) || on.solid(x - half, y + half) ||
           on.solid(x + half, y + half);
}

// Adds, but for what goes beyond the limits by it.
float added(float value, float by, float limit) noexcept {
    if (by < 0) return value < -limit ? value : std::max(-limit, value + by);
    return value > limit ? value : std::min(limit, value + by);
}

int steps_of(float way) noexcept { return static_cast<int>(std::min(way, static_cast<float>(most_steps))); }

void move(core& c, ground const& on) noexcept {
    float const speed = std::hypot(c.vx, c.vy) * 50;
    float const ramp = speed < ramp_start ? 1.0F : 1 / std::pow(ramp_curvature, (speed - ramp_start) / ramp_range);
    float vx = c.vx * ramp, vy = c.vy;
    int const steps = std::min(most_steps, steps_of(std::hypot(vx, vy)) + 1);
    for (int n = 0; n < steps; ++n) {
        float x = c.x + vx / static_cast<float>(steps), y = c.y + vy / static_cast<float>(steps);
        if (box_hits(on, x, y)) {
            bool const down = box_hits(on, c.x, y), side = box_hits(on, x, c.y);
            if (down || !side) {
                y = c.y;
                vy = 0;
            }
            if (side || !down) {
                x = c.x;
                vx = 0;
            }
        }
        c.x = x;
        c.y = y;
    }
    c.vx = vx / ramp;
    c.vy = vy;
}

void fly_hook(core& c, ground const& on) noexcept {
    float x = c.hook_x + c.hook_dx * hook_speed, y = c.hook_y + c.hook_dy * hook_speed;
    float const far = std::hypot(x - c.x, y - c.y);
    if (far > hook_length) {
        c.hook_state = hook_retracting;
        x = c.x + (x - c.x) / far * hook_length;
        y = c.y + (y - c.y) / far * hook_length;
    }
    int const way = steps_of(std::ceil(std::hypot(x - c.hook_x, y - c.hook_y)));
    auto const at = [&](float from, float to, int n) {
        return from + (to - from) * static_cast<float>(n) / static_cast<float>(way);
    };
    for (int n = 0; n <= way && way > 0; ++n) {
        float const px = at(c.hook_x, x, n), py = at(c.hook_y, y, n);
        if (!on.solid(px, py)) continue;
        c.hook_state = on.tile(px, py) == ground::unhookable ? hook_retracting : hook_grabbed;
        x = at(c.hook_x, x, std::max(0, n - 1));
        y = at(c.hook_y, y, std::max(0, n - 1));
        break;
    }
    c.hook_x = x;
    c.hook_y = y;
}

// How a hook flies, holds, and pulls.
void hook(core& c, ground const& on) noexcept {
    if (c.hook_state == hook_idle) {
        c.hook_x = c.x;
        c.hook_y = c.y;
    } else if (c.hook_state >= hook_retracting && c.hook_state < hook_flying) {
        c.hook_state = c.hook_state + 1 == hook_flying ? hook_retracted : c.hook_state + 1;
    } else if (c.hook_state == hook_flying) {
        fly_hook(c, on);
    }
    if (c.hook_state != hook_grabbed || c.hooked_player != -1) return;
    float const way = std::hypot(c.hook_x - c.x, c.hook_y - c.y);
    if (way <= 46) return;
    float px = (c.hook_x - c.x) / way * hook_drag, py = (c.hook_y - c.y) / way * hook_drag;
    if (py > 0) py *= 0.3F;
    px *= (px < 0 && c.direction < 0) || (px > 0 && c.direction > 0) ? 0.95F : 0.75F;
    float const faster = std::hypot(c.vx + px, c.vy + py);
    if (faster >= most_hook_speed && faster >= std::hypot(c.vx, c.vy)) return;
    c.vx += px;
    c.vy += py;
}

void step(core& c, ground const& on) noexcept {
    bool const grounded = on.solid(c.x + half, c.y + half + 5) || on.solid(c.x - half, c.y + half + 5);
    control const& by = grounded ? on_ground : in_air;
    c.vy += gravity;
    if (c.direction == 0) c.vx *= by.friction;
    else c.vx = added(c.vx, c.direction < 0 ? -by.acceleration : by.acceleration, by.speed);
    if (grounded) c.jumped &= ~2;
    hook(c, on);
    float const length = std::hypot(c.vx, c.vy);
    if (length > fastest) {
        c.vx *= fastest / length;
        c.vy *= fastest / length;
    }
    move(c, on);
    // Sent values have no more digits than this, so that all get the same result.
    for (float* const value : {&c.x, &c.y, &c.hook_x, &c.hook_y}) *value = std::floor(*value + 0.5F);
    for (float* const value : {&c.vx, &c.vy, &c.hook_dx, &c.hook_dy})
        *value = std::floor(*value * 256 + 0.5F) / 256;
}

} // namespace

void reckon(tee& moved, std::int32_t tick, ground const& on) noexcept {
    if (moved.tick <= 0 || moved.tick >= tick) return;
    core c{moved.x,         moved.y,      moved.vel_x / 256, moved.vel_y / 256,
           moved.hook_x,    moved.hook_y, moved.hook_dx,     moved.hook_dy,
           moved.direction, moved.jumped, moved.hook_state,  moved.hooked_player};
    for (std::int32_t n = std::min(most_reckoned_ticks, tick - moved.tick); n > 0; --n) step(c, on);
    moved.tick = tick;
    moved.x = c.x;
    moved.y = c.y;
    moved.vel_x = c.vx * 256;
    moved.vel_y = c.vy * 256;
    moved.jumped = c.jumped;
    moved.hook_state = c.hook_state;
    moved.hook_x = c.hook_x;
    moved.hook_y = c.hook_y;
}

} // namespace teewire::scene
