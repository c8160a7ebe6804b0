// What is where in a demo, beside it: lib/doc/format/index.md.
#pragma once

#include "base/stored_file.hpp"
#include "recording/demo/demo_document.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// What of an index those need who list recordings.
struct index_facts {
    std::uint64_t size = 0; ///< of the demo, in bytes
    std::string sha256;     ///< of all of it, in hexadecimal digits, as the next
    std::string ends_sha256;
    std::string protocol;
    std::string map_sha256; ///< of the map in it; what the header says if there is none
    std::int32_t first_tick = -1;
    std::int32_t last_tick = -1;
    std::vector<std::string> players; ///< their names, in the order of appearance
    std::string error;                ///< where the demo is damaged; empty if it is not
};

struct demo_index {
    std::vector<std::uint8_t> bytes; ///< of the file
    index_facts facts;
};

/// Of a demo that is no longer than that, an index may be longer than a hundredth of it.
inline constexpr std::size_t least_index_bytes = 4096;

/// "game.demo.index"
[[nodiscard]] std::string index_name(std::string const& demo);
/// The most bytes that an index of a demo of that size has, unless names alone need more.
[[nodiscard]] constexpr std::size_t most_index_bytes(std::uint64_t demo_bytes) {
    return static_cast<std::size_t>(demo_bytes / 100 > least_index_bytes ? demo_bytes / 100 : least_index_bytes);
}

/// Reads all of the demo. `done`: how many bytes so far. To be called once for a session. Of no use if the program was
/// interrupted meanwhile.
[[nodiscard]] demo_index make_index(demo_document& demo, std::function<void(std::uint64_t)> const& done = {});
/// None if it is none that can be read, whatever somebody has put there. `json`: decompressed.
[[nodiscard]] std::optional<index_facts> parse_index(std::span<std::uint8_t const> json);
/// The same of a file; none if there is no such file.
[[nodiscard]] std::optional<index_facts> read_index(std::string const& file);

/// Of the first and the last 64 KiB, or of all if there is no more.
[[nodiscard]] std::string ends_sha256(std::span<std::uint8_t const> demo);
[[nodiscard]] std::string ends_sha256(stored_file const& demo);

} // namespace teewire::replay
