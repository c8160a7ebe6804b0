#include "check.hpp"
#include "demos.hpp"
#include "random.hpp"

#include "teewire/archive.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace teewire;
using test::error_of;

namespace {

auto& encoder_memory = *new archive_encoder_memory;
auto& player_memory = *new demo_player_memory;

struct packed_file {
    std::vector<archive_block> blocks;
    test::bytes archive;
};

packed_file pack(test::bytes const& file) {
    packed_file packed;
    packed.archive.resize(archive_header_bytes);
    REQUIRE(write_archive_header(packed.archive));
    archive_divider divider{file, player_memory};
    std::uint64_t at = 0;
    for (archive_block block; divider.next(block);) {
        CHECK(block.begin == at);
        at += block.size;
        block.position = packed.archive.size() + archive_entry_bytes;
        test::bytes out(block.size);
        auto const size = encode_archive_block(file, block, encoder_memory, out);
        REQUIRE(error_of(size) == failure{});
        REQUIRE(*size == block.packed_size);
        std::array<std::uint8_t, archive_entry_bytes> entry;
        REQUIRE(write_archive_entry(block, entry));
        test::append(packed.archive, entry);
        test::append(packed.archive, std::span{out}.first(*size));
        packed.blocks.push_back(block);
    }
    CHECK(at == file.size());
    std::size_t const end = packed.archive.size();
    packed.archive.resize(end + archive_index_bytes(packed.blocks.size()));
    REQUIRE(write_archive_index(packed.blocks, std::span{packed.archive}.subspan(end)));
    return packed;
}

// The original, or the first error.
test::bytes unpack(test::bytes const& archive, failure& error) {
    test::bytes file;
    auto const opened = archive_index::open(archive, archive.size());
    error = error_of(opened);
    if (!opened) return file;
    archive_index index = *opened;
    for (archive_block block; index.next(block);) {
        test::bytes out(block.size);
        auto const whole = decode_archive_block(
            block, std::span{archive}.subspan(static_cast<std::size_t>(block.position), block.packed_size),
            encoder_memory.coding, out);
        error = error_of(whole);
        if (!whole) {
            CHECK(error.position <= block.size);
            return file;
        }
        test::append(file, *whole);
    }
    CHECK(file.size() == opened->original_size());
    return file;
}

packed_file check_round_trip(test::bytes const& file) {
    packed_file packed = pack(file);
    failure error;
    CHECK(unpack(packed.archive, error) == file);
    CHECK(error == failure{});
    return packed;
}

test::bytes read(std::filesystem::path const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}
test::bytes fixture(char const* name) {
    test::bytes const file = read(std::filesystem::path{TEEWIRE_FIXTURES} / "demos" / name);
    REQUIRE(!file.empty());
    return file;
}

test::bytes noise(std::size_t size, unsigned seed) {
    test::random rng{seed};
    test::bytes bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(rng.below(256));
    return bytes;
}

} // namespace

TEST_CASE("CRC-32") {
    CHECK(archive_checksum({}) == 0);
    CHECK(archive_checksum(test::from_hex("31 32 33 34 35 36 37 38 39")) == 0xcbf43926); // the usual check value
}

TEST_CASE("archives give back demos, and are small") {
    // Bytes of the archive. They change only with the format, which then needs another version.
    struct {
        char const* name;
        std::size_t bytes;
    } const demos[] = {{"ddnet_dm1.demo", 24992},
                       {"ddnet_v3.demo", 8303},
                       {"ddnet_yard.demo", 7771},
                       {"teeworlds07_dm1.demo", 14016}};
    for (auto const& demo : demos) {
        CAPTURE(demo.name);
        auto const packed = check_round_trip(fixture(demo.name));
        CHECK(packed.archive.size() == demo.bytes);
        CHECK(packed.blocks.back().coding == archive_coding::chunks);
    }
}

TEST_CASE("archives give back whatever is put in") {
    for (auto const& file : {test::bytes{}, test::bytes{7}, test::bytes(5000), noise(3000, 1)})
        check_round_trip(file);
    CHECK(check_round_trip(noise(3000, 2)).blocks.front().coding == archive_coding::stored);
    auto const zeros = check_round_trip(test::bytes(5000));
    CHECK(zeros.blocks.front().coding == archive_coding::bytes);
    CHECK(zeros.archive.size() < 100);
}

