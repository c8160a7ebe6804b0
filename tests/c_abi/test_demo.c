/* Demos, written and read again. */
#include "check.h"

enum { ticks = 900, capacity = 400000 };
static uint8_t file[capacity];
static uint32_t file_size;
static teewire_builder* builder;

static teewire_demo_header header_of(uint32_t version) {
    teewire_demo_header header;
    memset(&header, 0, sizeof header);
    header.size = sizeof header;
    header.version = version;
    header.map_size = 4;
    header.map_crc = 0x11223344;
    header.has_sha256 = version >= 6;
    header.sha256[31] = 7;
    strcpy(header.net_version, "0.6 626fce9a778df4d4");
    strcpy(header.map_name, "dm1");
    strcpy(header.type, "server");
    strcpy(header.timestamp, "2026-08-30_12-00-00");
    return header;
}

static void check_header(teewire_demo_header const* header, uint32_t size) {
    teewire_failure failure;
    teewire_demo_header read, before;
    memset(&read, 0, sizeof read);
    read.size = sizeof read;
    CHECK_EQUAL(teewire_demo_header_read(file, file_size, &read, NULL), (int32_t)size);
    CHECK_EQUAL(read.version, header->version);
    CHECK_EQUAL(read.map_size, header->map_size);
    CHECK_EQUAL(read.map_crc, header->map_crc);
    CHECK_EQUAL(read.length, header->length);
    CHECK_EQUAL(read.marker_count, header->version < 4 ? 0 : header->marker_count);
    CHECK(memcmp(read.map_name, header->map_name, sizeof read.map_name) == 0);
    CHECK_EQUAL(teewire_demo_header_read(file, size, &read, NULL), (int32_t)size);
    before = read;
    CHECK_FAILS(teewire_demo_header_read(file, size - 1, &read, &failure), TEEWIRE_TRUNCATED, 0, size - 1);
    CHECK_FAILS(teewire_demo_header_read(NULL, 0, &read, &failure), TEEWIRE_TRUNCATED, 0, 0);
    CHECK_FAILS(teewire_demo_header_read(file + 1, size, &read, &failure), TEEWIRE_BAD_MAGIC, 0, 0);
    CHECK(memcmp(&read, &before, sizeof read) == 0); /* as it was */
}

static void record(uint32_t version) {
    static uint8_t const said[] = {3 << 1, 0, 0, 'h', 'i', 0};
    uint32_t const size = teewire_demo_writer_size();
    teewire_demo_header header = header_of(version);
    teewire_demo_writer* writer = NULL;
    teewire_demo_writer_options options;
    teewire_failure failure;
    teewire_snapshot s;
    int32_t tick = 0, written = 0, marks = 0;
    CHECK(size <= TEEWIRE_DEMO_WRITER_SIZE);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = version;
    REQUIRE(teewire_demo_writer_init(&writer, take(size), size, &options) == 0);
    CHECK_EQUAL(teewire_demo_writer_mark(writer), 0); /* there is no tick yet */
    written = teewire_demo_header_write(&header, file, capacity);
    CHECK_EQUAL(written, version < 4 ? 176 : version < 6 ? 436 : 484);
    file_size = (uint32_t)written;
    memcpy(file + file_size, "map!", 4);
    file_size += 4;
    for (tick = 100; tick < 100 + ticks; tick += 3) {
        build(builder, tick, &s);
        written = teewire_demo_writer_snapshot(writer, tick, &s, file + file_size, capacity - file_size, NULL);
        REQUIRE(written > 0 && written <= TEEWIRE_MAX_DEMO_BYTES);
        file_size += (uint32_t)written;
        if (tick % 100 == 0) {
            written = teewire_demo_writer_message(writer, said, sizeof said, file + file_size, capacity - file_size,
                                                  NULL);
            REQUIRE(written > 0);
            file_size += (uint32_t)written;
            marks += teewire_demo_writer_mark(writer);
        }
    }
    CHECK_EQUAL(marks, 3);
    CHECK_FAILS(teewire_demo_writer_snapshot(writer, tick - 3, &s, file + file_size, 1000, &failure),
                TEEWIRE_BAD_TICK, 0, 0);
    CHECK_FAILS(teewire_demo_writer_snapshot(writer, tick + 500, &s, file + file_size, 10, &failure),
                TEEWIRE_OUTPUT_FULL, 0, 0);
    CHECK_FAILS(teewire_demo_writer_message(writer, said, sizeof said, file + file_size, 2, &failure),
                TEEWIRE_OUTPUT_FULL, 0, 0);
    CHECK_EQUAL(teewire_demo_writer_message(writer, file, 65540, file + file_size, capacity, &failure),
                TEEWIRE_TOO_LARGE);
    teewire_demo_writer_finish(writer, &header);
    CHECK_EQUAL(header.length, (ticks - 3) / 50);
    CHECK_EQUAL(header.marker_count, 3);
    CHECK_EQUAL(header.map_crc, 0x11223344); /* the rest is as it was */
    written = teewire_demo_header_write(&header, file, capacity);
    CHECK(written > 0);
    check_header(&header, (uint32_t)written);
}

