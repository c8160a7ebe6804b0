// The C headers: calls in any order, with untrusted bytes as input. Everything else follows the rules of the header;
// results are within its promises.
#include "fuzz.hpp"

#include <teewire_archive.h>
#include <teewire_table.h>

#include <algorithm>
#include <array>
#include <vector>

using fuzz::exact;

namespace {

template <std::size_t size>
struct room {
    alignas(TEEWIRE_ALIGN) std::array<std::uint8_t, size> bytes;
};

constexpr std::uint32_t snapshot_ints = TEEWIRE_MAX_SNAPSHOT_INTS;
constexpr std::uint32_t history_bytes = TEEWIRE_HISTORY_SIZE(8, 6000);
constexpr std::uint32_t sender_bytes = TEEWIRE_SENDER_SIZE(8, 20000);
constexpr std::uint32_t receiver_bytes = TEEWIRE_RECEIVER_SIZE(2, 8, 20000);

struct memory {
    room<TEEWIRE_SIZES_SIZE> sizes;
    room<TEEWIRE_BUILDER_SIZE> builder;
    room<TEEWIRE_SCRATCH_SIZE> scratch;
    room<history_bytes> history;
    room<sender_bytes> sender;
    room<receiver_bytes> receiver;
    room<TEEWIRE_DEMO_READER_SIZE> reader;
    room<TEEWIRE_DEMO_WRITER_SIZE> writer;
    room<TEEWIRE_KEYFRAMES_SIZE(8)> keyframes;
    room<TEEWIRE_ARCHIVE_MEMORY_SIZE> archive;
    std::array<std::int32_t, snapshot_ints> decoded, sorted, kept;
    std::array<std::int32_t, TEEWIRE_MAX_DELTA_INTS> delta;
    std::array<std::uint8_t, TEEWIRE_MAX_ENCODED_BYTES> encoded;
    std::array<std::uint8_t, TEEWIRE_MAX_DEMO_BYTES> demo;
    std::array<std::uint32_t, TEEWIRE_OUTLINE_WORDS(TEEWIRE_MAX_ITEMS, snapshot_ints)> outline;
};
auto& m = fuzz::lasting<memory>();

// A result is a count within the available room, or an error with its failure.
std::int32_t check(std::int32_t result, std::int64_t most, teewire_failure const& failure) {
    FUZZ_REQUIRE(result <= most && result >= TEEWIRE_BAD_PACKET);
    if (result < 0)
        FUZZ_REQUIRE(failure.code == result && failure.stage >= 0 && failure.stage <= TEEWIRE_STAGE_DELTA);
    FUZZ_REQUIRE(teewire_error_text(result) != nullptr);
    return result;
}

// Ints of snapshots lie in the caller's memory, which the next calls use again.
void look_at(teewire_snapshot const& s) {
    std::uint32_t sum = 0;
    std::int32_t const items = teewire_snapshot_items(&s);
    teewire_item item{}, found{};
    for (std::int32_t i = 0; i < items; ++i) {
        FUZZ_REQUIRE(teewire_snapshot_item(&s, static_cast<std::uint32_t>(i), &item) == TEEWIRE_OK);
        for (std::uint32_t n = 0; n < item.ints; ++n) sum += static_cast<std::uint32_t>(item.data[n]);
        if (i < 4) FUZZ_REQUIRE(teewire_snapshot_find(&s, item.key, &found) == TEEWIRE_OK && found.key == item.key);
        std::array<std::uint8_t, 16> uuid;
        static_cast<void>(teewire_snapshot_extended_type(&s, static_cast<std::uint32_t>(TEEWIRE_KEY_TYPE(item.key)),
                                                         uuid.data()));
    }
    FUZZ_REQUIRE(teewire_snapshot_item(&s, static_cast<std::uint32_t>(items), &item) == TEEWIRE_NOT_FOUND);
    FUZZ_REQUIRE(teewire_snapshot_checksum(&s) == sum);
}

struct caller {
    teewire_sizes* sizes = nullptr;
    teewire_builder* builder = nullptr;
    teewire_scratch* scratch = nullptr;
    teewire_history* history = nullptr;
    teewire_sender* sender = nullptr;
    teewire_receiver* receiver = nullptr;
    teewire_snapshot built{}; // in the builder
    teewire_snapshot held{};  // in m.kept
    std::int32_t tick = 0;
    teewire_failure failure{};

