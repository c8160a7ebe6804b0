/// @file
/// SipHash-2-4: a keyed hash, for tables whose keys come from the network.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

/// Hashes bytes with a key. Without the key, an attacker cannot find inputs that collide, and so cannot make a hash
/// table slow. About 2 ns a byte.
class siphash {
public:
    /// `key`: unpredictable bytes.
    explicit constexpr siphash(std::array<std::uint8_t, 16> const& key) noexcept {
        std::uint64_t const k0 = word(key, 0);
        std::uint64_t const k1 = word(key, 8);
        v_ = {k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU, k0 ^ 0x6c7967656e657261U,
              k1 ^ 0x7465646279746573U};
    }

    /// Adds a byte after those added before.
    constexpr void add(std::uint8_t byte) noexcept {
        pending_ |= std::uint64_t{byte} << (size_ % 8 * 8);
        if (++size_ % 8 != 0) return;
        mix(pending_);
        pending_ = 0;
    }
    /// Adds bytes, one after the other.
    constexpr void add(std::span<std::uint8_t const> bytes) noexcept {
        for (std::uint8_t const byte : bytes) add(byte);
    }
    /// The hash of all that was added. To be called once.
    [[nodiscard]] constexpr std::uint64_t finish() noexcept {
        mix(pending_ | std::uint64_t{size_} << 56);
        v_[2] ^= 0xff;
        for (int i = 0; i < 4; ++i) round();
        return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    }

private:
    static constexpr std::uint64_t word(std::array<std::uint8_t, 16> const& key, std::size_t at) noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{key[at + i]} << (8 * i);
        return value;
    }
    constexpr void mix(std::uint64_t m) noexcept {
        v_[3] ^= m;
        round();
        round();
        v_[0] ^= m;
    }
    constexpr void round() noexcept {
        auto& [a, b, c, d] = v_;
        a += b;
        b = std::rotl(b, 13) ^ a;
        a = std::rotl(a, 32);
        c += d;
        d = std::rotl(d, 16) ^ c;
        a += d;
        d = std::rotl(d, 21) ^ a;
        c += b;
        b = std::rotl(b, 17) ^ c;
        c = std::rotl(c, 32);
    }

    std::array<std::uint64_t, 4> v_{};
    std::uint64_t pending_ = 0;
    std::size_t size_ = 0;
};

} // namespace teewire
