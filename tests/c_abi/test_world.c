/* One world for many clients. */
#include "check.h"

enum { CLIENTS = 3 };

static teewire_world_limits const limits = {sizeof(teewire_world_limits), CLIENTS, 100, 2000, 20};
static teewire_world* world;
static teewire_encoder* encoder;
static teewire_scratch* scratch;

static void make(void) {
    uint32_t size = teewire_world_size(&limits, 20, 200, 20);
    REQUIRE(size > 0);
    REQUIRE(teewire_world_init(&world, take(size), size, &limits) == 0);
    size = teewire_encoder_size(&limits, 20, 200, 4);
    REQUIRE(size > 0);
    REQUIRE(teewire_encoder_init(&encoder, take(size), size, world) == 0);
}

/* What the path for each client makes of the same items. */
static int32_t encode_alone(teewire_snapshot const* from, teewire_snapshot const* to, uint8_t* out) {
    return teewire_encode(from, to, NULL, scratch, out, TEEWIRE_MAX_ENCODED_BYTES, NULL);
}

static void compare(int32_t tick, int32_t base_tick) {
    static int32_t now_ints[TEEWIRE_MAX_SNAPSHOT_INTS], base_ints[TEEWIRE_MAX_SNAPSHOT_INTS];
    static uint8_t expected[TEEWIRE_MAX_ENCODED_BYTES];
    for (uint32_t c = 0; c < CLIENTS; ++c) {
        teewire_snapshot now, base;
        teewire_packed_delta delta;
        int32_t size;
        memset(&base, 0, sizeof base);
        memset(&delta, 0, sizeof delta);
        delta.size = sizeof delta;
        REQUIRE(teewire_world_snapshot(world, c, tick, now_ints, TEEWIRE_MAX_SNAPSHOT_INTS, &now, NULL) > 0);
        if (base_tick >= 0)
            REQUIRE(teewire_world_snapshot(world, c, base_tick, base_ints, TEEWIRE_MAX_SNAPSHOT_INTS, &base, NULL) >
                    0);
        size = encode_alone(&base, &now, expected);
        REQUIRE(teewire_encoder_encode(encoder, c, base_tick, NULL, &delta, NULL) == size);
        CHECK_EQUAL(delta.byte_count, size);
        CHECK(memcmp(delta.bytes, expected, (size_t)size) == 0);
        CHECK_EQUAL(delta.tick, tick);
        CHECK_EQUAL(delta.base_tick, base_tick);
        CHECK_EQUAL(delta.checksum, teewire_snapshot_checksum(&now));
    }
}

