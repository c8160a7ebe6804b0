// Hash functions for item keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace teewire {

inline constexpr unsigned hash_functions = 4;

// Odd numbers without structure.
inline constexpr std::uint32_t hash_multipliers[hash_functions] = {0x9e3779b1U, 0x85ebca6bU, 0xc2b2ae3dU,
                                                                   0x27d4eb2fU};

/// The place of a key in a table of a power of two of entries. An enemy can choose keys that meet in one place, but not
/// for all functions at once: together they fix more bits than a key has.
[[nodiscard]] constexpr std::size_t hash_key(std::int32_t key, unsigned function, std::size_t entries) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint32_t>(key) * hash_multipliers[function]) >>
           (32 - std::countr_zero(entries));
}

} // namespace teewire
