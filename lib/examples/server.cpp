// A server's loop in C++, from the first datagram on: handshake, connection, inputs, snapshots. The network is memory,
// which loses every tenth datagram; the calls are those of a real server, which has a socket in the place of `wire`.
#include <teewire/connection.hpp>
#include <teewire/handshake.hpp>
#include <teewire/message_types.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/snapshot_receiver.hpp>
#include <teewire/snapshot_sender.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

using datagram = std::vector<std::uint8_t>;

/// One direction.
struct wire {
    void send(std::span<std::uint8_t const> bytes) {
        if (++count % 10 != 0) queue.emplace_back(bytes.begin(), bytes.end());
    }
    std::deque<datagram> queue;
    std::size_t count = 0;
};

//! [memory]
/// The memory that both sides need for each peer, and for each thread.
struct peer_memory {
    connection_memory<> repetitions;
    std::array<history::entry, 75> entries;
    std::array<std::int32_t, 65536> block;
};
struct thread_memory {
    packet_memory packet;
    payload_memory payload;
    snapshot_scratch scratch;
    std::array<std::uint8_t, 2048> message;
};
//! [memory]

//! [send]
void send_all(connection& from, milliseconds now, thread_memory& memory, wire& to) {
    for (auto d = from.poll(now, memory.packet); !d.empty(); d = from.poll(now, memory.packet)) to.send(d);
}
//! [send]

class server {
public:
    server(wire& to_client, thread_memory& memory) : to_client_{to_client}, memory_{memory} {}

    //! [receive]
    void receive(std::span<std::uint8_t const> d, milliseconds now) {
        if (!joined_) {
            // Nothing is kept of an address that has not proven itself.
            auto const decision = gate_.receive(d, address_, now, memory_.packet);
            if (!decision.reply.empty()) to_client_.send(decision.reply);
            if (decision.what != server_gate::verdict::accept) return;
            connection_ = connection::server(decision.format, decision.tokens, peer_->repetitions, now);
            joined_ = true;
            if (!decision.data) return;
        }
        if (connection_.receive(d, now, memory_.payload).kind != received_kind::chunks) return;
        for (chunk c; connection_.next_chunk(c);) {
            auto const m = parse_message(c.data);
            if (!m || identify(*m, protocol::ddnet) != message_type::input) continue;
            if (auto const in = decode<messages::input>(*m, protocol::ddnet)) sender_.acknowledge(in->ack);
        }
    }
    //! [receive]

    //! [tick]
    void tick(std::int32_t tick, milliseconds now) {
        if (!joined_) return;
        if (sender_.due(tick)) {
            //! [write]
            builder_.start(sender_.ahead());
            auto items = builder_.write();
            for (std::uint16_t id = 0; id < 8; ++id)
                if (std::int32_t* const data = items.add(9, id, 22)) { // all of it is to be written
                    std::fill_n(data, 22, 0);
                    data[0] = tick;
                    data[1] = 100 * id + tick;
                }
            if (!builder_.take(items)) std::puts("a key came twice"); // and was left out
            //! [write]
            if (auto const encoded = sender_.send(tick, builder_.finish(), memory_.scratch)) {
                auto parts = *encoded;
                for (std::span<std::uint8_t const> message; parts.next(message);)
                    connection_.queue(message, false, now, memory_.packet,
                                      [&](std::span<std::uint8_t const> d) { to_client_.send(d); });
            }
        }
        connection_.flush();
        send_all(connection_, now, memory_, to_client_);
    }
    //! [tick]

private:
    wire& to_client_;
    thread_memory& memory_;
    server_gate gate_{{1, 2, 3}}; // random bytes in a real one
    std::array<std::uint8_t, 6> address_{127, 0, 0, 1, 0x20, 0x6f};
    bool joined_ = false;
    std::unique_ptr<peer_memory> peer_ = std::make_unique<peer_memory>();
    std::unique_ptr<snapshot_builder_memory<>> items_ = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder_{*items_};
    connection connection_ = connection::server(wire_format::ddnet, {}, peer_->repetitions, 0);
    snapshot_sender sender_{peer_->entries, peer_->block, {}};
};

} // namespace

int main() {
    wire to_client, to_server;
    auto const memory = std::make_unique<thread_memory>();
    auto const peer = std::make_unique<peer_memory>();
    auto const parts = std::make_unique<std::array<snapshot_parts, 1>>();
    server host{to_client, *memory};
    connection client = connection::client(wire_format::ddnet, 4711, peer->repetitions, 0);
    snapshot_receiver receiver{*parts, peer->entries, peer->block, {}};
    int snapshots = 0;

    for (std::int32_t tick = 1; tick <= 500; ++tick) {
        milliseconds const now = tick * 20;
        for (; !to_server.queue.empty(); to_server.queue.pop_front()) host.receive(to_server.queue.front(), now);
        host.tick(tick, now);

        //! [client]
        for (; !to_client.queue.empty(); to_client.queue.pop_front()) {
            if (client.receive(to_client.queue.front(), now, memory->payload).kind != received_kind::chunks)
                continue;
            for (chunk c; client.next_chunk(c);)
                if (auto const m = parse_message(c.data))
                    snapshots += receiver.receive(*m, memory->scratch).kind == snapshot_event_kind::snapshot;
        }
        if (client.state() == connection_state::online) {
            messages::input in;
            in.ack = receiver.ack();
            in.tick = tick + 2;
            if (auto const message = encode(in, protocol::ddnet, memory->message))
                client.queue(*message, false, now);
            client.flush();
        }
        send_all(client, now, *memory, to_server);
        //! [client]
    }
    std::printf("%s, %d snapshots, the last one of tick %d with %zu items\n"
                "datagrams: %zu of the client, %zu of the server\n",
                client.state() == connection_state::online ? "online" : "not online", snapshots, receiver.ack(),
                receiver.past().find(receiver.ack())->size(), to_server.count, to_client.count);
}
