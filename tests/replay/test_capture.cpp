#include "recording/capture/connections.hpp"
#include "recording/capture/explain.hpp"
#include "recording/capture/frame.hpp"
#include "recording/capture/vital_stream.hpp"
#include "simulated_session.hpp"

#include "check.hpp"

#include <cstdlib>

using namespace teewire;
using namespace teewire::replay;

namespace {

frame_kind read_frame(link_layer link, std::span<std::uint8_t const> frame, udp_datagram& found) {
    ip_fragment part;
    return replay::read_frame(link, frame, found, part);
}

test::bytes ipv4(std::span<std::uint8_t const> payload, std::uint16_t fragment = 0) {
    test::bytes b = {0x45, 0, 0, 0, 0, 0, 0,    0,    64,   17,   0, 0, 1, 2,
                     3,    4, 5, 6, 7, 8, 0x20, 0x6f, 0x9c, 0x40, 0, 0, 0, 0};
    for (std::uint8_t const byte : payload) b.push_back(byte);
    b[2] = static_cast<std::uint8_t>(b.size() >> 8);
    b[3] = static_cast<std::uint8_t>(b.size());
    b[6] = static_cast<std::uint8_t>(fragment >> 8);
    b[7] = static_cast<std::uint8_t>(fragment);
    b[24] = static_cast<std::uint8_t>((b.size() - 20) >> 8);
    b[25] = static_cast<std::uint8_t>(b.size() - 20);
    return b;
}

test::bytes behind(std::string_view head, test::bytes rest) {
    auto all = test::from_hex(head);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

chunk vital(std::uint16_t sequence, std::span<std::uint8_t const> data) { return {true, false, sequence, data}; }

// The output of a stream, a byte for each chunk.
struct stream_log {
    vital_stream stream;
    test::bytes out;

    vital_place receive(std::uint16_t sequence, std::uint8_t name) {
        std::uint8_t const data[] = {name};
        return stream.receive(vital(sequence, data), log());
    }
    void acknowledge(std::uint16_t ack, int times = 1) {
        while (times-- > 0) stream.acknowledge(ack, log());
    }
    vital_stream::receiver log() {
        return [this](std::span<std::uint8_t const> bytes) { out.push_back(bytes[0]); };
    }
};

struct recorded_datagram {
    udp_datagram what;
    test::bytes payload;
};

std::vector<recorded_datagram> record(char const* demo, wire_format format) {
    std::vector<recorded_datagram> all;
    auto const map = test::random{2}.data(3000, true);
    auto const address = [](endpoint const& e) {
        udp_address a;
        auto const ip = e.address().to_v4().to_bytes();
        std::copy(ip.begin(), ip.end(), a.ip.begin());
        a.port = e.port();
        return a;
    };
    test::simulated_session session{
        std::string{TEEWIRE_FIXTURES} + "/demos/" + demo, map, test::tap_place::server,
        [&](std::int64_t, endpoint const& from, endpoint const& to, std::span<std::uint8_t const> payload) {
            all.push_back({{address(from), address(to), {}}, test::copy_of(payload)});
        }};
    session.run({{format, {}, 0, 3900}}, 4000);
    return all;
}

// Everything printed must be readable.
class reader_of_all : public capture_listener {
public:
    void snapshot(connection_stats const& w, snapshot_event const& event) override {
        snapshot_view const view = event.snapshot;
        ++snapshots;
        REQUIRE(event.tick >= 0);
        REQUIRE(w.server_end.has_value());
        std::uint32_t sum = 0;
        for (item const i : view)
            for (std::int32_t const value : i.data) sum += static_cast<std::uint32_t>(value);
        REQUIRE(sum == view.checksum());
    }
    void game_message(connection_stats const&, message const& m, message_type, std::span<std::uint8_t const> bytes,
                      bool) override {
        REQUIRE(!m.system);
        REQUIRE(!bytes.empty());
    }
    std::size_t snapshots = 0;
};

} // namespace

TEST_CASE("datagrams are found behind every link layer") {
    std::uint8_t const payload[] = {1, 2, 3};
    auto const ip = ipv4(payload);
    struct variant {
        link_layer link;
        test::bytes frame;
    };
    std::string const zeros = "00 00 00 00 00 00 00 00 00 00 00 00 ";
    for (auto const& [link, frame] : {
             variant{link_layer::raw_ip, ip},
             variant{link_layer::loopback, behind("02 00 00 00", ip)},
             variant{link_layer::ethernet, behind(zeros + "08 00", ip)},
             variant{link_layer::ethernet, behind(zeros + "81 00 00 07 08 00", ip)},
             variant{link_layer::ethernet, behind(zeros + "88 a8 00 07 81 00 00 07 08 00", ip)},
             variant{link_layer::cooked_1, behind(zeros + "00 00 08 00", ip)},
             variant{link_layer::cooked_2, behind("08 00 " + zeros + "00 00 00 00 00 00", ip)},
         }) {
        udp_datagram found;
        std::string const shown = test::hex(frame); // Clang 14 cannot capture a binding
        CAPTURE(shown);
        REQUIRE(read_frame(link, frame, found) == frame_kind::udp);
        CHECK(address_text(found.from) == "1.2.3.4:8303");
        CHECK(address_text(found.to) == "5.6.7.8:40000");
        CHECK(test::hex(found.payload) == "01 02 03");
        // Padding after it changes nothing, and every cut is seen.
        auto padded = frame;
        padded.resize(frame.size() + 20);
        REQUIRE(read_frame(link, padded, found) == frame_kind::udp);
        CHECK(test::hex(found.payload) == "01 02 03");
        for (std::size_t size = 0; size < frame.size(); ++size) {
            test::bytes const cut{frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)};
            CHECK(read_frame(link, cut, found) == frame_kind::cut);
        }
    }
}