static teewire_demo_reader* open_file(uint32_t size, teewire_failure* failure, int32_t* code) {
    uint32_t const needed = teewire_demo_reader_size();
    teewire_demo_reader* reader = NULL;
    uint8_t* const copy = take(size + 1);
    memcpy(copy, file, size);
    *code = teewire_demo_reader_init(&reader, take(needed), needed, copy, size, NULL, failure);
    return reader;
}

static void play(uint32_t version) {
    int32_t code = 0, kind = 0, tick = 100, messages = 0, keyframes = 0;
    teewire_demo_reader* const reader = open_file(file_size, NULL, &code);
    teewire_demo_header header;
    teewire_demo_event event;
    teewire_demo_overview overview;
    teewire_snapshot s, wanted;
    uint8_t const* map = NULL;
    REQUIRE(code == 0);
    memset(&header, 0, sizeof header);
    header.size = sizeof header;
    teewire_demo_reader_header(reader, &header);
    CHECK_EQUAL(header.version, version);
    CHECK(strcmp(header.map_name, "dm1") == 0 && strcmp(header.type, "server") == 0);
    CHECK(strcmp(header.net_version, "0.6 626fce9a778df4d4") == 0);
    CHECK_EQUAL(header.length, (ticks - 3) / 50);
    CHECK_EQUAL(header.marker_count, version < 4 ? 0 : 3);
    if (version >= 4) CHECK_EQUAL(header.marker_ticks[1], 400);
    CHECK_EQUAL(header.has_sha256, version >= 6);
    CHECK_EQUAL(header.sha256[31], version >= 6 ? 7 : 0);
    CHECK_EQUAL(teewire_demo_reader_map(reader, &map), 4);
    CHECK(memcmp(map, "map!", 4) == 0);

    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    CHECK_EQUAL(teewire_demo_reader_snapshot(reader, &s), 0);
    while ((kind = teewire_demo_reader_next(reader, &event, NULL)) > 0) {
        CHECK_EQUAL(event.tick, tick);
        if (kind == TEEWIRE_DEMO_SNAPSHOT) {
            build(builder, tick, &wanted);
            CHECK_EQUAL(teewire_demo_reader_snapshot(reader, &s), teewire_snapshot_items(&wanted));
            CHECK(same_ints(&s, &wanted));
            keyframes += event.keyframe;
        } else if (kind == TEEWIRE_DEMO_MESSAGE) {
            CHECK_EQUAL(event.message_size, 8); /* whole ints */
            CHECK(event.message != NULL && memcmp(event.message + 3, "hi", 3) == 0);
            ++messages;
        }
        CHECK(event.position < file_size);
        if (kind != TEEWIRE_DEMO_TICK && (kind == TEEWIRE_DEMO_MESSAGE || tick % 100 != 0)) tick += 3;
    }
    CHECK_EQUAL(kind, 0);
    CHECK_EQUAL(tick, 100 + ticks);
    CHECK_EQUAL(messages, 3);
    CHECK_EQUAL(keyframes, 4);

    memset(&overview, 0, sizeof overview);
    overview.size = sizeof overview;
    {
        void* const memory = take(TEEWIRE_KEYFRAMES_SIZE(10));
        int32_t const targets[] = {700, 100, 997, 5, 5000, 355};
        size_t i = 0;
        CHECK_EQUAL(teewire_demo_reader_index(reader, (uint8_t*)memory + 1, 16, NULL), TEEWIRE_BAD_ARGUMENT);
        CHECK_EQUAL(teewire_demo_reader_index(reader, NULL, 0, NULL), 4);
        CHECK_EQUAL(teewire_demo_reader_index(reader, memory, TEEWIRE_KEYFRAMES_SIZE(2), &overview), 4);
        CHECK_EQUAL(teewire_demo_reader_seek(reader, 400, NULL), 0);
        CHECK_EQUAL(teewire_demo_reader_index(reader, memory, TEEWIRE_KEYFRAMES_SIZE(10), &overview), 4);
        CHECK_EQUAL(overview.first_tick, 100);
        CHECK_EQUAL(overview.last_tick, 997);
        CHECK_EQUAL(overview.ticks, 300);
        CHECK_EQUAL(overview.snapshots, 300);
        CHECK_EQUAL(overview.messages, 3);
        CHECK_EQUAL(overview.keyframes, 4);
        CHECK_EQUAL(overview.damage, 0);
        for (i = 0; i < sizeof targets / sizeof *targets; ++i) {
            int32_t at = targets[i] < 100 ? 100 : targets[i] > 997 ? 997 : targets[i];
            at -= (at - 100) % 3;
            build(builder, at, &wanted);
            CHECK_EQUAL(teewire_demo_reader_seek(reader, targets[i], NULL), 0);
            CHECK_EQUAL(teewire_demo_reader_snapshot(reader, &s), teewire_snapshot_items(&wanted));
            CHECK(same_ints(&s, &wanted));
        }
    }
}