    explicit caller(std::uint8_t choice) {
        FUZZ_REQUIRE(teewire_align() <= TEEWIRE_ALIGN && teewire_abi_version() >> 16 == TEEWIRE_ABI_MAJOR);
        static char const* const names[] = {"0.6", "0.7", "0.7.0", "0.7-recorded"};
        FUZZ_REQUIRE(teewire_history_size(8, 6000) <= history_bytes &&
                     teewire_sender_size(8, 20000) <= sender_bytes);
        FUZZ_REQUIRE(teewire_receiver_size(2, 8, 20000) <= receiver_bytes &&
                     teewire_receiver_size(9, ~0U, ~0U) == 0);
        FUZZ_REQUIRE(teewire_sizes_copy(&sizes, m.sizes.bytes.data(), teewire_sizes_size(),
                                        teewire_sizes_find(names[choice % 4])) == 0);
        FUZZ_REQUIRE(teewire_builder_init(&builder, m.builder.bytes.data(), teewire_builder_size()) == 0);
        FUZZ_REQUIRE(teewire_scratch_init(&scratch, m.scratch.bytes.data(), teewire_scratch_size()) == 0);
        FUZZ_REQUIRE(teewire_history_init(&history, m.history.bytes.data(), history_bytes, 8) == 0);
        teewire_sender_options sending{};
        sending.size = sizeof sending;
        sending.protocol = choice / 4 % 3;
        sending.sizes = sizes;
        sending.snapshots = 8;
        sending.max_parts = 1 + choice / 16;
        FUZZ_REQUIRE(teewire_sender_init(&sender, m.sender.bytes.data(), sender_bytes, &sending) == 0);
        teewire_receiver_options receiving{};
        receiving.size = sizeof receiving;
        receiving.protocol = sending.protocol;
        receiving.sizes = sizes;
        receiving.snapshots = 8;
        receiving.parts = 2;
        receiving.decoding = choice / 64;
        if (receiving.decoding == 3) receiving.decoding = TEEWIRE_LENIENT;
        receiving.observer = choice & 1;
        FUZZ_REQUIRE(teewire_receiver_init(&receiver, m.receiver.bytes.data(), receiver_bytes, &receiving) == 0);
        build();
    }

    void build() { teewire_builder_finish(builder, &built); }

    // A snapshot that stays: in memory of its own, and checked.
    void hold(teewire_snapshot const& s) {
        if (s.size > m.kept.size()) return;
        if (s.ints != m.kept.data()) std::memcpy(m.kept.data(), s.ints, s.size * sizeof(std::int32_t));
        std::uint32_t const flags = s.flags;
        teewire_snapshot_view(&held, m.kept.data(), flags);
        FUZZ_REQUIRE(held.size == s.size);
        look_at(held);
    }