TEST_CASE("archives give back damaged demos") {
    test::random rng{3};
    auto const whole = fixture("ddnet_yard.demo");
    for (int round = 0; round < 100; ++round) {
        test::bytes file = whole;
        for (std::size_t times = rng.below(5); times > 0; --times) {
            auto const at = static_cast<std::ptrdiff_t>(rng.below(file.size()));
            switch (rng.below(3)) {
            case 0: file[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1U << rng.below(8)); break;
            case 1: file.erase(file.begin() + at); break;
            default: file.insert(file.begin() + at, static_cast<std::uint8_t>(rng.below(256)));
            }
        }
        if (rng.below(4) == 0) file.resize(rng.below(file.size()));
        check_round_trip(file);
    }
}

TEST_CASE("archives give back chunks that no writer would make") {
    using kind = demo_chunk_kind;
    auto const snapshot = test::int_chunk(kind::snapshot, {8, 1, 0, 5 << 16 | 1, 7});
    test::bytes const marker{0xc0, 0, 0, 0, 9};
    std::vector<std::vector<test::bytes>> const cases = {
        {{0x20}, marker},                                            // an empty chunk
        {{0xa0}, marker, {0xbf}, {0xdf, 0, 0, 1, 0}, {0x80, 0xff}},  // markers of all kinds, and half of one
        {marker, test::int_chunk(kind::unused, {1})},                // type 0
        {marker, test::int_chunk(kind::delta, {0, 0, 0})},           // without a snapshot
        {marker, snapshot, test::int_chunk(kind::delta, {0, 0, 1})}, // its third int is unused
        {marker, snapshot, test::int_chunk(kind::delta, {0, 1, 0, 5, 1, 1, 0})},               // another size
        {marker, snapshot, test::int_chunk(kind::delta, {2, 0, 0, 5 << 16 | 1, 5 << 16 | 1})}, // removed twice
        {marker, snapshot, test::int_chunk(kind::delta, {0, 2, 0, 64, 2, 1, 7, 64, 2, 1, 7})}, // added twice
        {marker, snapshot, test::int_chunk(kind::delta, {0, 2, 0, 64, 2, 1, 7, 64, 1, 1, 7}), snapshot},
        {marker, snapshot, test::int_chunk(kind::delta, {1, 1, 0, 5 << 16 | 1, 5, 1, 1})}, // removed and updated
        {marker, snapshot, test::int_chunk(kind::delta, {0, 0, 0, 1})},                    // an int too many
        {marker, test::int_chunk(kind::snapshot, {12, 2, 0, 4, 5, 5, 6})},                 // a key twice
        {marker, test::int_chunk(kind::snapshot, {8, 1, 4, 0, 5})},                        // a gap
        {marker, test::raw_chunk(kind::message, {1, 2, 3})},                               // no Huffman code
    };
    for (std::uint8_t version = min_demo_version; version <= max_demo_version; ++version)
        for (auto const& chunks : cases) check_round_trip(test::raw_demo(version, test::join(chunks)));
}

