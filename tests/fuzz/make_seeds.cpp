// Makes what fuzzers begin with, from fixtures and with the library's own writers.
//   make_seeds FIXTURES OUT [DEMO or MAP]...      one folder per target in OUT
#include "maps.hpp"
#include "message_list.hpp"

#include <teewire/archive.hpp>
#include <teewire/connection.hpp>
#include <teewire/demo_reader.hpp>
#include <teewire/demo_writer.hpp>
#include <teewire/handshake.hpp>
#include <teewire/huffman.hpp>
#include <teewire/map/map.hpp>
#include <teewire/server_info.hpp>
#include <teewire/snapshot_sender.hpp>
#include <teewire/varint.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

using namespace teewire;
namespace fs = std::filesystem;

namespace {

using bytes = std::vector<std::uint8_t>;
using byte_span = std::span<std::uint8_t const>;

fs::path out;
std::map<std::string, int> made;

void put(std::string const& target, byte_span content) {
    fs::create_directories(out / target);
    std::ofstream file{out / target / ("seed-" + std::to_string(made[target]++)), std::ios::binary};
    file.write(reinterpret_cast<char const*>(content.data()), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) {
        std::cerr << "cannot write to " << out << '\n';
        std::exit(3);
    }
}

bytes read(fs::path const& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(3);
    }
    return {std::istreambuf_iterator<char>{file}, {}};
}

bytes join(std::initializer_list<std::uint8_t> head, byte_span rest) {
    bytes all{head};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}
void append(bytes& to, byte_span data) { to.insert(to.end(), data.begin(), data.end()); }
void append_sized(bytes& to, byte_span data) {
    to.push_back(static_cast<std::uint8_t>(data.size()));
    to.push_back(static_cast<std::uint8_t>(data.size() >> 8));
    append(to, data);
}
// A demo, and the chunks of its archive.
void archive(byte_span demo) {
    static auto& memory = *new archive_encoder_memory;
    static auto& player_memory = *new demo_player_memory;
    put("archive", demo);
    archive_divider divider{demo, player_memory};
    bytes whole(archive_header_bytes);
    static_cast<void>(write_archive_header(whole));
    std::vector<archive_block> blocks;
    for (archive_block block; divider.next(block);) {
        bytes room(archive_entry_bytes + block.size);
        auto const packed = std::span{room}.subspan(archive_entry_bytes);
        auto const size = encode_archive_block(demo, block, memory, packed);
        put("archive_block",
            join({static_cast<std::uint8_t>(block.coding), block.demo_version, block.sizes}, packed.first(*size)));
        static_cast<void>(write_archive_entry(block, room));
        append(whole, byte_span{room}.first(archive_entry_bytes + *size));
        blocks.push_back(block);
    }
    bytes index(archive_index_bytes(blocks.size()));
    static_cast<void>(write_archive_index(blocks, index));
    append(whole, index);
    bytes call{78, 0}; // of the C interface: reads it
    append_sized(call, whole);
    if (whole.size() < (1U << 16)) put("c_interface", join({0}, call));
    index.resize(archive_index_bytes(0));
    static_cast<void>(write_archive_index({}, index));
    put("archive_block", join({'T', 'W', 'A', 'R', 'C', 'H', 0, archive_version}, index));
}
bytes little_endian(std::span<std::int32_t const> ints) {
    bytes all;
    for (std::int32_t const value : ints)
        for (int shift = 0; shift < 32; shift += 8)
            all.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(value) >> shift));
    return all;
}
bytes packed(std::span<std::int32_t const> ints) {
    bytes all(varint_bound(ints.size()));
    all.resize(*encode_varints(ints, all));
    return all;
}

// ---- what the program does -----------------------------------------------------------------------------------------

// For targets whose first byte chooses a command line.
void put_for_verbs(std::string const& target, std::uint8_t command_lines, byte_span file) {
    for (std::uint8_t chosen = 0; chosen < command_lines; ++chosen) put(target, join({chosen}, file));
}

// Steps of the targets `serve` and `record`.
enum step : std::uint8_t {
    say_vital = 3,
    say = 3 + 8,
    wait = 5,
    seek = 6,
    join_0_6 = 7 + 8 * 2, // DDNet's
    join_0_7 = 7 + 8 * 3,
    hear = 1 + 8,
    hear_data = 5 + 8,
    hear_map = 4 + 8,
    hear_ready = 6,
    hear_snapshot = 7 + 8,
};

