// Runs of ints, in vectors.
#pragma once

#include "simd/bits.hpp"
#include "simd/level.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

// The first int from `begin` on that equals `value`, or n.
inline std::size_t find_int(std::int32_t const* a, std::size_t begin, std::size_t n, std::int32_t value) noexcept {
    constexpr std::uint32_t whole = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
    std::size_t i = begin;
    while (n - i >= 4 * width && !any_equal(a + i, 4 * width, all(value))) i += 4 * width;
    for (; n - i >= width; i += width)
        if (std::uint32_t const set = whole ^ unequal(load(a + i), all(value))) return i + lowest(set);
    for (; i < n; ++i)
        if (a[i] == value) return i;
    return n;
}

// out = combine(a, b), lane by lane, which makes 0 of zeros. `out` overlaps neither.
template <vec (*combine)(vec, vec) noexcept>
inline void combine_ints(std::int32_t* out, std::int32_t const* a, std::int32_t const* b, std::size_t n) noexcept {
    if (n < width) return store_first(out, combine(load_first(a, n), load_first(b, n)), n);
    // The last vector repeats a part of the one before it: that costs less than a part of a vector.
    std::size_t const last = n - width;
    vec const end = combine(load(a + last), load(b + last));
    for (std::size_t i = 0; i < last; i += width) store(out + i, combine(load(a + i), load(b + i)));
    store(out + last, end);
}

inline void copy(std::int32_t* out, std::int32_t const* from, std::size_t n) noexcept {
    std::memcpy(out, from, n * sizeof *out);
}
// The same for the data of an item, which takes less time than the call of a function.
inline void copy_item(std::int32_t* out, std::int32_t const* from, std::size_t n) noexcept {
    if (n < width) return store_first(out, load_first(from, n), n);
    vec const end = load(from + n - width);
    for (std::size_t i = 0; i < n - width; i += width) store(out + i, load(from + i));
    store(out + n - width, end);
}

// Ints from `out` to where a copy of `from` costs least. A load waits for earlier stores whose addresses end in the same
// 12 bits: those of what is read and what is written lie half of their range apart. Both lie in cache lines alike.
inline std::size_t ints_to_skip(std::int32_t const* from, std::int32_t const* out) noexcept {
    constexpr std::uintptr_t range = 4096;
    return (reinterpret_cast<std::uintptr_t>(from) + range / 2 - reinterpret_cast<std::uintptr_t>(out)) % range / 4;
}

// Sets all to zero. Words after them become zero as well, up to the next multiple of 8.
inline void clear(std::span<std::uint64_t> words) noexcept {
    if constexpr (width < 4) {
        std::fill(words.begin(), words.end(), std::uint64_t{0});
    } else {
        // std::fill would use an instruction that takes as long as the rest of a small delta.
        for (std::size_t i = 0; i < words.size(); i += width / 2)
            store(reinterpret_cast<std::int32_t*>(words.data() + i), all(0));
    }
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
