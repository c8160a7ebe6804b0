#include "base/output.hpp"
#include "game/item_text.hpp"
#include "map/source.hpp"
#include "scene.hpp"

using namespace teewire;
using namespace teewire::replay;
using test::scene;

TEST_CASE("text for people has no control characters and nothing that turns its direction") {
    CHECK(printable("a\x1b[2J\x07\x7f\n\tb") == "a [2J    b");
    CHECK(printable("a\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0z") == "a   \xc2\xa0z"); // C1, and what comes after it
    CHECK(printable("\u061c|\u200e|\u200f|\u2028|\u2029|\u202a|\u202e|\u2066|\u2069") == " | | | | | | | | ");
    CHECK(printable("\u061b|\u061d|\u200d|\u2010|\u2027|\u202f|\u2065|\u206a") ==
          "\u061b|\u061d|\u200d|\u2010|\u2027|\u202f|\u2065|\u206a");
    CHECK(printable("クラン жук 😀") == "クラン жук 😀");
    CHECK(printable("\xff|\xc0\x9b|\xe2\x80|\xed\xa0\x80|\xf4\x90\x80\x80") ==
          "\ufffd|\ufffd\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd\ufffd");
    CHECK(printable("") == "");
}

TEST_CASE("an error has its reason without the name, whatever its text is") {
    bad_input const named{"a:b", "byte 0: not a demo"};
    CHECK(std::string{named.what()} == "a:b: byte 0: not a demo");
    CHECK(named.reason() == "byte 0: not a demo");
    CHECK(io_error{"no memory"}.reason() == "no memory");
    CHECK(io_error{"", ""}.reason().empty());
    try {
        throw usage_error{"x.demo", "this is a map"};
    } catch (...) {
        exit_reason const found = current_exit_reason();
        CHECK(found.text == "x.demo: this is a map");
        CHECK(found.reason == "this is a map");
    }
}

TEST_CASE("counts have a noun") {
    CHECK(counted(1, "entry", "entries") == "1 entry");
    CHECK(counted(0, "entry", "entries") == "0 entries");
    CHECK(counted(2, "quad") == "2 quads");
}

TEST_CASE("sizes have a unit and one decimal") {
    CHECK(size_text(0) == "0 B");
    CHECK(size_text(1023) == "1023 B");
    CHECK(size_text(1024) == "1.0 KiB");
    CHECK(size_text(69635) == "68.0 KiB");
    CHECK(size_text((1 << 20) - 52) == "1023.9 KiB");
    CHECK(size_text((1 << 20) - 51) == "1.0 MiB"); // not 1024.0 KiB
    CHECK(size_text(3ULL << 30) == "3.0 GiB");
    CHECK(size_text(UINT64_MAX) == "17179869184.0 GiB");
}

TEST_CASE("JSON and CSV get every character that is one") {
    CHECK(valid_utf8("a\x1b\n\xc2\x9b\u202e\xff") == "a\x1b\n\xc2\x9b\u202e\ufffd");
}

TEST_CASE("cells of CSV are texts to spreadsheets") {
    for (std::string const text : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "\uff1d1", "\uff20x"}) {
        CHECK(csv_text(text, csv_texts::safe) == "\"'" + text + "\"");
        CHECK(csv_text(text, csv_texts::raw) == "\"" + text + "\"");
    }
    CHECK(csv_text("a\n=1\r\n\uff1d2\n\nb\r\n", csv_texts::safe) == "\"a\n'=1\r\n'\uff1d2\n\nb\r\n\"");
    CHECK(csv_text("a\n=1", csv_texts::raw) == "\"a\n=1\"");
    CHECK(csv_text("nameless tee", csv_texts::safe) == "\"nameless tee\"");
    CHECK(csv_text("a=1, \"b\"", csv_texts::safe) == "\"a=1, \"\"b\"\"\"");
    CHECK(csv_text("", csv_texts::safe) == "\"\"");
}

TEST_CASE("bytes are two digits each") {
    std::vector<std::uint8_t> const bytes{0x00, 0x0b, 0xad, 0xff};
    CHECK(hex(bytes) == "000badff");
    CHECK(hex(bytes, " ") == "00 0b ad ff");
    CHECK(hex({}) == "");
    CHECK(first_bytes_text(bytes) == "00 0b ad ff");
    std::vector<std::uint8_t> const many(16, 0xab);
    std::string const all = "ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab";
    CHECK(first_bytes_text(many) == all);
    CHECK(first_bytes_text(std::vector<std::uint8_t>(17, 0xab)) == all + " ...");
}

