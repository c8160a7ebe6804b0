#include "cpu.hpp"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace teewire {
namespace {

constexpr std::array<std::string_view, 5> names = {"scalar", "sse2", "avx2", "avx512", "neon"};

#if defined(__x86_64__)
// Compilers before Clang 15 have no name for it in __builtin_cpu_supports.
bool has_lzcnt() noexcept {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & 1U << 5) != 0;
}
// All of TEEWIRE_AVX2, with registers that the operating system saves.
bool has_avx2() noexcept {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && has_lzcnt();
}
// What TEEWIRE_AVX512 adds.
bool has_avx512() noexcept {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}
#endif

kernels::instruction_sets detect() noexcept {
#if defined(__x86_64__)
    if (!has_avx2()) return kernels::required_by(cpu_level::sse2);
    return kernels::required_by(has_avx512() ? cpu_level::avx512 : cpu_level::avx2);
#elif defined(TEEWIRE_NEON)
    return kernels::required_by(cpu_level::neon);
#else
    return kernels::required_by(cpu_level::scalar);
#endif
}

// The instruction sets of this machine. Detection may take microseconds on a virtual machine.
kernels::instruction_sets available() noexcept {
    static constinit std::optional<kernels::instruction_sets> detected;
    if (!detected) detected = detect();
    return *detected;
}
[[maybe_unused]] kernels::instruction_sets const before_main = available(); // while there is one thread

// Written before main and by cap_cpu_level, and read without a lock: a cap is set before there are other threads.
constinit kernels::instruction_sets allowed_by_cap = kernels::all_instruction_sets;
constinit kernels::follower* followers = nullptr;

kernels::instruction_sets allowed() noexcept {
    return static_cast<kernels::instruction_sets>(allowed_by_cap & available());
}

} // namespace

std::string_view name(cpu_level level) noexcept { return names[static_cast<std::size_t>(level)]; }

std::optional<cpu_level> find_cpu_level(std::string_view name) noexcept {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<cpu_level>(found - names.begin());
}

cpu_level used_cpu_level() noexcept {
    auto used = cpu_level::scalar;
    for (cpu_level const level : {cpu_level::sse2, cpu_level::avx2, cpu_level::avx512, cpu_level::neon})
        if (kernels::includes(allowed(), kernels::required_by(level))) used = level;
    return used;
}

// Call it before there are threads: it writes what all kernels are called through.
cpu_level cap_cpu_level(cpu_level most) noexcept {
    allowed_by_cap = 0;
    for (std::size_t level = 0; level <= static_cast<std::size_t>(most); ++level)
        allowed_by_cap |= kernels::required_by(static_cast<cpu_level>(level));
    for (kernels::follower* layer = followers; layer != nullptr; layer = layer->next) layer->choose(allowed());
    return used_cpu_level();
}

bool kernels::supported(instruction_sets required) noexcept { return includes(available(), required); }

bool kernels::follow(follower& layer) noexcept {
    layer.next = followers;
    followers = &layer;
    layer.choose(allowed());
    return true;
}

} // namespace teewire