    void encode_and_decode(bool huffman) {
        teewire_encode_options encoding{sizeof encoding, huffman ? TEEWIRE_HUFFMAN_PADDED : TEEWIRE_HUFFMAN_NONE,
                                        sizes};
        teewire_decode_options decoding{sizeof decoding, TEEWIRE_DECODING_DEFAULT, huffman, sizes};
        std::int32_t const size = check(teewire_encode(&held, &built, &encoding, scratch, m.encoded.data(),
                                                       static_cast<std::uint32_t>(m.encoded.size()), &failure),
                                        TEEWIRE_MAX_ENCODED_BYTES, failure);
        std::int32_t const ints = check(
            teewire_delta_create(&held, &built, sizes, scratch, m.delta.data(), TEEWIRE_MAX_DELTA_INTS, &failure),
            TEEWIRE_MAX_DELTA_INTS, failure);
        FUZZ_REQUIRE(size < 0 ? ints == size : (ints == 0) == (size == 0));
        if (size <= 0) return;
        exact<std::uint8_t> const bytes{
            std::span<std::uint8_t const>{m.encoded}.first(static_cast<std::size_t>(size))};
        teewire_snapshot back{};
        std::int32_t const result =
            check(teewire_decode(&held, bytes.view().data(), static_cast<std::uint32_t>(size), &decoding, scratch,
                                 &back, &failure),
                  snapshot_ints, failure);
        exact<std::int32_t> const delta{
            std::span<std::int32_t const>{m.delta}.first(static_cast<std::size_t>(ints))};
        std::uint32_t const checksum = result >= 0 ? teewire_snapshot_checksum(&back) : 0;
        teewire_snapshot same{}; // in the place of `back`
        std::int32_t const applied =
            check(teewire_delta_apply(&held, delta.view().data(), static_cast<std::uint32_t>(ints), &decoding,
                                      scratch, &same, &failure),
                  snapshot_ints, failure);
        FUZZ_REQUIRE(applied == result);
        // An untrusted base may hold keys that no delta can name, or too much next to the new items.
        if (result >= 0) FUZZ_REQUIRE(checksum == teewire_snapshot_checksum(&built));
        else FUZZ_REQUIRE(held.size > 2);
    }

    void decode(fuzz::bytes_view bytes, std::uint8_t choice) {
        teewire_decode_options const options{sizeof options, choice % 3, choice / 3 % 2, sizes};
        teewire_snapshot made{};
        auto const size = static_cast<std::uint32_t>(bytes.size());
        std::int32_t const result =
            check(teewire_decode(&held, bytes.data(), size, &options, scratch, &made, &failure),
                  std::max(snapshot_ints, held.size), failure);
        if (result < 0) return;
        look_at(made);
        hold(made);
    }

    void receive(fuzz::bytes_view bytes) {
        teewire_snapshot_event event{};
        event.size = sizeof event;
        std::int32_t const kind =
            check(teewire_receiver_receive(receiver, bytes.data(), static_cast<std::uint32_t>(bytes.size()),
                                           scratch, &event, &failure),
                  TEEWIRE_RECEIVED_MISSING_BASE, failure);
        if (kind != TEEWIRE_RECEIVED_SNAPSHOT) return;
        if (event.has_checksum != 0) FUZZ_REQUIRE(teewire_snapshot_checksum(&event.snapshot) == event.checksum);
        teewire_snapshot found{};
        FUZZ_REQUIRE(teewire_receiver_find(receiver, event.tick, &found) == TEEWIRE_OK);
        FUZZ_REQUIRE(found.ints == event.snapshot.ints);
        look_at(found);
    }

    void send(std::uint8_t choice) {
        tick += 1 + choice % 8;
        static_cast<void>(teewire_sender_due(sender, tick));
        std::int32_t const messages =
            check(teewire_sender_send(sender, tick, &built, scratch, &failure), 64, failure);
        if (messages < 0) return;
        // The receiver uses scratch memory as well: first all messages, then what becomes of them.
        std::vector<std::vector<std::uint8_t>> all;
        std::uint8_t const* message = nullptr;
        for (std::int32_t size = 0; (size = teewire_sender_next(sender, &message)) > 0;) {
            FUZZ_REQUIRE(size <= TEEWIRE_MAX_MESSAGE_BYTES);
            all.emplace_back(message, message + size);
        }
        FUZZ_REQUIRE(std::ssize(all) == messages);
        if (choice & 16) return; // lost
        for (auto const& bytes : all) receive(bytes);
        if (choice & 32) return;
        std::int32_t const ack = teewire_receiver_ack(receiver);
        FUZZ_REQUIRE(ack >= -1);
        static_cast<void>(teewire_sender_acknowledge(sender, ack));
        static_cast<void>(teewire_receiver_take_urgent(receiver));
    }