template <class T>
bytes encoded(T const& value, protocol p) {
    std::array<std::uint8_t, 1000> memory;
    auto const written = encode(value, p, memory);
    return written ? bytes{written->begin(), written->end()} : bytes{};
}

// Every kind of message, as steps that say them.
std::map<protocol, bytes> said_by_clients, said_by_servers;

void serve(byte_span demo, bool v07) {
    if (demo.size() > UINT16_MAX) return;
    protocol const p = v07 ? protocol::teeworlds_07 : protocol::ddnet;
    bytes seed{0};
    append_sized(seed, demo);
    bytes const whole_demo = seed;
    auto const tell = [&](auto const& value, step how) {
        seed.push_back(how);
        append_sized(seed, encoded(value, p));
    };
    seed.push_back(v07 ? join_0_7 : join_0_6);
    messages::info info;
    info.version = v07 ? net_version_07 : net_version_06;
    tell(info, say_vital);
    tell(messages::request_map_data{}, say_vital);
    tell(messages::ready{}, say_vital);
    messages::start_info start;
    start.name = "tee";
    tell(start, say_vital);
    tell(messages::enter_game{}, say_vital);
    for (std::int32_t i = 0; i < 6; ++i) {
        messages::input input;
        input.ack = 10 * i;
        input.tick = 10 * i + 3;
        tell(input, say);
        append(seed, bytes{wait, 20, static_cast<std::uint8_t>(seek + 8 * (i % 4)), 100, 0, 0, 0});
    }
    for (std::uint8_t const flags : {0, 3}) {
        seed.front() = flags;
        put("serve", seed);
    }
    append(seed, said_by_clients[p]);
    for (std::uint8_t const flags : {0, 3}) {
        seed.front() = flags;
        put("serve", seed);
    }
    bytes strangers = whole_demo;
    for (std::uint8_t kind = 0; kind < 4; ++kind) {
        std::array<std::uint8_t, 64> small;
        if (auto const size = write_server_info_request({static_cast<server_info_kind>(kind), 0x55}, 7, 9, small)) {
            for (std::uint8_t const from : {0, 128}) {
                strangers.push_back(from);
                append_sized(strangers, byte_span{small}.first(*size));
            }
        }
    }
    put("serve", strangers);
}

void record() {
    for (std::uint8_t const format : {2, 3}) {
        protocol const p = format == 3 ? protocol::teeworlds_07 : protocol::ddnet;
        bytes seed{format, hear_map};
        for (std::uint8_t piece = 0; piece < 3; ++piece)
            append(seed, bytes{hear_data, static_cast<std::uint8_t>(100 * piece), 0, 99, 0});
        seed.push_back(hear_ready);
        for (std::uint8_t i = 0; i < 20; ++i) append(seed, bytes{hear_snapshot, i, i, 3, i, wait, 2});
        put("record", seed);
        append(seed, said_by_servers[p]);
        for (std::uint8_t i = 0; i < 20; ++i) append(seed, bytes{hear_snapshot, i, i, 3, i, wait, 2});
        put("record", seed);
        append(seed, byte_span{seed}.subspan(1)); // another map
        put("record", seed);
    }
}

// ---- demos ---------------------------------------------------------------------------------------------------------

auto& player_memory = *new demo_player_memory;
auto& writer_memory = *new demo_writer_memory;

void from_message(byte_span message, bool v07) {
    put("message", join({static_cast<std::uint8_t>(v07 ? 8 : 0)}, message));
    put("network", join({1, static_cast<std::uint8_t>(v07 ? 3 : 2)}, message));
}

