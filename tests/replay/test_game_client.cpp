// What a server may say to a client, and what the client makes of it: without sockets and in a time of their own.
#include "check.hpp"

#include "live/game_client.hpp"

#include <teewire/handshake.hpp>
#include <teewire/sha256.hpp>

#include <map>

#include <zlib.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

constexpr std::array<std::uint8_t, 16> secret{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
constexpr std::array<std::uint8_t, 6> address{127, 0, 0, 1, 0x20, 0x6f};

std::uint32_t crc_of(std::span<std::uint8_t const> bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

/// A client and a server that says what a test tells it to say.
struct talk final : client_listener {
    explicit talk(wire_format chosen, client_profile const& profile = {}) : format{chosen} {
        client.emplace(format, profile, std::array<std::uint8_t, 16>{7}, *this, *scratch, now);
        for (int i = 0; i < 20 && asked[message_type::info] == 0; ++i) exchange();
        REQUIRE(asked[message_type::info] == 1);
    }
    void map_changes(served_map const& m) override { map = m; }
    void map_arrives(std::size_t bytes) override { arrived = bytes; }
    void map_complete(served_map const& m, std::vector<std::uint8_t>&& bytes) override {
        ++complete;
        map = m;
        map_bytes = std::move(bytes);
    }
    void receives(snapshot_event const&) override {}
    void receives(message const&, message_type type, std::span<std::uint8_t const>, bool) override { ++told[type]; }

    [[nodiscard]] protocol spoken() const {
        return format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    }
    template <class T>
    void say(T const& value, bool vital = true) {
        std::array<std::uint8_t, max_payload_bytes> bytes;
        auto const message = encode(value, spoken(), bytes);
        REQUIRE(message);
        say_bytes(*message, vital);
    }
    void say_bytes(std::span<std::uint8_t const> message, bool vital) {
        REQUIRE(server->queue(message, vital, now, *out, [&](auto d) { client->receive(test::copy_of(d), now); }) ==
                failure{});
        server->flush();
        for (int i = 0; i < 4; ++i) exchange();
    }
    /// What both have to send.
    void exchange() {
        now += 10;
        for (auto d = client->poll(now); !d.empty(); d = client->poll(now)) take(test::copy_of(d));
        if (!server) return;
        for (auto d = server->poll(now, *out); !d.empty(); d = server->poll(now, *out))
            client->receive(test::copy_of(d), now);
    }
    void take(test::bytes const& datagram) {
        if (!server) {
            auto const d = gate.receive(datagram, address, now, *out);
            if (d.what == server_gate::verdict::accept)
                server = connection::server(d.format, d.tokens, *memory, now);
            if (!d.reply.empty()) client->receive(test::copy_of(d.reply), now);
            if (!server || !d.data) return;
        }
        if (server->receive(datagram, now, *payload).kind != received_kind::chunks) return;
        for (chunk c; server->next_chunk(c);)
            if (auto const m = parse_message(c.data)) ++asked[identify(*m, spoken())];
    }

    messages::map_change announced(std::span<std::uint8_t const> bytes, std::span<std::uint8_t const> digest = {}) {
        messages::map_change m;
        m.name = "dm1";
        m.crc = crc_of(bytes);
        m.size = static_cast<std::int32_t>(bytes.size());
        m.chunks_per_request = 2;
        m.chunk_size = 100;
        m.sha256 = digest;
        return m;
    }
    messages::map_details details(std::span<std::uint8_t const> bytes, std::span<std::uint8_t const> digest) {
        messages::map_details m;
        m.name = "dm1";
        m.crc = crc_of(bytes);
        m.size = static_cast<std::int32_t>(bytes.size());
        m.sha256 = digest;
        return m;
    }
    void piece(std::span<std::uint8_t const> data, std::int32_t number, std::uint32_t crc, bool last = false) {
        messages::map_data m;
        m.data = data;
        m.number = number;
        m.crc = crc;
        m.last = last;
        say(m);
    }

    wire_format format;
    milliseconds now = 1000;
    std::unique_ptr<snapshot_scratch> scratch = std::make_unique<snapshot_scratch>();
    std::optional<game_client> client;
    server_gate gate{secret, {false, true, true, true}};
    std::unique_ptr<connection_memory<>> memory = std::make_unique<connection_memory<>>();
    std::unique_ptr<packet_memory> out = std::make_unique<packet_memory>();
    std::unique_ptr<payload_memory> payload = std::make_unique<payload_memory>();
    std::optional<connection> server;

    std::map<message_type, int> asked; // of the server
    std::map<message_type, int> told;  // to the client
    served_map map;
    std::vector<std::uint8_t> map_bytes;
    std::size_t arrived = 0;
    int complete = 0;
};

test::bytes some_map(std::size_t size) {
    test::bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 2);
    return bytes;
}

constexpr wire_format formats[] = {wire_format::ddnet, wire_format::v07};
constexpr auto wrong_sum = "the map arrived with another checksum than announced";
constexpr auto wrong_size = "the server's map does not have the size it was announced with";

} // namespace

