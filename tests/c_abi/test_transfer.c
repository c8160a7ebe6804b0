/* Sender and receiver. */
#include "check.h"

static teewire_scratch* scratch;

static teewire_sender* new_sender(int32_t protocol, uint32_t bytes) {
    teewire_sender_options options;
    teewire_sender* sender = NULL;
    uint32_t const size = teewire_sender_size(40, bytes);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.protocol = protocol;
    options.snapshots = 40;
    CHECK(size <= TEEWIRE_SENDER_SIZE(40, bytes));
    REQUIRE(teewire_sender_init(&sender, take(size), size, &options) == 0);
    return sender;
}

static teewire_receiver* new_receiver(int32_t protocol, uint32_t bytes) {
    teewire_receiver_options options;
    teewire_receiver* receiver = NULL;
    uint32_t const size = teewire_receiver_size(1, 40, bytes);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.protocol = protocol;
    options.snapshots = 40;
    CHECK(size <= TEEWIRE_RECEIVER_SIZE(1, 40, bytes));
    REQUIRE(teewire_receiver_init(&receiver, take(size), size, &options) == 0);
    return receiver;
}

/* A client that hears two of three snapshots; whatever it has is what was sent. */
static void test_with_loss(int32_t protocol) {
    teewire_builder* const builder = new_builder();
    teewire_sender* const sender = new_sender(protocol, 20000);
    teewire_receiver* const receiver = new_receiver(protocol, 20000);
    uint32_t const type = protocol == TEEWIRE_PROTOCOL_07 ? 10 : 9; /* 22 ints in either */
    int32_t tick = 0, received = 0;
    uint32_t full = 0, small = 0;
    CHECK_EQUAL(teewire_receiver_ack(receiver), -1);
    for (tick = 0; tick < 300; ++tick) {
        teewire_snapshot wanted, found;
        uint8_t const* message = NULL;
        int32_t size = 0;
        if (!teewire_sender_due(sender, tick)) continue;
        build_as(type, builder, tick, &wanted);
        REQUIRE(teewire_sender_send(sender, tick, &wanted, scratch, NULL) == 1);
        size = teewire_sender_next(sender, &message);
        REQUIRE(size > 0 && size <= TEEWIRE_MAX_MESSAGE_BYTES);
        if (tick % 3 != 1) {
            uint8_t datagram[TEEWIRE_MAX_MESSAGE_BYTES];
            teewire_snapshot_event event;
            memset(&event, 0, sizeof event);
            event.size = sizeof event;
            memcpy(datagram, message, (size_t)size);
            CHECK_EQUAL(teewire_receiver_receive(receiver, datagram, (uint32_t)size, scratch, &event, NULL),
                        TEEWIRE_RECEIVED_SNAPSHOT);
            CHECK_EQUAL(event.size, sizeof event);
            CHECK_EQUAL(event.tick, tick);
            CHECK_EQUAL(event.checksum, teewire_snapshot_checksum(&wanted));
            CHECK(same_ints(&event.snapshot, &wanted));
            CHECK_EQUAL(teewire_receiver_receive(receiver, datagram, (uint32_t)size, scratch, &event, NULL),
                        TEEWIRE_RECEIVED_IGNORED);
            full += event.base_tick < 0;
            small += event.base_tick >= 0;
            ++received;
            CHECK_EQUAL(teewire_receiver_ack(receiver), tick);
            CHECK_EQUAL(teewire_receiver_find(receiver, tick, &found), 0);
            CHECK(same_ints(&found, &wanted));
            CHECK_EQUAL(teewire_sender_acknowledge(sender, teewire_receiver_ack(receiver)), 1);
        }
        build_as(type, builder, tick, &wanted); /* the scratch memory may be used again */
        CHECK_EQUAL(teewire_sender_next(sender, &message), 0);
    }
    CHECK(received > 60 && full == 1 && small > 60);
    CHECK_EQUAL(teewire_sender_acknowledge(sender, 1000), 0);
    CHECK_EQUAL(teewire_receiver_take_urgent(receiver), 0);
    {
        teewire_snapshot found;
        CHECK_EQUAL(teewire_receiver_find(receiver, 1, &found), TEEWIRE_UNKNOWN_TICK);
    }
}