void from_demo(byte_span file) {
    auto const opened = demo_reader::open(file);
    if (!opened) return;
    bool const v07 = opened->header().says_07();
    auto const& sizes = v07 ? sizes_07 : sizes_06;
    std::uint8_t const table = v07 ? 1 : 0;

    // The beginning, without the map.
    auto header = opened->header();
    header.map_size = 0;
    bytes small(header.size());
    static_cast<void>(write_demo_header(header, small));
    std::size_t const begin = opened->header().size() + opened->header().map_size;
    for (std::size_t const size : {200U, 1500U, 6000U}) {
        bytes cut = join({table, static_cast<std::uint8_t>(size / 7)}, small);
        append(cut, file.subspan(begin, std::min<std::size_t>(size, file.size() - begin)));
        put("demo", cut);
        put("demo", join({7, 0}, byte_span{cut}.subspan(2)));
        archive(byte_span{cut}.subspan(2));
        if (size == 6000) {
            put_for_verbs("demo_verbs", 30, byte_span{cut}.subspan(2));
            put("broadcast", join({0}, byte_span{cut}.subspan(2)));
            serve(byte_span{cut}.subspan(2), v07);
        }
        bytes call{78, 0}; // of the C interface: reads a demo, with a size of two bytes
        append_sized(call, byte_span{cut}.subspan(2));
        put("c_interface", join({table}, call));
    }

    // Its content.
    demo_player player{*opened, player_memory, {&sizes, decoding::lenient, nullptr}};
    demo_reader chunks = *opened;
    std::vector<std::int32_t> before;
    int deltas = 0, full = 0, messages = 0;
    auto const scratch = std::make_unique<std::array<std::uint8_t, max_demo_packed_bytes>>();
    auto const ints = std::make_unique<std::array<std::int32_t, max_demo_chunk_ints>>();
    demo_event event;
    for (demo_chunk chunk; chunks.next(chunk);) {
        bool const events = chunk.kind != demo_chunk_kind::unused;
        if (events && !player.next(event)) return;
        if (chunk.kind == demo_chunk_kind::tick || !events) continue;
        auto const plain = huffman_decode(chunk.payload, *scratch);
        auto const count = plain ? decode_varints(std::span{*scratch}.first(*plain), *ints) : plain;
        if (!count) return;
        auto const values = std::span<std::int32_t const>{*ints}.first(*count);
        bool const chosen = chunk.kind == demo_chunk_kind::delta      ? ++deltas % 40 == 1 && deltas < 400
                            : chunk.kind == demo_chunk_kind::snapshot ? ++full < 4
                                                                      : ++messages < 40;
        if (chosen) {
            put("codec", join({2, 0}, chunk.payload));
            put("codec", join({0, 0}, std::span{*scratch}.first(*plain)));
            put("codec", join({3, 1}, std::span{*scratch}.first(*plain)));
            put("codec", join({1, 1}, little_endian(values)));
            // The bytes control later targets as well as any others.
            put("transfer", join({table, 0xff}, chunk.payload));
            put("c_interface", join({table}, chunk.payload));
            put("delta", join({static_cast<std::uint8_t>(1 + 2 * table), 0}, chunk.payload));
            for (std::uint8_t const kind : {6, 7, 8})
                put("network", join({kind, static_cast<std::uint8_t>(deltas % 4)}, chunk.payload));
            for (std::uint8_t const kind : {5, 6, 7}) put("message", join({kind, 200, 1}, chunk.payload));
        }
        if (chunk.kind == demo_chunk_kind::message && chosen) from_message(event.message, v07);
        if (chunk.kind == demo_chunk_kind::delta && chosen) {
            bytes seed{static_cast<std::uint8_t>(2 * table), 0};
            append_sized(seed, packed(before));
            append(seed, packed(values));
            put("delta", seed);
        }
        if (chunk.kind == demo_chunk_kind::snapshot && chosen) {
            bytes call{58, 1}; // of the C interface: any bytes, with a size of two bytes
            append_sized(call, packed(values));
            append(call, bytes{3, 0, 38, 7});
            put("c_interface", join({table}, call));
        }
        if (chunk.kind != demo_chunk_kind::message) {
            auto const now = player.state().ints();
            before.assign(now.begin(), now.end());
            if (chosen) put("snapshot", join({0, static_cast<std::uint8_t>(37 * full)}, little_endian(before)));
        }
    }
}

// A few items and a few ticks, with keyframes.
std::vector<std::int32_t> few_items(std::int32_t round) {
    std::vector<std::int32_t> ints{56, 3, 0, 24, 44, make_key(10, 1), 1, 2, round, 4, 5};
    ints.insert(ints.end(), {make_key(3, 7), 5, 6, 7, 8});
    ints.insert(ints.end(), {make_key(64, 2), 9, round * 100000});
    ints[0] = 4 * (6 + 5 + 3);
    return ints;
}

