#include "recording/server/udp_client.hpp"

#include "base/keyed_hash.hpp"

namespace teewire::replay {

namespace asio = boost::asio;
using asio::ip::udp;

void udp_client::open(udp::endpoint const& peer, wire_format format, client_profile const& profile,
                      client_listener& listener, snapshot_scratch& scratch, boost::system::error_code& failed) {
    boost::system::error_code ignored;
    socket_.close(ignored);
    client_.reset();
    socket_.open(peer.protocol(), failed);
    if (!failed) socket_.connect(peer, failed);
    if (!failed) socket_.non_blocking(true, failed);
    if (failed) return;
    widen(socket_);
    client_ = std::make_unique<game_client>(format, profile, random_bytes(), listener, scratch, now());
    wait_for_packets();
    proceed();
}

void udp_client::close(std::string_view reason) {
    timer_.cancel();
    if (!socket_.is_open()) return;
    if (client_ && client_->answered() && !client_->closed()) {
        client_->leave(reason);
        send_all();
    }
    boost::system::error_code ignored;
    socket_.close(ignored);
}

void udp_client::wait_for_packets() {
    socket_.async_wait(udp::socket::wait_read, [this](boost::system::error_code failed) {
        if (failed || !socket_.is_open()) return;
        receive_all();
        if (!socket_.is_open()) return;
        wait_for_packets();
        proceed();
    });
}

// Not for ever, so that a flood keeps off neither signals nor other servers.
void udp_client::receive_all() {
    constexpr int at_once = 1024;
    for (int i = 0; i < at_once; ++i) {
        boost::system::error_code failed;
        std::size_t const size = socket_.receive(asio::buffer(datagram_), 0, failed);
        if (failed) return; // nothing more, or a closed port of the peer's: the time-out decides
        client_->receive(std::span{datagram_}.first(size), now());
    }
}

void udp_client::send_all() {
    for (auto d = client_->poll(now()); !d.empty(); d = client_->poll(now())) {
        boost::system::error_code ignored; // as good as lost on the way
        socket_.send(asio::buffer(d.data(), d.size()), 0, ignored);
    }
}

void udp_client::proceed() {
    send_all();
    proceeds_();
    if (!socket_.is_open() || client_->closed()) return;
    timer_.expires_at(to_time(std::max(client_->next_poll(), now())));
    timer_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled && socket_.is_open()) proceed();
    });
}

} // namespace teewire::replay