/* All that there is, and the same in small pieces; ticks from the middle; up to damage. */
static void tabulate(void) {
    static int32_t values[3][600], pieces[3][600];
    teewire_column column[3], other[3];
    teewire_table table, piece;
    teewire_failure failure;
    teewire_demo_event event;
    int32_t code = 0, calls = 0, n = 0, row = 0, tick = 100, before = 0;
    teewire_demo_reader* reader = open_file(file_size, NULL, &code);
    REQUIRE(code == 0);
    for (; n < 3; ++n) {
        column[n].values = values[n];
        other[n].values = pieces[n];
        column[n].place = other[n].place = n == 0 ? TEEWIRE_COLUMN_TICK : n == 1 ? TEEWIRE_COLUMN_ID : 1;
    }
    memset(&table, 0, sizeof table);
    table.size = sizeof table;
    table.type = 9;
    table.columns = column;
    table.column_count = 3;
    table.last_tick = INT32_MAX;
    table.capacity = 600;
    piece = table;
    piece.columns = other;
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &table, &failure), 0);
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &table, &failure), 0); /* nothing more */
    CHECK_EQUAL(table.rows, 450);
    CHECK_EQUAL(table.tick, 997);
    CHECK_EQUAL(table.position, file_size);
    CHECK_EQUAL(teewire_demo_reader_tick(reader), 997);
    for (; tick < 100 + ticks; tick += 3) {
        for (n = 0; n < 1 + (tick % 2 == 0); ++n, ++row) {
            CHECK_EQUAL(values[0][row], tick);
            CHECK_EQUAL(values[1][row], n);
            CHECK_EQUAL(values[2][row], n == 0 ? 1000 + tick : -5);
        }
    }

    reader = open_file(file_size, NULL, &code);
    REQUIRE(code == 0);
    CHECK_EQUAL(teewire_demo_reader_tick(reader), -1);
    piece.capacity = 1; /* the first snapshot has two */
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, &failure), 1);
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, &failure), 1);
    CHECK_EQUAL(piece.rows, 0);
    do {
        piece.capacity = piece.rows + 5;
        ++calls;
        code = teewire_demo_reader_rows(reader, &piece, &failure);
    } while (code == 1);
    CHECK_EQUAL(code, 0);
    CHECK_EQUAL(piece.rows, 450);
    CHECK(calls > 80);
    CHECK(memcmp(values, pieces, sizeof values) == 0);

    /* A snapshot that waits is forgotten by whoever goes on otherwise. */
    reader = open_file(file_size, NULL, &code);
    REQUIRE(code == 0);
    piece.rows = piece.capacity = 0;
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, NULL), 1);
    CHECK_EQUAL(teewire_demo_reader_next(reader, NULL, NULL), TEEWIRE_DEMO_MESSAGE);
    piece.capacity = 600;
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, NULL), 0);
    CHECK_EQUAL(piece.rows, 448);

    /* From one tick to another, by going through, and from where a seek leads. */
    for (n = 0; n < 2; ++n) {
        reader = open_file(file_size, NULL, &code);
        REQUIRE(code == 0);
        if (n == 1) {
            CHECK(teewire_demo_reader_index(reader, take(TEEWIRE_KEYFRAMES_SIZE(10)), TEEWIRE_KEYFRAMES_SIZE(10),
                                            NULL) == 4);
            CHECK_EQUAL(teewire_demo_reader_seek(reader, 399, NULL), 0);
            CHECK_EQUAL(teewire_demo_reader_tick(reader), 397);
        }
        piece.rows = 0;
        piece.first_tick = 400;
        piece.last_tick = 406;
        CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, NULL), 0);
        CHECK_EQUAL(piece.rows, 2 + 1 + 2);
        CHECK_EQUAL(pieces[0][0], 400);
        CHECK_EQUAL(pieces[0][4], 406);
        piece.last_tick = INT32_MAX; /* it goes on there */
        CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, NULL), 0);
        CHECK_EQUAL(piece.rows, 300);
        CHECK_EQUAL(pieces[0][5], 409);
    }

    /* Damage: what came before is there. */
    reader = open_file(file_size - 1, NULL, &code);
    REQUIRE(code == 0);
    piece.rows = 0;
    piece.first_tick = 0;
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, &failure), TEEWIRE_TRUNCATED);
    CHECK_EQUAL(piece.rows, 449);
    CHECK_EQUAL(failure.chunk, piece.position);
    CHECK_EQUAL(teewire_demo_reader_rows(reader, &piece, &failure), TEEWIRE_TRUNCATED);
    CHECK_EQUAL(piece.rows, 449);
    CHECK_EQUAL(teewire_demo_reader_rows(reader, NULL, &failure), TEEWIRE_BAD_ARGUMENT);

    /* What is passed over is played all the same. */
    {
        teewire_demo_reader_options options;
        uint32_t const needed = teewire_demo_reader_size();
        void* const memory = take(needed);
        memset(&options, 0, sizeof options);
        options.size = sizeof options;
        options.sizes = teewire_demo_reader_sizes(reader);
        CHECK(options.sizes == teewire_sizes_find("0.6"));
        options.passed = 1U << TEEWIRE_DEMO_TICK | 1U << TEEWIRE_DEMO_SNAPSHOT;
        REQUIRE(teewire_demo_reader_init(&reader, memory, needed, file, file_size, &options, NULL) == 0);
        memset(&event, 0, sizeof event);
        event.size = sizeof event;
        for (n = 0; (code = teewire_demo_reader_next(reader, &event, NULL)) > 0; ++n) {
            teewire_snapshot s;
            CHECK_EQUAL(code, TEEWIRE_DEMO_MESSAGE);
            CHECK(event.tick > before);
            before = event.tick;
            CHECK_EQUAL(teewire_demo_reader_snapshot(reader, &s), 2);
            CHECK_EQUAL(s.ints[5], event.tick);
        }
        CHECK_EQUAL(n, 3);
        CHECK_EQUAL(teewire_demo_reader_protocol(reader), TEEWIRE_PROTOCOL_06);
        CHECK_EQUAL(teewire_demo_reader_tick(reader), -1); /* at its beginning */
        CHECK_EQUAL(teewire_demo_reader_next(reader, &event, NULL), TEEWIRE_DEMO_MESSAGE);
        options.passed = 1;
        CHECK_EQUAL(teewire_demo_reader_init(&reader, memory, needed, file, file_size, &options, NULL),
                    TEEWIRE_BAD_ARGUMENT);
        options.passed = 0;
        options.sizes = teewire_sizes_find("0.7");
        REQUIRE(teewire_demo_reader_init(&reader, memory, needed, file, file_size, &options, NULL) == 0);
        CHECK_EQUAL(teewire_demo_reader_protocol(reader), TEEWIRE_PROTOCOL_07);
        CHECK(teewire_demo_reader_sizes(reader) == options.sizes);
    }
}