void short_demos() {
    for (std::uint8_t version = min_demo_version; version <= max_demo_version; ++version) {
        demo_writer writer{writer_memory, {version, huffman_end::exact, &sizes_06}};
        demo_header header;
        header.version = version;
        header.has_sha256 = version == 6;
        set_text(header.net_version, "0.6 626fce9a778df4d4");
        bytes file(header.size());
        std::vector<std::uint8_t> room(demo_writer::max_bytes);
        auto const keep = [&](result<std::size_t> const& size) {
            if (size) append(file, byte_span{room}.first(*size));
        };
        for (std::int32_t round = 0; round < 8; ++round) {
            auto const ints = few_items(round / 2);
            keep(writer.write_snapshot(10 + 70 * round, snapshot_view::trusted(ints), room));
            static constexpr std::uint8_t said[] = {6, 0, 0, 'h', 'i', 0};
            if (round % 3 == 0) keep(writer.write_message(said, room));
            writer.add_marker();
        }
        writer.finish(header);
        static_cast<void>(write_demo_header(header, file));
        put("demo", join({0, version}, file));
        archive(file);
        put_for_verbs("demo_verbs", 30, file);
        put("broadcast", join({0}, file));
        serve(file, false);
        put("demo", join({7, static_cast<std::uint8_t>(version + 8)}, file));
        bytes call{78, version};
        append_sized(call, file);
        put("c_interface", join({0}, call));
    }
}

// ---- messages and packets ------------------------------------------------------------------------------------------

template <std::size_t... i>
void all_messages(std::index_sequence<i...>) {
    constexpr std::pair<protocol, std::uint8_t> kinds[] = {
        {protocol::ddnet, 0}, {protocol::teeworlds_07, 8}, {protocol::teeworlds_06, 16}};
    for (auto const& one : kinds) {
        protocol const p = one.first;
        std::uint8_t const kind = one.second;
        static constexpr std::array<std::uint8_t, 32> sha{1, 2, 3};
        auto const write = [&](auto value) {
            if constexpr (requires { value.sha256; }) value.sha256 = sha;
            std::array<std::uint8_t, 4096> memory;
            if (auto const written = encode(value, p, memory)) {
                put("message", join({kind}, *written));
                said_by_clients[p].push_back(say_vital);
                append_sized(said_by_clients[p], *written);
                said_by_servers[p].push_back(hear);
                append_sized(said_by_servers[p], *written);
                put("network", join({1, static_cast<std::uint8_t>(kind == 8 ? 3 : 2)}, *written));
            }
        };
        (write(std::tuple_element_t<i, test::typed_messages>{}), ...);
        write(messages::map_change{"dm1", 0x1234, 5805, 8, 900, sha});
        write(messages::map_details{"dm1", sha, 0x1234, 5805, "http://x"});
        write(messages::map_data{true, 0x1234, 2, sha});
        messages::tune_params tuning;
        tuning.count = 41;
        write(tuning);
        // Messages that have no struct: a head and some fields.
        for (std::uint8_t first = 2; first < 64; ++first) {
            std::uint8_t const message[] = {first, 1, 2, 'a', 0, 'b', 0, 3, 4, 5, 'c', 0};
            put("message", join({kind}, message));
        }
    }
}

struct datagram {
    bool to_server;
    bytes content;
};

// A client joins a server, both say something, and the server sends snapshots.
std::vector<datagram> conversation(wire_format format) {
    std::vector<datagram> all;
    auto const payload = std::make_unique<payload_memory>();
    auto const memory = std::make_unique<std::array<connection_memory<>, 2>>();
    auto const scratch = std::make_unique<snapshot_scratch>();
    packet_memory packet;
    milliseconds now = 0;
    server_gate const gate{{}, {true, true, true, true}};
    auto client = connection::client(format, 0x20202020, (*memory)[0], now);
    std::optional<connection> server;
    bool const v07 = format == wire_format::v07;
    std::vector<history::entry> entries(20);
    std::vector<std::int32_t> block(4000);
    snapshot_sender sender{
        entries, block, {v07 ? protocol::teeworlds_07 : protocol::ddnet, v07 ? &sizes_07 : &sizes_06}};
    auto const take = [&](connection& c, byte_span content) {
        static_cast<void>(c.receive(content, now, *payload));
        for (chunk in; c.next_chunk(in);) {
        }
    };
    for (int round = 0; round < 14; ++round, now += 60) {
        for (byte_span sent; !(sent = client.poll(now, packet)).empty();) {
            bytes const content{sent.begin(), sent.end()};
            all.push_back({true, content});
            if (server) {
                take(*server, content);
                continue;
            }
            packet_memory answer;
            auto const d = gate.receive(content, {}, now, answer);
            if (!d.reply.empty()) all.push_back({false, {d.reply.begin(), d.reply.end()}});
            if (d.what == server_gate::verdict::accept) {
                server = connection::server(d.format, d.tokens, (*memory)[1], now);
                if (d.data) take(*server, content);
            }
            if (!d.reply.empty()) take(client, d.reply);
        }
        static constexpr std::uint8_t said[] = {1 << 1 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        static_cast<void>(client.queue(said, true, now));
        client.flush();
        if (!server) continue;
        static_cast<void>(server->queue(said, round % 2 == 0, now));
        auto const ints = few_items(round);
        if (auto const sent = sender.send(10 + 2 * round, snapshot_view::trusted(ints), *scratch)) {
            auto parts = *sent;
            for (byte_span message; parts.next(message);) static_cast<void>(server->queue(message, false, now));
            if (round % 3 == 0) sender.acknowledge(10 + 2 * round);
        }
        server->flush();
        for (byte_span sent; !(sent = server->poll(now, packet)).empty();) {
            bytes const content{sent.begin(), sent.end()};
            all.push_back({false, content});
            take(client, content);
        }
        if (round == 12) client.close("enough");
    }
    return all;
}

void put_number(bytes& to, std::uint32_t value, int size, bool big) {
    for (int i = 0; i < size; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * (big ? size - 1 - i : i)));
}

