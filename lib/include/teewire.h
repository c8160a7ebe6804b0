/// @file
/// teewire for C: C99, and every language that can call it. The C++ headers are in teewire/.
///
/// A server does this in every tick, with a sender for each client, and one builder and one scratch for the thread:
/// ```
/// for (int32_t client = 0; client < clients; ++client) {
///     if (!teewire_sender_due(senders[client], tick)) continue;
///     teewire_sender_start(senders[client], builder);
///     for (uint32_t id = 0; id < clients; ++id)
///         if (sees(client, id, tick) && teewire_builder_add(builder, CHARACTER, id, 22, &data) > 0)
///             write_character(id, tick, data);
///     teewire_builder_finish(builder, &now);
///     if (teewire_sender_send(senders[client], tick, &now, scratch, NULL) < 0) continue;
///     while ((size = teewire_sender_next(senders[client], &message)) > 0) deliver(client, message, size);
/// }
/// ```
/// When an input of that client arrives, `teewire_sender_acknowledge(senders[client], tick)` takes the tick in it.
/// examples/server.c is the whole program.
///
/// This header has snapshots and deltas, then what servers and clients call for each of them, then the same in single
/// steps. teewire_demo.h has demos, and teewire_table.h items as tables and the names of items and messages.
///
/// Rules for every function:
/// - Memory is the caller's: init functions take it, aligned to TEEWIRE_ALIGN, and nothing is allocated, freed or kept
///   anywhere else. State must not be moved or copied. There is nothing to destroy: just reuse the memory.
/// - The result is a count that is not negative, or one of the negative codes of teewire_error. On failure the last
///   argument, `*failure`, if not null, gets the position.
/// - Input from outside is always checked and can do no harm: the bytes and ints that are decoded, unpacked, applied,
///   received or read, and the input of teewire_snapshot_check. Everything else is the caller's responsibility: pointers,
///   sizes, and a valid layout of snapshots; debug builds of the library assert it. Init functions check their arguments
///   and options.
/// - Output never overlaps input.
/// - Different states may be used by different threads at the same time, one state by one thread at a time. Const state
///   is only read. There is no hidden state but the processor level, and no lock.
/// - Option structs begin with their size, set by the caller: a newer library takes the shorter ones of older programs.
///   Fields that are zero, and null instead of a struct, mean the default. Structs that are filled in begin with their
///   size as well.
///
/// Parameters that mean the same in every function:
/// - `memory` and `size` of an init function: the memory for the state and its bytes; the `*_size()` function of the same
///   name says how many it needs. `out` gets the state.
/// - `options`, `limits`: null means the defaults.
/// - `out` and `capacity` elsewhere: where the result goes, and how many elements fit there.
/// - `bytes` and `size`, `ints` and `count`, `data` and `ints`: an input and the number of its elements.
/// - `failure`: says after an error where it is; may be null.
/// - `scratch`: working memory, one for each thread.
/// - `snapshot`, `from`, `to`: null as an input means the empty snapshot.
/// - `sizes`: the agreed item sizes; null means those of 0.6 and DDNet.
/// - `tick`: of the server, 50 a second. `base_tick`: the tick of the snapshot that a delta starts from; -1 means none.
/// - `type` and `id`: an item's, 16 bits each. `uuid`: 16 bytes, which name an extended type.
#ifndef TEEWIRE_H
#define TEEWIRE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(_WIN32)
/// How its functions are declared.
#define TEEWIRE_API __attribute__((visibility("default")))
#else
#define TEEWIRE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version and errors ------------------------------------------------------------------------------------------ */

/// The version that the program was compiled with: major, minor, patch.
#define TEEWIRE_VERSION_MAJOR 0
#define TEEWIRE_VERSION_MINOR 1 ///< new functions, or other C++ classes
#define TEEWIRE_VERSION_PATCH 0 ///< neither
/// The same as text.
#define TEEWIRE_VERSION_STRING "0.1.0"
/// The version of the library that the program runs with, such as "0.1.0". Never null.
TEEWIRE_API char const* teewire_version(void);

/// Grows when programs have to be compiled again: the number in the library's soname.
#define TEEWIRE_ABI_MAJOR 1
/// Grows with every addition.
#define TEEWIRE_ABI_MINOR 6

/// The version of the library: major * 65536 + minor. A program can run with it if the major is its own and the minor
/// is not smaller.
TEEWIRE_API uint32_t teewire_abi_version(void);

/// Sets of instructions that the hot functions are compiled for, on x86-64 each with all of those before it.
typedef enum teewire_cpu_level {
    TEEWIRE_CPU_SCALAR = 0, ///< every processor
    TEEWIRE_CPU_SSE2 = 1,   ///< every x86-64
    TEEWIRE_CPU_AVX2 = 2,   ///< with BMI1, BMI2, LZCNT and POPCNT
    TEEWIRE_CPU_AVX512 = 3, ///< F, BW, CD, DQ, VL, VBMI and VBMI2
    TEEWIRE_CPU_NEON = 4    ///< every AArch64, which has TEEWIRE_CPU_SCALAR beside it
} teewire_cpu_level;

