// The requests of web browsers.
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

    /// `header`: the value of `Range`, or empty: "bytes=0-99", "bytes=100-", "bytes=-100". `all`: the size of the file.
    [[nodiscard]] static byte_range parse(std::string_view header, std::uint64_t all) noexcept;
};

/// The target of a request in its two forms: "/path?query" and "http://host/path?query".
struct request_target {
    std::optional<std::string_view> host{}; ///< with its port; none in the first form
    std::string_view path;                  ///< without its first slash and without the query
    std::string_view query;                 ///< without its question mark

    [[nodiscard]] static request_target parse(std::string_view target) noexcept;
};

/// Whether a host, with or without a port, is this machine's own name: a name in an attacker's page may lead here, too.
[[nodiscard]] bool is_local_host(std::string_view host) noexcept;

/// The decoded path of a request: "a%20b" is "a b". None if it is malformed, or has a zero byte.
[[nodiscard]] std::optional<std::string> decode_path(std::string_view path);
/// The reverse; slashes are kept.
[[nodiscard]] std::string encode_path(std::string_view path);

} // namespace teewire::replay
