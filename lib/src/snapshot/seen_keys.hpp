// The keys that a snapshot has so far, while it is built or checked.
#pragma once

#include "hash.hpp"

#include <cstddef>
#include <span>

namespace teewire {

// A Bloom filter with one hash function: it recognises most new keys without a search.
class seen_keys {
public:
    [[nodiscard]] static std::uint32_t multiplier(std::span<std::uint32_t const> words) noexcept {
        return static_cast<std::uint32_t>(hash_multiplier(1, words.data()));
    }
    // Borrows `words`, a power of two of them, with the keys they hold.
    seen_keys(std::span<std::uint32_t> words, std::uint32_t multiplier) noexcept
        : words_{words.data()}, multiplier_{multiplier}, mask_{static_cast<std::uint32_t>(words.size() - 1)} {}

    // Adds the key. Returns false if it is certainly new, and true if it, or another key with the same bit, was there.
    bool note(std::int32_t key) const noexcept {
        std::uint32_t& word = words_[word_of(key)];
        std::uint32_t const bit = 1U << bit_of(key);
        bool const was_there = (word & bit) != 0;
        word |= bit;
        return was_there;
    }

    // The first 128 types have a line of eight words each, as far as there are lines. For other types, and ids from 256
    // on, the line depends on the secret multiplier, so that a sender cannot make keys collide. Neighbouring ids are in
    // neighbouring words, so that no word has to be read right after it was written.
    [[nodiscard]] std::uint32_t word_of(std::int32_t key) const noexcept {
        auto const bits = static_cast<std::uint32_t>(key);
        std::uint32_t const line = (bits >> 16) + ((bits >> 8 & 0xff80ff) * multiplier_ >> 16);
        return (line * 8 + (bits & 7)) & mask_;
    }
    [[nodiscard]] static unsigned bit_of(std::int32_t key) noexcept {
        return static_cast<std::uint32_t>(key) >> 3 & 31;
    }

private:
    std::uint32_t* words_;
    std::uint32_t multiplier_;
    std::uint32_t mask_;
};

} // namespace teewire
