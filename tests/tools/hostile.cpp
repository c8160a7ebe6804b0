// Peers that mean harm, on the loopback.
//   hostile server ATTACK PORT SECONDS                against those who record
//     map_data      sends more map than was announced, without end       map_changes  changes it again and again
//     parts         sends parts of snapshots that are never complete     names        with paths and control bytes
//     chat          floods with messages and pings                       ticks        the last ticks there are
//   hostile client ATTACK HOST:PORT 0.6|0.7 SECONDS   against those who serve
//     acknowledge   ticks of the future and of the past                  map          asks for it without end
//     tokens        guesses 100,000 a second                             chat         floods with messages
//     crowd         1,000 connections that are begun and left            returns      comes and goes with a valid token
// Prints how many packets it has sent.
#include "base/keyed_hash.hpp"
#include "base/udp.hpp"
#include "recording/server/game_client.hpp"

#include <teewire/handshake.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/snapshot_sender.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>

using namespace teewire;
using namespace teewire::replay;

namespace {

using boost::asio::ip::udp;
using socket_list = std::deque<udp::socket>;

constexpr std::string_view evil_text = "../../../tmp/\x1b]0;title\x07\x1b[2J\xc2\x9b"
                                       "31m\xe2\x80\xae/\r\n";

class peer {
public:
    peer() : memory_{std::make_unique<connection_memory<>>()} {}

    std::uint64_t sent = 0;

protected:
    template <class T>
    bool say(connection& link, udp::socket& socket, T const& value, bool vital = true) {
        std::array<std::uint8_t, max_payload_bytes> bytes;
        auto const message = encode(value, version(link), bytes);
        return message && say_bytes(link, socket, *message, vital);
    }
    bool say_bytes(connection& link, udp::socket& socket, std::span<std::uint8_t const> message, bool vital) {
        return link.queue(message, vital, now(), out_, [&](auto d) { send(socket, d); }).code == errc::ok;
    }
    void send(udp::socket& socket, std::span<std::uint8_t const> datagram) {
        boost::system::error_code ignored;
        if (datagram.empty()) return;
        socket.send_to(boost::asio::buffer(datagram.data(), datagram.size()), to_, 0, ignored);
        ++sent;
    }
    void send_all(connection& link, udp::socket& socket) {
        link.flush();
        for (auto d = link.poll(now(), out_); !d.empty(); d = link.poll(now(), out_)) send(socket, d);
    }
    [[nodiscard]] static protocol version(connection const& link) {
        return link.format() == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    }

    udp::endpoint to_;
    std::unique_ptr<connection_memory<>> memory_;
    packet_memory out_;
    payload_memory payload_;
    std::array<std::uint8_t, 2048> datagram_;
    std::mt19937 random_{1};
    boost::asio::io_context io_;
};

// ---- server --------------------------------------------------------------------------------------------------------

class hostile_server : public peer {
public:
    hostile_server(std::string_view attack, std::uint16_t port)
        : attack_{attack}, socket_{io_, udp::endpoint{boost::asio::ip::address_v4::loopback(), port}} {
        socket_.non_blocking(true);
    }

    void run(milliseconds end) {
        for (; now() < end; std::this_thread::sleep_for(std::chrono::milliseconds{1})) {
            receive();
            if (!link_ || link_->state() != connection_state::online) continue;
            if (step_ != step::joining) attack();
            send_all(*link_, socket_);
        }
    }

private:
    enum class step : std::uint8_t { joining, told, playing };

    void receive() {
        for (;;) {
            boost::system::error_code failed;
            udp::endpoint from;
            std::size_t const size = socket_.receive_from(boost::asio::buffer(datagram_), from, 0, failed);
            if (failed) return;
            auto const datagram = std::span<std::uint8_t const>{datagram_}.first(size);
            if (!link_ || from != to_) {
                to_ = from;
                link_.reset();
            }
            if (!link_ || link_->state() != connection_state::online) begin(datagram);
            if (!link_) continue;
            if (link_->receive(datagram, now(), payload_).kind != received_kind::chunks) continue;
            for (chunk c; link_->next_chunk(c);) read(c);
        }
    }
    void begin(std::span<std::uint8_t const> datagram) {
        std::uint8_t const address[] = {static_cast<std::uint8_t>(to_.port() >> 8),
                                        static_cast<std::uint8_t>(to_.port())};
        auto const d = gate_.receive(datagram, address, now(), out_);
        send(socket_, d.reply);
        if (d.what != server_gate::verdict::accept) return;
        link_ = connection::server(d.format, d.tokens, *memory_, now());
        step_ = step::joining;
        tick_ = 100;
    }
    void read(chunk const& c) {
        auto const m = parse_message(c.data);
        if (!m) return;
        switch (identify(*m, version(*link_))) {
        case message_type::info:
            announce("hostile");
            step_ = step::told;
            break;
        case message_type::ready: say(*link_, socket_, messages::con_ready{}); break;
        case message_type::start_info: say(*link_, socket_, messages::ready_to_enter{}); break;
        case message_type::enter_game: step_ = step::playing; break;
        default: break;
        }
    }
    bool announce(std::string_view name) {
        messages::map_change map;
        map.name = attack_ == "names" ? evil_text : name;
        map.size = attack_ == "map_data" ? 1 << 30 : 0;
        return say(*link_, socket_, map);
    }