/* DDNet is known by its extended types; a tick that is not above the one before is counted. */
static void test_extended(void) {
    static uint8_t const uuid[16] = {7};
    uint32_t const size = teewire_demo_writer_size(), needed = teewire_demo_reader_size();
    teewire_demo_header header = header_of(6);
    teewire_demo_writer* writer = NULL;
    teewire_demo_reader* reader = NULL;
    teewire_demo_overview overview;
    teewire_snapshot s;
    int32_t* data = NULL;
    int32_t part = 0, code = 0;
    uint32_t used = (uint32_t)teewire_demo_header_write(&header, file, capacity) + 4;
    teewire_builder_start(builder);
    REQUIRE(teewire_builder_add_extended(builder, uuid, 5, 3, &data) > 0);
    teewire_builder_finish(builder, &s);
    for (; part < 2; ++part) {
        int32_t tick = 50;
        REQUIRE(teewire_demo_writer_init(&writer, take(size), size, NULL) == 0);
        for (; tick < 60; ++tick)
            used += (uint32_t)teewire_demo_writer_snapshot(writer, tick, &s, file + used, capacity - used, NULL);
    }
    REQUIRE(teewire_demo_reader_init(&reader, take(needed), needed, file, used, NULL, NULL) == 0);
    CHECK_EQUAL(teewire_demo_reader_protocol(reader), TEEWIRE_PROTOCOL_DDNET);
    memset(&overview, 0, sizeof overview);
    overview.size = sizeof overview;
    code = teewire_demo_reader_index(reader, NULL, 0, &overview);
    CHECK_EQUAL(code, 2);
    CHECK_EQUAL(overview.ticks, 20);
    CHECK_EQUAL(overview.restarts, 1);
}

