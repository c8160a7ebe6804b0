/* A server's loop in C with one world for all clients: each client's items are added as to a builder of its own, and what the
 * clients have in common is found, kept and encoded once. The game is made up and the network is memory, which loses every fifth datagram. */
#include <teewire_world.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { clients = 4, ticks = 500, keep_ticks = 150 };
enum { CHARACTER = 9 }; /* an item type, of 22 ints */

/* ---- the server's side --------------------------------------------------------------------------------------------- */

static teewire_world* world;
static teewire_encoder* encoder;      /* one per thread */
static int32_t acknowledged[clients]; /* ticks; -1: none */

static int sees(int32_t viewer, int32_t id, int32_t tick) {
    return id == viewer || (1000 * id + tick % 400 * (id + 1)) % 3000 <= 2000;
}

static void write_character(int32_t id, int32_t tick, int32_t* data) {
    data[0] = tick;
    data[1] = 1000 * id + tick % 400 * (id + 1);
    data[2] = 320;
}

static void deliver(int32_t client, uint8_t const* message, int32_t size);

//! [memory]
static void* memory(uint32_t size) {
    void* const block = malloc(size);
    if (block == NULL) exit(1);
    return block;
}

static int make_world(void) {
    teewire_world_limits limits = {sizeof(teewire_world_limits), clients, 64, 2000, 75};
    uint32_t size = teewire_world_size(&limits, clients, clients * 22, clients); /* as large as it mostly is */
    if (teewire_world_init(&world, memory(size), size, &limits) < 0) return 0;
    size = teewire_encoder_size(&limits, clients, clients * 22, 8);
    return teewire_encoder_init(&encoder, memory(size), size, world) >= 0;
}
//! [memory]

//! [tick]
static void do_tick(int32_t tick) {
    int32_t size, oldest = tick;
    uint8_t const* message;
    teewire_world_start(world, tick);
    for (int32_t client = 0; client < clients; ++client) {
        teewire_world_start_view(world, (uint32_t)client);
        for (int32_t id = 0; id < clients; ++id)
            if (sees(client, id, tick)) {
                int32_t data[22] = {0};
                write_character(id, tick, data);
                teewire_world_put_to_view(world, CHARACTER, (uint32_t)id, data, 22);
            }
        teewire_world_finish_view(world, NULL);
    }
    if (teewire_world_finish(world, NULL) < 0) return;
    for (int32_t client = 0; client < clients; ++client) {
        if (teewire_encoder_send(encoder, (uint32_t)client, acknowledged[client], NULL, NULL) < 0) continue;
        while ((size = teewire_encoder_next(encoder, &message)) > 0) deliver(client, message, size);
    }
    for (int32_t client = 0; client < clients; ++client) /* older ticks are of no use any more */
        if (acknowledged[client] >= 0 && acknowledged[client] < oldest) oldest = acknowledged[client];
    teewire_world_drop_before(world, oldest > tick - keep_ticks ? oldest : tick - keep_ticks);
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
    acknowledged[client] = teewire_receiver_ack(receivers[client]);
}

int main(void) {
    uint32_t size = teewire_scratch_size();
    if (teewire_abi_version() >> 16 != TEEWIRE_ABI_MAJOR) return 1;
    if (teewire_scratch_init(&client_scratch, memory(size), size) < 0 || !make_world()) return 1;
    for (int32_t client = 0; client < clients; ++client) {
        acknowledged[client] = -1;
        size = teewire_receiver_size(1, 150, 256 * 1024);
        if (teewire_receiver_init(&receivers[client], memory(size), size, NULL) < 0) return 1;
    }
    for (int32_t tick = 2; tick <= ticks; tick += 2) do_tick(tick);
    for (int32_t client = 0; client < clients; ++client)
        printf("client %" PRId32 ": %" PRId32 " snapshots in %" PRId32 " bytes, the last one of tick %" PRId32 "\n",
               client, received[client], bytes[client], teewire_receiver_ack(receivers[client]));
    return 0;
}
