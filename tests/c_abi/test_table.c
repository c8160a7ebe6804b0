/* Items as tables, and what items and messages mean. */
#include "check.h"

enum { room = 8, columns = 6 };

/* A table whose columns hold ids, sizes, ticks, keyframes, and two ints. */
static int32_t values[columns][room];
static teewire_column column[columns];

static teewire_table new_table(uint32_t type, uint64_t capacity) {
    static int32_t const places[columns] = {
        TEEWIRE_COLUMN_ID, TEEWIRE_COLUMN_INTS, TEEWIRE_COLUMN_TICK, TEEWIRE_COLUMN_KEYFRAME, 0, 2,
    };
    teewire_table table;
    uint32_t n = 0;
    memset(values, 0x5a, sizeof values);
    for (; n < columns; ++n) {
        column[n].values = values[n];
        column[n].place = places[n];
    }
    memset(&table, 0, sizeof table);
    table.size = sizeof table;
    table.type = type;
    table.columns = column;
    table.column_count = columns;
    table.last_tick = INT32_MAX;
    table.capacity = capacity;
    return table;
}

static void check_row(uint32_t row, int32_t id, int32_t ints, int32_t tick, int32_t keyframe, int32_t a,
                      int32_t b) {
    CHECK_EQUAL(values[0][row], id);
    CHECK_EQUAL(values[1][row], ints);
    CHECK_EQUAL(values[2][row], tick);
    CHECK_EQUAL(values[3][row], keyframe);
    CHECK_EQUAL(values[4][row], a);
    CHECK_EQUAL(values[5][row], b);
}

static void test_rows(void) {
    static int32_t const three[] = {7, 8, 9}, one[] = {-1}, five[] = {1, 2, 3, 4, 5};
    static uint8_t const uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, other[16] = {1};
    teewire_builder* const builder = new_builder();
    teewire_failure failure;
    teewire_snapshot s;
    teewire_table table;
    int32_t* data = NULL;
    teewire_builder_start(builder);
    CHECK(teewire_builder_put(builder, 20, 3, three, 3) > 0);
    CHECK(teewire_builder_put(builder, 21, 3, three, 3) > 0);
    CHECK(teewire_builder_put(builder, 20, 65535, one, 1) > 0);
    CHECK(teewire_builder_add_extended(builder, uuid, 5, 3, &data) > 0);
    data[2] = 55;
    CHECK(teewire_builder_put(builder, 20, 0, five, 5) > 0);
    CHECK(teewire_builder_finish(builder, &s) > 0);

    table = new_table(20, room);
    CHECK_EQUAL(teewire_snapshot_rows(&s, 100, 1, &table, NULL), 3);
    CHECK_EQUAL(table.rows, 3);
    CHECK_EQUAL(table.tick, 100);
    check_row(0, 3, 3, 100, 1, 7, 9);
    check_row(1, 65535, 1, 100, 1, -1, 0); /* no such int */
    check_row(2, 0, 5, 100, 1, 1, 3);
    CHECK_EQUAL(values[0][3], 0x5a5a5a5a);
    table.type = 21; /* behind the others */
    CHECK_EQUAL(teewire_snapshot_rows(&s, 102, 0, &table, NULL), 1);
    check_row(2, 0, 5, 100, 1, 1, 3);
    check_row(3, 3, 3, 102, 0, 7, 9);
    table.type = 22;
    CHECK_EQUAL(teewire_snapshot_rows(&s, 104, 0, &table, NULL), 0);
    CHECK_EQUAL(table.tick, 102);
    table.uuid = uuid;
    CHECK_EQUAL(teewire_snapshot_rows(&s, 104, 0, &table, NULL), 1);
    check_row(4, 5, 3, 104, 0, 0, 55);
    table.uuid = other;
    CHECK_EQUAL(teewire_snapshot_rows(&s, 104, 0, &table, NULL), 0);
    table.uuid = NULL;
    table.type = TEEWIRE_SNAPSHOT_ROWS;
    CHECK_EQUAL(teewire_snapshot_rows(&s, 106, 1, &table, NULL), 1);
    check_row(5, 0, 0, 106, 1, 0, 0);
    CHECK_EQUAL(table.rows, 6);

    /* What does not fit is not begun, as far as anybody can see. */
    table.type = 20;
    CHECK_FAILS(teewire_snapshot_rows(&s, 108, 0, &table, &failure), TEEWIRE_OUTPUT_FULL, TEEWIRE_STAGE_INPUT, 9);
    CHECK_EQUAL(table.rows, 6);
    CHECK_EQUAL(table.tick, 106);
    table.rows = 5; /* the caller's to say */
    CHECK_EQUAL(teewire_snapshot_rows(&s, 108, 0, &table, NULL), 3);
    CHECK_EQUAL(table.rows, 8);
    table.rows = 9;
    CHECK_FAILS(teewire_snapshot_rows(&s, 108, 0, &table, &failure), TEEWIRE_BAD_ARGUMENT, TEEWIRE_STAGE_INPUT, 0);
    CHECK_FAILS(teewire_snapshot_rows(&s, 108, 0, NULL, &failure), TEEWIRE_BAD_ARGUMENT, TEEWIRE_STAGE_INPUT, 0);
    table = new_table(20, 2);
    CHECK_FAILS(teewire_snapshot_rows(&s, 1, 0, &table, &failure), TEEWIRE_OUTPUT_FULL, TEEWIRE_STAGE_INPUT, 3);
    CHECK_EQUAL(values[0][2], 0x5a5a5a5a);
    table.column_count = 0; /* only counts */
    table.columns = NULL;
    table.capacity = 100;
    CHECK_EQUAL(teewire_snapshot_rows(&s, 1, 0, &table, NULL), 3);
}