static void test_damage(void) {
    teewire_failure failure;
    teewire_demo_event event;
    teewire_demo_overview overview;
    int32_t code = 0, kind = 0, events = 0;
    teewire_demo_reader* reader = NULL;
    open_file(100, &failure, &code);
    CHECK_EQUAL(code, TEEWIRE_TRUNCATED);
    open_file(0, &failure, &code);
    CHECK_EQUAL(code, TEEWIRE_TRUNCATED);
    file[0] ^= 1;
    open_file(file_size, &failure, &code);
    CHECK_EQUAL(code, TEEWIRE_BAD_MAGIC);
    CHECK_EQUAL(failure.position, 0);
    file[0] ^= 1;
    file[7] = 2;
    open_file(file_size, &failure, &code);
    CHECK_EQUAL(code, TEEWIRE_BAD_VERSION);
    file[7] = 6;

    /* Cut inside the last chunk: everything before it is there. */
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    memset(&overview, 0, sizeof overview);
    overview.size = sizeof overview;
    reader = open_file(file_size - 1, NULL, &code);
    REQUIRE(code == 0);
    CHECK_EQUAL(teewire_demo_reader_index(reader, NULL, 0, &overview), 4);
    CHECK_EQUAL(overview.damage, TEEWIRE_TRUNCATED);
    CHECK_EQUAL(overview.snapshots, 299);
    while ((kind = teewire_demo_reader_next(reader, &event, &failure)) > 0) ++events;
    CHECK_EQUAL(kind, TEEWIRE_TRUNCATED);
    CHECK_EQUAL(events, 300 + 299 + 3);
    CHECK_EQUAL(failure.stage, TEEWIRE_STAGE_INPUT);
    CHECK_EQUAL(failure.position, overview.damage_position);
    CHECK_EQUAL(failure.chunk, overview.damage_position);
    CHECK_EQUAL(teewire_demo_reader_next(reader, &event, &failure), TEEWIRE_TRUNCATED);
    CHECK_EQUAL(teewire_demo_reader_seek(reader, 5000, &failure), TEEWIRE_TRUNCATED);

    /* Damage inside a chunk names the step. */
    reader = open_file(file_size, NULL, &code);
    REQUIRE(code == 0);
    do kind = teewire_demo_reader_next(reader, &event, NULL);
    while (kind != TEEWIRE_DEMO_SNAPSHOT);
    memset(file + event.position + 2, 0xff, 8);
    reader = open_file(file_size, NULL, &code);
    REQUIRE(code == 0);
    do kind = teewire_demo_reader_next(reader, NULL, &failure);
    while (kind > 0);
    CHECK(kind < 0);
    CHECK(failure.stage != TEEWIRE_STAGE_INPUT);
    CHECK_EQUAL(failure.chunk, event.position);
}

