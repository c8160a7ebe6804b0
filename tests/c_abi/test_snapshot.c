/* Views, the builder, the history. */
#include "check.h"

static void test_empty(void) {
    teewire_snapshot none;
    teewire_item item;
    memset(&none, 0, sizeof none);
    CHECK_EQUAL(teewire_snapshot_items(&none), 0);
    CHECK_EQUAL(teewire_snapshot_items(NULL), 0);
    CHECK_EQUAL(teewire_snapshot_checksum(NULL), 0);
    CHECK_EQUAL(teewire_snapshot_item(NULL, 0, &item), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_snapshot_find(&none, 0, &item), TEEWIRE_NOT_FOUND);
}

/* The words used grow with the ints, and no more than them are written. */
static void test_outline(void) {
    int32_t ints[3 + 96] = {4 * 96, 1, 0, TEEWIRE_KEY(4, 3)};
    uint32_t outline[TEEWIRE_OUTLINE_WORDS(1, 96) + 1];
    teewire_snapshot s;
    memset(outline, 0x55, sizeof outline);
    teewire_snapshot_view(&s, ints, TEEWIRE_DISTINCT_KEYS);
    CHECK_EQUAL(teewire_snapshot_outline(&s, outline), TEEWIRE_OUTLINE_WORDS(1, 96));
    CHECK_EQUAL(outline[TEEWIRE_OUTLINE_WORDS(1, 96)], 0x55555555);
}

static void test_views(void) {
    /* Bytes of items, items, two offsets, key and data twice. */
    static int32_t const ints[] = {20, 2, 0, 12, TEEWIRE_KEY(4, 3), 7, -2, TEEWIRE_KEY(1, 0xffff), 100};
    int32_t bad[9];
    uint32_t outline[TEEWIRE_OUTLINE_WORDS(2, 9)];
    teewire_snapshot s, trusted;
    teewire_item item;
    teewire_failure failure;
    CHECK_EQUAL(teewire_snapshot_check(&s, ints, 9, TEEWIRE_DECODING_DEFAULT, NULL), 2);
    CHECK(s.ints == ints);
    CHECK_EQUAL(s.size, 9);
    CHECK(s.keys == NULL && s.starts == NULL);
    CHECK_EQUAL(s.flags, 0); /* nobody has looked for repeated keys */
    teewire_snapshot_view(&trusted, ints, TEEWIRE_DISTINCT_KEYS);
    CHECK_EQUAL(trusted.size, 9);
    CHECK_EQUAL(trusted.flags, TEEWIRE_DISTINCT_KEYS);
    CHECK_EQUAL(teewire_snapshot_items(&trusted), 2);
    CHECK_EQUAL(teewire_snapshot_checksum(&trusted), 105);

    CHECK_EQUAL(teewire_snapshot_item(&s, 0, &item), 0);
    CHECK_EQUAL(TEEWIRE_KEY_TYPE(item.key), 4);
    CHECK_EQUAL(TEEWIRE_KEY_ID(item.key), 3);
    CHECK_EQUAL(item.ints, 2);
    CHECK(item.data == ints + 5);
    CHECK_EQUAL(teewire_snapshot_item(&s, 2, &item), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_snapshot_find(&s, TEEWIRE_KEY(1, 0xffff), &item), 0);
    CHECK_EQUAL(item.ints, 1);
    CHECK_EQUAL(item.data[0], 100);
    CHECK_EQUAL(teewire_snapshot_find(&s, 5, &item), TEEWIRE_NOT_FOUND);

    CHECK_EQUAL(teewire_snapshot_outline(&trusted, outline), 2 + 5 / 32 + 4);
    CHECK_EQUAL(trusted.keys[1], TEEWIRE_KEY(1, 0xffff));
    CHECK_EQUAL(trusted.starts[0], 1 << 0 | 1 << 3 | 1 << 5);
    CHECK_EQUAL(teewire_snapshot_checksum(&trusted), 105);

    CHECK_FAILS(teewire_snapshot_check(&s, ints, 1, 0, &failure), TEEWIRE_TRUNCATED, TEEWIRE_STAGE_INPUT, 1);
    CHECK_FAILS(teewire_snapshot_check(&s, ints, 8, 0, &failure), TEEWIRE_BAD_LENGTH, TEEWIRE_STAGE_INPUT, 0);
    CHECK_FAILS(teewire_snapshot_check(&s, ints, 9, 3, &failure), TEEWIRE_BAD_ARGUMENT, TEEWIRE_STAGE_INPUT, 0);
    memcpy(bad, ints, sizeof bad);
    bad[1] = -1;
    CHECK_FAILS(teewire_snapshot_check(&s, bad, 9, 0, &failure), TEEWIRE_BAD_COUNT, TEEWIRE_STAGE_INPUT, 1);
    bad[1] = 2;
    bad[3] = 20;
    CHECK_FAILS(teewire_snapshot_check(&s, bad, 9, 0, &failure), TEEWIRE_BAD_OFFSET, TEEWIRE_STAGE_INPUT, 3);
    bad[3] = 12;
    bad[4] = -1;
    CHECK_FAILS(teewire_snapshot_check(&s, bad, 9, TEEWIRE_STRICT, &failure), TEEWIRE_BAD_TYPE, 0, 4);
    CHECK_EQUAL(teewire_snapshot_check(&s, bad, 9, TEEWIRE_LENIENT, NULL), 2);
}

