/* Create, apply, encode, decode. */
#include "check.h"

static teewire_scratch* scratch;
static teewire_snapshot before, after, none;

/* With a table that is empty. */
static void test_own_sizes(teewire_sizes const* sizes) {
    uint8_t bytes[300];
    int32_t delta[200];
    teewire_snapshot made;
    teewire_encode_options encoding;
    teewire_decode_options decoding;
    int32_t size = 0;
    int32_t const ints = teewire_delta_create(&before, &after, sizes, scratch, delta, 200, NULL);
    memset(&encoding, 0, sizeof encoding);
    memset(&decoding, 0, sizeof decoding);
    encoding.size = sizeof encoding;
    decoding.size = sizeof decoding;
    size = teewire_encode(&before, &after, &encoding, scratch, bytes, sizeof bytes, NULL);
    CHECK(teewire_decode(&before, bytes, (uint32_t)size, &decoding, scratch, &made, NULL) > 0);
    encoding.sizes = decoding.sizes = sizes;
    CHECK_EQUAL(teewire_encode(&before, &after, &encoding, scratch, bytes, sizeof bytes, NULL), size + 1);
    CHECK_EQUAL(teewire_decode(&before, bytes, (uint32_t)size + 1, &decoding, scratch, &made, NULL), after.size);
    CHECK(same_ints(&made, &after));
    CHECK_EQUAL(teewire_delta_apply(&before, delta, (uint32_t)ints, &decoding, scratch, &made, NULL), after.size);
    CHECK(same_ints(&made, &after));
    /* The size is taken for data where it is agreed. */
    CHECK_EQUAL(teewire_delta_apply(&before, delta, (uint32_t)ints, NULL, scratch, &made, NULL), after.size);
    CHECK(!same_ints(&made, &after));
}

/* What was decoded is in the scratch memory, where it can be no base. */
static void test_decoded_is_scratch(void) {
    int32_t delta[200], copy[200];
    uint8_t bytes[300];
    teewire_snapshot made, base;
    teewire_failure failure;
    int32_t const size = teewire_encode(&none, &before, NULL, scratch, bytes, sizeof bytes, NULL);
    REQUIRE(teewire_decode(&none, bytes, (uint32_t)size, NULL, scratch, &made, NULL) == (int32_t)before.size);
    CHECK((void const*)made.ints > (void const*)scratch);
    CHECK((char const*)(made.ints + made.size) <= (char const*)scratch + teewire_scratch_size());
    REQUIRE(teewire_snapshot_copy(&made, copy, 200, &base) > 0);
    {
        int32_t const ints = teewire_delta_create(&base, &after, NULL, scratch, delta, 200, NULL);
        int32_t const packed = teewire_encode(&base, &after, NULL, scratch, bytes, sizeof bytes, NULL);
        CHECK_FAILS(teewire_delta_apply(&made, delta, (uint32_t)ints, NULL, scratch, &made, &failure),
                    TEEWIRE_BAD_ARGUMENT, 0, 0);
        CHECK_FAILS(teewire_decode(&made, bytes, (uint32_t)packed, NULL, scratch, &made, &failure),
                    TEEWIRE_BAD_ARGUMENT, 0, 0);
        CHECK(same_ints(&made, &before));
        CHECK_EQUAL(teewire_decode(&made, bytes, 0, NULL, scratch, &made, NULL), before.size);
        CHECK_EQUAL(teewire_decode(&base, bytes, (uint32_t)packed, NULL, scratch, &made, NULL), after.size);
        CHECK(same_ints(&made, &after));
    }
}

