// Maps as pictures.
#pragma once

#include "map/picture.hpp"
#include "map/source.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

struct drawing_options {
    std::string layer = "all";     ///< or "game": what tiles do, in one colour for each kind
    std::string mapres;            ///< folder of pictures; empty for none
    std::optional<unsigned> scale; ///< pixels per tile
    std::int64_t side = 4096;      ///< pixels that the longer side has at most, where tiles of one pixel allow it
    std::vector<std::int64_t> region; ///< x, y, width, height in tiles; or empty for all

    std::function<void(std::string const&)> say;        ///< gets what the picture lacks; may be empty
    std::function<void(std::size_t, std::size_t)> done; ///< layers drawn, and all; may be empty
};

/// Incomplete if the program was interrupted. Throws bad_input, and usage_error for a region or scale that cannot be drawn.
[[nodiscard]] picture draw_map(map_source const& source, drawing_options const& options);

} // namespace teewire::replay
