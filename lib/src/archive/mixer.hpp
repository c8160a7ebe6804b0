// How likely a bit is: several contexts each have their own count of what followed, and weights that are learned join
// their opinions. Only integers, so that every machine computes the same. See doc/format/archive.md#probabilities.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace teewire::archive {

inline constexpr std::size_t contexts = 4; // of a bit

// 65536 / (1 + e^-x) for x from -8 to 8 in halves.
inline constexpr std::array<std::int32_t, 33> logistic = {
    22,    36,    60,    98,    162,   267,   439,   720,   1179,  1921,  3108,
    4971,  7812,  11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
    62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514};

// The logistic function of x / 256, between those points in straight lines. x is -2048 to 2047.
constexpr std::int32_t squash(std::int32_t x) noexcept {
    auto const at = static_cast<std::size_t>((x + 2048) >> 7);
    std::int32_t const step = (x + 2048) & 127;
    return logistic[at] + (((logistic[at + 1] - logistic[at]) * step) >> 7);
}

struct mixing_tables {
    std::array<std::uint16_t, 4096> squashed; // of x + 2048
    std::array<std::int16_t, 4096>
        stretched; // of a probability of 4096: the smallest x whose squash is not below it
    std::array<std::uint16_t, 1024> reciprocal; // how far a count of so many moves
};
constexpr mixing_tables make_mixing_tables() noexcept {
    mixing_tables t{};
    for (std::size_t i = 0; i < 4096; ++i)
        t.squashed[i] = static_cast<std::uint16_t>(squash(static_cast<std::int32_t>(i) - 2048));
    std::size_t x = 0;
    for (std::size_t p = 0; p < 4096; ++p) {
        while (x < 4095 && t.squashed[x] < p * 16 + 8) ++x;
        t.stretched[p] = static_cast<std::int16_t>(static_cast<int>(x) - 2048);
    }
    for (std::size_t n = 0; n < 1024; ++n) t.reciprocal[n] = static_cast<std::uint16_t>(16384 / (2 * n + 3));
    return t;
}
inline constexpr mixing_tables tables = make_mixing_tables();

inline constexpr std::array<std::uint32_t, 4> hash_factors = {0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f};
template <class... Values>
constexpr std::uint32_t hash(Values... values) noexcept {
    std::uint32_t h = 0;
    std::size_t i = 0;
    ((h += static_cast<std::uint32_t>(values) * hash_factors[i++]), ...);
    h = (h ^ h >> 15) * 0x2c1b3c6d;
    return h ^ h >> 16;
}

class mixer {
public:
    using weights = std::array<std::int32_t, contexts>;

    void start() noexcept {
        for (auto& table : counts_) table.fill(1U << 31);
        for (auto& set : weights_) set.fill(1 << 15);
    }

    // The contexts of the next bits, each by a hash, and what their weights depend on.
    std::array<std::uint32_t, contexts> hashes;
    void use(std::uint32_t weight_set) noexcept { set_ = &weights_[weight_set % weights_.size()]; }

    template <class Coder>
    bool code(Coder& coder, bool bit, std::uint32_t node) noexcept {
        std::array<std::uint32_t*, contexts> entries;
        std::array<std::int32_t, contexts> inputs;
        weights& w = *set_;
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < contexts; ++i) {
            entries[i] = &counts_[i][(hashes[i] ^ node) & (counts_[i].size() - 1)];
            inputs[i] = tables.stretched[*entries[i] >> 20];
            sum += std::int64_t{inputs[i]} * w[i];
        }
        auto const x = static_cast<std::int32_t>(std::clamp<std::int64_t>(sum >> 16, -2048, 2047));
        std::int32_t const one = tables.squashed[static_cast<std::size_t>(x) + 2048];
        bit = coder.code(bit, static_cast<std::uint32_t>(one));
        std::int32_t const error = ((bit ? 65535 : 0) - one) * rate >> 4;
        std::int32_t const target = bit ? (1 << 22) - 1 : 0;
        for (std::size_t i = 0; i < contexts; ++i) {
            auto const moved = static_cast<std::uint32_t>((inputs[i] * error + 0x8000) >> 16);
            w[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(w[i]) + moved); // wraps
            std::uint32_t const entry = *entries[i];
            std::uint32_t const n = entry & 1023;
            auto const away = static_cast<std::uint32_t>((target - static_cast<std::int32_t>(entry >> 10)) >> 3);
            *entries[i] = entry + (away * tables.reciprocal[n] & ~1023U) + (n < max_count);
        }
        return bit;
    }

private:
    static constexpr std::int32_t rate = 10;        // at which weights learn
    static constexpr std::uint32_t max_count = 255; // later ones count as much as the one that is reached

    std::array<std::array<std::uint32_t, 1 << 15>, contexts> counts_;
    std::array<weights, 1 << 14> weights_;
    weights* set_;
};

} // namespace teewire::archive
