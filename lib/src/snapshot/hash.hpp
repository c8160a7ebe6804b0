// Hash functions for item keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace teewire {

inline constexpr unsigned hash_functions = 8;

/// The multiplier of a hash function: odd, the first one the same everywhere. An enemy can choose keys that meet in one
/// place under it; the others depend on where the table lies in memory, and for a multiplier that is not known no set
/// of keys is likely to be bad.
[[nodiscard]] inline std::uint32_t hash_multiplier(unsigned function, void const* table) noexcept {
    if (function == 0) return 0x9e3779b1U;
    std::uint64_t z = reinterpret_cast<std::uintptr_t>(table) + function * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(z >> 32) | 1U;
}

/// The place of a key in a table of a power of two of entries.
[[nodiscard]] constexpr std::size_t hash_key(std::int32_t key, std::uint32_t multiplier, std::size_t entries) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint32_t>(key) * multiplier) >> (32 - std::countr_zero(entries));
}

} // namespace teewire
