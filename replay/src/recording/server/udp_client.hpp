// A game client on a socket of its own.
#pragma once

#include "base/udp.hpp"
#include "recording/server/game_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>

namespace teewire::replay {

/// Has to live until nothing runs in `io` any more, closed or not.
class udp_client {
public:
    /// `proceeds` is called after everything that happens, and may close().
    udp_client(boost::asio::io_context& io, std::function<void()> proceeds)
        : socket_{io}, timer_{io}, proceeds_{std::move(proceeds)} {}

    /// Begins to connect; what was there before is gone. Not out of a listener.
    void open(boost::asio::ip::udp::endpoint const& peer, wire_format format, client_profile const& profile,
              client_listener& listener, snapshot_scratch& scratch, boost::system::error_code& failed);
    /// Says good-bye and stops. The client can still be asked.
    void close(std::string_view reason = {});

    /// Null before open().
    [[nodiscard]] game_client* client() const noexcept { return client_.get(); }

private:
    void wait_for_packets();
    void receive_all();
    void send_all();
    void proceed();

    boost::asio::ip::udp::socket socket_;
    boost::asio::steady_timer timer_;
    std::function<void()> proceeds_;
    std::unique_ptr<game_client> client_;
    std::array<std::uint8_t, max_packet_bytes + 1> datagram_; // one more shows what is too large
};

} // namespace teewire::replay