/* Aliases are what the first item says that describes them, and more items than are gathered at once. */
static void test_many_rows(void) {
    static int32_t ints[2 + 604 + 4 * 5 + 600 * 2], many[600];
    static int32_t const words[2][4] = {{0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10}, {1, 1, 1, 1}};
    static uint8_t const uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    teewire_failure failure;
    teewire_snapshot s;
    teewire_table table = new_table(0, 600);
    int32_t* item = ints + 2 + 604;
    int32_t n = 0, sum = 0;
    ints[0] = 4 * (4 * 5 + 600 * 2);
    ints[1] = 604;
    for (; n < 604; ++n) {
        ints[2 + n] = (int32_t)(4 * (item - (ints + 2 + 604)));
        if (n < 4) { /* 0x4001 has two meanings, 0x4002 a second one that does not count, the last is no alias */
            static uint32_t const described[] = {0x4001, 0x4002, 0x4001, 0x3fff};
            static int const meanings[] = {1, 0, 0, 0};
            *item++ = TEEWIRE_KEY(0, described[n]);
            memcpy(item, words[meanings[n]], sizeof words[0]);
            item += 4;
        } else {
            *item++ = TEEWIRE_KEY(n % 3 == 0 ? 0x4001 : n % 3 == 1 ? 0x4002 : 0x3fff, n);
            *item++ = n;
        }
    }
    REQUIRE(teewire_snapshot_check(&s, ints, sizeof ints / sizeof *ints, TEEWIRE_LENIENT, &failure) == 604);
    table.uuid = uuid;
    column[0].values = many;
    column[0].place = 0;
    table.column_count = 1;
    CHECK_EQUAL(teewire_snapshot_rows(&s, 1, 0, &table, NULL), 200);
    for (n = 0; n < 200; ++n) sum += many[n] == 4 + 3 * n;
    CHECK_EQUAL(sum, 200);
}

static void test_types(void) {
    teewire_item_type type;
    teewire_field field;
    int32_t protocol = TEEWIRE_PROTOCOL_DDNET, number = 0, all = 0, texts = 0;
    memset(&type, 0, sizeof type);
    memset(&field, 0, sizeof field);
    type.size = sizeof type;
    field.size = sizeof field;
    for (; protocol <= TEEWIRE_PROTOCOL_07; ++protocol) {
        int32_t fields = 0, extended = 0;
        for (number = 0; (fields = teewire_item_type_at(protocol, (uint32_t)number, &type)) >= 0; ++number) {
            static uint8_t const none[16];
            int32_t f = 0, words = 0;
            uint32_t end = 0;
            CHECK(type.name[0] != '\0' && strlen(type.name) < 32);
            CHECK_EQUAL(type.type == 0, memcmp(type.uuid, none, 16) != 0);
            extended += type.type == 0;
            for (; (words = teewire_field_at(protocol, (uint32_t)number, (uint32_t)f, &field)) >= 0; ++f) {
                int32_t w = 0;
                CHECK(field.name[0] != '\0' && strlen(field.name) < 32);
                CHECK_EQUAL(field.offset, end);
                end += field.ints * field.count;
                CHECK_EQUAL(words > 0,
                            field.kind == TEEWIRE_FIELD_ENUMERATION || field.kind == TEEWIRE_FIELD_FLAGS);
                for (; w < words; ++w) {
                    char const* const word =
                        teewire_field_word(protocol, (uint32_t)number, (uint32_t)f, (uint32_t)w);
                    CHECK(word != NULL && word[0] != '\0' && strlen(word) < 32);
                }
                CHECK(teewire_field_word(protocol, (uint32_t)number, (uint32_t)f, (uint32_t)words) == NULL);
                texts += field.kind == TEEWIRE_FIELD_TEXT;
            }
            CHECK_EQUAL(f, fields);
            CHECK_EQUAL(end, type.ints);
            CHECK(type.min_ints <= type.ints);
        }
        CHECK_EQUAL(fields, TEEWIRE_NOT_FOUND);
        CHECK(extended > 10);
        all += number;
    }
    CHECK(all > 100);
    CHECK(texts > 6);
    CHECK_EQUAL(teewire_item_type_at(3, 0, &type), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_item_type_at(-1, 0, &type), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_item_type_at(0, UINT32_MAX, NULL), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_field_at(3, 0, 0, &field), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_field_at(0, 0, UINT32_MAX, &field), TEEWIRE_NOT_FOUND);
    CHECK(teewire_field_word(0, UINT32_MAX, 0, 0) == NULL);

    /* One that everybody knows. */
    CHECK_EQUAL(teewire_item_type_at(TEEWIRE_PROTOCOL_06, 8, &type), 22);
    CHECK(strcmp(type.name, "character") == 0);
    CHECK_EQUAL(type.type, 9);
    CHECK_EQUAL(type.ints, 22);
    CHECK(teewire_field_at(TEEWIRE_PROTOCOL_06, 8, 19, &field) >= 6);
    CHECK(strcmp(field.name, "weapon") == 0);
    CHECK_EQUAL(field.offset, 19);
    CHECK_EQUAL(field.first_word, -1);
    CHECK(strcmp(teewire_field_word(TEEWIRE_PROTOCOL_06, 8, 19, 1), "hammer") == 0);
}

