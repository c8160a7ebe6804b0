// The data of the kernels of shared worlds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::kernels {

/// The sums over a set of items.
struct set_tally {
    std::uint32_t items, ints, sum;
};

/// A client's items, and items of the world that have these keys.
struct staged_items {
    static constexpr std::uint16_t none = 0xffff;

    std::size_t count;
    std::int32_t const* data;
    std::uint32_t const* begins;
    std::uint16_t const* items; // or none
    std::int32_t const* world_data;
    std::uint32_t const* world_begins;
    std::uint64_t* different; // out: those whose content is another one
};

/// A stretch of items of a base tick, and that of the newest one with the same keys.
struct shared_run {
    std::uint32_t base, now, count;
};

/// Which items of a client's snapshot are updates.
struct shared_sets {
    std::uint64_t const* now;     // items
    std::uint64_t const* base;    // primary items of the base, in its numbers
    std::uint64_t const* changed; // items whose primary contents are different in both ticks
    std::span<shared_run const> runs;
    std::size_t words;          // of the current sets of items
    std::uint64_t* known;       // out: items that the base has, too; both are primary
    std::uint64_t* updates;     // out: items that it has not, or with another content
    std::size_t kept_count = 0; // out: of these
    std::size_t update_count = 0;
};

/// Copies the packed updates of a set of items.
struct piece_copier {
    static constexpr std::uint32_t done = ~std::uint32_t{0};

    std::uint64_t const* updates;
    std::uint64_t const* known;    // those whose difference is copied
    std::uint64_t const* unshared; // those that have no piece, as no other client has the same update
    std::uint32_t const* wholes;   // where pieces are in the memory, in eights of bytes; 0: not made yet
    std::uint32_t const* differences;
    std::byte const* memory;
    std::uint16_t const* order; // of all items, or null for that of the numbers
    std::size_t at = 0;         // in the order, or the word of the set
    std::size_t end = 0;
    std::uint64_t left = 0; // of that word
    std::uint8_t* out = nullptr;
};

} // namespace teewire::kernels