/* Sizes that are given are used, right or wrong; without any the right ones are found. */
static void test_sizes(void) {
    uint32_t const reader_size = teewire_demo_reader_size(), sizes_size = teewire_sizes_size();
    teewire_sizes* wrong = NULL;
    int i = 0;
    REQUIRE(teewire_sizes_copy(&wrong, take(sizes_size), sizes_size, NULL) == 0);
    CHECK_EQUAL(teewire_sizes_set(wrong, 9, 21), 0);
    for (i = 0; i < 3; ++i) {
        teewire_demo_reader_options options;
        teewire_demo_reader* reader = NULL;
        int32_t kind = 0, snapshots = 0;
        memset(&options, 0, sizeof options);
        options.size = sizeof options;
        options.sizes = i == 0 ? NULL : i == 1 ? teewire_sizes_find("0.6") : wrong;
        REQUIRE(teewire_demo_reader_init(&reader, take(reader_size), reader_size, file, file_size, &options,
                                         NULL) == 0);
        while ((kind = teewire_demo_reader_next(reader, NULL, NULL)) > 0)
            snapshots += kind == TEEWIRE_DEMO_SNAPSHOT;
        if (i < 2) CHECK_EQUAL(kind, 0);
        else CHECK(kind < 0);
        if (i < 2) CHECK_EQUAL(snapshots, 300);
        else CHECK(snapshots < 300);
    }
}

static void test_options(void) {
    uint32_t const reader_size = teewire_demo_reader_size(), writer_size = teewire_demo_writer_size();
    void* const memory = take(reader_size > writer_size ? reader_size : writer_size);
    teewire_demo_reader* reader = NULL;
    teewire_demo_writer* writer = NULL;
    teewire_demo_reader_options r;
    teewire_demo_writer_options w;
    teewire_demo_header header = header_of(6);
    uint8_t out[TEEWIRE_MAX_DEMO_HEADER_BYTES];
    CHECK(reader_size <= TEEWIRE_DEMO_READER_SIZE);
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.decoding = TEEWIRE_STRICT;
    r.sizes = teewire_sizes_find("0.6");
    CHECK_EQUAL(teewire_demo_reader_init(&reader, memory, reader_size, file, file_size, &r, NULL), 0);
    CHECK_EQUAL(teewire_demo_reader_init(&reader, memory, reader_size - 1, file, file_size, &r, NULL),
                TEEWIRE_BAD_ARGUMENT);
    r.decoding = 3;
    CHECK_EQUAL(teewire_demo_reader_init(&reader, memory, reader_size, file, file_size, &r, NULL),
                TEEWIRE_BAD_ARGUMENT);

    CHECK_EQUAL(teewire_demo_writer_init(&writer, memory, writer_size, NULL), 0);
    CHECK_EQUAL(teewire_demo_writer_init(&writer, memory, writer_size - 1, NULL), TEEWIRE_BAD_ARGUMENT);
    memset(&w, 0, sizeof w);
    w.size = sizeof w;
    w.version = 2;
    CHECK_EQUAL(teewire_demo_writer_init(&writer, memory, writer_size, &w), TEEWIRE_BAD_ARGUMENT);
    w.version = 7;
    CHECK_EQUAL(teewire_demo_writer_init(&writer, memory, writer_size, &w), TEEWIRE_BAD_ARGUMENT);
    w.version = 3;
    w.huffman = 3;
    CHECK_EQUAL(teewire_demo_writer_init(&writer, memory, writer_size, &w), TEEWIRE_BAD_ARGUMENT);

    CHECK_EQUAL(teewire_demo_header_write(&header, out, sizeof out), 484);
    CHECK_EQUAL(teewire_demo_header_write(&header, out, sizeof out - 1), TEEWIRE_OUTPUT_FULL);
    header.marker_count = 65;
    CHECK_EQUAL(teewire_demo_header_write(&header, out, sizeof out), TEEWIRE_BAD_ARGUMENT);
    header.marker_count = 0;
    header.version = 2;
    CHECK_EQUAL(teewire_demo_header_write(&header, out, sizeof out), TEEWIRE_BAD_ARGUMENT);
}

void test_demo(void) {
    uint32_t version = 3;
    builder = new_builder();
    for (; version <= 6; ++version) {
        record(version);
        play(version);
        tabulate();
    }
    test_options();
    test_sizes();
    test_damage();
    test_extended();
}
