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

cpu_level detect() noexcept {
#if defined(__x86_64__)
    if (!has_avx2()) return cpu_level::sse2;
    return has_avx512() ? cpu_level::avx512 : cpu_level::avx2;
#elif defined(TEEWIRE_NEON)
    return cpu_level::neon;
#else
    return cpu_level::scalar;
#endif
}

// What processors of this kind may have at all.
constexpr bool exists(cpu_level level) noexcept {
#if defined(TEEWIRE_NEON)
    return level == cpu_level::scalar || level == cpu_level::neon;
#else
    return level != cpu_level::neon;
#endif
}

// Detection may take microseconds on a virtual machine.
cpu_level highest() noexcept {
    static constinit std::optional<cpu_level> detected;
    if (!detected) detected = detect();
    return *detected;
}
[[maybe_unused]] cpu_level const before_main = highest(); // while there is one thread

constinit cpu_level cap = cpu_level::neon;
constinit kernels::follower* followers = nullptr;

} // namespace

std::string_view name(cpu_level level) noexcept { return names[static_cast<std::size_t>(level)]; }

std::optional<cpu_level> find_cpu_level(std::string_view name) noexcept {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<cpu_level>(found - names.begin());
}

cpu_level used_cpu_level() noexcept {
    cpu_level const most = std::min(cap, highest());
    return exists(most) ? most : cpu_level::scalar;
}

cpu_level cap_cpu_level(cpu_level most) noexcept {
    cap = most;
    cpu_level const used = used_cpu_level();
    for (kernels::follower* layer = followers; layer != nullptr; layer = layer->next) layer->choose(used);
    return used;
}

bool kernels::supported(cpu_level level) noexcept { return level <= highest() && exists(level); }

bool kernels::follow(follower& layer) noexcept {
    layer.next = followers;
    followers = &layer;
    layer.choose(used_cpu_level());
    return true;
}

} // namespace teewire
