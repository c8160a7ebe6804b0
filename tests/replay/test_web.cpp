// Requests of browsers, their answers, and indexes of demos.
#include "demos.hpp"
#include "happenings.hpp"
#include "temporary_file.hpp"

#include "base/compression.hpp"
#include "base/stored_file.hpp"
#include "http/web_request.hpp"
#include "web/demo_index.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

std::string range(std::string_view header, std::uint64_t all) {
    auto const found = byte_range::parse(header, all);
    if (found.what == byte_range::kind::beyond) return "beyond";
    return fmt::format("{} {}+{}", found.what == byte_range::kind::whole ? "whole" : "part", found.begin,
                       found.size);
}

struct made_index {
    explicit made_index(test::bytes const& demo) : file{demo}, source{file.path()}, opened{source} {
        made = make_index(opened);
        auto const text = unpack_gzip(made.bytes);
        json.Parse(reinterpret_cast<char const*>(text.data()), text.size());
        REQUIRE(json.IsObject());
        facts = parse_index(text);
        REQUIRE(facts.has_value());
    }
    [[nodiscard]] std::vector<std::string> words(char const* key) const {
        std::vector<std::string> all;
        for (auto const& word : json[key].GetArray()) all.emplace_back(word.GetString());
        return all;
    }

    test::temporary_file file;
    input source;
    demo_document opened;
    demo_index made;
    rapidjson::Document json;
    std::optional<index_facts> facts;
};

std::string random_text(test::random& rng, std::size_t size) {
    std::string text;
    while (text.size() < size) text += static_cast<char>('!' + static_cast<unsigned>(rng.value()) % 90);
    return text;
}

test::bytes talkative_demo(int chats, int kills) {
    constexpr auto p = protocol::teeworlds_06;
    test::random rng{1};
    test::recorder to{{4, huffman_end::exact, &sizes_06}};
    to.snapshot(100, {{make_key(40, 0), test::ints(5)}});
    for (int i = 0; i < kills; ++i) to.message(test::say(message_type::kill, p, {0, 1 + i, 2, 0}));
    for (int i = 0; i < chats; ++i) to.message(test::say(message_type::chat, p, {0, 3}, {random_text(rng, 60)}));
    to.message(test::say(message_type::chat, p, {0, -1}, {"a word of the server"}));
    to.snapshot(200, {{make_key(40, 0), test::ints(5)}});
    return to.finish();
}

} // namespace

TEST_CASE("ranges are as the standard of HTTP has them") {
    CHECK(range("bytes=0-0", 10) == "part 0+1");
    CHECK(range("bytes=2-5", 10) == "part 2+4");
    CHECK(range("bytes=9-9", 10) == "part 9+1");
    CHECK(range("bytes=2-", 10) == "part 2+8");
    CHECK(range("bytes=2-99", 10) == "part 2+8");
    CHECK(range("bytes=-3", 10) == "part 7+3");
    CHECK(range("bytes=-10", 10) == "part 0+10");
    CHECK(range("bytes=-99", 10) == "part 0+10");
    CHECK(range("bytes=10-", 10) == "beyond");
    CHECK(range("bytes=10-11", 10) == "beyond");
    CHECK(range("bytes=-0", 10) == "beyond");
    CHECK(range("bytes=0-", 0) == "beyond");
    CHECK(range("bytes=-5", 0) == "beyond");
    // Numbers of any size.
    CHECK(range("bytes=1-18446744073709551615", 10) == "part 1+9");
    CHECK(range("bytes=1-99999999999999999999999", 10) == "part 1+9");
    CHECK(range("bytes=99999999999999999999999-", 10) == "beyond");
    CHECK(range("bytes=-99999999999999999999999", 10) == "part 0+10");
    CHECK(range("bytes=18446744073709551614-18446744073709551615", UINT64_MAX) == "part 18446744073709551614+1");
    // Headers that may be ignored have no effect.
    for (std::string_view const header :
         {"", "bytes", "bytes=", "bytes=-", "bytes=--1", "bytes=5-4", "bytes=a-", "bytes=1-b", "bytes=0-1,3-4",
          "bytes= 0-1", "bytes=+0-1", "bytes=0x0-1", "items=0-1", "Bytes=0-1"})
        CHECK_MESSAGE(range(header, 10) == "whole 0+10", header);
}

TEST_CASE("paths of requests mean files' names") {
    CHECK(decode_path("") == "");
    CHECK(decode_path("a/b.demo") == "a/b.demo");
    CHECK(decode_path("a%20b%2Fc%2fd+e") == "a b/c/d+e");
    CHECK(decode_path("%C3%BC%FF") == "\xc3\xbc\xff");
    CHECK_FALSE(decode_path({"a\0b", 3}));
    for (std::string_view const path : {"%", "%2", "a%", "%zz", "%2g", "%00", "a%00b", "%-1", "% 1"})
        CHECK_MESSAGE(!decode_path(path), path);
    std::string all;
    for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
    std::string const coded = encode_path(all);
    CHECK(decode_path(coded) == all);
    CHECK(coded.find_first_of("?#%\" <>\\&+") == coded.find('%'));
    CHECK(encode_path("sub folder/#1?.demo") == "sub%20folder/%231%3F.demo");
}

