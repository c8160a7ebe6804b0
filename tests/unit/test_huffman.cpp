#include "check.hpp"
#include "codec/codec_functions.hpp"
#include "random.hpp"
#include "records.hpp"

#include "teewire/huffman.hpp"

#include <map>
#include <numeric>

using namespace teewire;
using test::error_of;

namespace {

constexpr huffman_end endings[] = {huffman_end::padded, huffman_end::exact};

using encode_function = result<std::size_t> (*)(std::span<std::uint8_t const>, std::span<std::uint8_t>,
                                                huffman_end) noexcept;
using decode_function = result<std::size_t> (*)(std::span<std::uint8_t const>, std::span<std::uint8_t>,
                                                note_log*) noexcept;
constexpr encode_function encoders[] = {huffman_encode, plain::huffman_encode};
constexpr decode_function decoders[] = {huffman_decode, plain::huffman_decode};

test::bytes encode(test::bytes const& input, huffman_end ending, encode_function encoder = huffman_encode) {
    test::bytes out(huffman_bound(input.size()));
    auto const size = encoder(input, out, ending);
    REQUIRE(size);
    CHECK(*size == huffman_size(input, ending));
    out.resize(*size);
    return out;
}

// Lowest bit of each byte first.
std::string bits_of(test::bytes const& data) {
    std::string bits;
    for (auto const byte : data)
        for (unsigned b = 0; b < 8; ++b) bits += (byte >> b & 1) != 0 ? '1' : '0';
    return bits;
}

struct decoded {
    failure error;
    test::bytes out;
    note_log::entry note;
    friend bool operator==(decoded const& a, decoded const& b) {
        return a.error == b.error && a.out == b.out && a.note.count == b.note.count &&
               a.note.position == b.note.position;
    }
};

decoded decode(decode_function decoder, std::span<std::uint8_t const> input, std::size_t room) {
    test::guarded<std::uint8_t> memory{room};
    note_log notes;
    auto const size = decoder(input, memory.span(), &notes);
    CHECK(memory.intact());
    return {error_of(size), size ? test::copy_of(memory.span().first(*size)) : test::bytes{},
            notes[note::data_after_end]};
}

// Returns what both agree on.
decoded check_twins(std::span<std::uint8_t const> input, std::size_t room) {
    auto const fast = decode(huffman_decode, input, room);
    auto const slow = decode(plain::huffman_decode, input, room);
    CAPTURE(test::hex(input));
    CAPTURE(room);
    CHECK(fast.error == slow.error);
    CHECK(fast == slow);
    return fast;
}

void check_text(test::record const& r) {
    auto const input = test::from_hex(r.get("plain"));
    for (huffman_end const ending : endings) {
        std::string const& expected = r.get(ending == huffman_end::exact ? "exact" : "padded");
        for (auto const encoder : encoders) CHECK(test::hex(encode(input, ending, encoder)) == expected);
        for (auto const decoder : decoders) {
            auto const back = decode(decoder, test::from_hex(expected), input.size());
            CHECK(back.error == failure{});
            CHECK(test::hex(back.out) == r.get("plain"));
            CHECK(back.note.count == 0);
        }
    }
}

} // namespace

TEST_CASE("huffman: golden vectors") {
    std::map<std::string, int> seen;
    for (auto const& r : test::read_records("huffman.txt")) {
        ++seen[r.kind()];
        CAPTURE(r.title());
        if (r.kind() == "text") {
            check_text(r);
        } else if (r.kind() == "decode" || r.kind() == "broken") {
            auto const coded = test::from_hex(r.get("coded"));
            auto const found = check_twins(coded, 100);
            if (r.kind() == "broken") {
                CHECK(found.error == failure{errc::truncated, coded.size()});
                continue;
            }
            CHECK(found.error == failure{});
            CHECK(test::hex(found.out) == r.get("plain"));
            CHECK(found.note.count == (r.has("note") ? 1 : 0));
            if (r.has("note")) CHECK(found.note.position == test::number<std::size_t>(r.get("note")));
        }
    }
    CHECK(seen["text"] == 13);
    CHECK(seen["decode"] == 4);
    CHECK(seen["broken"] == 4);
    CHECK(seen["code"] == 257);
}

