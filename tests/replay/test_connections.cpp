// Reports on captures of known conversations.
#include "recording/capture/connections.hpp"
#include "recording/capture/report.hpp"

#include "snapshots.hpp"
#include "talk.hpp"

#include <teewire/packer.hpp>
#include <teewire/snapshot_sender.hpp>

using namespace teewire;
using namespace teewire::replay;
using test::crc_of;
using test::some_map;
using test::talk;

namespace {

constexpr wire_format formats[] = {wire_format::ddnet, wire_format::v07};

udp_address end_of(std::uint8_t last, std::uint16_t port) {
    udp_address a;
    a.ip = {10, 0, 0, last};
    a.port = port;
    return a;
}

/// A conversation, and the watcher that hears it.
struct heard final : capture_listener {
    explicit heard(wire_format format, client_profile const& profile = {})
        : said{format, profile, [this](milliseconds now, bool from_server, test::bytes const& datagram) {
                   if (deaf) return;
                   ++frame;
                   udp_address const server = end_of(1, 8303), client = end_of(2, 40000);
                   watcher.receive(frame, now * 1'000'000,
                                   {from_server ? server : client, from_server ? client : server, datagram});
               }} {}
    void stay_begins(connection_stats const&, map_stay const& stay) override { begun.push_back(stay.map.name); }
    void snapshot(connection_stats const&, snapshot_event const& event) override {
        ticks.push_back(event.tick);
        checksums.push_back(event.snapshot.checksum());
    }
    void game_message(connection_stats const&, message const&, message_type type, std::span<std::uint8_t const>,
                      bool vital) override {
        messages.push_back({type, vital});
    }
    void map_complete(connection_stats const&, map_stay const&, std::vector<std::uint8_t>&& bytes) override {
        maps.push_back(std::move(bytes));
    }
    [[nodiscard]] connection_stats const& only() {
        auto const all = watcher.connections();
        REQUIRE(all.size() == 1);
        return *all[0];
    }

    connection_watcher watcher{*this};
    std::uint64_t frame = 0;
    bool deaf = false; // the capture misses it
    std::vector<std::string> begun;
    std::vector<std::int32_t> ticks;
    std::vector<std::uint32_t> checksums;
    std::vector<std::pair<message_type, bool>> messages;
    std::vector<std::vector<std::uint8_t>> maps;
    talk said;
};

/// Snapshots for the client of a conversation.
struct snapshots_of {
    explicit snapshots_of(talk& t) : said{t} {}
    test::ints layout(std::int32_t value) { return test::layout({{make_key(40, 1), test::ints(4, value)}}); }
    void send(std::int32_t tick, std::int32_t value) {
        auto const full = layout(value);
        auto sent = sender.send(tick, test::view_of(full), *scratch);
        REQUIRE(sent);
        snapshot_messages parts = *sent;
        for (std::span<std::uint8_t const> message; parts.next(message);) say(test::copy_of(message));
    }
    void say(test::bytes const& message) { said.say_bytes(message, false); }

    talk& said;
    std::unique_ptr<snapshot_scratch> scratch = std::make_unique<snapshot_scratch>();
    std::vector<history::entry> entries = std::vector<history::entry>(100);
    test::ints block = test::ints(10000);
    snapshot_sender sender{
        entries, block, {said.item_protocol(), said.item_protocol() == protocol::ddnet ? &sizes_06 : &sizes_07}};
};

/// Datagrams of 0.6 as a test wants them.
struct wire final : capture_listener {
    wire() {
        control_message connect;
        connect.code = control_code::connect;
        give(sender::client, write_control(connect, wire_format::v06, {}, memory));
    }
    void give(sender from, std::span<std::uint8_t const> payload) {
        udp_datagram datagram{end_of(1, 8303), end_of(2, 40000), payload};
        if (from == sender::client) std::swap(datagram.from, datagram.to);
        ++frame;
        watcher.receive(frame, static_cast<std::int64_t>(frame), datagram);
    }
    void say_bytes(sender from, std::span<std::uint8_t const> message, std::uint16_t vital = 0,
                   bool resend = false) {
        packet_writer writer{wire_format::v06};
        REQUIRE(writer.add({vital != 0, resend, vital, message}) == teewire::failure{});
        give(from, writer.finish({}, memory));
    }
    /// `vital`: its number, or 0. The bytes of the message.
    template <class T>
    std::size_t say(sender from, T const& value, std::uint16_t vital = 0, bool resend = false) {
        std::array<std::uint8_t, max_payload_bytes> bytes;
        auto const message = encode(value, protocol::ddnet, bytes);
        REQUIRE(message);
        say_bytes(from, *message, vital, resend);
        return message->size();
    }
    void game_message(connection_stats const&, message const&, message_type, std::span<std::uint8_t const>,
                      bool) override {
        ++messages;
    }
    void stay_begins(connection_stats const&, map_stay const&) override { ++stays; }
    [[nodiscard]] connection_stats const& only() {
        auto const all = watcher.connections();
        REQUIRE(all.size() == 1);
        return *all[0];
    }