static void test_texts(void) {
    uint8_t out[16];
    int32_t ints[4];
    memset(ints, 0, sizeof ints);
    ints[0] = (int32_t)0xe8e98000u; /* "hi", each byte plus 128 */
    CHECK_EQUAL(teewire_text_decode(ints, 4, out), 2);
    CHECK(memcmp(out, "hi", 2) == 0);
    memset(ints, 0xe1, sizeof ints); /* without an end: the last byte is one */
    CHECK_EQUAL(teewire_text_decode(ints, 4, out), 15);
    CHECK_EQUAL(teewire_text_decode(ints, 0, out), 0);
}

static void test_messages(void) {
    static uint8_t const chat[] = {3 << 1, 1, 5, 'h', 'i', 0, 0, 0}, unknown[] = {63 << 1, 7},
                         kill[] = {4 << 1, 1, 2, 3, 0}, cut[] = {3 << 1, 1};
    static uint8_t const uuid[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 9};
    teewire_failure failure;
    teewire_message m;
    memset(&m, 0, sizeof m);
    m.size = sizeof m;
    CHECK_EQUAL(teewire_message_read(chat, sizeof chat, TEEWIRE_PROTOCOL_06, &m, NULL), 1);
    CHECK(strcmp(m.name, "chat") == 0);
    CHECK_EQUAL(m.id, 3);
    CHECK_EQUAL(m.system, 0);
    CHECK_EQUAL(m.team, 1);
    CHECK_EQUAL(m.client_id, 5);
    CHECK(m.text_size == 2 && memcmp(m.text, "hi", 2) == 0);
    CHECK_EQUAL(m.sender_size + m.clan_size, 0);
    CHECK(m.fields == chat + 1 && m.fields_size == sizeof chat - 1);
    CHECK_EQUAL(teewire_message_read(kill, sizeof kill, TEEWIRE_PROTOCOL_DDNET, &m, NULL), 1);
    CHECK(strcmp(m.name, "kill") == 0);
    CHECK(m.client_id == 1 && m.victim == 2 && m.weapon == 3);
    /* The same number means something else in 0.7. */
    CHECK_EQUAL(teewire_message_read(kill, sizeof kill, TEEWIRE_PROTOCOL_07, &m, NULL), 1);
    CHECK(strcmp(m.name, "team") == 0);
    CHECK(m.client_id == 1 && m.team == 2);
    CHECK_EQUAL(teewire_message_read(unknown, sizeof unknown, TEEWIRE_PROTOCOL_06, &m, NULL), 0);
    CHECK(m.name == NULL);
    CHECK_EQUAL(m.client_id, -1);
    CHECK_EQUAL(teewire_message_read(uuid, sizeof uuid, TEEWIRE_PROTOCOL_06, &m, NULL), 0);
    CHECK(m.id == 0 && m.uuid[0] == 1 && m.uuid[15] == 16 && m.fields_size == 1);
    CHECK_EQUAL(teewire_message_read(cut, sizeof cut, TEEWIRE_PROTOCOL_06, &m, NULL), 0);
    CHECK(strcmp(m.name, "chat") == 0);
    CHECK_EQUAL(m.text_size, 0);
    CHECK_FAILS(teewire_message_read(uuid, 16, TEEWIRE_PROTOCOL_06, &m, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_INPUT, 1);
    CHECK_FAILS(teewire_message_read(chat, 0, TEEWIRE_PROTOCOL_06, &m, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_INPUT, 0);
    CHECK_FAILS(teewire_message_read(chat, sizeof chat, 3, &m, &failure), TEEWIRE_BAD_ARGUMENT, TEEWIRE_STAGE_INPUT,
                0);
}

void test_table(void) {
    test_rows();
    test_many_rows();
    test_types();
    test_texts();
    test_messages();
}
