// Uses the map library as installed.
#include <teewire/map/datafile.hpp>

#include <cstdio>
#include <vector>

int main() {
    std::vector<std::uint8_t> const content(1000, 7);
    teewire::datafile_writer writer;
    auto const block = writer.add_block(content);
    auto const file = writer.finish();
    auto const opened = teewire::datafile::open(file);
    if (!opened) return 1;
    auto const size = opened->block_size(block);
    if (!size) return 2;
    std::printf("%zu bytes\n", *size);
}
