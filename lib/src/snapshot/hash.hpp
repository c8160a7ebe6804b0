// Hash functions for item keys.
#pragma once

#include <cstdint>

namespace teewire {

/// The multiplier of a hash function: an odd number. Against hash flooding it depends on where the table lies in memory:
/// for a known one, an attacker can choose keys that collide, or that make one long probe cluster. For one that is not
/// known, no set of keys is likely to do so.
[[nodiscard]] inline std::uint64_t hash_multiplier(unsigned function, void const* table) noexcept {
    std::uint64_t z = reinterpret_cast<std::uintptr_t>(table) + (function + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) | 1U;
}

} // namespace teewire
