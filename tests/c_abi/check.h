/* What every test of the C ABI needs. */
#ifndef CHECK_H
#define CHECK_H

#include <teewire_table.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int checks;
extern int failed_checks;

#define CHECK(condition)                                                                                           \
    do {                                                                                                           \
        ++checks;                                                                                                  \
        if (!(condition)) {                                                                                        \
            ++failed_checks;                                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                        \
        }                                                                                                          \
    } while (0)

/* With both values in the message. */
#define CHECK_EQUAL(actual, expected)                                                                              \
    do {                                                                                                           \
        long long const actual_ = (long long)(actual), expected_ = (long long)(expected);                          \
        ++checks;                                                                                                  \
        if (actual_ != expected_) {                                                                                \
            ++failed_checks;                                                                                       \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, actual_, expected_);     \
        }                                                                                                          \
    } while (0)

/* Without which it makes no sense to go on. */
#define REQUIRE(condition)                                                                                         \
    do {                                                                                                           \
        ++checks;                                                                                                  \
        if (!(condition)) {                                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                        \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

/* The failure of `call`, which uses `failure`. */
#define CHECK_FAILS(call, expected_code, expected_stage, expected_position)                                        \
    do {                                                                                                           \
        memset(&failure, 0x5a, sizeof failure);                                                                    \
        CHECK_EQUAL(call, expected_code);                                                                          \
        CHECK_EQUAL(failure.code, expected_code);                                                                  \
        CHECK_EQUAL(failure.stage, expected_stage);                                                                \
        CHECK_EQUAL(failure.position, expected_position);                                                          \
    } while (0)

/* Runs everything on the processor level that TEEWIRE_CPU names, or ends with 77 if the machine has less. */
void cap_cpu_from_environment(void);

/* Memory of exactly that size, so that AddressSanitizer sees every step over its end; freed by give_back(). */
void* take(uint32_t size);
void give_back(void);

teewire_scratch* new_scratch(void);
teewire_builder* new_builder(void);

/* Two characters of that type, of which the second has gone by odd ticks; a value that follows the tick. */
void build_as(uint32_t type, teewire_builder* builder, int32_t tick, teewire_snapshot* out);
void build(teewire_builder* builder, int32_t tick, teewire_snapshot* out);

int same_ints(teewire_snapshot const* a, teewire_snapshot const* b);

#endif
