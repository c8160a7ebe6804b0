// Real captures: every packet parses strictly, every snapshot is rebuilt with the right checksum, messages and packets can be
// written again byte for byte, and connections that shadow the real ones agree with them.
#include "captures.hpp"
#include "check.hpp"
#include "corpus.hpp"
#include "message_list.hpp"

#include <teewire/connection.hpp>
#include <teewire/packet.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

using namespace teewire;

namespace {

using addresses = std::pair<std::uint64_t, std::uint64_t>; // the smaller one first

std::vector<std::filesystem::path> captures() {
    std::vector<std::filesystem::path> paths;
    for (auto const& entry : std::filesystem::directory_iterator{corpus::folder() / "pcap"})
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// A game packet with its protocol, known from one datagram between the two addresses.
struct game_packet {
    test::udp_datagram datagram;
    addresses between;
    bool v07 = false;

    [[nodiscard]] wire_format format() const { return v07 ? wire_format::v07 : wire_format::v06; }
    [[nodiscard]] protocol version() const { return v07 ? protocol::teeworlds_07 : protocol::ddnet; }
};

std::vector<game_packet> game_packets(std::vector<std::uint8_t> const& file) {
    auto const datagrams = test::read_capture(file);
    std::map<addresses, packet_guess> guesses;
    for (auto const& d : datagrams) {
        auto const guess = guess_packet(d.payload);
        if (guess != packet_guess::v06 && guess != packet_guess::v07) continue;
        auto const first = guesses.emplace(std::minmax(d.from, d.to), guess).first;
        CHECK(first->second == guess); // never one thing and then the other
    }
    std::vector<game_packet> packets;
    for (auto const& d : datagrams) {
        auto const guess = guess_packet(d.payload);
        CHECK(guess != packet_guess::foreign);
        if (guess == packet_guess::connless_06 || guess == packet_guess::connless_07) {
            CHECK(parse_connless(d.payload));
            continue;
        }
        addresses const between = std::minmax(d.from, d.to);
        auto const known = guesses.find(between);
        REQUIRE(known != guesses.end());
        packets.push_back({d, between, known->second == packet_guess::v07});
    }
    return packets;
}

/// Rebuilds the snapshots of one connection.
class watched_connection {
public:
    watched_connection(std::uint64_t client, std::uint64_t server, bool v07)
        : client_{client}, server_{server}, v07_{v07}, receiver_{parts_, entries_, block_, options_for(v07)} {}

    void restart() {
        receiver_.reset();
        last_sequence_.reset();
    }

    void chunk_arrives(chunk const& c, message const& m, message_type type, std::uint64_t from,
                       snapshot_scratch& scratch) {
        if (from != server_) return;
        if (c.vital) {
            unsigned const ahead = last_sequence_ ? (c.sequence - *last_sequence_) & 1023U : 1;
            if (ahead == 0 || ahead >= 512) return;
            last_sequence_ = c.sequence;
            if (type == message_type::map_change) receiver_.reset();
            return;
        }
        auto const event = receiver_.receive(m, scratch);
        switch (event.kind) {
        case snapshot_event_kind::snapshot:
            ++snapshots;
            ++(event.has_checksum ? checksum_ok_ : empty_);
            checksum_sum_ += event.snapshot.checksum();
            max_items_ = std::max(max_items_, event.snapshot.size());
            break;
        case snapshot_event_kind::missing_base: ++missing_base_; break;
        case snapshot_event_kind::damaged:
            ++(event.error.code == errc::bad_checksum ? checksum_bad_ : undecodable_);
            break;
        case snapshot_event_kind::malformed: ++undecodable_; break;
        default: break;
        }
    }

    /// As in the files of expected values, without blanks.
    [[nodiscard]] std::string summary() const {
        char text[512];
        std::snprintf(text, sizeof text,
                      "{\"client\":\"%s\",\"server\":\"%s\",\"protocol\":\"%s\",\"snapshots\":%zu,"
                      "\"checksum_ok\":%zu,\"checksum_bad\":%zu,\"empty\":%zu,\"missing_base\":%zu,"
                      "\"undecodable\":%zu,\"checksum_sum\":\"%08" PRIx32 "\",\"max_items\":%zu}",
                      test::address_text(client_).c_str(), test::address_text(server_).c_str(),
                      v07_ ? "0.7" : "0.6", snapshots, checksum_ok_, checksum_bad_, empty_, missing_base_,
                      undecodable_, checksum_sum_, max_items_);
        return text;
    }

    std::size_t snapshots = 0;

private:
    static snapshot_receiver::options options_for(bool v07) {
        snapshot_receiver::options o;
        o.version = v07 ? protocol::teeworlds_07 : protocol::ddnet;
        o.sizes = v07 ? &sizes_07 : &sizes_06;
        o.listening = snapshot_listening::observer;
        return o;
    }

    std::uint64_t client_, server_;
    bool v07_;
    std::optional<std::uint16_t> last_sequence_;
    std::vector<snapshot_parts> parts_ = std::vector<snapshot_parts>(4);
    std::vector<history::entry> entries_ = std::vector<history::entry>(400);
    std::vector<std::int32_t> block_ = std::vector<std::int32_t>(1 << 20);
    snapshot_receiver receiver_;
    std::size_t checksum_ok_ = 0, checksum_bad_ = 0, empty_ = 0, missing_base_ = 0, undecodable_ = 0,
                max_items_ = 0;
    std::uint32_t checksum_sum_ = 0;
};

std::string without_blanks(std::vector<std::uint8_t> const& text) {
    std::string kept;
    for (auto const c : text)
        if (c != ' ' && c != '\n') kept += static_cast<char>(c);
    return kept;
}

bool is_snapshot(message_type type) {
    return type == message_type::snap || type == message_type::snap_empty || type == message_type::snap_single;
}

struct capture_counts {
    std::size_t packets = 0, snapshots = 0;
};

capture_counts check_capture(std::filesystem::path const& path) {
    auto const file = corpus::read_bytes(path);
    auto const scratch = std::make_unique<snapshot_scratch>();
    payload_memory memory;
    std::vector<addresses> order;
    std::map<addresses, std::unique_ptr<watched_connection>> connections;
    std::size_t refused = 0, odd_rest = 0, bad_messages = 0;
    auto const packets = game_packets(file);
    for (auto const& [d, between, v07] : packets) {
        game_packet const of{d, between, v07};
        auto const p = parse_packet(d.payload, of.format());
        if (!p) {
            ++refused;
            continue;
        }
        auto const [place, is_new] = connections.try_emplace(between);
        auto& known = place->second;
        if (is_new) order.push_back(between);
        if (p->control) {
            auto const m = parse_control(p->payload, of.format());
            refused += !m;
            if (m && m->code == control_code::connect && known != nullptr) known->restart();
            continue;
        }
        auto const payload = decode_payload(*p, memory);
        if (!payload) {
            ++refused;
            continue;
        }
        chunk_reader chunks{*payload, p->chunks, of.format()};
        for (chunk c; chunks.next(c);) {
            auto const m = parse_message(c.data);
            if (!m) {
                ++bad_messages;
                continue;
            }
            message_type const type = identify(*m, of.version());
            if (known == nullptr && (is_snapshot(type) || type == message_type::map_change)) {
                known = std::make_unique<watched_connection>(d.to, d.from, v07);
            }
            if (known != nullptr) known->chunk_arrives(c, *m, type, d.from, *scratch);
        }
        bool const whole = chunks.error().code == errc::ok;
        odd_rest += !whole || (!chunks.rest().empty() && (v07 || chunks.rest().size() != 4));
    }
    CHECK(refused == 0);
    CHECK(odd_rest == 0);
    CHECK(bad_messages == 0);

    capture_counts counts{packets.size(), 0};
    std::string all;
    for (auto const& between : order) {
        auto const& c = connections[between];
        if (c == nullptr || c->snapshots == 0) continue;
        if (!all.empty()) all += ',';
        all += c->summary();
        counts.snapshots += c->snapshots;
    }
    auto const expected = corpus::folder() / "expected/pcap" / (path.stem().string() + ".json");
    CHECK('[' + all + ']' == without_blanks(corpus::read_bytes(expected)));
    return counts;
}

} // namespace

TEST_CASE("every capture holds the snapshots that another decoder found in it") {
    capture_counts all;
    auto const paths = captures();
    for (auto const& path : paths) {
        CAPTURE(path.filename().string());
        auto const counts = check_capture(path);
        CHECK(counts.snapshots > 0);
        all.packets += counts.packets;
        all.snapshots += counts.snapshots;
    }
    std::printf("%zu captures: %zu packets, %zu snapshots\n", paths.size(), all.packets, all.snapshots);
    CHECK(paths.size() >= 18);
}

namespace {

/// Calls use(packet, head, payload) for every packet with chunks of every capture.
template <class Use>
void for_each_payload(Use&& use) {
    payload_memory memory;
    for (auto const& path : captures()) {
        CAPTURE(path.filename().string());
        auto const file = corpus::read_bytes(path);
        for (auto const& of : game_packets(file)) {
            auto const p = parse_packet(of.datagram.payload, of.format());
            REQUIRE(p);
            if (p->control) continue;
            auto const payload = decode_payload(*p, memory);
            REQUIRE(payload);
            use(of, *p, *payload);
        }
    }
}

/// How the packet is laid out, and its token: DDNet's is what the chunks leave over.
std::pair<wire_format, std::uint32_t> layout_of(game_packet const& of, packet const& p,
                                                std::span<std::uint8_t const> rest) {
    if (of.v07) return {wire_format::v07, p.token};
    if (p.has_token) return {wire_format::v06_token, p.token};
    if (rest.size() == 4) return {wire_format::ddnet, static_cast<std::uint32_t>(test::big_endian(rest, 0, 4))};
    return {wire_format::v06, no_token};
}

} // namespace

TEST_CASE("messages of every capture can be written again byte for byte") {
    std::map<std::string_view, std::size_t> seen;
    for_each_payload([&](game_packet const& of, packet const& p, std::span<std::uint8_t const> payload) {
        chunk_reader chunks{payload, p.chunks, of.format()};
        for (chunk c; chunks.next(c);) {
            auto const m = parse_message(c.data);
            REQUIRE(m);
            auto const again = test::write_again(*m, of.version());
            if (!again) continue;
            auto const& what = describe(identify(*m, of.version()));
            ++seen[what.name];
            CAPTURE(std::string{what.name});
            auto sent = test::copy_of(c.data);
            // DDNet's clients send enter_game's number with an int for map chunks of 0.7; servers ignore that int.
            if (what.type == message_type::enter_game) sent.resize(1);
            // And some of 0.7 leave out the last int of inputs.
            if (what.type == message_type::input && again->size() == sent.size() + 1) sent.push_back(0);
            if (*again != sent) CHECK(test::hex(*again) == test::hex(sent));
        }
    });
    CHECK(seen.size() >= 30);
    std::printf("%zu kinds of messages written again\n", seen.size());
}

TEST_CASE("packets of every capture can be written again byte for byte") {
    packet_memory out;
    std::size_t written = 0;
    for_each_payload([&](game_packet const& of, packet const& p, std::span<std::uint8_t const> payload) {
        chunk_reader chunks{payload, p.chunks, of.format()};
        std::vector<chunk> all;
        for (chunk c; chunks.next(c);) all.push_back(c);
        auto const [format, token] = layout_of(of, p, chunks.rest());
        packet_head const head{p.ack, p.resend, token};
        packet_writer writer{format};
        bool fits = true;
        for (auto const& c : all) fits = fits && writer.add(c).code == errc::ok;
        if (!fits) { // only DDNet's programs fill packets beyond what 0.6.5 can take
            CHECK(payload.size() > max_payload_bytes);
            return;
        }
        auto const sent = of.datagram.payload;
        auto const same = [&](huffman_end ending) {
            auto const again = writer.finish(head, out, ending);
            return std::equal(again.begin(), again.end(), sent.begin(), sent.end());
        };
        bool const equal = same(huffman_end::padded) || same(huffman_end::exact);
        if (!equal) CHECK(test::hex(writer.finish(head, out)) == test::hex(sent));
        ++written;
    });
    std::printf("%zu packets written again\n", written);
    CHECK(written > 100000);
}

namespace {

/// A connection of ours at one end of a captured one: it queues what the real end sent, and gets what that end got.
struct shadow {
    connection_memory<32768, 500> memory;
    std::optional<connection> ours;
    std::uint64_t self = 0;
    std::uint16_t sequence = 0;
    std::size_t accepted = 0, dropped = 0, vital = 0;
};

struct shadowed {
    std::unique_ptr<shadow> client = std::make_unique<shadow>(), server = std::make_unique<shadow>();
    bool started = false;
};

} // namespace

TEST_CASE("connections that shadow captured ones accept every packet") {
    payload_memory memory;
    packet_memory out;
    std::size_t accepted = 0;
    for (auto const& path : captures()) {
        if (path.stem() == "b6_lossy") continue; // shows both sides of a relay, with different losses
        CAPTURE(path.filename().string());
        auto const file = corpus::read_bytes(path);
        std::map<addresses, shadowed> all;
        std::map<addresses, connection_tokens> tokens_07;
        for (auto const& of : game_packets(file)) {
            auto const& d = of.datagram;
            auto const p = parse_packet(d.payload, of.format());
            REQUIRE(p);
            if (p->control) {
                auto const m = parse_control(p->payload, of.format());
                REQUIRE(m);
                auto& known = tokens_07[{d.from, d.to}];
                if (m->has_token) known.own = m->token;
                continue;
            }
            auto const payload = decode_payload(*p, memory);
            REQUIRE(payload);
            chunk_reader chunks{*payload, p->chunks, of.format()};
            std::vector<chunk> sent;
            std::vector<std::vector<std::uint8_t>> data;
            for (chunk c; chunks.next(c);) {
                sent.push_back(c);
                data.push_back(test::copy_of(c.data));
            }
            auto& pair = all[of.between];
            if (!pair.started) {
                // The first packet with chunks is the client's.
                auto const [format, token] = layout_of(of, *p, chunks.rest());
                connection_tokens tokens{token, token};
                if (of.v07) tokens.peer = tokens_07[{d.from, d.to}].own;
                pair.server->ours = connection::server(format, tokens, pair.server->memory, 0);
                pair.client->ours = connection::server(format, {tokens.peer, tokens.own}, pair.client->memory, 0);
                pair.client->self = d.from;
                pair.server->self = d.to;
                pair.started = true;
            }
            auto& from = *(pair.client->self == d.from ? pair.client : pair.server);
            auto& to = *(pair.client->self == d.from ? pair.server : pair.client);
            for (std::size_t i = 0; i < sent.size(); ++i) {
                if (!sent[i].vital || sent[i].sequence != (from.sequence + 1) % sequence_modulus) continue;
                from.sequence = sent[i].sequence;
                REQUIRE(from.ours->queue(data[i], true, 0, out, [](auto) {}) == failure{});
            }
            auto const result = to.ours->receive(d.payload, 0, memory);
            if (result.kind == received_kind::chunks) {
                ++to.accepted;
                for (chunk c; to.ours->next_chunk(c);) to.vital += c.vital;
            } else {
                ++to.dropped;
            }
        }
        for (auto const& [between, pair] : all) {
            CHECK(pair.server->dropped == 0);
            CHECK(pair.client->dropped == 0);
            CHECK(pair.client->vital % sequence_modulus == pair.server->sequence);
            CHECK(pair.server->vital % sequence_modulus == pair.client->sequence);
            accepted += pair.server->accepted + pair.client->accepted;
        }
    }
    std::printf("%zu packets accepted by shadowing connections\n", accepted);
    CHECK(accepted > 100000);
}
