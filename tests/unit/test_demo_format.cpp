#include "check.hpp"
#include "demos.hpp"
#include "random.hpp"

#include "teewire/demo_format.hpp"

using namespace teewire;
using test::error_of;

namespace {

// Every byte random, also after the terminators.
demo_header random_header(test::random& rng, std::uint8_t version) {
    demo_header h;
    h.version = version;
    for (auto& c : h.net_version) c = static_cast<char>(rng.byte());
    for (auto& c : h.map_name) c = static_cast<char>(rng.byte());
    h.map_size = static_cast<std::uint32_t>(rng.next());
    h.map_crc = static_cast<std::uint32_t>(rng.next());
    for (auto& c : h.type) c = static_cast<char>(rng.byte());
    h.length = static_cast<std::int32_t>(rng.next());
    for (auto& c : h.timestamp) c = static_cast<char>(rng.byte());
    if (version >= 4) {
        h.marker_count = static_cast<std::int32_t>(rng.next());
        for (auto& tick : h.marker_ticks) tick = static_cast<std::int32_t>(rng.next());
    }
    h.has_sha256 = version >= 6 && rng.chance(70);
    if (h.has_sha256)
        for (auto& byte : h.sha256) byte = rng.byte();
    return h;
}

test::bytes write(demo_header const& header) {
    test::bytes out(header.size());
    auto const size = write_demo_header(header, out);
    REQUIRE(size);
    CHECK(*size == out.size());
    return out;
}

constexpr std::size_t sizes[] = {176, 436, 436, 484}; // versions 3 to 6

} // namespace

TEST_CASE("demo header: comes back byte for byte in every version") {
    test::random rng{50};
    for (std::uint8_t version = 3; version <= 6; ++version) {
        for (int round = 0; round < 50; ++round) {
            auto const header = random_header(rng, version);
            CHECK(header.size() == (version == 6 && !header.has_sha256 ? 436 : sizes[version - 3]));
            auto const file = write(header);
            auto const back = parse_demo_header(file);
            REQUIRE(back);
            CHECK((*back == header));
            CHECK(write(*back) == file);
        }
    }
}

TEST_CASE("demo header: fields are where they belong") {
    auto header = test::golden_header(6);
    header.length = 5;
    header.marker_count = 2;
    header.marker_ticks[0] = 1006;
    header.marker_ticks[63] = -2;
    auto const file = write(header);
    auto const at = [&](std::size_t begin, std::size_t size) {
        return test::hex(std::span{file}.subspan(begin, size));
    };
    CHECK(at(0, 8) == "54 57 44 45 4d 4f 00 06");
    CHECK(at(8, 4) == "30 2e 36 20");
    CHECK(at(72, 2) == "6d 00");
    CHECK(at(136, 8) == "00 00 00 0a 11 22 33 44");
    CHECK(at(144, 8) == "63 6c 69 65 6e 74 00 00");
    CHECK(at(152, 4) == "00 00 00 05");
    CHECK(at(156, 4) == "32 30 32 36");
    CHECK(at(176, 8) == "00 00 00 02 00 00 03 ee");
    CHECK(at(432, 4) == "ff ff ff fe");
    CHECK(at(436, 16) == "6b e6 da 4a ce bd 38 0c 9b 5b 12 89 c8 42 d7 80");
    CHECK(at(452, 4) == "39 3f ff 3a");
    CHECK(file.size() == 484);
}

TEST_CASE("demo header: cut anywhere") {
    for (std::uint8_t version = 3; version <= 6; ++version) {
        auto const file = write(test::golden_header(version));
        for (std::size_t size = 0; size < file.size(); ++size) {
            CAPTURE(size);
            // Without the hash the header of version 6 ends like that of version 5.
            bool const complete = version == 6 && size == 436;
            CHECK(error_of(parse_demo_header(std::span{file}.first(size))) ==
                  (complete ? failure{} : failure{errc::truncated, size}));
        }
        CHECK(error_of(parse_demo_header(file)) == failure{});
    }
}

