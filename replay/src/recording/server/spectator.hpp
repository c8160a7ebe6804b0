// Joins a server as a spectator, and stays: finds out the protocol, tries again, and looks where players are.
#pragma once

#include "base/service_loop.hpp"
#include "game/roster.hpp"
#include "game/ticks.hpp"
#include "recording/server/udp_client.hpp"

#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

struct spectator_options {
    std::string protocol = "auto"; ///< "0.6", "0.7", or "auto": 0.6 if the server speaks it
    std::string name = "teewire";
    std::string password;
    bool retry = false;                 ///< connect again when the server is gone
    bool download_map = true;           ///< otherwise it says that it has it
    std::optional<double> duration;     ///< seconds from the first snapshot, or to look for a server that answers
    std::optional<double> join_timeout; ///< seconds from connecting to the first snapshot
};

/// Receives what the server sends, and what happens to the connection.
class spectator_owner : public server_listener {
public:
    /// A line for people, without the server's name.
    virtual void says(std::string const& line) = 0;
    /// Why it is over.
    virtual void fails(std::string const& why) = 0;
    /// The connection is gone, or is given up; there may be another.
    virtual void disconnects() = 0;
    /// After everything that happens. May stop() or leave().
    virtual void proceeds() = 0;
    /// It is over.
    virtual void ends() = 0;

protected:
    ~spectator_owner() = default;
};

class spectator final : private client_listener {
public:
    /// Borrowed arguments must outlive it.
    spectator(service_loop& loop, spectator_options const& options, host_port server, spectator_owner& owner,
              snapshot_scratch& scratch);

    void start();
    /// Says good-bye.
    void stop();
    /// Leaves this connection: there is another if it shall try again. Not out of a listener.
    void leave(std::string const& why);

    [[nodiscard]] bool over() const noexcept { return over_; }
    /// It ended otherwise than by stop() or the time being over.
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    /// "connecting with 0.6"
    [[nodiscard]] std::string const& doing() const noexcept { return doing_; }
    [[nodiscard]] game_client& client() const { return *link_.client(); }
    [[nodiscard]] boost::asio::ip::udp::endpoint const& peer() const noexcept { return peer_; }

private:
    // ---- client_listener

    void map_changes(served_map const& map) override;
    void map_arrives(std::size_t bytes) override;
    void map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) override;
    void receives(snapshot_event const& event) override;
    void receives(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital) override;

    [[nodiscard]] std::size_t protocols() const { return options_.protocol == "auto" ? 2 : 1; }
    void look_up();
    void connect();
    void connect_soon(milliseconds wait);
    void proceed();
    void disconnected();
    void lose(std::string const& why);
    [[nodiscard]] milliseconds end_of_duration() const;
    [[nodiscard]] milliseconds end_of_joining() const;
    void keep_limits();
    void reach_limit();
    void look_for_players(snapshot_event const& event);
    [[nodiscard]] bool plays(item const& player_info) const;

    service_loop& loop_;
    spectator_options const& options_;
    host_port server_;
    spectator_owner& owner_;
    snapshot_scratch& scratch_;

    boost::asio::steady_timer timer_; // until the next attempt
    boost::asio::steady_timer limit_;
    service_loop::endpoints peers_; // a name may have several addresses
    boost::asio::ip::udp::endpoint peer_;
    udp_client link_;

    std::size_t attempt_ = 0; // through all addresses and protocols
    milliseconds back_off_;
    roster players_;         // 0.7
    tick_interval look_{50}; // a second
    std::int32_t looked_at_ = -1;
    milliseconds started_ = 0;
    std::optional<milliseconds> joining_since_;
    std::optional<milliseconds> first_snapshot_;
    bool left_ = false; // out of proceeds()
    bool over_ = false;
    bool failed_ = false;
    std::string doing_ = "looking up";
};

} // namespace teewire::replay
