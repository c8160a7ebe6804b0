// Opening datafiles and reading their items and blocks allocates nothing, zlib's own memory included.
#include "allocation_trap.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/map/tiles.hpp>

#include <memory>
#include <vector>

using namespace teewire;

int main() {
    try_trap();
    std::vector<std::uint8_t> content(100'000);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i * i >> 7);
    std::int32_t const ints[] = {1, 2, 3};
    constexpr uuid name{{1, 2, 3}};
    auto const memory = std::make_unique<inflate_memory>();
    std::vector<std::uint8_t> out(content.size());
    std::vector<tile> const cells(1000, tile{1, 0, 0, 0});
    std::vector<tile> packed(cells.size());
    std::vector<tile> expanded(cells.size());
    for (int const version : {3, 4}) {
        datafile_writer writer{{.version = version}};
        for (std::uint16_t id = 0; id < 200; ++id) writer.add_item(7, static_cast<std::uint16_t>(id * 7919), ints);
        writer.add_item(name, 0, ints);
        writer.add_block(content);
        auto const file = writer.finish();
        REQUIRE(!file.empty());

        forbidden = true;
        auto const opened = datafile::open(file);
        REQUIRE(opened && opened->type_of(name) == 0xfffe && opened->uuid_of(0xfffe) == name);
        REQUIRE(opened->find(7, 7919)->ints[2] == 3);
        auto const read = opened->read_block(0, out, *memory);
        REQUIRE(read && read->size() == content.size() && opened->check_block(0, *memory));
        REQUIRE(map_crc32(file) != 0);
        forbidden = false;
    }
    forbidden = true;
    auto const runs = std::span{packed}.first(pack_tiles(cells, packed));
    REQUIRE(count_tiles(runs) == cells.size() && expand_tiles(runs, expanded));
    forbidden = false;
    std::puts("datafiles were read without an allocation");
}
