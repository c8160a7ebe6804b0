// Tests and benchmarks run on the processor level that TEEWIRE_CPU names.
#pragma once

#include "teewire/cpu.hpp"

#include <cstdio>
#include <cstdlib>

namespace test {

/// To be called first in main. Ends the program if there is no such level, with 77, which Meson counts as skipped, if
/// the machine has less.
inline void cap_cpu_level_from_environment() {
    char const* const wanted = std::getenv("TEEWIRE_CPU");
    if (wanted == nullptr || *wanted == '\0') return;
    auto const level = teewire::find_cpu_level(wanted);
    if (!level) {
        std::fprintf(stderr, "TEEWIRE_CPU: \"%s\" is not scalar, sse2, avx2, avx512 or neon\n", wanted);
        std::exit(2);
    }
    if (teewire::cap_cpu_level(*level) == *level) return;
    std::fprintf(stderr, "SKIPPED: this machine does not have %s\n", wanted);
    std::exit(77);
}

} // namespace test