static void test_ticks(void) {
    int32_t data[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    teewire_failure failure;
    uint8_t const uuid[16] = {1};
    memset(&failure, 0, sizeof failure);
    CHECK_EQUAL(teewire_world_extended_type(world, uuid), 0x7fff);
    CHECK_EQUAL(teewire_world_extended_type(world, uuid), 0x7fff);
    for (int32_t tick = 10; tick < 14; ++tick) {
        CHECK_EQUAL(teewire_world_start(world, tick), tick - 10);
        CHECK_EQUAL(teewire_world_start(world, 9) == TEEWIRE_BAD_TICK, tick > 10);
        if (tick == 10) CHECK(teewire_world_start(world, tick) >= 0);
        data[3] = tick;
        for (uint32_t c = 0; c < CLIENTS; ++c) { /* the same contents under ids that are the client's own */
            CHECK_EQUAL(teewire_world_start_view(world, c), 0);
            CHECK_EQUAL(teewire_world_put_to_view(world, 1, 7 + c, data, 10), 2); /* after the describing item */
            CHECK_EQUAL(teewire_world_put_to_view(world, 0x7fff, 7 - c, data, 3), 3);
            CHECK_EQUAL(teewire_world_finish_view(world, NULL), 3);
        }
        CHECK_EQUAL(teewire_world_finish(world, NULL), 3);
        compare(tick, -1);
        if (tick > 11) compare(tick, tick - 2);
    }
    CHECK_EQUAL(teewire_world_start(world, 13), TEEWIRE_BAD_TICK);
    CHECK_EQUAL(teewire_world_holds(world, 0, 12), 1);
    CHECK_EQUAL(teewire_world_holds(world, 0, 9), 0);
    CHECK_EQUAL(teewire_world_holds(world, CLIENTS, 12), 0);
    CHECK_EQUAL(teewire_world_snapshot(world, 0, 9, data, 10, NULL, &failure), TEEWIRE_UNKNOWN_TICK);
    CHECK_EQUAL(teewire_world_snapshot(world, 0, 12, data, 10, NULL, &failure), TEEWIRE_OUTPUT_FULL);
    CHECK_EQUAL(teewire_world_snapshot(world, CLIENTS, 12, data, 10, NULL, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_world_drop_before(world, 12), 2);
    CHECK_EQUAL(teewire_world_holds(world, 0, 11), 0);
    teewire_world_forget_client(world, 0);
    teewire_world_forget_client(world, CLIENTS);
    CHECK_EQUAL(teewire_world_holds(world, 0, 12), 0);
    CHECK_EQUAL(teewire_world_holds(world, 1, 12), 1);
    CHECK_EQUAL(teewire_encoder_encode(encoder, 0, 12, NULL, NULL, &failure), TEEWIRE_UNKNOWN_TICK);
    CHECK_EQUAL(teewire_encoder_encode(encoder, CLIENTS, 12, NULL, NULL, NULL), TEEWIRE_BAD_ARGUMENT);
    teewire_world_clear(world);
    CHECK_EQUAL(teewire_world_start(world, 1), 0);
}

/* More contents than the world has room for. */
static void test_alone(void) {
    CHECK_EQUAL(teewire_world_views_alone(world), 0);
    for (int32_t tick = 101; tick < 104; ++tick) {
        CHECK(teewire_world_start(world, tick) >= 0);
        for (uint32_t c = 0; c < CLIENTS; ++c) {
            CHECK_EQUAL(teewire_world_start_view(world, c), 0);
            for (int32_t id = 0; id < 60; ++id) {
                int32_t const data[2] = {(int32_t)c, id + tick / 103};
                CHECK_EQUAL(teewire_world_put_to_view(world, 40, (uint32_t)id, data, 2), id + 2);
            }
            CHECK_EQUAL(teewire_world_finish_view(world, NULL), 61);
        }
        CHECK_EQUAL(teewire_world_finish(world, NULL), 100);
        compare(tick, tick > 101 ? tick - 1 : -1);
    }
    CHECK_EQUAL(teewire_world_views_alone(world), 6);
    /* Contents that are handed over once. */
    for (int32_t tick = 104; tick < 108; ++tick) {
        int32_t const data[3] = {1, 2, tick};
        CHECK(teewire_world_start(world, tick) >= 0);
        CHECK_EQUAL(teewire_world_share(world, data, 2), 0);
        CHECK_EQUAL(teewire_world_share(world, data, 3), 1);
        CHECK_EQUAL(teewire_world_share(world, data, 2), 0);
        for (uint32_t c = 0; c < CLIENTS; ++c) {
            CHECK_EQUAL(teewire_world_start_view(world, c), 0);
            CHECK_EQUAL(teewire_world_put_shared(world, 40, 7 + c, 0), 2);
            CHECK_EQUAL(teewire_world_put_shared(world, 41, 7, 1), 3);
            CHECK_EQUAL(teewire_world_put_shared(world, 41, 8, 99), TEEWIRE_BAD_ARGUMENT);
            CHECK_EQUAL(teewire_world_put_shared(world, 0x8000, 8, 0), TEEWIRE_BAD_TYPE);
            CHECK_EQUAL(teewire_world_put_shared(world, 41, 0x10000, 0), TEEWIRE_BAD_ID);
            CHECK_EQUAL(teewire_world_finish_view(world, NULL), 3);
        }
        CHECK_EQUAL(teewire_world_finish(world, NULL), 3);
        compare(tick, tick > 104 ? tick - 1 : -1);
    }
    {
        static int32_t const more[2001];
        CHECK(teewire_world_start(world, 108) >= 0);
        CHECK_EQUAL(teewire_world_share(world, more, 2001), TEEWIRE_TOO_LARGE);
    }
}

static void test_views(void) {
    static int32_t const large[TEEWIRE_MAX_SNAPSHOT_INTS];
    int32_t* data = NULL;
    teewire_failure failure;
    uint8_t const* message = NULL;
    teewire_sender_options options;
    int32_t parts = 0;
    memset(&failure, 0, sizeof failure);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    teewire_world_clear(world);
    for (int32_t tick = 1; tick < 6; ++tick) {
        CHECK_EQUAL(teewire_world_start(world, tick), tick - 1);
        CHECK_EQUAL(teewire_world_start_view(world, CLIENTS), TEEWIRE_BAD_ARGUMENT);
        for (uint32_t c = 0; c < CLIENTS; ++c) {
            REQUIRE(teewire_world_start_view(world, c) == 0);
            for (uint32_t id = 0; id < 5; ++id) {
                int32_t const last = id == c ? 100 + tick : (int32_t)id;
                if ((c + id) % 2 == 0) { /* the same item for one client by a copy, for the next one filled in */
                    int32_t copied[22] = {0};
                    copied[21] = last;
                    CHECK_EQUAL(teewire_world_put_to_view(world, 9, 4 - id, copied, 22), (int32_t)id + 2);
                    copied[21] = -1;
                    continue;
                }
                CHECK_EQUAL(teewire_world_add_to_view(world, 9, 4 - id, 22, &data), (int32_t)id + 2);
                CHECK_EQUAL(data[21], 0);
                data[21] = last;
            }
            CHECK_EQUAL(teewire_world_put_to_view(world, 0x8000, 0, &tick, 1), TEEWIRE_BAD_TYPE);
            CHECK_EQUAL(teewire_world_put_to_view(world, 1, 0x10000, &tick, 1), TEEWIRE_BAD_ID);
            CHECK_EQUAL(teewire_world_put_to_view(world, 1, 0, large, TEEWIRE_MAX_SNAPSHOT_INTS),
                        TEEWIRE_TOO_LARGE);
            CHECK_EQUAL(teewire_world_add_to_view(world, 0x8000, 0, 1, &data), TEEWIRE_BAD_TYPE);
            CHECK_EQUAL(teewire_world_add_to_view(world, 1, 0x10000, 1, &data), TEEWIRE_BAD_ID);
            CHECK_EQUAL(teewire_world_add_to_view(world, 1, 0, TEEWIRE_MAX_SNAPSHOT_INTS, NULL), TEEWIRE_TOO_LARGE);
            if (c == 2) CHECK_EQUAL(teewire_world_add_to_view(world, 9, 4, 22, NULL), 7);
            if (c != 2) CHECK_EQUAL(teewire_world_finish_view(world, NULL), 6);
            else CHECK_EQUAL(teewire_world_finish_view(world, &failure), TEEWIRE_DUPLICATE_KEY);
        }
        CHECK_EQUAL(failure.position, 6);
        CHECK_EQUAL(teewire_world_finish(world, NULL), 7); /* the describing one, and 0 to 4 and 100 + tick */
        compare(tick, tick > 2 ? tick - 2 : -1);
    }
    parts = teewire_encoder_send(encoder, 1, 4, &options, NULL);
    CHECK_EQUAL(parts, 1);
    CHECK(teewire_encoder_next(encoder, &message) > 0);
    CHECK(message != NULL && message[0] == (7 << 1 | 1));
    CHECK_EQUAL(teewire_encoder_next(encoder, &message), 0);
    CHECK_EQUAL(teewire_encoder_send(encoder, CLIENTS, 4, &options, NULL), TEEWIRE_BAD_ARGUMENT);
    options.max_parts = 65;
    CHECK_EQUAL(teewire_encoder_send(encoder, 1, 4, &options, NULL), TEEWIRE_BAD_ARGUMENT);
    options.max_parts = 0;
    options.protocol = 99;
    CHECK_EQUAL(teewire_encoder_send(encoder, 1, 4, &options, NULL), TEEWIRE_BAD_ARGUMENT);
}

static void test_refused(void) {
    teewire_world_limits wrong = limits;
    teewire_world* none = NULL;
    teewire_encoder* nothing = NULL;
    uint32_t const size = teewire_world_size(&limits, 0, 0, 0);
    wrong.clients = 65535;
    CHECK_EQUAL(teewire_world_size(&wrong, 1, 1, 1), 0);
    CHECK_EQUAL(teewire_encoder_size(&wrong, 1, 1, 1), 0);
    CHECK_EQUAL(teewire_world_init(&none, take(size), size, &wrong), TEEWIRE_BAD_ARGUMENT);
    wrong = limits;
    wrong.ticks = 70000;
    CHECK_EQUAL(teewire_world_size(&wrong, 1, 1, 1), 0);
    CHECK_EQUAL(teewire_world_init(&none, take(size), 1000, &limits), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_encoder_init(&nothing, take(size), 1000, world), TEEWIRE_BAD_ARGUMENT);
    CHECK(teewire_world_size(NULL, 1000, 10000, 1000) > 1000000);
    CHECK_EQUAL(teewire_world_size(NULL, 65534, 0x7fffffff, 65534), 0);
    CHECK_EQUAL(teewire_world_size(NULL, 0xffffffff, 1, 1), 0);
    CHECK_EQUAL(teewire_world_size(NULL, 1, 1, 0xffffffff), 0);
    CHECK(teewire_world_size(NULL, 65534, 1, 65534) > 700000000);
    wrong = limits;
    wrong.clients = wrong.contents = 65534; /* 26 GB a tick */
    CHECK_EQUAL(teewire_world_size(&wrong, 65534, 1, 65534), 0);
    CHECK(teewire_encoder_size(NULL, 1000, 10000, 8) > 500000);
    CHECK_EQUAL(teewire_encoder_size(NULL, 1000, 0x0fffffff, 8), 0);
    CHECK_EQUAL(teewire_encoder_size(NULL, 1000, 0xffffffff, 8), 0);
    CHECK_EQUAL(teewire_encoder_size(NULL, 0xffffffff, 1, 8), 0);
    CHECK_EQUAL(teewire_encoder_size(NULL, 1, 1, 0xffffffff), 0);
}

void test_world(void) {
    scratch = new_scratch();
    make();
    test_ticks();
    test_views();
    test_alone();
    test_refused();
}