    void remember(std::uint8_t choice) {
        teewire_snapshot stored{}, found{};
        tick += choice % 4;
        std::int32_t const count = check(
            teewire_history_add(history, tick, choice & 64 ? &held : &built, 7, &stored, &failure), 8, failure);
        if (count > 0) {
            FUZZ_REQUIRE(teewire_history_find(history, tick, &found, nullptr) == TEEWIRE_OK &&
                         found.ints == stored.ints);
            look_at(found);
        }
        if (choice & 16) teewire_history_drop_before(history, tick - 5);
        if (choice == 255) teewire_history_clear(history);
    }

    void other_bytes(fuzz::bytes_view bytes, std::uint8_t choice) {
        auto const size = static_cast<std::uint32_t>(bytes.size());
        std::uint32_t const capacity = choice < 200 ? snapshot_ints : choice;
        std::int32_t value = 0;
        check(teewire_varint_read(bytes.data(), size, &value, &failure), 5, failure);
        std::int32_t const ints = check(
            teewire_varint_decode(bytes.data(), size, m.decoded.data(), capacity, &failure), capacity, failure);
        if (ints > 0) {
            check(teewire_varint_encode(m.decoded.data(), static_cast<std::uint32_t>(ints), m.encoded.data(),
                                        static_cast<std::uint32_t>(m.encoded.size()), &failure),
                  size, failure);
            teewire_snapshot checked{};
            std::int32_t const items =
                check(teewire_snapshot_check(&checked, m.decoded.data(), static_cast<std::uint32_t>(ints),
                                             choice % 4, &failure),
                      TEEWIRE_MAX_ITEMS, failure);
            if (items >= 0) {
                look_at(checked);
                teewire_snapshot sorted{};
                check(teewire_snapshot_sort(&checked, scratch, m.sorted.data(), snapshot_ints, &sorted, &failure),
                      snapshot_ints, failure);
                FUZZ_REQUIRE(teewire_snapshot_checksum(&sorted) == teewire_snapshot_checksum(&checked));
                hold(checked);
            }
        }
        std::int32_t const plain =
            check(teewire_huffman_decode(bytes.data(), size, m.demo.data(), capacity, &failure), capacity, failure);
        if (plain >= 0)
            check(teewire_huffman_encode(m.demo.data(), static_cast<std::uint32_t>(plain), choice % 4,
                                         m.encoded.data(), static_cast<std::uint32_t>(m.encoded.size()), &failure),
                  static_cast<std::int64_t>(TEEWIRE_HUFFMAN_BOUND(plain)), failure);
    }

    // Options that are out of range or of a newer version, and memory that is too small, are refused.
    void misuse(fuzz::bytes_view options, std::uint8_t choice) {
        std::array<std::uint32_t, 16> words{};
        if (!options.empty()) std::memcpy(words.data(), options.data(), std::min(options.size(), sizeof words));
        words[0] %= sizeof words + 1;
        words[3] = words[2] = 0; // where a pointer would be
        void const* const given = words.data();
        room<TEEWIRE_DEMO_READER_SIZE>& place = m.reader;
        auto const fails_or_fits = [&](std::int32_t code) {
            FUZZ_REQUIRE(code == TEEWIRE_OK || code == TEEWIRE_BAD_ARGUMENT || code == TEEWIRE_TRUNCATED);
        };
        std::uint32_t const size = choice < 128 ? static_cast<std::uint32_t>(place.bytes.size()) : choice;
        void* const memory = place.bytes.data() + (choice & 1);
        teewire_sender* s = nullptr;
        teewire_receiver* r = nullptr;
        teewire_demo_writer* w = nullptr;
        teewire_demo_reader* d = nullptr;
        teewire_history* h = nullptr;
        fails_or_fits(teewire_sender_init(&s, memory, size, static_cast<teewire_sender_options const*>(given)));
        fails_or_fits(teewire_receiver_init(&r, memory, size, static_cast<teewire_receiver_options const*>(given)));
        fails_or_fits(
            teewire_demo_writer_init(&w, memory, size, static_cast<teewire_demo_writer_options const*>(given)));
        fails_or_fits(teewire_demo_reader_init(&d, memory, size, nullptr, 0,
                                               static_cast<teewire_demo_reader_options const*>(given), &failure));
        fails_or_fits(teewire_history_init(&h, memory, size, choice));
        teewire_demo_header header{};
        header.size = words[0];
        header.version = words[1] % 9;
        header.marker_count = words[4] % 70;
        std::int32_t const written = teewire_demo_header_write(&header, m.demo.data(), choice * 4U);
        FUZZ_REQUIRE(written > 0 || written == TEEWIRE_BAD_ARGUMENT || written == TEEWIRE_OUTPUT_FULL);
        if (written > 0)
            FUZZ_REQUIRE(teewire_demo_header_read(m.demo.data(), static_cast<std::uint64_t>(written), &header,
                                                  &failure) == written);
    }