/// The teewire_cpu_level in use: at first the highest one that the processor has.
TEEWIRE_API int32_t teewire_cpu(void);
/// Sets the highest level that may be used. The result is the one in use from now on: `most`, or the next
/// below it that the processor has. Error: BAD_ARGUMENT if there is no such level. No other result depends on it: it is
/// for bug reports and tests. Call it before anything else, while no other thread calls the library.
TEEWIRE_API int32_t teewire_cpu_cap(int32_t most);

/// Codes keep their numbers.
typedef enum teewire_error {
    TEEWIRE_OK = 0,                 ///< no error
    TEEWIRE_TRUNCATED = -1,         ///< ends inside a number, an item, a chunk or a header
    TEEWIRE_BAD_VARINT = -2,        ///< over-long or with dirty padding bits (strict decoding only)
    TEEWIRE_BAD_MAGIC = -3,         ///< not the file type that was expected
    TEEWIRE_BAD_VERSION = -4,       ///< a version that is not supported
    TEEWIRE_BAD_COUNT = -5,         ///< a count is negative or larger than the limit
    TEEWIRE_BAD_LENGTH = -6,        ///< the parts do not add up to the stated length
    TEEWIRE_BAD_OFFSET = -7,        ///< an item offset is unaligned, outside the data or not increasing
    TEEWIRE_BAD_TYPE = -8,          ///< item type outside 0..0x7fff
    TEEWIRE_BAD_ID = -9,            ///< item id outside 0..0xffff
    TEEWIRE_BAD_ITEM_SIZE = -10,    ///< an item's size is negative or larger than anything that fits
    TEEWIRE_SIZE_MISMATCH = -11,    ///< the same key with two sizes, or a size that differs from the agreed one
    TEEWIRE_DUPLICATE_KEY = -12,    ///< the key is already in the snapshot
    TEEWIRE_BAD_TICK = -13,         ///< a relative tick before any absolute one, or a tick out of range
    TEEWIRE_MISSING_SNAPSHOT = -14, ///< a delta before the first full snapshot
    TEEWIRE_BAD_TEXT = -15,         ///< text without a terminator
    TEEWIRE_BAD_CHECKSUM = -16,     ///< a snapshot does not have the checksum it was sent with
    TEEWIRE_OUTPUT_FULL = -17,      ///< the output does not fit the memory given
    TEEWIRE_TOO_MANY_ITEMS = -18,   ///< more items than the limit
    TEEWIRE_TOO_LARGE = -19,        ///< more bytes than the limit
    TEEWIRE_TOO_MANY_TYPES = -20,   ///< more than 64 extended types in one builder
    TEEWIRE_UNKNOWN_TICK = -21,     ///< no snapshot of that tick is held
    TEEWIRE_NOT_FOUND = -22,        ///< there is no such item
    TEEWIRE_BAD_ARGUMENT = -23,     ///< memory too small or unaligned, an option out of range or of a newer version
    TEEWIRE_BAD_PACKET = -24        ///< of the network layer, which has no functions here
} teewire_error;

/// A short English sentence for a code, for TEEWIRE_OK and, saying so, for any other number. Never null.
TEEWIRE_API char const* teewire_error_text(int32_t code);

/// Whose input a position counts. Functions that decode in several steps fail in one of them.
typedef enum teewire_stage {
    TEEWIRE_STAGE_INPUT = 0,    ///< in the function's own input; its description says what is counted. Demos: bytes
    TEEWIRE_STAGE_HUFFMAN = 1,  ///< bytes of the compressed data
    TEEWIRE_STAGE_VARINT = 2,   ///< bytes of the packed ints
    TEEWIRE_STAGE_SNAPSHOT = 3, ///< ints of the full snapshot
    TEEWIRE_STAGE_DELTA = 4     ///< ints of the delta
} teewire_stage;

/// How a call failed. Left alone by calls that succeed.
typedef struct teewire_failure {
    int32_t code;      ///< the result
    int32_t stage;     ///< teewire_stage
    uint64_t position; ///< where, as the stage counts
    uint64_t chunk;    ///< demos: byte of the file where the chunk begins
} teewire_failure;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/// Alignment of all memory given to init functions, as that of malloc or of an array of uint64_t.
#define TEEWIRE_ALIGN 8

