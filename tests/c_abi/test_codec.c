/* Version, errors, varints, Huffman, size tables. */
#include "check.h"

static void test_version(void) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TEEWIRE_VERSION_MAJOR, TEEWIRE_VERSION_MINOR,
             TEEWIRE_VERSION_PATCH);
    CHECK(strcmp(teewire_version(), version) == 0);
    CHECK(strcmp(TEEWIRE_VERSION_STRING, version) == 0);
    CHECK_EQUAL(teewire_abi_version(), TEEWIRE_ABI_MAJOR * 65536 + TEEWIRE_ABI_MINOR);
    CHECK_EQUAL(teewire_align(), TEEWIRE_ALIGN);
}

static void test_cpu(void) {
    int32_t const before = teewire_cpu();
    CHECK(before >= TEEWIRE_CPU_SCALAR && before <= TEEWIRE_CPU_NEON);
    CHECK_EQUAL(teewire_cpu_cap(TEEWIRE_CPU_SCALAR), TEEWIRE_CPU_SCALAR);
    CHECK_EQUAL(teewire_cpu(), TEEWIRE_CPU_SCALAR);
    CHECK_EQUAL(teewire_cpu_cap(-1), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_cpu_cap(TEEWIRE_CPU_NEON + 1), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_cpu(), TEEWIRE_CPU_SCALAR);
    CHECK_EQUAL(teewire_cpu_cap(before), before);
    CHECK_EQUAL(teewire_cpu(), before);
}

static void test_error_text(void) {
    int32_t code = 0;
    CHECK(strcmp(teewire_error_text(TEEWIRE_OK), "no error") == 0);
    CHECK(strcmp(teewire_error_text(TEEWIRE_TRUNCATED), "the data ends too early") == 0);
    for (code = TEEWIRE_BAD_PACKET; code < TEEWIRE_OK; ++code) {
        int32_t other = 0;
        CHECK(strlen(teewire_error_text(code)) > 5);
        CHECK(strcmp(teewire_error_text(code), "unknown code") != 0);
        for (other = TEEWIRE_BAD_PACKET; other < code; ++other)
            CHECK(strcmp(teewire_error_text(code), teewire_error_text(other)) != 0);
    }
    CHECK(strcmp(teewire_error_text(TEEWIRE_BAD_PACKET - 1), "unknown code") == 0);
    CHECK(strcmp(teewire_error_text(1), "unknown code") == 0);
    CHECK(strcmp(teewire_error_text(INT32_MIN), "unknown code") == 0);
}

static void test_varints(void) {
    static int32_t const ints[] = {0, -1, 63, 64, -65, INT32_MAX, INT32_MIN};
    static uint8_t const overlong[] = {0x81, 0x80, 0x00, 0x02};
    uint8_t bytes[TEEWIRE_VARINT_BOUND(7)];
    int32_t back[7] = {0};
    int32_t value = 77;
    teewire_failure failure;
    int32_t const size = teewire_varint_encode(ints, 7, bytes, sizeof bytes, &failure);
    CHECK_EQUAL(size, 1 + 1 + 1 + 2 + 2 + 5 + 5);
    CHECK_EQUAL(bytes[1], 0x40);
    CHECK_EQUAL(teewire_varint_decode(bytes, (uint32_t)size, back, 7, NULL), 7);
    CHECK(memcmp(ints, back, sizeof back) == 0);

    CHECK_FAILS(teewire_varint_encode(ints, 7, bytes, 4, &failure), TEEWIRE_OUTPUT_FULL, TEEWIRE_STAGE_INPUT, 3);
    CHECK_EQUAL(teewire_varint_encode(ints, 7, bytes, 4, NULL), TEEWIRE_OUTPUT_FULL);
    CHECK_FAILS(teewire_varint_decode(bytes, (uint32_t)size - 1, back, 7, &failure), TEEWIRE_TRUNCATED, 0, 12);
    CHECK_FAILS(teewire_varint_decode(bytes, (uint32_t)size, back, 6, &failure), TEEWIRE_OUTPUT_FULL, 0, 12);
    CHECK_EQUAL(teewire_varint_encode(ints, 0, bytes, 0, NULL), 0);
    CHECK_EQUAL(teewire_varint_decode(bytes, 0, back, 0, NULL), 0);

    CHECK_EQUAL(teewire_varint_read(bytes + 3, 2, &value, NULL), 2);
    CHECK_EQUAL(value, 64);
    CHECK_EQUAL(teewire_varint_read(overlong, 4, &value, NULL), 3);
    CHECK_EQUAL(value, 1);
    CHECK_FAILS(teewire_varint_read(overlong, 2, &value, &failure), TEEWIRE_TRUNCATED, 0, 0);
}

