#include "maps.hpp"
#include "random.hpp"

#include "teewire/map/datafile.hpp"

#include <algorithm>
#include <limits>
#include <memory>

using namespace teewire;
using test::bytes;
using test::ints;
using test::set_int;

namespace {

constexpr uuid named{
    {0x3e, 0x1b, 0x27, 0x16, 0x17, 0x8c, 0x39, 0x78, 0x9b, 0xd9, 0xb1, 0x1a, 0xe0, 0x41, 0x0d, 0xd8}};

// Version 3, so that every byte is known: one item, one block.
constexpr char small_file[] =
    "44 41 54 41 03 00 00 00 40 00 00 00 3d 00 00 00 " // DATA, 3, size 64, swaplen 61
    "01 00 00 00 01 00 00 00 01 00 00 00 0c 00 00 00 " // 1 type, 1 item, 1 block, 12 bytes
    "03 00 00 00 07 00 00 00 00 00 00 00 01 00 00 00 " // 3 bytes; type 7 from 0, 1 item
    "00 00 00 00 00 00 00 00 05 00 07 00 04 00 00 00 " // offsets; key 7:5, 4 bytes
    "fe ff ff ff 61 62 63";                            // -2; "abc"

bytes sample(int version = 4) {
    datafile_writer writer{{.version = version}};
    writer.add_item(5, 0, ints{});
    writer.add_item(1, 0, ints{7, -1, std::numeric_limits<std::int32_t>::max()});
    writer.add_item(5, 3, ints{0, 1});
    writer.add_item(1, 1, ints{std::numeric_limits<std::int32_t>::min()});
    bytes block(1000);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(i / 7);
    CHECK(writer.add_block(block) == 0);
    CHECK(writer.add_block(bytes{1, 2, 3}) == 1);
    return writer.finish();
}
// Where things are in sample(): types at 36, item offsets at 60, data offsets at 76, data sizes at 84, items at 92.
constexpr std::size_t sample_items = 92;

std::string verdict(bytes const& file, datafile_options const& options = {}) {
    auto const opened = datafile::open(file, options);
    return opened ? "ok" : std::string{name(opened.error().code)} + " " + std::to_string(opened.error().position);
}

bytes block_of(datafile const& file, std::int32_t number) {
    inflate_memory memory;
    auto const size = file.block_size(number);
    REQUIRE(size);
    bytes out(*size);
    REQUIRE(file.read_block(number, out, memory));
    return out;
}

std::string block_verdict(bytes const& file, std::int32_t number, test::problems* notes = nullptr) {
    auto const opened = datafile::open(file, {.max_block_bytes = 5000});
    REQUIRE(opened);
    inflate_memory memory;
    test::problems unused;
    map_report const report{notes != nullptr ? *notes : unused};
    auto const checked = opened->check_block(number, memory, report);
    std::string const found = checked ? "ok" : std::string{name(checked.error().code)};
    if (auto const size = opened->block_size(number)) {
        bytes out(*size);
        auto const read = opened->read_block(number, out, memory);
        CHECK(found == (read ? "ok" : std::string{name(read.error().code)}));
        if (!read) CHECK(read.error().block == number);
    }
    return found;
}

} // namespace

TEST_CASE("datafile: known bytes") {
    bytes file = test::from_hex(small_file);
    set_int(file, 8, static_cast<std::int32_t>(file.size()) - 16);
    set_int(file, 12, static_cast<std::int32_t>(file.size()) - 16 - 3);
    auto const opened = datafile::open(file);
    REQUIRE(opened);
    CHECK(opened->version() == 3);
    CHECK(opened->magic() == "DATA");
    REQUIRE(opened->item_count() == 1);
    auto const item = opened->item(0);
    CHECK(item.type == 7);
    CHECK(item.id == 5);
    CHECK(item.position == 56);
    REQUIRE(item.ints.size() == 1);
    CHECK(item.ints[0] == -2);
    CHECK(item.ints.bytes().data() == file.data() + 64); // nothing is copied
    CHECK(block_of(*opened, 0) == bytes{'a', 'b', 'c'});
    CHECK(opened->block(0).position == 68);

    datafile_writer writer{{.version = 3}};
    writer.add_item(7, 5, ints{-2});
    writer.add_block(bytes{'a', 'b', 'c'});
    CHECK(test::hex(writer.finish()) == test::hex(file));
}

