// Shared by fuzz targets: their entry points, and the splitting of their input.
#pragma once

#include <teewire/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace fuzz {

/// Also in builds without assertions: a target that finds nothing wrong must have looked.
#define FUZZ_REQUIRE(...) ((__VA_ARGS__) ? static_cast<void>(0) : ::fuzz::fail(__FILE__, __LINE__, #__VA_ARGS__))

[[noreturn]] inline void fail(char const* file, int line, char const* what) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    std::abort();
}

using bytes_view = std::span<std::uint8_t const>;
using target_fn = void(bytes_view);

/// The targets of a program that replays files.
struct target {
    std::string_view name;
    target_fn* run;
    target const* next;
    inline static target const* first = nullptr;
    target(std::string_view n, target_fn* r) noexcept : name{n}, run{r}, next{first} { first = this; }
};

/// Makes `run` the target of its file: of its own for a fuzzer, one of several in the program that replays.
#ifdef TEEWIRE_FUZZ_REPLAY
#define FUZZ_TARGET(name, run)                                                                                     \
    namespace {                                                                                                    \
    ::fuzz::target const registered_target{name, run};                                                             \
    }
#else
#define FUZZ_TARGET(name, run)                                                                                     \
    extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {                            \
        run({data, size});                                                                                         \
        return 0;                                                                                                  \
    }
#endif

/// Numbers and spans from the front of the input; zero and nothing after its end.
class input {
public:
    explicit input(bytes_view bytes) noexcept : bytes_{bytes} {}

    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    [[nodiscard]] bytes_view rest() const noexcept { return bytes_; }

    std::uint8_t byte() noexcept {
        if (bytes_.empty()) return 0;
        std::uint8_t const b = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return b;
    }
    std::uint32_t word() noexcept {
        std::uint32_t const low = byte();
        return low | std::uint32_t{byte()} << 8;
    }
    std::uint32_t number() noexcept {
        std::uint32_t const low = word();
        return low | word() << 16;
    }
    std::int32_t integer() noexcept { return static_cast<std::int32_t>(number()); }
    bytes_view take(std::size_t size) noexcept {
        auto const taken = bytes_.first(size < bytes_.size() ? size : bytes_.size());
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

private:
    bytes_view bytes_;
};

/// Memory on the heap and not an element longer, so that a sanitizer sees every step beyond it.
template <class T>
class exact {
public:
    explicit exact(std::size_t size) : memory_{new T[size]{}}, size_{size} {}
    explicit exact(std::span<T const> from) : memory_{new T[from.size()]}, size_{from.size()} {
        if (!from.empty()) std::memcpy(memory_.get(), from.data(), from.size_bytes());
    }
    [[nodiscard]] std::span<T> span() const noexcept { return {memory_.get(), size_}; }
    [[nodiscard]] std::span<T const> view() const noexcept { return {memory_.get(), size_}; }

private:
    std::unique_ptr<T[]> memory_;
    std::size_t size_;
};

/// Scratch for the life of the program: one of each type.
template <class T>
[[nodiscard]] T& lasting() {
    static T& memory = *new T;
    return memory;
}

template <class T>
[[nodiscard]] bool same(std::span<T const> a, std::span<T const> b) noexcept {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

[[nodiscard]] inline bool same(teewire::note_log const& a, teewire::note_log const& b) noexcept {
    for (std::size_t i = 0; i < teewire::note_count; ++i) {
        if (a.entries[i].count != b.entries[i].count || a.entries[i].position != b.entries[i].position)
            return false;
        if (a.entries[i].count != 0) FUZZ_REQUIRE(!describe(static_cast<teewire::note>(i)).empty());
    }
    return true;
}

/// The result of a function: `ok` for success.
template <class Result>
[[nodiscard]] teewire::failure error_of(Result const& r) noexcept {
    if (r) return {};
    FUZZ_REQUIRE(!describe(r.error().code).empty());
    return r.error();
}

} // namespace fuzz
