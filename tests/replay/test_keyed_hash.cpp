// Hashes of what strangers choose.
#include "io/keyed_hash.hpp"

#include <doctest/doctest.h>

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