TEST_CASE("archives of long recordings have blocks that begin at keyframes") {
    test::recorder to;
    to.finish();
    test::bytes file = to.file();
    // Keyframes at distances that no recorder has; each message has 60 KB.
    auto const marker = [](std::uint8_t tick) { return test::bytes{0xc0, 0, 0, 1, tick}; };
    std::vector<std::size_t> keyframes;
    for (std::uint8_t i = 0; i < 45; ++i) {
        if (i % 5 == 0) {
            keyframes.push_back(file.size());
            test::append(file, marker(i));
        }
        test::append(file, test::raw_chunk(demo_chunk_kind::message, test::bytes(60'000, i)));
    }
    auto const packed = pack(file);
    REQUIRE(packed.blocks.size() == 4);
    CHECK(packed.blocks[2].begin + packed.blocks[2].size == keyframes[7]);
    CHECK(packed.blocks[2].first_tick == 0x100);
    CHECK(packed.blocks[3].first_tick == 0x100 + 35);
    CHECK(packed.blocks[2].last_tick == 0x100 + 30);
    CHECK(packed.blocks[2].ordered);
    CHECK_FALSE(packed.blocks[2].keyframe); // without a snapshot
    failure error;
    CHECK(unpack(packed.archive, error) == file);

    // Without keyframes they are as long as they may be.
    test::bytes plain = to.file();
    for (std::uint8_t i = 0; i < 80; ++i)
        test::append(plain, test::raw_chunk(demo_chunk_kind::message, test::bytes(60'000, i)));
    auto const long_ones = pack(plain);
    REQUIRE(long_ones.blocks.size() == 4);
    CHECK(long_ones.blocks[2].size == max_archive_block_bytes / 60'003 * 60'003);
    CHECK(unpack(long_ones.archive, error) == plain);
}

TEST_CASE("archives know where playing can begin") {
    using kind = demo_chunk_kind;
    auto const snapshot = test::int_chunk(kind::snapshot, {8, 1, 0, 5 << 16 | 1, 7});
    auto const delta = test::int_chunk(kind::delta, {0, 0, 0});
    auto const message = test::raw_chunk(kind::message, {1, 2, 3});
    auto const marker = [](std::uint8_t tick) { return test::bytes{0xc0, 0, 0, 0, tick}; };
    test::bytes const plain{0x80, 0, 0, 0, 9}; // absolute, but not a keyframe
    struct expected {
        std::vector<test::bytes> chunks;
        bool ordered, keyframe;
        std::int32_t last_tick;
    };
    std::vector<expected> const cases = {
        {{marker(9), snapshot, marker(12), delta}, true, true, 12},
        {{marker(9), message, snapshot}, true, true, 9},
        {{marker(9), delta, snapshot}, true, false, 9},
        {{marker(9), marker(10), snapshot}, true, false, 10},
        {{message, marker(9), snapshot}, true, false, 9},
        {{plain, snapshot}, true, false, 9},
        {{marker(9), snapshot, marker(9), snapshot}, false, true, -1},
        {{marker(9), snapshot, marker(8), snapshot}, false, true, -1},
        {{marker(9), snapshot, {0x7f}}, false, true, -1}, // damaged
        {{message}, false, false, -1},
    };
    for (expected const& e : cases) {
        auto const packed = pack(test::raw_demo(6, test::join(e.chunks)));
        archive_block const& last = packed.blocks.back();
        CHECK(last.ordered == e.ordered);
        CHECK(last.keyframe == e.keyframe);
        CHECK(last.last_tick == e.last_tick);
    }
}

TEST_CASE("damaged archives end in an error, unless the damage is in bytes that are not needed") {
    auto const file = fixture("ddnet_yard.demo");
    auto const packed = pack(file);
    failure error;
    for (std::size_t size = 0; size < packed.archive.size(); size += 1 + size / 16) {
        test::bytes const cut{packed.archive.begin(), packed.archive.begin() + static_cast<std::ptrdiff_t>(size)};
        static_cast<void>(unpack(cut, error));
        CHECK(error.code != errc::ok);
    }
    test::random rng{5};
    int errors = 0;
    for (int round = 0; round < 200; ++round) {
        test::bytes changed = packed.archive;
        // The first bytes are for those who look at the kind of a file.
        std::size_t const at = archive_header_bytes + rng.below(changed.size() - archive_header_bytes);
        changed[at] ^= static_cast<std::uint8_t>(1U << rng.below(8));
        auto const unpacked = unpack(changed, error);
        CAPTURE(at);
        if (error.code == errc::ok) CHECK(unpacked == file);
        else ++errors;
    }
    CHECK(errors > 190);
}

TEST_CASE("a block of an archive that is cut gives its first bytes") {
    auto const file = fixture("ddnet_yard.demo");
    auto const packed = pack(file);
    for (archive_block const& block : {packed.blocks[1], packed.blocks.back()}) {
        auto const from = [&](std::size_t at) {
            return file.begin() + static_cast<std::ptrdiff_t>(block.begin + at);
        };
        auto const whole = std::span{packed.archive}.subspan(block.position, block.packed_size);
        test::bytes out(block.size);
        CHECK(decode_archive_block(block, whole, encoder_memory.coding, out));
        std::size_t before = 0;
        for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 50) {
            CAPTURE(size);
            auto const error = error_of(decode_archive_block(block, whole.first(size), encoder_memory.coding, out));
            CHECK(error.code == errc::truncated);
            CHECK(error.position >= before);
            CHECK(std::equal(from(0), from(error.position), out.begin()));
            before = error.position;
        }
        CHECK(before > block.size / 10 * 9);
    }
}

TEST_CASE("a piece of a map that is in another file") {
    test::bytes const map = noise(100, 9);
    archive_map_place place;
    place.offset = 0x1020304;
    for (std::size_t i = 0; i < place.sha256.size(); ++i) place.sha256[i] = static_cast<std::uint8_t>(i);
    test::bytes packed(archive_map_place_bytes);
    REQUIRE(write_archive_map_place(place, packed));
    CHECK(test::bytes(packed.begin(), packed.begin() + 5) == test::bytes{1, 2, 3, 4, 0});
    CHECK(*read_archive_map_place(packed) == place);
    CHECK(error_of(read_archive_map_place(std::span{packed}.first(35))) == failure{errc::truncated, 35});
    CHECK(error_of(write_archive_map_place(place, std::span{packed}.first(35))) == failure{errc::output_full, 0});

    archive_block block;
    block.coding = archive_coding::map;
    block.size = 100;
    block.packed_size = 36;
    block.checksum = archive_checksum(map);
    CHECK(check_archive_block(block) == errc::ok);
    test::bytes out(100);
    CHECK(decode_archive_block(block, map, encoder_memory.coding, out));
    CHECK(out == map);
    auto const error = [&](std::span<std::uint8_t const> from) {
        return error_of(decode_archive_block(block, from, encoder_memory.coding, out));
    };
    CHECK(error(std::span{map}.first(60)) == failure{errc::truncated, 60});
    CHECK(error({}) == failure{errc::truncated, 0});
    CHECK(error(noise(100, 10)) == failure{errc::bad_checksum, 0});
    block.packed_size = 37;
    CHECK(check_archive_block(block) == errc::bad_length);

    auto const file = fixture("ddnet_yard.demo");
    archive_divider const divider{file, player_memory};
    CHECK(test::bytes(divider.map().begin(), divider.map().end()) ==
          test::bytes(file.begin() + 484, file.begin() + 484 + static_cast<std::ptrdiff_t>(divider.map().size())));
    CHECK(divider.map().size() > 1000);
    CHECK(archive_divider{map, player_memory}.map().empty());
}

TEST_CASE("a hostile block costs no more than its size") {
    test::random rng{6};
    auto const packed = pack(fixture("ddnet_yard.demo"));
    archive_block block = packed.blocks.back();
    test::bytes out(1 << 16);
    for (int round = 0; round < 100; ++round) {
        test::bytes const data = noise(1 + rng.below(300), 100 + static_cast<unsigned>(round));
        block.size = static_cast<std::uint32_t>(out.size());
        block.packed_size = static_cast<std::uint32_t>(data.size());
        block.sizes = static_cast<std::uint8_t>(rng.below(size_tables.size()));
        auto const decoded = decode_archive_block(block, data, encoder_memory.coding, out);
        CHECK(error_of(decoded).code != errc::ok);
    }
}

TEST_CASE("the index of an archive is checked") {
    archive_block const block{
        archive_coding::stored, 6, 1, 5, 5, 9, 250, 0, archive_header_bytes + archive_entry_bytes};
    test::bytes archive(archive_header_bytes + archive_entry_bytes + 5 + archive_index_bytes(1));
    REQUIRE(write_archive_header(archive));
    auto const index = std::span{archive}.last(archive_index_bytes(1));
    REQUIRE(write_archive_index({&block, 1}, index));
    CHECK(is_archive(archive));
    CHECK_FALSE(is_archive(std::span{archive}.first(6)));
    CHECK(error_of(write_archive_index({&block, 1}, index.first(39))) == failure{errc::output_full, 0});
    CHECK(error_of(write_archive_header(std::span{archive}.first(7))) == failure{errc::output_full, 0});

    auto opened = archive_index::open(archive, archive.size());
    REQUIRE(opened);
    CHECK(opened->size() == 1);
    CHECK(opened->original_size() == 5);
    archive_block found;
    archive_index walk = *opened;
    REQUIRE(walk.next(found));
    CHECK(found == block);
    CHECK_FALSE(walk.next(found));
    // Only the end is needed.
    CHECK(archive_index::open(index, archive.size()).has_value());
    CHECK(error_of(archive_index::open(index.subspan(1), archive.size())) == failure{errc::truncated, 39});
    CHECK(error_of(archive_index::open(archive, archive.size() + 1)) == failure{errc::bad_length, 37});
    CHECK(error_of(count_archive_blocks(index.last(15))) == failure{errc::truncated, 15});
    CHECK(*count_archive_blocks(index.last(16)) == 1);

    auto const with = [&](std::size_t at, std::uint8_t value) {
        test::bytes changed{index.begin(), index.end()};
        changed[at] = value;
        std::uint32_t const sum = archive_checksum(std::span{changed}.first(36));
        for (std::size_t i = 0; i < 4; ++i) changed[36 + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
        return error_of(archive_index::open(changed, archive.size()));
    };
    CHECK(with(3, 0) == failure{});
    CHECK(with(0, 4) == failure{errc::bad_type, 0});
    CHECK(with(0, 3) == failure{errc::bad_length, 0}); // the place of a map has another size
    CHECK(with(2, 5) == failure{errc::bad_type, 0});
    CHECK(with(4, 1) == failure{errc::bad_length, 0});  // 16 MB
    CHECK(with(7, 0) == failure{errc::bad_length, 0});  // no bytes
    CHECK(with(11, 4) == failure{errc::bad_length, 0}); // stored, but not as many
    CHECK(with(35, 6) == failure{errc::bad_length, 0}); // another original
    CHECK(with(24, 2) == failure{errc::too_large, 24});
    test::bytes changed{index.begin(), index.end()};
    changed[16] ^= 1;
    CHECK(error_of(archive_index::open(changed, archive.size())) == failure{errc::bad_checksum, 0});
}

TEST_CASE("the entry before a block serves without the index") {
    archive_block const block{
        archive_coding::chunks, 6, 1, 9, 5, 7, 250, 0, archive_header_bytes + archive_entry_bytes};
    test::bytes archive(archive_header_bytes + archive_entry_bytes + 5);
    REQUIRE(write_archive_header(archive));
    auto const entry = std::span{archive}.subspan(archive_header_bytes, archive_entry_bytes);
    CHECK(error_of(write_archive_entry(block, entry.first(23))) == failure{errc::output_full, 0});
    REQUIRE(write_archive_entry(block, entry));
    auto const found = read_archive_entry(archive, archive_header_bytes);
    REQUIRE(found);
    CHECK(*found == block);

    auto const error_at = [&](std::size_t at) { return error_of(read_archive_entry(archive, at)); };
    CHECK(error_at(archive_header_bytes + 6) == failure{errc::truncated, 37});
    CHECK(error_at(archive_header_bytes + 5) == failure{errc::bad_checksum, 13});
    CHECK(error_of(read_archive_entry(std::span{archive}.first(31), archive_header_bytes)) ==
          failure{errc::truncated, 31});
    CHECK(*read_archive_entry(std::span{archive}.first(32), archive_header_bytes) == block);
    for (std::size_t at = 0; at < entry.size(); ++at) {
        entry[at] ^= 1;
        CHECK(error_at(archive_header_bytes) == failure{errc::bad_checksum, archive_header_bytes});
        entry[at] ^= 1;
    }
    archive_block wrong = block;
    wrong.size = 4; // less than it is packed
    REQUIRE(write_archive_entry(wrong, entry));
    CHECK(error_at(archive_header_bytes) == failure{errc::bad_length, archive_header_bytes});
    // In the index it has no checksum, so the one cannot be taken for the other.
    test::bytes index(archive_index_bytes(1));
    REQUIRE(write_archive_index({&block, 1}, index));
    CHECK(error_of(read_archive_entry(index, 0)) == failure{errc::bad_checksum, 0});
}
