// No function of lib allocates: while one runs, malloc and operator new end the program.
//   alloc-test DEMO...
#include "allocation_trap.hpp"
#include "cpu_level.hpp"
#include "workloads.hpp"

#include <teewire/connection.hpp>
#include <teewire/demo_reader.hpp>
#include <teewire/demo_writer.hpp>
#include <teewire/handshake.hpp>
#include <teewire/history.hpp>
#include <teewire/huffman.hpp>
#include <teewire/message.hpp>
#include <teewire/server_info.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/snapshot_receiver.hpp>
#include <teewire/snapshot_sender.hpp>
#include <teewire/varint.hpp>

#include <fstream>
#include <iterator>
#include <memory>

using namespace teewire;

namespace {

struct everything {
    demo_player_memory player;
    demo_encoder_memory encoder;
    demo_writer_memory writer;
    delta_memory<> delta;
    live_snapshot_memory<> live;
    std::array<std::int32_t, 16384> applied;
    snapshot_builder_memory<> builder;
    key_index_memory<> index;
    std::array<history::entry, 150> history_entries;
    std::array<std::int32_t, 1 << 20> history_block;
    std::array<std::uint8_t, demo_writer::max_bytes> bytes;
    std::array<std::uint8_t, 1 << 18> coded;
    std::array<std::int32_t, 1 << 16> ints;
    std::array<type_usage, 64> usage;
    std::array<demo_keyframe, 4096> keyframes;
    std::array<char, 256> text;
    connection_memory<> server, client;
    payload_memory payload;
    packet_memory packet, answer;
    snapshot_scratch scratch;
    std::array<snapshot_parts, 2> parts;
    std::array<history::entry, 150> received_entries;
    std::array<std::int32_t, 1 << 20> received_block;
};

// The work of a server per tick.
void serve(everything& m, snapshot_builder& builder, history& past, std::int32_t tick, snapshot_view wanted) {
    builder.start();
    for (item const i : wanted)
        if (i.type() != type_ex) REQUIRE(builder.add(i));
    snapshot_view const built = builder.finish();
    key_index index{m.index};
    REQUIRE(index.build(built));
    auto const base = past.newest() ? *past.find(*past.newest()) : snapshot_view{};
    auto const delta = create_delta(base, built, sizes_06, m.delta, m.ints);
    REQUIRE(delta);
    if (!delta->empty()) {
        REQUIRE(inspect_delta(*delta, sizes_06, m.usage));
        auto const packed = encode_varints(*delta, m.coded);
        REQUIRE(packed);
        REQUIRE(huffman_encode(std::span{m.coded}.first(*packed), std::span{m.coded}.subspan(1 << 17)));
        auto const applied = apply_delta(base, *delta, sizes_06, m.delta, m.applied);
        REQUIRE(applied && applied->checksum() == built.checksum());
        live_snapshot live{m.live};
        REQUIRE(live.assign(base).code == errc::ok && live.apply(*delta, sizes_06).code == errc::ok);
        REQUIRE(live.checksum() == built.checksum() && live.view().checksum() == built.checksum());
    }
    REQUIRE(past.add(tick, built));
    REQUIRE(builder.finish(m.applied, item_order::by_key));
}

// A client joins over the network, watches, sends its inputs and leaves.
void watch(everything& m, wire_format format, snapshot_view from, snapshot_view to) {
    constexpr std::array<std::uint8_t, 6> address = {127, 0, 0, 1, 32, 111};
    protocol const version = format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    server_gate const gate{{1, 2, 3}, {true, true, true, true}};
    auto client = connection::client(format, 4711, m.client, 0);
    auto server = connection::server(format, {}, m.server, 0);
    bool accepted = false;
    snapshot_sender sender{m.history_entries, m.history_block, {version, &sizes_06, max_snapshot_parts}};
    snapshot_receiver receiver{m.parts,
                               m.received_entries,
                               m.received_block,
                               {version, &sizes_06, snapshot_listening::client, decoding::strict, nullptr}};
    std::size_t snapshots = 0;
    std::size_t talk = 0;
    auto const at_client = [&](std::span<std::uint8_t const> d, milliseconds now) {
        if (client.receive(d, now, m.payload).kind != received_kind::chunks) return;
        for (chunk c; client.next_chunk(c);) {
            auto const parsed = parse_message(c.data);
            REQUIRE(parsed);
            if (identify(*parsed, version) == message_type::chat)
                talk += decode<messages::chat>(*parsed, version)->text.size();
            snapshots += receiver.receive(*parsed, m.scratch).kind == snapshot_event_kind::snapshot;
        }
    };
    auto const at_server = [&](std::span<std::uint8_t const> d, milliseconds now) {
        if (!accepted) {
            auto const decision = gate.receive(d, address, now, m.answer);
            if (decision.what == server_gate::verdict::accept) {
                server = connection::server(decision.format, decision.tokens, m.server, now);
                accepted = true;
            }
            if (!decision.reply.empty()) at_client(decision.reply, now);
            if (!decision.data) return;
        }
        if (server.receive(d, now, m.payload).kind != received_kind::chunks) return;
        for (chunk c; server.next_chunk(c);) {
            auto const parsed = parse_message(c.data);
            REQUIRE(parsed);
            if (identify(*parsed, version) == message_type::input)
                sender.acknowledge(decode<messages::input>(*parsed, version)->ack);
        }
    };
    for (std::int32_t tick = 1; tick < 200; ++tick) {
        milliseconds const now = tick * 20;
        bool const lost = tick % 7 == 0;
        if (client.state() == connection_state::online) {
            messages::input in;
            in.ack = receiver.ack();
            auto const message = encode(in, version, m.bytes);
            REQUIRE(message && client.queue(*message, false, now).code == errc::ok);
            client.flush();
        }
        for (auto d = client.poll(now, m.packet); !d.empty(); d = client.poll(now, m.packet)) at_server(d, now);
        if (!accepted) continue;
        auto const send = [&](std::span<std::uint8_t const> d) {
            if (!lost) at_client(d, now);
        };
        auto const chat = encode(messages::chat{0, -1, -1, "hello"}, version, m.bytes);
        REQUIRE(chat && server.queue(*chat, true, now, m.packet, send).code == errc::ok);
        if (sender.due(tick)) {
            auto const encoded = sender.send(tick, tick % 4 == 0 ? from : to, m.scratch);
            if (!encoded && encoded.error().code == errc::too_large)
                return; // no protocol can carry the largest one
            REQUIRE(encoded);
            snapshot_messages parts = *encoded;
            for (std::span<std::uint8_t const> message; parts.next(message);)
                REQUIRE(server.queue(message, false, now, m.packet, send).code == errc::ok);
        }
        server.flush();
        for (auto d = server.poll(now, m.packet); !d.empty(); d = server.poll(now, m.packet)) send(d);
    }
    REQUIRE(snapshots > 20 && talk > 500);
    client.close("bye");
    at_server(client.poll(4000, m.packet), 4000);
    REQUIRE(server.reason() == "bye");

    server_info_request const request{server_info_kind::v06_extended, 1};
    auto const size = write_server_info_request(request, no_token, no_token, m.bytes);
    REQUIRE(size);
    auto const p = parse_connless(std::span{m.bytes}.first(*size));
    REQUIRE(p && parse_server_info_request(*p));
    auto const info = write_server_info(request, {}, {}, m.bytes);
    connless_packet answer;
    answer.payload = std::span{m.bytes}.first(*info);
    REQUIRE(parse_server_info(answer));
    REQUIRE(guess_packet(std::span{m.bytes}.first(*size)) != packet_guess::connless_07);
}

void replay(everything& m, std::span<std::uint8_t const> file) {
    auto const reader = demo_reader::open(file);
    REQUIRE(reader);
    auto const overview = scan_demo(*reader, m.keyframes);
    size_table const& sizes = *detect_size_table(*reader, m.player).sizes;
    note_log notes;
    demo_player player{*reader, m.player, {&sizes, decoding::lenient, &notes}};
    demo_writer writer{m.writer, {6, huffman_end::padded, &sizes}};
    for (demo_event event; player.next(event);) {
        if (event.kind == demo_event_kind::snapshot) {
            static_cast<void>(writer.write_snapshot(event.tick, player.state(), m.bytes));
            for (item const i : player.state())
                if (auto const* known = find_object(protocol::ddnet, i.type()))
                    for (field const& f : known->fields)
                        if (f.kind == field_kind::text) decode_text(i.data.subspan(f.offset, f.ints), m.text);
        } else if (event.kind == demo_event_kind::message) {
            if (auto const parsed = parse_message(event.message))
                static_cast<void>(decode_game_message(*parsed, protocol::ddnet));
            REQUIRE(writer.write_message(event.message, m.bytes));
        }
    }
    demo_header header = reader->header();
    writer.finish(header);
    REQUIRE(write_demo_header(header, m.bytes));
    auto const keyframes = std::span{m.keyframes}.first(overview.keyframes);
    for (std::int32_t tick = overview.last_tick; tick > overview.first_tick; tick -= 333)
        player.seek(tick, keyframes);
}

} // namespace

int main(int argc, char** argv) {
    test::cap_cpu_level_from_environment();
    auto const memory = std::make_unique<everything>();
    try_trap();

    auto const workloads = bench::synthetic_workloads();
    for (auto const& w : workloads) {
        forbidden = true;
        snapshot_builder builder{memory->builder};
        history past{memory->history_entries, memory->history_block};
        for (std::int32_t tick = 1; tick < 200; ++tick)
            serve(*memory, builder, past, tick, snapshot_view::trusted(tick % 2 == 0 ? w.from : w.to));
        for (wire_format const format :
             {wire_format::v06, wire_format::v06_token, wire_format::ddnet, wire_format::v07})
            watch(*memory, format, snapshot_view::trusted(w.from), snapshot_view::trusted(w.to));
        forbidden = false;
    }
    for (int i = 1; i < argc; ++i) {
        std::ifstream file{argv[i], std::ios::binary};
        std::vector<std::uint8_t> const bytes{std::istreambuf_iterator<char>{file}, {}};
        forbidden = true;
        replay(*memory, bytes);
        forbidden = false;
    }
    std::printf("%zu workloads and %d demos without an allocation\n", workloads.size(), argc - 1);
    return argc > 1 ? 0 : 1;
}