TEST_CASE("demo header: version 6 without a hash") {
    auto header = test::golden_header(6);
    header.has_sha256 = false;
    header.sha256 = {};
    auto file = write(header);
    CHECK(file.size() == 436);
    test::append(file, test::golden_map);
    auto const back = parse_demo_header(file);
    REQUIRE(back);
    CHECK_FALSE(back->has_sha256);
    CHECK(back->size() == 436);
    // one wrong byte in what introduces the hash
    auto damaged = write(test::golden_header(6));
    damaged[451] ^= 1;
    auto const without = parse_demo_header(damaged);
    REQUIRE(without);
    CHECK_FALSE(without->has_sha256);
}

TEST_CASE("demo header: not a demo") {
    auto const file = write(test::golden_header(6));
    for (std::size_t i = 0; i < 7; ++i) {
        auto wrong = file;
        wrong[i] ^= 0x20;
        CHECK(error_of(parse_demo_header(wrong)) == failure{errc::bad_magic, i});
        CHECK(error_of(parse_demo_header(std::span{wrong}.first(i + 1))) == failure{errc::bad_magic, i});
    }
    for (int version : {0, 1, 2, 7, 100, 255}) {
        auto other = file;
        other[7] = static_cast<std::uint8_t>(version);
        CHECK(error_of(parse_demo_header(other)) == failure{errc::bad_version, 7});
    }
}

TEST_CASE("demo header: every output size") {
    for (std::uint8_t version = 3; version <= 6; ++version) {
        auto const header = test::golden_header(version);
        CHECK(header.size() == sizes[version - 3]);
        test::check_output_sizes<std::uint8_t>(
            header.size(), [&](std::span<std::uint8_t> out) { return write_demo_header(header, out); });
    }
    CHECK(max_demo_header_bytes == 484);
}

TEST_CASE("demo header: text without terminator is noted where it begins") {
    struct {
        std::size_t field;
        std::size_t size;
        std::uint32_t expected;
    } const fields[] = {{8, 64, 1}, {72, 64, 1}, {144, 8, 0}, {156, 20, 1}};
    for (auto const& f : fields) {
        auto file = write(test::golden_header(4));
        std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(f.field), f.size, std::uint8_t{'x'});
        note_log notes;
        auto const header = parse_demo_header(file, &notes);
        REQUIRE(header);
        CHECK(notes[note::header_text].count == f.expected);
        if (f.expected != 0) CHECK(notes[note::header_text].position == f.field);
        CHECK(write(*header) == file);
    }
    note_log notes;
    REQUIRE(parse_demo_header(write(test::golden_header(6)), &notes));
    CHECK(notes.empty());
}

TEST_CASE("demo header: text") {
    std::array<char, 8> field{'a', 'b', '\0', 'c', 'd', 'e', 'f', 'g'};
    CHECK(text(field) == "ab");
    field[2] = 'x';
    CHECK(text(field) == "abxcdefg");
    set_text(field, "server");
    CHECK(text(field) == "server");
    CHECK(field[7] == '\0');
    set_text(field, "12345678");
    CHECK(text(field) == "1234567");
    set_text(field, "");
    CHECK(text(field).empty());
    CHECK((field == std::array<char, 8>{}));
}

TEST_CASE("demo header: markers are clamped") {
    demo_header header;
    header.version = 5;
    header.marker_ticks[0] = 77;
    struct {
        std::int32_t stored;
        std::size_t seen;
    } const cases[] = {{0, 0}, {1, 1}, {64, 64}, {65, 64}, {-1, 0}, {INT32_MAX, 64}, {INT32_MIN, 0}};
    for (auto const& c : cases) {
        header.marker_count = c.stored;
        CHECK(header.markers().size() == c.seen);
        if (c.seen > 0) CHECK(header.markers()[0] == 77);
    }
    header.version = 3;
    header.marker_count = 5;
    CHECK(header.markers().empty());
}

TEST_CASE("demo header: protocol by net version") {
    demo_header header;
    CHECK_FALSE(header.says_07());
    struct {
        char const* net_version;
        bool says_07;
    } const cases[] = {{"0.6 626fce9a778df4d4", false},
                       {"0.7 802f1be60a05665f", true},
                       {"0.7", true},
                       {"0.", false},
                       {" 0.7", false},
                       {"1.0.7", false},
                       {"0.70", true}};
    for (auto const& c : cases) {
        CAPTURE(c.net_version);
        set_text(header.net_version, c.net_version);
        CHECK(header.says_07() == c.says_07);
    }
}
