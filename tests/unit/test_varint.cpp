#include "check.hpp"
#include "random.hpp"
#include "records.hpp"

#include "teewire/varint.hpp"

#include <limits>

using namespace teewire;
using test::error_of;

namespace {

note note_named(std::string_view name) {
    REQUIRE((name == "overlong" || name == "dirty"));
    return name == "overlong" ? note::overlong_varint : note::dirty_varint;
}

void check_canonical(std::int32_t value, test::bytes const& coded) {
    CHECK(varint_size(value) == coded.size());
    CHECK(varint_size(std::span{&value, 1}) == coded.size());

    std::uint8_t out[max_varint_bytes];
    auto const size = static_cast<std::size_t>(put_varint(out, value) - out);
    CHECK(test::hex({out, size}) == test::hex(coded));

    note_log notes;
    for (decoding const mode : {decoding::strict, decoding::lenient}) {
        auto const decoded = decode_varint(coded, mode, &notes);
        REQUIRE(decoded);
        CHECK(decoded->value == value);
        CHECK(decoded->size == coded.size());
    }
    CHECK(notes.empty());
    for (std::size_t size_left = 0; size_left < coded.size(); ++size_left)
        CHECK(error_of(decode_varint(std::span{coded}.first(size_left))) == failure{errc::truncated, 0});
}

void check_odd(std::int32_t value, test::bytes const& coded, note expected) {
    auto const plain = decode_varint(coded);
    REQUIRE(plain);
    CHECK(plain->value == value);
    CHECK(plain->size == coded.size());
    CHECK(error_of(decode_varint(coded, decoding::strict)) == failure{errc::bad_varint, 0});

    // as part of a run, after a two-byte value
    test::bytes run{0x80, 0x01};
    run.insert(run.end(), coded.begin(), coded.end());
    note_log notes;
    std::int32_t out[3] = {};
    auto const count = decode_varints(run, out, decoding::lenient, &notes);
    REQUIRE(count);
    CHECK(*count == 2);
    CHECK(out[0] == 64);
    CHECK(out[1] == value);
    CHECK(notes[expected].count == 1);
    CHECK(notes[expected].position == 2);
    CHECK(error_of(decode_varints(run, out, decoding::strict)) == failure{errc::bad_varint, 2});
}

} // namespace

TEST_CASE("varint: golden vectors") {
    std::size_t canonical = 0;
    for (auto const& r : test::read_records("varint.txt")) {
        CAPTURE(r.title());
        auto const coded = test::from_hex(r.get("bytes"));
        if (r.kind() == "canonical") {
            check_canonical(test::number<std::int32_t>(r.title()), coded);
            ++canonical;
        } else if (r.kind() == "odd") {
            check_odd(test::number<std::int32_t>(r.title()), coded, note_named(r.get("note")));
        } else {
            CHECK(r.kind() == "broken");
            CHECK(error_of(decode_varint(coded)) == test::parse_failure(r.get("error")));
        }
    }
    CHECK(canonical == 27);
}

TEST_CASE("varint: a fifth byte ends the value whatever its top bit says") {
    test::bytes const coded{0xbf, 0xff, 0xff, 0xff, 0xff, 0x05};
    auto const decoded = decode_varint(coded);
    REQUIRE(decoded);
    CHECK(decoded->value == std::numeric_limits<std::int32_t>::max());
    CHECK(decoded->size == 5);
}

TEST_CASE("varint: lengths change at the powers of two") {
    for (unsigned bits : {6U, 13U, 20U, 27U}) {
        auto const power = static_cast<std::int32_t>(1U << bits);
        std::size_t const length = (bits + 1) / 7;
        CHECK(varint_size(power - 1) == length);
        CHECK(varint_size(-power) == length);
        CHECK(varint_size(power) == length + 1);
        CHECK(varint_size(-power - 1) == length + 1);
    }
    CHECK(varint_size(std::numeric_limits<std::int32_t>::max()) == 5);
    CHECK(varint_size(std::numeric_limits<std::int32_t>::min()) == 5);
    static_assert(varint_size(64) == 2 && varint_bound(3) == 15);
}

