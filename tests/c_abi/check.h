/* What every test of the C ABI needs. */
#ifndef CHECK_H
#define CHECK_H

#include <teewire.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int checks;
extern int failed_checks;

#define CHECK(condition)                                                                                            \
    do {                                                                                                            \
        ++checks;                                                                                                   \
        if (!(condition)) {                                                                                         \
            ++failed_checks;                                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                         \
        }                                                                                                           \
    } while (0)

/* With both values in the message. */
#define CHECK_EQUAL(actual, expected)                                                                               \
    do {                                                                                                            \
        long long const actual_ = (long long)(actual), expected_ = (long long)(expected);                           \
        ++checks;                                                                                                   \
        if (actual_ != expected_) {                                                                                 \
            ++failed_checks;                                                                                        \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, actual_, expected_);      \
        }                                                                                                           \
    } while (0)

/* Without which it makes no sense to go on. */
#define REQUIRE(condition)                                                                                          \
    do {                                                                                                            \
        ++checks;                                                                                                   \
        if (!(condition)) {                                                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                         \
            exit(1);                                                                                                \
        }                                                                                                           \
    } while (0)

/* The failure of `call`, which uses `failure`. */
#define CHECK_FAILS(call, expected_code, expected_stage, expected_position)                                         \
    do {                                                                                                            \
        memset(&failure, 0x5a, sizeof failure);                                                                     \
        CHECK_EQUAL(call, expected_code);                                                                           \
        CHECK_EQUAL(failure.code, expected_code);                                                                   \
        CHECK_EQUAL(failure.stage, expected_stage);                                                                 \
        CHECK_EQUAL(failure.position, expected_position);                                                           \
    } while (0)

/* Memory of exactly that size, so that AddressSanitizer sees every step over its end. Never freed: tests end soon. */
static inline void* take(uint32_t size) {
    void* const memory = malloc(size);
    REQUIRE(memory != NULL);
    memset(memory, 0xa5, size); /* state must not depend on what was there */
    return memory;
}

static inline teewire_scratch* new_scratch(void) {
    teewire_scratch* scratch = NULL;
    REQUIRE(teewire_scratch_init(&scratch, take(teewire_scratch_size()), teewire_scratch_size()) == 0);
    return scratch;
}

static inline teewire_builder* new_builder(void) {
    teewire_builder* builder = NULL;
    REQUIRE(teewire_builder_init(&builder, take(teewire_builder_size()), teewire_builder_size()) == 0);
    return builder;
}

/* Two characters, of which the second has gone by odd ticks; a value that follows the tick. */
static inline void build_as(uint32_t type, teewire_builder* builder, int32_t tick, teewire_snapshot* out) {
    int32_t* data = NULL;
    teewire_builder_start(builder);
    REQUIRE(teewire_builder_add(builder, type, 0, 22, &data) == 1);
    data[0] = tick;
    data[1] = 1000 + tick;
    if (tick % 2 == 0) {
        REQUIRE(teewire_builder_add(builder, type, 1, 22, &data) == 2);
        data[1] = -5;
    }
    REQUIRE(teewire_builder_finish(builder, out) == 1 + (tick % 2 == 0));
}

static inline void build(teewire_builder* builder, int32_t tick, teewire_snapshot* out) {
    build_as(9, builder, tick, out);
}

static inline int same_ints(teewire_snapshot const* a, teewire_snapshot const* b) {
    return a->size == b->size && memcmp(a->ints, b->ints, a->size * sizeof(int32_t)) == 0;
}

#endif