TEST_CASE("files are opened below their folder alone") {
    namespace fs = std::filesystem;
    test::scratch_folder const scratch{"stored"};
    fs::path const& top = scratch.path();
    fs::create_directories(top / "in/deep");
    auto const write = [](fs::path const& name) { std::ofstream{name} << "0123456789"; };
    for (char const* const name : {"out", "in/file", "in/deep/file", "in/.hidden"}) write(top / name);
    fs::create_symlink("file", top / "in/link");
    fs::create_symlink("deep", top / "in/deeper");
    fs::create_symlink(top, top / "in/up");
    REQUIRE(::mkfifo((top / "in/fifo").c_str(), 0600) == 0);
    std::string const folder = (top / "in").string();

    auto const file = stored_file::open(folder, "file");
    REQUIRE(file);
    CHECK(stored_file::open(folder, "deep/file"));
    for (std::string_view const path :
         {"", "/", "/file", "file/", "deep", "deep/", "deep//file", "none", "link", "deeper/file", "up/out",
          "../out", "deep/../file", "./file", ".", "..", ".hidden", "fifo"})
        CHECK_MESSAGE(!stored_file::open(folder, path), path);
    CHECK(!stored_file::open(folder, (top / "out").string()));
    CHECK(!stored_file::open(folder, std::string{"file\0x", 6}));
    CHECK(!stored_file::open(folder + "/none", "file"));
    CHECK(stored_file::open(folder + "/link"));
    CHECK(!stored_file::open(folder + "/fifo"));

    CHECK(file->size() == 10);
    test::bytes some(4);
    CHECK(file->read(8, some) == 2);
    CHECK(some[1] == '9');
    CHECK(file->read(99, some) == 0);
    std::string const tag = file->tag();
    CHECK(stored_file::open(folder, "file")->tag() == tag);
    std::ofstream{top / "in/file", std::ios::app} << "x";
    CHECK(stored_file::open(folder, "file")->tag() != tag);
}

TEST_CASE("an index has what there is room for") {
    SUBCASE("everything") {
        made_index const index{talkative_demo(5, 3)};
        CHECK(index.words("left_out").empty());
        CHECK(index.json["events"].Size() == 9);
        CHECK(index.json["kinds"].Size() == 12);
    }
    SUBCASE("of much talk the kills") {
        made_index const index{talkative_demo(400, 3)};
        CHECK(index.made.bytes.size() <= most_index_bytes(index.source.bytes().size()));
        CHECK(index.words("left_out") == std::vector<std::string>{"chat", "server_message"});
        CHECK(index.words("kinds") == std::vector<std::string>{"kill", "finish"});
        CHECK(index.json["events"].Size() == 3);
    }
    SUBCASE("of much more of everything some") {
        test::recorder to{{4, huffman_end::exact, &sizes_06}};
        test::random rng{2};
        to.header().map_size = 10;
        for (std::int32_t tick = 0; tick < 4'000'000; tick += 500 + static_cast<int>(rng.value() & 1023))
            to.snapshot(tick, {{make_key(40, 0), test::ints{rng.value()}}});
        made_index const index{to.finish()};
        CHECK(index.made.bytes.size() <= most_index_bytes(index.source.bytes().size()));
        auto const& ticks = index.json["keyframes"]["ticks"];
        auto const& offsets = index.json["keyframes"]["offsets"];
        REQUIRE(ticks.Size() == offsets.Size());
        CHECK(ticks.Size() < index.opened.keyframes().size());
        CHECK(ticks.Size() * 4 >= index.opened.keyframes().size());
        std::int64_t tick = 0;
        std::uint64_t offset = 0;
        for (rapidjson::SizeType i = 0; i < ticks.Size(); ++i) {
            tick += ticks[i].GetInt64();
            offset += offsets[i].GetUint64();
            auto const& all = index.opened.keyframes();
            CHECK(std::any_of(all.begin(), all.end(),
                              [&](demo_keyframe const& k) { return k.tick == tick && k.position == offset; }));
        }
    }
}

TEST_CASE("of an index that somebody else has made, what makes sense is read") {
    auto const parse = [](std::string_view text) {
        return parse_index({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()});
    };
    for (std::string_view const text :
         {"", "{", "[]", "1", "null", "{}", R"({"version":1})", R"({"version":1,"file":7})",
          R"({"version":1,"file":{}})", R"({"version":1,"file":{"size":-1}})",
          R"({"version":1,"file":{"size":1.5}})", R"({"version":1,"file":{"size":"1"}})",
          R"({"version":2,"file":{"size":1}})", R"({"version":"1","file":{"size":1}})",
          "{\"version\":1,\"file\":{\"size\":1},\"x\":\"\xff\"}"})
        CHECK_MESSAGE(!parse(text), text);
    CHECK(!parse(std::string(1'000'000, '[')));
    auto const odd =
        parse(R"({"version":1,"file":{"size":5,"sha256":7},"protocol":[],"first_tick":99999999999,"last_tick":-7,
        "map":3,"people":[[0,"a"],[1],7,[2,3],[3,"b","c"]],"players":[[0,1],[0,2],[1,1],[2,1],[3,1],[4,1],[5,1],[99999999999,1],[-1],[],7,["0"]]})");
    REQUIRE(odd);
    CHECK(odd->size == 5);
    CHECK(odd->sha256.empty());
    CHECK(odd->first_tick == -1);
    CHECK(odd->last_tick == -1);
    CHECK(odd->players == std::vector<std::string>{"a", "b"});
}
