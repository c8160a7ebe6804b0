#include "measure.hpp"

#include <atomic>
#include <ctime>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

constinit std::atomic<std::size_t> allocated = 0;
constinit bool any_allocated = false;

void count() noexcept { allocated.fetch_add(1, std::memory_order_relaxed); }

double seconds(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

} // namespace

// These take the place of those of the C library.
extern "C" void* malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t items, std::size_t size) {
    count();
    return __libc_calloc(items, size);
}
extern "C" void* realloc(void* block, std::size_t size) {
    count();
    return __libc_realloc(block, size);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

namespace teewire::bench {

std::size_t allocations() noexcept { return allocated.load(std::memory_order_relaxed); }

double cpu_seconds() noexcept { return seconds(CLOCK_THREAD_CPUTIME_ID); }
double wall_seconds() noexcept { return seconds(CLOCK_MONOTONIC); }

void count_allocations(benchmark::State& state, std::size_t count) {
    any_allocated |= count != 0;
    state.counters["allocs"] = static_cast<double>(count) / static_cast<double>(state.iterations());
}

bool any_allocations() noexcept { return any_allocated; }

} // namespace teewire::bench