static void test_create_and_apply(void) {
    int32_t delta[200];
    teewire_snapshot made;
    teewire_failure failure;
    int32_t n = teewire_delta_create(&before, &after, NULL, scratch, delta, 200, NULL);
    CHECK_EQUAL(n, 3 + 1 + 2 + 22);
    CHECK_EQUAL(delta[0], 1);
    CHECK_EQUAL(delta[1], 1);
    CHECK_EQUAL(delta[3], TEEWIRE_KEY(9, 1));
    CHECK_EQUAL(delta[6], 1); /* tick 2 to 3 */
    CHECK_EQUAL(teewire_delta_apply(&before, delta, (uint32_t)n, NULL, scratch, &made, NULL), after.size);
    CHECK(same_ints(&made, &after));
    CHECK_EQUAL(teewire_delta_create(&after, &after, NULL, scratch, delta, 200, NULL), 0);

    /* The type has an agreed size, unless the table says otherwise; then deltas have one int more. */
    {
        teewire_sizes* sizes = NULL;
        REQUIRE(teewire_sizes_copy(&sizes, take(teewire_sizes_size()), teewire_sizes_size(), NULL) == 0);
        CHECK_EQUAL(teewire_sizes_set(sizes, 9, 0), 0);
        CHECK_EQUAL(teewire_delta_create(&before, &after, sizes, scratch, delta, 200, NULL), n + 1);
        REQUIRE(teewire_sizes_init(&sizes, take(teewire_sizes_size()), teewire_sizes_size()) == 0);
        CHECK_EQUAL(teewire_delta_create(&before, &after, sizes, scratch, delta, 200, NULL), n + 1);
        test_own_sizes(sizes);
        CHECK_EQUAL(teewire_sizes_set(sizes, 9, 3), 0);
        CHECK_FAILS(teewire_delta_create(&before, &after, sizes, scratch, delta, 200, &failure),
                    TEEWIRE_SIZE_MISMATCH, 0, 0);
    }
    CHECK_FAILS(teewire_delta_create(&before, &after, NULL, scratch, delta, 20, &failure), TEEWIRE_OUTPUT_FULL, 0,
                0);

    /* Damaged ones. */
    n = teewire_delta_create(&before, &after, NULL, scratch, delta, 200, NULL);
    CHECK_FAILS(teewire_delta_apply(&before, delta, 2, NULL, scratch, &made, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_INPUT, 2);
    CHECK_FAILS(teewire_delta_apply(&before, delta, 20, NULL, scratch, &made, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_INPUT, 20);
    delta[4] = -1;
    CHECK_FAILS(teewire_delta_apply(&before, delta, (uint32_t)n, NULL, scratch, &made, &failure), TEEWIRE_BAD_TYPE,
                TEEWIRE_STAGE_INPUT, 4);
    delta[0] = -1;
    CHECK_FAILS(teewire_delta_apply(&before, delta, (uint32_t)n, NULL, scratch, &made, &failure), TEEWIRE_BAD_COUNT,
                TEEWIRE_STAGE_INPUT, 0);
}

static void test_limits(void) {
    static int32_t many[2 + 2 * 1025];
    static int32_t large[2 + 1 + TEEWIRE_MAX_SNAPSHOT_INTS];
    static int32_t twice[] = {16, 2, 0, 8, TEEWIRE_KEY(40, 1), 1, TEEWIRE_KEY(40, 1), 2};
    int32_t delta[20];
    uint8_t bytes[20];
    teewire_snapshot s;
    teewire_failure failure;
    int32_t i = 0;
    many[0] = 4 * 1025;
    many[1] = 1025;
    for (i = 0; i < 1025; ++i) {
        many[2 + i] = 4 * i;
        many[2 + 1025 + i] = TEEWIRE_KEY(1, i);
    }
    teewire_snapshot_view(&s, many, TEEWIRE_DISTINCT_KEYS);
    CHECK_FAILS(teewire_delta_create(&none, &s, NULL, scratch, delta, 20, &failure), TEEWIRE_TOO_MANY_ITEMS, 0, 0);
    CHECK_FAILS(teewire_delta_create(&s, &none, NULL, scratch, delta, 20, &failure), TEEWIRE_TOO_MANY_ITEMS, 0, 0);
    CHECK_FAILS(teewire_encode(&s, &none, NULL, scratch, bytes, 20, &failure), TEEWIRE_TOO_MANY_ITEMS, 0, 0);
    CHECK_FAILS(teewire_delta_apply(&s, delta, 0, NULL, scratch, &s, &failure), TEEWIRE_TOO_MANY_ITEMS, 0, 0);

    large[0] = 4 * TEEWIRE_MAX_SNAPSHOT_INTS;
    large[1] = 1;
    large[3] = TEEWIRE_KEY(40, 1);
    teewire_snapshot_view(&s, large, TEEWIRE_DISTINCT_KEYS);
    CHECK_FAILS(teewire_delta_create(&none, &s, NULL, scratch, delta, 20, &failure), TEEWIRE_TOO_LARGE, 0, 0);

    teewire_snapshot_view(&s, twice, 0);
    CHECK_FAILS(teewire_delta_create(&none, &s, NULL, scratch, delta, 20, &failure), TEEWIRE_DUPLICATE_KEY, 0, 0);
}

static void test_fused(void) {
    static int32_t const huffman[] = {TEEWIRE_HUFFMAN_NONE, TEEWIRE_HUFFMAN_EXACT, TEEWIRE_HUFFMAN_PADDED};
    uint8_t bytes[300], packed[300];
    int32_t delta[200];
    teewire_snapshot made;
    teewire_failure failure;
    teewire_encode_options encoding;
    teewire_decode_options decoding;
    int32_t size = 0, i = 0;
    int32_t const ints = teewire_delta_create(&before, &after, NULL, scratch, delta, 200, NULL);
    int32_t const packed_size = teewire_varint_encode(delta, (uint32_t)ints, packed, sizeof packed, NULL);
    memset(&encoding, 0, sizeof encoding);
    memset(&decoding, 0, sizeof decoding);
    encoding.size = sizeof encoding;
    decoding.size = sizeof decoding;
    for (i = 0; i < 3; ++i) {
        encoding.huffman = huffman[i];
        decoding.huffman = i > 0;
        size = teewire_encode(&before, &after, &encoding, scratch, bytes, sizeof bytes, NULL);
        if (i == 0) {
            CHECK_EQUAL(size, packed_size);
            CHECK(memcmp(bytes, packed, (size_t)size) == 0);
        } else {
            uint8_t coded[300];
            CHECK_EQUAL(
                size, teewire_huffman_encode(packed, (uint32_t)packed_size, huffman[i], coded, sizeof coded, NULL));
            CHECK(memcmp(bytes, coded, (size_t)size) == 0);
        }
        CHECK_EQUAL(teewire_decode(&before, bytes, (uint32_t)size, &decoding, scratch, &made, NULL), after.size);
        CHECK(same_ints(&made, &after));
        CHECK_FAILS(teewire_encode(&before, &after, &encoding, scratch, bytes, (uint32_t)size - 1, &failure),
                    TEEWIRE_OUTPUT_FULL, 0, 1);
        CHECK_EQUAL(teewire_encode(&after, &after, &encoding, scratch, bytes, 0, NULL), 0);
    }
    CHECK_EQUAL(teewire_encode(&before, &after, NULL, scratch, bytes, sizeof bytes, NULL), packed_size);

    /* Each step fails as itself. */
    decoding.huffman = 1;
    CHECK_FAILS(teewire_decode(&before, bytes, 2, &decoding, scratch, &made, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_HUFFMAN, 2);
    packed[packed_size - 1] = 0x80;
    CHECK_FAILS(teewire_decode(&before, packed, (uint32_t)packed_size, NULL, scratch, &made, &failure),
                TEEWIRE_TRUNCATED, TEEWIRE_STAGE_VARINT, packed_size - 1);
    CHECK_FAILS(teewire_decode(&before, packed, 4, NULL, scratch, &made, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_VARINT, 3);
    CHECK_FAILS(teewire_decode(&before, packed, 3, NULL, scratch, &made, &failure), TEEWIRE_TRUNCATED,
                TEEWIRE_STAGE_DELTA, 3);

    CHECK_EQUAL(teewire_decode(&before, NULL, 0, NULL, scratch, &made, NULL), before.size);
    CHECK(made.ints == before.ints);
    CHECK_EQUAL(teewire_decode(NULL, NULL, 0, NULL, scratch, &made, NULL), 2);
    CHECK_EQUAL(teewire_snapshot_items(&made), 0);

    encoding.huffman = 3;
    CHECK_FAILS(teewire_encode(&before, &after, &encoding, scratch, bytes, sizeof bytes, &failure),
                TEEWIRE_BAD_ARGUMENT, 0, 0);
    decoding.decoding = -1;
    CHECK_FAILS(teewire_decode(&before, bytes, 1, &decoding, scratch, &made, &failure), TEEWIRE_BAD_ARGUMENT, 0, 0);
    CHECK_FAILS(teewire_delta_apply(&before, delta, 1, &decoding, scratch, &made, &failure), TEEWIRE_BAD_ARGUMENT,
                0, 0);
}

/* Options of older and newer programs. */
static void test_option_sizes(void) {
    struct {
        teewire_encode_options known;
        uint32_t added;
    } newer;
    uint32_t older = sizeof older; /* when there was no more than the size */
    uint8_t bytes[300];
    int32_t const plain = teewire_encode(&before, &after, NULL, scratch, bytes, sizeof bytes, NULL);
    memset(&newer, 0, sizeof newer);
    newer.known.size = sizeof newer;
    CHECK_EQUAL(teewire_encode(&before, &after, &newer.known, scratch, bytes, sizeof bytes, NULL), plain);
    newer.added = 1; /* nobody here knows what it asks for */
    CHECK_EQUAL(teewire_encode(&before, &after, &newer.known, scratch, bytes, sizeof bytes, NULL),
                TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(
        teewire_encode(&before, &after, (teewire_encode_options const*)&older, scratch, bytes, sizeof bytes, NULL),
        plain);
    newer.known.size = 0;
    CHECK_EQUAL(teewire_encode(&before, &after, &newer.known, scratch, bytes, sizeof bytes, NULL),
                TEEWIRE_BAD_ARGUMENT);
}

void test_delta(void) {
    scratch = new_scratch();
    CHECK(teewire_scratch_size() <= TEEWIRE_SCRATCH_SIZE);
    build(new_builder(), 2, &before);
    build(new_builder(), 3, &after);
    memset(&none, 0, sizeof none);
    test_create_and_apply();
    test_limits();
    test_fused();
    test_decoded_is_scratch();
    test_option_sizes();
}
