// The game connections in a capture: who talks to whom, in which protocol, and the snapshots that come of it.
//
// What a capture lacks is counted and does not stop anything. See doc/format/packet.md#recognising-a-protocol.
#pragma once

#include "base/keyed_hash.hpp"
#include "game/served_map.hpp"
#include "game/spacing.hpp"
#include "recording/capture/frame.hpp"
#include "recording/capture/vital_stream.hpp"

#include <teewire/message_types.hpp>
#include <teewire/packet.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace teewire::replay {

/// Who sent something.
enum class sender : std::uint8_t { client, server };
[[nodiscard]] constexpr sender other(sender s) noexcept {
    return s == sender::client ? sender::server : sender::client;
}

/// The time from one map change or connect to the next. Ticks increase in it.
struct map_stay {
    served_map map;
    bool announced = false;  ///< the capture has the message that names the map
    bool downloaded = false; ///< wholly, and with the right CRC-32
    std::uint64_t first_frame = 0;
    std::uint64_t snapshots = 0;
    std::size_t max_items = 0;
    std::int32_t first_tick = -1;
    std::int32_t last_tick = -1;
};

/// Sum over one kind of message or item.
struct usage {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0; ///< uncompressed; messages: with the heads of their chunks
};

/// By name.
using usage_table = std::map<std::string, usage, std::less<>>;

/// What came from one side.
struct direction {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;         ///< of UDP
    std::uint64_t payload_bytes = 0; ///< of packets, decompressed
    std::uint64_t connless = 0;      ///< packets beside the connection
    std::uint64_t resend_requests = 0;
    std::uint64_t vital = 0;          ///< chunks
    std::uint64_t repeated_vital = 0; ///< of these, received before
    vital_stream stream;
    usage_table messages;
};

/// The first of its kind, in words, with the number of all.
struct first_error {
    std::uint64_t count = 0;
    std::string first; ///< "frame 12, byte 3: ..."
};

/// What was found of one pair of addresses.
struct connection_stats {
    std::array<udp_address, 2> ends; ///< in the order of the first packet
    std::optional<std::size_t> server_end;
    std::uint64_t first_frame = 0;
    std::int64_t first_time = 0; ///< nanoseconds since 1970
    std::int64_t last_time = 0;
    std::array<direction, 2> from; ///< by end

    std::uint32_t votes_06 = 0, votes_07 = 0; // packets that only fit one
    bool is_connection = false;               ///< a map or a snapshot was sent: no doubt is left
    bool v07 = false;
    bool ddnet = false; ///< the server speaks DDNet's extensions
    std::optional<wire_format> format;

    std::string player;         ///< the client's first name
    std::string client_version; ///< what the client says that it is
    std::string close_reason;
    std::optional<sender> closed_by;
    first_error malformed; ///< packets and messages
    first_error damaged;   ///< snapshots that were wrong

    // Snapshots.
    std::uint64_t snapshots = 0, checksum_ok = 0, checksum_bad = 0, empty = 0, missing_base = 0, undecodable = 0;
    std::uint64_t repeated = 0, late = 0, incomplete = 0;
    std::uint64_t not_captured = 0; ///< acknowledged by the client, but not in the capture
    std::uint32_t checksum_sum = 0;
    std::size_t max_items = 0;
    std::uint64_t snapshot_bytes = 0; ///< of deltas
    usage_table items;
    std::uint64_t removed_items = 0, removed_bytes = 0;
    std::vector<map_stay> stays;

    [[nodiscard]] protocol version() const noexcept { return v07 ? protocol::teeworlds_07 : protocol::ddnet; }
    [[nodiscard]] udp_address const& client() const noexcept { return ends[1 - server_end.value_or(1)]; }
    [[nodiscard]] udp_address const& server() const noexcept { return ends[server_end.value_or(1)]; }
    [[nodiscard]] direction const& sent_by(sender s) const noexcept {
        std::size_t const server = server_end.value_or(1);
        return from[s == sender::server ? server : 1 - server];
    }
    [[nodiscard]] std::optional<sender> sender_at(std::size_t end) const noexcept {
        if (!server_end) return {};
        return end == *server_end ? sender::server : sender::client;
    }
    /// Whether the server sent snapshots, right or wrong.
    /// Whether every snapshot that was received could be had.
    [[nodiscard]] bool intact() const noexcept { return checksum_bad == 0 && undecodable == 0; }
    [[nodiscard]] bool has_snapshots() const noexcept {
        return snapshots + missing_base + checksum_bad + undecodable + incomplete != 0;
    }

    bool left_out = false;
    bool stay_over = false;    ///< the next snapshot belongs to another one
    bool reconnects = false;   ///< a connect was seen amid a connection: it may have been an old one that came late
    distance_counts distances; // between snapshots
    struct live_state;
    std::unique_ptr<live_state> live; // what decoding needs; released when nothing comes any more

    connection_stats();
    ~connection_stats();
};

/// A packet, for listeners. Borrowed.
struct seen_packet {
    std::uint64_t frame = 0;
    std::int64_t time = 0; ///< nanoseconds since 1970
    connection_stats const& of;
    std::size_t end = 0; ///< whose it is
    std::span<std::uint8_t const> datagram;
};

