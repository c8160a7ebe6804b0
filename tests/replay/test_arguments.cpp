// Typed text: times, misspelt words; and the fields of messages as `types` lists them.
#include "check.hpp"
#include "demos.hpp"

#include "base/file_kind.hpp"
#include "cli/nearest.hpp"
#include "cli/times.hpp"
#include "game/message_fields.hpp"

#include <set>

using namespace teewire;
using namespace teewire::replay;

namespace {

std::int32_t tick_of(std::string_view text) { return parse_position(text).value().tick(1000, 9000); }

} // namespace

TEST_CASE("places in a recording") {
    CHECK(tick_of("0") == 0);
    CHECK(tick_of("4711") == 4711);
    CHECK(tick_of("2147483647") == 2147483647);
    CHECK(tick_of("12.5s") == 1000 + 625);
    CHECK(tick_of("0s") == 1000);
    CHECK(tick_of("0:00") == 1000);
    CHECK(tick_of("1:23.4") == 1000 + 50 * 83 + 20);
    CHECK(tick_of("1:02:03") == 1000 + 50 * 3723);
    CHECK(tick_of("90:00") == 1000 + 50 * 5400);
    CHECK(tick_of("-0:10") == 9000 - 500);
    CHECK(tick_of("-10s") == 9000 - 500);
    CHECK(tick_of("-0s") == 9000);
    CHECK(tick_of("-10:00") == 1000);
    CHECK(tick_of("99999:00") == 1000 + 50 * 5999940);
    CHECK(tick_of("0.019s") == 1001);
    // No recording that has ticks at all: from the beginning and from the end are the same then.
    CHECK(parse_position("-1s").value().tick(-1, -1) == 0);
    CHECK(parse_position("100000000s").value().tick(2147483647, 2147483647) == 2147483647);
    for (char const* const wrong :
         {"",       "-",       "s",           ":",      "-5",  "12.5", "2147483648", "99999999999999999999",
          "1:60",   "1:2:3:4", "1:60:00",     "1.5:00", "1:",  ":10",  "1e3",        "1e3s",
          "infs",   "nans",    "0x10",        " 5",     "5 ",  "+5",   "--0:10",     "1:-5",
          "tick 5", "5m",      "1000000001s", "1:+5",   ".5s", "5.s"})
        CHECK_MESSAGE(!parse_position(wrong), wrong);
}

TEST_CASE("durations") {
    CHECK(parse_duration("60") == 60.0);
    CHECK(parse_duration("0.5") == 0.5);
    CHECK(parse_duration("60s") == 60.0);
    CHECK(parse_duration("1:30") == 90.0);
    CHECK(parse_duration("1:00:00") == 3600.0);
    for (char const* const wrong : {"", "0", "0s", "0:00", "-5", "-0:10", "5m", "inf", "1e9", "1000000000"})
        CHECK_MESSAGE(!parse_duration(wrong), wrong);
}

TEST_CASE("the nearest word, if one is near") {
    std::vector<std::string> const verbs = {"info", "dump", "verify", "play", "record", "serve", "capture", "du"};
    auto const near = [&](std::string_view word) {
        std::string const* const found = nearest(word, verbs);
        return found == nullptr ? "" : *found;
    };
    CHECK(near("ino") == "info");
    CHECK(near("dumpp") == "dump");
    CHECK(near("plya") == "play");
    CHECK(near("vreify") == "verify");
    CHECK(near("rekord") == "record");
    CHECK(near("caputer") == "capture");
    CHECK(near("ofni").empty());
    CHECK(near("xu").empty());
    CHECK(near("").empty());
    CHECK(near(std::string(1'000'000, 'x')).empty()); // and soon
    CHECK(nearest("info", {}) == nullptr);
}

TEST_CASE("kinds of files") {
    auto const kind = [](std::string_view hex) { return identify(test::from_hex(hex)); };
    CHECK(kind("54 57 44 45 4d 4f 00 06") == file_kind::demo);
    CHECK(kind("44 41 54 41 04 00 00 00") == file_kind::datafile);
    CHECK(kind("41 54 41 44") == file_kind::datafile);
    for (char const* const magic : {"a1 b2 c3 d4", "d4 c3 b2 a1", "a1 b2 3c 4d", "4d 3c b2 a1", "0a 0d 0d 0a"})
        CHECK(kind(magic) == file_kind::capture);
    CHECK(kind("01 05 0b 00") == file_kind::xvector);
    for (char const* const magic :
         {"", "54", "54 57 44 45 4d", "44 41 54", "a1 b2 c3", "01 05 0b", "01 05 0b 01", "7f 45 4c 46 02 01 01 00"})
        CHECK(kind(magic) == file_kind::unknown);
}

namespace {

// The fields that the library writes are those in the list.
template <class T>
void check_written(T const& value, protocol p, message_type type = T::type) {
    std::array<std::uint8_t, 2048> bytes{};
    auto const written = encode(value, p, bytes);
    if (!written) {
        CHECK(!has_message(type, p));
        return;
    }
    auto const parsed = parse_message(*written);
    REQUIRE(parsed);
    CHECK_MESSAGE(fields_text(*parsed, type, p), describe(type).name);
}

template <class... T>
void check_all(protocol p) {
    (check_written(T{}, p), ...);
}

} // namespace

TEST_CASE("fields of messages") {
    namespace ms = messages;
    std::array<std::uint8_t, 32> const sha256{};
    for (protocol const p : {protocol::ddnet, protocol::teeworlds_07}) {
        check_all<ms::info, ms::map_change, ms::request_map_data, ms::server_info, ms::con_ready, ms::ready,
                  ms::enter_game, ms::ping, ms::ping_reply, ms::map_reload, ms::reconnect, ms::input_timing,
                  ms::input, ms::rcon_line, ms::what_is, ms::i_dont_know, ms::it_is, ms::capabilities,
                  ms::client_version, ms::ping_ex, ms::pong_ex, ms::redirect, ms::motd, ms::broadcast, ms::chat,
                  ms::team, ms::kill, ms::tune_params, ms::ready_to_enter, ms::vote_clear_options,
                  ms::weapon_pickup, ms::emoticon, ms::server_settings, ms::client_info, ms::skin_change,
                  ms::game_info, ms::client_drop, ms::say, ms::set_team, ms::set_spectator_mode, ms::start_info>(p);
        ms::map_details details;
        details.sha256 = sha256;
        check_written(details, p);
        ms::map_data piece;
        piece.data = sha256;
        check_written(piece, p);
    }

    ms::chat said;
    said.text = "hi\x1b[2J";
    std::array<std::uint8_t, 64> bytes{};
    auto const parsed = parse_message(*encode(said, protocol::ddnet, bytes));
    CHECK(fields_text(*parsed, message_type::chat, protocol::ddnet) == "team 0, client_id -1, text \"hi [2J\"");
    // Neither too little nor too much.
    message cut = *parsed;
    cut.fields = cut.fields.first(cut.fields.size() - 1);
    CHECK(!fields_text(cut, message_type::chat, protocol::ddnet));
    CHECK(!fields_text(*parsed, message_type::emoticon, protocol::ddnet));
    CHECK(!fields_text(*parsed, message_type::unknown, protocol::ddnet));

    for (std::size_t i = 1; i < message_type_count; ++i)
        for (protocol const p : {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07}) {
            auto const layout = find_layout(static_cast<message_type>(i), p);
            if (!layout) continue;
            std::set<std::string_view> names;
            for (message_field const& f : layout->fields) {
                CHECK_MESSAGE(names.insert(f.name).second, f.name);
                CHECK(f.count >= 1);
            }
        }
}
