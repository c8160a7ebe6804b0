// Untrusted archives: the input as the end of one, and as a block. The first three bytes choose how that is coded.
#include "fuzz.hpp"

#include <teewire/archive.hpp>

using namespace teewire;
using fuzz::exact;

namespace {

auto& memory = fuzz::lasting<archive_memory>();

void check_index(fuzz::bytes_view end) {
    if (auto const entry = read_archive_entry(end, 0))
        FUZZ_REQUIRE(entry->size >= entry->packed_size && entry->position <= end.size());
    auto const count = count_archive_blocks(end);
    auto const opened = archive_index::open(end, end.size());
    if (!opened) return FUZZ_REQUIRE(opened.error().position <= end.size());
    FUZZ_REQUIRE(count && *count == opened->size());
    archive_index index = *opened;
    std::uint64_t at = 0;
    for (archive_block block; index.next(block);) {
        FUZZ_REQUIRE(block.begin == at && block.position + block.packed_size <= end.size());
        at += block.size;
    }
    FUZZ_REQUIRE(at == opened->original_size());
}

void run_target(fuzz::bytes_view data) {
    check_index(data);
    fuzz::input in{data};
    archive_block block;
    block.coding = static_cast<archive_coding>(in.byte() % 4);
    block.demo_version = in.byte();
    block.sizes = static_cast<std::uint8_t>(in.byte() % size_tables.size());
    exact<std::uint8_t> const packed{in.rest()};
    block.packed_size = static_cast<std::uint32_t>(packed.view().size());
    block.size = 8 * block.packed_size + 1;
    if (block.coding == archive_coding::map)
        if (auto const place = read_archive_map_place(packed.view())) {
            std::array<std::uint8_t, archive_map_place_bytes> bytes;
            FUZZ_REQUIRE(write_archive_map_place(*place, bytes) &&
                         fuzz::same(fuzz::bytes_view{bytes}, packed.view().first(bytes.size())));
        }
    exact<std::uint8_t> const out{block.size};
    // The same, with an archive that is cut.
    ++block.packed_size;
    auto const cut = decode_archive_block(block, packed.view(), memory, out.span());
    FUZZ_REQUIRE(cut || cut.error().position <= block.size);
    --block.packed_size;
    auto const first = decode_archive_block(block, packed.view(), memory, out.span());
    if (first) return;
    FUZZ_REQUIRE(first.error().position <= block.size);
    if (first.error().code != errc::bad_checksum) return;
    // With that of what was decoded, it is in order, and again the same.
    block.checksum = archive_checksum(out.view());
    exact<std::uint8_t> const again{block.size};
    auto const second = decode_archive_block(block, packed.view(), memory, again.span());
    FUZZ_REQUIRE(second && fuzz::same(*second, out.view()));
}

} // namespace

FUZZ_TARGET("archive_block", run_target)
