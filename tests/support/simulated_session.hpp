// Clients that watch a demo over simulated links, and every datagram that was seen at one end: traffic for tests.
#pragma once

#include "lossy_link.hpp"

#include "base/input.hpp"
#include "recording/server/game_client.hpp"
#include "serve/playback.hpp"
#include "serve/replay_server.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace test {

struct simulated_client {
    teewire::wire_format format = teewire::wire_format::ddnet;
    link_quality quality;
    std::int64_t joins = 0; // milliseconds
    std::int64_t leaves = INT64_MAX;
};

enum class tap_place : std::uint8_t { server, client };
/// Called with each datagram that is sent from the place or arrives there.
using datagram_tap = std::function<void(std::int64_t now, teewire::replay::endpoint const& from,
                                        teewire::replay::endpoint const& to, std::span<std::uint8_t const>)>;

/// The snapshots that clients decoded.
struct simulated_outcome {
    std::size_t snapshots = 0;
    std::size_t wrong = 0;
    std::uint32_t checksum_sum = 0;
    std::size_t map_bytes = 0;
    std::int32_t first_tick = -1;
    std::map<teewire::message_type, std::size_t> messages; // of the game
    std::string close_text;                                // of the connection's end, if it has one
};

class simulated_session : teewire::replay::packet_sink {
public:
    simulated_session(std::filesystem::path const& demo, std::span<std::uint8_t const> map, tap_place place,
                      datagram_tap tap, bool loop = false)
        : file_{demo.string()}, demo_{file_}, shown_{demo_, loop, [](std::uint64_t) {}}, place_{place},
          tap_{std::move(tap)}, server_{with_map(shown_, map), {.name = "simulated"}, {}, *this, 0} {}

    std::vector<simulated_outcome> run(std::vector<simulated_client> const& clients, std::int64_t duration) {
        auto const scratch = std::make_unique<teewire::snapshot_scratch>();
        for (std::size_t i = 0; i < clients.size(); ++i)
            ends_.push_back(std::make_unique<end>(clients[i], static_cast<std::uint16_t>(40000 + i)));
        for (std::int64_t now = 0; now < duration; ++now) {
            now_ = now;
            if (meanwhile) meanwhile(now);
            if (now >= server_.next_tick()) server_.tick(now);
            for (auto const& e : ends_) {
                if (now >= e->setup.joins && now <= e->setup.leaves) move(*e, *scratch, now);
                for (auto const& bytes : e->to_server.arrived(now)) {
                    if (place_ == tap_place::server) tap_(now, e->address, server_address, bytes);
                    server_.receive(bytes, e->address, now);
                }
            }
        }
        std::vector<simulated_outcome> outcomes;
        for (auto const& e : ends_) {
            if (e->client && e->client->closed()) e->outcome.close_text = e->client->close_text();
            outcomes.push_back(e->outcome);
        }
        return outcomes;
    }
    teewire::replay::replay_server& server() { return server_; }

    /// Another peer's action in each millisecond.
    std::function<void(std::int64_t now)> meanwhile;

    inline static teewire::replay::endpoint const server_address{boost::asio::ip::make_address_v4("10.0.0.1"),
                                                                 8303};

private:
    static teewire::replay::playback& with_map(teewire::replay::playback& shown,
                                               std::span<std::uint8_t const> map) {
        shown.set_map("made_up", map);
        return shown;
    }
    struct end final : teewire::replay::client_listener {
        end(simulated_client const& s, std::uint16_t port)
            : setup{s}, address{boost::asio::ip::make_address_v4("10.0.0.2"), port},
              to_client{port * 2U, s.quality}, to_server{port * 2U + 1, s.quality} {}

        void map_changes(teewire::replay::served_map const&) override {}
        void map_arrives(std::size_t) override {}
        void map_complete(teewire::replay::served_map const&, std::vector<std::uint8_t>&& bytes) override {
            outcome.map_bytes = bytes.size();
        }
        void receives(teewire::snapshot_event const& event) override {
            using enum teewire::snapshot_event_kind;
            outcome.snapshots += event.kind == snapshot;
            if (event.kind == snapshot) outcome.checksum_sum += event.snapshot.checksum();
            if (event.kind == snapshot && outcome.first_tick < 0) outcome.first_tick = event.tick;
            outcome.wrong += event.kind == damaged || event.kind == malformed;
        }
        void receives(teewire::message const&, teewire::message_type type, std::span<std::uint8_t const>,
                      bool) override {
            ++outcome.messages[type];
        }

        simulated_client setup;
        teewire::replay::endpoint address;
        lossy_link to_client, to_server;
        std::unique_ptr<teewire::replay::game_client> client;
        simulated_outcome outcome;
    };

    void move(end& e, teewire::snapshot_scratch& scratch, std::int64_t now) {
        if (!e.client) {
            teewire::replay::client_profile profile;
            profile.name = "tee" + std::to_string(e.address.port());
            e.client = std::make_unique<teewire::replay::game_client>(
                e.setup.format, profile, std::array<std::uint8_t, 16>{7}, e, scratch, now);
        }
        if (now == e.setup.leaves) e.client->leave("enough");
        for (auto const& bytes : e.to_client.arrived(now)) {
            if (place_ == tap_place::client) tap_(now, server_address, e.address, bytes);
            e.client->receive(bytes, now);
        }
        for (;;) {
            auto const out = e.client->poll(now);
            if (out.empty()) return;
            if (place_ == tap_place::client) tap_(now, e.address, server_address, out);
            e.to_server.send(out, now);
        }
    }
    void send(teewire::replay::endpoint const& to, std::span<std::uint8_t const> datagram) override {
        if (place_ == tap_place::server) tap_(now_, server_address, to, datagram);
        for (auto const& e : ends_)
            if (e->address == to) e->to_client.send(datagram, now_);
    }

    teewire::replay::input file_;
    teewire::replay::demo_document demo_;
    teewire::replay::playback shown_;
    tap_place place_;
    datagram_tap tap_;
    std::int64_t now_ = 0;
    std::vector<std::unique_ptr<end>> ends_;
    teewire::replay::replay_server server_;
};

} // namespace test
