/* Archives, restored: one that stays as it is, whatever this version writes. */
#include "check.h"

#include <teewire_archive.h>

enum { capacity = 65536, most_blocks = 16 };

static uint32_t read_file(char const* name, uint8_t* to) {
    char path[1024];
    FILE* file = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", TEEWIRE_FIXTURES, name);
    file = fopen(path, "rb");
    REQUIRE(file != NULL);
    size = fread(to, 1, capacity, file);
    fclose(file);
    REQUIRE(size > 0 && size < capacity);
    return (uint32_t)size;
}

static uint8_t archive[capacity], original[capacity], restored[capacity];
static teewire_archive_block blocks[most_blocks];

static void check_index(uint32_t size, int32_t count) {
    teewire_failure failure;
    uint32_t const index = (uint32_t)count * 24 + TEEWIRE_ARCHIVE_FOOTER_BYTES;
    teewire_archive_block one;
    CHECK_EQUAL(teewire_archive_is(archive, size), 1);
    CHECK_EQUAL(teewire_archive_is(archive, 8), 1);
    CHECK_EQUAL(teewire_archive_is(archive, 7), 0);
    CHECK_EQUAL(teewire_archive_is(original, 8), 0);
    CHECK_EQUAL(teewire_archive_index_bytes(archive + size - 16, 16, NULL), (int32_t)index);
    CHECK_FAILS(teewire_archive_index_bytes(archive, 15, &failure), TEEWIRE_TRUNCATED, 0, 15);
    /* The number of blocks comes first. */
    archive[size - 16] = 0xff;
    CHECK_FAILS(teewire_archive_index_bytes(archive + size - 16, 16, &failure), TEEWIRE_TOO_LARGE, 0, 0);
    archive[size - 16] = 0;
    CHECK_EQUAL(teewire_archive_index_read(archive + size - index, index, size, &one, 1, NULL), count);
    CHECK(memcmp(&one, blocks, sizeof one) == 0);
    CHECK_EQUAL(teewire_archive_index_read(archive + size - index, index, size, NULL, 0, NULL), count);
    CHECK_FAILS(
        teewire_archive_index_read(archive + size - index + 1, index - 1, size, blocks, most_blocks, &failure),
        TEEWIRE_TRUNCATED, 0, index - 1);
    CHECK_FAILS(teewire_archive_index_read(archive + size - index, index, size + 1, blocks, most_blocks, &failure),
                TEEWIRE_BAD_LENGTH, 0, 0);
    CHECK_FAILS(teewire_archive_index_read(archive + size - index, index, index - 1, blocks, most_blocks, &failure),
                TEEWIRE_BAD_ARGUMENT, 0, 0);
    archive[size - index] ^= 1;
    CHECK_FAILS(teewire_archive_index_read(archive + size - index, index, size, blocks, most_blocks, &failure),
                TEEWIRE_BAD_CHECKSUM, 0, 0);
    archive[size - index] ^= 1;
}

static void check_entry(uint64_t position, teewire_archive_block const* block) {
    teewire_failure failure;
    teewire_archive_block read, before;
    uint8_t* const entry = archive + position - TEEWIRE_ARCHIVE_ENTRY_BYTES;
    memset(&read, 0x5a, sizeof read);
    before = read;
    CHECK_FAILS(teewire_archive_entry_read(entry, 23, &read, &failure), TEEWIRE_TRUNCATED, 0, 23);
    entry[5] ^= 1;
    CHECK_FAILS(teewire_archive_entry_read(entry, 24, &read, &failure), TEEWIRE_BAD_CHECKSUM, 0, 0);
    entry[5] ^= 1;
    CHECK(memcmp(&read, &before, sizeof read) == 0); /* as it was */
    CHECK_EQUAL(teewire_archive_entry_read(entry, 24, &read, NULL), TEEWIRE_OK);
    CHECK_EQUAL(read.original_size, block->original_size);
    CHECK_EQUAL(read.packed_size, block->packed_size);
    CHECK_EQUAL(read.checksum, block->checksum);
    CHECK_EQUAL(read.coding, block->coding);
    CHECK_EQUAL(read.flags, block->flags);
    CHECK_EQUAL(read.begin, 0);
    CHECK_EQUAL(read.position, 0);
}