/// Items of one snapshot at most, as in every implementation.
#define TEEWIRE_MAX_ITEMS 1024
/// Ints of one snapshot at most, header and offsets included.
#define TEEWIRE_MAX_SNAPSHOT_INTS 16384
/// Ints of a delta between two snapshots at most.
#define TEEWIRE_MAX_DELTA_INTS (3 + 3 * TEEWIRE_MAX_ITEMS + TEEWIRE_MAX_SNAPSHOT_INTS)
/// Bytes that `ints` ints take at most when packed.
#define TEEWIRE_VARINT_BOUND(ints) (5 * (ints))
/// Bytes that `bytes` bytes take at most when Huffman-coded.
#define TEEWIRE_HUFFMAN_BOUND(bytes) (((bytes)*15 + 15) / 8 + 1)
/// Bytes that teewire_encode writes at most.
#define TEEWIRE_MAX_ENCODED_BYTES TEEWIRE_HUFFMAN_BOUND(TEEWIRE_VARINT_BOUND(TEEWIRE_MAX_DELTA_INTS))
/// Bytes of a message from a sender at most.
#define TEEWIRE_MAX_MESSAGE_BYTES 922
/// Upper bounds for this ABI; the `*_size()` functions are exact for the library at hand.
#define TEEWIRE_SIZES_SIZE 256
/// For teewire_builder_init.
#define TEEWIRE_BUILDER_SIZE 106496
/// For teewire_scratch_init.
#define TEEWIRE_SCRATCH_SIZE 319488
/// Bytes that always hold `snapshots` snapshots of at most `items` items and `ints` ints: for the next macros and
/// functions. As long as what is held fits in the first eighth of them, no other byte is touched.
#define TEEWIRE_HISTORY_BYTES(snapshots, items, ints)                                                              \
    (4 * ((snapshots) + 3) * TEEWIRE_SNAPSHOT_COPY_INTS(items, ints))
/// For teewire_history_init. `snapshots`: how many it holds at most. `bytes`: the room for all of them together, see
/// TEEWIRE_HISTORY_BYTES. Both mean the same in the next macros and functions.
#define TEEWIRE_HISTORY_SIZE(snapshots, bytes) (256 + 32 * (snapshots) + (bytes))
/// For teewire_sender_init.
#define TEEWIRE_SENDER_SIZE(snapshots, bytes) (512 + 32 * (snapshots) + (bytes))
/// For teewire_receiver_init. `parts`: as in teewire_receiver_options.
#define TEEWIRE_RECEIVER_SIZE(parts, snapshots, bytes) (512 + 57856 * (parts) + 32 * (snapshots) + (bytes))

/// Bytes that all memory has to be aligned to: TEEWIRE_ALIGN.
TEEWIRE_API uint32_t teewire_align(void);
/// Bytes that teewire_sizes_init and teewire_sizes_copy need.
TEEWIRE_API uint32_t teewire_sizes_size(void);
/// Bytes that teewire_builder_init needs.
TEEWIRE_API uint32_t teewire_builder_size(void);
/// Bytes that teewire_scratch_init needs.
TEEWIRE_API uint32_t teewire_scratch_size(void);
/// Bytes that teewire_history_init needs; 0 if 32 bits cannot hold the number.
TEEWIRE_API uint32_t teewire_history_size(uint32_t snapshots, uint32_t bytes);
/// The same for teewire_sender_init.
TEEWIRE_API uint32_t teewire_sender_size(uint32_t snapshots, uint32_t bytes);
/// The same for teewire_receiver_init.
TEEWIRE_API uint32_t teewire_receiver_size(uint32_t parts, uint32_t snapshots, uint32_t bytes);

/// Working memory for deltas, one for each thread. Between two calls it holds nothing but the messages of a sender and
/// the snapshot that was decoded last.
typedef struct teewire_scratch teewire_scratch;
/// Makes working memory. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_scratch_init(teewire_scratch** out, void* memory, uint32_t size);

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

/// Flags of a teewire_snapshot.
enum {
    TEEWIRE_DISTINCT_KEYS = 1 ///< set only if all keys are unique: deltas are wrong otherwise. Without it they look
};

/// A view of a snapshot in the caller's memory. All zero, or a null pointer, is the empty one.
///
/// `ints` is the engines' own layout, that of DDNet's CSnapshot: [0] bytes of the items section, [1] number of items, an
/// offset per item (bytes, relative to the items section), then the items: key, data... The outline, if there is one,
/// says where the items are, so that deltas need not find it out: teewire_snapshot_outline, builders and histories
/// make it.
typedef struct teewire_snapshot {
    int32_t const* ints;    ///< the whole snapshot, `size` of them
    int32_t const* keys;    ///< outline: the keys in order; may be null
    uint32_t const* starts; ///< outline: a bit for every int of the items section that begins an item; may be null
    uint32_t size;          ///< ints of the whole snapshot
    uint32_t flags;         ///< TEEWIRE_DISTINCT_KEYS, or 0
} teewire_snapshot;

/// An item of a snapshot, inside it.
typedef struct teewire_item {
    int32_t const* data; ///< `ints` of them
    int32_t key;         ///< TEEWIRE_KEY(type, id)
    uint32_t ints;       ///< of the data
} teewire_item;

/// A key is a type and an id of 16 bits each.
#define TEEWIRE_KEY(type, id) ((int32_t)((uint32_t)(type) << 16 | ((uint32_t)(id)&0xffffU)))
/// The type of a key, 0 to 65535.
#define TEEWIRE_KEY_TYPE(key) ((int32_t)((uint32_t)(key) >> 16))
/// The id of a key, 0 to 65535.
#define TEEWIRE_KEY_ID(key) ((int32_t)((uint32_t)(key)&0xffffU))

