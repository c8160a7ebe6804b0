// While `forbidden`, malloc and operator new end the program. For the one source of a test program.
#pragma once

#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
}

namespace {

bool forbidden = false;
std::size_t caught = 0;
bool survive_once = false; // to show that the trap works

void check_allowed() {
    if (!forbidden) return;
    if (survive_once) {
        ++caught;
        return;
    }
    forbidden = false;
    std::fputs("lib allocated\n", stderr);
    std::abort();
}

} // namespace

extern "C" void* malloc(std::size_t size) {
    check_allowed();
    return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
    check_allowed();
    return __libc_calloc(count, size);
}
extern "C" void* realloc(void* block, std::size_t size) {
    check_allowed();
    return __libc_realloc(block, size);
}

#define REQUIRE(condition)                                                                                         \
    do {                                                                                                           \
        if (!(condition)) {                                                                                        \
            forbidden = false;                                                                                     \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                   \
            std::exit(1);                                                                                          \
        }                                                                                                          \
    } while (false)

// Shows that the trap works.
inline void try_trap() {
    forbidden = survive_once = true;
    int* volatile one = new int; // volatile, or compilers leave both out
    delete one;
    void* volatile other = std::malloc(1);
    std::free(other);
    forbidden = survive_once = false;
    REQUIRE(caught >= 2);
}