static void check_failures(teewire_archive_block const* block, void* memory, uint32_t size) {
    teewire_failure failure;
    uint8_t* const packed = archive + block->position;
    teewire_archive_block other = *block;
    CHECK_FAILS(teewire_archive_decode(block, packed, block->packed_size, memory, size, restored,
                                       block->original_size - 1, &failure),
                TEEWIRE_OUTPUT_FULL, 0, block->original_size - 1);
    CHECK_FAILS(
        teewire_archive_decode(block, packed, block->packed_size, memory, size - 1, restored, capacity, &failure),
        TEEWIRE_BAD_ARGUMENT, 0, 0);
    CHECK_FAILS(teewire_archive_decode(block, packed, block->packed_size, NULL, size, restored, capacity, &failure),
                TEEWIRE_BAD_ARGUMENT, 0, 0);
    CHECK_EQUAL(
        teewire_archive_decode(block, packed, block->packed_size - 2, memory, size, restored, capacity, &failure),
        TEEWIRE_TRUNCATED);
    CHECK(failure.position < block->original_size);
    CHECK(memcmp(restored, original + block->begin, (size_t)failure.position) == 0);
    other.coding |= 1U << 24;
    CHECK_FAILS(
        teewire_archive_decode(&other, packed, block->packed_size, memory, size, restored, capacity, &failure),
        TEEWIRE_BAD_ARGUMENT, 0, 0);
    other.coding = 4;
    CHECK_FAILS(
        teewire_archive_decode(&other, packed, block->packed_size, memory, size, restored, capacity, &failure),
        TEEWIRE_BAD_ARGUMENT, 0, 0);
    other = *block;
    other.original_size = TEEWIRE_MAX_ARCHIVE_BLOCK_BYTES + 1;
    CHECK_FAILS(
        teewire_archive_decode(&other, packed, block->packed_size, memory, size, restored, capacity, &failure),
        TEEWIRE_BAD_ARGUMENT, 0, 0);
    // The bytes of another file are given instead of the block's.
    other.coding = 3;
    other.packed_size = 36;
    other.original_size = 100;
    CHECK_FAILS(teewire_archive_decode(&other, original, 99, memory, size, restored, capacity, &failure),
                TEEWIRE_TRUNCATED, 0, 99);
    CHECK_FAILS(teewire_archive_decode(&other, original, 1000, memory, size, restored, capacity, &failure),
                TEEWIRE_BAD_CHECKSUM, 0, 0);
    CHECK(memcmp(restored, original, 100) == 0);
    other = *block;
    other.checksum ^= 1;
    CHECK_FAILS(
        teewire_archive_decode(&other, packed, block->packed_size, memory, size, restored, capacity, &failure),
        TEEWIRE_BAD_CHECKSUM, 0, 0);
}

void test_archive(void) {
    uint32_t const size = read_file("archives/ddnet_yard.demo.tda", archive);
    uint32_t const original_size = read_file("demos/ddnet_yard.demo", original);
    uint32_t const memory_size = teewire_archive_memory_size();
    void* const memory = take(memory_size);
    uint64_t at = 0;
    int32_t n = 0, keyframes = 0;
    int32_t const count = teewire_archive_index_read(archive, size, size, blocks, most_blocks, NULL);
    CHECK(memory_size <= TEEWIRE_ARCHIVE_MEMORY_SIZE);
    REQUIRE(count > 1 && count <= most_blocks);
    for (n = 0; n < count; ++n) {
        teewire_archive_block const* const block = &blocks[n];
        CHECK_EQUAL(block->begin, at);
        REQUIRE(block->position + block->packed_size <= size);
        CHECK_EQUAL(teewire_archive_decode(block, archive + block->position, block->packed_size, memory,
                                           memory_size, restored + at, (uint32_t)(capacity - at), NULL),
                    block->original_size);
        check_entry(block->position, block);
        at += block->original_size;
        keyframes += (block->flags & TEEWIRE_ARCHIVE_KEYFRAME) != 0;
    }
    CHECK_EQUAL(at, original_size);
    CHECK(memcmp(restored, original, original_size) == 0);
    CHECK_EQUAL(keyframes, 1);
    CHECK_EQUAL(blocks[count - 1].first_tick, 310);
    CHECK_EQUAL(blocks[count - 1].last_tick, 558);
    check_failures(&blocks[count - 1], memory, memory_size);
    check_index(size, count);
}
