/// @file
/// Items as tables, and what items and messages mean. The rules of teewire.h hold here too.
#ifndef TEEWIRE_TABLE_H
#define TEEWIRE_TABLE_H

#include "teewire_demo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- items as tables --------------------------------------------------------------------------------------------- */

/// Other contents of a column than an int of the item.
typedef enum teewire_column_place {
    TEEWIRE_COLUMN_TICK = -1,    ///< the tick of the snapshot
    TEEWIRE_COLUMN_ID = -2,      ///< the id of the item
    TEEWIRE_COLUMN_INTS = -3,    ///< how many ints the item has
    TEEWIRE_COLUMN_KEYFRAME = -4 ///< 1 if the snapshot needs no other
} teewire_column_place;

/// A column of a table.
typedef struct teewire_column {
    int32_t* values; ///< room for the `capacity` of the table
    int32_t
        place; ///< an int of the item, counted from 0, or a teewire_column_place; 0 where the item has no such int
} teewire_column;

/// The `type` of a table with a row for each snapshot; all that is of an item is 0 there.
#define TEEWIRE_SNAPSHOT_ROWS 0xffffffffu

/// A table with a row for each item of a type in each snapshot.
typedef struct teewire_table {
    uint32_t size;                 ///< sizeof(teewire_table), set by the caller
    uint32_t type;                 ///< of the items; of no meaning if there is a UUID
    uint8_t const* uuid;           ///< 16 bytes of an extended type, or null
    teewire_column const* columns; ///< all of it is the caller's, to be changed between two calls
    uint32_t column_count;         ///< how many columns
    int32_t first_tick;            ///< items of snapshots before it are left out
    int32_t last_tick;             ///< where to stop
    int32_t tick;                  ///< of the last snapshot whose items were added
    uint64_t capacity;             ///< rows that fit
    uint64_t rows;                 ///< rows so far; the next ones follow them
    uint64_t position;             ///< demos: byte of the file that was reached
} teewire_table;

/// Adds the items of `snapshot` to the table, whatever its ticks are. Returns how many. Error: OUTPUT_FULL, with the rows
/// that there would be, and then there are as many as before. O(items + values).
TEEWIRE_API int32_t teewire_snapshot_rows(teewire_snapshot const* snapshot, int32_t tick, int32_t keyframe,
                                          teewire_table* table, teewire_failure* failure);
/// Plays the demo and adds the items of its snapshots. Returns 0 at the end of the file, or when a tick above `last_tick`
/// has begun; 1 when the next snapshot does not fit, and then the next call begins with it. Room for
/// TEEWIRE_MAX_ITEMS more rows is always enough for one. Errors as teewire_demo_reader_next; what came before has been
/// added. O(bytes + values).
TEEWIRE_API int32_t teewire_demo_reader_rows(teewire_demo_reader* reader, teewire_table* table,
                                             teewire_failure* failure);

/* ---- what items and messages mean -------------------------------------------------------------------------------- */

/// The meaning of a field's ints.
typedef enum teewire_field_kind {
    TEEWIRE_FIELD_INTEGER = 0,     ///< a number
    TEEWIRE_FIELD_TICK = 1,        ///< 50 per second
    TEEWIRE_FIELD_BOOLEAN = 2,     ///< 0 or 1
    TEEWIRE_FIELD_ENUMERATION = 3, ///< one of the words
    TEEWIRE_FIELD_FLAGS = 4,       ///< a bit for each word, lowest first
    TEEWIRE_FIELD_TEXT = 5         ///< four bytes in an int: teewire_text_decode
} teewire_field_kind;

/// An item type that has a name.
typedef struct teewire_item_type {
    uint32_t size;     ///< sizeof(teewire_item_type), set by the caller
    uint32_t type;     ///< 0 for extended types
    char const* name;  ///< "character"
    uint8_t uuid[16];  ///< all zero for plain types
    uint32_t ints;     ///< of the current form
    uint32_t min_ints; ///< of the shortest form that receivers take
} teewire_item_type;

/// A field of an item type.
typedef struct teewire_field {
    uint32_t size;      ///< sizeof(teewire_field), set by the caller
    int32_t kind;       ///< teewire_field_kind
    char const* name;   ///< "hook_state"
    uint32_t offset;    ///< its first int
    uint32_t ints;      ///< of an element; more than 1 only for texts
    uint32_t count;     ///< elements; more than 1 for arrays
    int32_t first_word; ///< the value that the first word stands for; of flags 0
} teewire_field;

/// Type `number`, counted from 0, of a protocol: those with a number, then the extended ones. Returns its fields.
/// Error: NOT_FOUND after the last one, and for numbers that are not a teewire_protocol. Texts are static. O(1).
TEEWIRE_API int32_t teewire_item_type_at(int32_t protocol, uint32_t number, teewire_item_type* out);
/// Field `field`, counted from 0, of that type. Returns its words. Error: NOT_FOUND. O(1).
TEEWIRE_API int32_t teewire_field_at(int32_t protocol, uint32_t number, uint32_t field, teewire_field* out);
/// Word `word`, counted from 0, of that field; null if there is none. O(1).
TEEWIRE_API char const* teewire_field_word(int32_t protocol, uint32_t number, uint32_t field, uint32_t word);
/// The text in `count` ints, without its terminator, as it was sent: UTF-8 or not. `out` has room for 4 * `count` bytes.
/// Returns the bytes.
TEEWIRE_API int32_t teewire_text_decode(int32_t const* ints, uint32_t count, uint8_t* out);

/// A message that was read. It depends on the message which members after `fields_size` have a meaning: those of kill are
/// client_id, victim and weapon. Pointers point into the message, and texts have no terminator, but for `name`.
typedef struct teewire_message {
    uint32_t size;         ///< sizeof(teewire_message), set by the caller
    int32_t id;            ///< 0 for extended messages
    int32_t system;        ///< 1: concerns the connection, not the game
    uint8_t uuid[16];      ///< of extended messages
    char const* name;      ///< "chat"; null if it is not known. Static
    uint8_t const* fields; ///< everything after the header
    uint32_t fields_size;  ///< bytes of it
    int32_t client_id;     ///< who speaks, kills, comes or goes; -1 for the server and for none
    int32_t victim;        ///< who was killed
    int32_t weapon;        ///< -3 game, -2 self, -1 world, otherwise as an item's weapon
    int32_t team;   ///< chat of 0.6: 0 all, 1 team, from 2 on DDNet's whispers; of 0.7: 1 all, 2 team, 3 whisper
    int32_t target; ///< client that is whispered to, in 0.7; -1 for none
    uint32_t text_size;   ///< bytes
    char const* text;     ///< what was said, or the reason of a leave
    char const* sender;   ///< the name of a client, in messages that introduce one
    uint32_t sender_size; ///< bytes
    uint32_t clan_size;   ///< bytes
    char const* clan;     ///< the same
} teewire_message;

/// Reads a message, header included, of that teewire_protocol. Returns 1, or 0 if only the members up to `fields_size`
/// are set, because the message is not a common one, or is damaged. Errors, with the byte: TRUNCATED in the header;
/// BAD_ARGUMENT.
TEEWIRE_API int32_t teewire_message_read(uint8_t const* message, uint32_t size, int32_t protocol,
                                         teewire_message* out, teewire_failure* failure);

#ifdef __cplusplus
}
#endif

#endif
