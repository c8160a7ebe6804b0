// Hashes of untrusted input.
#include "check.hpp"
#include "temporary_file.hpp"

#include "base/keyed_hash.hpp"
#include "map/document.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <unordered_set>

using namespace teewire;
using namespace teewire::replay;

namespace {

constexpr std::array<std::uint8_t, 16> key{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::array<std::uint8_t, 8> eight{0, 1, 2, 3, 4, 5, 6, 7};

} // namespace

TEST_CASE("a keyed hash is SipHash, of a number that of its bytes") {
    keyed_hash const hash{key};
    CHECK(hash(eight) == 0x93f5f5799a932462);
    CHECK(hash(std::uint64_t{0x0706050403020100}) == 0x93f5f5799a932462);
    CHECK(hash(std::span{eight}.first(0)) == 0x726fdb47dd0e0e31);
    CHECK(hash(eight) == 0x93f5f5799a932462); // it keeps nothing
}

TEST_CASE("a keyed hash has a key of its own that nobody can foresee") {
    keyed_hash const one, other;
    CHECK(one(eight) != other(eight));
    keyed_hash const copy = one; // as tables make them
    CHECK(copy(eight) == one(eight));
    CHECK(random_bytes() != random_bytes());
}

TEST_CASE("tiles of an xVector map in places that a hash without a key puts together take no longer") {
    constexpr std::uint32_t count = 10'000;
    std::unordered_set<std::uint64_t> plain;
    for (std::uint64_t i = 0; i < count; ++i) plain.insert(i);
    auto const seconds = [&](std::uint32_t width) {
        xvector_header header;
        header.name = "made up";
        header.width = width;
        header.height = count;
        header.depth = 1;
        std::vector<xvector_tile> tiles(count);
        for (std::uint32_t i = 0; i < count; ++i) tiles[i].y = i;
        test::bytes bytes(xvector_size(header, count));
        REQUIRE(write_xvector(header, tiles, bytes));
        test::temporary_file const file{bytes};
        map_source const source{file.path()};
        std::clock_t best = std::numeric_limits<std::clock_t>::max();
        for (int i = 0; i < 3; ++i) {
            std::clock_t const begin = std::clock();
            CHECK(read_xvector(source).tiles.size() == count);
            best = std::min(best, std::clock() - begin);
        }
        return static_cast<double>(best) / CLOCKS_PER_SEC;
    };
    CHECK(seconds(static_cast<std::uint32_t>(plain.bucket_count())) < 5 * seconds(7) + 0.01);
}
