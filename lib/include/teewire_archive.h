/// @file
/// Archives: restoring a demo, or any other file, whole or in parts. See doc/format/archive.md. The rules of teewire.h hold
/// here too.
#ifndef TEEWIRE_ARCHIVE_H
#define TEEWIRE_ARCHIVE_H

#include "teewire.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes at the beginning of an archive.
#define TEEWIRE_ARCHIVE_HEADER_BYTES 8
/// Bytes before each block, and for each block in the index.
#define TEEWIRE_ARCHIVE_ENTRY_BYTES 24
/// Bytes at the end of an archive that say where its index begins.
#define TEEWIRE_ARCHIVE_FOOTER_BYTES 16
/// Bytes of a block's original at most.
#define TEEWIRE_MAX_ARCHIVE_BLOCK_BYTES 4194304
/// For teewire_archive_decode: an upper bound for this ABI. teewire_archive_memory_size() is exact.
#define TEEWIRE_ARCHIVE_MEMORY_SIZE 6291456
/// Bytes of memory that teewire_archive_decode needs.
TEEWIRE_API uint32_t teewire_archive_memory_size(void);

/// Flags of a block.
typedef enum teewire_archive_flag {
    TEEWIRE_ARCHIVE_ORDERED = 1,  ///< has ticks, and each is above the one before, also in other blocks
    TEEWIRE_ARCHIVE_KEYFRAME = 2, ///< begins with a keyframe, so that playing can begin here
    /// Bytes of a map that is in another file: the archive has the byte of that file where they begin (4 bytes, the most
    /// significant first) and the SHA-256 of the file (32 bytes).
    TEEWIRE_ARCHIVE_MAP = 4
} teewire_archive_flag;

/// A piece of the original and of the archive, which is decoded without the others.
typedef struct teewire_archive_block {
    uint64_t begin;         ///< byte of the original
    uint64_t position;      ///< byte of the archive
    uint32_t original_size; ///< bytes of the original
    uint32_t packed_size;   ///< bytes of the archive
    uint32_t checksum;      ///< CRC-32 of the original, as zlib computes it
    uint32_t coding;        ///< for teewire_archive_decode
    int32_t first_tick;     ///< of a demo; -1 if there is none
    int32_t last_tick;      ///< -1 if it is not TEEWIRE_ARCHIVE_ORDERED
    uint32_t flags;         ///< teewire_archive_flag
    uint32_t reserved;      ///< 0
} teewire_archive_block;

/// Whether a file begins as archives of this version do: 1 or 0. TEEWIRE_ARCHIVE_HEADER_BYTES are enough.
TEEWIRE_API int32_t teewire_archive_is(uint8_t const* file, uint64_t file_size);
/// Bytes of the index with its footer, by the last bytes of an archive, at least TEEWIRE_ARCHIVE_FOOTER_BYTES. Errors:
/// TRUNCATED, TOO_LARGE.
TEEWIRE_API int32_t teewire_archive_index_bytes(uint8_t const* end, uint64_t size, teewire_failure* failure);
/// Gives the blocks of an archive. `end`: its last bytes, at least the index. Returns the number of blocks, even if fewer fit.
/// Errors, with the byte of `end`: TRUNCATED, TOO_LARGE, BAD_CHECKSUM, BAD_TYPE, BAD_LENGTH; then no block is given. O(blocks).
TEEWIRE_API int32_t teewire_archive_index_read(uint8_t const* end, uint64_t size, uint64_t archive_size,
                                               teewire_archive_block* blocks, uint32_t capacity,
                                               teewire_failure* failure);
/// Reads what stands before a block: for an archive that has lost its index. Fills in all but `begin` and `position`, and
/// returns TEEWIRE_OK. Errors: TRUNCATED, BAD_CHECKSUM, BAD_TYPE, BAD_LENGTH; then `out` is unchanged.
TEEWIRE_API int32_t teewire_archive_entry_read(uint8_t const* entry, uint64_t size, teewire_archive_block* out,
                                               teewire_failure* failure);
/// Decodes a block. `packed`: its packed_size bytes of the archive, or fewer if the archive is cut; for TEEWIRE_ARCHIVE_MAP,
/// the original_size bytes of the other file. Returns original_size.
/// Errors: OUTPUT_FULL for less room than that; TRUNCATED, BAD_LENGTH, BAD_CHECKSUM, with the byte up to which `out` is filled
/// from bytes that are there; BAD_ARGUMENT for memory, or for a block that is in no index. O(original_size), whatever `packed` is.
TEEWIRE_API int32_t teewire_archive_decode(teewire_archive_block const* block, uint8_t const* packed,
                                           uint64_t packed_size, void* memory, uint32_t memory_size, uint8_t* out,
                                           uint32_t capacity, teewire_failure* failure);

#ifdef __cplusplus
}
#endif

#endif