/// A chunk, for listeners. Borrowed.
struct seen_chunk {
    chunk const& data;
    message const* what = nullptr; ///< null: it could not be read
    message_type type = message_type::unknown;
    std::optional<vital_place> place; ///< of vital chunks
    snapshot_event const* snapshot = nullptr;
    snapshot_view base; ///< of the snapshot
    bool base_known = false;
};

/// Gets what is found. Everything borrowed holds during the call.
class capture_listener {
public:
    virtual ~capture_listener() = default;
    /// A packet of a connection was read, or could not be.
    virtual void packet(seen_packet const&, packet const&, std::span<std::uint8_t const> /*payload*/) {}
    virtual void control(seen_packet const&, control_message const&) {}
    virtual void chunk_arrives(seen_packet const&, seen_chunk const&) {}
    /// It is no connection's, or damaged: why.
    virtual void no_packet(seen_packet const&, std::string_view /*why*/) {}

    /// Ticks begin anew.
    virtual void stay_begins(connection_stats const&, map_stay const&) {}
    virtual void snapshot(connection_stats const&, snapshot_event const&) {}
    /// A message that the server sends to the game, vital ones in order.
    virtual void game_message(connection_stats const&, message const&, message_type, std::span<std::uint8_t const>,
                              bool /*vital*/) {}
    /// A map was downloaded.
    virtual void map_complete(connection_stats const&, map_stay const&, std::vector<std::uint8_t>&&) {}
};

/// Finds and follows the connections.
class connection_watcher {
public:
    explicit connection_watcher(capture_listener& listener);
    ~connection_watcher();

    void receive(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram);
    /// The capture is over: what is still open is counted.
    void finish();

    /// In the order of their first packets, those without any snapshot last.
    [[nodiscard]] std::vector<connection_stats const*> connections() const;
    /// Datagrams between addresses without a connection, and how many of them ask for or bring a server's info.
    [[nodiscard]] std::uint64_t foreign() const;
    [[nodiscard]] std::uint64_t foreign_connless() const;
    /// Connections that there was no room for.
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
    /// How often state was dropped as too many connections were alive at the same time.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

    /// Limits of memory. A live connection takes up to 5 MiB.
    static constexpr std::size_t max_live = 512;
    static constexpr std::size_t max_pairs = 16384; ///< of addresses without a connection
    static constexpr std::size_t max_connections = 10000;
    static constexpr std::int64_t idle_time = 30'000'000'000; ///< nanoseconds after which state is dropped

private:
    using address_pair = std::array<udp_address, 2>;
    struct pair_hash {
        std::size_t operator()(address_pair const& pair) const noexcept;
        keyed_hash hash; // a capture may hold any addresses
    };
    using stats_list = std::list<connection_stats>;

    static address_pair key_of(udp_address const& a, udp_address const& b);
    connection_stats& find(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram);
    stats_list::iterator add(address_pair const& key, std::uint64_t frame, std::int64_t time,
                             udp_datagram const& datagram);
    void promote(connection_stats& stats);
    connection_stats::live_state& live(connection_stats& stats);
    void release(connection_stats& stats);
    void drop_idle(std::int64_t now);

    void read_packet(seen_packet const& seen, connection_stats& stats);
    void read_control(seen_packet const& seen, connection_stats& stats, control_message const& m);
    void read_chunks(seen_packet const& seen, connection_stats& stats, packet const& p,
                     std::span<std::uint8_t const> payload);
    void read_chunk(seen_packet const& seen, connection_stats& stats, chunk const& c, bool whole);
    void read_snapshot(seen_packet const& seen, connection_stats& stats, message const& m, seen_chunk& report,
                       snapshot_event& event);
    void deliver(connection_stats& stats, std::size_t end, std::uint64_t frame,
                 std::span<std::uint8_t const> bytes);
    void read_message(connection_stats& stats, std::size_t end, std::uint64_t frame, message const& m,
                      message_type type, std::span<std::uint8_t const> bytes, bool vital);
    void connect(connection_stats& stats);
    void start_anew(connection_stats& stats);
    static void check_acknowledge(connection_stats& stats, std::int32_t tick);
    void begin_stay(connection_stats& stats, map_stay stay);
    void add_map_data(connection_stats& stats, messages::map_data const& m);
    static void count_items(connection_stats& stats, snapshot_event const& event);
    void malformed(seen_packet const& seen, connection_stats& stats, std::string const& why);

    capture_listener& listener_;
    std::unordered_map<address_pair, stats_list::iterator, pair_hash> by_pair_;
    stats_list pairs_; // without a connection, the ones seen last at the front
    stats_list connections_;
    std::vector<connection_stats*> live_; // connections with state
    std::unique_ptr<snapshot_scratch> scratch_;
    std::unique_ptr<payload_memory> payload_;
    std::int64_t next_sweep_ = 0;
    std::uint64_t datagrams_ = 0, connless_ = 0, left_out_ = 0, dropped_ = 0;
};

} // namespace teewire::replay
