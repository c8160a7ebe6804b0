// Runs each step of the codec for callgrind, which counts its instructions: on pairs of snapshots in both directions, and
// on consecutive snapshots of demos. Usage, under valgrind --tool=callgrind --collect-atstart=no:
//   measure LEVEL WORKLOADS DEMO...
// WORKLOADS is a folder with recorded pairs, or empty. Callgrind writes a file for each case, with the case as the reason.
// Ends with 77 if the processor does not have the level.
#include "stream_steps.hpp"
#include "workloads.hpp"

#include <teewire/cpu.hpp>

#include <valgrind/callgrind.h>

#include <cstdio>
#include <string>
#include <string_view>

using namespace teewire;

namespace {

void measure_steps(bench::stream const& of) {
    bench::arena memory{reinterpret_cast<void*>(std::uintptr_t{1} << 37)};
    bench::stream_steps const steps{of, memory};
    for (auto const& step : steps.all()) {
        step.run(); // tables and layouts are then in their usual state
        CALLGRIND_ZERO_STATS;
        CALLGRIND_TOGGLE_COLLECT;
        step.run();
        CALLGRIND_TOGGLE_COLLECT;
        std::string const name = of.name + '/' + step.name;
        CALLGRIND_DUMP_STATS_AT(name.c_str());
    }
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string_view> const arguments(argv + 1, argv + argc);
    auto const level = arguments.size() < 2 ? std::nullopt : find_cpu_level(arguments[0]);
    if (!level) {
        std::fputs("usage: measure LEVEL WORKLOADS DEMO...\n", stderr);
        return 2;
    }
    if (cap_cpu_level(*level) != *level) return 77;
    auto pairs = bench::recorded_workloads(arguments[1]);
    for (auto& pair : bench::synthetic_workloads())
        if (pair.name == "full16" || pair.name == "ddnet64") pairs.push_back(std::move(pair));
    for (auto const& pair : pairs) measure_steps({pair.name, {pair.from, pair.to, pair.from, pair.to}});
    // From the middle, when players are there.
    for (std::size_t i = 2; i < arguments.size(); ++i)
        measure_steps(bench::recorded_stream(arguments[i], 200, 200));
}
