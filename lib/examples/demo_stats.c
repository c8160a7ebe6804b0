/* What a demo holds, by item type:  demo_stats FILE */
#include <teewire_demo.h>

#include <stdio.h>
#include <stdlib.h>

static uint64_t memory[TEEWIRE_DEMO_READER_SIZE / 8];
static unsigned long items[0x10000], ints[0x10000];

int main(int argc, char** argv) {
    FILE* const file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) return fprintf(stderr, "usage: demo_stats FILE\n"), 2;
    size_t const size = (size_t)ftell(file);
    uint8_t* const bytes = malloc(size + 1);
    rewind(file);
    if (bytes == NULL || fread(bytes, 1, size, file) != size) return fprintf(stderr, "not readable\n"), 3;

    //! [play]
    teewire_demo_reader* reader;
    teewire_failure failure = {0, 0, 0, 0};
    unsigned long snapshots = 0, messages = 0;
    int32_t kind = teewire_demo_reader_init(&reader, memory, sizeof memory, bytes, size, NULL, &failure);
    while (kind >= 0 && (kind = teewire_demo_reader_next(reader, NULL, &failure)) > 0) {
        teewire_snapshot now;
        teewire_item item;
        messages += kind == TEEWIRE_DEMO_MESSAGE;
        if (kind != TEEWIRE_DEMO_SNAPSHOT) continue;
        ++snapshots;
        int32_t const count = teewire_demo_reader_snapshot(reader, &now);
        for (int32_t i = 0; i < count && teewire_snapshot_item(&now, (uint32_t)i, &item) == 0; ++i) {
            items[TEEWIRE_KEY_TYPE(item.key)] += 1;
            ints[TEEWIRE_KEY_TYPE(item.key)] += item.ints;
        }
    }
    //! [play]
    printf("%lu snapshots, %lu messages\n", snapshots, messages);
    for (int32_t type = 0; type < 0x10000; ++type)
        if (items[type] > 0) printf("type %5d: %7lu items, %8lu ints\n", (int)type, items[type], ints[type]);
    if (kind < 0)
        fprintf(stderr, "%s: %s at byte %lu\n", argv[1], teewire_error_text(kind), (unsigned long)failure.chunk);
    return kind < 0;
}
