// One connection of a capture, followed packet by packet.
#pragma once

#include "recording/capture/connection_stats.hpp"

#include <memory>
#include <span>
#include <string>

namespace teewire::replay {

class followed_connection;

/// The parts that the connections of a capture share.
class connection_host {
public:
    explicit connection_host(capture_listener& l)
        : listener{l}, scratch{std::make_unique<snapshot_scratch>()}, payload{std::make_unique<payload_memory>()} {}
    connection_host(connection_host const&) = delete;
    connection_host& operator=(connection_host const&) = delete;
    /// It certainly is a connection, to a game or one that ended before it. False if there is no room for it.
    virtual bool promote(followed_connection& which, bool to_game) = 0;
    /// It is about to take the memory of a live connection.
    virtual void make_room(followed_connection& which) = 0;

    capture_listener& listener;
    std::unique_ptr<snapshot_scratch> const scratch;
    std::unique_ptr<payload_memory> const payload;

protected:
    ~connection_host() = default;
};

/// A pair of addresses, which may turn out to be a connection.
class followed_connection {
public:
    /// `first`: the datagram that is received first.
    followed_connection(connection_host& shared, udp_datagram const& first, std::uint64_t frame, std::int64_t time);
    ~followed_connection();

    [[nodiscard]] connection_stats const& stats() const noexcept { return stats_; }
    /// Whether a map or a snapshot was sent, or the server let the client in or refused it with a reason; and there was
    /// room.
    [[nodiscard]] bool is_connection() const noexcept { return is_connection_; }
    /// Whether a connection of another protocol begins between the same addresses.
    [[nodiscard]] bool ends_with(std::span<std::uint8_t const> datagram) const;

    void receive(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram, packet_guess guess);
    /// Nothing comes any more for now: what is open is counted, and the memory that decoding takes released.
    void release();

private:
    struct live_state;

    live_state& live();
    void promote(bool to_game);
    void connect();
    void start_anew();
    void read_packet(seen_packet const& seen);
    void read_control(seen_packet const& seen, control_message const& m);
    void read_chunks(seen_packet const& seen, packet const& p, std::span<std::uint8_t const> payload);
    void read_chunk(seen_packet const& seen, chunk const& c, bool whole);
    void read_snapshot(seen_packet const& seen, message const& m, seen_chunk& report, snapshot_event& event);
    void deliver(std::size_t end, std::uint64_t frame, std::span<std::uint8_t const> bytes);
    void read_message(std::size_t end, std::uint64_t frame, message const& m, message_type type,
                      std::span<std::uint8_t const> bytes, bool vital);
    void check_acknowledge(std::int32_t tick);
    void begin_stay(map_stay stay);
    void add_map_data(messages::map_data const& m);
    void count_items(snapshot_event const& event);
    void count_distance();
    void flush_counts();
    void malformed(seen_packet const& seen, std::string const& why);

    connection_host& shared_;
    connection_stats stats_;
    std::uint32_t votes_06_ = 0, votes_07_ = 0; // packets that only fit one
    bool is_connection_ = false;
    bool left_out_ = false;   // it did not fit
    bool accepted_ = false;   // the server answered a connect
    bool stay_over_ = false;  // the next snapshot belongs to another one
    bool reconnects_ = false; // a connect was seen amid a connection: it may have been an old one that came late
    std::unique_ptr<live_state> live_; // what decoding needs
};

} // namespace teewire::replay