    connection_watcher watcher{*this};
    packet_memory memory;
    std::uint64_t frame = 0;
    int messages = 0;
    int stays = 0;
};

messages::map_change a_map() {
    messages::map_change m;
    m.name = "dm1";
    return m;
}
messages::chat some_chat(std::string_view text) {
    messages::chat m;
    m.text = text;
    return m;
}

} // namespace

TEST_CASE("capture: a connection that ended before a game is one, with the words of the server") {
    auto const control = [](wire& w, sender from, control_code code, std::string_view reason = {}) {
        control_message m;
        m.code = code;
        m.reason = reason;
        w.give(from, write_control(m, wire_format::v06, {}, w.memory));
    };
    auto const info = [](wire& w) {
        messages::info m;
        m.version = "0.6 626fce9a778df4d4";
        w.say(sender::client, m, 1);
    };
    wire refused;
    control(refused, sender::server, control_code::close, "This server is full");
    CHECK(refused.only().closed_by == sender::server);
    CHECK(refused.only().close_reason == "This server is full");
    CHECK_FALSE(refused.only().has_snapshots());
    CHECK(refused.watcher.foreign() == 0);

    wire silent; // could be anything
    control(silent, sender::server, control_code::close);
    CHECK(silent.watcher.connections().empty());
    wire left;
    control(left, sender::client, control_code::close, "never mind");
    CHECK(left.watcher.connections().empty());

    wire let_in;
    control(let_in, sender::server, control_code::connect_accept);
    CHECK(let_in.watcher.connections().empty());
    info(let_in);
    CHECK_FALSE(let_in.only().closed_by);
    wire unanswered;
    info(unanswered);
    CHECK(unanswered.watcher.connections().empty());
}

TEST_CASE("capture: refused connections leave room for others") {
    capture_listener listener;
    connection_watcher watcher{listener};
    packet_memory memory;
    std::uint64_t frame = 0;
    constexpr std::size_t clients = connection_watcher::max_refused + 10;
    for (std::size_t i = 0; i < clients; ++i) {
        udp_address const server = end_of(1, 8303), client = end_of(2, static_cast<std::uint16_t>(1000 + i));
        control_message m;
        m.code = control_code::connect;
        ++frame;
        watcher.receive(frame, 0, {client, server, write_control(m, wire_format::v06, {}, memory)});
        m.code = control_code::close;
        m.reason = "full";
        ++frame;
        watcher.receive(frame, 0, {server, client, write_control(m, wire_format::v06, {}, memory)});
    }
    CHECK(watcher.connections().size() == connection_watcher::max_refused);
    CHECK(watcher.left_out() == 0);
}