bytes capture_of(std::vector<datagram> const& all) {
    bytes file;
    for (std::uint32_t const word : {0xa1b2c3d4U, 0x00040002U, 0U, 0U, 262144U, 1U})
        put_number(file, word, 4, false);
    std::uint32_t time = 1'600'000'000;
    for (datagram const& d : all) {
        auto const udp = static_cast<std::uint32_t>(8 + d.content.size());
        for (std::uint32_t const word : {++time, 0U, 34 + udp, 34 + udp}) put_number(file, word, 4, false);
        file.insert(file.end(), 12, 0);
        put_number(file, 0x0800, 2, true);
        put_number(file, 0x4500, 2, true);
        put_number(file, 20 + udp, 2, true);
        put_number(file, 0, 4, true);
        put_number(file, 0x4011, 2, true);
        put_number(file, 0, 2, true);
        put_number(file, d.to_server ? 0x0a000002 : 0x0a000001, 4, true);
        put_number(file, d.to_server ? 0x0a000001 : 0x0a000002, 4, true);
        put_number(file, d.to_server ? 40000 : 8303, 2, true);
        put_number(file, d.to_server ? 8303 : 40000, 2, true);
        put_number(file, udp, 2, true);
        put_number(file, 0, 2, true);
        append(file, d.content);
    }
    return file;
}

// A little-endian capture in the other format: two interfaces, which take turns.
bytes as_pcapng(bytes const& pcap) {
    bytes file;
    auto const block = [&](std::uint32_t type, bytes body) {
        body.resize((body.size() + 3) / 4 * 4);
        auto const size = static_cast<std::uint32_t>(body.size() + 12);
        put_number(file, type, 4, false);
        put_number(file, size, 4, false);
        append(file, body);
        put_number(file, size, 4, false);
    };
    auto const numbers = [](std::initializer_list<std::uint32_t> words) {
        bytes body;
        for (std::uint32_t const word : words) put_number(body, word, 4, false);
        return body;
    };
    block(0x0a0d0d0a, numbers({0x1a2b3c4d, 1, UINT32_MAX, UINT32_MAX}));
    constexpr std::uint32_t microseconds = 9 | 1 << 16;
    for (int i = 0; i < 2; ++i) block(1, numbers({1, 0, microseconds, 6, 0}));
    std::uint32_t number = 0;
    for (std::size_t at = 24; pcap.size() - at >= 16; ++number) {
        auto const word = [&](std::size_t place) {
            std::uint32_t value = 0;
            std::memcpy(&value, &pcap[place], sizeof value);
            return value;
        };
        std::uint32_t const size = word(at + 8);
        if (size > pcap.size() - at - 16) break;
        std::uint64_t const time = std::uint64_t{word(at)} * 1'000'000 + word(at + 4);
        bytes body = numbers({number % 2, static_cast<std::uint32_t>(time >> 32), static_cast<std::uint32_t>(time),
                              size, word(at + 12)});
        auto const frame = pcap.begin() + static_cast<std::ptrdiff_t>(at + 16);
        body.insert(body.end(), frame, frame + size);
        block(6, std::move(body));
        at += 16 + size;
    }
    return file;
}