    void attack() {
        if (attack_ == "map_data") {
            messages::map_data data;
            std::array<std::uint8_t, 800> const bytes{};
            for (data.data = bytes, data.number = piece_; say(*link_, socket_, data); data.number = ++piece_) {
            }
        } else if (attack_ == "map_changes") {
            while (announce(fmt::format("map {}", piece_))) ++piece_;
        }
        if (step_ != step::playing) return;
        if (attack_ == "parts") {
            tick_ += 2;
            for (std::int32_t part = 0; part < 63; ++part) send_part(part);
            return;
        }
        if (now() < next_snapshot_) return;
        next_snapshot_ = now() + 40;
        if (attack_ == "ticks") tick_ = std::max(tick_, INT32_MAX - 120);
        if (tick_ < INT32_MAX - 2) tick_ += 2;
        send_snapshot();
        if (attack_ == "chat" || attack_ == "names") {
            messages::chat chat;
            chat.client_id = attack_ == "names" ? INT32_MIN : 0;
            chat.team = INT32_MIN;
            chat.text = evil_text;
            for (int i = 0; i < 500; ++i) {
                say(*link_, socket_, messages::ping{}, false);
                say(*link_, socket_, chat, false);
            }
            for (int i = 0; i < 50 && say(*link_, socket_, chat); ++i) {
            }
        }
    }
    void send_part(std::int32_t part) {
        std::array<std::uint8_t, max_snapshot_message_bytes> bytes{};
        bytes[0] = 5 << 1 | 1; // snap
        std::uint8_t* at = bytes.data() + 1;
        for (std::int32_t const number :
             {tick_, tick_ + 1, 64, part, 0, static_cast<std::int32_t>(snapshot_part_bytes)})
            at = put_varint(at, number);
        at += snapshot_part_bytes;
        say_bytes(*link_, socket_, std::span{bytes.data(), at}, false);
    }
    void send_snapshot() {
        builder_.start();
        static_cast<void>(builder_.add(9, 0, 22));
        auto parts = *encode_snapshot(tick_, builder_.finish(), -1, {}, {}, *scratch_);
        for (std::span<std::uint8_t const> message; parts.next(message);)
            say_bytes(*link_, socket_, message, false);
    }

    std::string_view attack_;
    udp::socket socket_;
    server_gate gate_{random_bytes()};
    std::optional<connection> link_;
    step step_ = step::joining;
    std::int32_t tick_ = 100;
    std::int32_t piece_ = 0;
    milliseconds next_snapshot_ = 0;
    std::unique_ptr<snapshot_scratch> scratch_ = std::make_unique<snapshot_scratch>();
    std::unique_ptr<snapshot_builder_memory<>> built_ = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder_{*built_};
};

// ---- client --------------------------------------------------------------------------------------------------------

class hostile_client : public peer {
public:
    hostile_client(std::string_view attack, udp::endpoint const& server, wire_format format)
        : attack_{attack}, format_{format} {
        to_ = server;
        add_socket();
    }

    void run(milliseconds end) {
        if (attack_ == "tokens") return guess(end);
        if (attack_ == "crowd") return crowd(end);
        if (attack_ == "returns") return come_and_go(end);
        join();
        for (; now() < end; std::this_thread::sleep_for(std::chrono::milliseconds{1})) {
            receive();
            if (link_->state() == connection_state::closed) join();
            else if (link_->state() == connection_state::online) attack();
            for (auto d = link_->poll(now(), out_); !d.empty(); d = link_->poll(now(), out_)) send(sockets_[0], d);
        }
    }

private:
    void add_socket() {
        sockets_.emplace_back(io_, to_.protocol());
        sockets_.back().bind({boost::asio::ip::make_address_v4("127.0.0.66"), 0}); // not where honest ones are
        sockets_.back().non_blocking(true);
    }
    void join() {
        sockets_.clear();
        add_socket();
        link_ = connection::client(format_, static_cast<std::uint32_t>(random_()) >> 1 | 1U, *memory_, now());
        told_ = false;
    }
    void receive() {
        for (;;) {
            boost::system::error_code failed;
            std::size_t const size = sockets_[0].receive(boost::asio::buffer(datagram_), 0, failed);
            if (failed) return;
            auto const r = link_->receive(std::span{datagram_}.first(size), now(), payload_);
            if (r.kind != received_kind::chunks) continue;
            for (chunk c; link_->next_chunk(c);) {
                auto const m = parse_message(c.data);
                if (!m) continue;
                auto const type = identify(*m, version(*link_));
                if (type == message_type::map_change && attack_ != "map")
                    say(*link_, sockets_[0], messages::ready{});
                if (type == message_type::con_ready) {
                    messages::start_info start;
                    start.name = evil_text;
                    say(*link_, sockets_[0], start);
                }
                if (type == message_type::ready_to_enter) say(*link_, sockets_[0], messages::enter_game{});
            }
        }
    }

