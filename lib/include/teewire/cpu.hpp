/// @file
/// Which instructions of the processor the library uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teewire {

/// A set of instructions that the hot functions are compiled for. On x86-64, each has all of those before it.
enum class cpu_level : std::uint8_t {
    scalar, ///< every processor
    sse2,   ///< every x86-64
    avx2, ///< with BMI1, BMI2, LZCNT and POPCNT: Haswell, Zen; from here on also those for SHA-256, if it has them
    avx512, ///< F, BW, CD, DQ, VL, VBMI and VBMI2: Ice Lake, Zen 4
    neon,   ///< every AArch64, which has `scalar` beside it
};

/// "scalar", "sse2", "avx2", "avx512" or "neon".
[[nodiscard]] std::string_view name(cpu_level level) noexcept;
/// The level with that name.
[[nodiscard]] std::optional<cpu_level> find_cpu_level(std::string_view name) noexcept;

/// The level in use: at first the highest one that the processor has. O(1).
[[nodiscard]] cpu_level used_cpu_level() noexcept;

/// Sets the highest level that may be used, and returns the one that is in use from now on: `most`, or the next below it
/// that the processor has. No result depends on it; it is there for reports of bugs and for tests. To be called before
/// anything else, while no other thread calls a function of the library. O(1).
cpu_level cap_cpu_level(cpu_level most) noexcept;

} // namespace teewire
