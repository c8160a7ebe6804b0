// Which keys a snapshot that is being built or checked has so far.
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
    // Keeps `words`, whose number is a power of two, and what they hold.
    seen_keys(std::span<std::uint32_t> words, std::uint32_t multiplier) noexcept
        : words_{words.data()}, multiplier_{multiplier}, mask_{static_cast<std::uint32_t>(words.size() - 1)} {}

    // Whether there was such a key, or one with the same place; now there is.
    bool note(std::int32_t key) const noexcept {
        std::uint32_t& word = words_[word_of(key)];
        std::uint32_t const bit = 1U << bit_of(key);
        bool const was_there = (word & bit) != 0;
        word |= bit;
        return was_there;
    }

    // A line of eight words belongs to a type, if it is an ordinary one: no two of the first 128 types share one if there
    // are as many. That of others, and of ids from 256 on, is where no sender of keys can know. Neighbouring ids are in
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
