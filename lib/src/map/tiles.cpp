#include "teewire/map/tiles.hpp"

#include <algorithm>

namespace teewire {

std::size_t count_tiles(std::span<tile const> packed) noexcept {
    std::size_t cells = packed.size();
    for (tile const& run : packed) cells += run.skip;
    return cells;
}

result<std::size_t, tile_failure> expand_tiles(std::span<tile const> packed, std::span<tile> out) noexcept {
    std::size_t at = 0;
    for (std::size_t i = 0; i < packed.size(); ++i) {
        tile const run = packed[i];
        if (at == out.size()) return tile_failure{map_errc::packed_tiles_too_long, i};
        if (run.reserved != 0) return tile_failure{map_errc::nonzero_reserved, i};
        std::size_t const length = std::size_t{1} + run.skip;
        std::size_t const fits = std::min(length, out.size() - at);
        std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), fits, tile{run.index, run.flags, 0, 0});
        at += fits;
        if (fits < length && i + 1 == packed.size()) return length - fits;
    }
    if (at < out.size()) return tile_failure{map_errc::packed_tiles_too_short, packed.size()};
    return std::size_t{0};
}

std::size_t pack_tiles(std::span<tile const> cells, std::span<tile> out) noexcept {
    assert(out.size() >= cells.size());
    std::size_t runs = 0;
    for (std::size_t at = 0; at < cells.size();) {
        tile const first = cells[at];
        std::size_t end = at + 1;
        while (end < cells.size() && end - at < 256 && cells[end].index == first.index &&
               cells[end].flags == first.flags)
            ++end;
        out[runs++] = {first.index, first.flags, static_cast<std::uint8_t>(end - at - 1), 0};
        at = end;
    }
    return runs;
}

} // namespace teewire
