/// @file
/// UUIDs, which name what DDNet adds to the formats: doc/format/snapshot.md#extended-types,
/// doc/format/datafile.md#types-with-a-uuid.
#pragma once

#include <array>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire {

/// Identifies a type that has no number of its own. In a snapshot it travels as an item of type 0 whose id is the alias
/// that stands for the type, in a map as one of type 65535; the item's data is the UUID as four big-endian words.
struct uuid {
    std::array<std::uint8_t, 16> bytes{}; ///< in the order in which it is written

    /// The four ints of the describing item.
    [[nodiscard]] constexpr std::array<std::int32_t, 4> ints() const noexcept {
        std::array<std::int32_t, 4> words{};
        for (std::size_t i = 0; i < 16; ++i)
            words[i / 4] = static_cast<std::int32_t>(static_cast<std::uint32_t>(words[i / 4]) << 8 | bytes[i]);
        return words;
    }
    /// The reverse of ints().
    [[nodiscard]] static constexpr uuid from_ints(std::span<std::int32_t const, 4> words) noexcept {
        uuid id;
        for (std::size_t i = 0; i < 16; ++i)
            id.bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(words[i / 4]) >> (24 - 8 * (i % 4)));
        return id;
    }
    /// Parses "76ce455b-f9eb-3a48-add7-e04b941d045c"; anything else stops the compilation or is asserted.
    [[nodiscard]] static constexpr uuid parse(std::string_view text) noexcept {
        uuid id;
        std::size_t digits = 0;
        for (char const c : text) {
            if (c == '-') continue;
            bool const decimal = c >= '0' && c <= '9';
            assert(digits < 32 && (decimal || (c >= 'a' && c <= 'f')));
            auto const digit = static_cast<std::uint8_t>(decimal ? c - '0' : c - 'a' + 10);
            id.bytes[digits / 2] = static_cast<std::uint8_t>(id.bytes[digits / 2] << 4 | digit);
            ++digits;
        }
        assert(digits == 32);
        return id;
    }

    /// By the bytes.
    friend constexpr std::strong_ordering operator<=>(uuid const&, uuid const&) = default;
};

} // namespace teewire
