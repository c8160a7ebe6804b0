// The parts of which workloads and sequences are made. Every value depends on the order of the random draws. Draws
// that share an expression therefore stand in braced lists, which are evaluated left to right; function
// arguments are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace teewire::bench::game {

using ints = std::vector<std::int32_t>;

struct item {
    std::int32_t type, id;
    ints data;
};
using items = std::vector<item>;

// Type numbers of 0.6; DDNet numbers its extended types downwards from 0x7fff.
namespace kind {
constexpr std::int32_t projectile = 2, laser = 3, pickup = 4, game_info = 6, character = 9, player_info = 10,
                       client_info = 11, explosion = 14, hammer_hit = 16, sound_world = 19, damage_ind = 20;
constexpr std::int32_t first_ex = 0x7fff;
constexpr std::int32_t character_ex = first_ex, player_ex = first_ex - 1, game_info_ex = first_ex - 2,
                       laser_ex = first_ex - 3, projectile_ex = first_ex - 4, pickup_ex = first_ex - 5,
                       switch_state = first_ex - 6, entity_ex = first_ex - 7, spec_char = first_ex - 8,
                       spectator_info = first_ex - 9, map_best_time = first_ex - 10;
} // namespace kind

constexpr std::int32_t now = 731250; // the game tick of the older snapshot

inline std::int32_t wrap(std::uint64_t value) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

class splitmix64 {
public:
    explicit splitmix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::int32_t any() { return wrap(next()); }
    std::int32_t below(std::uint32_t bound) { return wrap(next() % bound); }
    std::int32_t between(std::int32_t low, std::int32_t high) {
        return low + below(static_cast<std::uint32_t>(high - low + 1));
    }
    bool chance(std::int32_t per_mille) { return below(1000) < per_mille; }

private:
    std::uint64_t state_;
};

inline ints serialise(items const& list) {
    ints out{0, static_cast<std::int32_t>(list.size())};
    std::int32_t size = 0;
    for (item const& it : list) {
        out.push_back(size);
        size += static_cast<std::int32_t>(4 * (1 + it.data.size()));
    }
    out[0] = size;
    for (item const& it : list) {
        out.push_back(it.type << 16 | it.id);
        out.insert(out.end(), it.data.begin(), it.data.end());
    }
    return out;
}

inline void append(ints& out, std::initializer_list<std::int32_t> more) { out.insert(out.end(), more); }

// Two ticks of an active tee: tick, position, velocity and angle always, hook and attack sometimes.
inline void move_character(splitmix64& r, ints& c) {
    c[0] += 2;
    c[1] += r.between(-20, 20);
    c[2] += r.between(-20, 20);
    c[3] += r.between(-160, 160);
    c[4] += r.between(-160, 160) | 1;
    c[5] += r.between(-40, 40);
    if (r.chance(120)) c[6] = r.between(-1, 1);
    if (r.chance(80)) c[7] ^= 1;
    if (c[9] == 5 || r.chance(150)) {
        c[9] = 5;
        c[10] += 2;
        c[11] += r.between(-80, 80);
        c[12] += r.between(-80, 80);
    }
    if (r.chance(100)) {
        c[13] = r.between(-256, 256);
        c[14] = r.between(-256, 256);
    }
    if (r.chance(100)) c[21] = now + r.below(2);
    if (r.chance(30)) c[20] = r.below(6);
}

inline ints position(splitmix64& r) { return {r.between(1000, 12000), r.between(500, 6000)}; }

inline ints position_and(splitmix64& r, std::uint32_t bound) {
    return {r.between(1000, 12000), r.between(500, 6000), r.below(bound)};
}

inline ints sound(splitmix64& r) { return position_and(r, 40); }

inline ints projectile(splitmix64& r) {
    ints out = position(r);
    append(out, {r.between(-100, 100), r.between(-100, 100), r.below(6), now - r.below(50)});
    return out;
}

inline ints projectile_ex(splitmix64& r) {
    ints out = projectile(r);
    append(out, {r.between(-1, 63), r.below(20), r.below(5), r.below(32)});
    return out;
}

} // namespace teewire::bench::game