    // Returns how many items of that type there are.
    std::uint64_t tabulate(teewire_snapshot const& s, std::uint32_t type) {
        teewire_table table{};
        table.size = sizeof table;
        table.type = type;
        std::int32_t const fits = teewire_snapshot_rows(&s, 0, 0, &table, &failure); // without columns or room
        auto const needed = fits == 0 ? 0 : failure.position;
        FUZZ_REQUIRE(fits == 0 || (fits == TEEWIRE_OUTPUT_FULL && needed > 0 && table.rows == 0));
        exact<std::int32_t> const values{static_cast<std::size_t>(2 * needed)};
        std::array const columns = {teewire_column{values.span().data(), TEEWIRE_COLUMN_INTS},
                                    teewire_column{values.span().data() + needed, 3}};
        table.columns = columns.data();
        table.column_count = columns.size();
        table.capacity = needed;
        FUZZ_REQUIRE(teewire_snapshot_rows(&s, 0, 0, &table, &failure) == static_cast<std::int32_t>(needed));
        for (std::size_t i = 0; i < needed; ++i)
            FUZZ_REQUIRE(values.view()[i] >= 0 && (values.view()[i] > 3 || values.view()[needed + i] == 0));
        return needed;
    }

    // The whole demo again, in pieces: `expected` rows, and then the same end.
    void tabulate(teewire_demo_reader* reader, std::uint32_t type, std::uint8_t choice, std::uint64_t expected,
                  std::int32_t end) {
        std::int32_t const protocol = teewire_demo_reader_protocol(reader);
        FUZZ_REQUIRE(protocol >= TEEWIRE_PROTOCOL_DDNET && protocol <= TEEWIRE_PROTOCOL_07);
        FUZZ_REQUIRE(teewire_demo_reader_sizes(reader) != nullptr && teewire_demo_reader_tick(reader) == -1);
        std::size_t const room = TEEWIRE_MAX_ITEMS + choice;
        exact<std::int32_t> const values{3 * room};
        std::array<teewire_column, 3> columns{};
        constexpr std::array places = {TEEWIRE_COLUMN_TICK, TEEWIRE_COLUMN_KEYFRAME, TEEWIRE_COLUMN_ID};
        for (std::size_t n = 0; n < columns.size(); ++n) columns[n] = {values.span().data() + n * room, places[n]};
        teewire_table table{};
        table.size = sizeof table;
        table.type = type;
        table.columns = columns.data();
        table.column_count = columns.size();
        table.first_tick = INT32_MIN;
        table.last_tick = INT32_MAX;
        table.capacity = room;
        std::uint64_t rows = 0;
        std::int32_t result = 0;
        do {
            table.rows = 0;
            result = teewire_demo_reader_rows(reader, &table, &failure);
            FUZZ_REQUIRE(table.rows <= room && (result != 1 || table.rows > 0));
            rows += table.rows;
        } while (result == 1);
        FUZZ_REQUIRE(result == end && rows == expected);
    }

    void read_message(fuzz::bytes_view bytes, std::uint8_t choice) {
        teewire_message read{};
        read.size = sizeof read;
        check(teewire_message_read(bytes.data(), static_cast<std::uint32_t>(bytes.size()), choice % 3, &read,
                                   &failure),
              1, failure);
        FUZZ_REQUIRE(read.fields_size <= bytes.size() &&
                     read.text_size + read.sender_size + read.clan_size <= bytes.size());
    }

