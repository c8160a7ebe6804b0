// Where module.js, tables.js and demo.js find the members of structures.
#include <teewire.h>

namespace {

#define AT(type, member, offset) static_assert(offsetof(teewire_##type, member) == (offset))
#define SIZE(type, bytes) static_assert(sizeof(teewire_##type) == (bytes))

SIZE(failure, 24);
AT(failure, code, 0);
AT(failure, stage, 4);
AT(failure, position, 8);
AT(failure, chunk, 16);

SIZE(snapshot, 20);
AT(snapshot, ints, 0);
AT(snapshot, size, 12);

SIZE(demo_reader_options, 16);
AT(demo_reader_options, sizes, 8);

SIZE(demo_event, 32);
AT(demo_event, tick, 4);
AT(demo_event, position, 8);
AT(demo_event, message, 16);
AT(demo_event, message_size, 20);
AT(demo_event, keyframe, 24);

SIZE(demo_header, 472);
AT(demo_header, version, 4);
AT(demo_header, map_size, 8);
AT(demo_header, map_crc, 12);
AT(demo_header, length, 16);
AT(demo_header, marker_count, 20);
AT(demo_header, marker_ticks, 24);
AT(demo_header, has_sha256, 280);
AT(demo_header, sha256, 284);
AT(demo_header, net_version, 316);
AT(demo_header, map_name, 380);
AT(demo_header, type, 444);
AT(demo_header, timestamp, 452);

SIZE(item_type, 36);
AT(item_type, type, 4);
AT(item_type, name, 8);
AT(item_type, uuid, 12);
AT(item_type, ints, 28);
AT(item_type, min_ints, 32);

SIZE(field, 28);
AT(field, kind, 4);
AT(field, name, 8);
AT(field, offset, 12);
AT(field, ints, 16);
AT(field, count, 20);
AT(field, first_word, 24);

SIZE(message, 84);
AT(message, id, 4);
AT(message, system, 8);
AT(message, uuid, 12);
AT(message, name, 28);
AT(message, fields, 32);
AT(message, fields_size, 36);
AT(message, client_id, 40);
AT(message, victim, 44);
AT(message, weapon, 48);
AT(message, team, 52);
AT(message, target, 56);
AT(message, text_size, 60);
AT(message, text, 64);
AT(message, sender, 68);
AT(message, sender_size, 72);
AT(message, clan_size, 76);
AT(message, clan, 80);

} // namespace