TEST_CASE("varint: random runs come back, and stay within the bound") {
    test::random rng{1};
    for (int round = 0; round < 300; ++round) {
        test::ints values(rng.below(80));
        for (auto& v : values) v = rng.value();
        test::bytes coded(varint_bound(values.size()));
        auto const size = encode_varints(values, coded);
        REQUIRE(size);
        CHECK(*size == varint_size(values));
        CHECK(*size <= varint_bound(values.size()));
        coded.resize(*size);

        // one by one gives the same bytes
        test::bytes single;
        for (auto const v : values) {
            std::uint8_t out[max_varint_bytes];
            single.insert(single.end(), out, put_varint(out, v));
        }
        CHECK(single == coded);

        note_log notes;
        test::ints back(values.size());
        auto const count = decode_varints(coded, back, decoding::strict, &notes);
        REQUIRE(count);
        CHECK(*count == values.size());
        CHECK(back == values);
        CHECK(notes.empty());
    }
}

TEST_CASE("varint: an empty run") {
    CHECK(varint_size(std::span<std::int32_t const>{}) == 0);
    auto const encoded = encode_varints({}, {});
    REQUIRE(encoded);
    CHECK(*encoded == 0);
    auto const decoded = decode_varints({}, {});
    REQUIRE(decoded);
    CHECK(*decoded == 0);
    CHECK(error_of(decode_varint({})) == failure{errc::truncated, 0});
}

TEST_CASE("varint: every output size when encoding") {
    test::ints const values{0, 64, -8193, 1048576, 2147483647, -1, -2147483647 - 1, 8191};
    std::size_t const needed = varint_size(values);
    CHECK(needed == 1 + 2 + 3 + 4 + 5 + 1 + 5 + 2);
    test::check_output_sizes<std::uint8_t>(needed, [&](std::span<std::uint8_t> out) {
        auto const written = encode_varints(values, out);
        // the first value that does not fit, with everything before it written
        std::size_t fit = 0;
        test::bytes before;
        for (; fit < values.size(); ++fit) {
            std::uint8_t one[max_varint_bytes];
            auto* const end = put_varint(one, values[fit]);
            if (before.size() + static_cast<std::size_t>(end - one) > out.size()) break;
            before.insert(before.end(), one, end);
        }
        if (!written) CHECK(written.error().position == fit);
        CHECK(test::hex(before) == test::hex(out.first(before.size())));
        return written;
    });
}

TEST_CASE("varint: every output size when decoding") {
    test::bytes const coded = test::from_hex("00 80 01 ff ff ff ff 0f 40 c0 80 01");
    std::size_t const starts[] = {0, 1, 3, 8, 9};
    test::check_output_sizes<std::int32_t>(5, [&](std::span<std::int32_t> out) {
        auto const count = decode_varints(coded, out);
        if (!count) CHECK(count.error().position == starts[out.size()]);
        else CHECK(test::dec(out.first(*count)) == "0 64 -2147483648 -1 -8193");
        return count;
    });
}

TEST_CASE("varint: a run cut anywhere ends cleanly or tells the value it cut") {
    test::ints const values{1, 200, -70000, 3, 2147483647, -5};
    test::bytes coded(varint_bound(values.size()));
    coded.resize(*encode_varints(values, coded));
    std::size_t begin = 0; // of the value that holds the cut
    std::size_t complete = 0;
    for (std::size_t cut = 0; cut <= coded.size(); ++cut) {
        while (complete < values.size() && begin + varint_size(values[complete]) <= cut)
            begin += varint_size(values[complete++]);
        test::ints out(values.size());
        auto const count = decode_varints(std::span{coded}.first(cut), out);
        CAPTURE(cut);
        if (cut == begin) {
            REQUIRE(count);
            CHECK(*count == complete);
        } else {
            CHECK(error_of(count) == failure{errc::truncated, begin});
        }
        CHECK(std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(complete), out.begin()));
    }
}

TEST_CASE("varint: notes count each odd value") {
    note_log notes;
    std::int32_t out[4];
    auto const count =
        decode_varints(test::from_hex("01 80 00 c0 00 80 80 80 80 10"), out, decoding::lenient, &notes);
    REQUIRE(count);
    CHECK(test::dec(std::span{out}.first(*count)) == "1 0 -1 0");
    CHECK(notes[note::overlong_varint].count == 2);
    CHECK(notes[note::overlong_varint].position == 1);
    CHECK(notes[note::dirty_varint].count == 1);
    CHECK(notes[note::dirty_varint].position == 5);
}
