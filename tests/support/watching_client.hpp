// A client that watches over a bad way, and keeps what it gets.
#pragma once

#include "lossy_link.hpp"

#include "recording/server/game_client.hpp"
#include "serve/replay_server.hpp"

#include <map>
#include <optional>

namespace test {

using namespace teewire;
using namespace teewire::replay;

// A snapshot: data by key.
using state = std::map<std::int32_t, std::vector<std::int32_t>>;

inline state items(snapshot_view snapshot) {
    state out;
    for (item const i : snapshot) out[i.key].assign(i.data.begin(), i.data.end());
    return out;
}

inline endpoint address(std::uint32_t ip, std::uint16_t port) { return {boost::asio::ip::address_v4{ip}, port}; }
inline constexpr std::uint32_t here = 0x7f000001;

struct watching_client final : client_listener {
    watching_client(wire_format format, endpoint where, snapshot_scratch& scratch, link_quality quality,
                    std::uint64_t seed, milliseconds now, std::string const& password = {})
        : at{where}, to_server{seed, quality}, to_client{seed + 1, quality} {
        client_profile profile;
        profile.no_answer = 60'000;
        profile.password = password;
        client.emplace(format, profile, std::array<std::uint8_t, 16>{1, 2, static_cast<std::uint8_t>(seed)}, *this,
                       scratch, now);
    }
    void map_changes(served_map const& m) override {
        map = m;
        ++maps;
    }
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const&, std::vector<std::uint8_t>&& bytes) override {
        map_bytes = std::move(bytes);
    }
    void receives(snapshot_event const& e) override {
        damaged += e.kind == snapshot_event_kind::damaged || e.kind == snapshot_event_kind::malformed;
        if (e.kind == snapshot_event_kind::snapshot) snapshots[e.tick] = items(e.snapshot);
    }
    void receives(message const& m, message_type type, std::span<std::uint8_t const>, bool) override {
        ++messages[type];
        if (client->version() == protocol::teeworlds_07) players.receive(m);
    }

    endpoint at;
    lossy_link to_server, to_client;
    std::optional<game_client> client;
    served_map map;
    int maps = 0; // that it should load
    std::vector<std::uint8_t> map_bytes;
    std::map<std::int32_t, state> snapshots;
    std::map<message_type, int> messages;
    roster players; // 0.7
    int damaged = 0;
};

} // namespace test