TEST_CASE("huffman: the code of every symbol") {
    std::map<std::string, std::string> codes;
    for (auto const& r : test::read_records("huffman.txt"))
        if (r.kind() == "code") codes[r.title()] = r.get("bits");
    REQUIRE(codes.size() == 257);
    CHECK(bits_of(encode({}, huffman_end::exact)) == codes["EOF"] + "0");
    double kraft = 0;
    for (auto const& [symbol, code] : codes) {
        kraft += 1.0 / (1U << code.size());
        if (symbol == "EOF") continue;
        test::bytes const input{test::number<std::uint8_t>(symbol, 16)};
        std::string expected = code + codes["EOF"];
        expected.resize((expected.size() + 7) / 8 * 8, '0');
        CHECK(bits_of(encode(input, huffman_end::exact)) == expected);
    }
    CHECK(kraft == 1.0);
}

TEST_CASE("huffman: all byte values in order") {
    test::bytes input(256);
    std::iota(input.begin(), input.end(), std::uint8_t{0});
    for (auto const encoder : encoders) {
        auto const coded = encode(input, huffman_end::exact, encoder);
        CHECK(coded.size() == 341);
        CHECK(test::hex(std::span{coded}.first(16)) == "51 58 78 76 1b 37 c2 d4 fb cb 1d 7a 77 6a 53 5c");
        CHECK(test::hex(std::span{coded}.last(7)) == "4a 9d 1a 2c a9 b8 01");
        CHECK(check_twins(coded, 256).out == input);
    }
}

TEST_CASE("huffman: the bound holds for the longest codes") {
    CHECK(huffman_bound(0) == 2);
    for (std::size_t size : {0U, 1U, 7U, 8U, 100U}) {
        test::bytes const input(size, 0x77); // 15 bits
        for (huffman_end const ending : endings) {
            std::size_t const bits = 15 * (size + 1);
            std::size_t const expected = (bits + 7) / 8 + (bits % 8 == 0 && ending == huffman_end::padded);
            CHECK(huffman_size(input, ending) == expected);
            CHECK(expected <= huffman_bound(size));
            CHECK(encode(input, ending).size() == expected);
        }
    }
}

TEST_CASE("huffman: random data comes back, and both encoders agree") {
    test::random rng{2};
    for (int round = 0; round < 300; ++round) {
        auto const input = rng.data(rng.below(300), round % 2 == 0);
        for (huffman_end const ending : endings) {
            auto const coded = encode(input, ending);
            CHECK(coded == encode(input, ending, plain::huffman_encode));
            CHECK(coded.size() <= huffman_bound(input.size()));
            auto const back = check_twins(coded, input.size());
            CHECK(back.error == failure{});
            CHECK(back.out == input);
            CHECK(back.note.count == 0);
        }
    }
}

TEST_CASE("huffman: every output size when encoding") {
    std::string const texts[] = {"", "00", "00 00", "00 ff", "68 65 6c 6c 6f", "f8 f8 f8 00 00 00 77 77"};
    for (auto const& text : texts) {
        auto const input = test::from_hex(text);
        for (huffman_end const ending : endings) {
            CAPTURE(text);
            test::check_output_sizes<std::uint8_t>(huffman_size(input, ending), [&](std::span<std::uint8_t> out) {
                auto const fast = huffman_encode(input, out, ending);
                test::bytes again(out.size());
                auto const slow = plain::huffman_encode(input, again, ending);
                CHECK(error_of(fast) == error_of(slow));
                return fast;
            });
        }
    }
}

