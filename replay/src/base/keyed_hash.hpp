// A hash function for tables whose keys come from the network.
#pragma once

#include <teewire/siphash.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace teewire::replay {

/// Unpredictable ones, from the system.
[[nodiscard]] std::array<std::uint8_t, 16> random_bytes();

/// SipHash with a random key, unless one is given, so collisions cannot be prepared.
class keyed_hash {
public:
    keyed_hash() : keyed_hash{random_bytes()} {}
    explicit keyed_hash(std::array<std::uint8_t, 16> const& key) : start_{key} {}

    [[nodiscard]] std::uint64_t operator()(std::span<std::uint8_t const> bytes) const noexcept {
        siphash hash = start_;
        hash.add(bytes);
        return hash.finish();
    }
    [[nodiscard]] std::uint64_t operator()(std::uint64_t value) const noexcept {
        siphash hash = start_;
        for (int shift = 0; shift < 64; shift += 8) hash.add(static_cast<std::uint8_t>(value >> shift));
        return hash.finish();
    }

private:
    siphash start_; // with the key, and nothing else yet
};

} // namespace teewire::replay