// The beginning, with a whole download of a map.
void from_capture(bytes file) {
    if (file.size() > 16000) file.resize(16000);
    put("capture", file);
    put("capture", as_pcapng(file));
    put_for_verbs("capture_verbs", 7, file);
}

void packets() {
    for (auto const format : {wire_format::v06, wire_format::v06_token, wire_format::ddnet, wire_format::v07}) {
        auto const f = static_cast<std::uint8_t>(format);
        auto const all = conversation(format);
        bytes to_server{2, f}, to_client{3, f};
        for (datagram const& d : all) {
            put("network", join({0, f}, d.content));
            append_sized(d.to_server ? to_server : to_client, d.content);
        }
        put("network", to_server);
        put("network", to_client);
        put("capture", capture_of(all));
        put_for_verbs("capture_verbs", 7, capture_of(all));
        // Every control message with the token that the targets' connections have.
        for (bool const has_token : {false, true})
            for (std::uint8_t code = 0; code < 6; ++code) {
                control_message said;
                said.code = static_cast<control_code>(code);
                if (said.code == control_code::token && format != wire_format::v07) continue;
                said.ddnet = format == wire_format::ddnet;
                said.has_token = has_token;
                said.token = 0x20202020;
                said.reason = "reason";
                packet_head head;
                head.token = has_token ? 0x20202020 : no_token;
                packet_memory memory;
                auto const written = write_control(said, format, head, memory);
                put("network", join({0, f}, written));
                for (std::uint8_t const kind : {2, 3}) {
                    bytes seed{kind, f};
                    append_sized(seed, written);
                    append_sized(seed, written);
                    put("network", seed);
                }
            }
        packet_writer writer{format};
        bytes seed{2, f};
        for (std::uint16_t sequence = 1; sequence < 5; ++sequence) {
            writer.clear();
            static constexpr std::uint8_t said[] = {3, 1, 2, 3, 4, 5, 6, 7, 8, 9};
            writer.add({true, sequence == 3, sequence, said});
            writer.add({false, false, 0, said});
            packet_memory memory;
            packet_head head;
            head.token = 0x20202020;
            head.resend = sequence == 2;
            append_sized(seed, writer.finish(head, memory));
        }
        put("network", seed);
        seed[0] = 3;
        put("network", seed);
    }
    for (std::uint8_t kind = 0; kind < 4; ++kind) {
        server_info_request const request{static_cast<server_info_kind>(kind), 0x55};
        std::array<std::uint8_t, 64> small;
        if (auto const size = write_server_info_request(request, 7, 9, small)) {
            put("network", join({0, 0}, byte_span{small}.first(*size)));
            auto const question = parse_connless(byte_span{small}.first(*size));
            std::array<std::uint8_t, 1300> room;
            std::array<std::uint8_t, 1400> whole;
            server_description server;
            server.version = "0.6.5";
            server.name = "a server";
            server.map = "dm1";
            server.game_type = "DM";
            server.players = server.clients = 2;
            server.max_players = server.max_clients = 16;
            listed_client const clients[] = {{"one", "clan", 1, 2, true}, {"two", "", -1, -3, false}};
            auto const written = write_server_info(request, server, clients, room);
            if (!question || !written) continue;
            connless_packet p = *question;
            p.payload = byte_span{room}.first(*written);
            if (auto const datagram = write_connless(p, whole))
                put("network", join({0, 0}, byte_span{whole}.first(*datagram)));
        }
    }
}

// Snapshots as messages, for receivers.
void snapshot_messages_of_a_server() {
    auto const scratch = std::make_unique<snapshot_scratch>();
    for (bool const v07 : {false, true}) {
        std::vector<history::entry> entries(20);
        std::vector<std::int32_t> block(40000);
        snapshot_sender sender{
            entries, block, {v07 ? protocol::teeworlds_07 : protocol::ddnet, v07 ? &sizes_07 : &sizes_06}};
        bytes watched{4, static_cast<std::uint8_t>(v07 ? 3 : 2)}, calls{static_cast<std::uint8_t>(v07 ? 8 : 0)};
        for (std::int32_t round = 0; round < 10; ++round) {
            auto ints = few_items(round / 2);
            if (round == 7) { // in parts
                std::int32_t const more = 1500;
                ints[0] += 4 * more;
                for (std::int32_t i = 0; i < more; ++i) ints.push_back(0x12345 * i);
            }
            auto const sent = sender.send(10 + 2 * round, snapshot_view::trusted(ints), *scratch);
            if (!sent) continue;
            auto parts = *sent;
            for (byte_span message; parts.next(message);) {
                append_sized(watched, message);
                append(calls, bytes{38, 0}); // receives, with a size of two bytes
                append_sized(calls, message);
                from_message(message, v07);
            }
            if (round % 2 == 1) sender.acknowledge(10 + 2 * round);
        }
        put("network", watched);
        watched[0] = 5;
        put("network", watched);
        put("c_interface", calls);
    }
}

