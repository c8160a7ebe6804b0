// A client of a game server, without socket and clock: joins, downloads the map, receives and acknowledges snapshots.
//
// Datagrams are handed in and fetched; what arrives goes to a listener. See
// doc/format/session.md#joining.
#pragma once

#include "game/served_map.hpp"

#include <teewire/connection.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

struct client_profile {
    std::string name = "teewire";
    std::string password;
    bool spectate = true;
    std::int32_t show_distance = 1'000'000; ///< how far a spectator sees on DDNet, in px to each side
    bool download_map = true;               ///< otherwise it says that it has it
    /// For snapshots: the default holds 3 seconds of 28 KiB each.
    std::size_t history_ints = std::size_t{1} << 20;
    milliseconds no_answer = 10'000; ///< to the handshake
};

/// Receives what a server sends. Borrowed data is valid during the call.
class server_listener {
public:
    /// The game begins, or begins again with another map: ticks restart.
    virtual void map_changes(served_map const& map) = 0;
    /// `bytes` match size and sums; empty when it was not to be downloaded.
    virtual void map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) = 0;
    virtual void receives(snapshot_event const& event) = 0;
    virtual void receives(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital) = 0;

protected:
    ~server_listener() = default;
};

/// The same, and how far the download of the map is.
class client_listener : public server_listener {
public:
    virtual void map_arrives(std::size_t bytes) = 0;

protected:
    ~client_listener() = default;
};

class game_client {
public:
    /// `random`: for the token and DDNet's id of the connection. The scratch serves any number of clients of a thread.
    game_client(wire_format format, client_profile const& profile, std::array<std::uint8_t, 16> const& random,
                client_listener& listener, snapshot_scratch& scratch, milliseconds now);
    game_client(game_client const&) = delete;
    game_client& operator=(game_client const&) = delete;

    void receive(std::span<std::uint8_t const> datagram, milliseconds now);
    /// The next datagram to send, until it is empty: after receive(), and when next_poll() has come.
    [[nodiscard]] std::span<std::uint8_t const> poll(milliseconds now);
    [[nodiscard]] milliseconds next_poll() const noexcept;
    /// Says good-bye with the next poll().
    void leave(std::string_view reason) noexcept { connection_.close(reason); }

    [[nodiscard]] bool closed() const noexcept { return connection_.state() == connection_state::closed; }
    /// Why it is closed, to be printed.
    [[nodiscard]] std::string close_text() const;
    /// The server has answered.
    [[nodiscard]] bool answered() const noexcept { return answered_; }
    [[nodiscard]] bool playing() const noexcept { return step_ == step::playing; }
    [[nodiscard]] class connection const& connection() const noexcept { return connection_; }
    [[nodiscard]] protocol version() const noexcept;

    /// The ten ints that are sent 25 times a second.
    [[nodiscard]] std::span<std::int32_t, 10> input() noexcept { return input_; }
    /// Sends a message when there is room for it. A server that asks for answers and takes none gets no more of them.
    template <class T>
    void send(T const& value) {
        if (outbox_.size() >= max_outbox) return;
        std::array<std::uint8_t, max_payload_bytes> memory;
        auto const bytes = encode(value, version(), memory);
        if (bytes) outbox_.emplace_back(bytes->begin(), bytes->end());
    }

private:
    enum class step : std::uint8_t { joining, loading, waiting, playing };
    static constexpr std::size_t max_outbox = 1000; // messages

    void go_online();
    void receive(chunk const& c, milliseconds now);
    void receive_system(message const& m, message_type type);
    void begin_map(messages::map_change const& m);
    void add_map_data(messages::map_data const& m);
    void end_map();
    void enter();
    void give_up(std::string reason);
    void queue_input(milliseconds now);

    client_profile profile_;
    client_listener& listener_;
    snapshot_scratch& scratch_;
    std::array<std::uint8_t, 16> random_;
    std::unique_ptr<connection_memory<>> memory_;
    class connection connection_;
    std::unique_ptr<packet_memory> out_;
    std::unique_ptr<payload_memory> payload_;
    std::unique_ptr<snapshot_parts> parts_;
    std::vector<history::entry> entries_;
    std::vector<std::int32_t> block_;
    std::optional<snapshot_receiver> receiver_;
    std::deque<std::vector<std::uint8_t>> outbox_; // vital messages that the connection has no room for yet

    bool answered_ = false;
    step step_ = step::joining;
    std::string error_;

    std::optional<served_map> details_; // DDNet announces them before the map itself
    served_map map_;
    std::int32_t chunks_per_request_ = 1; // 0.7
    std::int32_t map_chunks_ = 0;
    std::vector<std::uint8_t> map_bytes_;

    std::array<std::int32_t, 10> input_{};
    milliseconds next_input_ = 0;
    std::int32_t newest_tick_ = 0;
};

} // namespace teewire::replay
