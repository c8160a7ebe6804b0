// A server's socket, and its clock.
#pragma once

#include "base/udp.hpp"
#include "serve/replay_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace teewire::replay {

class udp_server final : public packet_sink {
public:
    /// `bind`: an address. Throws usage_error and io_error.
    udp_server(boost::asio::io_context& io, std::string const& bind, std::uint16_t port);

    /// From now on it gets what comes, and its ticks. It must outlive the context's work.
    void start(replay_server& server);
    void send(endpoint const& to, std::span<std::uint8_t const> datagram) override;

    [[nodiscard]] endpoint address() const { return socket_.local_endpoint(); }
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    /// Not taken by the system.
    [[nodiscard]] std::uint64_t unsent() const noexcept { return unsent_; }

private:
    void wait_for_packets();
    void wait_for_tick();

    boost::asio::ip::udp::socket socket_;
    boost::asio::steady_timer timer_;
    replay_server* server_ = nullptr;
    std::array<std::uint8_t, max_packet_bytes + 1> datagram_; // one more shows what is too large
    endpoint from_;
    std::uint64_t sent_ = 0;
    std::uint64_t unsent_ = 0;
};

} // namespace teewire::replay
