// A map that was read, with everything that was found wrong with it.
#pragma once

#include "base/json.hpp"
#include "map/source.hpp"

#include <teewire/map/map.hpp>
#include <teewire/map/xvector.hpp>

#include <memory>
#include <optional>

namespace teewire::replay {

using problem_list = std::vector<map_problem>;

/// A Teeworlds or DDNet map. `container` is empty if the file is not a datafile, `map` if the datafile is not a map.
struct map_document {
    std::optional<datafile> container;
    std::optional<game_map> map;
    problem_list problems; ///< in the order of finding, each one once
};
/// Never throws for what the file holds. The source must outlive the result. `on_block` gets what is decompressed, as
/// from read_map.
[[nodiscard]] map_document read_document(map_source const& source, map_block_listener on_block = {},
                                         map_contents contents = map_contents::all);

/// An xVector map. `header` is empty if it could not be read.
struct xvector_document {
    std::optional<xvector_header> header;
    std::vector<xvector_tile> tiles; ///< in no order; one for each cell at most
    problem_list problems;
};
[[nodiscard]] xvector_document read_xvector(map_source const& source);

/// Decompressed, in memory that is made larger where it is too small, and is for the next one, too. Throws map_problem.
[[nodiscard]] std::span<std::uint8_t const> read_block(datafile const& file, std::int32_t block,
                                                       std::vector<std::uint8_t>& memory);
[[nodiscard]] std::vector<std::uint8_t> read_block(datafile const& file, std::int32_t block);

/// Whether one of them is worse than a note.
[[nodiscard]] bool any_damage(problem_list const& problems);
/// Whether real programs refuse the file for one of them.
[[nodiscard]] bool any_error(problem_list const& problems);
/// As members of the object: severity, code, position, place, value, expected, message.
void write_problem(object_writer& object, map_problem const& problem);

/// CRC-32 as 8 hex digits, SHA-256 as 64.
[[nodiscard]] std::string crc32_text(std::span<std::uint8_t const> bytes);
[[nodiscard]] std::string sha256_text(std::span<std::uint8_t const> bytes);

} // namespace teewire::replay
