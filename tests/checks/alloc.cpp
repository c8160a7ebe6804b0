// No function of lib allocates: while one runs, malloc and operator new end the program.
//   alloc-test DEMO...
#include "allocation_trap.hpp"
#include "workloads.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/demo_writer.hpp>
#include <teewire/history.hpp>
#include <teewire/huffman.hpp>
#include <teewire/message.hpp>
#include <teewire/snapshot_builder.hpp>
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
};

// What a server does per tick.
void serve(everything& m, snapshot_builder& builder, history& past, std::int32_t tick, snapshot_view wanted) {
    builder.start();
    for (item const i : wanted)
        if (i.type() != type_describing) REQUIRE(builder.add(i));
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
    auto const memory = std::make_unique<everything>();
    try_trap();

    auto const workloads = bench::synthetic_workloads();
    for (auto const& w : workloads) {
        forbidden = true;
        snapshot_builder builder{memory->builder};
        history past{memory->history_entries, memory->history_block};
        for (std::int32_t tick = 1; tick < 200; ++tick)
            serve(*memory, builder, past, tick, snapshot_view::trusted(tick % 2 == 0 ? w.from : w.to));
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
