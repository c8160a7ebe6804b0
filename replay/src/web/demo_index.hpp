// The index next to a demo: lib/doc/format/index.md.
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

/// The facts of an index that a list of recordings needs.
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

/// Indexes are limited to 1% of the demo, but never below this.
inline constexpr std::size_t least_index_bytes = 4096;

/// "game.demo.index"
[[nodiscard]] std::string index_name(std::string const& demo);
/// The most bytes of an index for a demo of that size, unless names need more.
[[nodiscard]] constexpr std::size_t most_index_bytes(std::uint64_t demo_bytes) {
    return static_cast<std::size_t>(demo_bytes / 100 > least_index_bytes ? demo_bytes / 100 : least_index_bytes);
}

/// Reads all of the demo. `done`: bytes so far. To be called once for a document. The result is useless if the program
/// was interrupted meanwhile.
[[nodiscard]] demo_index make_index(demo_document& demo, std::function<void(std::uint64_t)> const& done = {});
/// None if it is not a valid index, whatever the file's origin. `json`: decompressed.
[[nodiscard]] std::optional<index_facts> parse_index(std::span<std::uint8_t const> json);
/// The same of a file; none if there is no such file.
[[nodiscard]] std::optional<index_facts> read_index(std::string const& file);

/// The SHA-256 of the first and the last 64 KiB, or of all if there is no more.
[[nodiscard]] std::string ends_sha256(std::span<std::uint8_t const> demo);
[[nodiscard]] std::string ends_sha256(stored_file const& demo);

} // namespace teewire::replay
