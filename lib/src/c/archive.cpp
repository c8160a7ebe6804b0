#include "teewire_archive.h"

#include "convert.hpp"

#include "teewire/archive.hpp"

#include <algorithm>

using namespace teewire;
using namespace teewire::c;

namespace {

static_assert(TEEWIRE_ARCHIVE_HEADER_BYTES == archive_header_bytes);
static_assert(TEEWIRE_ARCHIVE_ENTRY_BYTES == archive_entry_bytes);
static_assert(TEEWIRE_ARCHIVE_FOOTER_BYTES == archive_footer_bytes);
static_assert(TEEWIRE_MAX_ARCHIVE_BLOCK_BYTES == max_archive_block_bytes);
// Programs align their memory for less.
constexpr std::size_t memory_bytes = sizeof(archive_memory) + alignof(archive_memory) - TEEWIRE_ALIGN;
static_assert(memory_bytes <= TEEWIRE_ARCHIVE_MEMORY_SIZE);
static_assert(archive_index_bytes(max_archive_blocks) <= INT32_MAX);

// One number has all that only decoding needs.
constexpr std::uint32_t version_shift = 8, sizes_shift = 16, coding_bits = 24;

teewire_archive_block given(archive_block const& b) noexcept {
    teewire_archive_block out = {};
    out.begin = b.begin;
    out.position = b.position;
    out.original_size = b.size;
    out.packed_size = b.packed_size;
    out.checksum = b.checksum;
    out.coding = static_cast<std::uint32_t>(b.coding) | std::uint32_t{b.demo_version} << version_shift |
                 std::uint32_t{b.sizes} << sizes_shift;
    out.first_tick = b.first_tick;
    out.last_tick = b.last_tick;
    if (b.ordered) out.flags |= TEEWIRE_ARCHIVE_ORDERED;
    if (b.keyframe) out.flags |= TEEWIRE_ARCHIVE_KEYFRAME;
    if (b.coding == archive_coding::map) out.flags |= TEEWIRE_ARCHIVE_MAP;
    return out;
}

archive_memory& made_in(void* memory) noexcept {
    auto const misaligned = reinterpret_cast<std::uintptr_t>(memory) % alignof(archive_memory);
    auto* const aligned =
        static_cast<unsigned char*>(memory) + (misaligned == 0 ? 0 : alignof(archive_memory) - misaligned);
    return *::new (static_cast<void*>(aligned)) archive_memory;
}

archive_block taken(teewire_archive_block const& b) noexcept {
    archive_block out;
    out.coding = static_cast<archive_coding>(b.coding & 0xff);
    out.demo_version = static_cast<std::uint8_t>(b.coding >> version_shift);
    out.sizes = static_cast<std::uint8_t>(b.coding >> sizes_shift);
    out.size = b.original_size;
    out.packed_size = b.packed_size;
    out.checksum = b.checksum;
    return out;
}

} // namespace

std::uint32_t teewire_archive_memory_size(void) { return memory_bytes; }

std::int32_t teewire_archive_is(std::uint8_t const* file, std::uint64_t file_size) {
    std::size_t const size = std::min<std::uint64_t>(file_size, archive_header_bytes);
    return size == archive_header_bytes && is_archive({file, size}) && file[size - 1] == archive_version;
}

std::int32_t teewire_archive_index_bytes(std::uint8_t const* end, std::uint64_t size, teewire_failure* failure) {
    if (size > SIZE_MAX) return bad_argument(failure);
    auto const blocks = count_archive_blocks({end, static_cast<std::size_t>(size)});
    return blocks ? count(archive_index_bytes(*blocks)) : fail(blocks.error(), failure);
}

std::int32_t teewire_archive_index_read(std::uint8_t const* end, std::uint64_t size, std::uint64_t archive_size,
                                        teewire_archive_block* blocks, std::uint32_t capacity,
                                        teewire_failure* failure) {
    if (size > SIZE_MAX || size > archive_size) return bad_argument(failure);
    auto const opened = archive_index::open({end, static_cast<std::size_t>(size)}, archive_size);
    if (!opened) return fail(opened.error(), failure);
    archive_index index = *opened;
    archive_block block;
    for (std::uint32_t n = 0; n < capacity && index.next(block); ++n) blocks[n] = given(block);
    return count(index.size());
}

std::int32_t teewire_archive_entry_read(std::uint8_t const* entry, std::uint64_t size, teewire_archive_block* out,
                                        teewire_failure* failure) {
    std::size_t const there = std::min<std::uint64_t>(size, archive_entry_bytes);
    auto block = read_archive_entry({entry, there}, 0);
    if (!block) return fail(block.error(), failure);
    *out = given(*block);
    out->position = 0;
    return TEEWIRE_OK;
}

std::int32_t teewire_archive_decode(teewire_archive_block const* block, std::uint8_t const* packed,
                                    std::uint64_t packed_size, void* memory, std::uint32_t memory_size,
                                    std::uint8_t* out, std::uint32_t capacity, teewire_failure* failure) {
    if (!suits<std::uint64_t>(memory, memory_size) || memory_size < memory_bytes ||
        block->coding >> coding_bits != 0)
        return bad_argument(failure);
    archive_block const known = taken(*block);
    if (check_archive_block(known) != errc::ok) return bad_argument(failure);
    if (capacity < known.size) return fail({errc::output_full, capacity}, failure);
    std::size_t const there =
        std::min<std::uint64_t>(packed_size, known.coding == archive_coding::map ? known.size : known.packed_size);
    auto const decoded = decode_archive_block(known, {packed, there}, made_in(memory), {out, known.size});
    return decoded ? count(decoded->size()) : fail(decoded.error(), failure);
}
