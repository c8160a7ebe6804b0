// The work for each client of a shared world: sets of items, and copying packed updates. shared_encoder.cpp explains
// them.
#pragma once

#include "delta_create.hpp"
#include "shared_sets_state.hpp"

#include "simd/level.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

inline set_tally tally_set(std::uint64_t const* tallies, std::uint64_t const* set, std::size_t n) noexcept {
    set_tally tally{};
    std::uint64_t rest = 0; // neither half can carry into the other: the lower one is below 2^32
    [[maybe_unused]] vec sums = all(0);
    for (std::size_t begin = 0; begin < n; begin += 64, ++set) {
        std::uint64_t left = *set;
        tally.items += popcount(left);
        std::size_t i = begin;
        if constexpr (width >= 8) // with fewer lanes, item by item is faster
            for (; n - i >= width / 2 && i < begin + 64; i += width / 2) {
                auto const* const pairs = reinterpret_cast<std::int32_t const*>(tallies + i);
                sums = plus(sums, load_pairs(pairs, static_cast<std::uint32_t>(left & ((1U << width / 2) - 1))));
                left >>= width / 2;
            }
        for (; left != 0; left &= left - 1) rest += tallies[i + lowest(left)];
    }
    tally.ints = static_cast<std::uint32_t>(rest);
    tally.sum = static_cast<std::uint32_t>(rest >> 32);
    if constexpr (width >= 8) { // little-endian
        std::uint32_t lanes[width];
        store(reinterpret_cast<std::int32_t*>(lanes), sums);
        for (std::size_t i = 0; i < width; i += 2) {
            tally.ints += lanes[i];
            tally.sum += lanes[i + 1];
        }
    }
    return tally;
}

// 64 bits from one on, of which n count. One word after them can be read.
inline std::uint64_t bits_from(std::uint64_t const* set, std::size_t bit, std::size_t n) noexcept {
    std::uint64_t const* const at = set + bit / 64;
    std::uint64_t const bits = at[0] >> bit % 64 | at[1] << 1 << (63 - bit % 64);
    return n < 64 ? bits & ((std::uint64_t{1} << n) - 1) : bits;
}

inline void insert_bits(std::uint64_t* set, std::size_t bit, std::uint64_t bits) noexcept {
    std::uint64_t* const at = set + bit / 64;
    at[0] |= bits << bit % 64;
    at[1] |= bits >> 1 >> (63 - bit % 64);
}

inline void clear_set(std::uint64_t* set, std::size_t words) noexcept {
    for (std::size_t i = 0; i < words; ++i) set[i] = 0;
}

// The items of a set in the numbers of the base.
inline void find_in_base(std::span<shared_run const> runs, std::uint64_t const* now, std::uint64_t* base,
                         std::size_t base_words) noexcept {
    clear_set(base, base_words);
    for (shared_run const& r : runs)
        for (std::uint32_t done = 0; done < r.count; done += 64)
            insert_bits(base, r.base + done, bits_from(now, r.now + done, r.count - done));
}

inline void select_updates(shared_sets& s) noexcept {
    clear_set(s.known, s.words);
    for (shared_run const& r : s.runs)
        for (std::uint32_t done = 0; done < r.count; done += 64)
            insert_bits(s.known, r.now + done, bits_from(s.base, r.base + done, r.count - done));
    unsigned kept = 0;
    unsigned updates = 0;
    for (std::size_t i = 0; i < s.words; ++i) {
        std::uint64_t const known = s.now[i] & s.known[i];
        std::uint64_t const update = s.now[i] & ~(s.known[i] & ~s.changed[i]);
        s.known[i] = known;
        s.updates[i] = update;
        kept += popcount(known);
        updates += popcount(update);
    }
    s.kept_count = kept;
    s.update_count = updates;
}

// Compares a client's items with those of the world; staged.different marks those that are not equal. Reads up to 31
// ints past a content.
inline void match_contents(staged_items const& staged) noexcept {
    for (std::size_t begin = 0; begin < staged.count; begin += 64) {
        std::size_t const end = std::min(begin + 64, staged.count);
        std::uint64_t different = 0;
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t const item = staged.items[i];
            if (item == staged_items::none) {
                different |= std::uint64_t{1} << (i - begin);
                continue;
            }
            std::int32_t const* const a = staged.data + staged.begins[i];
            std::size_t const n = staged.begins[i + 1] - staged.begins[i];
            std::int32_t const* const b = staged.world_data + staged.world_begins[item];
            std::uint64_t bits = n ^ (staged.world_begins[item + 1] - staged.world_begins[item]);
            if constexpr (width < 8) {
                if (bits == 0) bits = std::memcmp(a, b, 4 * n) != 0;
            } else {
                // Nearly all items have at most 24 ints; a loop would end somewhere else for each.
                constexpr std::size_t near = (24 + width - 1) / width * width;
                std::uint64_t first = 0;
                for (std::size_t k = 0; k < near; k += width)
                    first |= std::uint64_t{unequal(load(a + k), load(b + k))} << k;
                if (n > near) [[unlikely]] {
                    bits |= first;
                    for (std::size_t k = near; k < n && bits == 0; k += 64)
                        bits = differing_first(a + k, b + k, std::min<std::size_t>(64, n - k));
                } else {
                    bits |= first & ((std::uint64_t{1} << n) - 1);
                }
            }
            different |= std::uint64_t{bits != 0} << (i - begin);
        }
        staged.different[begin / 64] = different;
    }
}

// Reads and writes up to 31 bytes past a piece.
inline std::uint8_t* copy_piece(std::uint8_t* out, std::byte const* piece) noexcept {
    std::uint32_t size;
    std::memcpy(&size, piece, 4);
    piece += 4;
    std::memcpy(out, piece, 16);
    std::memcpy(out + 16, piece + 16, 16);
    for (std::uint32_t at = 32; at < size; at += 16) std::memcpy(out + at, piece + at, 16);
    return out + size;
}

inline std::uint32_t copy_pieces(piece_copier& c) noexcept {
    std::uint8_t* out = c.out;
    auto const copy = [&](std::size_t item) {
        std::uint64_t const bit = std::uint64_t{1} << item % 64;
        std::uint32_t const* const of = (c.known[item / 64] & bit) != 0 ? c.differences : c.wholes;
        std::uint32_t const place = (c.unshared[item / 64] & bit) != 0 ? 0 : of[item];
        if (place == 0) [[unlikely]] {
            c.out = out;
            return false;
        }
        out = copy_piece(out, c.memory + std::size_t{8} * place);
        return true;
    };
    if (c.order != nullptr) {
        while (c.at < c.end) {
            // Sorted out without a branch for each.
            std::uint16_t chosen[64];
            std::size_t const begin = c.at;
            std::size_t const end = std::min(begin + 64, c.end);
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) {
                std::uint16_t const item = c.order[i];
                chosen[count] = item;
                count += c.updates[item / 64] >> item % 64 & 1;
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (copy(chosen[i])) continue;
                c.at = static_cast<std::size_t>(std::find(c.order + begin, c.order + end, chosen[i]) - c.order) + 1;
                return chosen[i];
            }
            c.at = end;
        }
    } else {
        for (;;) {
            for (; c.left != 0;) {
                std::size_t const item = 64 * c.at + lowest(c.left);
                c.left &= c.left - 1;
                if (!copy(item)) return static_cast<std::uint32_t>(item);
            }
            if (c.at + 1 >= c.end) break;
            c.left = c.updates[++c.at];
        }
    }
    c.out = out;
    return piece_copier::done;
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