TEST_CASE("what is no datagram is told apart") {
    std::uint8_t const payload[] = {1, 2, 3};
    udp_datagram found;
    auto ip = ipv4(payload, 0x2000);
    CHECK(read_frame(link_layer::raw_ip, ip, found) == frame_kind::fragment);
    ip = ipv4(payload, 0x0010);
    CHECK(read_frame(link_layer::raw_ip, ip, found) == frame_kind::fragment);
    ip = ipv4(payload, 0x4000); // must not be taken apart
    CHECK(read_frame(link_layer::raw_ip, ip, found) == frame_kind::udp);
    ip[9] = 6;
    CHECK(read_frame(link_layer::raw_ip, ip, found) == frame_kind::other);
    ip[0] = 0x55;
    CHECK(read_frame(link_layer::raw_ip, ip, found) == frame_kind::other);
    CHECK(read_frame(link_layer::ethernet, test::bytes(60), found) == frame_kind::other);

    // IPv6 with a destination options header and a fragment header
    auto const six = behind("60 00 00 00 00 1b 3c 40 fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
                            " fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 2c 00 01 04 00 00 00 00",
                            test::from_hex("11 00 00 00 00 00 00 01 20 6f 9c 40 00 0b 00 00 01 02 03"));
    REQUIRE(read_frame(link_layer::raw_ip, six, found) == frame_kind::udp);
    CHECK(address_text(found.from) == "[fd00::1]:8303");
    CHECK(address_text(found.to) == "[fd00::2]:40000");
    CHECK(test::hex(found.payload) == "01 02 03");
    auto part = six;
    part[51] = 1; // more fragments
    CHECK(read_frame(link_layer::raw_ip, part, found) == frame_kind::fragment);
    for (std::size_t size = 0; size < six.size(); ++size)
        CHECK(read_frame(link_layer::raw_ip, std::span{six}.first(size), found) == frame_kind::cut);
}

TEST_CASE("lengths that headers state are checked before they are used") {
    std::uint8_t const payload[] = {1, 2, 3};
    udp_datagram found;
    std::vector<std::uint8_t> ip; // into which what was found points
    auto const read = [&](std::size_t at, unsigned value) {
        ip = ipv4(payload);
        ip[at] = static_cast<std::uint8_t>(value >> 8);
        ip[at + 1] = static_cast<std::uint8_t>(value);
        found = {};
        return read_frame(link_layer::raw_ip, ip, found);
    };
    // UDP's, with its header of 8 bytes
    for (unsigned size = 0; size < 8; ++size) {
        CAPTURE(size);
        CHECK(read(24, size) == frame_kind::other);
        CHECK(found.payload.empty());
    }
    CHECK(read(24, 8) == frame_kind::udp);
    CHECK(found.payload.empty());
    CHECK(read(24, 10) == frame_kind::udp);
    CHECK(test::hex(found.payload) == "01 02");
    CHECK(read(24, 12) == frame_kind::cut);
    // IPv4's, with its header of 20 bytes; 0 is left to the network card
    for (unsigned size = 1; size < 20; ++size) CHECK(read(2, size) == frame_kind::other);
    CHECK(read(2, 20) == frame_kind::cut);
    CHECK(read(2, 30) == frame_kind::cut);
    CHECK(read(2, 31) == frame_kind::udp);
    CHECK(read(2, 0) == frame_kind::udp);
    CHECK(test::hex(found.payload) == "01 02 03");
    // IPv4's header, in words: 5 and more
    for (unsigned words = 0; words < 5; ++words) CHECK(read(0, (0x40 | words) << 8) == frame_kind::other);
    CHECK(read(0, 0x4f00) == frame_kind::other); // longer than what it says the packet is
    auto longer = ipv4(payload);
    longer[0] = 0x46;
    longer.insert(longer.begin() + 20, {1, 1, 1, 1}); // options
    longer[3] = static_cast<std::uint8_t>(longer.size());
    REQUIRE(read_frame(link_layer::raw_ip, longer, found) == frame_kind::udp);
    CHECK(test::hex(found.payload) == "01 02 03");
    // IPv6's, after its header
    auto six = test::from_hex("60 00 00 00 00 0b 11 40 fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
                              " fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
                              " 20 6f 9c 40 00 0b 00 00 01 02 03");
    CHECK(read_frame(link_layer::raw_ip, six, found) == frame_kind::udp);
    six[5] = 10;
    CHECK(read_frame(link_layer::raw_ip, six, found) == frame_kind::cut);
    six[5] = 0; // a jumbogram, or left to the network card
    CHECK(read_frame(link_layer::raw_ip, six, found) == frame_kind::udp);
    six[45] = 7;
    CHECK(read_frame(link_layer::raw_ip, six, found) == frame_kind::other);
}

