// The game connections in a capture.
//
// Gaps of a capture are counted and stop nothing. See doc/format/packet.md#recognising-a-protocol.
#pragma once

#include "base/keyed_hash.hpp"
#include "recording/capture/followed_connection.hpp"

#include <array>
#include <list>
#include <unordered_map>
#include <vector>

namespace teewire::replay {

/// Finds and follows the connections.
class connection_watcher final : private connection_host {
public:
    explicit connection_watcher(capture_listener& listener) : connection_host{listener} {}

    void receive(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram);
    /// The capture is over: what is still open is counted.
    void finish();

    /// In the order of their first packets, those without any snapshot last.
    [[nodiscard]] std::vector<connection_stats const*> connections() const;
    /// Datagrams between addresses without a connection, and how many of them ask for or bring a server's info.
    [[nodiscard]] std::uint64_t foreign() const;
    [[nodiscard]] std::uint64_t foreign_connless() const;
    /// Connections that did not fit.
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
    /// How often state was dropped as too many connections were alive at the same time.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

    /// Limits of memory. A live connection takes up to 5 MiB.
    static constexpr std::size_t max_live = 512;
    static constexpr std::size_t max_pairs = 16384; ///< of addresses without a connection
    static constexpr std::size_t max_connections = 10000;
    static constexpr std::size_t max_refused =
        1000; ///< connections after which those that end before a game are not listed
    static constexpr std::int64_t idle_time = 30'000'000'000; ///< nanoseconds after which state is dropped

private:
    using address_pair = std::array<udp_address, 2>;
    struct pair_hash {
        std::size_t operator()(address_pair const& pair) const noexcept;
        keyed_hash hash; // a capture may hold any addresses
    };
    using connection_list = std::list<followed_connection>;

    static address_pair key_of(udp_address const& a, udp_address const& b);
    followed_connection& find(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram);
    connection_list::iterator add(address_pair const& key, std::uint64_t frame, std::int64_t time,
                                  udp_datagram const& datagram);
    bool promote(followed_connection& which, bool to_game) override;
    void make_room(followed_connection& which) override;
    void release(followed_connection& which);
    void drop_idle(std::int64_t now);

    std::unordered_map<address_pair, connection_list::iterator, pair_hash> by_pair_;
    connection_list pairs_; // without a connection, the ones seen last at the front
    connection_list connections_;
    std::vector<followed_connection*> live_; // connections with state
    std::int64_t next_sweep_ = 0;
    std::uint64_t datagrams_ = 0, connless_ = 0, left_out_ = 0, dropped_ = 0;
};

} // namespace teewire::replay
