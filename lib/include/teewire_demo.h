/// @file
/// Demos: reading, seeking, writing. The rules of teewire.h hold here too.
#ifndef TEEWIRE_DEMO_H
#define TEEWIRE_DEMO_H

#include "teewire.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes that one call of a demo writer writes at most.
#define TEEWIRE_MAX_DEMO_BYTES 65543
/// Bytes of a demo header at most.
#define TEEWIRE_MAX_DEMO_HEADER_BYTES 484

/// For teewire_demo_reader_init: an upper bound for this ABI. teewire_demo_reader_size() is exact.
#define TEEWIRE_DEMO_READER_SIZE 458752
/// For teewire_demo_writer_init: an upper bound for this ABI. teewire_demo_writer_size() is exact.
#define TEEWIRE_DEMO_WRITER_SIZE 458752
/// Bytes that teewire_demo_reader_init needs.
TEEWIRE_API uint32_t teewire_demo_reader_size(void);
/// Bytes that teewire_demo_writer_init needs.
TEEWIRE_API uint32_t teewire_demo_writer_size(void);

/// The header of a demo. Text fields have terminators unless all of the field is used.
typedef struct teewire_demo_header {
    uint32_t size;            ///< sizeof(teewire_demo_header), set by the caller
    uint32_t version;         ///< 3 to 6
    uint32_t map_size;        ///< bytes of the map in the file, which follows the header; 0 if there is none
    uint32_t map_crc;         ///< as stored
    int32_t length;           ///< seconds; 0 if the recording was not stopped properly
    uint32_t marker_count;    ///< up to 64
    int32_t marker_ticks[64]; ///< timeline markers
    uint32_t has_sha256;      ///< version 6
    uint8_t sha256[32];       ///< of the map
    char net_version[64];     ///< "0.6 626fce9a778df4d4" (also DDNet) or "0.7 802f1be60a05665f"
    char map_name[64];        ///< without path
    char type[8];             ///< "client" or "server"
    char timestamp[20];       ///< "YYYY-MM-DD_HH-MM-SS", local time
} teewire_demo_header;

/// Reads the header of a demo, of which TEEWIRE_MAX_DEMO_HEADER_BYTES are enough. Returns its bytes: there the map
/// begins, and after that the chunks. Errors: TRUNCATED, BAD_MAGIC, BAD_VERSION, with the byte; then `out` is
/// unchanged.
TEEWIRE_API int32_t teewire_demo_header_read(uint8_t const* file, uint64_t file_size, teewire_demo_header* out,
                                             teewire_failure* failure);
/// Writes the header to `out`. Returns its bytes, at most TEEWIRE_MAX_DEMO_HEADER_BYTES. Errors: OUTPUT_FULL;
/// BAD_ARGUMENT for a version or marker count out of range.
TEEWIRE_API int32_t teewire_demo_header_write(teewire_demo_header const* header, uint8_t* out, uint32_t capacity);

/// Options of teewire_demo_reader_init.
typedef struct teewire_demo_reader_options {
    uint32_t size;              ///< sizeof(teewire_demo_reader_options)
    int32_t decoding;           ///< teewire_decoding; by default lenient
    teewire_sizes const* sizes; ///< null: found out from the file, see detect_size_table in teewire/demo_reader.hpp
    uint32_t passed; ///< a bit 1 << teewire_demo_kind for what teewire_demo_reader_next plays without giving it
} teewire_demo_reader_options;

/// The events of teewire_demo_reader_next.
typedef enum teewire_demo_kind {
    TEEWIRE_DEMO_TICK = 1,     ///< a tick begins
    TEEWIRE_DEMO_SNAPSHOT = 2, ///< there is another teewire_demo_reader_snapshot
    TEEWIRE_DEMO_MESSAGE = 3   ///< one of the game or of the server
} teewire_demo_kind;

/// An event of a demo.
typedef struct teewire_demo_event {
    uint32_t size;          ///< sizeof(teewire_demo_event), set by the caller
    int32_t tick;           ///< 50 per second
    uint64_t position;      ///< byte of the file
    uint8_t const* message; ///< with up to three zero bytes more than were sent; until the next call
    uint32_t message_size;  ///< bytes
    int32_t keyframe;       ///< 1 for a full snapshot, and for the tick that announces it
} teewire_demo_event;

/// A summary of a file's chunk headers.
typedef struct teewire_demo_overview {
    uint32_t size;      ///< sizeof(teewire_demo_overview), set by the caller
    int32_t first_tick; ///< -1 if there is none
    int32_t last_tick;  ///< -1 if there is none
    uint32_t ticks;     ///< tick markers
    uint32_t snapshots; ///< full ones and deltas
    uint32_t messages;  ///< message chunks
    uint32_t keyframes; ///< where a seek can begin
    int32_t damage;     ///< TEEWIRE_OK, or the code of where the file is damaged; the rest is what came before
    uint64_t damage_position; ///< byte of the file
    uint32_t restarts;        ///< tick markers that are not above the one before
} teewire_demo_overview;

/// Plays a demo from memory.
typedef struct teewire_demo_reader teewire_demo_reader;

