// Reproducible random numbers: splitmix64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

class random {
public:
    explicit random(std::uint64_t seed) : state_{seed} {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// 0 to bound - 1.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
    bool chance(unsigned percent) { return below(100) < percent; }
    std::uint8_t byte() { return static_cast<std::uint8_t>(next()); }
    /// A value of any length, short ones as often as long ones.
    std::int32_t value() {
        auto const bits = static_cast<std::uint32_t>(next());
        return static_cast<std::int32_t>(bits) >> below(32);
    }
    /// Mostly zeros, as real data, or evenly spread.
    std::vector<std::uint8_t> data(std::size_t size, bool mostly_zero) {
        std::vector<std::uint8_t> all(size);
        for (auto& b : all) b = mostly_zero && chance(70) ? std::uint8_t{0} : byte();
        return all;
    }

private:
    std::uint64_t state_;
};

} // namespace test