TEST_CASE("capture: a map that was downloaded is known, and whether it is the one that was announced") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        auto const bytes = some_map(350);
        auto const all = std::span<std::uint8_t const>{bytes};
        enum { good, another_sum, a_piece_missed, a_piece_twice, too_large };
        for (int const course : {good, another_sum, a_piece_missed, a_piece_twice, too_large}) {
            CAPTURE(course);
            heard h{format};
            auto change = h.said.announced(bytes);
            if (course == another_sum) change.crc ^= 1;
            h.said.say(change);
            for (std::int32_t n = 0; n < 4; ++n) {
                h.deaf = course == a_piece_missed && n == 2;
                auto piece = all.subspan(static_cast<std::size_t>(100 * n), n < 3 ? 100 : 50);
                if (course == too_large && n == 3) piece = all.first(100);
                h.said.piece(piece, n, change.crc, n == 3);
                if (course == a_piece_twice && format != wire_format::v07) h.said.piece(piece, n, change.crc);
            }
            h.deaf = false;
            h.watcher.finish();
            connection_stats const& w = h.only();
            REQUIRE(w.stays.size() == 1);
            CHECK(w.stays[0].announced);
            CHECK(w.stays[0].map.name == "dm1");
            CHECK(w.stays[0].map.size == 350);
            CHECK(w.stays[0].map.crc == change.crc);
            bool const right = course == good || course == a_piece_twice;
            CHECK(w.stays[0].downloaded == right);
            REQUIRE(h.maps.size() == right);
            if (right) CHECK(h.maps[0] == bytes);
        }
    }
}

TEST_CASE("capture: each map begins a stay") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        heard h{format};
        auto const first = some_map(80), second = some_map(90);
        h.said.say(h.said.announced(first));
        h.said.piece(first, 0, crc_of(first), true);
        auto change = h.said.announced(second);
        change.name = "dm2";
        h.said.say(change);
        h.said.piece(second, 0, crc_of(second), true);
        // One that is left before all of it has come, and another.
        change.name = "dm3";
        h.said.say(change);
        h.said.piece(std::span{second}.first(50), 0, crc_of(second));
        change.name = "dm4";
        h.said.say(change);
        h.said.piece(second, 0, crc_of(second), true);
        h.watcher.finish();
        CHECK(h.begun == std::vector<std::string>{"dm1", "dm2", "dm3", "dm4"});
        REQUIRE(h.maps.size() == 3);
        CHECK(h.maps[1] == second);
        CHECK(h.maps[2] == second);
        REQUIRE(h.only().stays.size() == 4);
        CHECK_FALSE(h.only().stays[2].downloaded);
        CHECK(h.only().stays[3].downloaded);
        CHECK(h.only().stays[0].downloaded);
        CHECK(h.only().stays[1].downloaded);
        CHECK(h.only().stays[1].first_frame > h.only().stays[0].first_frame);
    }
}

TEST_CASE("capture: snapshots are decoded, checked and counted") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        client_profile profile;
        profile.download_map = false;
        profile.name = "a name";
        heard h{format, profile};
        h.said.say(h.said.announced(some_map(300)));
        h.said.say(messages::con_ready{});
        h.said.say(messages::ready_to_enter{});
        REQUIRE(h.said.client->playing());
        snapshots_of s{h.said};
        s.send(100, 1);
        s.send(102, 2);
        CHECK(s.sender.acknowledge(102));
        s.send(104, 3);
        s.send(106, 2); // as its base: without a checksum
        h.deaf = true;
        s.send(108, 5);
        h.deaf = false;
        s.send(110, 6); // after a gap
        h.watcher.finish();
        connection_stats const& w = h.only();
        CHECK(h.ticks == std::vector<std::int32_t>{100, 102, 104, 106, 110});
        CHECK(h.checksums == std::vector<std::uint32_t>{4, 8, 12, 8, 24});
        CHECK(w.snapshots == 5);
        CHECK(w.checksum_ok == 4);
        CHECK(w.empty == 1);
        CHECK(w.checksum_bad + w.undecodable + w.missing_base + w.incomplete + w.repeated + w.late == 0);
        CHECK(w.max_items == 1);
        CHECK(w.checksum_sum == 4 + 8 + 12 + 8 + 24);
        REQUIRE(w.stays.size() == 1);
        CHECK(w.stays[0].snapshots == 5);
        CHECK(w.stays[0].first_tick == 100);
        CHECK(w.stays[0].last_tick == 110);
        auto const spacing = measure_spacing(w.distances);
        CHECK(spacing.usual == 2);
        CHECK(spacing.gaps == 1);
        CHECK(spacing.missed == 1);
        CHECK(spacing.largest_gap == 4);
        // The names of the clients.
        CHECK(address_text(w.server()) == "10.0.0.1:8303");
        CHECK(address_text(w.client()) == "10.0.0.2:40000");
        CHECK(w.player == "a name");
        CHECK(w.v07 == (format == wire_format::v07));
        CHECK(w.format == format);
        CHECK(w.sent_by(sender::server).vital == 3);
        CHECK(w.sent_by(sender::client).vital > 3);
        CHECK(w.sent_by(sender::client).repeated_vital == 0);
        CHECK(w.malformed.count == 0);
        CHECK(w.damaged.count == 0);
        REQUIRE(h.messages.size() == 1);
        CHECK((h.messages[0].first == message_type::ready_to_enter));
        CHECK(h.messages[0].second);
    }
}