TEST_CASE("vital chunks come in order") {
    stream_log log;
    log.stream.begin();
    CHECK(log.receive(1, 'a') == vital_place::next);
    CHECK(log.receive(3, 'c') == vital_place::held);
    CHECK(log.receive(3, 'c') == vital_place::repeated);
    CHECK(log.receive(1, 'a') == vital_place::repeated);
    CHECK(log.receive(2, 'b') == vital_place::next);
    CHECK(std::string{log.out.begin(), log.out.end()} == "abc");
    CHECK(log.stream.missing() == 0);

    SUBCASE("around the end of the numbers") {
        for (unsigned i = 4; i < 3000; ++i)
            CHECK(log.receive(static_cast<std::uint16_t>(i % sequence_modulus), 'x') == vital_place::next);
        CHECK(log.out.size() == 2999);
        CHECK(log.receive(static_cast<std::uint16_t>(2999 % sequence_modulus), 'x') == vital_place::repeated);
    }
    SUBCASE("a gap is given up when acknowledges tell that the chunk was received") {
        log.receive(6, 'f');
        log.acknowledge(6, 32);
        CHECK(log.out.size() == 3);
        log.acknowledge(6);
        CHECK(std::string{log.out.begin(), log.out.end()} == "abcf");
        CHECK(log.stream.missing() == 2);
        CHECK(log.receive(5, 'e') == vital_place::repeated);
        CHECK(log.receive(7, 'g') == vital_place::next);
    }
    SUBCASE("a gap that is closed in time is none") {
        log.receive(5, 'e');
        log.acknowledge(5, 20);
        CHECK(log.receive(4, 'd') == vital_place::next);
        log.acknowledge(5, 40);
        CHECK(std::string{log.out.begin(), log.out.end()} == "abcde");
        CHECK(log.stream.missing() == 0);
    }
    SUBCASE("at the end, nothing stays behind") {
        log.receive(9, 'i');
        log.receive(7, 'g');
        log.stream.finish(log.log());
        CHECK(std::string{log.out.begin(), log.out.end()} == "abcgi");
        CHECK(log.stream.missing() == 4);
    }
    SUBCASE("the memory for held ones has a limit") {
        test::bytes const large(1000);
        for (std::uint16_t i = 5; i < 5 + 500; ++i) log.stream.receive(vital(i, large), log.log());
        CHECK(log.out.size() > 200);
        CHECK(log.stream.missing() == 1);
    }
    SUBCASE("what was held in a connection before does not count for the limit") {
        test::bytes const large(1000);
        for (int times = 0; times < 3; ++times) {
            for (std::uint16_t i = 0; i < 200; ++i) log.stream.receive(vital(5 + i, large), log.log());
            log.stream.begin();
        }
        CHECK(log.out.size() == 3);
        CHECK(log.stream.missing() == 0);
    }
}

TEST_CASE("a stream that begins in the middle takes what it sees first") {
    stream_log log;
    CHECK(log.receive(700, 'a') == vital_place::next);
    CHECK(log.receive(701, 'b') == vital_place::next);
    stream_log acknowledged;
    acknowledged.acknowledge(700);
    CHECK(acknowledged.receive(700, 'a') == vital_place::repeated);
    CHECK(acknowledged.receive(701, 'b') == vital_place::next);
    CHECK(acknowledged.stream.missing() == 0);
}

