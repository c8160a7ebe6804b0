#include "check.hpp"
#include "random.hpp"

#include "teewire/packer.hpp"

using namespace teewire;
using test::error_of;

TEST_CASE("packer: writes ints, strings and raw bytes one after the other") {
    test::bytes memory(64);
    packer out{memory};
    test::bytes const raw{0xde, 0xad};
    auto const written = out.add_int(6).add_int(-65).add_string("hi").add_raw(raw).add_string("").finish();
    REQUIRE(written);
    CHECK(test::hex(*written) == "06 c0 01 68 69 00 de ad 00");
    CHECK(written->data() == memory.data());

    unpacker in{*written};
    CHECK(in.read_int() == 6);
    CHECK(in.read_int() == -65);
    CHECK(in.position() == 3);
    CHECK(in.read_string() == "hi");
    CHECK(test::hex(in.read_raw(2)) == "de ad");
    CHECK(test::hex(in.rest()) == "00");
    CHECK(in.read_string().empty());
    CHECK(in.ok());
    CHECK(in.rest().empty());
    CHECK(in.position() == 9);
}

TEST_CASE("packer: nothing at all") {
    auto const written = packer{{}}.finish();
    REQUIRE(written);
    CHECK(written->empty());
    unpacker in{{}};
    CHECK(in.ok());
    CHECK(in.read_raw(0).empty());
    CHECK(in.ok());
}

TEST_CASE("packer: every output size") {
    test::check_output_sizes<std::uint8_t>(10, [](std::span<std::uint8_t> memory) {
        test::bytes const raw{1, 2};
        auto const written = packer{memory}.add_int(1).add_string("name").add_raw(raw).add_int(64).finish();
        // the size reached: only whole fields
        std::size_t const expected[] = {0, 1, 1, 1, 1, 1, 6, 6, 8, 8};
        if (!written) CHECK(written.error().position == expected[memory.size()]);
        else CHECK(test::hex(*written) == "01 6e 61 6d 65 00 01 02 80 01");
        return written;
    });
}

TEST_CASE("packer: after a field that does not fit nothing more is written") {
    test::guarded<std::uint8_t> memory{4};
    packer out{memory.span()};
    out.add_int(1).add_string("too long").add_int(2).add_string("");
    CHECK(error_of(out.finish()) == failure{errc::output_full, 1});
    CHECK(memory.intact());
    CHECK(memory.span()[0] == 1);
    CHECK(memory.span()[1] != 2);
}

TEST_CASE("unpacker: errors, and nothing but zeros after the first one") {
    SUBCASE("an int that is cut") {
        test::bytes const message = test::from_hex("01 ff ff");
        unpacker in{message};
        CHECK(in.read_int() == 1);
        CHECK(in.read_int() == 0);
        CHECK_FALSE(in.ok());
        CHECK(in.error() == failure{errc::truncated, 1});
        CHECK(in.read_int() == 0);
        CHECK(in.read_string().empty());
        CHECK(in.read_raw(1).empty());
        CHECK(in.error() == failure{errc::truncated, 1});
        CHECK(in.position() == 1);
    }
    SUBCASE("an int at the end") {
        unpacker in{{}};
        CHECK(in.read_int() == 0);
        CHECK(in.error() == failure{errc::truncated, 0});
    }
    SUBCASE("a string without terminator") {
        test::bytes const message = test::from_hex("61 00 62 63");
        unpacker in{message};
        CHECK(in.read_string() == "a");
        CHECK(in.read_string().empty());
        CHECK(in.error() == failure{errc::bad_text, 2});
        CHECK(in.read_raw(1).empty());
        CHECK(in.error() == failure{errc::bad_text, 2});
    }
    SUBCASE("a string at the end") {
        test::bytes const message = test::from_hex("61 00");
        unpacker in{message};
        CHECK(in.read_string() == "a");
        CHECK(in.read_string().empty());
        CHECK(in.error() == failure{errc::truncated, 2});
    }
    SUBCASE("too few raw bytes") {
        test::bytes const message = test::from_hex("61 62 63");
        unpacker in{message};
        CHECK(in.read_raw(2).size() == 2);
        CHECK(in.read_raw(2).empty());
        CHECK(in.error() == failure{errc::truncated, 2});
        CHECK(in.read_raw(SIZE_MAX).empty());
    }
}

TEST_CASE("unpacker: over-long ints and text that is not UTF-8 are taken as they are") {
    test::bytes const message = test::from_hex("80 00 bf ff ff ff ff 61 ff 63 00");
    unpacker in{message};
    CHECK(in.read_int() == 0);
    CHECK(in.read_int() == 2147483647);
    CHECK(in.read_string() == "a\xff"
                              "c");
    CHECK(in.ok());
}

TEST_CASE("packer: random messages come back") {
    test::random rng{6};
    for (int round = 0; round < 200; ++round) {
        test::bytes memory(4096);
        packer out{memory};
        std::uint64_t const seed = rng.next();
        // The same numbers once for writing and once for reading.
        auto const each_field = [seed](auto&& on_int, auto&& on_text, auto&& on_raw) {
            test::random fields{seed};
            for (std::size_t n = fields.below(12); n > 0; --n) {
                std::size_t const kind = fields.below(3);
                if (kind == 0) on_int(fields.value());
                auto data = fields.data(fields.below(40), false);
                if (kind == 2) on_raw(data);
                for (auto& byte : data) byte = byte == 0 ? std::uint8_t{1} : byte;
                if (kind == 1) on_text(std::string{data.begin(), data.end()});
            }
        };
        each_field([&](std::int32_t v) { out.add_int(v); }, [&](std::string const& t) { out.add_string(t); },
                   [&](test::bytes const& b) { out.add_raw(b); });
        auto const written = out.finish();
        REQUIRE(written);
        unpacker in{*written};
        each_field([&](std::int32_t v) { CHECK(in.read_int() == v); },
                   [&](std::string const& t) { CHECK(in.read_string() == t); },
                   [&](test::bytes const& b) { CHECK(test::copy_of(in.read_raw(b.size())) == b); });
        CHECK(in.ok());
        CHECK(in.rest().empty());
    }
}