static void test_sort(void) {
    static int32_t const ints[] = {20, 2, 0, 12, TEEWIRE_KEY(4, 3), 7, -2, TEEWIRE_KEY(1, 2), 100};
    static int32_t const by_key[] = {20, 2, 0, 8, TEEWIRE_KEY(1, 2), 100, TEEWIRE_KEY(4, 3), 7, -2};
    static int32_t large[2 + 2 * 1025];
    teewire_scratch* const scratch = new_scratch();
    teewire_snapshot s, sorted;
    teewire_failure failure;
    int32_t out[9];
    int32_t i = 0;
    teewire_snapshot_view(&s, ints, TEEWIRE_DISTINCT_KEYS);
    CHECK_EQUAL(teewire_snapshot_sort(&s, scratch, out, 9, &sorted, NULL), 9);
    CHECK(memcmp(out, by_key, sizeof by_key) == 0);
    CHECK(sorted.ints == out);
    CHECK_EQUAL(sorted.flags, TEEWIRE_DISTINCT_KEYS);
    CHECK_FAILS(teewire_snapshot_sort(&s, scratch, out, 8, &sorted, &failure), TEEWIRE_OUTPUT_FULL, 0, 1);

    large[0] = 4 * 1025;
    large[1] = 1025;
    for (i = 0; i < 1025; ++i) {
        large[2 + i] = 4 * i;
        large[2 + 1025 + i] = TEEWIRE_KEY(1, i);
    }
    teewire_snapshot_view(&s, large, TEEWIRE_DISTINCT_KEYS);
    CHECK_FAILS(teewire_snapshot_sort(&s, scratch, out, 9, &sorted, &failure), TEEWIRE_TOO_MANY_ITEMS, 0, 1024);
    CHECK_EQUAL(teewire_scratch_init((teewire_scratch**)&i, take(8), 8), TEEWIRE_BAD_ARGUMENT);
}

