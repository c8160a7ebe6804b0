// Shared by all cases: they are timed in the same way, and must not allocate.
#pragma once

#include <teewire/error.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace teewire::bench {

// Calls of malloc, and so of operator new, by the whole program so far.
[[nodiscard]] std::size_t allocations() noexcept;

[[nodiscard]] double cpu_seconds() noexcept; // of this thread
[[nodiscard]] double wall_seconds() noexcept;

// Sets the counter `allocs`, and remembers whether any case had some.
void count_allocations(benchmark::State& state, std::size_t count);
[[nodiscard]] bool any_allocations() noexcept;

// Runs the case. Gives the seconds that one operation took, for counters.
template <class Operation>
double measure(benchmark::State& state, Operation&& operation, double (*seconds)() noexcept = cpu_seconds) {
    std::size_t const allocated = allocations();
    double const started = seconds();
    for (auto _ : state) {
        operation();
        benchmark::ClobberMemory();
    }
    double const passed = seconds() - started;
    count_allocations(state, allocations() - allocated);
    return passed / static_cast<double>(state.iterations());
}

// For inputs of the benchmarks themselves, which are good.
template <class T>
T must(result<T> const& r) {
    if (r) return *r;
    std::fprintf(stderr, "benchmark input: %s\n", describe(r.error().code).data());
    std::exit(1);
}

} // namespace teewire::bench
