// The level of this processor, and what the operating system says of it.
#include "codec/cpu.hpp"

#include "check.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

using namespace teewire;

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("cpu: the highest level is the one whose instructions the system lists") {
    // Valgrind's processor is another one than the system's.
    char const* const preloaded = std::getenv("LD_PRELOAD");
    if (preloaded != nullptr && std::string_view{preloaded}.find("vgpreload") != std::string_view::npos) return;
    std::ifstream file{"/proc/cpuinfo"};
    std::string flags;
    for (std::string line; flags.empty() && std::getline(file, line);)
        if (line.starts_with("flags")) flags = line.substr(line.find(':') + 1) + ' ';
    if (flags.empty()) return;
    auto const has = [&](char const* names) {
        std::istringstream all{names};
        for (std::string name; all >> name;)
            if (flags.find(' ' + name + ' ') == std::string::npos) return false;
        return true;
    };
    // Not every kernel lists this one ("abm"). Where it is missing, the instruction is BSR, which gives 0.
    unsigned leading_zeros = 0;
    __asm__("lzcnt %1, %0" : "=r"(leading_zeros) : "r"(1U) : "cc");
    bool const avx2 = has("avx2 bmi1 bmi2 popcnt") && leading_zeros == 31;
    bool const avx512 = avx2 && has("avx512f avx512bw avx512cd avx512dq avx512vl avx512vbmi avx512_vbmi2");
    CHECK(kernels::supported(cpu_level::scalar));
    CHECK(kernels::supported(cpu_level::sse2));
    CHECK(kernels::supported(cpu_level::avx2) == avx2);
    CHECK(kernels::supported(cpu_level::avx512) == avx512);
}
#endif