TEST_CASE("mutated packets harm nobody") {
    test::random rng{20};
    struct kind {
        char const* demo;
        wire_format format;
    };
    for (auto const& [demo, format] :
         {kind{"ddnet_dm1.demo", wire_format::ddnet}, kind{"ddnet_dm1.demo", wire_format::v06_token},
          kind{"teeworlds07_dm1.demo", wire_format::v07}}) {
        auto const session = record(demo, format);
        REQUIRE(session.size() > 100);
        reader_of_all whole;
        {
            connection_watcher watcher{whole};
            std::uint64_t frame = 0;
            for (auto const& d : session) watcher.receive(++frame, 0, {d.what.from, d.what.to, d.payload});
            watcher.finish();
            REQUIRE(watcher.connections().size() == 1);
            CHECK(whole.snapshots > 50);
            CHECK(watcher.connections()[0]->stays.at(0).downloaded);
        }
        for (int round = 0; round < 20; ++round) {
            reader_of_all listener;
            connection_watcher watcher{listener};
            std::uint64_t frame = 0;
            for (auto const& d : session) {
                auto payload = d.payload;
                if (rng.chance(static_cast<unsigned>(round) * 2))
                    for (std::size_t times = 1 + rng.below(4); times-- > 0 && !payload.empty();) {
                        switch (rng.below(3)) {
                        case 0:
                            payload[rng.below(payload.size())] ^= static_cast<std::uint8_t>(1U << rng.below(8));
                            break;
                        case 1: payload[rng.below(std::min<std::size_t>(payload.size(), 12))] = rng.byte(); break;
                        default: payload.resize(rng.below(payload.size() + 1)); break;
                        }
                    }
                watcher.receive(++frame, static_cast<std::int64_t>(rng.below(100)) * 1'000'000'000,
                                {d.what.from, d.what.to, payload});
            }
            watcher.finish();
            for (auto const* const w : watcher.connections()) {
                CHECK(w->snapshots == w->checksum_ok + w->empty);
                CHECK(w->from[0].packets + w->from[1].packets <= session.size());
            }
        }
    }
}

TEST_CASE("addresses that were forgotten among too many may come again") {
    capture_listener listener;
    connection_watcher watcher{listener};
    auto const session = record("ddnet_dm1.demo", wire_format::ddnet);
    auto const connect = test::from_hex("10 00 00 01 54 4b 45 4e ff ff ff ff");
    auto const client = [](std::uint32_t i) {
        udp_address a;
        for (std::size_t k = 0; k < 4; ++k) a.ip[k] = static_cast<std::uint8_t>(i >> 8 * k);
        a.port = 7;
        return a;
    };
    udp_address const server = session[0].what.to;
    std::uint32_t const many = connection_watcher::max_pairs + 5000;
    for (std::uint32_t i = 0; i < many; ++i) watcher.receive(i, i, {client(i), server, connect});
    // All of them once more, of which the first were forgotten, and a real client at one of their addresses.
    for (std::uint32_t i = 0; i < 6000; ++i) watcher.receive(many + i, many + i, {client(i), server, connect});
    std::uint64_t frame = 2 * many;
    for (auto const& d : session) {
        bool const up = d.what.to.port == server.port && d.what.to.ip == server.ip;
        ++frame;
        watcher.receive(frame, static_cast<std::int64_t>(frame),
                        {up ? client(3000) : server, up ? server : client(3000), d.payload});
    }
    watcher.finish();
    REQUIRE(watcher.connections().size() == 1);
    connection_stats const& w = *watcher.connections()[0];
    CHECK(w.snapshots > 50);
    CHECK(address_text(w.client()) == address_text(client(3000)));
    CHECK(address_text(w.server()) == address_text(server));
    CHECK(watcher.foreign() == many + 6000 - 1); // the last one is of the connection
}

TEST_CASE("memory is bounded whoever sends") {
    capture_listener listener;
    connection_watcher watcher{listener};
    // Connects from everywhere, as in a flood, and real packets of many connections at once.
    auto const session = record("ddnet_dm1.demo", wire_format::ddnet);
    auto const connect = test::from_hex("10 00 00 01 54 4b 45 4e ff ff ff ff");
    for (std::uint32_t i = 0; i < 40'000; ++i) {
        udp_address from;
        for (std::size_t k = 0; k < 4; ++k) from.ip[k] = static_cast<std::uint8_t>(i >> 8 * k);
        watcher.receive(i, i, {from, session[0].what.to, connect});
    }
    CHECK(watcher.connections().empty());
    CHECK(watcher.foreign() == 40'000);
    // Each time that one is forgotten takes and clears memory, which is slow under sanitizers.
    std::uint64_t const end = std::getenv("TEEWIRE_MUTATIONS") != nullptr ? 45'000 : 90'000;
    std::uint64_t frame = 40'000;
    for (auto const& d : session)
        for (std::uint16_t client = 0; client < 600; ++client) {
            if (frame > end) break;
            udp_datagram other{d.what.from, d.what.to, d.payload};
            (other.from.port == 8303 ? other.to : other.from).port = static_cast<std::uint16_t>(1000 + client);
            ++frame;
            watcher.receive(frame, static_cast<std::int64_t>(frame), other);
        }
    CHECK(watcher.connections().size() == 600);
    CHECK(watcher.dropped() > 0);
}
