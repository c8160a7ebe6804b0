/* A server's loop in C. The game is made up and the network is memory, which loses every fifth datagram; the calls are
 * those of a real server. All memory is taken once, before the first tick. */
#include <teewire.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { clients = 4, ticks = 500, history_bytes = 256 * 1024 };
enum { type_character = 9, character_ints = 22 };

/* ---- the server's side --------------------------------------------------------------------------------------------- */

static teewire_sender* senders[clients];
static teewire_builder* builders[clients]; /* one each, so that the next tick finds the layout of the last one */
static teewire_scratch* scratch;           /* one per thread */

//! [snap]
/* What client `viewer` sees at `tick`: everybody who is not too far away. */
static int32_t snap(int32_t viewer, int32_t tick, teewire_snapshot* out) {
    teewire_sender_start(senders[viewer], builders[viewer]);
    for (int32_t id = 0; id < clients; ++id) {
        int32_t const x = 1000 * id + tick % 400 * (id + 1);
        int32_t* data;
        if (id != viewer && x % 3000 > 2000) continue;
        if (teewire_builder_add(builders[viewer], type_character, (uint32_t)id, character_ints, &data) < 0)
            continue;
        data[0] = tick;
        data[1] = x;
        data[2] = 320;
    }
    return teewire_builder_finish(builders[viewer], out);
}
//! [snap]

static void deliver(int32_t client, uint8_t const* message, uint32_t size);

//! [tick]
static void do_tick(int32_t tick) {
    for (int32_t client = 0; client < clients; ++client) {
        teewire_snapshot now;
        uint8_t const* message;
        int32_t size;
        if (!teewire_sender_due(senders[client], tick)) continue;
        snap(client, tick, &now);
        int32_t const code = teewire_sender_send(senders[client], tick, &now, scratch, NULL);
        if (code < 0) {
            fprintf(stderr, "client %" PRId32 ": %s\n", client, teewire_error_text(code));
            continue;
        }
        while ((size = teewire_sender_next(senders[client], &message)) > 0)
            deliver(client, message, (uint32_t)size); /* here a server hands it to its connection, not vital */
    }
}
//! [tick]

/* ---- the clients' side --------------------------------------------------------------------------------------------- */

static teewire_receiver* receivers[clients];
static teewire_scratch* client_scratch;
static int32_t sent[clients], bytes[clients], received[clients];

static void deliver(int32_t client, uint8_t const* message, uint32_t size) {
    bytes[client] += (int32_t)size;
    if (++sent[client] % 5 == 0) return; /* lost */
    received[client] += teewire_receiver_receive(receivers[client], message, size, client_scratch, NULL, NULL) ==
                        TEEWIRE_RECEIVED_SNAPSHOT;
    /* The next input message says so; it is never lost here. */
    teewire_sender_acknowledge(senders[client], teewire_receiver_ack(receivers[client]));
}

/* -------------------------------------------------------------------------------------------------------------------- */

static void* memory(uint32_t size) {
    void* const block = malloc(size);
    if (block == NULL) exit(1);
    return block;
}

int main(void) {
    uint32_t size = teewire_scratch_size();
    if (teewire_abi_version() >> 16 != TEEWIRE_ABI_MAJOR) return 1;
    if (teewire_scratch_init(&scratch, memory(size), size) < 0) return 1;
    if (teewire_scratch_init(&client_scratch, memory(size), size) < 0) return 1;
    for (int32_t client = 0; client < clients; ++client) {
        size = teewire_builder_size();
        if (teewire_builder_init(&builders[client], memory(size), size) < 0) return 1;
        size = teewire_sender_size(75, history_bytes);
        if (teewire_sender_init(&senders[client], memory(size), size, NULL) < 0) return 1;
        size = teewire_receiver_size(1, 150, history_bytes);
        if (teewire_receiver_init(&receivers[client], memory(size), size, NULL) < 0) return 1;
    }
    for (int32_t tick = 1; tick <= ticks; ++tick) do_tick(tick);
    for (int32_t client = 0; client < clients; ++client)
        printf("client %" PRId32 ": %" PRId32 " snapshots in %" PRId32 " bytes, the last one of tick %" PRId32 "\n",
               client, received[client], bytes[client], teewire_receiver_ack(receivers[client]));
    return 0;
}
