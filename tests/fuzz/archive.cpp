// Archives of whatever the input is: divided, encoded, and every byte given back.
#include "demo_mutator.hpp"

#include <teewire/archive.hpp>

using namespace teewire;
using fuzz::exact;

namespace {

auto& memory = fuzz::lasting<archive_encoder_memory>();
auto& player_memory = fuzz::lasting<demo_player_memory>();

void run_target(fuzz::bytes_view data) {
    exact<std::uint8_t> const file{data};
    archive_divider divider{file.view(), player_memory};
    std::uint64_t at = 0;
    std::vector<archive_block> blocks;
    for (archive_block block; divider.next(block);) {
        FUZZ_REQUIRE(block.begin == at && block.size > 0 && block.size <= max_archive_block_bytes);
        at += block.size;
        exact<std::uint8_t> const room{block.size};
        auto const size = encode_archive_block(file.view(), block, memory, room.span());
        FUZZ_REQUIRE(size && *size == block.packed_size && *size <= block.size);
        exact<std::uint8_t> const packed{room.view().first(*size)};
        exact<std::uint8_t> const out{block.size};
        auto const whole = decode_archive_block(block, packed.view(), memory.coding, out.span());
        FUZZ_REQUIRE(whole &&
                     fuzz::same(*whole, file.view().subspan(static_cast<std::size_t>(block.begin), block.size)));
        block.position =
            archive_entry_bytes +
            (blocks.empty() ? archive_header_bytes : blocks.back().position + blocks.back().packed_size);
        blocks.push_back(block);
    }
    FUZZ_REQUIRE(at == file.view().size());
    exact<std::uint8_t> const index{archive_index_bytes(blocks.size())};
    FUZZ_REQUIRE(write_archive_index(blocks, index.span()));
    std::uint64_t const end =
        blocks.empty() ? archive_header_bytes : blocks.back().position + blocks.back().packed_size;
    auto const opened = archive_index::open(index.view(), end + index.view().size());
    FUZZ_REQUIRE(opened && opened->original_size() == at && opened->size() == blocks.size());
    archive_index walk = *opened;
    archive_block found;
    for (archive_block const& block : blocks) FUZZ_REQUIRE(walk.next(found) && found == block);
    FUZZ_REQUIRE(!walk.next(found));
}

} // namespace

FUZZ_TARGET("archive", run_target)
FUZZ_MUTATOR(0, fuzz::mutate_demo)
FUZZ_CROSSOVER(0, fuzz::cross_demos)
