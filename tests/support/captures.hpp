// Just enough of packet captures for tests: little-endian pcap and pcapng of Ethernet with IPv4 and UDP.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace test {

struct udp_datagram {
    std::uint64_t from = 0; ///< address and port
    std::uint64_t to = 0;
    std::span<std::uint8_t const> payload;
};

inline std::uint64_t little_endian(std::span<std::uint8_t const> bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[at + i];
    return value;
}
inline std::uint64_t big_endian(std::span<std::uint8_t const> bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + i];
    return value;
}

/// "127.0.0.1:8303"
inline std::string address_text(std::uint64_t address) {
    std::string text;
    for (int shift = 40; shift >= 16; shift -= 8) {
        if (!text.empty()) text += '.';
        text += std::to_string(address >> shift & 0xff);
    }
    return text + ':' + std::to_string(address & 0xffff);
}

inline void add_frame(std::vector<udp_datagram>& all, std::span<std::uint8_t const> frame) {
    constexpr std::size_t ethernet = 14;
    if (frame.size() < ethernet + 20 || big_endian(frame, 12, 2) != 0x0800) return;
    auto const ip = frame.subspan(ethernet);
    std::size_t const header = (ip[0] & 15U) * 4;
    bool const fragment = (big_endian(ip, 6, 2) & 0x3fff) != 0;
    if (ip[0] >> 4 != 4 || ip[9] != 17 || fragment || ip.size() < header + 8) return;
    auto const udp = ip.subspan(header);
    std::size_t const size = big_endian(udp, 4, 2);
    if (size < 8 || size > udp.size()) return;
    all.push_back({big_endian(ip, 12, 4) << 16 | big_endian(udp, 0, 2),
                   big_endian(ip, 16, 4) << 16 | big_endian(udp, 2, 2), udp.subspan(8, size - 8)});
}

/// Everything that travelled over UDP, in the order of the file.
inline std::vector<udp_datagram> read_capture(std::span<std::uint8_t const> file) {
    std::vector<udp_datagram> all;
    if (little_endian(file, 0, 4) == 0x0a0d0d0a) {
        for (std::size_t at = 0; file.size() - at >= 12;) {
            std::size_t const size = little_endian(file, at + 4, 4);
            if (size < 12 || size > file.size() - at) break;
            if (little_endian(file, at, 4) == 6 && size >= 32)
                add_frame(all, file.subspan(at + 28, little_endian(file, at + 20, 4)));
            at += size;
        }
        return all;
    }
    for (std::size_t at = 24; file.size() - at >= 16;) {
        std::size_t const size = little_endian(file, at + 8, 4);
        at += 16;
        if (size > file.size() - at) break;
        add_frame(all, file.subspan(at, size));
        at += size;
    }
    return all;
}

} // namespace test
