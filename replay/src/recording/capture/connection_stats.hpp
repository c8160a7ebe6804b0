// Facts about a game connection in a capture: its ends, its protocol, and its messages.
#pragma once

#include "game/served_map.hpp"
#include "game/spacing.hpp"
#include "recording/capture/frame.hpp"
#include "recording/capture/vital_stream.hpp"

#include <teewire/message_types.hpp>
#include <teewire/packet.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// The sender of a packet.
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

/// Facts about the packets from one side.
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

/// Facts about the packets between two addresses.
struct connection_stats {
    std::array<udp_address, 2> ends; ///< in the order of the first packet
    std::optional<std::size_t> server_end;
    std::uint64_t first_frame = 0;
    std::int64_t first_time = 0; ///< nanoseconds since 1970
    std::int64_t last_time = 0;
    std::array<direction, 2> from; ///< by end

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
    distance_counts distances; ///< between snapshots

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
    /// Whether every snapshot that was received could be had.
    [[nodiscard]] bool intact() const noexcept { return checksum_bad == 0 && undecodable == 0; }
    /// Whether the server sent snapshots, right or wrong.
    [[nodiscard]] bool has_snapshots() const noexcept {
        return snapshots + missing_base + checksum_bad + undecodable + incomplete != 0;
    }
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

/// Receives what is found in a capture. Borrowed data is valid during the call.
class capture_listener {
public:
    virtual ~capture_listener() = default;
    /// A packet of a connection was read, or could not be.
    virtual void packet(seen_packet const&, packet const&, std::span<std::uint8_t const> /*payload*/) {}
    virtual void control(seen_packet const&, control_message const&) {}
    virtual void chunk_arrives(seen_packet const&, seen_chunk const&) {}
    /// The packet belongs to no connection or is damaged, and why.
    virtual void no_packet(seen_packet const&, std::string_view /*why*/) {}

    /// Ticks restart.
    virtual void stay_begins(connection_stats const&, map_stay const&) {}
    virtual void snapshot(connection_stats const&, snapshot_event const&) {}
    /// A message that the server sends to the game, vital ones in order.
    virtual void game_message(connection_stats const&, message const&, message_type, std::span<std::uint8_t const>,
                              bool /*vital*/) {}
    /// A map was downloaded.
    virtual void map_complete(connection_stats const&, map_stay const&, std::vector<std::uint8_t>&&) {}
};

} // namespace teewire::replay
