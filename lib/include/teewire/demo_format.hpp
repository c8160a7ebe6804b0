/// @file
/// The demo file: header, tick markers and chunk headers.
///
/// Header numbers are big-endian; the only little-endian number is a chunk's 16-bit size. Versions 3 (0.6.0),
/// 4 (0.6.2, 0.7: timeline markers), 5 (DDNet: other tick markers) and 6 (DDNet: SHA-256 of the map). See
/// doc/format/demo.md.
#pragma once

#include "teewire/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire {

inline constexpr std::uint8_t min_demo_version = 3;       ///< Teeworlds 0.6.0
inline constexpr std::uint8_t max_demo_version = 6;       ///< DDNet with SHA-256
inline constexpr std::size_t max_demo_markers = 64;       ///< timeline markers in a header
inline constexpr std::size_t max_demo_header_bytes = 484; ///< of version 6
/// The first bytes of every demo.
inline constexpr std::array<std::uint8_t, 7> demo_magic = {'T', 'W', 'D', 'E', 'M', 'O', 0};
/// The UUID of demoitem-sha256@ddnet.tw, which stands before the SHA-256 of the map.
inline constexpr std::array<std::uint8_t, 16> demo_sha256_marker = {0x6b, 0xe6, 0xda, 0x4a, 0xce, 0xbd, 0x38, 0x0c,
                                                                    0x9b, 0x5b, 0x12, 0x89, 0xc8, 0x42, 0xd7, 0x80};
/// Offsets in the header, in bytes. For damaged headers; parse_demo_header() reads the others.
inline constexpr std::size_t demo_version_offset = demo_magic.size();
inline constexpr std::size_t demo_map_name_offset = 72;       ///< 64 bytes
inline constexpr std::size_t demo_map_size_offset = 136;      ///< four bytes, big-endian
inline constexpr std::size_t demo_map_crc_offset = 140;       ///< the same
inline constexpr std::size_t demo_sha256_marker_offset = 436; ///< version 6
inline constexpr std::int32_t ticks_per_second = 50;          ///< of every game

/// The header as stored; text fields keep even the bytes after their terminator.
struct demo_header {
    std::uint8_t version = max_demo_version; ///< 3 to 6; as stored
    std::array<char, 64> net_version{};      ///< "0.6 626fce9a778df4d4" (also DDNet) or "0.7 802f1be60a05665f"
    std::array<char, 64> map_name{};         ///< without path
    std::uint32_t map_size = 0;              ///< bytes of the embedded map; 0 if there is none
    std::uint32_t map_crc = 0;               ///< as stored
    std::array<char, 8> type{};              ///< "client" or "server"
    std::int32_t length = 0;                 ///< seconds; 0 if the recording was not stopped properly
    std::array<char, 20> timestamp{};        ///< "YYYY-MM-DD_HH-MM-SS", local time
    std::int32_t marker_count = 0;           ///< as stored; use markers()
    std::array<std::int32_t, max_demo_markers> marker_ticks{}; ///< ticks; markers() has those that count
    bool has_sha256 = false;                                   ///< version 6; false in damaged ones
    std::array<std::uint8_t, 32> sha256{};                     ///< of the map

    /// Bytes of the header, up to the map: 176, 436 or 484.
    [[nodiscard]] constexpr std::size_t size() const noexcept {
        if (version < 4) return 176;
        return version < 6 || !has_sha256 ? demo_sha256_marker_offset : max_demo_header_bytes;
    }
    /// The timeline markers, at most 64.
    [[nodiscard]] std::span<std::int32_t const> markers() const noexcept;
    /// Whether the net version names 0.7, tested as DDNet does. It can lie: what the items are decides.
    [[nodiscard]] bool says_07() const noexcept;

    friend bool operator==(demo_header const&, demo_header const&) = default;
};

/// A header field up to its terminator, or all of it.
template <std::size_t size>
[[nodiscard]] constexpr std::string_view text(std::array<char, size> const& field) noexcept {
    std::string_view const all{field.data(), size};
    return all.substr(0, all.find('\0'));
}
/// The reverse; cut to leave a terminator.
template <std::size_t size>
constexpr void set_text(std::array<char, size>& field, std::string_view value) noexcept {
    field = {};
    value = value.substr(0, size - 1);
    for (std::size_t i = 0; i < value.size(); ++i) field[i] = value[i];
}

/// Reads the header at the start of a file. Versions above 6 are read like 6, as all players do. Errors, with the byte:
/// truncated, bad_magic, bad_version. Note: header_text.
result<demo_header> parse_demo_header(std::span<std::uint8_t const> file, note_log* notes = nullptr) noexcept;

/// Writes header.size() bytes. Error: output_full.
result<std::size_t> write_demo_header(demo_header const& header, std::span<std::uint8_t> out) noexcept;

/// The type of a chunk.
enum class demo_chunk_kind : std::uint8_t {
    unused,   ///< type 0: every player skips it
    snapshot, ///< type 1: a full snapshot
    message,  ///< type 2
    delta,    ///< type 3: against the snapshot before it in the file
    tick,     ///< not a chunk with data, but a tick marker
};

/// Limits of the format: what a chunk's size field can say, and what it may grow to.
inline constexpr std::size_t max_demo_chunk_bytes = 65535;
inline constexpr std::size_t max_demo_packed_bytes = 65536; ///< after Huffman
inline constexpr std::size_t max_demo_chunk_ints = 16384;   ///< after that
inline constexpr std::size_t max_demo_chunk_head = 3;       ///< flags and size
inline constexpr std::size_t max_demo_tick_marker = 5;      ///< flags and tick

} // namespace teewire
