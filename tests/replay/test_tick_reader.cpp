// A stream tick by tick.
#include "streams.hpp"

#include "game/owned_snapshot.hpp"
#include "recording/stream/early_messages.hpp"
#include "recording/stream/tick_reader.hpp"

using namespace teewire;
using namespace teewire::replay;
using test::begin, test::said, test::snapshot, test::step, test::stream_script;

TEST_CASE("what is too much for one step of a stream is another one of the same tick") {
    std::vector<step> steps{begin(), snapshot(10, {})};
    constexpr std::size_t most = 1024, all = most + 76;
    for (std::size_t i = 0; i < all; ++i) steps.push_back(said(10, i % 2 == 0 ? "0a" : "0b 0c"));
    steps.push_back(snapshot(12, {}));
    stream_script source{steps};
    tick_reader reader{source};
    REQUIRE(reader.next());
    CHECK(reader.begins());
    std::size_t got = 0;
    for (std::size_t const count : {most, all - most}) {
        CHECK(reader.peek() == 10);
        REQUIRE(reader.next());
        CHECK(reader.tick() == 10);
        REQUIRE(reader.messages().size() == count);
        for (tick_message const& m : reader.messages()) CHECK(m.bytes.size() == 1 + got++ % 2);
    }
    REQUIRE(reader.next());
    CHECK(reader.tick() == 12);
    CHECK(reader.messages().empty());
    CHECK_FALSE(reader.next());
}

TEST_CASE("two snapshots of one tick are two steps") {
    stream_script source{{begin(), snapshot(10, {}), said(10, "0a"), snapshot(10, {}), said(10, "0b")}};
    tick_reader reader{source};
    REQUIRE(reader.next());
    for (std::uint8_t const what : {0x0a, 0x0b}) {
        REQUIRE(reader.next());
        CHECK(reader.tick() == 10);
        REQUIRE(reader.messages().size() == 1);
        CHECK(reader.messages()[0].bytes[0] == what);
    }
    CHECK_FALSE(reader.next());
}

TEST_CASE("early messages are kept in their order, up to a limit") {
    early_messages early;
    for (std::size_t i = 0; i < early_messages::max_count + 5; ++i)
        early.add(std::array{static_cast<std::uint8_t>(i)}, i % 2 == 0);
    std::size_t count = 0;
    auto const check = [&](std::span<std::uint8_t const> bytes, bool vital) {
        CHECK(bytes.front() == static_cast<std::uint8_t>(count));
        CHECK(vital == (count % 2 == 0));
        ++count;
    };
    early.release(check);
    CHECK(count == early_messages::max_count);
    early.release(check);
    CHECK(count == early_messages::max_count);
}

TEST_CASE("a copy of a snapshot keeps whether its keys are distinct") {
    std::array<std::int32_t, 8> ints{16, 2, 0, 8, 65536, 1, 65536, 2}; // one key twice
    owned_snapshot copy;
    CHECK(!copy.has_value());
    CHECK(copy.view().empty());
    copy.assign(snapshot_view::trusted(ints, false));
    ints.fill(0);
    CHECK(copy.has_value());
    CHECK(copy.view().size() == 2);
    CHECK(!copy.view().distinct_keys());
    CHECK(copy.bytes() == 32);
    copy.clear();
    CHECK(!copy.has_value());
}
