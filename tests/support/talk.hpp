// A client of a game server, and a server that a test controls: without sockets and in a time of their own.
#pragma once

#include "check.hpp"

#include "recording/server/game_client.hpp"

#include <teewire/handshake.hpp>
#include <teewire/sha256.hpp>

#include <functional>
#include <map>

#include <zlib.h>

namespace test {

using namespace teewire;
using namespace teewire::replay;

inline bytes some_map(std::size_t size) {
    bytes made(size);
    for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::uint8_t>(i * i >> 2);
    return made;
}

inline std::uint32_t crc_of(std::span<std::uint8_t const> bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

struct talk final : client_listener {
    static constexpr std::array<std::uint8_t, 6> address{127, 0, 0, 1, 0x20, 0x6f};

    /// Is shown every datagram.
    using tap_function = std::function<void(milliseconds, bool from_server, bytes const&)>;

    explicit talk(wire_format chosen, client_profile const& profile = {}, tap_function shown = {})
        : format{chosen}, tap{std::move(shown)} {
        client.emplace(format, profile, std::array<std::uint8_t, 16>{7}, *this, *scratch, now);
        for (int i = 0; i < 20 && asked[message_type::info] == 0; ++i) exchange();
        REQUIRE(asked[message_type::info] == 1);
    }
    void map_changes(served_map const& m) override { map = m; }
    void map_arrives(std::size_t bytes) override { arrived = bytes; }
    void map_complete(served_map const& m, std::vector<std::uint8_t>&& bytes) override {
        ++complete;
        map = m;
        map_bytes = std::move(bytes);
    }
    void receives(snapshot_event const&) override {}
    void receives(teewire::message const&, message_type type, std::span<std::uint8_t const>, bool) override {
        ++told[type];
    }

    [[nodiscard]] protocol item_protocol() const {
        return format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    }
    template <class T>
    void say(T const& value, bool vital = true) {
        std::array<std::uint8_t, max_payload_bytes> bytes;
        auto const message = encode(value, item_protocol(), bytes);
        REQUIRE(message);
        say_bytes(*message, vital);
    }
    void say_bytes(std::span<std::uint8_t const> message, bool vital) {
        REQUIRE(server->queue(message, vital, now, *out, [&](auto d) { give(d); }) == teewire::failure{});
        server->flush();
        for (int i = 0; i < 4; ++i) exchange();
    }
    /// The datagrams of both.
    void exchange() {
        now += 10;
        for (auto d = client->poll(now); !d.empty(); d = client->poll(now)) take(copy_of(d));
        if (!server) return;
        for (auto d = server->poll(now, *out); !d.empty(); d = server->poll(now, *out)) give(d);
    }
    void give(std::span<std::uint8_t const> datagram) {
        auto const sent = copy_of(datagram);
        if (tap) tap(now, true, sent);
        client->receive(sent, now);
    }
    void take(bytes const& datagram) {
        if (tap) tap(now, false, datagram);
        if (!server) {
            auto const d = gate.receive(datagram, address, now, *out);
            if (d.what == server_gate::verdict::accept)
                server = connection::server(d.format, d.tokens, *memory, now);
            if (!d.reply.empty()) give(d.reply);
            if (!server || !d.data) return;
        }
        if (server->receive(datagram, now, *payload).kind != received_kind::chunks) return;
        for (chunk c; server->next_chunk(c);)
            if (auto const m = parse_message(c.data)) ++asked[identify(*m, item_protocol())];
    }

    messages::map_change announced(std::span<std::uint8_t const> bytes, std::span<std::uint8_t const> digest = {}) {
        messages::map_change m;
        m.name = "dm1";
        m.crc = crc_of(bytes);
        m.size = static_cast<std::int32_t>(bytes.size());
        m.chunks_per_request = 2;
        m.chunk_size = 100;
        m.sha256 = digest;
        return m;
    }
    messages::map_details details(std::span<std::uint8_t const> bytes, std::span<std::uint8_t const> digest) {
        messages::map_details m;
        m.name = "dm1";
        m.crc = crc_of(bytes);
        m.size = static_cast<std::int32_t>(bytes.size());
        m.sha256 = digest;
        return m;
    }
    void piece(std::span<std::uint8_t const> data, std::int32_t number, std::uint32_t crc, bool last = false) {
        messages::map_data m;
        m.data = data;
        m.number = number;
        m.crc = crc;
        m.last = last;
        say(m);
    }

    wire_format format;
    tap_function tap;
    milliseconds now = 1000;
    std::unique_ptr<snapshot_scratch> scratch = std::make_unique<snapshot_scratch>();
    std::optional<game_client> client;
    server_gate gate{{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}, {false, true, true, true}};
    std::unique_ptr<connection_memory<>> memory = std::make_unique<connection_memory<>>();
    std::unique_ptr<packet_memory> out = std::make_unique<packet_memory>();
    std::unique_ptr<payload_memory> payload = std::make_unique<payload_memory>();
    std::optional<connection> server;

    std::map<message_type, int> asked; // of the server
    std::map<message_type, int> told;  // to the client
    served_map map;
    std::vector<std::uint8_t> map_bytes;
    std::size_t arrived = 0;
    int complete = 0;
};

} // namespace test