static void test_builder(void) {
    static uint8_t const uuid[16] = {0x76, 0xce, 0x45, 0x5b, 0xf9, 0xeb, 0x3a, 0x48,
                                     0xad, 0xd7, 0xe0, 0x4b, 0x94, 0x1d, 4,    0x5c};
    uint8_t found[16] = {0};
    teewire_builder* builder = NULL;
    teewire_snapshot s;
    teewire_item item;
    int32_t* data = NULL;
    uint32_t i = 0;
    uint32_t const size = teewire_builder_size();
    CHECK(size <= TEEWIRE_BUILDER_SIZE);
    CHECK_EQUAL(teewire_builder_init(&builder, take(size - 1), size - 1), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_builder_init(&builder, NULL, size), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_builder_init(&builder, take(size), size), 0);

    CHECK_EQUAL(teewire_builder_finish(builder, &s), 0);
    CHECK_EQUAL(teewire_builder_add(builder, 9, 1, 22, &data), 1);
    for (i = 0; i < 22; ++i) CHECK_EQUAL(data[i], 0);
    data[3] = 42;
    CHECK_EQUAL(teewire_builder_add(builder, 9, 1, 22, &data), TEEWIRE_DUPLICATE_KEY);
    CHECK_EQUAL(teewire_builder_add(builder, 0x8000, 1, 22, &data), TEEWIRE_BAD_TYPE);
    CHECK_EQUAL(teewire_builder_add(builder, 1, 0x10000, 22, &data), TEEWIRE_BAD_ID);
    CHECK_EQUAL(teewire_builder_add(builder, 1, 1, 16384, &data), TEEWIRE_TOO_LARGE);
    CHECK_EQUAL(teewire_builder_add(builder, 1, 1, UINT32_MAX, &data), TEEWIRE_TOO_LARGE);
    CHECK_EQUAL(teewire_builder_add_extended(builder, uuid, 0x10000, 1, &data), TEEWIRE_BAD_ID);
    /* Its description comes before it. */
    CHECK_EQUAL(teewire_builder_add_extended(builder, uuid, 5, 2, &data), 3);
    data[1] = 1;
    CHECK_EQUAL(teewire_builder_add(builder, 10, 0, 0, NULL), 4);
    CHECK_EQUAL(teewire_builder_finish(builder, &s), 4);
    CHECK(s.keys != NULL && s.starts != NULL);
    CHECK_EQUAL(s.flags, TEEWIRE_DISTINCT_KEYS);
    CHECK_EQUAL(s.ints[1], 4);
    CHECK_EQUAL(teewire_snapshot_find(&s, TEEWIRE_KEY(9, 1), &item), 0);
    CHECK_EQUAL(item.data[3], 42);
    CHECK_EQUAL(teewire_snapshot_find(&s, TEEWIRE_KEY(0x7fff, 5), &item), 0);
    CHECK_EQUAL(teewire_snapshot_extended_type(&s, 0x7fff, found), 0);
    CHECK(memcmp(found, uuid, sizeof uuid) == 0);
    CHECK_EQUAL(teewire_snapshot_extended_type(&s, 0x7ffe, found), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_snapshot_extended_type(&s, 9, found), TEEWIRE_NOT_FOUND);
    CHECK_EQUAL(teewire_snapshot_extended_type(&s, 0x17fff, found), TEEWIRE_NOT_FOUND);

    teewire_builder_start(builder);
    for (i = 0; i < 1023; ++i) CHECK(teewire_builder_add(builder, 1, i, 0, NULL) == (int32_t)i + 2);
    CHECK_EQUAL(teewire_builder_add(builder, 1, i, 0, NULL), TEEWIRE_TOO_MANY_ITEMS);

    builder = new_builder();
    CHECK_EQUAL(teewire_builder_add_extended(builder, uuid, 0xffff, 1, NULL), 2);
    CHECK_EQUAL(teewire_builder_add(builder, 0x7ffe, 0xffff, 1, NULL), 3);

    builder = new_builder();
    for (i = 0; i < 64; ++i) {
        uint8_t other[16] = {1};
        other[15] = (uint8_t)i;
        CHECK(teewire_builder_add_extended(builder, other, 0, 1, NULL) == 2 * ((int32_t)i + 1));
    }
    CHECK_EQUAL(teewire_builder_add_extended(builder, uuid, 0, 1, NULL), TEEWIRE_TOO_MANY_TYPES);
}

