/// @file
/// One world for many clients: each item of a tick is stored, compared and packed once for all of them. The rules of
/// teewire.h hold here too; examples/shared_server.c is a whole program.
#ifndef TEEWIRE_WORLD_H
#define TEEWIRE_WORLD_H

#include "teewire.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Limits of a world. Zero means the default.
typedef struct teewire_world_limits {
    uint32_t size;    ///< sizeof(teewire_world_limits), set by the caller
    uint32_t clients; ///< numbered from 0 on; by default 64, at most 65534
    uint32_t items;   ///< of a tick, different contents of one key included; by default 4096, at most 65534
    uint32_t ints;    ///< of their data; by default 65536
    uint32_t ticks;   ///< held at most; by default 75, which is 3 seconds at 25 a second
} teewire_world_limits;

/// The items of a tick, each stored once, with the set of items that each client sees, and the same of the ticks before.
/// Between teewire_world_finish and the next teewire_world_start, several threads may read and encode. See
/// teewire/shared_world.hpp.
typedef struct teewire_world teewire_world;

/// Bytes of a world that holds as many ticks as `limits` says, if a tick has `items` items with `ints` ints in all, and
/// each client sees `seen` of them. 0 if that is 4 GiB or more, or if a number is out of range.
TEEWIRE_API uint32_t teewire_world_size(teewire_world_limits const* limits, uint32_t items, uint32_t ints,
                                        uint32_t seen);
/// Makes a world. With fewer bytes than it would need, older ticks are dropped sooner. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_world_init(teewire_world** out, void* memory, uint32_t size,
                                       teewire_world_limits const* limits);
/// The alias of an extended type, which every snapshot describes at its front from now on. If sets of items are shown to
/// clients, ask for it before teewire_world_start. Errors: TOO_MANY_TYPES, TOO_MANY_ITEMS, TOO_LARGE. O(extended types).
TEEWIRE_API int32_t teewire_world_extended_type(teewire_world* world, uint8_t const* uuid);
/// Begins a tick; one that was not finished is forgotten. Error: BAD_TICK when ticks do not increase. O(items).
TEEWIRE_API int32_t teewire_world_start(teewire_world* world, int32_t tick);
/// Adds a copy of an item. Returns its number; an equal item that is there already keeps its own. Errors: BAD_TYPE, BAD_ID,
/// TOO_MANY_ITEMS, TOO_LARGE. O(ints).
TEEWIRE_API int32_t teewire_world_add(teewire_world* world, uint32_t type, uint32_t id, int32_t const* data,
                                      uint32_t ints);
/// Adds `count` items of the tick before, from number `first` on, unchanged. Returns the number of the first one. Errors:
/// UNKNOWN_TICK if there are no such items; those of teewire_world_add.
TEEWIRE_API int32_t teewire_world_keep(teewire_world* world, uint32_t first, uint32_t count);
/// Shows a client the items whose bits are set in `set`, `words` words: item n has bit n % 64 of word n / 64. Returns how
/// many. Errors, after which the client sees nothing: DUPLICATE_KEY, TOO_MANY_ITEMS, TOO_LARGE, BAD_ARGUMENT. O(items / 64 + items seen).
TEEWIRE_API int32_t teewire_world_show(teewire_world* world, uint32_t client, uint64_t const* set, uint32_t words);
/// The other way to show items: begins a list of those that the client sees, in any order. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_world_start_view(teewire_world* world, uint32_t client);
/// Adds an item to that list. Its data, all zero, is to be filled in before teewire_world_finish_view. Returns the items of
/// the list so far. Errors, after which nothing was added: BAD_TYPE, BAD_ID, TOO_MANY_ITEMS, TOO_LARGE.
TEEWIRE_API int32_t teewire_world_add_to_view(teewire_world* world, uint32_t type, uint32_t id, uint32_t ints,
                                              int32_t** data);
/// Adds an item with a copy of `data`. Returns and errors as teewire_world_add_to_view. O(ints).
TEEWIRE_API int32_t teewire_world_put_to_view(teewire_world* world, uint32_t type, uint32_t id, int32_t const* data,
                                              uint32_t ints);