    // Reads one block by the entry before it, and the others by the index.
    void read_archive(fuzz::bytes_view file) {
        teewire_archive_block first{};
        if (file.size() > TEEWIRE_ARCHIVE_HEADER_BYTES &&
            teewire_archive_entry_read(file.data() + TEEWIRE_ARCHIVE_HEADER_BYTES,
                                       file.size() - TEEWIRE_ARCHIVE_HEADER_BYTES, &first, &failure) == TEEWIRE_OK)
            restore(first, file.subspan(TEEWIRE_ARCHIVE_HEADER_BYTES));
        std::int32_t const size = teewire_archive_index_bytes(file.data(), file.size(), &failure);
        check(size, INT32_MAX, failure);
        std::array<teewire_archive_block, 8> blocks{};
        std::int32_t const count = check(teewire_archive_index_read(file.data(), file.size(), file.size(),
                                                                    blocks.data(), blocks.size(), &failure),
                                         size / TEEWIRE_ARCHIVE_ENTRY_BYTES, failure);
        std::uint64_t at = 0;
        for (std::int32_t n = 0; n < std::min<std::int32_t>(count, blocks.size()); ++n) {
            teewire_archive_block const& block = blocks[static_cast<std::size_t>(n)];
            FUZZ_REQUIRE(block.begin == at && block.position + block.packed_size <= file.size());
            restore(block, file.subspan(block.position));
            at += block.original_size;
        }
    }
    void restore(teewire_archive_block const& block, fuzz::bytes_view from) {
        if (block.original_size > (1U << 16)) return; // it would only take longer
        exact<std::uint8_t> const packed{from.first(std::min<std::size_t>(from.size(), block.packed_size))};
        exact<std::uint8_t> const out{block.original_size};
        std::int32_t const done =
            check(teewire_archive_decode(&block, packed.view().data(), packed.view().size(), m.archive.bytes.data(),
                                         m.archive.bytes.size(), out.span().data(), block.original_size, &failure),
                  block.original_size, failure);
        FUZZ_REQUIRE(done < 0 ? failure.position <= block.original_size
                              : static_cast<std::uint32_t>(done) == block.original_size);
    }