// A receiver asks for everything after many wrong checksums.
void wrong_checksums() {
    auto const scratch = std::make_unique<snapshot_scratch>();
    bytes watched{4, 2};
    for (std::int32_t round = 0; round < 30; ++round) {
        auto ints = few_items(round);
        snapshot_encoding const encoding;
        auto const sent = encode_snapshot(10 + 2 * round, snapshot_view::trusted(ints), -1, {}, encoding, *scratch);
        if (!sent) continue;
        auto parts = *sent;
        byte_span message;
        parts.next(message);
        bytes changed{message.begin(), message.end()};
        if (round > 3) changed.back() ^= 1;
        append_sized(watched, changed);
    }
    put("network", watched);
}

// Keys that the hash function that hashes are known for puts into one place.
void colliding_keys() {
    for (std::size_t const slots : {2048U, 4096U}) {
        constexpr std::uint32_t multiplier = 0x9e3779b1U;
        std::uint32_t inverse = multiplier;
        for (int i = 0; i < 5; ++i) inverse *= 2 - multiplier * inverse;
        std::vector<std::int32_t> keys;
        for (std::uint32_t i = 0; keys.size() < 45; ++i)
            if (auto const key =
                    static_cast<std::int32_t>(inverse * (static_cast<std::uint32_t>(0x100000000U / slots) * 5 + i));
                key >= 0)
                keys.push_back(key);
        std::vector<std::int32_t> ints{static_cast<std::int32_t>(4 * keys.size()),
                                       static_cast<std::int32_t>(keys.size())};
        for (std::size_t i = 0; i < keys.size(); ++i) ints.push_back(static_cast<std::int32_t>(4 * i));
        ints.insert(ints.end(), keys.begin(), keys.end());
        put("snapshot", join({0, 3}, little_endian(ints)));
        // As items that a delta adds.
        std::vector<std::int32_t> delta{0, static_cast<std::int32_t>(keys.size()), 0};
        for (std::int32_t const key : keys) delta.insert(delta.end(), {key_type(key), key_id(key), 0});
        bytes seed{2, 0};
        append_sized(seed, {});
        append(seed, packed(delta));
        put("delta", seed);
    }
}

// ---- scripts -------------------------------------------------------------------------------------------------------

// For targets whose input is a list of steps.
void scripts() {
    std::uint64_t state = 1;
    for (int i = 0; i < 40; ++i) {
        bytes script(static_cast<std::size_t>(40 + 12 * i));
        for (auto& b : script) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            b = static_cast<std::uint8_t>(state >> 40);
        }
        put("transfer", script);
        put("c_interface", script);
        put("delta", join({static_cast<std::uint8_t>(2 * i + 1), 0, 20, 8}, script));
        put("network", join({7, static_cast<std::uint8_t>(i % 4)}, script));
        put("network", join({6, static_cast<std::uint8_t>(i % 4)}, script));
        put("network", join({8, static_cast<std::uint8_t>(i % 4)}, script));
    }
}

// ---- maps ----------------------------------------------------------------------------------------------------------

void put_map(byte_span file) {
    put("map", file);
    put_for_verbs("map_verbs", 16, file);
}

void write(game_map const& map) {
    // Without compression, so that a change of a byte stays one.
    for (datafile_write_options const& options : {datafile_write_options{3, 0}, datafile_write_options{4, 0}}) {
        bytes file;
        if (write_map(map, file, options).code == map_errc::ok) put_map(file);
    }
}

void from_map(fs::path const& path) {
    bytes const whole = read(path);
    if (path.extension() == ".xvmap") return put_map(whole);
    auto const file = datafile::open(whole);
    if (!file) return;
    if (whole.size() < 20000) put_map(whole);
    game_map map;
    if (read_map(*file, map).code != map_errc::ok) return;
    if (whole.size() < 20000) write(map);
}