static void test_writer(void) {
    uint8_t uuid[16] = {1, 2, 3};
    int32_t const values[3] = {7, 8, 9};
    teewire_builder* const builder = new_builder();
    teewire_snapshot s;
    teewire_failure failure = {0, 0, 0, 0};
    teewire_item item;

    int32_t const alias = teewire_builder_extended_type(builder, uuid);
    CHECK_EQUAL(alias, 0x7fff);
    CHECK_EQUAL(teewire_builder_extended_type(builder, uuid), alias);
    teewire_builder_start(builder);
    CHECK_EQUAL(teewire_builder_put(builder, 5, 2, values, 3), 2);
    CHECK_EQUAL(teewire_builder_put(builder, 5, 2, values, 3), TEEWIRE_DUPLICATE_KEY);
    CHECK_EQUAL(teewire_builder_put(builder, 0x8000, 2, values, 3), TEEWIRE_BAD_TYPE);
    CHECK_EQUAL(teewire_builder_put(builder, 5, 0x10000, values, 3), TEEWIRE_BAD_ID);
    CHECK_EQUAL(teewire_builder_put(builder, 5, 3, NULL, 0), 3);

    teewire_writer writer = teewire_builder_write(builder);
    CHECK(teewire_writer_add(&writer, 0x8000, 0, 1) == NULL);
    CHECK(teewire_writer_add(&writer, 1, 0x10000, 1) == NULL);
    CHECK(teewire_writer_add(&writer, 1, 0, UINT32_MAX) == NULL);
    CHECK(teewire_writer_add(&writer, 1, 0, 16384) == NULL);
    int32_t* data = teewire_writer_add(&writer, (uint32_t)alias, 9, 2);
    REQUIRE(data != NULL);
    data[0] = 4;
    data[1] = 5;
    data = teewire_writer_add(&writer, 5, 2, 1);
    REQUIRE(data != NULL);
    *data = 6;
    data = teewire_writer_add(&writer, 0x7fff, 0xffff, 1);
    REQUIRE(data != NULL);
    *data = 10;
    CHECK_EQUAL(teewire_builder_take(builder, writer, &failure), TEEWIRE_DUPLICATE_KEY);
    CHECK_EQUAL(failure.code, TEEWIRE_DUPLICATE_KEY);
    CHECK_EQUAL(failure.position, 4);
    CHECK_EQUAL(teewire_builder_finish(builder, &s), 5);
    CHECK_EQUAL(teewire_snapshot_item(&s, 3, &item), 0);
    CHECK_EQUAL(item.key, TEEWIRE_KEY(alias, 9));
    CHECK_EQUAL(item.ints, 2);
    CHECK_EQUAL(item.data[1], 5);
    CHECK_EQUAL(teewire_snapshot_item(&s, 4, &item), 0);
    CHECK_EQUAL(item.key, 0x7fffffff);
    CHECK_EQUAL(item.data[0], 10);
    CHECK_EQUAL(teewire_builder_take(builder, teewire_builder_write(builder), NULL), 5);

    teewire_builder_start(builder);
    writer = teewire_builder_write(builder);
    uint32_t id = 0;
    while (teewire_writer_add(&writer, 1, id, 30) != NULL) ++id;
    CHECK_EQUAL(id, (16384 - 2 - 6) / 32);
    CHECK(teewire_writer_add(&writer, 1, id, 22) != NULL);
    CHECK(teewire_writer_add(&writer, 1, id + 1, 0) == NULL);
    CHECK_EQUAL(teewire_builder_take(builder, writer, NULL), id + 2);
    teewire_builder_finish(builder, &s);
    CHECK_EQUAL(s.size, 16384);
}

static void test_copy(void) {
    teewire_snapshot s, copy = {NULL, NULL, NULL, 0, 0}, none;
    int32_t memory[TEEWIRE_SNAPSHOT_COPY_INTS(2, 60)];
    uint32_t i = 0;
    build(new_builder(), 2, &s);
    int32_t const used = teewire_snapshot_copy(&s, memory, TEEWIRE_SNAPSHOT_COPY_INTS(2, 60), &copy);
    CHECK_EQUAL(used, (int32_t)s.size + 2 + 46 / 32 + 4);
    CHECK(same_ints(&copy, &s));
    CHECK(copy.ints == memory && copy.flags == TEEWIRE_DISTINCT_KEYS);
    for (i = 0; i < 2; ++i) CHECK_EQUAL(copy.keys[i], s.keys[i]);
    for (i = 0; i < 46 / 32 + 4; ++i) CHECK(copy.starts[i] == s.starts[i]);
    none = copy;
    CHECK_EQUAL(teewire_snapshot_copy(&s, memory, (uint32_t)used - 1, &copy), TEEWIRE_OUTPUT_FULL);
    CHECK(memcmp(&none, &copy, sizeof copy) == 0);
    teewire_snapshot_view(&s, s.ints, 0);
    CHECK_EQUAL(teewire_snapshot_copy(&s, memory, s.size, &copy), s.size);
    CHECK(copy.keys == NULL && copy.starts == NULL && copy.flags == 0);
    CHECK_EQUAL(teewire_snapshot_copy(NULL, memory, 2, &copy), 2);
    CHECK_EQUAL(teewire_snapshot_items(&copy), 0);
}