/// Makes a view of a snapshot that the program itself built, such as a CSnapshot: its size is read from its head.
/// `flags`: those of a teewire_snapshot. Nothing is checked. O(1).
TEEWIRE_API void teewire_snapshot_view(teewire_snapshot* out, int32_t const* ints, uint32_t flags);
/// Checks a snapshot from outside as DDNet does, and makes a view of it. `mode`: a teewire_decoding, by default strict. Returns the number of items. Errors, with the int: TRUNCATED, BAD_COUNT, BAD_LENGTH, BAD_OFFSET,
/// TOO_LARGE; with strict decoding BAD_TYPE for a negative key. O(items).
TEEWIRE_API int32_t teewire_snapshot_check(teewire_snapshot* out, int32_t const* ints, uint32_t count, int32_t mode,
                                           teewire_failure* failure);

/// Number of items. O(1).
TEEWIRE_API int32_t teewire_snapshot_items(teewire_snapshot const* snapshot);
/// Item `number`, counted from 0. Error: NOT_FOUND. O(1).
TEEWIRE_API int32_t teewire_snapshot_item(teewire_snapshot const* snapshot, uint32_t number, teewire_item* out);
/// The first item with `key`. Error: NOT_FOUND. O(items).
TEEWIRE_API int32_t teewire_snapshot_find(teewire_snapshot const* snapshot, int32_t key, teewire_item* out);
/// The UUID, 16 bytes, of an item type of 0x4000 and above in this snapshot. Error: NOT_FOUND. O(items).
TEEWIRE_API int32_t teewire_snapshot_extended_type(teewire_snapshot const* snapshot, uint32_t type, uint8_t* uuid);
/// The sum of all data ints, modulo 2^32, which the games call Crc. O(ints).
TEEWIRE_API uint32_t teewire_snapshot_checksum(teewire_snapshot const* snapshot);
/// Copies the snapshot to `out` with its items ascending by key, as 0.7.4 and later keep them. `sorted` becomes a view of
/// the copy. Returns its ints. Errors: OUTPUT_FULL; TOO_MANY_ITEMS. O(n log n).
TEEWIRE_API int32_t teewire_snapshot_sort(teewire_snapshot const* snapshot, teewire_scratch* scratch, int32_t* out,
                                          uint32_t capacity, teewire_snapshot* sorted, teewire_failure* failure);

/// Words of memory for the outline of a snapshot of so many items and ints.
#define TEEWIRE_OUTLINE_WORDS(items, ints) ((items) + (ints) / 32 + 4)
/// Gives `snapshot` an outline, in memory of that size. Worth it for a snapshot that takes part in several deltas and
/// did not come from a builder or a history. Returns the words used. O(items + ints / 32).
TEEWIRE_API int32_t teewire_snapshot_outline(teewire_snapshot* snapshot, uint32_t* memory);

/// Ints of memory for a copy of a snapshot of so many items and ints, with outline.
#define TEEWIRE_SNAPSHOT_COPY_INTS(items, ints) ((ints) + TEEWIRE_OUTLINE_WORDS(items, ints))
/// Copies `snapshot` to `memory` of `capacity` ints, with its outline if it has one, and makes a view of the copy. Returns
/// the ints used. Error: OUTPUT_FULL, and then `copy` is as before. O(ints).
TEEWIRE_API int32_t teewire_snapshot_copy(teewire_snapshot const* snapshot, int32_t* memory, uint32_t capacity,
                                          teewire_snapshot* copy);

/* ---- deltas ------------------------------------------------------------------------------------------------------ */

/// The agreed item sizes, in ints by type, which deltas leave out. A state that is given such a table needs it as long as
/// it is used.
typedef struct teewire_sizes teewire_sizes;

/// How to treat input that real programs produce but that a careful writer would not.
typedef enum teewire_decoding {
    TEEWIRE_DECODING_DEFAULT = 0, ///< strict for what comes from a peer, lenient for recordings
    TEEWIRE_STRICT = 1,           ///< refuses what DDNet refuses
    TEEWIRE_LENIENT = 2           ///< takes what can be understood
} teewire_decoding;

/// How a Huffman encoder ends when the bits end exactly on a byte boundary.
typedef enum teewire_huffman {
    TEEWIRE_HUFFMAN_NONE = 0,  ///< teewire_encode: no Huffman coding. Elsewhere as EXACT
    TEEWIRE_HUFFMAN_EXACT = 1, ///< nothing more: DDNet since 2026-05-11
    TEEWIRE_HUFFMAN_PADDED = 2 ///< one more zero byte: 0.6, 0.7, and DDNet before
} teewire_huffman;

/// Options of teewire_encode.
typedef struct teewire_encode_options {
    uint32_t size;              ///< sizeof(teewire_encode_options)
    int32_t huffman;            ///< teewire_huffman; by default none, as the packet layer does it
    teewire_sizes const* sizes; ///< null: those of 0.6 and DDNet
} teewire_encode_options;