TEST_CASE("huffman: output_full names the first byte whose code does not fit") {
    // bits: 00 takes 1, 77 takes 15, 68 takes 13
    struct {
        test::bytes input;
        std::size_t room;
        std::size_t position;
    } const cases[] = {
        {{}, 0, 0},           {{}, 1, 0},           {{0x00}, 0, 0},       {{0x00}, 1, 1},
        {{0x77, 0x00}, 1, 0}, {{0x77, 0x00}, 2, 2}, {{0x77, 0x68}, 2, 1}, {{0x77, 0x68}, 3, 1},
        {{0x77, 0x68}, 4, 2}, {{0, 0, 0, 0}, 0, 0}, {{0, 0, 0, 0}, 1, 4}, {{0, 0x68, 0, 0}, 1, 1},
    };
    for (auto const& c : cases) {
        for (auto const encoder : encoders) {
            test::bytes out(c.room);
            CAPTURE(test::hex(c.input));
            CAPTURE(c.room);
            CHECK(error_of(encoder(c.input, out, huffman_end::exact)) == failure{errc::output_full, c.position});
        }
    }
    // Only the padding byte does not fit.
    test::bytes out(2);
    for (auto const encoder : encoders) {
        CHECK(error_of(encoder(test::bytes{0}, out, huffman_end::padded)) == failure{errc::output_full, 1});
        CHECK(error_of(encoder(test::bytes{0}, out, huffman_end::exact)) == failure{});
    }
}

TEST_CASE("huffman: every output size when decoding") {
    test::random rng{3};
    for (int round = 0; round < 20; ++round) {
        auto const input = rng.data(rng.below(40), round % 2 == 0);
        auto const coded = encode(input, huffman_end::padded);
        for (std::size_t room = 0; room <= input.size() + 1; ++room) {
            auto const found = check_twins(coded, room);
            CHECK(found.error.code == (room < input.size() ? errc::output_full : errc::ok));
            if (room >= input.size()) CHECK(found.out == input);
            // The output has the bytes that were decoded before it was full.
            test::bytes begin(std::min(room, input.size()));
            static_cast<void>(huffman_decode(coded, begin));
            CHECK(std::equal(begin.begin(), begin.end(), input.begin()));
        }
    }
    // 00 takes one bit, so that the ninth zero is in the second byte
    test::bytes const zeros = test::from_hex("ff 15 37");
    CHECK(decode(huffman_decode, zeros, 7).error == failure{errc::output_full, 1});
    CHECK(decode(huffman_decode, zeros, 8).error == failure{errc::output_full, 2});
    CHECK(decode(huffman_decode, zeros, 9).error == failure{});
}

TEST_CASE("huffman: input cut anywhere is truncated, whatever follows in memory") {
    test::random rng{4};
    for (int round = 0; round < 40; ++round) {
        auto const input = rng.data(rng.below(60), round % 2 == 0);
        auto const coded = encode(input, huffman_end::exact);
        for (std::size_t cut = 0; cut < coded.size(); ++cut) {
            auto const found = check_twins(std::span{coded}.first(cut), input.size());
            CHECK(found.error == failure{errc::truncated, cut});
        }
    }
}

TEST_CASE("huffman: both decoders agree on noise") {
    test::random rng{5};
    int errors[2] = {};
    for (int round = 0; round < 3000; ++round) {
        auto const noise = rng.data(rng.below(80), false);
        auto const found = check_twins(noise, rng.below(120));
        if (found.error.code == errc::truncated) ++errors[0];
        if (found.error.code == errc::output_full) ++errors[1];
        CHECK(found.error.position <= noise.size());
    }
    CHECK(errors[0] > 100);
    CHECK(errors[1] > 100);
}

TEST_CASE("huffman: notes may be left out") {
    test::bytes const coded = test::from_hex("8a 1b ff ff ff");
    for (auto const decoder : decoders) {
        auto const size = decoder(coded, {}, nullptr);
        REQUIRE(size);
        CHECK(*size == 0);
    }
}