/* Several messages per snapshot, damaged ones, and a base that is gone. */
static void test_parts_and_damage(void) {
    teewire_builder* const builder = new_builder();
    teewire_sender* const sender = new_sender(TEEWIRE_PROTOCOL_DDNET, 200000);
    teewire_receiver* const receiver = new_receiver(TEEWIRE_PROTOCOL_DDNET, 200000);
    uint8_t messages[4][TEEWIRE_MAX_MESSAGE_BYTES];
    int32_t sizes[4] = {0};
    uint8_t const* message = NULL;
    teewire_snapshot s;
    teewire_snapshot_event event;
    teewire_failure failure;
    int32_t* data = NULL;
    int32_t i = 0, tick = 0;
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    for (tick = 10; tick <= 20; tick += 10) {
        int32_t count = 0;
        teewire_sender_start(sender, builder);
        REQUIRE(teewire_builder_add(builder, 50, 1, 700, &data) == 1);
        for (i = 0; i < 700; ++i) data[i] = 10000 * tick + i;
        teewire_builder_finish(builder, &s);
        count = teewire_sender_send(sender, tick, &s, scratch, NULL);
        REQUIRE(count == 3);
        for (i = 0; i < count; ++i) {
            sizes[i] = teewire_sender_next(sender, &message);
            memcpy(messages[i], message, (size_t)sizes[i]);
        }
        CHECK_EQUAL(teewire_sender_next(sender, &message), 0);
        CHECK_EQUAL(teewire_receiver_receive(receiver, messages[2], (uint32_t)sizes[2], scratch, &event, NULL),
                    TEEWIRE_RECEIVED_PART);
        CHECK_EQUAL(event.tick, tick);
        CHECK(event.snapshot.ints == NULL);
        CHECK_EQUAL(teewire_receiver_receive(receiver, messages[0], (uint32_t)sizes[0], scratch, NULL, NULL),
                    TEEWIRE_RECEIVED_PART);
        CHECK_EQUAL(teewire_receiver_receive(receiver, messages[1], (uint32_t)sizes[1], scratch, &event, NULL),
                    TEEWIRE_RECEIVED_SNAPSHOT);
        CHECK_EQUAL(event.delta_bytes, sizes[0] + sizes[1] + sizes[2] - 3 * (sizes[0] - 900));
        CHECK(same_ints(&event.snapshot, &s));
        CHECK_EQUAL(teewire_sender_base_tick(sender), tick == 10 ? -1 : 10);
        CHECK_EQUAL(teewire_sender_state(sender), tick == 10 ? TEEWIRE_SENDER_FIRST : TEEWIRE_SENDER_FULL);
        CHECK_EQUAL(teewire_sender_acknowledge(sender, tick), 1);
        CHECK_EQUAL(teewire_sender_base_tick(sender), tick);
    }
    CHECK_EQUAL(teewire_sender_due(sender, 21), 0);
    CHECK_EQUAL(teewire_sender_set_interval(sender, 0), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sender_set_interval(sender, 0x80000000U), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sender_set_interval(sender, 1), 0);
    CHECK_EQUAL(teewire_sender_due(sender, 21), 1);
    CHECK_EQUAL(teewire_sender_set_interval(sender, 2), 0);
    /* The next one has a base that another client does not have. */
    build(builder, 30, &s);
    REQUIRE(teewire_sender_send(sender, 30, &s, scratch, NULL) == 1);
    sizes[0] = teewire_sender_next(sender, &message);
    memcpy(messages[0], message, (size_t)sizes[0]);
    {
        teewire_receiver* const other = new_receiver(TEEWIRE_PROTOCOL_DDNET, 20000);
        CHECK_EQUAL(teewire_receiver_receive(other, messages[0], (uint32_t)sizes[0], scratch, &event, NULL),
                    TEEWIRE_RECEIVED_MISSING_BASE);
        CHECK_EQUAL(event.base_tick, 20);
        CHECK_EQUAL(teewire_receiver_ack(other), -1);
    }
    /* Cut inside its head, and of another kind. */
    CHECK_FAILS(teewire_receiver_receive(receiver, messages[0], 2, scratch, &event, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_INPUT, 2);
    CHECK_FAILS(teewire_receiver_receive(receiver, messages[0], 0, scratch, &event, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_INPUT, 0);
    CHECK_EQUAL(event.tick, -1);
    messages[1][0] = 3 << 1;
    CHECK_EQUAL(teewire_receiver_receive(receiver, messages[1], 1, scratch, &event, NULL), TEEWIRE_RECEIVED_OTHER);
    /* The last byte is a value of the last item: it is not the checksum's any more. */
    messages[0][sizes[0] - 1] ^= 1;
    CHECK_EQUAL(teewire_receiver_receive(receiver, messages[0], (uint32_t)sizes[0], scratch, &event, &failure),
                TEEWIRE_BAD_CHECKSUM);
    CHECK_EQUAL(event.tick, 30);
    messages[0][sizes[0] - 1] = 0x80;
    CHECK_FAILS(teewire_receiver_receive(receiver, messages[0], (uint32_t)sizes[0], scratch, &event, &failure),
                TEEWIRE_TRUNCATED, TEEWIRE_STAGE_VARINT, 55);
    CHECK_EQUAL(teewire_receiver_ack(receiver), 20);

    /* A fresh start on both sides. */
    teewire_sender_reset(sender);
    teewire_receiver_reset(receiver);
    CHECK_EQUAL(teewire_receiver_ack(receiver), -1);
    REQUIRE(teewire_sender_send(sender, 10, &s, scratch, NULL) == 1);
    sizes[0] = teewire_sender_next(sender, &message);
    memcpy(messages[0], message, (size_t)sizes[0]);
    CHECK_EQUAL(teewire_receiver_receive(receiver, messages[0], (uint32_t)sizes[0], scratch, &event, NULL),
                TEEWIRE_RECEIVED_SNAPSHOT);
    CHECK_EQUAL(event.base_tick, -1);

    CHECK_FAILS(teewire_sender_send(sender, 9, &s, scratch, &failure), TEEWIRE_BAD_TICK, 0, 0);
    CHECK_EQUAL(teewire_sender_next(sender, &message), 0); /* nothing was made */
    CHECK_FAILS(teewire_sender_send(sender, -1, &s, scratch, &failure), TEEWIRE_BAD_TICK, 0, 0);
    teewire_builder_start(builder);
    REQUIRE(teewire_builder_add(builder, 50, 1, 16000, &data) == 1);
    for (i = 0; i < 16000; ++i) data[i] = INT32_MAX - i;
    teewire_builder_finish(builder, &s);
    CHECK_EQUAL(teewire_sender_send(sender, 20, &s, scratch, &failure), TEEWIRE_TOO_LARGE);
}

/* A client is asked to say at once that it needs everything when it loses its base. */
static void test_urgent(void) {
    teewire_builder* const builder = new_builder();
    teewire_sender* const sender = new_sender(TEEWIRE_PROTOCOL_DDNET, 20000);
    teewire_receiver* const receiver = new_receiver(TEEWIRE_PROTOCOL_DDNET, 240); /* holds one snapshot */
    teewire_snapshot s;
    uint8_t copy[TEEWIRE_MAX_MESSAGE_BYTES];
    uint8_t const* message = NULL;
    int32_t tick = 0, urgent = 0, missing = 0;
    for (tick = 2; tick < 40; tick += 2) {
        int32_t size = 0;
        build(builder, tick, &s);
        REQUIRE(teewire_sender_send(sender, tick, &s, scratch, NULL) == 1);
        size = teewire_sender_next(sender, &message);
        memcpy(copy, message, (size_t)size);
        missing += teewire_receiver_receive(receiver, copy, (uint32_t)size, scratch, NULL, NULL) ==
                   TEEWIRE_RECEIVED_MISSING_BASE;
        if (tick == 2) CHECK_EQUAL(teewire_sender_acknowledge(sender, 2), 1); /* and never again */
        urgent += teewire_receiver_take_urgent(receiver);
        CHECK_EQUAL(teewire_receiver_take_urgent(receiver), 0);
    }
    CHECK(missing > 0);
    CHECK_EQUAL(urgent, 1);
}

/* Who watches from outside takes what comes late, and a new beginning. A client does not. */
static void test_late(uint32_t observer) {
    struct {
        int32_t tick, kind, restarted;
    } sent[] = {{1000, TEEWIRE_RECEIVED_SNAPSHOT, 0},
                {998, TEEWIRE_RECEIVED_SNAPSHOT, 0},
                {998, TEEWIRE_RECEIVED_IGNORED, 0},
                {10, TEEWIRE_RECEIVED_SNAPSHOT, 1}};
    uint32_t const size = teewire_receiver_size(4, 40, 20000);
    teewire_builder* const builder = new_builder();
    teewire_receiver* receiver = NULL;
    teewire_receiver_options options;
    size_t i = 0;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.observer = observer;
    options.parts = 4;
    options.snapshots = 40;
    if (!observer) {
        sent[1].kind = sent[3].kind = TEEWIRE_RECEIVED_IGNORED;
        sent[3].restarted = 0;
    }
    REQUIRE(teewire_receiver_init(&receiver, take(size), size, &options) == 0);
    for (i = 0; i < sizeof sent / sizeof *sent; ++i) {
        teewire_sender* const sender = new_sender(TEEWIRE_PROTOCOL_DDNET, 20000);
        teewire_snapshot_event event;
        teewire_snapshot s;
        uint8_t const* message = NULL;
        uint8_t copy[TEEWIRE_MAX_MESSAGE_BYTES];
        int32_t bytes = 0;
        memset(&event, 0, sizeof event);
        event.size = sizeof event;
        build(builder, sent[i].tick, &s);
        REQUIRE(teewire_sender_send(sender, sent[i].tick, &s, scratch, NULL) == 1);
        bytes = teewire_sender_next(sender, &message);
        memcpy(copy, message, (size_t)bytes);
        CHECK_EQUAL(teewire_receiver_receive(receiver, copy, (uint32_t)bytes, scratch, &event, NULL), sent[i].kind);
        CHECK_EQUAL(event.restarted, sent[i].restarted);
    }
}

static void test_options(void) {
    uint32_t const size = 200000;
    void* const memory = take(size);
    teewire_sender* sender = NULL;
    teewire_receiver* receiver = NULL;
    teewire_sender_options s;
    teewire_receiver_options r;
    CHECK_EQUAL(teewire_sender_size(UINT32_MAX, UINT32_MAX), 0);
    CHECK_EQUAL(teewire_receiver_size(UINT32_MAX, 1, 1), 0);
    CHECK_EQUAL(teewire_sender_init(&sender, memory, size, NULL), 0);
    CHECK_EQUAL(teewire_sender_due(sender, 10), 1);
    CHECK_EQUAL(teewire_sender_due(sender, 12), 0); /* every tenth until the first acknowledge */
    CHECK_EQUAL(teewire_sender_init(&sender, memory, 100, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sender_init(&sender, (uint8_t*)memory + 1, size - 1, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_receiver_init(&receiver, memory, size, NULL), 0);
    CHECK_EQUAL(teewire_receiver_init(&receiver, memory, 50000, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_receiver_init(&receiver, (uint8_t*)memory + 1, size - 1, NULL), TEEWIRE_BAD_ARGUMENT);

#define REFUSED(field, value)                                                                                      \
    do {                                                                                                           \
        memset(&s, 0, sizeof s);                                                                                   \
        s.size = sizeof s;                                                                                         \
        s.field = value;                                                                                           \
        CHECK_EQUAL(teewire_sender_init(&sender, memory, size, &s), TEEWIRE_BAD_ARGUMENT);                         \
    } while (0)
    REFUSED(size, 3);
    REFUSED(protocol, 3);
    REFUSED(protocol, -1);
    REFUSED(snapshots, 65536);
    REFUSED(snapshots, 60000);
    REFUSED(interval, UINT32_MAX);
    REFUSED(max_parts, 65);
#undef REFUSED
#define REFUSED(field, value)                                                                                      \
    do {                                                                                                           \
        memset(&r, 0, sizeof r);                                                                                   \
        r.size = sizeof r;                                                                                         \
        r.field = value;                                                                                           \
        CHECK_EQUAL(teewire_receiver_init(&receiver, memory, size, &r), TEEWIRE_BAD_ARGUMENT);                     \
    } while (0)
    REFUSED(size, 0);
    REFUSED(protocol, 3);
    REFUSED(snapshots, 65536);
    REFUSED(snapshots, 60000);
    REFUSED(parts, 17);
    REFUSED(parts, 4);
    REFUSED(decoding, 3);
#undef REFUSED
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.parts = 3;
    r.observer = 1;
    r.decoding = TEEWIRE_LENIENT;
    CHECK_EQUAL(teewire_receiver_init(&receiver, memory, size, &r), 0);
}

void test_transfer(void) {
    scratch = new_scratch();
    test_with_loss(TEEWIRE_PROTOCOL_DDNET);
    test_with_loss(TEEWIRE_PROTOCOL_06);
    test_with_loss(TEEWIRE_PROTOCOL_07);
    test_parts_and_damage();
    test_urgent();
    test_late(1);
    test_late(0);
    test_options();
}