/// Options of teewire_decode and teewire_delta_apply.
typedef struct teewire_decode_options {
    uint32_t size;              ///< sizeof(teewire_decode_options)
    int32_t decoding;           ///< teewire_decoding; by default strict
    int32_t huffman;            ///< teewire_decode: not zero if the bytes are Huffman-coded
    teewire_sizes const* sizes; ///< null: those of 0.6 and DDNet
} teewire_decode_options;

/// Encodes the delta that makes `to` out of `from`: teewire_delta_create, teewire_varint_encode and, if asked for,
/// teewire_huffman_encode in one call. Returns the bytes written; 0 if nothing changed. Errors as teewire_delta_create;
/// BAD_ARGUMENT. O(items + ints).
TEEWIRE_API int32_t teewire_encode(teewire_snapshot const* from, teewire_snapshot const* to,
                                   teewire_encode_options const* options, teewire_scratch* scratch, uint8_t* out,
                                   uint32_t capacity, teewire_failure* failure);
/// Decodes a delta to `from`. `to` becomes a view of the snapshot, which stays in the scratch memory until that is used
/// again: a history or teewire_snapshot_copy keeps it, as the next `from` must be elsewhere. No bytes mean that nothing
/// changed; then `to` is `from` itself. Returns the ints of the snapshot. Errors, with their stage: as teewire_huffman_decode,
/// teewire_varint_decode, teewire_delta_apply. O(bytes + items + ints).
TEEWIRE_API int32_t teewire_decode(teewire_snapshot const* from, uint8_t const* bytes, uint32_t size,
                                   teewire_decode_options const* options, teewire_scratch* scratch,
                                   teewire_snapshot* to, teewire_failure* failure);

/* ---- building a snapshot ----------------------------------------------------------------------------------------- */

/// Collects items and lays them out; one serves all clients of a thread in turns. See teewire/snapshot_builder.hpp for how
/// extended types are numbered.
typedef struct teewire_builder teewire_builder;

/// Makes a builder. Error: BAD_ARGUMENT. O(size).
TEEWIRE_API int32_t teewire_builder_init(teewire_builder** out, void* memory, uint32_t size);
/// Begins the next snapshot. The one before is gone.
TEEWIRE_API void teewire_builder_start(teewire_builder* builder);
/// Adds an item of `ints` ints, all zero, and gives its data to be filled in before the next call. Returns the number of
/// items so far. Errors, and then the builder is as before: BAD_TYPE (0x8000 and above), BAD_ID (0x10000 and above),
/// DUPLICATE_KEY, TOO_MANY_ITEMS, TOO_LARGE. O(ints).
TEEWIRE_API int32_t teewire_builder_add(teewire_builder* builder, uint32_t type, uint32_t id, uint32_t ints,
                                        int32_t** data);
/// Adds an item with a copy of `data`. Returns and errors as teewire_builder_add. O(ints).
TEEWIRE_API int32_t teewire_builder_put(teewire_builder* builder, uint32_t type, uint32_t id, int32_t const* data,
                                        uint32_t ints);
/// The alias of an extended type, known by a UUID of 16 bytes: the type to add its items with, in this snapshot and all
/// later ones of this builder, so that a server asks once. Errors: as teewire_builder_add, and TOO_MANY_TYPES. O(extended types).
TEEWIRE_API int32_t teewire_builder_extended_type(teewire_builder* builder, uint8_t const* uuid);
/// teewire_builder_add with the alias of an extended type.
TEEWIRE_API int32_t teewire_builder_add_extended(teewire_builder* builder, uint8_t const* uuid, uint32_t id,
                                                 uint32_t ints, int32_t** data);
/// Writes items in a loop, with a few instructions each and no call. Only teewire_writer_add uses the members.
typedef struct teewire_writer {
    int32_t* items;      ///< where the first one begins
    int32_t* next;       ///< where the next one begins
    int32_t* keys;       ///< where its key goes as well
    int32_t* ends;       ///< where its end goes, in bytes from `items`
    size_t left;         ///< items that still fit
    size_t room;         ///< the next one must have fewer ints
    uintptr_t to_base;   ///< so far away is what teewire_sender_start has fetched, or 0
    uintptr_t to_stored; ///< the same
} teewire_writer;
/// Items are written after those in the builder, and teewire_builder_take then adds all of them at once. Between the
/// two calls, only teewire_builder_start may be called, to forget the written items.
TEEWIRE_API teewire_writer teewire_builder_write(teewire_builder* builder);
/// The data of the next item, `ints` ints to be written whole before the builder takes it. Null if it does not fit, and
/// for types above 0x7fff and ids above 0xffff. O(1).
static inline int32_t* teewire_writer_add(teewire_writer* writer, uint32_t type, uint32_t id, uint32_t ints) {
    int32_t* const place = writer->next;
    if (type > 0x7fff || id > 0xffff || writer->left == 0 || ints >= writer->room) return NULL;
#if defined(__GNUC__)
    if (writer->to_base != 0) {
        __builtin_prefetch((void const*)((uintptr_t)place + writer->to_base), 0, 2);
        __builtin_prefetch((void const*)((uintptr_t)place + writer->to_stored), 0, 2);
    }
#endif
    *place = *writer->keys++ = (int32_t)(type << 16 | id);
    writer->next = place + 1 + ints;
    *writer->ends++ = (int32_t)(4 * (writer->next - writer->items));
    --writer->left;
    writer->room = writer->room > (size_t)ints + 2 ? writer->room - ints - 2 : 0;
    return place + 1;
}
/// Adds what was written. Returns the number of items so far. Error: DUPLICATE_KEY, with the number, in the whole
/// snapshot, of the first written item whose key was there already; such items are left out, all others are added.
/// O(items).
TEEWIRE_API int32_t teewire_builder_take(teewire_builder* builder, teewire_writer written,
                                         teewire_failure* failure);