static void test_huffman(void) {
    static uint8_t const text[] = "all work and no play makes a dull tee";
    uint8_t coded[TEEWIRE_HUFFMAN_BOUND(sizeof text)];
    uint8_t back[sizeof text];
    uint8_t zeros[64] = {0};
    teewire_failure failure;
    uint32_t n = 0;
    int padded = 0;
    int32_t const size =
        teewire_huffman_encode(text, sizeof text, TEEWIRE_HUFFMAN_EXACT, coded, sizeof coded, NULL);
    REQUIRE(size > 0);
    CHECK_EQUAL(teewire_huffman_decode(coded, (uint32_t)size, back, sizeof back, NULL), sizeof text);
    CHECK(memcmp(text, back, sizeof text) == 0);
    CHECK_EQUAL(teewire_huffman_encode(text, sizeof text, TEEWIRE_HUFFMAN_NONE, coded, sizeof coded, NULL), size);

    /* Of the two endings one is a byte longer where the bits end on a byte. */
    for (n = 0; n < sizeof zeros; ++n) {
        int32_t const exact = teewire_huffman_encode(zeros, n, TEEWIRE_HUFFMAN_EXACT, coded, sizeof coded, NULL);
        int32_t const old = teewire_huffman_encode(zeros, n, TEEWIRE_HUFFMAN_PADDED, coded, sizeof coded, NULL);
        CHECK(old == exact || old == exact + 1);
        padded += old > exact;
    }
    CHECK_EQUAL(padded, 64 / 8);

    CHECK_FAILS(teewire_huffman_encode(text, sizeof text, TEEWIRE_HUFFMAN_EXACT, coded, 1, &failure),
                TEEWIRE_OUTPUT_FULL, TEEWIRE_STAGE_INPUT, 0);
    CHECK_FAILS(teewire_huffman_encode(text, 1, 3, coded, sizeof coded, &failure), TEEWIRE_BAD_ARGUMENT, 0, 0);
    CHECK_EQUAL(teewire_huffman_encode(text, 1, -1, coded, sizeof coded, NULL), TEEWIRE_BAD_ARGUMENT);
    REQUIRE(teewire_huffman_encode(text, sizeof text, TEEWIRE_HUFFMAN_EXACT, coded, sizeof coded, NULL) == size);
    CHECK_EQUAL(teewire_huffman_decode(coded, (uint32_t)size, back, 5, &failure), TEEWIRE_OUTPUT_FULL);
    CHECK(failure.position <= (uint32_t)size);
    CHECK_EQUAL(teewire_huffman_decode(coded, 3, back, sizeof back, &failure), TEEWIRE_TRUNCATED);
    CHECK_EQUAL(teewire_huffman_decode(coded, 0, back, sizeof back, NULL), TEEWIRE_TRUNCATED);
}

static void test_sizes(void) {
    uint32_t const size = teewire_sizes_size();
    teewire_sizes* sizes = NULL;
    CHECK(size > 0 && size <= TEEWIRE_SIZES_SIZE);
    CHECK(teewire_sizes_find("0.6") != NULL);
    CHECK(teewire_sizes_find("0.7") != NULL);
    CHECK(teewire_sizes_find("0.7") != teewire_sizes_find("0.6"));
    CHECK(teewire_sizes_find("0.8") == NULL);
    CHECK(teewire_sizes_find(NULL) == NULL);
    CHECK_EQUAL(teewire_sizes_copy(&sizes, take(size), size - 1, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sizes_copy(&sizes, (uint8_t*)take(size + 1) + 1, size, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sizes_copy(&sizes, NULL, size, NULL), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sizes_init(&sizes, take(size), size - 1), TEEWIRE_BAD_ARGUMENT);
    CHECK(sizes == NULL);
    CHECK_EQUAL(teewire_sizes_copy(&sizes, take(size), size, teewire_sizes_find("0.7")), 0);
    CHECK_EQUAL(teewire_sizes_set(sizes, 63, 65535), 0);
    CHECK_EQUAL(teewire_sizes_set(sizes, 64, 1), TEEWIRE_BAD_ARGUMENT);
    CHECK_EQUAL(teewire_sizes_set(sizes, 1, 65536), TEEWIRE_BAD_ARGUMENT);
}

void test_codec(void) {
    test_version();
    test_cpu();
    test_error_text();
    test_varints();
    test_huffman();
    test_sizes();
}
