#include "check.hpp"

#include <teewire/siphash.hpp>

using namespace teewire;

TEST_CASE("SipHash: the reference's test vectors around the ends of blocks") {
    std::array<std::uint8_t, 16> key{};
    std::array<std::uint8_t, 63> input{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::uint8_t>(i);
    struct {
        std::size_t size;
        std::uint64_t hash;
    } const vectors[] = {{0, 0x726fdb47dd0e0e31},  {1, 0x74f839c593dc67fd},  {7, 0xab0200f58b01d137},
                         {8, 0x93f5f5799a932462},  {9, 0x9e0082df0ba9e4b0},  {15, 0xa129ca6149be45e5},
                         {16, 0x3f2acc7f57c29bdb}, {17, 0x699ae9f52cbe4794}, {63, 0x958a324ceb064572}};
    for (auto const& v : vectors) {
        CAPTURE(v.size);
        siphash hash{key};
        hash.add(std::span{input}.first(v.size));
        CHECK(hash.finish() == v.hash);
    }
}