/// The snapshot, with outline, inside the builder's memory: valid until teewire_builder_start. Returns the number of
/// items. O(items).
TEEWIRE_API int32_t teewire_builder_finish(teewire_builder* builder, teewire_snapshot* out);

/* ---- sending snapshots ------------------------------------------------------------------------------------------- */

/// Which numbers messages have.
typedef enum teewire_protocol {
    TEEWIRE_PROTOCOL_DDNET = 0, ///< those of 0.6, and of DDNet's own messages
    TEEWIRE_PROTOCOL_06 = 1,    ///< only those of 0.6
    TEEWIRE_PROTOCOL_07 = 2     ///< those of 0.7
} teewire_protocol;

/// Options of teewire_sender_init.
typedef struct teewire_sender_options {
    uint32_t size;              ///< sizeof(teewire_sender_options)
    int32_t protocol;           ///< teewire_protocol
    teewire_sizes const* sizes; ///< null: those of the protocol
    uint32_t snapshots;         ///< held at most; by default 75
    uint32_t interval;          ///< ticks between snapshots; by default 2, with high bandwidth 1
    uint32_t max_parts;         ///< messages per snapshot; by default 31, the most for 0.6 and 0.7. DDNet: up to 64
} teewire_sender_options;

/// How often a client gets snapshots.
typedef enum teewire_sender_pace {
    TEEWIRE_SENDER_FIRST = 0,     ///< every tenth tick, until it acknowledges one
    TEEWIRE_SENDER_FULL = 1,      ///< by the interval
    TEEWIRE_SENDER_RECOVERING = 2 ///< every 50th tick, as what it acknowledged is not held any more
} teewire_sender_pace;

/// The state that a server keeps for each client: the snapshots that were sent and the one that the client
/// acknowledged. teewire/snapshot_sender.hpp has the rules, and the work that is left to the server.
typedef struct teewire_sender teewire_sender;

/// Makes a sender. `size`: TEEWIRE_SENDER_SIZE; a client that answers in time needs room for the snapshots of a second.
/// Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_sender_init(teewire_sender** out, void* memory, uint32_t size,
                                        teewire_sender_options const* options);
/// Takes the tick that an input message acknowledges, or -1. Returns 1; 0 for a tick that makes no sense, which changes
/// nothing.
TEEWIRE_API int32_t teewire_sender_acknowledge(teewire_sender* sender, int32_t tick);
/// Whether a snapshot of this tick should be sent: 1 or 0.
TEEWIRE_API int32_t teewire_sender_due(teewire_sender const* sender, int32_t tick);
/// As teewire_history_start, for the next snapshot to this client: with the one that it has acknowledged. Send nothing else
/// until teewire_builder_finish.
TEEWIRE_API void teewire_sender_start(teewire_sender const* sender, teewire_builder* builder);
/// Encodes the snapshot of `tick` and keeps it. Ticks have to increase. Returns the number of messages, at least 1, that
/// teewire_sender_next gives. Errors: as teewire_delta_create; BAD_TICK; TOO_LARGE when it takes too many messages or
/// memory. O(items + ints).
TEEWIRE_API int32_t teewire_sender_send(teewire_sender* sender, int32_t tick, teewire_snapshot const* snapshot,
                                        teewire_scratch* scratch, teewire_failure* failure);
/// Gives the next message, head included, to be sent without the vital flag. Its bytes are in the scratch memory, until
/// that is used again or until the next call. Returns how many; 0 after the last message.
TEEWIRE_API int32_t teewire_sender_next(teewire_sender* sender, uint8_t const** message);
/// The tick that the next snapshot is compared with; -1 if it will be a full one.
TEEWIRE_API int32_t teewire_sender_base_tick(teewire_sender const* sender);
/// How often snapshots are sent now: a teewire_sender_pace.
TEEWIRE_API int32_t teewire_sender_state(teewire_sender const* sender);
/// Sends a snapshot every `interval` ticks from now on, for when a server changes its bandwidth while it runs. Error:
/// BAD_ARGUMENT for 0 and for 2^31 and above.
TEEWIRE_API int32_t teewire_sender_set_interval(teewire_sender* sender, uint32_t interval);
/// Forgets everything, as before the first snapshot: after a map change.
TEEWIRE_API void teewire_sender_reset(teewire_sender* sender);

