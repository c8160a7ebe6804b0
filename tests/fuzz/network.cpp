// libFuzzer target: everything that reads bytes of the network. The first byte chooses what; a second one the protocol.
// tests/meson.build says how to build it. Usage: fuzz-network [CORPUS]
#include "message_list.hpp"

#include <teewire/connection.hpp>
#include <teewire/handshake.hpp>
#include <teewire/server_info.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <cstdlib>
#include <memory>

using namespace teewire;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

struct memory {
    payload_memory payload;
    packet_memory out;
    connection_memory<> sent;
    snapshot_scratch scratch;
    std::array<snapshot_parts, 2> parts;
    std::array<history::entry, 20> entries;
    std::array<std::int32_t, 40000> block;
};
memory& m = *new memory; // for the life of the program

void read_message(std::span<std::uint8_t const> bytes, protocol version) {
    auto const message = parse_message(bytes);
    if (!message) return;
    message_type const type = identify(*message, version);
    static_cast<void>(decode_game_message(*message, version));
    test::with_type(type, [&]<class T>(T) {
        auto const value = decode<T>(*message, version);
        if (!value) return require(value.error().position <= message->fields.size());
        std::array<std::uint8_t, 4096> again;
        static_cast<void>(encode(*value, version, again));
    });
}

void read_datagram(std::span<std::uint8_t const> bytes, wire_format format) {
    static_cast<void>(guess_packet(bytes));
    if (auto const p = parse_connless(bytes)) {
        static_cast<void>(parse_server_info(*p));
        static_cast<void>(parse_server_info_request(*p));
    }
    auto const p = parse_packet(bytes, format, decoding::lenient);
    if (!p) return require(p.error().position <= bytes.size());
    static_cast<void>(parse_control(p->payload, format));
    auto const payload = decode_payload(*p, m.payload);
    if (!payload) return;
    chunk_reader chunks{*payload, p->chunks, format};
    for (chunk c; chunks.next(c);)
        read_message(c.data, format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet);
}

// Datagrams, each behind its size, to a connection that answers.
void talk(std::span<std::uint8_t const> bytes, wire_format format, bool client) {
    milliseconds now = 0;
    auto c = client ? connection::client(format, 0x20202020, m.sent, now)
                    : connection::server(format, {0x20202020, 0x20202020}, m.sent, now);
    server_gate const gate{{}, {true, true, true, true}};
    while (!bytes.empty()) {
        std::size_t const size = std::min<std::size_t>(bytes[0] * 6U, bytes.size() - 1);
        auto const datagram = bytes.subspan(1, size);
        bytes = bytes.subspan(1 + size);
        now += 1 + static_cast<milliseconds>(size * 7);
        require(gate.receive(datagram, {}, now, m.out).reply.size() <= datagram.size());
        if (c.receive(datagram, now, m.payload).kind == received_kind::chunks)
            for (chunk in; c.next_chunk(in);)
                static_cast<void>(
                    c.queue(in.data.first(std::min<std::size_t>(in.data.size(), 1000)), in.vital, now));
        int answers = 0;
        while (!c.poll(now, m.out).empty()) require(++answers < 100);
        require(c.state() == connection_state::closed || c.next_poll() > now);
    }
}

// Messages, each behind its size, to a receiver of snapshots.
void watch(std::span<std::uint8_t const> bytes, protocol version, snapshot_listening listening) {
    snapshot_receiver receiver{
        m.parts,
        m.entries,
        m.block,
        {version, version == protocol::teeworlds_07 ? &sizes_07 : &sizes_06, listening, decoding::strict, nullptr}};
    while (bytes.size() >= 2) {
        std::size_t const size = std::min<std::size_t>(bytes[0] | bytes[1] << 8, bytes.size() - 2);
        auto const message = parse_message(bytes.subspan(2, size));
        bytes = bytes.subspan(2 + size);
        if (!message) continue;
        auto const event = receiver.receive(*message, m.scratch);
        if (event.kind == snapshot_event_kind::snapshot && event.has_checksum)
            require(event.snapshot.checksum() == event.checksum);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size < 2) return 0;
    auto const format = static_cast<wire_format>(data[1] % 4);
    protocol const version = format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    std::span<std::uint8_t const> const bytes{data + 2, size - 2};
    switch (data[0] % 6) {
    case 0: read_datagram(bytes, format); break;
    case 1: read_message(bytes, version); break;
    case 2: talk(bytes, format, false); break;
    case 3: talk(bytes, format, true); break;
    case 4: watch(bytes, version, snapshot_listening::client); break;
    default: watch(bytes, version, snapshot_listening::observer); break;
    }
    return 0;
}