TEST_CASE("capture: a stay with nothing but empty snapshots says so") {
    heard h{wire_format::ddnet};
    h.said.say(h.said.announced(some_map(10)));
    std::array<std::uint8_t, 64> memory;
    for (std::int32_t const tick : {100, 102}) {
        packer out{memory};
        out.add_int(describe(message_type::snap_empty).id_06 << 1 | 1).add_int(tick).add_int(tick + 1);
        h.said.say_bytes(test::copy_of(*out.finish()), false);
    }
    h.watcher.finish();
    CHECK(h.only().max_items == 0);
    text_buffer out;
    print_text(out, h.only(), 1, 0, true);
    CAPTURE(out.view());
    CHECK(out.view().find("10 B, crc") != std::string_view::npos);
    CHECK(out.view().find(": 2 empty snapshots\n") != std::string_view::npos);
    // The messages by kind.
    CHECK(out.view().find("snap_empty ") != std::string_view::npos);
    CHECK(out.view().find("request_map_data ") != std::string_view::npos);
}

TEST_CASE("capture: where the first damage is") {
    heard h{wire_format::ddnet};
    h.said.say(h.said.announced(some_map(10)));
    snapshots_of s{h.said};
    // A delta of three ints that has two.
    std::array<std::uint8_t, 64> memory;
    packer out{memory};
    out.add_int(describe(message_type::snap_single).id_06 << 1 | 1).add_int(100).add_int(101).add_int(0).add_int(2);
    out.add_int(0).add_int(0);
    s.say(test::copy_of(*out.finish()));
    h.watcher.finish();
    CHECK(h.only().undecodable == 1);
    CHECK(h.only().damaged.first.ends_with(std::string{": tick 100: "} + std::string{describe(errc::truncated)} +
                                           " (int 2)"));
}

TEST_CASE("capture: snapshots that are wrong are told apart") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        heard h{format};
        h.said.say(h.said.announced(some_map(10)));
        snapshots_of s{h.said};
        auto const message_of = [&](std::int32_t tick, std::int32_t value) {
            auto const full = s.layout(value);
            auto sent = s.sender.send(tick, test::view_of(full), *s.scratch);
            REQUIRE(sent);
            std::span<std::uint8_t const> message;
            snapshot_messages parts = *sent;
            REQUIRE(parts.next(message));
            return test::copy_of(message);
        };
        auto const good = message_of(100, 1);
        s.say(good);
        s.say(good); // again
        auto bad = message_of(102, 1);
        bad.back() ^= 1;
        s.say(bad); // another checksum
        auto undecodable = message_of(104, 1);
        undecodable.back() |= 0x80;
        s.say(undecodable);
        static_cast<void>(message_of(106, 1)); // never sent
        CHECK(s.sender.acknowledge(106));
        s.say(message_of(108, 2));
        auto const cut = test::bytes(good.begin(), good.begin() + 2);
        s.say(cut);
        h.said.server->close("over");
        h.said.exchange();
        h.watcher.finish();
        connection_stats const& w = h.only();
        CHECK(h.ticks == std::vector<std::int32_t>{100});
        CHECK(w.snapshots == 1);
        CHECK(w.checksum_ok == 1);
        CHECK(w.repeated == 1);
        CHECK(w.checksum_bad == 1);
        CHECK(w.undecodable == 2);
        CHECK(w.missing_base == 1);
        CHECK(w.has_snapshots());
        CHECK(w.malformed.count == 0);
        CHECK(w.damaged.count == 3);
        CHECK(w.damaged.first.starts_with("frame "));
        CHECK(w.damaged.first.ends_with(": tick 102: " + std::string{describe(errc::bad_checksum)}));
        CHECK(w.close_reason == "over");
        REQUIRE(w.closed_by.has_value());
        CHECK(*w.closed_by == sender::server);
    }
}

