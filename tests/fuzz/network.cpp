// Everything that reads bytes of the network. The first byte chooses what; a second one the protocol.
#include "fuzz.hpp"
#include "message_list.hpp"

#include <teewire/connection.hpp>
#include <teewire/handshake.hpp>
#include <teewire/server_info.hpp>
#include <teewire/snapshot_receiver.hpp>

#include <optional>
#include <vector>

using namespace teewire;

namespace {

struct memory {
    payload_memory payload;
    packet_memory out;
    connection_memory<> sent;
    snapshot_scratch scratch;
    std::array<snapshot_parts, 2> parts;
    std::array<history::entry, 20> entries;
    std::array<std::int32_t, 40000> block;
};
auto& m = fuzz::lasting<memory>();

void read_message(std::span<std::uint8_t const> bytes, protocol version) {
    auto const message = parse_message(bytes);
    if (!message) return;
    message_type const type = identify(*message, version);
    static_cast<void>(decode_game_message(*message, version));
    test::with_type(type, [&]<class T>(T) {
        auto const value = decode<T>(*message, version);
        if (!value) return FUZZ_REQUIRE(value.error().position <= message->fields.size());
        std::array<std::uint8_t, 4096> again;
        static_cast<void>(encode(*value, version, again));
    });
}

void read_datagram(std::span<std::uint8_t const> bytes, wire_format format) {
    static_cast<void>(guess_packet(bytes));
    note_log notes;
    if (!parse_connless(bytes, &notes)) static_cast<void>(parse_packet(bytes, format, decoding::strict));
    if (auto const p = parse_connless(bytes)) {
        static_cast<void>(parse_server_info(*p));
        static_cast<void>(parse_server_info_request(*p));
    }
    auto const p = parse_packet(bytes, format, decoding::lenient);
    if (!p) return FUZZ_REQUIRE(p.error().position <= bytes.size());
    static_cast<void>(parse_control(p->payload, format));
    auto const payload = decode_payload(*p, m.payload);
    if (!payload) return;
    chunk_reader chunks{*payload, p->chunks, format};
    for (chunk c; chunks.next(c);)
        read_message(c.data, format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet);
}

// Datagrams, each after its size in two bytes, to a connection that answers.
void talk(std::span<std::uint8_t const> bytes, wire_format format, bool client) {
    milliseconds now = 0;
    auto c = client ? connection::client(format, 0x20202020, m.sent, now)
                    : connection::server(format, {0x20202020, 0x20202020}, m.sent, now);
    server_gate const gate{{}, {true, true, true, true}};
    while (!bytes.empty()) {
        fuzz::input in{bytes};
        std::size_t const size = in.word() % 2048U;
        auto const datagram = in.take(size);
        bytes = in.rest();
        now += 1 + static_cast<milliseconds>(size * 7);
        FUZZ_REQUIRE(gate.receive(datagram, {}, now, m.out).reply.size() <= datagram.size());
        if (c.receive(datagram, now, m.payload).kind == received_kind::chunks)
            for (chunk in; c.next_chunk(in);)
                static_cast<void>(
                    c.queue(in.data.first(std::min<std::size_t>(in.data.size(), 1000)), in.vital, now));
        std::array<std::uint8_t, 700> const large{};
        bool const room = c.vital_room(large.size());
        auto const queued = c.queue(large, true, now);
        if (queued.code == errc::ok) FUZZ_REQUIRE(room);
        FUZZ_REQUIRE(!describe(c.cause()).empty() && !name(c.format()).empty() && c.unacknowledged() <= 256);
        int answers = 0;
        while (!c.poll(now, m.out).empty()) FUZZ_REQUIRE(++answers < 100);
        FUZZ_REQUIRE(c.state() == connection_state::closed || c.next_poll() > now);
    }
}

// Messages, each after its size in two bytes, to a receiver of snapshots.
void watch(std::span<std::uint8_t const> bytes, protocol version, snapshot_listening listening) {
    snapshot_receiver receiver{
        m.parts,
        m.entries,
        m.block,
        {version, version == protocol::teeworlds_07 ? &sizes_07 : &sizes_06, listening, decoding::strict, nullptr}};
    while (bytes.size() >= 2) {
        std::size_t const size = std::min<std::size_t>(bytes[0] | bytes[1] << 8, bytes.size() - 2);
        auto const message = parse_message(bytes.subspan(2, size));
        bytes = bytes.subspan(2 + size);
        if (!message) continue;
        auto const event = receiver.receive(*message, m.scratch);
        if (event.kind == snapshot_event_kind::snapshot && event.has_checksum)
            FUZZ_REQUIRE(event.snapshot.checksum() == event.checksum);
    }
}

// ---- writer against reader -----------------------------------------------------------------------------------------

// Chunks as the input says, written into one packet and read again.
void write_packet(fuzz::bytes_view bytes, wire_format format) {
    fuzz::input in{bytes};
    packet_head head;
    head.ack = static_cast<std::uint16_t>(in.word() % sequence_modulus);
    head.resend = (in.byte() & 1) != 0;
    head.token = in.number();
    huffman_end const ending = in.byte() & 1 ? huffman_end::padded : huffman_end::exact;
    packet_writer writer{format};
    std::vector<chunk> given;
    while (!in.empty()) {
        std::uint32_t const flags = in.word();
        chunk c;
        c.vital = (flags & 1) != 0;
        c.resend = c.vital && (flags & 2) != 0;
        c.sequence = c.vital ? static_cast<std::uint16_t>(in.word() % sequence_modulus) : std::uint16_t{0};
        c.data = in.take(flags >> 2 & 0x3ff);
        bool const fits = writer.fits(c.data.size());
        FUZZ_REQUIRE((writer.add(c).code == errc::ok) == fits);
        if (fits) given.push_back(c);
    }
    if (given.empty()) return;
    auto const datagram = writer.finish(head, m.out, ending);
    FUZZ_REQUIRE(!datagram.empty() && datagram.size() <= max_packet_bytes);
    fuzz::exact<std::uint8_t> const copy{datagram};
    auto const p = parse_packet(copy.view(), format, decoding::strict);
    FUZZ_REQUIRE(p && !p->control && p->ack == head.ack && p->resend == head.resend);
    FUZZ_REQUIRE(p->chunks == given.size());
    auto const guess = guess_packet(copy.view());
    FUZZ_REQUIRE(guess != packet_guess::connless_06 && guess != packet_guess::connless_07);
    auto const payload = decode_payload(*p, m.payload);
    FUZZ_REQUIRE(payload);
    chunk_reader chunks{*payload, p->chunks, format};
    for (chunk const& expected : given) {
        chunk c;
        FUZZ_REQUIRE(chunks.next(c) && c.vital == expected.vital && c.resend == expected.resend);
        FUZZ_REQUIRE(c.sequence == expected.sequence && fuzz::same(c.data, expected.data));
    }
    chunk none;
    FUZZ_REQUIRE(!chunks.next(none) && chunks.error().code == errc::ok);
    FUZZ_REQUIRE(chunks.rest().size() == (format == wire_format::ddnet ? 4U : 0U));
}

// A client and a server that talk over a link which loses and repeats: vital messages arrive once and in order.
void converse(fuzz::bytes_view bytes, wire_format format) {
    fuzz::input in{bytes};
    auto& other = fuzz::lasting<connection_memory<>>();
    milliseconds now = 0;
    server_gate const gate{{1, 2, 3}, {true, true, true, true}};
    static constexpr std::uint8_t address[] = {10, 0, 0, 2, 1, 2};
    auto client = connection::client(format, 0x12345678, m.sent, now);
    std::optional<connection> server;
    std::uint32_t queued[2] = {0, 0}; // by sender: client, server
    std::uint32_t arrived[2] = {0, 0};
    auto const take = [&](connection& c, int from, fuzz::bytes_view datagram) {
        auto const got = c.receive(datagram, now, m.payload);
        FUZZ_REQUIRE(got.kind != received_kind::dropped || got.error.code != errc::ok);
        for (chunk in_chunk; c.next_chunk(in_chunk);) {
            if (!in_chunk.vital) continue;
            FUZZ_REQUIRE(in_chunk.data.size() >= 4);
            std::uint32_t number = 0;
            for (int i = 3; i >= 0; --i) number = number << 8 | in_chunk.data[static_cast<std::size_t>(i)];
            FUZZ_REQUIRE(number == arrived[from]++);
        }
    };
    auto const deliver = [&](int from, fuzz::bytes_view datagram) {
        fuzz::exact<std::uint8_t> const copy{datagram};
        if (from == 1) return take(client, 1, copy.view());
        if (!server) {
            auto const d = gate.receive(copy.view(), address, now, m.out);
            FUZZ_REQUIRE(d.reply.size() <= copy.view().size());
            std::vector<std::uint8_t> const reply{d.reply.begin(), d.reply.end()};
            if (d.what == server_gate::verdict::accept) {
                server = connection::server(d.format, d.tokens, other, now);
                if (d.data) take(*server, 0, copy.view());
            }
            if (!reply.empty()) take(client, 1, reply);
            return;
        }
        take(*server, 0, copy.view());
    };
    auto const poll = [&](int from, std::uint8_t fate) {
        packet_memory out;
        for (int packets = 0;; ++packets) {
            FUZZ_REQUIRE(packets < 200);
            auto const packet = from == 0 ? client.poll(now, out) : server->poll(now, out);
            if (packet.empty()) return;
            if (fate % 4 == 1) continue; // lost
            deliver(from, packet);
            if (fate % 4 == 2) deliver(from, packet);
        }
    };
    for (int steps = 0; steps < 200 && !in.empty(); ++steps) {
        std::uint8_t const step = in.byte();
        int const from = step & 1;
        if (from == 1 && !server) {
            poll(0, 0);
            now += 100;
            continue;
        }
        connection& sender = from == 0 ? client : *server;
        switch (step / 2 % 4) {
        case 0:
        case 1: {
            std::array<std::uint8_t, 1000> message{};
            std::uint8_t const size = in.byte();
            bool const vital = step / 2 % 4 == 0;
            for (std::size_t i = 0; i < 4; ++i) message[i] = static_cast<std::uint8_t>(queued[from] >> 8 * i);
            if (sender.queue(std::span{message}.first(4 + size * 3U), vital, now).code == errc::ok)
                queued[from] += vital;
            break;
        }
        case 2:
            sender.flush();
            poll(from, step / 8);
            break;
        default: now += step / 8 * 20; poll(from, 0);
        }
        FUZZ_REQUIRE(arrived[0] <= queued[0] && arrived[1] <= queued[1]);
    }
    // All arrives in the end, unless one side gave up.
    for (int i = 0; i < 60; ++i) {
        if (client.state() == connection_state::closed) return;
        if (server && server->state() == connection_state::closed) return;
        client.flush();
        poll(0, 0);
        if (server) {
            server->flush();
            poll(1, 0);
        }
        now += 150;
    }
    FUZZ_REQUIRE(arrived[0] == queued[0] && arrived[1] == queued[1]);
    client.close("enough");
    poll(0, 0);
    if (server) FUZZ_REQUIRE(server->state() == connection_state::closed && server->reason() == "enough");
}

// Server descriptions, requests and control messages.
void write_info(fuzz::bytes_view bytes, wire_format format) {
    fuzz::input in{bytes};
    server_info_request request;
    request.kind = static_cast<server_info_kind>(in.byte() % 4);
    request.token = in.integer();
    if (request.kind == server_info_kind::v06_extended) request.token &= 0xffffff;
    else if (request.kind != server_info_kind::v07) request.token &= 0xff;
    std::array<std::uint8_t, 64> small;
    auto const asked = write_server_info_request(request, in.number(), in.number(), small);
    FUZZ_REQUIRE(asked);
    auto const question = parse_connless(std::span{small}.first(*asked));
    FUZZ_REQUIRE(question);
    auto const understood = parse_server_info_request(*question);
    FUZZ_REQUIRE(understood && understood->kind == request.kind && understood->token == request.token);

    auto const text = [&] {
        auto const raw = in.take(in.byte() % 64);
        std::string_view const all{reinterpret_cast<char const*>(raw.data()), raw.size()};
        return all.substr(0, all.find('\0'));
    };
    server_description server;
    server.version = text();
    server.name = text();
    server.map = text();
    server.game_type = text();
    server.host_name = text();
    server.flags = in.byte();
    server.players = in.byte() % 64;
    server.clients = server.players + in.byte() % 64;
    server.max_players = server.max_clients = 128;
    std::vector<listed_client> clients(in.byte() % 80);
    for (auto& c : clients) {
        c.name = text();
        c.clan = text();
        c.score = in.integer();
        c.player = (c.score & 1) != 0;
    }
    fuzz::exact<std::uint8_t> const out{in.word() % 1400U};
    auto const written = write_server_info(request, server, clients, out.span());
    if (!written) FUZZ_REQUIRE(written.error().code == errc::output_full);
    if (written) {
        FUZZ_REQUIRE(*written <= out.view().size());
        connless_packet p = *question;
        p.payload = out.view().first(*written);
        auto const read = parse_server_info(p);
        FUZZ_REQUIRE(read && read->kind == request.kind && read->server.name == server.name);
        FUZZ_REQUIRE(read->server.map == server.map && read->server.version == server.version);
        std::array<std::uint8_t, 1500> whole;
        auto const datagram = write_connless(p, whole);
        if (!datagram) return FUZZ_REQUIRE(p.payload.size() + max_connless_header > max_packet_bytes);
        auto const again = parse_connless(std::span{whole}.first(*datagram));
        FUZZ_REQUIRE(again && fuzz::same(again->payload, p.payload));
    }

    control_message said;
    said.code = static_cast<control_code>(in.byte() % 6);
    said.reason = text();
    said.token = in.number() | 1;
    if (said.token == no_token) said.token = 1;
    said.has_token = true;
    said.ddnet = format == wire_format::ddnet;
    packet_head head;
    head.token = said.token;
    if (said.code == (format == wire_format::v07 ? control_code::accept : control_code::token)) return; // of others
    auto const datagram = write_control(said, format, head, m.out);
    FUZZ_REQUIRE(!datagram.empty() && datagram.size() <= max_packet_bytes);
    auto const p = parse_packet(datagram, format, decoding::strict);
    FUZZ_REQUIRE(p && p->control);
    auto const read = parse_control(p->payload, format);
    FUZZ_REQUIRE(read && read->code == said.code && !name(read->code).empty());
    if (said.code == control_code::close && format != wire_format::ddnet) FUZZ_REQUIRE(read->reason == said.reason);
}

void run_target(fuzz::bytes_view data) {
    if (data.size() < 2) return;
    auto const format = static_cast<wire_format>(data[1] % 4);
    protocol const version = format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    auto const bytes = data.subspan(2);
    switch (data[0] % 9) {
    case 0: read_datagram(bytes, format); break;
    case 1: read_message(bytes, version); break;
    case 2: talk(bytes, format, false); break;
    case 3: talk(bytes, format, true); break;
    case 4: watch(bytes, version, snapshot_listening::client); break;
    case 5: watch(bytes, version, snapshot_listening::observer); break;
    case 6: write_packet(bytes, format); break;
    case 7: converse(bytes, format); break;
    default: write_info(bytes, format); break;
    }
}

} // namespace

FUZZ_TARGET("network", run_target)
