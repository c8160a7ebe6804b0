/* A server's loop in C. The game is made up and the network is memory, which loses every fifth datagram; the calls are
 * those of a real server. All memory is taken once, before the first tick. */
#include <teewire.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { clients = 4, ticks = 500, history_bytes = 256 * 1024 };
enum { CHARACTER = 9 }; /* an item type, of 22 ints */

/* ---- the server's side --------------------------------------------------------------------------------------------- */

static teewire_sender* senders[clients];
static teewire_builder* builder; /* one per thread, as is the next */
static teewire_scratch* scratch;

//! [snap]
/* Everybody is seen who is not too far away. */
static int sees(int32_t viewer, int32_t id, int32_t tick) {
    return id == viewer || (1000 * id + tick % 400 * (id + 1)) % 3000 <= 2000;
}

static void write_character(int32_t id, int32_t tick, int32_t* data) {
    data[0] = tick; /* what is not set is 0 */
    data[1] = 1000 * id + tick % 400 * (id + 1);
    data[2] = 320;
}
//! [snap]

static void deliver(int32_t client, uint8_t const* message, int32_t size);

//! [tick]
static void do_tick(int32_t tick) {
    int32_t *data, size;
    uint8_t const* message;
    teewire_snapshot now;
    //! [loop]
    for (int32_t client = 0; client < clients; ++client) {
        if (!teewire_sender_due(senders[client], tick)) continue;
        teewire_sender_start(senders[client], builder);
        for (uint32_t id = 0; id < clients; ++id)
            if (sees(client, id, tick) && teewire_builder_add(builder, CHARACTER, id, 22, &data) > 0)
                write_character(id, tick, data);
        teewire_builder_finish(builder, &now);
        if (teewire_sender_send(senders[client], tick, &now, scratch, NULL) < 0) continue;
        while ((size = teewire_sender_next(senders[client], &message)) > 0) deliver(client, message, size);
    }
    //! [loop]
}
//! [tick]

/* ---- the clients' side --------------------------------------------------------------------------------------------- */

static teewire_receiver* receivers[clients];
static teewire_scratch* client_scratch;
static int32_t sent[clients], bytes[clients], received[clients];

/* A server hands the message to its connection, not vital. Here it arrives at once, or not at all. */
static void deliver(int32_t client, uint8_t const* message, int32_t size) {
    bytes[client] += size;
    if (++sent[client] % 5 == 0) return; /* lost */
    received[client] += teewire_receiver_receive(receivers[client], message, (uint32_t)size, client_scratch, NULL,
                                                 NULL) == TEEWIRE_RECEIVED_SNAPSHOT;
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
    size = teewire_builder_size();
    if (teewire_builder_init(&builder, memory(size), size) < 0) return 1;
    size = teewire_scratch_size();
    if (teewire_scratch_init(&client_scratch, memory(size), size) < 0) return 1;
    for (int32_t client = 0; client < clients; ++client) {
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
