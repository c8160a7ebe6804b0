// Messages of a server to a client, and the client's reactions.
#include "snapshots.hpp"
#include "talk.hpp"

#include <teewire/snapshot_sender.hpp>

using namespace teewire;
using namespace teewire::replay;
using test::crc_of;
using test::some_map;
using test::talk;

namespace {

constexpr wire_format formats[] = {wire_format::ddnet, wire_format::v07};
constexpr auto wrong_sum = "the map arrived with a different checksum than announced";
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
        t.piece(all.first(100), number, crc_of(bytes)); // no one waits for it
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
    // They hold only for the next map.
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

TEST_CASE("a client that has left hears nothing more, though it is in the same packet") {
    for (bool const leaves : {false, true}) {
        talk t{wire_format::ddnet};
        auto const bytes = some_map(350);
        t.say(t.announced(bytes));
        std::array<std::uint8_t, 1000> memory;
        auto const queue = [&](auto const& value) {
            auto const message = *encode(value, t.item_protocol(), memory);
            REQUIRE(t.server->queue(message, true, t.now) == teewire::failure{});
        };
        messages::map_data nothing;
        nothing.crc = crc_of(bytes);
        if (leaves) queue(nothing);
        auto other = t.announced(bytes);
        other.name = "dm2";
        queue(other);
        t.server->flush();
        t.exchange();
        t.exchange();
        CHECK(t.client->closed() == leaves);
        CHECK(t.map.name == (leaves ? "dm1" : "dm2"));
    }
}

TEST_CASE("what is no message is left out") {
    for (wire_format const format : formats) {
        talk t{format};
        auto const bytes = some_map(10);
        t.say(t.announced(bytes)); // there is a connection
        auto const before = t.told;
        for (test::bytes const& wrong : {test::bytes{}, test::bytes{0x80}, test::bytes{0xff, 0xff}})
            t.say_bytes(wrong, true);
        CHECK(t.told == before);
        CHECK_FALSE(t.client->closed());
        t.piece(bytes, 0, crc_of(bytes), true);
        CHECK(t.complete == 1);
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
        // Another map restarts it.
        t.say(t.announced(some_map(200)));
        CHECK_FALSE(t.client->playing());
        CHECK(t.complete == 2);
        CHECK(t.told[message_type::ready_to_enter] == 4);
    }
}

TEST_CASE("a client that has lost its base asks for a whole snapshot at once") {
    client_profile profile;
    profile.download_map = false;
    talk t{wire_format::ddnet, profile};
    t.say(t.announced(some_map(80)));
    t.say(messages::con_ready{});
    t.say(messages::ready_to_enter{});
    REQUIRE(t.client->playing());
    auto const scratch = std::make_unique<snapshot_scratch>();
    std::vector<history::entry> entries(20);
    test::ints block(4000);
    snapshot_sender sender{entries, block, {}};
    auto const send = [&](std::int32_t tick, std::int32_t value) {
        auto const full = test::layout({{make_key(40, 1), test::ints(4, value)}});
        auto parts = *sender.send(tick, test::view_of(full), *scratch);
        std::span<std::uint8_t const> message;
        REQUIRE(parts.next(message));
        return test::copy_of(message);
    };
    t.say_bytes(send(100, 1), false);
    REQUIRE(sender.acknowledge(100));
    static_cast<void>(send(102, 2)); // is lost
    REQUIRE(sender.acknowledge(102));
    auto const on_nothing = send(104, 3);
    // All that it has to say, at this time.
    int inputs = 0;
    auto const listen = [&] {
        int const before = t.asked[message_type::input];
        for (auto d = t.client->poll(t.now); !d.empty(); d = t.client->poll(t.now)) t.take(test::copy_of(d));
        inputs = t.asked[message_type::input] - before;
    };
    t.now += 40;
    listen();
    t.now += 1;
    listen();
    REQUIRE(inputs == 0);
    REQUIRE(t.server->queue(on_nothing, false, t.now).code == errc::ok);
    t.server->flush();
    for (auto d = t.server->poll(t.now, *t.out); !d.empty(); d = t.server->poll(t.now, *t.out)) t.give(d);
    listen();
    CHECK(inputs == 1);
}

TEST_CASE("what waits to be sent is bounded, whatever a server asks for") {
    for (wire_format const format : formats) {
        talk t{format};
        messages::say say;
        say.text = "hello";
        for (int i = 0; i < 3000; ++i) t.client->send(say);
        for (int i = 0; i < 2000; ++i) t.exchange();
        CHECK(t.asked[message_type::say] == 1000);
        CHECK_FALSE(t.client->closed());
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
