/// @file
/// Internal parts of the other headers, which may change at any time. Programs use the headers that are named here.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

/// @cond internal
namespace teewire::detail {

// ---- snapshot.hpp ---------------------------------------------------------------------------------------------------

// The place of a key in a table of 2^(32 - shift) entries. A single product would keep keys at regular distances at
// regular distances, which now and then are small ones.
[[nodiscard]] constexpr std::size_t hash_key(std::int32_t key, std::uint64_t multiplier, unsigned shift) noexcept {
    std::uint64_t const product = static_cast<std::uint32_t>(key) * multiplier;
    return static_cast<std::uint32_t>((product ^ product >> 32) * multiplier) >> shift;
}

// Linear probing in a table of 2^n entries, which are numbers + 1, or 0 if they are free: the place of the entry with
// that key, or the free one where the probe cluster ends. It begins where the key hashes to.
template <class KeyOf>
[[nodiscard]] constexpr std::size_t probe(std::span<std::uint16_t const> table, std::size_t begin, std::int32_t key,
                                          KeyOf&& key_of) noexcept {
    std::size_t at = begin;
    while (table[at] != 0 && key_of(table[at] - 1U) != key) at = (at + 1) & (table.size() - 1);
    return at;
}

// Hash functions that a table tries: when the keys were chosen for one of them, the next one is taken.
inline constexpr unsigned hash_attempts = 8;
// Whether entries took more steps past others than those of random keys ever would, and there is a function left.
[[nodiscard]] constexpr bool crowded(std::size_t steps, std::size_t entries, unsigned attempt) noexcept {
    return steps > 8 * entries + 64 && attempt + 1 < hash_attempts;
}

// ---- snapshot_builder.hpp -------------------------------------------------------------------------------------------

// Words of a filter: 32 bits per item, in lines of eight words.
[[nodiscard]] constexpr std::size_t seen_words(std::size_t items) noexcept {
    return std::bit_ceil(items < 128 ? 128 : items);
}

[[nodiscard]] std::uint32_t seen_multiplier(std::span<std::uint32_t const> words) noexcept;

// A hint to the processor; any addresses will do. Nothing if the first distance is zero.
inline void fetch_ahead([[maybe_unused]] void const* place, [[maybe_unused]] std::uintptr_t to_base,
                        [[maybe_unused]] std::uintptr_t to_stored) noexcept {
#if defined(__GNUC__)
    if (to_base == 0) return;
    __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(place) + to_base), 0, 2);
    __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(place) + to_stored), 0, 2);
#endif
}

// A hint that all of these will be read.
inline void fetch([[maybe_unused]] std::span<std::int32_t const> ints) noexcept {
#if defined(__GNUC__)
    constexpr std::size_t line = 16;
    for (std::size_t i = 0; i < ints.size(); i += line) __builtin_prefetch(ints.data() + i);
#endif
}

// Items are too short for a call of memcpy to pay. Some ints are copied twice.
inline void copy_ints(std::int32_t* to, std::int32_t const* from, std::size_t n) noexcept {
    auto const four = [&](std::size_t at) { std::memcpy(to + at, from + at, 16); };
    if (n < 4) {
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
        return;
    }
    if (n > 8) {
        std::size_t at = 4;
        for (; at + 12 < n; at += 8) {
            four(at);
            four(at + 4);
        }
        four(at);
        four(n - 8);
    }
    four(0);
    four(n - 4);
}

// ---- live_snapshot.hpp ----------------------------------------------------------------------------------------------

struct live_slot {
    enum state : std::uint16_t { removed, live, pending_removal };
    std::int32_t key;
    std::uint32_t begin;    // of the item in the pool
    std::uint32_t size;     // ints of its data, after the key
    std::uint32_t delta;    // the one that last changed it
    std::uint32_t position; // of its data in that delta
    state now;
    std::uint16_t follower; // the slot that the last delta with this one changed next, or any other
};

// ---- history.hpp ----------------------------------------------------------------------------------------------------

// Blocks of different sizes in a memory from `first` to `last`, each after the one before. They are never split: a
// block that does not fit before the end begins at the start.
struct ring {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t oldest = 0; // where it begins
    std::size_t end = 0;    // of the newest one
    std::size_t blocks = 0;

    // Where a new one fits beside all that are there. None has the size 0.
    [[nodiscard]] std::optional<std::size_t> room(std::size_t size) const noexcept {
        auto const if_fits = [size](std::size_t from, std::size_t to) {
            return size <= to - from ? std::optional{from} : std::nullopt;
        };
        if (blocks == 0) return if_fits(first, last);
        if (end <= oldest) return if_fits(end, oldest);
        auto const behind = if_fits(end, last);
        return behind ? behind : if_fits(first, oldest);
    }
    void add(std::size_t begin, std::size_t size) noexcept {
        if (blocks++ == 0) oldest = begin;
        end = begin + size;
    }
};

} // namespace teewire::detail
/// @endcond