TEST_CASE("a map comes in pieces, and is asked for as its protocol asks") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        talk t{format};
        auto const bytes = some_map(350);
        auto const all = std::span<std::uint8_t const>{bytes};
        auto const digest = sha256(bytes);
        bool const v07 = format == wire_format::v07;
        if (!v07) t.say(t.details(bytes, digest));
        t.say(t.announced(bytes, v07 ? std::span<std::uint8_t const>{digest} : std::span<std::uint8_t const>{}));
        CHECK(t.map.name == "dm1");
        CHECK(t.map.size == 350);
        CHECK(t.map.sha256 == digest);
        CHECK(t.asked[message_type::request_map_data] == 1);
        std::int32_t number = 0;
        for (std::size_t at = 0; at < 350; at += 100, ++number) {
            CHECK(t.complete == 0);
            t.piece(all.subspan(at, std::min<std::size_t>(100, 350 - at)), number, crc_of(bytes), at == 300);
            CHECK(t.arrived == std::min<std::size_t>(at + 100, 350));
            if (!v07) t.piece(all.first(100), 0, crc_of(bytes));              // once more
            if (!v07) t.piece(all.first(100), number + 1, crc_of(bytes) + 1); // of another map
        }
        CHECK(t.asked[message_type::request_map_data] == (v07 ? 2 : 4)); // two pieces each
        CHECK(t.complete == 1);
        CHECK(t.map_bytes == bytes);
        CHECK(t.asked[message_type::ready] == 1);
        CHECK_FALSE(t.client->closed());
        t.piece(all.first(100), number, crc_of(bytes)); // nobody waits for it
        CHECK(t.complete == 1);
        CHECK_FALSE(t.client->closed());
    }
}

TEST_CASE("a map with another SHA-256 than announced is not taken, though its CRC is right") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        bool const v07 = format == wire_format::v07;
        auto const bytes = some_map(80);
        for (bool const right : {true, false}) {
            CAPTURE(right);
            talk t{format};
            auto digest = sha256(bytes);
            if (!right) digest[31] ^= 1;
            if (!v07) t.say(t.details(bytes, digest));
            t.say(
                t.announced(bytes, v07 ? std::span<std::uint8_t const>{digest} : std::span<std::uint8_t const>{}));
            REQUIRE(t.map.sha256.has_value());
            t.piece(bytes, 0, crc_of(bytes), true);
            CHECK(t.client->closed() == !right);
            CHECK(t.complete == right);
            if (!right) CHECK(t.client->close_text() == wrong_sum);
            CHECK(t.asked[message_type::ready] == right);
        }
    }
}

TEST_CASE("a map with another CRC than announced is not taken") {
    for (wire_format const format : formats) {
        talk t{format};
        auto const bytes = some_map(80);
        auto change = t.announced(bytes);
        change.crc ^= 1;
        t.say(change);
        t.piece(bytes, 0, change.crc, true);
        CHECK(t.client->close_text() == wrong_sum);
        CHECK(t.complete == 0);
    }
}

TEST_CASE("details of another map say nothing about this one") {
    auto const bytes = some_map(80);
    test::bytes const digest(32, 9); // that of nothing
    struct {
        std::string_view name;
        std::uint32_t crc_more;
        std::int32_t size_more;
        bool taken;
    } const variants[] = {{"dm1", 0, 0, false}, {"dm2", 0, 0, true}, {"dm1", 1, 0, true}, {"dm1", 0, 1, true}};
    for (auto const& v : variants) {
        talk t{wire_format::ddnet};
        auto details = t.details(bytes, digest);
        details.name = v.name;
        details.crc += v.crc_more;
        details.size += v.size_more;
        t.say(details);
        t.say(t.announced(bytes));
        t.piece(bytes, 0, crc_of(bytes), true);
        CHECK(t.complete == v.taken);
        if (v.taken) CHECK(t.map.sha256 == sha256(bytes));
    }
    // They hold for the next map alone.
    talk t{wire_format::ddnet};
    t.say(t.details(bytes, digest));
    auto const other = some_map(70);
    t.say(t.announced(other));
    t.say(t.announced(bytes));
    CHECK_FALSE(t.map.sha256.has_value());
    t.piece(bytes, 0, crc_of(bytes), true);
    CHECK(t.complete == 1);
}

