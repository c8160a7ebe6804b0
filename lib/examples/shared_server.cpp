// A server's loop in C++ with one world for all clients, where each client's items are added as to a builder of its own: what
// the clients have in common is found, kept and encoded once. The network is memory, which loses every fifth message.
#include <teewire/shared_encoder.hpp>
#include <teewire/shared_world.hpp>
#include <teewire/snapshot_receiver.hpp>
#include <teewire/snapshot_sender.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

constexpr std::size_t clients = 4;

bool sees(std::size_t viewer, std::size_t id, std::int32_t tick) {
    return id == viewer || (1000 * id + static_cast<std::size_t>(tick) % 400 * (id + 1)) % 3000 <= 2000;
}

//! [memory]
constexpr shared_limits limits{.clients = clients, .contents = 64, .ints = 2000, .ticks = 75};
// As large as a tick mostly is; the history of each client, in one block.
std::size_t world_bytes() {
    return shared_world::fixed_bytes(limits) +
           76 * shared_world::tick_bytes(limits, 2 * clients, 2 * clients * 22, clients);
}
std::size_t encoder_bytes() { return shared_encoder::bytes_for(limits, 2 * clients, 2 * clients * 22, 8); }

struct server_memory {
    std::vector<std::byte> world = std::vector<std::byte>(world_bytes());
    std::vector<std::byte> encoder = std::vector<std::byte>(encoder_bytes()); // one per thread
};
//! [memory]

class server {
public:
    explicit server(server_memory& memory) : world_{limits, memory.world}, encoder_{world_, memory.encoder} {}

    void acknowledge(std::size_t client, std::int32_t tick) {
        pacing_[client].acknowledge(tick, world_.newest().value_or(-1));
    }

    //! [tick]
    template <class Send>
    void tick(std::int32_t tick, Send&& send) {
        if (!world_.start(tick)) return;
        for (std::size_t client = 0; client < clients; ++client) {
            if (!pacing_[client].due(tick)) continue;
            world_.start_view(client);
            for (std::size_t id = 0; id < clients; ++id)
                if (sees(client, id, tick))
                    if (auto const data = world_.add_to_view(9, static_cast<std::uint16_t>(id), 22)) {
                        (*data)[0] = tick;
                        (*data)[1] = static_cast<std::int32_t>(100 * id) + tick;
                        (*data)[2] = client == id ? 10 : 0; // others do not see the health
                    }
            if (!world_.finish_view()) std::puts("a character was there twice");
        }
        if (!world_.finish()) return;
        for (std::size_t client = 0; client < clients; ++client) {
            snapshot_pacing& pacing = pacing_[client];
            if (!pacing.due(tick)) continue;
            auto messages = encode_snapshot(encoder_, client, pacing.acked(), {});
            if (!messages) continue;
            if (messages->base_tick() < 0 && pacing.acked() >= 0) pacing.lose_base();
            auto parts = *messages;
            for (std::span<std::uint8_t const> message; parts.next(message);) send(client, message);
        }
        // Ticks before the oldest acknowledged one are of no use any more.
        std::int32_t oldest = tick;
        for (snapshot_pacing const& pacing : pacing_)
            if (pacing.acked() >= 0) oldest = std::min(oldest, pacing.acked());
        world_.drop_before(std::max(oldest, tick - snapshot_pacing::keep_ticks));
    }
    //! [tick]

private:
    shared_world world_;
    shared_encoder encoder_;
    std::array<snapshot_pacing, clients> pacing_;
};

struct client_memory {
    std::array<snapshot_parts, 1> parts;
    std::array<history::entry, 75> entries;
    std::array<std::int32_t, 65536> block;
    snapshot_receiver receiver{parts, entries, block, {}};
    int sent = 0;
    int received = 0;
    std::size_t bytes = 0;
};

} // namespace

int main() {
    server_memory memory;
    auto const scratch = std::make_unique<snapshot_scratch>();
    server host{memory};
    std::vector<std::unique_ptr<client_memory>> all;
    for (std::size_t i = 0; i < clients; ++i) all.push_back(std::make_unique<client_memory>());

    for (std::int32_t tick = 1; tick <= 500; ++tick) {
        host.tick(tick, [&](std::size_t number, std::span<std::uint8_t const> message) {
            client_memory& c = *all[number];
            c.bytes += message.size();
            if (++c.sent % 5 == 0) return; // lost
            if (auto const m = parse_message(message))
                c.received += c.receiver.receive(*m, *scratch).kind == snapshot_event_kind::snapshot;
        });
        for (std::size_t i = 0; i < clients; ++i) host.acknowledge(i, all[i]->receiver.ack());
    }
    for (std::size_t i = 0; i < clients; ++i)
        std::printf("client %zu: %d snapshots in %zu bytes, the last one of tick %d\n", i, all[i]->received,
                    all[i]->bytes, all[i]->receiver.ack());
}