/// Makes a reader of the demo in `file`, which has to stay as long as the reader is used. Errors, with the byte: TRUNCATED, BAD_MAGIC, BAD_VERSION;
/// BAD_ARGUMENT. Costs what detecting the sizes does.
TEEWIRE_API int32_t teewire_demo_reader_init(teewire_demo_reader** out, void* memory, uint32_t size,
                                             uint8_t const* file, uint64_t file_size,
                                             teewire_demo_reader_options const* options, teewire_failure* failure);
/// Fills in the header of the file. O(1).
TEEWIRE_API void teewire_demo_reader_header(teewire_demo_reader const* reader, teewire_demo_header* out);
/// The sizes in use: those of the options, or those that were found out, for more readers of the same file.
TEEWIRE_API teewire_sizes const* teewire_demo_reader_sizes(teewire_demo_reader const* reader);
/// The teewire_protocol of the items and messages, found out from the sizes and up to 64 snapshots. Afterwards the reader
/// is at the beginning of the demo.
TEEWIRE_API int32_t teewire_demo_reader_protocol(teewire_demo_reader* reader);
/// The map inside the file. Returns its bytes. Error: TOO_LARGE for 2 GiB and more.
TEEWIRE_API int32_t teewire_demo_reader_map(teewire_demo_reader const* reader, uint8_t const** map);
/// Plays up to the next event. Returns a teewire_demo_kind, 0 at the end of the file, or the error with its stage and
/// chunk; what came before has been given. Amortised O(bytes of the chunk).
TEEWIRE_API int32_t teewire_demo_reader_next(teewire_demo_reader* reader, teewire_demo_event* event,
                                             teewire_failure* failure);
/// The tick of the last marker that was played; -1 before the first one.
TEEWIRE_API int32_t teewire_demo_reader_tick(teewire_demo_reader const* reader);
/// The last snapshot, valid until the next call. Returns the number of items. O(items).
TEEWIRE_API int32_t teewire_demo_reader_snapshot(teewire_demo_reader* reader, teewire_snapshot* out);

/// Bytes of memory for `count` keyframes; there is one about every five seconds.
#define TEEWIRE_KEYFRAMES_SIZE(count) (16 * (count))
/// Reads all chunk headers, fills in `overview` unless it is null, and keeps keyframes in `memory` for
/// teewire_demo_reader_seek. Returns the number of keyframes, even if fewer fit; after the last one that fits, seeking
/// is slow. A damaged file does not count as an error here. Errors: BAD_ARGUMENT for unaligned memory. O(chunks).
TEEWIRE_API int32_t teewire_demo_reader_index(teewire_demo_reader* reader, void* memory, uint32_t size,
                                              teewire_demo_overview* overview);
/// Goes to `tick`: afterwards everything up to the last tick marker not above it has been played, so that the snapshot is
/// that of `tick`. Messages on the way are skipped. Without an index it only goes forward. Errors as teewire_demo_reader_next. Costs at most the chunks since
/// the last keyframe.
TEEWIRE_API int32_t teewire_demo_reader_seek(teewire_demo_reader* reader, int32_t tick, teewire_failure* failure);

/// Options of teewire_demo_writer_init.
typedef struct teewire_demo_writer_options {
    uint32_t size;              ///< sizeof(teewire_demo_writer_options)
    uint32_t version;           ///< 3 to 6; by default 6
    teewire_sizes const* sizes; ///< null: those of 0.6
    int32_t huffman;            ///< teewire_huffman; by default EXACT
} teewire_demo_writer_options;

/// Records a demo. The caller writes the header and the map first; these functions give the bytes that follow.
typedef struct teewire_demo_writer teewire_demo_writer;

/// Makes a writer. Errors: BAD_ARGUMENT for memory, version or option.
TEEWIRE_API int32_t teewire_demo_writer_init(teewire_demo_writer** out, void* memory, uint32_t size,
                                             teewire_demo_writer_options const* options);
/// Records a snapshot, with keyframes where recorders put them. Returns the bytes written, at most
/// TEEWIRE_MAX_DEMO_BYTES. Errors: BAD_TICK when the tick does not increase; TOO_MANY_ITEMS; TOO_LARGE; OUTPUT_FULL. A
/// failed call records nothing. O(items + ints).
TEEWIRE_API int32_t teewire_demo_writer_snapshot(teewire_demo_writer* writer, int32_t tick,
                                                 teewire_snapshot const* snapshot, uint8_t* out, uint32_t capacity,
                                                 teewire_failure* failure);
/// Records a message for the tick of the last snapshot. Returns the bytes written. Errors: TOO_LARGE; OUTPUT_FULL.
TEEWIRE_API int32_t teewire_demo_writer_message(teewire_demo_writer* writer, uint8_t const* message, uint32_t size,
                                                uint8_t* out, uint32_t capacity, teewire_failure* failure);
/// Marks the last tick for the timeline. Returns 1, or 0 if the marker before is too near or there are 64.
TEEWIRE_API int32_t teewire_demo_writer_mark(teewire_demo_writer* writer);
/// Puts the length and the markers into `header`, which the caller then writes over the first one.
TEEWIRE_API void teewire_demo_writer_finish(teewire_demo_writer const* writer, teewire_demo_header* header);

#ifdef __cplusplus
}
#endif

#endif