TEST_CASE("datafile: written and read, versions 3 and 4") {
    for (int const version : {3, 4}) {
        bytes const file = sample(version);
        test::problems notes;
        auto const opened = datafile::open(file, {.mode = decoding::strict, .report = notes});
        REQUIRE(opened);
        CHECK(notes.list.empty());
        CHECK(opened->version() == version);
        CHECK(opened->stated_size() == static_cast<std::int32_t>(file.size()) - 16);
        CHECK(opened->stated_swaplen() == opened->stated_size() - static_cast<std::int32_t>(opened->data_bytes()));
        CHECK_FALSE(opened->has_old_header_sizes());
        REQUIRE(opened->type_count() == 2);
        CHECK(opened->type(0).type == 1);
        CHECK(opened->type(1).type == 5);
        CHECK(opened->type(1).first == 2);
        CHECK(opened->type(1).count == 2);
        CHECK(opened->find_type(5).first == 2);
        CHECK(opened->find_type(6).count == 0);
        CHECK(opened->item_bytes() == 4 * 8 + 6 * 4);
        CHECK(opened->item(2).ints.size() == 0);
        REQUIRE(opened->find(5, 3));
        CHECK(opened->find(5, 3)->ints[1] == 1);
        CHECK(opened->find(1, 1)->ints[0] == std::numeric_limits<std::int32_t>::min());
        CHECK_FALSE(opened->find(5, 1));
        CHECK_FALSE(opened->find(2, 0));
        REQUIRE(opened->block_count() == 2);
        CHECK(opened->block(0).size == 1000);
        CHECK(block_of(*opened, 0)[999] == 142);
        CHECK(block_of(*opened, 1) == bytes{1, 2, 3});
    }
}

TEST_CASE("datafile: nothing but a header") {
    for (int const version : {3, 4}) {
        bytes const file = datafile_writer{{.version = version}}.finish();
        CHECK(file.size() == 36);
        auto const opened = datafile::open(file);
        REQUIRE(opened);
        CHECK(opened->item_count() == 0);
        CHECK(opened->block_size(0).error().code == map_errc::bad_data_index);
    }
}

TEST_CASE("datafile: both magics, and the sizes of old files") {
    bytes file = sample();
    std::reverse(file.begin(), file.begin() + 4);
    REQUIRE(datafile::open(file));
    CHECK(datafile::open(file)->magic() == "ATAD");
    CHECK(datafile::open(file)->item(0).ints[0] == 7); // ints are little-endian in both

    for (std::size_t const field : {8, 12}) {
        bytes old = sample();
        set_int(old, field, test::int_at(old, field) - 4 * 2);
        test::problems notes;
        auto const opened = datafile::open(old, {.mode = decoding::strict, .report = notes});
        REQUIRE(opened);
        CHECK(opened->has_old_header_sizes());
        CHECK(notes.names() == "old_header_sizes");
        set_int(old, field, test::int_at(old, field) + 4);
        CHECK(verdict(old) == (field == 8 ? "header_size_mismatch 8" : "swaplen_mismatch 12"));
    }
    // Version 3 has no size table to be left out.
    bytes third = sample(3);
    set_int(third, 8, test::int_at(third, 8) - 8);
    CHECK(verdict(third) == "header_size_mismatch 8");
}

TEST_CASE("datafile: damage is found where it is") {
    struct change {
        std::size_t at;
        std::int32_t value;
        std::string verdict;
    };
    bytes const good = sample();
    for (auto const& c : std::vector<change>{
             {0, 0x41544142, "bad_magic 0"},
             {4, 5, "unsupported_version 4"},
             {4, 0x04000000, "unsupported_version 4"},
             {16, -1, "bad_header_count 16"},
             {16, 65537, "bad_header_count 16"},
             {20, std::numeric_limits<std::int32_t>::min(), "bad_header_count 20"},
             {28, 57, "bad_header_count 28"},
             {24, std::numeric_limits<std::int32_t>::max(), "file_size_mismatch " + std::to_string(good.size())},
             {36, -1, "bad_item_type_table 36"},
             {36, 65536, "bad_item_type_table 36"},
             {48, 1, "bad_item_type_table 48"}, // the same type again
             {40, 1, "bad_item_type_table 40"},
             {44, 0, "bad_item_type_table 44"},
             {56, 3, "bad_item_type_table 56"},
             {56, 1, "bad_item_type_table 20"}, // one item is left over
             {60, 4, "bad_item_offset 60"},
             {64, 0, "bad_item_offset 64"},
             {64, 1000, "bad_item_offset 64"},
             {64, 22, "bad_item_offset 64"},
             {72, -8, "bad_item_offset 72"},
             {sample_items + 4, 8, "bad_item_size 96"},
             {sample_items + 4, -4, "bad_item_size 96"},
             {sample_items, 0x20000, "item_type_mismatch 92"},
             {76, 1, "bad_data_offset 76"},
             {80, 0, "bad_data_offset 80"},
             {80, 100000, "bad_data_offset 80"},
             {80, -5, "bad_data_offset 80"},
             {80, test::int_at(good, 32), "bad_data_offset 80"}, // nothing is left for it
             {84, -1, "bad_data_size 84"},
         }) {
        CAPTURE(c.at);
        CAPTURE(c.value);
        bytes file = good;
        set_int(file, c.at, c.value);
        CHECK(verdict(file) == c.verdict);
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
        bytes const cut{good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)};
        CHECK(verdict(cut) == (size < 36 ? "truncated_header " : "file_size_mismatch ") + std::to_string(size));
    }
    bytes longer = good;
    longer.push_back(0);
    CHECK(verdict(longer) == "file_size_mismatch " + std::to_string(longer.size()));
    auto const problem = datafile::open(longer).error();
    CHECK(problem.value == static_cast<std::int64_t>(longer.size()));
    CHECK(problem.expected == static_cast<std::int64_t>(good.size()));
}