TEST_CASE("capture: messages are counted with the bytes that they take") {
    wire w;
    w.say(sender::server, a_map(), 1);
    std::size_t const vital = w.say(sender::server, some_chat("vital"), 2);
    std::size_t const other = w.say(sender::server, some_chat("another one"));
    std::size_t const input = w.say(sender::client, messages::input{});
    w.watcher.finish();
    auto const& of_server = w.only().sent_by(sender::server);
    auto const& of_client = w.only().sent_by(sender::client);
    REQUIRE(of_server.messages.contains("chat"));
    CHECK(of_server.messages.find("chat")->second.count == 2);
    CHECK(of_server.messages.find("chat")->second.bytes == vital + 3 + other + 2);
    REQUIRE(of_client.messages.contains("input"));
    CHECK(of_client.messages.find("input")->second.count == 1);
    CHECK(of_client.messages.find("input")->second.bytes == input + 2);
    CHECK(of_server.vital == 2);
    CHECK(of_client.vital == 0);
}

TEST_CASE("capture: what a client says that it is counts more than what it speaks") {
    messages::client_version known;
    known.text = "DDNet 18.9";
    messages::info spoken;
    spoken.version = "0.6 626fce9a778df4d4";
    for (bool const known_first : {false, true}) {
        CAPTURE(known_first);
        wire w;
        if (known_first) w.say(sender::client, known, 1);
        w.say(sender::client, spoken, known_first ? 2 : 1);
        if (!known_first) w.say(sender::client, known, 2);
        w.say(sender::server, a_map(), 1);
        w.watcher.finish();
        CHECK(w.only().client_version == "DDNet 18.9");
    }
    wire w;
    w.say(sender::client, spoken, 1);
    w.say(sender::server, a_map(), 1);
    w.watcher.finish();
    CHECK(w.only().client_version == "0.6 626fce9a778df4d4");
}

TEST_CASE("capture: after a connect that may be old, chunks begin anew with one that was not sent before") {
    wire w;
    w.say(sender::server, a_map(), 1);
    w.say(sender::server, some_chat("a"), 2);
    control_message connect;
    connect.code = control_code::connect;
    w.give(sender::client, write_control(connect, wire_format::v06, {}, w.memory));
    w.say(sender::server, a_map(), 1, true); // once more
    w.say(sender::server, some_chat("b"), 3);
    CHECK(w.stays == 1);
    CHECK(w.messages == 2);
    CHECK(w.only().sent_by(sender::server).repeated_vital == 1);
    w.say(sender::server, a_map(), 1);
    w.say(sender::server, some_chat("c"), 2);
    CHECK(w.stays == 2);
    CHECK(w.messages == 3);
    w.watcher.finish();
}

TEST_CASE("capture: nothing is counted from one stay to the next") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        heard h{format};
        h.said.say(h.said.announced(some_map(10)));
        snapshots_of first{h.said};
        for (std::int32_t const tick : {100, 102, 104}) first.send(tick, 1 + tick);
        // Only a part of the last one comes.
        test::ints large(3000);
        for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::int32_t>(i * i * 977);
        auto const full = test::layout({{make_key(40, 1), large}});
        auto sent = first.sender.send(106, test::view_of(full), *first.scratch);
        REQUIRE(sent);
        std::span<std::uint8_t const> part;
        snapshot_messages parts = *sent;
        REQUIRE(parts.next(part));
        first.say(test::copy_of(part));
        REQUIRE(parts.next(part));
        CHECK(h.only().incomplete == 0);
        h.said.say(h.said.announced(some_map(10)));
        CHECK(h.only().incomplete == 1);
        CHECK(h.only().distances == distance_counts{{2, 2}});
        snapshots_of second{h.said};
        for (std::int32_t const tick : {10, 12, 14, 16}) second.send(tick, 1 + tick);
        h.watcher.finish();
        CHECK(h.only().incomplete == 1);
        CHECK(h.only().distances == distance_counts{{2, 5}});
        CHECK(h.only().snapshots == 7);
    }
}
