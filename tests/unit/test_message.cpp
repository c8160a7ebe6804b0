#include "check.hpp"
#include "random.hpp"
#include "records.hpp"

#include "teewire/message.hpp"

#include <map>

using namespace teewire;
using test::error_of;

namespace {

protocol parse_protocol(std::string_view text) {
    for (protocol const p : {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07})
        if (name(p) == text) return p;
    FAIL("unknown protocol ", std::string{text});
    return {};
}

message_kind parse_kind(std::string const& text) {
    static std::map<std::string, message_kind> const kinds = {
        {"other", message_kind::other},
        {"motd", message_kind::motd},
        {"broadcast", message_kind::broadcast},
        {"chat", message_kind::chat},
        {"server_message", message_kind::server_message},
        {"kill", message_kind::kill},
        {"client_info", message_kind::client_info},
        {"client_enter", message_kind::client_enter},
        {"client_leave", message_kind::client_leave},
        {"team", message_kind::team},
    };
    return kinds.at(text);
}

// Writes the fields that the record lists.
test::bytes encode(test::record const& r) {
    test::bytes memory(256);
    packer out{memory};
    out.add_int(test::number<std::int32_t>(r.get("id")) * 2 + (r.has("system") ? 1 : 0));
    if (r.has("uuid")) out.add_raw(uuid::parse(r.get("uuid")).bytes);
    for (auto const& [field, value] : r.lines()) {
        if (field == "int") out.add_int(test::number<std::int32_t>(value));
        if (field == "string") out.add_string(value);
        if (field == "raw") out.add_raw(test::from_hex(value));
    }
    auto const written = out.finish();
    REQUIRE(written);
    return test::copy_of(*written);
}

void check_decoded(test::record const& r, message const& m) {
    auto const decoded = decode_game_message(m, parse_protocol(r.get("protocol")));
    REQUIRE(decoded);
    CHECK(static_cast<int>(decoded->kind) == static_cast<int>(parse_kind(r.get("kind"))));
    auto const number = [&](std::string_view field, std::int32_t otherwise) {
        return r.has(field) ? test::number<std::int32_t>(r.get(field)) : otherwise;
    };
    auto const text = [&](std::string_view field) { return r.has(field) ? r.get(field) : std::string{}; };
    CHECK(decoded->client_id == number("client_id", -1));
    CHECK(decoded->victim == number("victim", -1));
    CHECK(decoded->weapon == number("weapon", 0));
    CHECK(decoded->team == number("team", 0));
    CHECK(decoded->target == number("target", -1));
    CHECK(decoded->text == text("text"));
    CHECK(decoded->name == text("name"));
    CHECK(decoded->clan == text("clan"));
}

} // namespace

TEST_CASE("message: golden vectors") {
    std::map<std::string, int> kinds;
    for (auto const& r : test::read_records("message.txt")) {
        CAPTURE(r.title());
        ++kinds[r.get("kind")];
        CHECK(test::hex(encode(r)) == r.get("bytes"));

        auto bytes = test::from_hex(r.get("bytes"));
        for (int zeros = 0; zeros < 4; ++zeros) { // as in demos
            auto const m = parse_message(bytes);
            REQUIRE(m);
            CHECK(m->id == test::number<std::int32_t>(r.get("id")));
            CHECK(m->system == r.has("system"));
            CHECK((m->extended == (r.has("uuid") ? uuid::parse(r.get("uuid")) : uuid{})));
            CHECK(m->fields.data() + m->fields.size() == bytes.data() + bytes.size());
            check_decoded(r, *m);
            bytes.push_back(0);
        }
    }
    CHECK(kinds.size() == 10);
}