TEST_CASE("datafile: any int may be anything") {
    bytes const good = sample();
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    inflate_memory memory;
    for (std::size_t at = 0; at + 4 <= sample_items + 56; at += 4)
        for (std::int32_t const value :
             {0, 1, -1, 3, 4, 8, 255, 65535, 65536, most, most - 3, -most - 1, 0x7fff0000}) {
            bytes file = good;
            set_int(file, at, value);
            auto const opened = datafile::open(file);
            if (!opened) {
                CHECK(opened.error().position <= file.size());
                continue;
            }
            for (std::size_t i = 0; i < opened->item_count(); ++i)
                CHECK(opened->item(i).ints.bytes().data() + opened->item(i).ints.bytes().size() <=
                      file.data() + file.size());
            for (std::size_t i = 0; i < opened->block_count(); ++i)
                static_cast<void>(opened->check_block(static_cast<std::int32_t>(i), memory));
        }
}

TEST_CASE("datafile: ids that occur twice") {
    for (std::uint16_t const count : {2, 40, 3000}) {
        datafile_writer writer;
        for (std::uint16_t i = 0; i < count; ++i) writer.add_item(3, static_cast<std::uint16_t>(i * 40503), {});
        CHECK(verdict(writer.finish(), {.mode = decoding::strict}) == "ok"); // any order
        writer.add_item(3, static_cast<std::uint16_t>((count / 2) * 40503), {});
        auto const file = writer.finish();
        auto const refused = datafile::open(file, {.mode = decoding::strict});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == map_errc::duplicate_item_id);
        CHECK(refused.error().item_type == 3);
        CHECK(refused.error().item == count);
        test::problems notes;
        CHECK(datafile::open(file, {.report = notes}));
        CHECK(notes.names() == "duplicate_item_id");
    }
}

TEST_CASE("datafile: types that are not sorted") {
    bytes file = sample();
    std::swap_ranges(file.begin() + 36, file.begin() + 40, file.begin() + 48);
    for (std::size_t const item : {0, 1, 2, 3}) {
        std::size_t const at = sample_items + static_cast<std::size_t>(test::int_at(file, 60 + 4 * item));
        file[at + 2] = item < 2 ? 5 : 1;
    }
    test::problems notes;
    auto const opened = datafile::open(file, {.mode = decoding::strict, .report = notes});
    REQUIRE(opened);
    CHECK(notes.names() == "item_types_not_ascending");
    CHECK(opened->find(5, 1));
}

TEST_CASE("datafile: types with a UUID") {
    datafile_writer writer;
    uuid const other{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    writer.name_type(0x9000, other);
    CHECK(writer.number_of(other) == 0x9000);
    writer.add_item(named, 0, ints{1});
    writer.add_item(other, 0, ints{2});
    writer.add_item(named, 1, ints{3});
    auto const file = writer.finish();
    auto const opened = datafile::open(file, {.mode = decoding::strict});
    REQUIRE(opened);
    CHECK(opened->type_of(named) == 0xfffe);
    CHECK(opened->type_of(other) == 0x9000);
    CHECK_FALSE(opened->type_of(uuid{}));
    CHECK(opened->uuid_of(0xfffe) == named);
    CHECK(opened->uuid_of(0x9000) == other);
    CHECK_FALSE(opened->uuid_of(0xffff));
    CHECK_FALSE(opened->uuid_of(5));
    CHECK(opened->find_type(0xfffe).count == 2);
    auto const index = opened->find(uuid_index_type, 0xfffe);
    REQUIRE(index);
    CHECK(test::hex(index->ints.bytes()) == "16 27 1b 3e 78 39 8c 17 1a b1 d9 9b d8 0d 41 e0");
    auto const text = to_text(named);
    CHECK(std::string_view{text.data(), text.size()} == "3e1b2716-178c-3978-9bd9-b11ae0410dd8");
}

TEST_CASE("datafile: numbers of types that can have a UUID") {
    datafile_writer writer;
    for (std::uint16_t const type : {0, 1, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff})
        writer.add_item(uuid_index_type, type, ints{1, 2, 3, type});
    auto const file = writer.finish();
    auto const opened = datafile::open(file);
    REQUIRE(opened);
    for (std::uint16_t const type : {0, 1, 0x7fff, 0x8000, 0xffff}) CHECK_FALSE(opened->uuid_of(type));
    CHECK(opened->uuid_of(0x8001));
    CHECK(opened->uuid_of(0xfffe));
}

TEST_CASE("datafile: more names than numbers") {
    datafile_writer writer;
    for (std::uint16_t number = 0x8001; number < uuid_index_type; ++number)
        writer.name_type(number, {{static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)}});
    CHECK_FALSE(writer.finish().empty());
    writer.add_item(named, 0, ints{1});
    CHECK(writer.finish().empty());
}

