// Changes captures inside of their packets.
#pragma once

#include "mutator.hpp"

#include "recording/capture/frame.hpp"

#include <teewire/packet.hpp>

namespace fuzz {

/// The payload of a packet, in one of the formats.
inline void mutate_packet(bytes& datagram, dice& random) {
    auto const format = static_cast<teewire::wire_format>(random.below(4));
    auto const read = teewire::parse_packet(datagram, format, teewire::decoding::lenient);
    if (!read || !read->compressed) return mutate_bytes(datagram);
    bytes payload{read->payload.begin(), read->payload.end()};
    if (!mutate_coded(payload, teewire::max_read_payload_bytes, [](bytes& plain) { mutate_bytes(plain); }))
        return mutate_bytes(datagram);
    replace(datagram, {read->header, datagram.size()}, payload);
}

/// Captures of the old format, pcap, with the processor's byte order, of Ethernet with IPv4.
inline bool mutate_capture(bytes& file, dice& random) {
    constexpr std::size_t file_head = 24, frame_head = 16, sizes = 8, ip = 14, ip_head = 20, udp_head = 8;
    constexpr std::uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
    auto const number = [&](std::size_t at) {
        std::uint32_t value = 0;
        std::memcpy(&value, &file[at], sizeof value);
        return value;
    };
    if (file.size() < file_head || std::find(std::begin(magics), std::end(magics), number(0)) == std::end(magics))
        return false;
    std::vector<segment> frames;
    for (std::size_t at = file_head; file.size() - at >= frame_head;) {
        std::size_t const size = number(at + sizes);
        if (size > file.size() - at - frame_head) break;
        frames.push_back({at, at + frame_head + size});
        at = frames.back().end;
    }
    if (frames.empty()) return false;
    if (random.one_in(4)) return rearrange(file, frames, random), true;

    segment const chosen = frames[random.below(frames.size())];
    bytes frame(file.begin() + static_cast<std::ptrdiff_t>(chosen.begin),
                file.begin() + static_cast<std::ptrdiff_t>(chosen.end));
    teewire::replay::udp_datagram found;
    bytes_view const on_wire = bytes_view{frame}.subspan(frame_head);
    teewire::replay::ip_fragment part;
    if (read_frame(teewire::replay::link_layer::ethernet, on_wire, found, part) != teewire::replay::frame_kind::udp)
        return false;
    constexpr std::size_t before = frame_head + ip + ip_head + udp_head;
    if (found.from.v6 || found.payload.data() != frame.data() + before) return false;
    bytes datagram{found.payload.begin(), found.payload.end()};
    mutate_packet(datagram, random);

    frame.resize(before);
    frame.insert(frame.end(), datagram.begin(), datagram.end());
    auto const size = static_cast<std::uint32_t>(frame.size() - frame_head);
    for (std::size_t const at : {sizes, sizes + 4}) std::memcpy(&frame[at], &size, sizeof size);
    auto const put_big = [&](std::size_t at, std::size_t value) {
        frame[at] = static_cast<std::uint8_t>(value >> 8);
        frame[at + 1] = static_cast<std::uint8_t>(value);
    };
    put_big(frame_head + ip + 2, size - ip);
    put_big(frame_head + ip + ip_head + 4, size - ip - ip_head);
    replace(file, chosen, frame);
    return true;
}

} // namespace fuzz
