// What `teewire repair` keeps of damaged demos.
#include "damage.hpp"
#include "demos.hpp"
#include "random.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace teewire;
using namespace teewire::replay;

namespace {

test::bytes fixture(char const* name) {
    std::ifstream file{fmt::format("{}/demos/{}.demo", TEEWIRE_FIXTURES, name), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

constexpr char const* fixtures[] = {"ddnet_dm1",  "ddnet_v3",        "ddnet_v4",      "ddnet_v5",
                                    "ddnet_yard", "teeworlds07_dm1", "teeworlds07_v5"};

} // namespace

TEST_CASE("repair: nothing of a demo that is in order is changed") {
    for (char const* const name : fixtures) {
        CAPTURE(name);
        auto const whole = test::whole_demo::read(fixture(name));
        REQUIRE(whole != nullptr);
        demo_repair const demo{whole->file};
        CHECK(demo.losses().empty());
        CHECK(demo.remarks().empty());
        for (std::uint8_t version = 3; version <= 6; ++version) {
            auto const file = test::repaired(demo, version);
            auto const again = test::play_ticks(file, *whole->sizes);
            CHECK(again.complete);
            CHECK(again.states == whole->original.states);
            CHECK(again.messages == whole->original.messages);
            auto const before = demo_reader::open(whole->file), after = demo_reader::open(file);
            REQUIRE(before);
            REQUIRE(after);
            CHECK(after->header().version == version);
            CHECK(after->header().length == before->header().length);
            CHECK(test::copy_of(after->map()) == test::copy_of(before->map()));
            if (version >= 4)
                CHECK(std::equal(before->header().markers().begin(), before->header().markers().end(),
                                 after->header().markers().begin(), after->header().markers().end()));
        }
    }
}

TEST_CASE("repair: header and map") {
    auto const whole = fixture("ddnet_yard");
    auto const before = demo_reader::open(whole)->header();
    auto const with = [](test::bytes file, std::initializer_list<std::size_t> changed) {
        for (std::size_t const at : changed) file[at] ^= 0x11;
        return file;
    };
    constexpr std::size_t crc = 140, sha256 = 460, size = 138, in_map = 5000, in_plain_map = 1000, net_version = 8,
                          type = 144;
    auto const check = [&](std::initializer_list<std::size_t> changed, bool has_map, std::size_t remarks) {
        std::size_t const first = changed.size() == 0 ? SIZE_MAX : *changed.begin();
        CAPTURE(first);
        auto const file = with(whole, changed);
        demo_repair const demo{file};
        REQUIRE(demo.has_snapshots());
        CHECK(demo.losses().empty());
        CHECK(demo.remarks().size() == remarks);
        CHECK(demo.map().empty() != has_map);
        auto const result = test::repaired(demo, 6);
        CHECK(test::play_ticks(result, sizes_06).states == test::play_ticks(whole, sizes_06).states);
        return demo_reader::open(result)->header();
    };
    CHECK(check({}, true, 0) == before);
    CHECK(check({crc}, true, 1) == before);
    CHECK(check({sha256}, true, 1) == before);
    CHECK(check({size}, true, 1) == before);
    CHECK(check({net_version}, true, 1) == before);
    CHECK(check({type}, true, 1).type == std::array<char, 8>{'c', 'l', 'i', 'e', 'n', 't'});
    CHECK(check({0}, true, 1) == before);   // TWDEMO
    CHECK(check({7}, true, 1) == before);   // version: 23 is read as 6
    CHECK(check({440}, true, 1) == before); // the marker of a SHA-256
    // One that can be read, but is another, stays. One that is damaged does not. The header names the one that it was.
    auto const kept = check({in_plain_map}, true, 1);
    CHECK(kept == before);
    auto const left_out = check({in_map}, false, 1);
    CHECK(left_out.map_size == 0);
    CHECK(left_out.map_crc == before.map_crc);
    CHECK(left_out.sha256 == before.sha256);
    // A damaged map says nothing, and does not count as a lost part of the demo.
    auto both = with(whole, {in_map});
    both[7] = 3;
    demo_repair const other{both};
    CHECK(other.header().version == 6);
    CHECK(other.losses().empty());
    CHECK(other.map().empty());
    CHECK(test::play_ticks(test::repaired(other, 6), sizes_06).states == test::play_ticks(whole, sizes_06).states);
    auto without = fixture("ddnet_dm1");
    without[7] = 3;
    demo_repair const third{without};
    CHECK(third.header().version == 6);
    CHECK(third.losses().empty());
    CHECK(third.remarks().size() == 1);
    CHECK(test::play_ticks(test::repaired(third, 6), sizes_06).states ==
          test::play_ticks(fixture("ddnet_dm1"), sizes_06).states);
    // Without a map to ask.
    auto old = fixture("ddnet_v3");
    old[7] = 6;
    demo_repair const demo{old};
    CHECK(demo.header().version == 3);
    CHECK(test::play_ticks(test::repaired(demo, 4), sizes_06).states ==
          test::play_ticks(fixture("ddnet_v3"), sizes_06).states);
    for (std::size_t const bytes : {0, 7, 175, 176, 484, 5000}) {
        auto const begin = test::bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
        CHECK_FALSE(demo_repair{begin}.has_snapshots());
    }
    // Too short for the header of any other version.
    auto const v3 = fixture("ddnet_v3");
    for (std::size_t const bytes : {177, 200, 435}) {
        auto const begin = test::bytes(v3.begin(), v3.begin() + static_cast<std::ptrdiff_t>(bytes));
        demo_repair const short_one{begin};
        CHECK_FALSE(short_one.has_snapshots());
        CHECK(short_one.header().version == 3);
    }
}

TEST_CASE("repair: bytes that look like keyframes again and again cost no more than they are") {
    test::bytes file = fixture("ddnet_v5");
    file.resize(436);
    // Markers with a chunk as long as one can be, one inside of the other.
    for (int i = 0; i < 100'000; ++i) test::append(file, test::bytes{0xc0, 0, 0, 0, 1, 0x3f, 0xff, 0xff});
    demo_repair const demo{file};
    CHECK_FALSE(demo.has_snapshots());
}

TEST_CASE("repair: ticks that run past the next keyframe do not displace what is behind it") {
    auto const whole = test::whole_demo::read(fixture("ddnet_dm1"));
    REQUIRE(whole != nullptr);
    // The fifth marker before each keyframe but the first, as if a tick were sent 31 ticks later.
    std::vector<demo_chunk> markers;
    std::vector<std::size_t> keyframes; // by number of the marker
    demo_reader reader = *demo_reader::open(whole->file);
    for (demo_chunk chunk; reader.next(chunk);) {
        if (chunk.kind != demo_chunk_kind::tick) continue;
        if (chunk.keyframe && !markers.empty()) keyframes.push_back(markers.size());
        markers.push_back(chunk);
    }
    REQUIRE(keyframes.size() > 3);
    for (std::size_t const k : keyframes) {
        demo_chunk const& changed = markers[k - 5];
        REQUIRE_FALSE(changed.absolute);
        auto file = whole->file;
        file[changed.position] |= 31;
        demo_repair const demo{file};
        REQUIRE(demo.losses().size() == 1);
        CAPTURE(demo.losses().front().reason);
        CHECK(demo.losses().front().end == markers[k].position);
        auto const kept = test::play_ticks(test::repaired(demo, 6), sizes_06).states;
        for (auto const& [tick, state] : whole->original.states)
            if (tick < changed.tick || tick >= markers[k].tick) {
                auto const found = kept.find(tick);
                REQUIRE(found != kept.end());
                CHECK(found->second == state);
            }
    }
}

TEST_CASE("repair: whatever the header says, the chunks tell the version") {
    constexpr std::size_t version = 7, map_size = 136; // and the CRC after it
    auto const check = [&](test::bytes const& original, std::uint8_t stated, bool map_damaged) {
        int const real = original[version], wrong = stated;
        CAPTURE(real);
        CAPTURE(wrong);
        CAPTURE(map_damaged);
        auto file = original;
        file[version] = stated;
        auto const before = demo_reader::open(original)->header();
        if (map_damaged) file[before.size() + before.map_size / 2] ^= 0x11;
        demo_repair const demo{file};
        REQUIRE(demo.has_snapshots());
        CHECK(demo.losses().empty());
        CHECK(demo.header().map_size == (map_damaged ? 0 : before.map_size));
        // Chunks are the same in versions 3 and 4, and since 5. Whether it is 3 shows where they or the map begin.
        CHECK((map_damaged || (demo.header().version == 3) == (real == 3)));
        CHECK((demo.header().version >= 5) == (real >= 5));
        bool const is_07 = text(before.net_version).starts_with("0.7");
        size_table const& sizes = is_07 ? sizes_07 : sizes_06;
        CHECK(test::play_ticks(test::repaired(demo, 6), sizes).states == test::play_ticks(original, sizes).states);
    };
    auto const yard = fixture("ddnet_yard");
    auto const with_map = demo_reader::open(yard)->header();
    for (char const* name : fixtures) {
        auto const whole = fixture(name);
        auto const header = demo_reader::open(whole)->header();
        auto embedded = whole;
        if (header.map_size == 0 && header.version < 6) {
            std::copy_n(&yard[map_size], 8, &embedded[map_size]);
            auto const map = yard.begin() + static_cast<std::ptrdiff_t>(with_map.size());
            embedded.insert(embedded.begin() + static_cast<std::ptrdiff_t>(header.size()), map,
                            map + static_cast<std::ptrdiff_t>(with_map.map_size));
        }
        for (std::uint8_t const stated : {0, 2, 3, 4, 5, 6, 7, 255}) {
            check(whole, stated, false);
            check(embedded, stated, false);
            if (demo_reader::open(embedded)->header().map_size != 0) check(embedded, stated, true);
        }
    }
    // With only one keyframe, nothing but the length contradicts its ticks.
    auto damaged = fixture("ddnet_v5");
    damaged[version] = 4;
    damaged[900] ^= 0x55;
    demo_repair const demo{damaged};
    REQUIRE(demo.losses().size() == 1);
    CHECK(demo.losses().front().before == 1004);
    CHECK(demo.header().version == 5);
}

TEST_CASE("repair: what stands between the map and the first tick is kept whatever size the header tells") {
    auto file = fixture("ddnet_yard");
    auto const header = demo_reader::open(file)->header();
    std::size_t const map_end = header.size() + header.map_size;
    demo_reader reader = *demo_reader::open(file);
    for (demo_chunk chunk; reader.next(chunk);)
        if (chunk.kind == demo_chunk_kind::message) {
            test::bytes const message(file.begin() + static_cast<std::ptrdiff_t>(chunk.position),
                                      file.begin() + static_cast<std::ptrdiff_t>(reader.position()));
            file.insert(file.begin() + static_cast<std::ptrdiff_t>(map_end), message.begin(), message.end());
            break;
        }
    REQUIRE(file.size() > fixture("ddnet_yard").size());
    auto const expected = test::repaired(demo_repair{file}, 6);
    constexpr std::size_t map_size = 136;
    for (std::size_t i = 0; i < 4; ++i)
        for (int const change : {1, 0x80}) {
            auto damaged = file;
            damaged[map_size + i] ^= static_cast<std::uint8_t>(change);
            demo_repair const demo{damaged};
            CHECK(demo.losses().empty());
            CHECK(test::repaired(demo, 6) == expected);
        }
}

TEST_CASE("repair: a keyframe whose tick is one of the stretch before it takes nothing away from that") {
    auto const whole = test::whole_demo::read(fixture("ddnet_dm1"));
    REQUIRE(whole != nullptr);
    std::vector<demo_chunk> keyframes;
    demo_reader reader = *demo_reader::open(whole->file);
    for (demo_chunk chunk; reader.next(chunk);)
        if (chunk.kind == demo_chunk_kind::tick && chunk.keyframe) keyframes.push_back(chunk);
    REQUIRE(keyframes.size() > 3);
    for (std::size_t k = 1; k + 1 < keyframes.size(); ++k) {
        auto file = whole->file;
        std::int32_t const tick = (keyframes[k - 1].tick + keyframes[k].tick) / 2;
        for (std::size_t i = 0; i < 4; ++i)
            file[keyframes[k].position + 1 + i] = static_cast<std::uint8_t>(tick >> (24 - 8 * i));
        demo_repair const demo{file};
        REQUIRE(demo.losses().size() == 1);
        CAPTURE(demo.losses().front().reason);
        CHECK(demo.losses().front().begin == keyframes[k].position);
        auto expected = whole->original.states;
        std::erase_if(expected, [&](auto const& state) {
            return state.first >= keyframes[k].tick && state.first < keyframes[k + 1].tick;
        });
        CHECK(test::play_ticks(test::repaired(demo, 6), sizes_06).states == expected);
    }
}

TEST_CASE("repair: a chunk of no type is damage, but where they are everywhere") {
    auto const whole = test::whole_demo::read(fixture("ddnet_dm1"));
    REQUIRE(whole != nullptr);
    std::vector<std::size_t> messages; // where they begin
    demo_reader reader = *demo_reader::open(whole->file);
    for (demo_chunk chunk; reader.next(chunk);)
        if (chunk.kind == demo_chunk_kind::message) messages.push_back(chunk.position);
    REQUIRE(messages.size() > 100);
    constexpr std::uint8_t no_type = 0x1f; // keeps the size
    auto file = whole->file;
    file[messages[messages.size() / 2]] &= no_type;
    demo_repair const damaged{file};
    REQUIRE(damaged.losses().size() == 1);
    CHECK(damaged.losses().front().reason.find("unused type 0") != std::string::npos);
    for (std::size_t const at : messages) file[at] &= no_type;
    demo_repair const odd{file};
    CHECK(odd.losses().empty());
    CHECK(test::play_ticks(test::repaired(odd, 6), sizes_06).states == whole->original.states);
}

TEST_CASE("repair: 1000 damaged demos") {
    std::vector<std::unique_ptr<test::whole_demo>> demos;
    for (char const* const name : fixtures) demos.push_back(test::whole_demo::read(fixture(name)));
    test::random rng{20};
    std::size_t const count = std::getenv("TEEWIRE_MUTATIONS") != nullptr ? 125 : 250; // under sanitizers
    for (auto const kind : {test::damage::cut, test::damage::change, test::damage::remove, test::damage::repeat}) {
        test::repair_tally all;
        for (std::size_t i = 0; i < count; ++i) all.add(test::try_repair(*demos[i % demos.size()], kind, rng));
        test::check_tally(all, kind);
    }
}

TEST_CASE("repair: the heaviest chain of segments is that of all chains") {
    test::random random{5};
    for (int round = 0; round < 500; ++round) {
        std::vector<segment> found(1 + random.below(9));
        for (segment& s : found) {
            s.first_tick = static_cast<std::int32_t>(random.below(20));
            s.last_tick = s.first_tick + static_cast<std::int32_t>(random.below(6));
            s.snapshots = random.below(5);
            s.follows = random.below(2) != 0;
        }
        segment_gaps const gaps{found};
        auto const weight = [&](std::size_t i) {
            return found[i].snapshots * (gaps.fits_previous(i) || gaps.fits_next(i) ? 4U : 1U);
        };
        std::uint64_t most = 0;
        for (std::size_t set = 0; set < std::size_t{1} << found.size(); ++set) {
            std::uint64_t sum = 0;
            std::int32_t last = -1;
            for (std::size_t i = 0; i < found.size(); ++i) {
                if ((set >> i & 1) == 0) continue;
                if (found[i].first_tick <= last || found[i].snapshots == 0) sum = 0, last = INT32_MAX;
                else sum += weight(i), last = found[i].last_tick;
            }
            most = std::max(most, last == INT32_MAX ? 0 : sum);
        }
        auto const chain = heaviest_chain(found, gaps);
        std::uint64_t sum = 0;
        for (std::size_t n = 0; n < chain.size(); ++n) {
            sum += weight(chain[n]);
            CHECK(found[chain[n]].snapshots != 0);
            if (n == 0) continue;
            CHECK(chain[n - 1] < chain[n]);
            CHECK(found[chain[n - 1]].last_tick < found[chain[n]].first_tick);
        }
        CHECK(sum == most);
    }
}

TEST_CASE("repair: of a segment that is there twice, the second copy is kept where it goes further and the next "
          "allows it") {
    auto const make = [](std::int32_t first, std::int32_t last, std::uint64_t snapshots = 1) {
        segment s;
        s.first_tick = first;
        s.last_tick = last;
        s.snapshots = snapshots;
        return s;
    };
    struct trial {
        std::vector<segment> found;
        std::vector<bool> kept;
        bool second; // whether it is kept, too
    };
    for (trial t : std::vector<trial>{
             {{make(0, 5), make(0, 9)}, {true, false}, true},
             {{make(0, 5), make(0, 5)}, {true, false}, false},                    // no longer
             {{make(0, 5), make(1, 9)}, {true, false}, false},                    // another one
             {{make(0, 5), make(0, 9, 0)}, {true, false}, false},                 // nothing can be read
             {{make(0, 5), make(0, 9), make(9, 12)}, {true, false, true}, false}, // the next one has its last tick
             {{make(0, 5), make(0, 9), make(10, 12)}, {true, false, true}, true}}) {
        keep_longer_copies(t.found, t.kept);
        CHECK(t.kept[0]);
        CHECK(t.kept[1] == t.second);
        CHECK(t.found[1].after == (t.second ? 5 : -1));
    }
    std::vector<segment> three{make(0, 5), make(0, 7), make(0, 9)};
    std::vector<bool> kept{true, false, false};
    keep_longer_copies(three, kept);
    CHECK(kept == std::vector<bool>{true, true, true});
    CHECK(three[2].after == 7);
}
