// The snapshots of a connection in a packet capture:  capture FILE.pcap
// For little-endian files of Ethernet and IPv4; `teewire capture` reads all the others.
#include <teewire/message_types.hpp>
#include <teewire/packet.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

using bytes = std::span<std::uint8_t const>;

//! [listen]
/// The state that an observer keeps of one connection.
class connection_log {
public:
    void take(bytes datagram) {
        ++datagrams_;
        if (is_connless(datagram)) return; // what browsers ask, and servers answer
        // The first packets show the protocol. DDNet's additions to 0.6 are recognised in every format of 0.6.
        if (!known_) {
            packet_guess const guess = guess_packet(datagram);
            if (guess != packet_guess::v06 && guess != packet_guess::v07) return;
            known_ = true;
            format_ = guess == packet_guess::v07 ? wire_format::v07 : wire_format::ddnet;
            bool const is_07 = guess == packet_guess::v07;
            receiver_ = {parts_,
                         entries_,
                         block_,
                         {.version = is_07 ? protocol::teeworlds_07 : protocol::ddnet,
                          .sizes = is_07 ? &sizes_07 : &sizes_06,
                          .listening = snapshot_listening::observer,
                          .mode = decoding::lenient}};
        }
        auto const p = parse_packet(datagram, format_, decoding::lenient);
        auto const payload = p ? decode_payload(*p, payload_) : result<bytes>{p.error()};
        if (!payload) {
            ++damaged_;
        } else if (p->control) {
            if (auto const m = parse_control(*payload, format_))
                std::printf("datagram %zu: %s\n", datagrams_, name(m->code).data());
        } else {
            chunk_reader chunks{*payload, p->chunks, format_};
            for (chunk c; chunks.next(c);)
                if (auto const m = parse_message(c.data)) take(*m);
        }
    }
    //! [listen]

    //! [snapshots]
    void take(message const& m) {
        snapshot_event const event = receiver_.receive(m, *scratch_);
        switch (event.kind) {
        case snapshot_event_kind::snapshot: // decoded, and its checksum is the one it was sent with
            ++snapshots_;
            last_ = event.tick;
            items_ = event.snapshot.size();
            break;
        case snapshot_event_kind::missing_base: ++missing_; break; // the capture lacks what it builds on
        case snapshot_event_kind::damaged:
        case snapshot_event_kind::malformed: ++damaged_; break;
        default: break; // another message, one part of several, or a repetition
        }
    }
    //! [snapshots]

    void print() const {
        std::printf(
            "%zu datagrams, %zu damaged; %zu snapshots, %zu without their base; the last one of tick %d with %zu "
            "items\n",
            datagrams_, damaged_, snapshots_, missing_, last_, items_);
    }

private:
    bool known_ = false;
    wire_format format_ = wire_format::ddnet;
    payload_memory payload_;
    std::unique_ptr<snapshot_scratch> scratch_ = std::make_unique<snapshot_scratch>();
    std::vector<snapshot_parts> parts_{4};
    std::vector<history::entry> entries_{150};
    std::vector<std::int32_t> block_ = std::vector<std::int32_t>(1 << 18);
    snapshot_receiver receiver_{parts_, entries_, block_, {}};
    std::size_t datagrams_ = 0, damaged_ = 0, snapshots_ = 0, missing_ = 0, items_ = 0;
    std::int32_t last_ = -1;
};

std::uint32_t big_endian(bytes from, std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | from[at + i];
    return value;
}

} // namespace

int main(int argc, char** argv) {
    std::ifstream in{argc == 2 ? argv[1] : "", std::ios::binary};
    std::vector<std::uint8_t> const file{std::istreambuf_iterator<char>{in}, {}};
    if (file.size() < 24 || big_endian(file, 0, 4) != 0xd4c3b2a1)
        return std::fprintf(stderr, "usage: capture FILE.pcap\n"), 2;
    connection_log log;
    bytes rest = bytes{file}.subspan(24);
    while (rest.size() >= 16) {
        std::size_t const size = rest[8] | rest[9] << 8 | rest[10] << 16;
        if (size > rest.size() - 16) break;
        bytes const frame = rest.subspan(16, size);
        rest = rest.subspan(16 + size);
        bool const udp = size >= 42 && big_endian(frame, 12, 3) == 0x080045 && frame[23] == 17;
        if (udp) log.take(frame.subspan(42));
    }
    log.print();
}