    void read_demo(fuzz::bytes_view file, std::uint8_t choice) {
        if (teewire_archive_is(file.data(), file.size())) return read_archive(file);
        teewire_demo_reader* reader = nullptr;
        teewire_demo_reader_options const options{sizeof options, choice % 3, choice & 4 ? sizes : nullptr, 0};
        if (check(teewire_demo_reader_init(&reader, m.reader.bytes.data(), teewire_demo_reader_size(), file.data(),
                                           file.size(), &options, &failure),
                  0, failure) < 0)
            return;
        teewire_demo_header header{};
        header.size = sizeof header;
        teewire_demo_reader_header(reader, &header);
        FUZZ_REQUIRE(header.marker_count <= 64);
        std::uint8_t const* map = nullptr;
        FUZZ_REQUIRE(teewire_demo_reader_map(reader, &map) == static_cast<std::int32_t>(header.map_size));
        teewire_demo_writer* writer = nullptr;
        teewire_demo_writer_options const writing{sizeof writing, 3U + choice % 4, sizes, choice / 8 % 3};
        FUZZ_REQUIRE(
            teewire_demo_writer_init(&writer, m.writer.bytes.data(), teewire_demo_writer_size(), &writing) == 0);
        teewire_demo_event event{};
        event.size = sizeof event;
        std::int32_t kind = 0;
        std::uint64_t snapshots = 0, of_type = 0;
        std::uint32_t const type = choice % 16;
        while ((kind = teewire_demo_reader_next(reader, &event, &failure)) > 0) {
            FUZZ_REQUIRE(event.position < file.size());
            if (kind == TEEWIRE_DEMO_SNAPSHOT) {
                teewire_snapshot s{};
                ++snapshots;
                FUZZ_REQUIRE(teewire_demo_reader_snapshot(reader, &s) == teewire_snapshot_items(&s));
                look_at(s);
                of_type += tabulate(s, type);
                check(teewire_demo_writer_snapshot(writer, event.tick, &s, m.demo.data(), TEEWIRE_MAX_DEMO_BYTES,
                                                   &failure),
                      TEEWIRE_MAX_DEMO_BYTES, failure);
                static_cast<void>(teewire_demo_writer_mark(writer));
            } else if (kind == TEEWIRE_DEMO_MESSAGE) {
                read_message({event.message, event.message_size}, choice);
                check(teewire_demo_writer_message(writer, event.message, event.message_size, m.demo.data(),
                                                  TEEWIRE_MAX_DEMO_BYTES, &failure),
                      TEEWIRE_MAX_DEMO_BYTES, failure);
            }
        }
        check(kind, 0, failure);
        FUZZ_REQUIRE(teewire_demo_reader_tick(reader) >= -1);
        tabulate(reader, type, choice, of_type, kind);
        tabulate(reader, TEEWIRE_SNAPSHOT_ROWS, choice, snapshots, kind);
        teewire_demo_writer_finish(writer, &header);
        header.version = writing.version;
        FUZZ_REQUIRE(teewire_demo_header_write(&header, m.demo.data(), TEEWIRE_MAX_DEMO_HEADER_BYTES) > 0);
        teewire_demo_overview overview{};
        overview.size = sizeof overview;
        std::int32_t const keyframes = teewire_demo_reader_index(
            reader, m.keyframes.bytes.data(), static_cast<std::uint32_t>(m.keyframes.bytes.size()), &overview);
        FUZZ_REQUIRE(keyframes == static_cast<std::int32_t>(overview.keyframes));
        auto const tick = static_cast<std::int32_t>(static_cast<std::uint32_t>(overview.first_tick) + choice);
        check(teewire_demo_reader_seek(reader, tick, &failure), 0, failure);
    }
};

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    caller c{in.byte()};
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        std::uint8_t const step = in.byte();
        std::uint8_t const choice = in.byte();
        switch (step % 10) {
        case 0:
        case 1: {
            std::int32_t* ints = nullptr;
            std::uint32_t const size = step / 10;
            std::int32_t added = 0;
            if (step % 10 == 0) {
                added = teewire_builder_add(c.builder, choice & 1 ? 64U + choice : choice / 4U, in.word() * 2, size,
                                            &ints);
            } else {
                exact<std::uint8_t> const uuid{16};
                uuid.span()[0] = choice;
                added = teewire_builder_add_extended(c.builder, uuid.view().data(), in.byte(), size, &ints);
            }
            FUZZ_REQUIRE(added > 0 || (added < 0 && added >= TEEWIRE_BAD_PACKET));
            for (std::uint32_t i = 0; added > 0 && i < size; ++i)
                ints[i] = static_cast<std::int8_t>(in.byte()) * 1001;
            c.build();
            break;
        }
        case 2:
            teewire_history_start(c.history, c.tick, c.builder);
            c.build();
            break;
        case 3: c.encode_and_decode(choice & 1); break;
        case 4: c.hold(c.built); break;
        case 5: c.send(choice); break;
        case 6: c.remember(choice); break;
        case 7:
            static_cast<void>(teewire_snapshot_outline(&c.held, m.outline.data()));
            if (choice == 0) teewire_sender_reset(c.sender);
            if (choice == 1) teewire_receiver_reset(c.receiver);
            if (choice >= 250) {
                auto const type = static_cast<std::uint32_t>(in.byte());
                FUZZ_REQUIRE((teewire_sizes_set(c.sizes, type, choice / 64) == 0) == (type < 64));
            }
            break;
        default: {
            exact<std::uint8_t> const bytes{in.take(step % 20 < 10 ? in.byte() : in.word())};
            if (step >= 200) {
                c.misuse(bytes.view(), choice);
                break;
            }
            switch (step / 20 % 4) {
            case 0: c.decode(bytes.view(), choice); break;
            case 1: c.receive(bytes.view()); break;
            case 2: c.other_bytes(bytes.view(), choice); break;
            default: c.read_demo(bytes.view(), choice); break;
            }
        }
        }
    }
}

} // namespace

FUZZ_TARGET("c_interface", run_target)
