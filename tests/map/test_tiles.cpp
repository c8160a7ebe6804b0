#include "check.hpp"
#include "random.hpp"

#include "teewire/map/tiles.hpp"

#include <algorithm>

using namespace teewire;

namespace {

std::vector<tile> packed(std::vector<tile> const& cells) {
    std::vector<tile> out(cells.size());
    out.resize(pack_tiles(cells, out));
    return out;
}

std::string error_of(result<std::size_t, tile_failure> const& r) {
    return r ? "ok" : std::string{name(r.error().code)} + " " + std::to_string(r.error().position);
}

} // namespace

TEST_CASE("tiles: angles of speedups are signed") {
    speedup_tile t;
    for (int const angle : {0, 1, 270, 359, -1, -32768, 32767}) {
        t.set_angle(static_cast<std::int16_t>(angle));
        CHECK(t.angle() == angle);
    }
    t.set_angle(270);
    CHECK(t.angle_low == 14);
    CHECK(t.angle_high == 1);
}

TEST_CASE("tiles: runs end at 256 cells and where index or flags change") {
    std::vector<tile> cells(600, tile{5, 1, 0, 0});
    cells[599].flags = 2;
    auto const runs = packed(cells);
    REQUIRE(runs.size() == 4);
    CHECK(runs[0] == tile{5, 1, 255, 0});
    CHECK(runs[1] == tile{5, 1, 255, 0});
    CHECK(runs[2] == tile{5, 1, 86, 0});
    CHECK(runs[3] == tile{5, 2, 0, 0});
    CHECK(count_tiles(runs) == 600);
}

TEST_CASE("tiles: packing ignores what games put into skip, and expanding gives everything else back") {
    test::random random{1};
    for (int round = 0; round < 200; ++round) {
        std::vector<tile> cells(1 + random.below(3000));
        for (auto& t : cells)
            t = {static_cast<std::uint8_t>(random.below(3)), static_cast<std::uint8_t>(random.below(2)), 0, 0};
        if (round % 2 == 0)
            std::fill(cells.begin() + static_cast<std::ptrdiff_t>(cells.size() / 2), cells.end(), tile{});
        auto dirty = cells;
        for (auto& t : dirty) t.skip = random.byte();
        auto const runs = packed(cells);
        CHECK(runs == packed(dirty));
        CHECK(count_tiles(runs) == cells.size());
        std::vector<tile> out(cells.size());
        REQUIRE(error_of(expand_tiles(runs, out)) == "ok");
        CHECK(out == cells);
        // No two neighbours could have been one.
        for (std::size_t i = 1; i < runs.size(); ++i)
            CHECK((runs[i - 1].index != runs[i].index || runs[i - 1].flags != runs[i].flags ||
                   runs[i - 1].skip == 255));
    }
}

TEST_CASE("tiles: damaged runs") {
    std::vector<tile> out(10);
    CHECK(error_of(expand_tiles(std::vector<tile>{{1, 0, 8, 0}}, out)) == "packed_tiles_too_short 1");
    CHECK(error_of(expand_tiles({}, out)) == "packed_tiles_too_short 0");
    CHECK(error_of(expand_tiles(std::vector<tile>{{1, 0, 9, 0}, {1, 0, 0, 0}}, out)) == "packed_tiles_too_long 1");
    // The last run of all may go too far, any other may not.
    auto const far = expand_tiles(std::vector<tile>{{1, 0, 4, 0}, {2, 0, 255, 0}}, out);
    REQUIRE(far);
    CHECK(*far == 251);
    CHECK(out[4].index == 1);
    CHECK(out[9] == tile{2, 0, 0, 0});
    CHECK(error_of(expand_tiles(std::vector<tile>{{1, 0, 19, 0}, {2, 0, 0, 0}}, out)) == "packed_tiles_too_long 1");
    CHECK(error_of(expand_tiles(std::vector<tile>{{1, 0, 4, 0}, {1, 0, 4, 9}}, out)) == "nonzero_reserved 1");
    CHECK(error_of(expand_tiles({}, {})) == "ok");
}
