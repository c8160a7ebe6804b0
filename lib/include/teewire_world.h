/// @file
/// One world for many clients: what items contain is stored, compared and packed once for all of them. The rules of
/// teewire.h hold here too; examples/shared_server.c is a whole program.
#ifndef TEEWIRE_WORLD_H
#define TEEWIRE_WORLD_H

#include "teewire.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Limits of a world. Zero means the default.
typedef struct teewire_world_limits {
    uint32_t size;     ///< sizeof(teewire_world_limits), set by the caller
    uint32_t clients;  ///< numbered from 0 on; by default 64, at most 65534
    uint32_t contents; ///< different ones of a tick that are shared; by default 16384, at most 65534
    uint32_t ints;     ///< of these contents; by default 131072
    uint32_t ticks;    ///< held at most; by default 75, which is 3 seconds at 25 a second
} teewire_world_limits;

/// The clients' views of a tick and of the ticks before. Each content is stored once, whoever sees it and under whichever
/// type and id. Between teewire_world_finish and the next teewire_world_start, several threads may read and encode.
/// See teewire/shared_world.hpp.
typedef struct teewire_world teewire_world;

/// Bytes of a world that holds as many ticks as `limits` says, if a tick has `contents` different contents with `ints` ints
/// in all, and each client sees `seen` items. 0 if that is 4 GiB or more, or if a number is out of range.
TEEWIRE_API uint32_t teewire_world_size(teewire_world_limits const* limits, uint32_t contents, uint32_t ints,
                                        uint32_t seen);
/// Makes a world. With fewer bytes than it would need, older ticks are dropped sooner. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_world_init(teewire_world** out, void* memory, uint32_t size,
                                       teewire_world_limits const* limits);
/// The alias of an extended type, which every view describes at its front from now on. Errors: TOO_MANY_TYPES,
/// TOO_MANY_ITEMS, TOO_LARGE. O(extended types).
TEEWIRE_API int32_t teewire_world_extended_type(teewire_world* world, uint8_t const* uuid);
/// Begins a tick; one that was not finished is forgotten. Error: BAD_TICK when ticks do not increase. O(contents).
TEEWIRE_API int32_t teewire_world_start(teewire_world* world, int32_t tick);
/// Stores a content for teewire_world_put_shared until the next teewire_world_start. Returns its number; an equal one keeps
/// its own. Not while a view is being made. Error: TOO_LARGE if there is no more room for contents. O(ints).
TEEWIRE_API int32_t teewire_world_share(teewire_world* world, int32_t const* data, uint32_t ints);
/// Begins a client's view: the items that it sees, in their order. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_world_start_view(teewire_world* world, uint32_t client);
/// Adds an item to that view. Its data, all zero, is to be filled in before teewire_world_finish_view. Returns the items of
/// the view so far. Errors, after which nothing was added: BAD_TYPE, BAD_ID, TOO_MANY_ITEMS, TOO_LARGE.
TEEWIRE_API int32_t teewire_world_add_to_view(teewire_world* world, uint32_t type, uint32_t id, uint32_t ints,
                                              int32_t** data);
/// Adds an item with a copy of `data`. Returns and errors as teewire_world_add_to_view. O(ints).
TEEWIRE_API int32_t teewire_world_put_to_view(teewire_world* world, uint32_t type, uint32_t id, int32_t const* data,
                                              uint32_t ints);
/// Adds an item with a content of teewire_world_share. Returns and errors as teewire_world_add_to_view; BAD_ARGUMENT if
/// there is no such content. O(1).
TEEWIRE_API int32_t teewire_world_put_shared(teewire_world* world, uint32_t type, uint32_t id, uint32_t content);
/// Ends the view. Returns its items. If contents are more than the limits allow, the view is stored by itself, with the same
/// delta. Errors: DUPLICATE_KEY, with the number of the first item that was left out as its type and id were there;
/// TOO_LARGE if the memory has no room for the view even without past ticks, and the client sees nothing. O(items + ints).
TEEWIRE_API int32_t teewire_world_finish_view(teewire_world* world, teewire_failure* failure);
/// Views that were stored by themselves since the world was made. If it grows, the limits are too low.
TEEWIRE_API uint64_t teewire_world_views_alone(teewire_world const* world);
/// Ends the tick. Returns the number of its shared contents. Error: TOO_LARGE if it could not be held even by itself; it is
/// forgotten.
TEEWIRE_API int32_t teewire_world_finish(teewire_world* world, teewire_failure* failure);
/// 1 if the client was shown that tick and it is held.
TEEWIRE_API int32_t teewire_world_holds(teewire_world const* world, uint32_t client, int32_t tick);
/// Writes the client's snapshot to `out`, as for a demo. Returns the number of items. Errors: UNKNOWN_TICK; OUTPUT_FULL,
/// never with TEEWIRE_MAX_SNAPSHOT_INTS. O(ints).
TEEWIRE_API int32_t teewire_world_snapshot(teewire_world const* world, uint32_t client, int32_t tick, int32_t* out,
                                           uint32_t capacity, teewire_snapshot* snapshot, teewire_failure* failure);
/// Drops everything older than `tick`, but never the newest one: call it with the oldest tick that a client has
/// acknowledged. Returns how many are left.
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

/// Bytes of an encoder for a world of these limits, if a tick has `contents` contents with `ints` ints in all, and clients have
/// acknowledged `ticks` different ticks. 0 as teewire_world_size.
TEEWIRE_API uint32_t teewire_encoder_size(teewire_world_limits const* limits, uint32_t contents, uint32_t ints,
                                          uint32_t ticks);
/// Makes an encoder. With fewer bytes it repeats work whose result it could not keep. Error: BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_encoder_init(teewire_encoder** out, void* memory, uint32_t size,
                                         teewire_world const* world);
/// The packed delta from the client's snapshot of `base_tick` to its newest one; from the empty one if that is -1 or
/// not held. Valid until the encoder is used again. Returns the bytes.
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
