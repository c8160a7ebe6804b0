// What requests of web browsers ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

struct byte_range {
    enum class kind : std::uint8_t {
        whole, ///< nothing else was asked for, or something that need not be understood: several parts, other units
        part,
        beyond, ///< no byte of it is there
    };
    kind what = kind::whole;
    std::uint64_t begin = 0;
    std::uint64_t size = 0;

    /// `header`: what `Range` says, or empty: "bytes=0-99", "bytes=100-", "bytes=-100". `all`: bytes that there are.
    [[nodiscard]] static byte_range parse(std::string_view header, std::uint64_t all) noexcept;
};

/// What a path in a request means: "a%20b" is "a b". None if it is malformed, or has a zero byte.
[[nodiscard]] std::optional<std::string> decode_path(std::string_view path);
/// The reverse, with slashes as they are.
[[nodiscard]] std::string encode_path(std::string_view path);

} // namespace teewire::replay