TEST_CASE("message: a head cut anywhere is truncated") {
    test::bytes const extended = test::from_hex("00 76 ce 45 5b f9 eb 3a 48 ad d7 e0 4b 94 1d 04 5c 05");
    CHECK(error_of(parse_message({})) == failure{errc::truncated, 0});
    for (std::size_t size = 1; size < 17; ++size)
        CHECK(error_of(parse_message(std::span{extended}.first(size))) == failure{errc::truncated, 1});
    auto const whole = parse_message(extended);
    REQUIRE(whole);
    CHECK(whole->id == 0);
    CHECK_FALSE(whole->system);
    CHECK((whole->extended == uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045c")));
    CHECK(test::hex(whole->fields) == "05");
    CHECK(error_of(parse_message(test::from_hex("80"))) == failure{errc::truncated, 0});
}

TEST_CASE("message: ids of more than one byte and negative ones") {
    test::bytes const bytes = test::from_hex("81 02 07");
    auto const large = parse_message(bytes);
    REQUIRE(large);
    CHECK(large->id == 64);
    CHECK(large->system);
    CHECK(test::hex(large->fields) == "07");
    auto const negative = parse_message(std::array{std::uint8_t{0x40}});
    REQUIRE(negative);
    CHECK(negative->id == -1);
    CHECK(negative->system);
    auto const game = parse_message(std::array{std::uint8_t{0x41}});
    REQUIRE(game);
    CHECK(game->id == -1);
    CHECK_FALSE(game->system);
    auto const decoded = decode_game_message(*game, protocol::teeworlds_06);
    REQUIRE(decoded);
    CHECK((decoded->kind == message_kind::other));
}

TEST_CASE("message: fields cut anywhere give an error with the field's byte") {
    struct {
        protocol p;
        char const* bytes;
        std::vector<failure> errors; // by number of field bytes left
    } const cases[] = {
        {protocol::teeworlds_06, "02 68 69 00", {{errc::truncated, 0}, {errc::bad_text, 0}, {errc::bad_text, 0}}},
        {protocol::ddnet, "04 68 00", {{errc::truncated, 0}, {errc::bad_text, 0}}},
        {protocol::teeworlds_06,
         "06 00 01 68 00",
         {{errc::truncated, 0}, {errc::truncated, 1}, {errc::truncated, 2}, {errc::bad_text, 2}}},
        {protocol::teeworlds_07,
         "06 01 01 40 68 00",
         {{errc::truncated, 0},
          {errc::truncated, 1},
          {errc::truncated, 2},
          {errc::truncated, 3},
          {errc::bad_text, 3}}},
        {protocol::teeworlds_06,
         "08 01 02 40 00",
         {{errc::truncated, 0}, {errc::truncated, 1}, {errc::truncated, 2}, {errc::truncated, 3}}},
        {protocol::teeworlds_07,
         "0a 01 80 01 40 00",
         {{errc::truncated, 0},
          {errc::truncated, 1},
          {errc::truncated, 1},
          {errc::truncated, 3},
          {errc::truncated, 4}}},
        {protocol::teeworlds_07,
         "24 01 00 00 61 00 00",
         {{errc::truncated, 0},
          {errc::truncated, 1},
          {errc::truncated, 2},
          {errc::truncated, 3},
          {errc::bad_text, 3},
          {errc::truncated, 5}}},
        {protocol::teeworlds_07,
         "2c 61 00 01 00",
         {{errc::truncated, 0}, {errc::bad_text, 0}, {errc::truncated, 2}, {errc::truncated, 3}}},
    };
    for (auto const& c : cases) {
        auto const whole = test::from_hex(c.bytes);
        REQUIRE(c.errors.size() == whole.size() - 1);
        for (std::size_t left = 0; left <= c.errors.size(); ++left) {
            auto const m = parse_message(std::span{whole}.first(1 + left));
            REQUIRE(m);
            CAPTURE(c.bytes);
            CAPTURE(left);
            CHECK(error_of(decode_game_message(*m, c.p)) == (left < c.errors.size() ? c.errors[left] : failure{}));
        }
    }
}

TEST_CASE("message: system messages are never game messages") {
    auto const m = parse_message(test::from_hex("03 68 69 00"));
    REQUIRE(m);
    CHECK(m->system);
    auto const decoded = decode_game_message(*m, protocol::teeworlds_06);
    REQUIRE(decoded);
    CHECK((decoded->kind == message_kind::other));
    CHECK(decoded->text.empty());
}

TEST_CASE("message: texts keep what is not UTF-8, and point into the message") {
    test::bytes const bytes = test::from_hex("02 61 ff 62 00");
    auto const m = parse_message(bytes);
    REQUIRE(m);
    auto const decoded = decode_game_message(*m, protocol::ddnet);
    REQUIRE(decoded);
    CHECK(decoded->text == "a\xff"
                           "b");
    CHECK(static_cast<void const*>(decoded->text.data()) == static_cast<void const*>(bytes.data() + 1));
}

TEST_CASE("message: noise gives a message or an error inside it") {
    test::random rng{7};
    for (int round = 0; round < 3000; ++round) {
        auto const noise = rng.data(rng.below(30), round % 2 == 0);
        auto const m = parse_message(noise);
        if (!m) {
            CHECK(m.error().code == errc::truncated);
            CHECK(m.error().position <= noise.size());
            continue;
        }
        for (protocol const p : {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07}) {
            auto const decoded = decode_game_message(*m, p);
            if (decoded) continue;
            CHECK((decoded.error().code == errc::truncated || decoded.error().code == errc::bad_text));
            CHECK(decoded.error().position <= m->fields.size());
        }
    }
}