/* ---- receiving snapshots ----------------------------------------------------------------------------------------- */

/// Options of teewire_receiver_init.
typedef struct teewire_receiver_options {
    uint32_t size;              ///< sizeof(teewire_receiver_options)
    int32_t protocol;           ///< teewire_protocol
    teewire_sizes const* sizes; ///< null: those of the protocol
    uint32_t snapshots;         ///< held at most; by default 150
    uint32_t parts;   ///< snapshots whose messages may arrive mixed; by default 1, as a client needs; at most 16
    int32_t decoding; ///< teewire_decoding; by default strict
    int32_t observer; ///< not zero: for captures; late snapshots count, and a tick far back restarts
} teewire_receiver_options;

/// The results of teewire_receiver_receive.
typedef enum teewire_received {
    TEEWIRE_RECEIVED_OTHER = 0,       ///< not a snapshot message
    TEEWIRE_RECEIVED_IGNORED = 1,     ///< an old one, or one more of what is there
    TEEWIRE_RECEIVED_PART = 2,        ///< more messages are needed
    TEEWIRE_RECEIVED_SNAPSHOT = 3,    ///< decoded, checked and kept
    TEEWIRE_RECEIVED_MISSING_BASE = 4 ///< the base is not there; a full one is asked for
} teewire_received;

/// The content of a snapshot message, and its effect.
typedef struct teewire_snapshot_event {
    uint32_t size;             ///< sizeof(teewire_snapshot_event), set by the caller
    int32_t tick;              ///< -1 if it was not a snapshot message
    int32_t base_tick;         ///< -1: it was sent without a base
    int32_t has_checksum;      ///< 1, or 0: an unchanged snapshot may be sent without
    uint32_t checksum;         ///< as sent
    uint32_t delta_bytes;      ///< packed
    int32_t restarted;         ///< observers: 1 if ticks restart with this one, and the history is forgotten
    teewire_snapshot snapshot; ///< valid until it is dropped from the receiver's history
} teewire_snapshot_event;

/// The state of a client that receives snapshots: those that later deltas may start from.
typedef struct teewire_receiver teewire_receiver;

/// Makes a receiver. `size`: TEEWIRE_RECEIVER_SIZE. Too little room for snapshots only means that a base is missing more
/// often. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_receiver_init(teewire_receiver** out, void* memory, uint32_t size,
                                          teewire_receiver_options const* options);
/// Takes a message. Returns a teewire_received. Errors: of the message itself with stage INPUT and its byte (TRUNCATED,
/// ...); of the delta with stages VARINT and DELTA; BAD_CHECKSUM. `event` is filled in with what is known either way; it
/// may be null. O(bytes), for the last part O(items + ints).
TEEWIRE_API int32_t teewire_receiver_receive(teewire_receiver* receiver, uint8_t const* message, uint32_t size,
                                             teewire_scratch* scratch, teewire_snapshot_event* event,
                                             teewire_failure* failure);
/// The tick that the next input message should acknowledge, or -1.
TEEWIRE_API int32_t teewire_receiver_ack(teewire_receiver const* receiver);
/// 1 if an input message should be sent at once, as a full snapshot is needed. Reading it clears it.
TEEWIRE_API int32_t teewire_receiver_take_urgent(teewire_receiver* receiver);
/// A snapshot that is still held. Error: UNKNOWN_TICK.
TEEWIRE_API int32_t teewire_receiver_find(teewire_receiver const* receiver, int32_t tick, teewire_snapshot* out);
/// Forgets everything: at a map change and with a new connection.
TEEWIRE_API void teewire_receiver_reset(teewire_receiver* receiver);

/* ---- step by step: ints and bytes -------------------------------------------------------------------------------- */

/// Packs ints in 1 to 5 bytes each. Returns the bytes written. Error: OUTPUT_FULL, with the number of the int. O(ints).
TEEWIRE_API int32_t teewire_varint_encode(int32_t const* ints, uint32_t count, uint8_t* out, uint32_t capacity,
                                          teewire_failure* failure);
/// Unpacks all of `bytes`, over-long forms included, as the engines do. Returns the ints written. Errors, with the byte
/// where the int begins: TRUNCATED, OUTPUT_FULL. O(bytes).
TEEWIRE_API int32_t teewire_varint_decode(uint8_t const* bytes, uint32_t size, int32_t* out, uint32_t capacity,
                                          teewire_failure* failure);
/// Unpacks one int from the start of `bytes`. Returns the bytes it takes. Error: TRUNCATED.
TEEWIRE_API int32_t teewire_varint_read(uint8_t const* bytes, uint32_t size, int32_t* value,
                                        teewire_failure* failure);

/// Encodes. `ending` is a teewire_huffman. Returns the bytes written, at most TEEWIRE_HUFFMAN_BOUND. Errors:
/// OUTPUT_FULL, with the byte of the input that did not fit; BAD_ARGUMENT. O(bytes).
TEEWIRE_API int32_t teewire_huffman_encode(uint8_t const* bytes, uint32_t size, int32_t ending, uint8_t* out,
                                           uint32_t capacity, teewire_failure* failure);
