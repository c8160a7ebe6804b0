// A Bloom filter of keys, with one hash function.
#pragma once

#include "teewire/snapshot.hpp"

#include "hash.hpp"

#include <algorithm>
#include <bit>

namespace teewire {

// Knows most keys that are not in a set. With a word of memory for each key of the set, one in 32 others is a false
// positive. Where few of the keys that are asked for are in it, that costs a fraction of an index.
class key_filter {
public:
    // Empty. Keeps `words`.
    explicit key_filter(std::span<std::uint32_t> words) noexcept
        : words_{words.data()}, multiplier_{hash_multiplier(detail::hash_attempts, words.data())},
          shift_{64U - 5U - static_cast<unsigned>(std::bit_width(words.size()) - 1)} {
        std::fill_n(words_, std::bit_floor(words.size()), 0U);
    }

    void insert(std::int32_t key) noexcept {
        std::size_t const at = place(key);
        words_[at / 32] |= 1U << at % 32;
    }
    [[nodiscard]] bool may_hold(std::int32_t key) const noexcept {
        std::size_t const at = place(key);
        return (words_[at / 32] >> at % 32 & 1U) != 0;
    }

private:
    [[nodiscard]] std::size_t place(std::int32_t key) const noexcept {
        return static_cast<std::size_t>(static_cast<std::uint32_t>(key) * multiplier_ >> shift_);
    }

    std::uint32_t* words_;
    std::uint64_t multiplier_;
    unsigned shift_;
};

} // namespace teewire