TEST_CASE("datafile: index items that are too short or given twice") {
    datafile_writer writer;
    writer.add_item(uuid_index_type, 0xfffe, ints{1, 2});
    writer.add_item(uuid_index_type, 0xfffd, ints{1, 2, 3, 4});
    writer.add_item(uuid_index_type, 0xfffd, ints{1, 2, 3, 4});
    auto const file = writer.finish();
    auto const opened = datafile::open(file, {.mode = decoding::strict});
    REQUIRE(opened);
    CHECK_FALSE(opened->uuid_of(0xfffe));
    CHECK(opened->type_of(uuid{{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}}) == 0xfffd);
}

TEST_CASE("datafile: blocks that lie") {
    bytes const good = sample();
    auto const opened = datafile::open(good);
    REQUIRE(opened);
    std::size_t const block = opened->block(0).position;
    auto const changed = [&](std::size_t at, std::int32_t value) {
        bytes file = good;
        set_int(file, at, value);
        return file;
    };
    CHECK(block_verdict(good, 0) == "ok");
    CHECK(block_verdict(good, -1) == "bad_data_index");
    CHECK(block_verdict(good, 2) == "bad_data_index");
    CHECK(block_verdict(changed(84, 999), 0) == "decompress_failed");
    CHECK(block_verdict(changed(84, 1001), 0) == "decompressed_size_mismatch");
    CHECK(block_verdict(changed(84, 5001), 0) == "too_large");
    CHECK(block_verdict(changed(84, 100'000'000), 0) == "decompressed_size_mismatch"); // no stream is that good
    CHECK(block_verdict(changed(block, 0), 0) == "decompress_failed");

    bytes wrong_sum = good;
    wrong_sum[block + opened->block(0).stored.size() - 1] ^= 1;
    CHECK(block_verdict(wrong_sum, 0) == "decompress_failed");

    // Nothing is stated, and nothing is looked at.
    bytes const empty = changed(84, 0);
    test::problems notes;
    REQUIRE(datafile::open(empty, {.mode = decoding::strict, .report = notes}));
    CHECK(notes.names() == "data_size_zero");
    CHECK(block_verdict(empty, 0) == "ok");

    // Spare bytes after the stream.
    datafile_writer writer;
    bytes stored{opened->block(0).stored.begin(), opened->block(0).stored.end()};
    stored.insert(stored.end(), {1, 2, 3, 4});
    writer.add_stored_block(stored, 1000);
    test::problems spare;
    CHECK(block_verdict(writer.finish(), 0, &spare) == "ok");
    CHECK(spare.names() == "data_after_stream");
    CHECK(spare.list[0].value == 4);
}

TEST_CASE("datafile: blocks of all sizes and levels") {
    test::random random{2};
    inflate_memory memory;
    for (int const level : {-1, 0, 1, 9}) {
        datafile_writer writer{{.level = level}};
        std::vector<bytes> contents;
        for (std::size_t const size : {1, 2, 100, 16383, 16384, 16385, 200'000}) {
            contents.push_back(random.data(size, true));
            writer.add_block(contents.back());
        }
        auto const file = writer.finish();
        auto const opened = datafile::open(file);
        REQUIRE(opened);
        for (std::size_t i = 0; i < contents.size(); ++i) {
            CHECK(block_of(*opened, static_cast<std::int32_t>(i)) == contents[i]);
            CHECK(*opened->check_block(static_cast<std::int32_t>(i), memory) == contents[i].size());
        }
    }
}

TEST_CASE("datafile: more items of one type than there are ids") {
    datafile_writer writer;
    for (int i = 0; i <= 65536; ++i) writer.add_item(1, static_cast<std::uint16_t>(i), {});
    CHECK(writer.finish().empty());
}

TEST_CASE("datafile: checksum") {
    std::string_view const text = "123456789";
    CHECK(map_crc32({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()}) == 0xcbf43926);
    CHECK(map_crc32({}) == 0);
}