void small_maps() {
    game_map map = test::small_map();
    write(map);
    convert_to_07(map);
    write(map);
    map = test::full_map();
    for (map_image& image : map.images)
        if (!image.pixels.empty()) {
            image.width = image.height = 2;
            image.pixels.resize(16);
        }
    write(map);
    convert_to_07(map);
    write(map);
    // Quirks of real maps.
    game_map odd = test::full_map();
    odd.images.resize(1);
    odd.images[0].version = 2;
    odd.images[0].variant = 0;
    odd.images[0].width = odd.images[0].height = 2;
    odd.images[0].pixels.resize(12);
    odd.images[0].name.text = "a/b";
    odd.info->author.text = std::string(200, 'a');
    odd.layers[0].name = std::string(40, 'n');
    for (map_envelope& envelope : odd.envelopes) envelope.version = 1;
    write(odd);
    for (map_layer& layer : odd.layers)
        if (auto* const tiles = layer.tiles()) {
            tiles->version = tiles->kind == tile_kind::tiles || tiles->kind == tile_kind::game ? 2 : 3;
            layer.flags = 1;
        }
    write(odd);
    static constexpr std::int32_t one[] = {1};
    static constexpr std::int32_t many[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int const version : {3, 4}) {
        datafile_writer file{{version, 0}};
        file.add_item(map_item_type::version, 0, one);
        for (std::uint16_t type = 1; type < 8; ++type) file.add_item(type, 0, one);
        file.add_item(uuid_index_type, 0x8123, one);
        file.add_item(uuid_index_type, 0x8124, many);
        file.add_item(uuid_index_type, 0x8125, many);
        file.add_item(bezier_uuid, 0, one);
        static constexpr std::uint8_t text[] = {'a', 'b', 'c'};
        file.add_block(text);
        put_map(file.finish());
        datafile_writer none{{version, 0}};
        none.add_item(map_item_type::info, 0, many);
        put_map(none.finish());
        // As before September 2010: sizes without the table of block sizes.
        bytes old = file.finish();
        for (std::size_t const at : {8U, 12U}) test::set_int(old, at, test::int_at(old, at) - 4);
        if (version == 4) put("map", old);
    }
    bytes cells;
    for (int i = 0; i < 200; ++i) cells.push_back(static_cast<std::uint8_t>(i % 4 == 2 ? i % 5 : i / 30));
    put("map", cells);
}

void texts_of_the_web() {
    auto const text = [](std::initializer_list<std::uint8_t> head, std::string_view said) {
        put("broadcast", join(head, byte_span{reinterpret_cast<std::uint8_t const*>(said.data()), said.size()}));
    };
    text(
        {1},
        R"({"version":1,"recordings":[{"id":"0123456789abcdef","protocol":"ddnet","first":3,"last":17,"ended":false,)"
        R"("map":{"name":"yard","size":4933,"crc":"c3cbca94","path":"map/a.map","sha256":)"
        R"("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}}]})");
    for (char const* const said : {"bytes=0-99", "bytes=100-", "bytes=-100", "live/sync", "a%20b/%E2%82%AC.demo"})
        text({2, 200, 0, 0, 0}, said);
    text({3},
         R"({"version":1,"file":{"size":9,"sha256":"00","ends_sha256":"00"},"map":{"name":"yard","sha256":"00"},)"
         R"("protocol":"ddnet","first_tick":1,"last_tick":9,"people":[[0,"Naruto"],[1,"LenyPRO","NOOB"]],)"
         R"("players":[[0,1],[1,2]],"error":"byte 9"})");
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: make_seeds FIXTURES OUT [DEMO or MAP]...\n";
        return 2;
    }
    fs::path const fixtures = argv[1];
    out = argv[2];
    std::vector<fs::path> files;
    for (char const* const folder : {"demos", "maps"})
        for (auto const& entry : fs::directory_iterator{fixtures / folder}) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    files.insert(files.end(), argv + 3, argv + argc);
    all_messages(std::make_index_sequence<std::tuple_size_v<test::typed_messages>>{});
    for (auto const& path : files) {
        if (path.extension() == ".demo") from_demo(read(path));
        else from_map(path);
    }
    record();
    short_demos();
    for (auto const& entry : fs::directory_iterator{fixtures / "captures"}) from_capture(read(entry.path()));
    packets();
    snapshot_messages_of_a_server();
    wrong_checksums();
    colliding_keys();
    scripts();
    small_maps();
    texts_of_the_web();
    for (auto const& [target, count] : made) std::cout << target << ' ' << count << '\n';
}
