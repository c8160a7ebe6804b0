// The levels of processors, what each requires, and how a layer's hot functions follow the level in use.
#pragma once

#include "teewire/cpu.hpp"

#include <span>
#include <string_view>

// What code of a level may be compiled with, as compilers name it; cpu.cpp checks that the machine has all of it.
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

// The functions between these two are compiled for a level. What a header of the standard library defines must not be
// among them: the linker keeps one copy of each inline function, and any machine may come to run it.
#define TEEWIRE_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TEEWIRE_BEGIN_LEVEL(instructions)                                                                          \
    TEEWIRE_PRAGMA(clang attribute push(__attribute__((target(instructions))), apply_to = function))
#define TEEWIRE_END_LEVEL TEEWIRE_PRAGMA(clang attribute pop)
#else
#define TEEWIRE_BEGIN_LEVEL(instructions) TEEWIRE_PRAGMA(GCC push_options) TEEWIRE_PRAGMA(GCC target(instructions))
#define TEEWIRE_END_LEVEL TEEWIRE_PRAGMA(GCC pop_options)
#endif

namespace teewire::kernels {

/// Whether the machine can run code of that level.
[[nodiscard]] bool supported(cpu_level level) noexcept;

/// The hot functions of a layer for one level. Each layer has a list of these: first the plain twins, which define the
/// results, then the levels from the lowest one up. Tests and benchmarks walk through it.
template <class Functions>
struct variant {
    std::string_view name; ///< of the level, or "plain"
    cpu_level level;
    Functions const& functions;
};

/// Gives those of the level in use, and later of any other that a cap leaves.
template <class Functions>
void choose(Functions& used, std::span<variant<Functions> const> variants, cpu_level level) noexcept {
    for (auto const& v : variants)
        if (v.level <= level) used = v.functions;
}

/// A layer that chooses its functions by the level.
struct follower {
    void (*choose)(cpu_level) noexcept;
    follower* next = nullptr;
};
/// Has it choose now, and again when a cap is set. For initialisers, which run before main; returns true for them.
bool follow(follower& layer) noexcept;

} // namespace teewire::kernels
