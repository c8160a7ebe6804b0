// The views of a server's clients on the world, and their acknowledgements.
#pragma once

#include "sequence.hpp"

#include <teewire/demo_format.hpp>
#include <teewire/snapshot.hpp>

#include <algorithm>
#include <string>

namespace teewire::bench {

inline constexpr std::size_t packet_bytes = 900;
inline constexpr std::size_t kept_snapshots =
    3 * ticks_per_second / sequence_ticks_apart;      // 3 seconds, as servers do
inline constexpr std::size_t oldest_base = 3 + 2 * 7; // snapshots, without loss
inline constexpr double snapshots_per_second = 50;

enum class acknowledging {
    well,      // eight different bases, at most half a second old
    late,      // bases up to 3 seconds old, and one time in a hundred none
    scattered, // the same with forty different bases
};

// Whether clients know players by the server's ids or by ids of their own.
enum class player_ids { same, own_for_half, own };

struct scene {
    std::string name;
    std::size_t clients;
    bool whole = false; // each client sees everything
    acknowledging acks = acknowledging::well;
    player_ids ids = player_ids::same;
};

inline std::uint32_t scramble(std::uint32_t h) {
    h ^= h >> 15;
    h *= 0x85ebca6b;
    return h ^ h >> 13;
}

inline bool sees(std::size_t client, std::int32_t key) {
    std::uint16_t const type = key_type(key);
    if (type == 0 || type == 6 || type == 10 || type == 11) return true; // descriptions, the game and its players
    std::uint32_t const h =
        static_cast<std::uint32_t>(key) * 2654435761U ^ static_cast<std::uint32_t>(client) * 3118731U;
    return scramble(h) % 1000 < 300;
}

// How many snapshots ago the client got its base; 0 if it has none.
inline std::size_t base_age(scene const& s, std::size_t client, std::size_t step) {
    if (s.acks == acknowledging::well) {
        std::size_t const age = 3 + 2 * (client % 8);
        return age <= step ? age : 0;
    }
    if (scramble(static_cast<std::uint32_t>(client * sequence_snapshots + step)) % 100 == 0) return 0;
    std::size_t const bases = s.acks == acknowledging::late ? 8 : 40;
    return std::min(step, 3 + client % bases * (kept_snapshots - 3) / (bases - 1));
}

inline std::int32_t tick_of(std::size_t step) { return static_cast<std::int32_t>(step) * sequence_ticks_apart; }

} // namespace teewire::bench