/// Decodes up to the end symbol. Returns the bytes written. Errors, with the byte reached: TRUNCATED, OUTPUT_FULL.
/// O(bytes of input and output).
TEEWIRE_API int32_t teewire_huffman_decode(uint8_t const* bytes, uint32_t size, uint8_t* out, uint32_t capacity,
                                           teewire_failure* failure);

/* ---- step by step: agreed sizes ---------------------------------------------------------------------------------- */

/// The table of that name: "0.6", "0.7", and some that odd demos need, see size_tables in teewire/schema.hpp. Null if
/// there is none.
TEEWIRE_API teewire_sizes const* teewire_sizes_find(char const* name);
/// A table to be changed, at first empty: deltas carry all sizes. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_sizes_init(teewire_sizes** out, void* memory, uint32_t size);
/// A table to be changed, at first a copy of `from`; if null, of that for 0.6. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_sizes_copy(teewire_sizes** out, void* memory, uint32_t size, teewire_sizes const* from);
/// Sets the size of a type below 64; 0: deltas carry it. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_sizes_set(teewire_sizes* sizes, uint32_t type, uint32_t ints);

/* ---- step by step: deltas ---------------------------------------------------------------------------------------- */

/// Writes the delta that makes `to` out of `from`, in the bytes of the reference implementations. Returns its ints; 0 if
/// nothing changed. Never more than TEEWIRE_MAX_DELTA_INTS. Errors, with the number of the item in `to`: SIZE_MISMATCH
/// when an item changes its size or differs from the agreed one; DUPLICATE_KEY when a key occurs twice; OUTPUT_FULL;
/// TOO_MANY_ITEMS and TOO_LARGE for snapshots beyond the limits. O(items + ints).
TEEWIRE_API int32_t teewire_delta_create(teewire_snapshot const* from, teewire_snapshot const* to,
                                         teewire_sizes const* sizes, teewire_scratch* scratch, int32_t* out,
                                         uint32_t capacity, teewire_failure* failure);
/// Makes the snapshot that `delta` describes, in the scratch memory as teewire_decode does. Returns its ints. Errors, with
/// the int of the delta: TRUNCATED, BAD_COUNT, BAD_TYPE, BAD_ID, BAD_ITEM_SIZE, SIZE_MISMATCH, TOO_MANY_ITEMS, TOO_LARGE;
/// BAD_ARGUMENT, also when `from` is in the scratch memory. O(items + ints).
TEEWIRE_API int32_t teewire_delta_apply(teewire_snapshot const* from, int32_t const* delta, uint32_t count,
                                        teewire_decode_options const* options, teewire_scratch* scratch,
                                        teewire_snapshot* to, teewire_failure* failure);

/* ---- step by step: past snapshots -------------------------------------------------------------------------------- */

/// Snapshots by increasing tick. Adding drops the oldest ones when there is no room.
typedef struct teewire_history teewire_history;

/// Makes a history of at most `snapshots` snapshots, 1 to 65535; the rest of the memory is for their ints and outlines.
/// Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_history_init(teewire_history** out, void* memory, uint32_t size, uint32_t snapshots);
/// Keeps a copy, with the outline if there is one, and `word`, which only the caller understands, such as a time.
/// `stored`, if not null, becomes a view of the copy, valid until it is dropped. Adding may drop the snapshot that
/// teewire_history_find gave, so use a base before you add. Returns the number held. Errors: BAD_TICK if the tick does not increase; TOO_LARGE, with the ints there are, and
/// then nothing is dropped. O(ints).
TEEWIRE_API int32_t teewire_history_add(teewire_history* history, int32_t tick, teewire_snapshot const* snapshot,
                                        uint64_t word, teewire_snapshot* stored, teewire_failure* failure);
/// A view of the snapshot of that tick, valid until it is dropped, which the next teewire_history_add may do; `word`, if
/// not null, becomes what was added with it. Error: UNKNOWN_TICK. O(log snapshots).
TEEWIRE_API int32_t teewire_history_find(teewire_history const* history, int32_t tick, teewire_snapshot* out,
                                         uint64_t* word);
/// As teewire_builder_start, with the snapshot of `base_tick` as what the new one will be compared with: keys that it has
/// in the same order need no search, and while items are added, the processor fetches its memory and that of the copy.
/// Do not add to the history, clear it or reuse its memory until teewire_builder_finish. O(items + ints / 32).
TEEWIRE_API void teewire_history_start(teewire_history const* history, int32_t base_tick, teewire_builder* builder);
/// Drops the snapshots before `tick`. Returns the number held.
TEEWIRE_API int32_t teewire_history_drop_before(teewire_history* history, int32_t tick);
/// Drops everything.
TEEWIRE_API void teewire_history_clear(teewire_history* history);

#ifdef __cplusplus
}
#endif

#endif
