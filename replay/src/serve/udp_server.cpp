#include "serve/udp_server.hpp"

#include "base/errors.hpp"

#include <fmt/format.h>

namespace teewire::replay {

namespace asio = boost::asio;
using asio::ip::udp;

udp_server::udp_server(asio::io_context& io, std::string const& bind, std::uint16_t port)
    : socket_{io}, timer_{io} {
    boost::system::error_code failed;
    endpoint const at{parse_address(bind), port};
    socket_.open(at.protocol(), failed);
    if (!failed) socket_.bind(at, failed);
    if (!failed) socket_.non_blocking(true, failed);
    if (failed) throw io_error{fmt::format("{}: {}", endpoint_text(at), failed.message())};
    widen(socket_);
}

void udp_server::start(replay_server& server) {
    server_ = &server;
    wait_for_packets();
    wait_for_tick();
}

void udp_server::send(endpoint const& to, std::span<std::uint8_t const> datagram) {
    boost::system::error_code failed;
    socket_.send_to(asio::buffer(datagram.data(), datagram.size()), to, 0, failed);
    ++(failed ? unsent_ : sent_);
}

void udp_server::wait_for_packets() {
    socket_.async_wait(udp::socket::wait_read, [this](boost::system::error_code failed) {
        if (failed) return;
        // Not for ever, so that a flood does not stop the clock.
        constexpr int at_once = 2048;
        milliseconds time = now();
        for (int i = 0; i < at_once; ++i) {
            boost::system::error_code ended;
            std::size_t const size = socket_.receive_from(asio::buffer(datagram_), from_, 0, ended);
            if (ended == asio::error::would_block) break;
            if (ended) continue; // the client is gone
            if (i % 16 == 0) time = now();
            server_->receive(std::span{datagram_}.first(size), from_, time);
            if (time >= server_->next_tick()) server_->tick(time);
        }
        wait_for_packets();
    });
}

void udp_server::wait_for_tick() {
    timer_.expires_at(to_time(server_->next_tick()));
    timer_.async_wait([this](boost::system::error_code cancelled) {
        if (cancelled) return;
        if (milliseconds const time = now(); time >= server_->next_tick()) server_->tick(time);
        wait_for_tick();
    });
}

} // namespace teewire::replay
