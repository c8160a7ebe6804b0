// Hash functions for item keys.
#pragma once

#include <cstdint>

namespace teewire {

/// The multiplier of a hash function: odd. It depends on where the table lies in memory, because for a known one an enemy
/// can choose keys that meet in one place, or that stand in a row which every other key has to be looked for behind. For
/// one that is not known, no set of keys is likely to be bad.
[[nodiscard]] inline std::uint64_t hash_multiplier(unsigned function, void const* table) noexcept {
    std::uint64_t z = reinterpret_cast<std::uintptr_t>(table) + (function + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) | 1U;
}

} // namespace teewire
