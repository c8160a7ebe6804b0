// Makes a packet capture of simulated clients that watch a demo, and says on standard output what they decoded.
//   make_capture DEMO OUT.pcap server|client SECONDS FORMAT[:LOSS]...
// The second word: whose packets are captured. FORMAT: 0.6.5, ddnet, 0.7; LOSS: percent, of repetition and delay too.
#include "simulated_session.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

using namespace teewire;

namespace {

class pcap_writer {
public:
    explicit pcap_writer(char const* path) : file_{std::fopen(path, "wb")} {
        if (file_ == nullptr) std::exit(3);
        for (std::uint32_t const word : {0xa1b2c3d4U, 0x00040002U, 0U, 0U, 262144U, 1U}) put_le(word);
        flush();
    }
    ~pcap_writer() { std::fclose(file_); }

    void write(std::int64_t milliseconds, replay::endpoint const& from, replay::endpoint const& to,
               std::span<std::uint8_t const> payload) {
        std::size_t const udp = 8 + payload.size(), ip = 20 + udp, frame = 14 + ip;
        put_le(static_cast<std::uint32_t>(1'600'000'000 + milliseconds / 1000));
        put_le(static_cast<std::uint32_t>(milliseconds % 1000 * 1000));
        put_le(static_cast<std::uint32_t>(frame));
        put_le(static_cast<std::uint32_t>(frame));
        bytes_.insert(bytes_.end(), 12, 0); // Ethernet addresses, as on the loopback
        put_be(0x0800, 2);
        put_be(0x4500, 2);
        put_be(ip, 2);
        put_be(0, 4);
        put_be(0x4011, 2); // time to live, UDP
        put_be(0, 2);
        put_be(from.address().to_v4().to_uint(), 4);
        put_be(to.address().to_v4().to_uint(), 4);
        put_be(from.port(), 2);
        put_be(to.port(), 2);
        put_be(udp, 2);
        put_be(0, 2);
        bytes_.insert(bytes_.end(), payload.begin(), payload.end());
        flush();
    }

private:
    void put_le(std::uint32_t value) {
        for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
    void put_be(std::size_t value, int size) {
        while (size-- > 0) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * size));
    }
    void flush() {
        if (std::fwrite(bytes_.data(), 1, bytes_.size(), file_) != bytes_.size()) std::exit(3);
        bytes_.clear();
    }

    std::FILE* file_;
    std::vector<std::uint8_t> bytes_;
};

test::simulated_client parse(std::string_view text) {
    test::simulated_client client;
    auto const colon = text.find(':');
    for (auto const format : {wire_format::v06, wire_format::v06_token, wire_format::ddnet, wire_format::v07})
        if (text.substr(0, colon) == name(format)) client.format = format;
    if (colon != std::string_view::npos) {
        unsigned percent = 0;
        std::from_chars(text.data() + colon + 1, text.data() + text.size(), percent);
        client.quality = {percent, percent / 2, percent, 60};
    }
    return client;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 6) return 2;
    pcap_writer out{argv[2]};
    std::int64_t const duration = std::atoi(argv[4]) * 1000;
    std::vector<test::simulated_client> clients;
    for (int i = 5; i < argc; ++i) {
        clients.push_back(parse(argv[i]));
        clients.back().joins = 700 * (i - 5);
        clients.back().leaves = duration - 500;
    }
    auto const map = test::random{1}.data(50'000, true);
    auto const place = std::string_view{argv[3]} == "client" ? test::tap_place::client : test::tap_place::server;
    test::simulated_session demo_document{argv[1], map, place,
                                          [&](std::int64_t now, auto const& from, auto const& to, auto payload) {
                                              out.write(now, from, to, payload);
                                          }};
    for (auto const& outcome : demo_document.run(clients, duration))
        fmt::print("{} {} {:08x} {}\n", outcome.snapshots, outcome.wrong, outcome.checksum_sum, outcome.map_bytes);
}
