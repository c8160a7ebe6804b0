#include "kernels.hpp"

namespace teewire::kernels {

bool supported(cpu needed) noexcept {
    switch (needed) {
    case cpu::any: return true;
#if defined(__x86_64__)
    case cpu::avx2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    case cpu::avx512:
        return supported(cpu::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2");
#endif
    default: return false;
    }
}

} // namespace teewire::kernels