TEST_CASE("a piece of a map that is empty, or larger than what is left, ends it") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        auto const bytes = some_map(150);
        auto const all = std::span<std::uint8_t const>{bytes};
        {
            talk t{format};
            t.say(t.announced(bytes));
            t.piece({}, 0, crc_of(bytes)); // or it would be asked for the next one without end
            CHECK(t.client->closed());
            CHECK(t.client->close_text() == wrong_size);
            CHECK(t.asked[message_type::request_map_data] == 1);
        }
        {
            talk t{format};
            t.say(t.announced(bytes));
            t.piece(all.first(100), 0, crc_of(bytes));
            CHECK_FALSE(t.client->closed());
            t.piece(all.first(51), 1, crc_of(bytes));
            CHECK(t.client->close_text() == wrong_size);
            CHECK(t.complete == 0);
        }
    }
}

TEST_CASE("sizes of maps that make no sense") {
    for (wire_format const format : formats) {
        auto const bytes = some_map(10);
        {
            talk t{format};
            auto change = t.announced(bytes);
            change.size = (1 << 30) + 1;
            t.say(change);
            CHECK(t.client->close_text() == "the server's map is larger than 1 GiB");
            CHECK(t.asked[message_type::request_map_data] == 0);
        }
        {
            talk t{format};
            auto change = t.announced(bytes);
            change.size = 1 << 30;
            t.say(change);
            CHECK_FALSE(t.client->closed());
            CHECK(t.asked[message_type::request_map_data] == 1);
        }
    }
    // An empty map has the CRC 0.
    talk t{wire_format::ddnet};
    t.say(t.announced({}));
    CHECK(t.complete == 1);
    CHECK(t.asked[message_type::request_map_data] == 0);
    CHECK(t.asked[message_type::ready] == 1);
}

TEST_CASE("without download a client says that it has the map") {
    for (wire_format const format : formats) {
        client_profile profile;
        profile.download_map = false;
        talk t{format, profile};
        t.say(t.announced(some_map(300)));
        CHECK(t.complete == 1);
        CHECK(t.map_bytes.empty());
        CHECK(t.asked[message_type::request_map_data] == 0);
        CHECK(t.asked[message_type::ready] == 1);
    }
}

TEST_CASE("a client joins step by step, and by vital messages alone") {
    for (wire_format const format : formats) {
        CAPTURE(std::string{name(format)});
        client_profile profile;
        profile.download_map = false;
        talk t{format, profile};
        t.say(messages::con_ready{}); // too early
        t.say(messages::ready_to_enter{});
        CHECK(t.asked[message_type::start_info] == 0);
        CHECK_FALSE(t.client->playing());
        t.say(t.announced(some_map(300)), false); // not vital
        CHECK(t.complete == 0);
        t.say(t.announced(some_map(300)));
        CHECK(t.complete == 1);
        t.say(messages::con_ready{}, false);
        CHECK(t.asked[message_type::start_info] == 0);
        t.say(messages::con_ready{});
        CHECK(t.asked[message_type::start_info] == 1);
        t.say(messages::ready_to_enter{}, false);
        CHECK_FALSE(t.client->playing());
        CHECK(t.asked[message_type::enter_game] == 0);
        t.say(messages::ready_to_enter{});
        CHECK(t.client->playing());
        CHECK(t.asked[message_type::enter_game] == 1);
        CHECK(t.asked[message_type::set_team] == 1); // it watches
        CHECK(t.asked[message_type::show_distance] == (format == wire_format::ddnet ? 1 : 0));
        t.say(messages::ready_to_enter{}); // once more
        CHECK(t.asked[message_type::enter_game] == 1);
        for (int i = 0; i < 100; ++i) t.exchange();
        CHECK(t.asked[message_type::input] >= 23); // every 40 ms
        CHECK(t.asked[message_type::input] <= 32);
        t.say(messages::ping{});
        CHECK(t.asked[message_type::ping_reply] == 1);
        // Another map begins it anew.
        t.say(t.announced(some_map(200)));
        CHECK_FALSE(t.client->playing());
        CHECK(t.complete == 2);
        CHECK(t.told[message_type::ready_to_enter] == 4);
    }
}

TEST_CASE("why a client left is told") {
    talk closed{wire_format::ddnet};
    closed.server->close("full\x1b[31m");
    closed.exchange();
    CHECK(closed.client->closed());
    CHECK(closed.client->close_text().starts_with("the server says: full"));
    CHECK(closed.client->close_text().find('\x1b') == std::string::npos);
    talk left{wire_format::v07};
    left.client->leave("bye");
    left.exchange();
    CHECK((left.server->state() == connection_state::closed));
    CHECK(left.server->reason() == "bye");
    talk silent{wire_format::v07};
    silent.server.reset();
    for (int i = 0; i < 1100 && !silent.client->closed(); ++i) {
        silent.now += 10;
        static_cast<void>(silent.client->poll(silent.now));
    }
    CHECK(silent.client->close_text() == describe(close_cause::silence));
}
