#include "check.h"

int checks = 0;
int failed_checks = 0;

static void* taken[256];
static size_t taken_count = 0;

void cap_cpu_from_environment(void) {
    static char const* const names[] = {"scalar", "sse2", "avx2", "avx512", "neon"};
    char const* const wanted = getenv("TEEWIRE_CPU");
    int32_t level = 0;
    if (wanted == NULL || *wanted == '\0') return;
    while (level < 5 && strcmp(names[level], wanted) != 0) ++level;
    REQUIRE(level < 5);
    if (teewire_cpu_cap(level) == level) return;
    fprintf(stderr, "SKIPPED: this machine does not have %s\n", wanted);
    exit(77);
}

void* take(uint32_t size) {
    void* const memory = malloc(size);
    REQUIRE(memory != NULL);
    REQUIRE(taken_count < sizeof taken / sizeof *taken);
    taken[taken_count++] = memory;
    memset(memory, 0xa5, size); /* state must not depend on what was there */
    return memory;
}

void give_back(void) {
    while (taken_count > 0) free(taken[--taken_count]);
}

teewire_scratch* new_scratch(void) {
    teewire_scratch* scratch = NULL;
    REQUIRE(teewire_scratch_init(&scratch, take(teewire_scratch_size()), teewire_scratch_size()) == 0);
    return scratch;
}

teewire_builder* new_builder(void) {
    teewire_builder* builder = NULL;
    REQUIRE(teewire_builder_init(&builder, take(teewire_builder_size()), teewire_builder_size()) == 0);
    return builder;
}

void build_as(uint32_t type, teewire_builder* builder, int32_t tick, teewire_snapshot* out) {
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

void build(teewire_builder* builder, int32_t tick, teewire_snapshot* out) { build_as(9, builder, tick, out); }

int same_ints(teewire_snapshot const* a, teewire_snapshot const* b) {
    return a->size == b->size && memcmp(a->ints, b->ints, a->size * sizeof(int32_t)) == 0;
}