/// Ends the list. Returns its items. Error, with the number of the first item that was left out: DUPLICATE_KEY,
/// TOO_MANY_ITEMS, TOO_LARGE. O(items + ints).
TEEWIRE_API int32_t teewire_world_finish_view(teewire_world* world, teewire_failure* failure);
/// Ends the tick. Returns the number of its items. Error: TOO_LARGE if it could not be held even by itself; it is
/// forgotten.
TEEWIRE_API int32_t teewire_world_finish(teewire_world* world, teewire_failure* failure);
/// 1 if the client was shown that tick and it is held.
TEEWIRE_API int32_t teewire_world_holds(teewire_world const* world, uint32_t client, int32_t tick);
/// Writes the client's snapshot to `out`, as for a demo. Returns the number of items. Errors: UNKNOWN_TICK; OUTPUT_FULL,
/// never with TEEWIRE_MAX_SNAPSHOT_INTS. O(ints).
TEEWIRE_API int32_t teewire_world_snapshot(teewire_world const* world, uint32_t client, int32_t tick, int32_t* out,
                                           uint32_t capacity, teewire_snapshot* snapshot, teewire_failure* failure);
/// Drops everything older than `tick`, but never the newest one. Returns how many are left.
TEEWIRE_API int32_t teewire_world_drop_before(teewire_world* world, int32_t tick);
/// Forgets what the client has seen: call it when another client gets that number.
TEEWIRE_API void teewire_world_forget_client(teewire_world* world, uint32_t client);
/// Drops all ticks: after a map change, when ticks begin again. Extended types stay.
TEEWIRE_API void teewire_world_clear(teewire_world* world);

/// Encodes the newest tick of a world for its clients; each thread has one.
typedef struct teewire_encoder teewire_encoder;

/// The result of teewire_encoder_encode.
typedef struct teewire_packed_delta {
    uint32_t size;        ///< sizeof(teewire_packed_delta), set by the caller
    int32_t tick;         ///< of the snapshot
    int32_t base_tick;    ///< -1 for a full one
    uint32_t checksum;    ///< of the snapshot
    uint8_t const* bytes; ///< variable-length ints
    uint32_t byte_count;  ///< 0 if nothing changed
} teewire_packed_delta;

/// Bytes of an encoder for a world of these limits, if a tick has `items` items with `ints` ints in all, and clients have
/// acknowledged `ticks` different ticks. 0 as teewire_world_size.
TEEWIRE_API uint32_t teewire_encoder_size(teewire_world_limits const* limits, uint32_t items, uint32_t ints,
                                          uint32_t ticks);
/// Makes an encoder. With fewer bytes it repeats work whose result it could not keep. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_encoder_init(teewire_encoder** out, void* memory, uint32_t size,
                                         teewire_world const* world);
/// The packed delta from the client's snapshot of `base_tick` to its newest one; from the empty one if that is -1 or
/// not held. Valid until the encoder is used again. Do not change `sizes` until the next tick. Returns the bytes.
/// Errors: UNKNOWN_TICK if the client was not shown the newest tick, or the last could not be held; SIZE_MISMATCH, with
/// the number of the item; BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_encoder_encode(teewire_encoder* encoder, uint32_t client, int32_t base_tick,
                                           teewire_sizes const* sizes, teewire_packed_delta* out,
                                           teewire_failure* failure);
/// The same as messages for the connection, of the protocol and with the agreed sizes of `options`; against nothing also when
/// an item has changed its size. Returns their number. Errors: as teewire_encoder_encode, and as teewire_sender_send.
TEEWIRE_API int32_t teewire_encoder_send(teewire_encoder* encoder, uint32_t client, int32_t base_tick,
                                         teewire_sender_options const* options, teewire_failure* failure);
/// The next of these messages. Returns its bytes, or 0 after the last one. Valid until the encoder is used again.
TEEWIRE_API int32_t teewire_encoder_next(teewire_encoder* encoder, uint8_t const** message);

#ifdef __cplusplus
}
#endif

#endif
