// The output for known packets and messages.
#include "recording/capture/explain.hpp"

#include "snapshots.hpp"

#include <teewire/packer.hpp>

#include <cstdio>
#include <functional>

#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

/// What `print` writes to standard output.
std::string printed(std::function<void(packet_printer&)> const& print, std::uint64_t only = 0) {
    std::fflush(stdout);
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    int const before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    {
        output out;
        packet_printer printer{out, only};
        print(printer);
        out.flush();
    }
    dup2(before, STDOUT_FILENO);
    close(before);
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    std::fclose(file);
    return text;
}

struct place {
    explicit place(bool v07) {
        w.v07 = v07;
        w.first_frame = 3;
        w.ends[0].ip = {10, 0, 0, 1};
        w.ends[0].port = 8303;
        w.ends[1].ip = {10, 0, 0, 2};
        w.ends[1].port = 40000;
    }
    [[nodiscard]] seen_packet seen(std::size_t end = 0) const { return {12, 5'000'000'000, w, end, datagram}; }
    connection_stats w;
    test::bytes datagram = test::from_hex("10 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
};

std::string explained(test::bytes const& bytes, bool v07) {
    auto const m = parse_message(bytes);
    REQUIRE(m.has_value());
    place const here{v07};
    chunk const data{false, false, 0, bytes};
    seen_chunk about{data, &*m,  identify(*m, v07 ? protocol::teeworlds_07 : protocol::ddnet), {}, nullptr,
                     {},   false};
    std::string text = printed([&](packet_printer& p) { p.chunk_arrives(here.seen(), about); });
    std::string const head = "  " + std::to_string(bytes.size()) + (bytes.size() == 1 ? " byte: " : " bytes: ");
    REQUIRE(text.starts_with(head));
    REQUIRE(text.ends_with("\n"));
    return text.substr(head.size(), text.size() - head.size() - 1);
}

template <class T>
std::string said(T const& value, bool v07 = false) {
    std::array<std::uint8_t, max_payload_bytes> memory;
    auto const bytes = encode(value, v07 ? protocol::teeworlds_07 : protocol::ddnet, memory);
    REQUIRE(bytes.has_value());
    return explained(test::copy_of(*bytes), v07);
}

} // namespace

TEST_CASE("explained: messages and their fields") {
    test::bytes const digest(32, 0xab);
    std::string digest_text;
    for (int i = 0; i < 32; ++i) digest_text += "ab";
    test::bytes const three{1, 2, 3};

    messages::info info;
    CHECK(said(info) == "info: version \"0.6 626fce9a778df4d4\", password \"\"");
    info.password = "secret";
    CHECK(said(info) == "info: version \"0.6 626fce9a778df4d4\", password (not shown)");
    messages::map_change change;
    change.name = "dm1\x1b";
    change.size = 1234;
    change.crc = 0xabcd;
    CHECK(said(change) == "map_change: name \"dm1 \", crc 0000abcd, size 1234");
    CHECK(said(change, true) ==
          "map_change: name \"dm1 \", crc 0000abcd, size 1234, chunks_per_request 0, chunk_size 0");
    CHECK(said(messages::map_details{"dm1", digest, 0x1234, 99, ""}) ==
          "map_details: name \"dm1\", sha256 " + digest_text + ", crc 00001234, size 99, url \"\"");
    CHECK(said(messages::map_data{false, 1, 7, three}) ==
          "map_data: last 0, crc 00000001, number 7, data 01 02 03");
    CHECK(said(messages::map_data{true, 1, 8, three}, true) == "map_data: data 01 02 03");
    CHECK(said(messages::request_map_data{5}) == "request_map_data: number 5");
    CHECK(said(messages::request_map_data{5}, true) == "request_map_data");
    CHECK(said(messages::capabilities{5, 63}) == "capabilities: version 5, flags 63");
    CHECK(said(messages::client_version{{}, 16040, "a client"}) ==
          "client_version: connection 00000000-0000-0000-0000-000000000000, version 16040, text \"a client\"");
    CHECK(said(messages::input_timing{100, -20}) == "input_timing: tick 100, time_left -20");
    messages::input input;
    input.ack = 10;
    input.tick = 13;
    for (std::size_t i = 0; i < 10; ++i) input.data[i] = static_cast<std::int32_t>(i) - 1;
    CHECK(said(input) == "input: ack 10, tick 13, data -1 0 1 2 3 4 5 6 7 8");
    CHECK(said(messages::client_drop{4, "bored", false}, true) ==
          "client_drop: client_id 4, reason \"bored\", silent 0");
    messages::chat chat;
    chat.team = 1;
    chat.client_id = 6;
    chat.text = "a \"word\"";
    CHECK(said(chat) == "chat: team 1, client_id 6, text \"a \"word\"\"");
    CHECK(said(messages::kill{1, 2, 3, 0}) == "kill: killer 1, victim 2, weapon 3, mode_special 0");
    messages::tune_params tune;
    tune.count = 3;
    tune.values[0] = 10;
    tune.values[2] = -5;
    CHECK(said(tune) == "tune_params: values 10 0 -5");
    CHECK(said(messages::set_team{-1}) == "set_team: team -1");
    CHECK(said(messages::ready{}) == "ready");
    CHECK(said(messages::redirect{8304}).starts_with("redirect: "));
}

TEST_CASE("explained: what has no fields that are known is shown as bytes") {
    auto const message = [](std::int32_t id, bool system, test::bytes const& fields) {
        std::array<std::uint8_t, 64> memory;
        packer out{memory};
        out.add_int(id << 1 | system).add_raw(fields);
        return test::copy_of(*out.finish());
    };
    CHECK(explained(message(60, false, {}), false) == "game_60");
    CHECK(explained(message(60, true, {1, 2}), false) == "system_60: 01 02");
    test::bytes many(16);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint8_t>(i);
    CHECK(explained(message(60, false, many), false) == "game_60: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
    many.push_back(16);
    CHECK(explained(message(60, false, many), false) ==
          "game_60: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f ...");
    // A known one that is cut
    CHECK(explained(message(describe(message_type::chat).id_06, false, {1}), false) ==
          "chat: malformed at byte 1 of its fields: 01");
    std::array<std::uint8_t, 64> memory;
    packer out{memory};
    out.add_int(0).add_raw(test::bytes(16, 0x11));
    CHECK(explained(test::copy_of(*out.finish()), false) == "uuid_11111111-1111-1111-1111-111111111111");
}

TEST_CASE("explained: heads of packets") {
    place here{false};
    packet p;
    p.ack = 77;
    p.chunks = 1;
    auto const line = [&] {
        return printed([&](packet_printer& out) { out.packet(here.seen(), p, test::bytes(40)); });
    };
    std::string const head = "frame 12  0.000000  10.0.0.1:8303 > 10.0.0.2:40000  ";
    CHECK(line() == head + "0.6, 18 bytes, ack 77, 1 chunk\n");
    p.chunks = 2;
    p.resend = true;
    CHECK(line() == head + "0.6, 18 bytes, ack 77, asks for a resend, 2 chunks\n");
    p.has_token = true;
    p.token = 0xab;
    here.w.v07 = true;
    CHECK(line() == head + "0.7, 18 bytes, ack 77, token 000000ab, asks for a resend, 2 chunks\n");
    p.resend = false;
    p.compressed = true;
    p.payload = std::span{here.datagram}.first(9);
    CHECK(line() == head + "0.7, 18 bytes, payload 9 of 40, ack 77, token 000000ab, 2 chunks\n");
    p = {};
    p.control = true;
    CHECK(line() == head + "0.7, 18 bytes\n");

    // Times begin with the first packet.
    CHECK(printed([&](packet_printer& out) {
              out.packet(here.seen(), p, {});
              seen_packet const later{13, 6'234'567'890, here.w, 1, here.datagram};
              out.packet(later, p, {});
          }).ends_with("\nframe 13  1.234567  10.0.0.2:40000 > 10.0.0.1:8303  0.7, 18 bytes\n"));
    CHECK(printed([&](packet_printer& out) { out.no_packet(here.seen(), "no idea"); }) ==
          head + "18 bytes, no idea: 10 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d ...\n");
    // Only one connection, which is named by its first frame.
    for (std::uint64_t const only : {3, 4}) {
        control_message m;
        test::bytes const said{1};
        chunk const c{false, false, 0, said};
        seen_chunk const about{c, nullptr, message_type::unknown, {}, nullptr, {}, false};
        bool const shown = only == 3;
        CHECK(printed([&](packet_printer& out) { out.packet(here.seen(), p, {}); }, only).empty() != shown);
        CHECK(printed([&](packet_printer& out) { out.control(here.seen(), m); }, only).empty() != shown);
        CHECK(printed([&](packet_printer& out) { out.no_packet(here.seen(), ""); }, only).empty() != shown);
        CHECK(printed([&](packet_printer& out) { out.chunk_arrives(here.seen(), about); }, only).empty() != shown);
    }
}

TEST_CASE("explained: control messages") {
    place const here{false};
    auto const line = [&](control_message const& m) {
        return printed([&](packet_printer& out) { out.control(here.seen(), m); });
    };
    control_message m;
    m.code = control_code::connect;
    CHECK(line(m) == "  control: connect\n");
    m.ddnet = true;
    CHECK(line(m) == "  control: connect, DDNet\n");
    m.has_token = true;
    m.token = 0x12345;
    CHECK(line(m) == "  control: connect, DDNet, token 00012345\n");
    m = {};
    m.code = control_code::close;
    m.reason = "full\x07";
    CHECK(line(m) == "  control: close, reason \"full \"\n");
}

TEST_CASE("explained: chunks and where they belong") {
    place const here{false};
    test::bytes const bytes{0xff, 0xff};
    auto const line = [&](chunk const& c, std::optional<vital_place> where) {
        seen_chunk const about{c, nullptr, message_type::unknown, where, nullptr, {}, false};
        return printed([&](packet_printer& out) { out.chunk_arrives(here.seen(), about); });
    };
    CHECK(line({false, false, 0, bytes}, {}) == "  2 bytes: no message: ff ff\n");
    CHECK(line({false, false, 0, std::span{bytes}.first(1)}, {}) == "  1 byte: no message: ff\n");
    CHECK(line({true, false, 9, bytes}, vital_place::next) == "  2 bytes, vital 9: no message: ff ff\n");
    CHECK(line({true, true, 9, bytes}, vital_place::repeated) ==
          "  2 bytes, vital 9, resent, repeated: no message: ff ff\n");
    CHECK(line({true, false, 9, bytes}, vital_place::held) ==
          "  2 bytes, vital 9, waits for earlier messages: no message: ff ff\n");
}

TEST_CASE("explained: snapshots, and what changed") {
    place const here{false};
    auto const before = test::layout({{make_key(4, 1), {1, 2, 3, 4}}, {make_key(4, 2), {5, 6, 7, 8}}});
    auto const now = test::layout({{make_key(4, 1), {1, 2, 9, 4}}, {make_key(4, 3), {10, 11, 12, 13}}});
    auto const memory = std::make_unique<delta_memory<>>();
    test::ints ints(100);
    auto const delta = create_delta(test::view_of(before), test::view_of(now), sizes_06, *memory, ints);
    REQUIRE(delta.has_value());

    std::array<std::uint8_t, 64> bytes;
    packer out{bytes};
    out.add_int(describe(message_type::snap).id_06 << 1 | 1)
        .add_int(100)
        .add_int(4)
        .add_int(3)
        .add_int(1)
        .add_int(0xabc);
    out.add_int(2).add_raw(test::bytes{0, 0});
    auto const part = test::copy_of(*out.finish());
    auto const m = *parse_message(part);
    chunk const data{false, false, 0, part};
    snapshot_event event;
    auto const line = [&](snapshot_event_kind kind) {
        event.kind = kind;
        seen_chunk const about{data, &m, message_type::snap, {}, &event, test::view_of(before), true};
        std::string const text = printed([&](packet_printer& p) { p.chunk_arrives(here.seen(), about); });
        std::string const head = "  " + std::to_string(part.size()) +
                                 " bytes: snap: tick 100, base 96, part 2 of 3, checksum 00000abc, 2 bytes";
        REQUIRE(text.starts_with(head));
        return text.substr(head.size());
    };
    CHECK(line(snapshot_event_kind::ignored) == ": repeated, or too old\n");
    CHECK(line(snapshot_event_kind::part) == "\n");
    CHECK(line(snapshot_event_kind::other) == "\n");
    CHECK(line(snapshot_event_kind::missing_base) == ": the base is not in the capture\n");
    event.error = {errc::bad_type, 7};
    CHECK(line(snapshot_event_kind::malformed) ==
          ": malformed: byte 7: " + std::string{describe(errc::bad_type)} + "\n");
    CHECK(line(snapshot_event_kind::damaged) ==
          ": wrong: int 7 of the delta: " + std::string{describe(errc::bad_type)} + "\n");
    event.snapshot = test::view_of(now);
    CHECK(line(snapshot_event_kind::snapshot) == ": 2 items, unchanged\n");
    event.has_checksum = true;
    event.delta = *delta;
    auto const changes = line(snapshot_event_kind::snapshot);
    CHECK(changes.starts_with(": 2 items, checksum right\n    - pickup 2\n    ~ pickup 1:"));
    CHECK(changes.find("\n    + pickup 3:") != std::string::npos);
    CHECK(changes.find("~ pickup 3") == std::string::npos);
}

TEST_CASE("explained: tick 0 can be a base") {
    place const here{false};
    auto const line = [&](std::int32_t distance) {
        std::array<std::uint8_t, 16> bytes;
        packer out{bytes};
        out.add_int(describe(message_type::snap_empty).id_06 << 1 | 1).add_int(100).add_int(distance);
        auto const message = test::copy_of(*out.finish());
        auto const m = *parse_message(message);
        chunk const data{false, false, 0, message};
        snapshot_event event;
        seen_chunk const about{data, &m, message_type::snap_empty, {}, &event, {}, true};
        return printed([&](packet_printer& p) { p.chunk_arrives(here.seen(), about); });
    };
    CHECK(line(100).find("tick 100, base 0, ") != std::string::npos);
    CHECK(line(101).find("tick 100, no base, ") != std::string::npos);
}