    void attack() {
        if (!std::exchange(told_, true)) {
            messages::info info;
            if (format_ == wire_format::v07) info.version = net_version_07;
            say(*link_, sockets_[0], info);
        }
        auto const any = [this] {
            constexpr std::int32_t ends[] = {INT32_MIN, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
            return random_() % 2 == 0 ? ends[random_() % std::size(ends)] : static_cast<std::int32_t>(random_());
        };
        for (int i = 0; i < 20; ++i) {
            if (attack_ == "acknowledge") {
                messages::input input;
                input.ack = any();
                input.tick = any();
                say(*link_, sockets_[0], input, false);
            } else if (attack_ == "map") {
                say(*link_, sockets_[0], messages::request_map_data{any()});
            } else {
                messages::say chat;
                chat.mode = any();
                chat.text = evil_text;
                say(*link_, sockets_[0], chat, random_() % 2 == 0);
            }
        }
        link_->flush();
    }

    [[nodiscard]] std::span<std::uint8_t const> handshake(control_code code, std::uint32_t token,
                                                          packet_memory& memory) {
        control_message m;
        m.code = code;
        m.ddnet = m.has_token = true;
        m.token = format_ == wire_format::v07 ? 7 : token;
        return write_control(m, format_, {0, false, token}, memory);
    }

    // As many as 100,000 a second.
    void each_millisecond(milliseconds end, auto&& step) {
        for (milliseconds time = now(); time < end;) {
            for (int i = 0; i < 100; ++i) step();
            while (now() == time) {
            }
            time = now();
        }
    }
    void guess(milliseconds end) {
        while (sockets_.size() < 8) add_socket();
        constexpr control_code codes[] = {control_code::connect, control_code::accept, control_code::close};
        each_millisecond(end, [&] {
            packet_memory memory;
            std::uint32_t const token = random_();
            send(sockets_[token % sockets_.size()], handshake(codes[random_() % 3], token, memory));
        });
    }

    // The token that the server gives this socket; 0 if it gives none.
    std::uint32_t ask_for_token(udp::socket& socket) {
        packet_memory memory;
        bool const v07 = format_ == wire_format::v07;
        for (int attempt = 0; attempt < 50; ++attempt) {
            send(socket, handshake(v07 ? control_code::token : control_code::connect, v07 ? no_token : 0, memory));
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
            boost::system::error_code failed;
            std::size_t const size = socket.receive(boost::asio::buffer(datagram_), 0, failed);
            if (failed) continue;
            auto const p = parse_packet(std::span{datagram_}.first(size), format_);
            auto const m =
                p && p->control ? parse_control(p->payload, format_) : result<control_message>{failure{}};
            if (p && p->control && m) return m->token;
        }
        return 0;
    }
    [[nodiscard]] control_code entering() const {
        return format_ == wire_format::v07 ? control_code::connect : control_code::accept;
    }
    void come_and_go(milliseconds end) {
        std::uint32_t const token = ask_for_token(sockets_[0]);
        bool come = false;
        each_millisecond(end, [&] {
            packet_memory memory;
            come = !come;
            send(sockets_[0], handshake(come ? entering() : control_code::close, token, memory));
        });
    }
    void crowd(milliseconds end) {
        while (sockets_.size() < 1000) add_socket();
        for (std::size_t i = 0; now() < end; i = (i + 1) % sockets_.size()) {
            packet_memory memory;
            std::uint32_t const token = ask_for_token(sockets_[i]);
            send(sockets_[i], handshake(entering(), token, memory));
        }
    }

    std::string_view attack_;
    wire_format format_;
    socket_list sockets_;
    std::optional<connection> link_;
    bool told_ = false;
};

} // namespace

int main(int argc, char** argv) {
    std::string_view const side = argc > 1 ? argv[1] : "";
    std::uint64_t sent = 0;
    if (side == "server" && argc == 5) {
        hostile_server server{argv[2], static_cast<std::uint16_t>(std::atoi(argv[3]))};
        server.run(now() + static_cast<milliseconds>(std::atof(argv[4]) * 1000));
        sent = server.sent;
    } else if (side == "client" && argc == 6) {
        host_port const at = host_port::parse(argv[3]);
        hostile_client client{argv[2],
                              {boost::asio::ip::make_address(at.host), at.port},
                              std::string_view{argv[4]} == "0.7" ? wire_format::v07 : wire_format::ddnet};
        client.run(now() + static_cast<milliseconds>(std::atof(argv[5]) * 1000));
        sent = client.sent;
    } else {
        fmt::print(stderr,
                   "usage: hostile server ATTACK PORT SECONDS, hostile client ATTACK HOST:PORT 0.6|0.7 SECONDS\n");
        return 2;
    }
    fmt::print("{} packets\n", sent);
}
