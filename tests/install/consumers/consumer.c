/* Uses the C ABI as installed; compiled as C99 and as C++17. */
#include <teewire.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t builder_memory[TEEWIRE_BUILDER_SIZE / 8];
static uint64_t scratch_memory[TEEWIRE_SCRATCH_SIZE / 8];

int main(void) {
    static uint8_t bytes[TEEWIRE_MAX_ENCODED_BYTES];
    teewire_builder* builder = NULL;
    teewire_scratch* scratch = NULL;
    teewire_snapshot made, got;
    int32_t* data = NULL;
    int32_t size = 0;
    if (teewire_abi_version() >> 16 != TEEWIRE_ABI_MAJOR) return 1;
    if (teewire_builder_init(&builder, builder_memory, sizeof builder_memory) != 0) return 2;
    if (teewire_scratch_init(&scratch, scratch_memory, sizeof scratch_memory) != 0) return 3;
    if (teewire_builder_add(builder, 4, 7, 4, &data) != 1) return 4;
    data[0] = 1234;
    if (teewire_builder_finish(builder, &made) != 1) return 5;
    size = teewire_encode(NULL, &made, NULL, scratch, bytes, sizeof bytes, NULL);
    if (size <= 0) return 6;
    if (teewire_decode(NULL, bytes, (uint32_t)size, NULL, scratch, &got, NULL) < 0) return 7;
    if (got.size != made.size || memcmp(got.ints, made.ints, 4 * made.size) != 0) return 8;
    printf("%d bytes, %s\n", (int)size, teewire_error_text(TEEWIRE_OK));
    return 0;
}