/* In so many bytes, so many of the largest fit. */
static void test_history_bytes(void) {
    enum { kept = 5, ints = 700 };
    teewire_builder* const builder = new_builder();
    teewire_history* history = NULL;
    teewire_snapshot s, found;
    int32_t tick = 0;
    uint32_t const bytes = TEEWIRE_HISTORY_BYTES(kept, 8, ints);
    uint32_t const size = teewire_history_size(kept, bytes);
    REQUIRE(teewire_history_init(&history, take(size), size, kept) == 0);
    for (tick = 1; tick < 200; ++tick) {
        uint32_t id = 0;
        uint32_t const items = 1 + (uint32_t)tick % 8;
        teewire_builder_start(builder);
        for (; id < items; ++id)
            REQUIRE(teewire_builder_add(builder, 5, id, (ints - 2) / items - 2 - (uint32_t)tick % 3, NULL) > 0);
        teewire_builder_finish(builder, &s);
        REQUIRE(s.size <= ints);
        CHECK_EQUAL(teewire_history_add(history, tick, &s, 0, NULL, NULL), tick < kept ? tick : kept);
        CHECK_EQUAL(teewire_history_find(history, tick < kept ? 1 : tick - kept + 1, &found, NULL), 0);
    }
}

static void test_history(void) {
    uint64_t word = 0;
    uint32_t const size = teewire_history_size(3, 2000);
    teewire_builder* const builder = new_builder();
    teewire_history* history = NULL;
    teewire_snapshot s, stored, found;
    teewire_failure failure;
    int32_t tick = 0;
    CHECK(size <= TEEWIRE_HISTORY_SIZE(3, 2000));
    CHECK_EQUAL(teewire_history_size(65535, UINT32_MAX), 0);
    CHECK_EQUAL(teewire_history_init(&history, take(size), size, 0), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_history_init(&history, take(size), size, 65536), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_history_init(&history, take(size), size, 5000), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_history_init(&history, take(size), size, 3), 0);

    for (tick = 1; tick <= 5; ++tick) {
        build(builder, tick, &s);
        CHECK_EQUAL(teewire_history_add(history, tick, &s, (uint64_t)tick << 40, &stored, NULL),
                    tick < 3 ? tick : 3);
        CHECK(same_ints(&s, &stored));
        CHECK(stored.ints != s.ints && stored.keys != NULL && stored.flags == TEEWIRE_DISTINCT_KEYS);
    }
    CHECK_FAILS(teewire_history_add(history, 5, &s, 0, NULL, &failure), TEEWIRE_BAD_TICK, 0, 0);
    CHECK_EQUAL(teewire_history_find(history, 2, &found, NULL), TEEWIRE_UNKNOWN_TICK);
    CHECK_EQUAL(teewire_history_find(history, 5, &found, &word), 0);
    CHECK(word == (uint64_t)5 << 40);
    CHECK(same_ints(&s, &found));
    CHECK_EQUAL(teewire_history_drop_before(history, 4), 2);
    CHECK_EQUAL(teewire_history_find(history, 3, &found, NULL), TEEWIRE_UNKNOWN_TICK);
    CHECK_EQUAL(teewire_history_find(history, 4, &found, NULL), 0);

    teewire_history_start(history, 4, builder);
    REQUIRE(teewire_builder_add(builder, 1, 1, 1000, NULL) == 1);
    teewire_builder_finish(builder, &s);
    CHECK_EQUAL(teewire_history_add(history, 6, &s, 0, NULL, &failure), TEEWIRE_TOO_LARGE);
    CHECK(failure.position >= 500);
    CHECK_EQUAL(teewire_history_find(history, 5, &found, NULL), 0); /* nothing is lost by it */
    CHECK_EQUAL(teewire_history_add(history, 7, NULL, 0, NULL, NULL), 3);
    CHECK_EQUAL(teewire_history_find(history, 7, &found, NULL), 0);
    CHECK_EQUAL(teewire_snapshot_items(&found), 0);
    teewire_history_clear(history);
    CHECK_EQUAL(teewire_history_find(history, 7, &found, NULL), TEEWIRE_UNKNOWN_TICK);
    CHECK_EQUAL(teewire_history_add(history, 1, NULL, 0, NULL, NULL), 1);
}

void test_snapshot(void) {
    test_empty();
    test_views();
    test_outline();
    test_sort();
    test_builder();
    test_writer();
    test_copy();
    test_history_bytes();
    test_history();
}