TEST_CASE("an object is a line of JSON") {
    text_buffer out;
    json_line line;
    line.print(out, [](object_writer& o) {
        o.text("text", "\"caf\xe9\"\n");
        o.text_or_null("no_text", "");
        o.number("least", INT64_MIN);
        o.number("most", UINT64_MAX);
        o.number_or_null("no_number", std::optional<std::int32_t>{});
        o.number_or_null("number", std::optional{-7});
        o.tick_or_null("no_tick", -1);
        o.tick_or_null("tick", 0);
        o.real("real", 0.5);
        o.flag("flag", false);
        o.null("null");
        o.numbers("numbers", std::array<std::uint8_t, 2>{1, 255});
        { object_writer const nothing = o.object("empty"); }
        {
            object_writer within = o.object("within");
            within.number("a", 1);
        }
        o.objects("objects", std::array{2, 3}, [](object_writer& each, int value) { each.number("b", value); });
        o.list("list", std::array{true, false}, [](json_writer& json, bool value) { json.Bool(value); });
        write_string(o.member("last"), "x");
    });
    CHECK(out.view() == "{\"text\":\"\\\"caf\xef\xbf\xbd\\\"\\n\",\"no_text\":null,\"least\":-9223372036854775808,"
                        "\"most\":18446744073709551615,\"no_number\":null,\"number\":-7,\"no_tick\":null,"
                        "\"tick\":0,\"real\":0.5,\"flag\":false,\"null\":null,\"numbers\":[1,255],\"empty\":{},"
                        "\"within\":{\"a\":1},\"objects\":[{\"b\":2},{\"b\":3}],\"list\":[true,false],"
                        "\"last\":\"x\"}\n");
    out.clear();
    line.print(out, [](object_writer&) {});
    CHECK(out.view() == "{}\n");
}

TEST_CASE("flags are told by the names of those that are set") {
    scene s{protocol::teeworlds_06};
    s.add("game_info", 0, {{"game_flags", 2}});
    snapshot_view const snapshot = s.finish();
    text_buffer text;
    json_line{}.print(text, [&](object_writer& line) {
        write_fields(line, snapshot[0], find_object(protocol::teeworlds_06, "game_info"));
    });
    CHECK(text.view().starts_with("{\"game_flags\":[\"flags\"],\"game_state_flags\":[],"));
}

TEST_CASE("names of items, for people and for programs") {
    scene s{protocol::teeworlds_06};
    s.add("client_info", 0, {}, "=1\x1b[2J\xe2\x80\xae", "tees");
    snapshot_view const snapshot = s.finish();
    object const& known = *find_object(protocol::teeworlds_06, "client_info");
    item const info = snapshot[0];
    CHECK(text_field(info, known, "name") == "=1 [2J ");
    CHECK(changes_text(info, {}, &known).starts_with(" name \"=1 [2J \" clan \"tees\""));

    text_buffer safe;
    write_csv_values(safe, info, known, csv_texts::safe);
    CHECK(safe.view().starts_with(",\"'=1\x1b[2J\xe2\x80\xae\",\"tees\",0,"));
    text_buffer raw;
    write_csv_values(raw, info, known, csv_texts::raw);
    CHECK(raw.view().starts_with(",\"=1\x1b[2J\xe2\x80\xae\",\"tees\",0,"));

    text_buffer text;
    json_line{}.print(text, [&](object_writer& line) { write_fields(line, info, &known); });
    CHECK(text.view().starts_with("{\"name\":\"=1\\u001B[2J\xe2\x80\xae\",\"clan\":\"tees\","));
}

TEST_CASE("problems of maps say what was found, and what would have been right where that says something") {
    map_problem p;
    p.code = map_errc::unsupported_version;
    p.position = 4;
    std::string const what = fmt::format("byte 4: {}", describe(p.code));
    CHECK(problem_text(p) == what);
    p.value = 3;
    CHECK(problem_text(p) == what + " (found 3)");
    p.expected = 1;
    CHECK(problem_text(p) == what + " (found 3, expected 1)");
    p.expected = 3;
    CHECK(problem_text(p) == what);
}
