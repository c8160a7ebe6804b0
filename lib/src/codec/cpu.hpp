// The levels of processors, what each requires, and how a layer's hot functions follow the level in use.
#pragma once

#include "teewire/cpu.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Instruction sets that code of a level may be compiled with, as compilers name them; cpu.cpp checks that the machine
// has all of them.
#define TEEWIRE_AVX2 "avx2,bmi,bmi2,lzcnt,popcnt"
#define TEEWIRE_AVX512                                                                                             \
    "avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"

// Every AArch64 has NEON, of which only the usual order of bytes is dealt with.
#if defined(__aarch64__) && defined(__AARCH64EL__)
#define TEEWIRE_NEON
#endif

// Compilers that have vectors of their own, of which scalar code is made; others get the plain twins for it.
#if defined(__GNUC__)
#define TEEWIRE_COMPILER_VECTORS
#endif

// The functions between these two are compiled for a level. Functions defined in headers of the standard library must
// not be among them: the linker keeps one copy of each inline function, and any machine may come to run it.
#define TEEWIRE_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TEEWIRE_BEGIN_LEVEL(instructions)                                                                          \
    TEEWIRE_PRAGMA(clang attribute push(__attribute__((target(instructions))), apply_to = function))
#define TEEWIRE_END_LEVEL TEEWIRE_PRAGMA(clang attribute pop)
#else
#define TEEWIRE_BEGIN_LEVEL(instructions) TEEWIRE_PRAGMA(GCC push_options) TEEWIRE_PRAGMA(GCC target(instructions))
#define TEEWIRE_END_LEVEL TEEWIRE_PRAGMA(GCC pop_options)
#endif

// Not among what a shared library exports. Windows exports nothing that is not asked for.
#if defined(__GNUC__) && !defined(_WIN32)
#define TEEWIRE_HIDDEN [[gnu::visibility("hidden")]]
#else
#define TEEWIRE_HIDDEN
#endif

namespace teewire::kernels {

/// A set of instruction sets: a bit for each level but the scalar one, which needs none.
using instruction_sets = std::uint8_t;
inline constexpr instruction_sets all_instruction_sets = 0xf; ///< of all processors

/// The instruction sets that code of a level is compiled with.
[[nodiscard]] constexpr instruction_sets required_by(cpu_level level) noexcept {
    constexpr instruction_sets by_level[] = {0, 0b1, 0b11, 0b111, 0b1000}; // each of x86-64 has those before it
    return by_level[static_cast<std::size_t>(level)];
}

/// Whether `allowed` has all of `required`.
[[nodiscard]] constexpr bool includes(instruction_sets allowed, instruction_sets required) noexcept {
    return (required & ~allowed) == 0;
}

/// Whether the machine has all of `required`.
[[nodiscard]] bool supported(instruction_sets required) noexcept;
/// Whether the machine can run code of that level.
[[nodiscard]] inline bool supported(cpu_level level) noexcept { return supported(required_by(level)); }

/// The hot functions of a layer for one level. Each layer has a list of these: first the plain twins, which define the
/// results, then the levels from the lowest one up. Tests and benchmarks walk through it.
template <class Functions>
struct variant {
    std::string_view name; ///< of the level, or "plain"
    instruction_sets required;
    Functions const& functions;
};

/// Chooses the last variant that needs no more than the allowed instruction sets.
template <class Functions>
void choose(Functions& used, std::span<variant<Functions> const> variants, instruction_sets allowed) noexcept {
    for (auto const& v : variants)
        if (includes(allowed, v.required)) used = v.functions;
}

/// A layer that chooses its functions by the allowed instruction sets.
struct follower {
    void (*choose)(instruction_sets allowed) noexcept;
    follower* next = nullptr;
};
/// Has it choose now, and again when a cap is set. For initialisers, which run before main; returns true for them.
bool follow(follower& layer) noexcept;

} // namespace teewire::kernels
