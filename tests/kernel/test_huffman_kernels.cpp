// Every variant of the Huffman codec does exactly what the plain one does.
#include "codec/codec_functions.hpp"
#include "codec/huffman_table.hpp"

#include "teewire/huffman.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

using bytes = std::vector<std::uint8_t>;

struct random_source {
    std::uint64_t state = 1;
    std::uint64_t next() noexcept {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return state >> 33;
    }
    std::size_t below(std::size_t bound) noexcept { return next() % bound; }
    std::uint8_t byte() noexcept { return static_cast<std::uint8_t>(next()); }
};

// On the heap and not a byte longer, so that a sanitizer sees every read too far.
struct exact_copy {
    explicit exact_copy(std::span<std::uint8_t const> from)
        : memory{std::make_unique<std::uint8_t[]>(from.size())}, size{from.size()} {
        std::copy(from.begin(), from.end(), memory.get());
    }
    std::span<std::uint8_t const> span() const { return {memory.get(), size}; }
    std::unique_ptr<std::uint8_t[]> memory;
    std::size_t size;
};

struct outcome {
    failure error;
    bytes out;
    note_log::entry note;
    bool intact = true;

    friend bool operator==(outcome const& a, outcome const& b) {
        return a.error == b.error && a.out == b.out && a.note.count == b.note.count &&
               a.note.position == b.note.position && a.intact == b.intact;
    }
};

template <class Run>
outcome run_guarded(std::size_t room, Run run) {
    constexpr std::size_t guard = 64;
    bytes memory(guard + room + guard, 0xa5);
    auto const span = std::span{memory}.subspan(guard, room);
    result<std::size_t> const size = run(span);
    outcome o;
    if (size) {
        o.intact = *size <= room;
        if (o.intact) o.out.assign(span.begin(), span.begin() + static_cast<std::ptrdiff_t>(*size));
    } else {
        o.error = size.error();
    }
    for (std::size_t i = 0; i < guard; ++i)
        o.intact = o.intact && memory[i] == 0xa5 && memory[guard + room + i] == 0xa5;
    return o;
}

outcome encode(kernels::huffman_encode_fn* run, std::span<std::uint8_t const> input, std::size_t room,
               huffman_end ending) {
    return run_guarded(room, [&](std::span<std::uint8_t> out) { return run(input, out, ending); });
}

outcome decode(kernels::huffman_decode_fn* run, std::span<std::uint8_t const> input, std::size_t room) {
    note_log notes;
    outcome o = run_guarded(room, [&](std::span<std::uint8_t> out) { return run(input, out, &notes); });
    o.note = notes[note::data_after_end];
    return o;
}

// Gives what plain gives.
outcome check_encoders(std::span<std::uint8_t const> input, std::size_t room, huffman_end ending) {
    exact_copy const copy{input};
    auto const variants = kernels::codec_variants();
    outcome const expected = encode(variants.front().functions.huffman_encode, copy.span(), room, ending);
    CHECK(expected.intact);
    for (auto const& v : variants.subspan(1)) {
        if (!kernels::supported(v.required)) continue;
        bool const same = encode(v.functions.huffman_encode, copy.span(), room, ending) == expected;
        if (!same) FAIL_CHECK(v.name, ": ", input.size(), " bytes, room for ", room);
    }
    return expected;
}

outcome check_decoders(std::span<std::uint8_t const> input, std::size_t room) {
    exact_copy const copy{input};
    auto const variants = kernels::codec_variants();
    outcome const expected = decode(variants.front().functions.huffman_decode, copy.span(), room);
    CHECK(expected.intact);
    for (auto const& v : variants.subspan(1)) {
        if (!kernels::supported(v.required)) continue;
        bool const same = decode(v.functions.huffman_decode, copy.span(), room) == expected;
        if (!same) FAIL_CHECK(v.name, ": ", input.size(), " bytes, room for ", room);
    }
    return expected;
}

bytes encoded(bytes const& input, huffman_end ending = huffman_end::exact) {
    outcome const o = check_encoders(input, huffman_bound(input.size()), ending);
    CHECK(o.error == failure{});
    CHECK(o.out.size() == huffman_size(input, ending));
    return o.out;
}

// Encodes and decodes with ample and with exact room, with both endings.
void check_both_ways(bytes const& input) {
    for (auto const ending : {huffman_end::exact, huffman_end::padded}) {
        bytes const coded = encoded(input, ending);
        CHECK(check_encoders(input, coded.size(), ending).out == coded);
        CHECK(check_encoders(input, coded.size() - 1, ending).error.code == errc::output_full);
        for (std::size_t const room : {input.size() + 1000, input.size()}) {
            outcome const o = check_decoders(coded, room);
            CHECK(o.out == input);
            CHECK(o.note.count == 0);
        }
        if (!input.empty()) CHECK(check_decoders(coded, input.size() - 1).error.code == errc::output_full);
    }
}

// Several inputs at once: each result equals that of the input by itself. `behind`: bytes that may be read after each.
void check_short(std::vector<bytes> const& inputs, std::size_t behind) {
    using kernels::huffman_piece;
    constexpr std::size_t guard = 64;
    std::vector<exact_copy> copies;
    for (bytes input : inputs) {
        input.resize(input.size() + behind, 0x5a);
        copies.emplace_back(input);
    }
    auto const variants = kernels::codec_variants();
    std::vector<bytes> expected;
    for (auto const& v : variants) {
        if (!kernels::supported(v.required)) continue;
        CAPTURE(v.name);
        std::vector<bytes> out(inputs.size(), bytes(huffman_piece::out_bytes + guard, 0xa5));
        std::vector<huffman_piece> pieces;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            pieces.push_back({copies[i].span().first(inputs[i].size()), behind, out[i].data()});
        v.functions.huffman_decode_short(pieces);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            note_log notes;
            bytes alone(huffman_piece::out_bytes);
            auto const size = plain::huffman_decode(inputs[i], alone, &notes);
            bool intact = true;
            for (std::size_t k = 0; k < guard; ++k) intact &= out[i][huffman_piece::out_bytes + k] == 0xa5;
            CHECK(intact);
            REQUIRE(size.has_value() == (pieces[i].used != 0));
            CHECK(pieces[i].used <= inputs[i].size());
            if (!size) continue;
            REQUIRE(*size == pieces[i].size);
            alone.resize(*size);
            out[i].resize(*size);
            CHECK(out[i] == alone);
            // Cut off before it, the data has no end symbol.
            CHECK(plain::huffman_decode(std::span{inputs[i]}.first(pieces[i].used - 1), alone, nullptr)
                      .error()
                      .code == errc::truncated);
        }
    }
}

// The shapes of inputs: a byte for each position.
enum class kind { zeros, delta, anything, long_codes, longest_code, zeros_and_longest, runs, count };

bytes make(kind k, std::size_t size, random_source& random) {
    bytes made(size);
    std::uint8_t last = 0;
    for (std::uint8_t& b : made) {
        switch (k) {
        case kind::zeros: b = 0; break;
        case kind::delta: b = random.below(3) != 0 ? 0 : static_cast<std::uint8_t>(random.below(64)); break;
        case kind::anything: b = random.byte(); break;
        case kind::long_codes: b = static_cast<std::uint8_t>(0x60 + random.below(32)); break;
        case kind::longest_code: b = 0x77; break;
        case kind::zeros_and_longest: b = random.below(2) != 0 ? 0x77 : 0; break;
        default:
            if (random.below(20) == 0) last = random.byte();
            b = last;
        }
    }
    return made;
}

template <class Use>
void for_all_kinds(Use use) {
    for (int k = 0; k < static_cast<int>(kind::count); ++k) {
        CAPTURE(k);
        use(static_cast<kind>(k));
    }
}

} // namespace

TEST_CASE("lists of variants begin with the plain ones") {
    CHECK(kernels::codec_variants().front().name == "plain");
    CHECK(kernels::codec_variants().size() > 1);
}

TEST_CASE("every byte alone and repeated") {
    for (unsigned b = 0; b < 256; ++b)
        for (std::size_t const size :
             {1U, 2U, 3U, 4U, 5U, 7U, 8U, 31U, 32U, 63U, 64U, 65U, 127U, 128U, 129U, 1000U})
            check_both_ways(bytes(size, static_cast<std::uint8_t>(b)));
}

TEST_CASE("all small sizes, and large ones") {
    random_source random;
    for_all_kinds([&](kind k) {
        for (std::size_t size = 0; size <= 300; ++size) check_both_ways(make(k, size, random));
        for (std::size_t const size : {900U, 1400U, 2500U, 5000U, 20000U}) check_both_ways(make(k, size, random));
    });
}

TEST_CASE("one long code in every place among zeros") {
    for (std::size_t at = 0; at < 200; ++at) {
        bytes input(200, 0);
        input[at] = 0x77;
        check_both_ways(input);
    }
}

TEST_CASE("looks that take all their bits, and the longest code behind them") {
    // The most that decoders have to keep track of, wherever they begin in the middle.
    constexpr unsigned look_bits = 12;
    bytes whole_looks;
    for (unsigned b = 0; b < 256; ++b)
        if (huffman::table.codes[b].length == look_bits) whole_looks.push_back(static_cast<std::uint8_t>(b));
    REQUIRE(!whole_looks.empty());
    for (std::size_t const looks : {3U, 4U})
        for (std::size_t size = 200; size < 700; ++size) {
            bytes input;
            for (std::size_t i = 0; i < size; ++i)
                input.push_back(i % (looks + 1) == looks ? 0x77 : whole_looks[i % whole_looks.size()]);
            check_both_ways(input);
        }
}

TEST_CASE("codes that fill words of encoders to the last bit, and one bit more") {
    std::array<std::vector<std::uint8_t>, huffman::max_code_bits + 1> by_length;
    for (unsigned b = 0; b < 256; ++b)
        by_length[huffman::table.codes[b].length].push_back(static_cast<std::uint8_t>(b));
    random_source random;
    // Appends so many codes of so many bits together, if there are any.
    auto const add = [&](bytes& to, std::size_t codes, std::size_t bits, auto& self) {
        if (codes == 0) return bits == 0;
        std::size_t const first = random.below(by_length.size());
        for (std::size_t i = 0; i < by_length.size(); ++i) {
            std::size_t const length = (first + i) % by_length.size();
            auto const& some = by_length[length];
            if (some.empty() || length + (codes - 1) > bits || length + (codes - 1) * huffman::max_code_bits < bits)
                continue;
            to.push_back(some[random.below(some.size())]);
            if (self(to, codes - 1, bits - length, self)) return true;
            to.pop_back();
        }
        return false;
    };
    for (std::size_t const codes : {3U, 4U, 8U})
        for (std::size_t bits = 40; bits <= std::min<std::size_t>(66, codes * huffman::max_code_bits); ++bits)
            for (std::size_t before = 0; before < 16; ++before)
                for (std::size_t const zeros : {0U, 8U, 40U}) {
                    bytes input(zeros, 0);
                    REQUIRE(add(input, 4, 20 + before, add));
                    input.resize(input.size() + 4, 0);
                    for (int i = 0; i < 3; ++i) REQUIRE(add(input, codes, bits, add));
                    check_both_ways(input);
                }
}

TEST_CASE("any room for the output") {
    random_source random;
    for_all_kinds([&](kind k) {
        for (std::size_t const size : {0U, 1U, 3U, 4U, 8U, 33U, 63U, 64U, 65U, 100U, 200U, 450U}) {
            bytes const input = make(k, size, random);
            for (auto const ending : {huffman_end::exact, huffman_end::padded}) {
                bytes const coded = encoded(input, ending);
                for (std::size_t room = 0; room <= coded.size() + 1; ++room)
                    CHECK((check_encoders(input, room, ending).error.code == errc::ok) == (room >= coded.size()));
                for (std::size_t room = 0; room <= input.size() + 1; ++room)
                    CHECK((check_decoders(coded, room).error.code == errc::ok) == (room >= input.size()));
            }
        }
        bytes const input = make(k, 4000, random);
        bytes const coded = encoded(input);
        for (int i = 0; i < 200; ++i) {
            (void)check_encoders(input, random.below(coded.size() + 200), huffman_end::exact);
            (void)check_decoders(coded, random.below(input.size() + 200));
        }
    });
}

TEST_CASE("all truncations") {
    random_source random;
    for_all_kinds([&](kind k) {
        for (std::size_t const size : {1U, 10U, 100U, 500U}) {
            bytes const input = make(k, size, random);
            bytes const coded = encoded(input);
            for (std::size_t n = 0; n < coded.size(); ++n) {
                auto const cut = std::span{coded}.first(n);
                CHECK(check_decoders(cut, input.size() + 8 * 500).error == failure{errc::truncated, n});
                (void)check_decoders(cut, size / 2);
            }
        }
        bytes const coded = encoded(make(k, 5000, random));
        for (int i = 0; i < 100; ++i)
            (void)check_decoders(std::span{coded}.first(random.below(coded.size())), 40000);
    });
}

TEST_CASE("data behind the end symbol") {
    random_source random;
    for_all_kinds([&](kind k) {
        for (std::size_t const size : {0U, 1U, 7U, 60U, 500U, 3000U}) {
            bytes const input = make(k, size, random);
            bytes const coded = encoded(input);
            for (std::size_t const more : {1U, 2U, 7U, 8U, 9U, 100U, 300U, 5000U})
                for (int filling = 0; filling < 3; ++filling) {
                    bytes longer = coded;
                    for (std::size_t i = 0; i < more; ++i)
                        longer.push_back(filling == 2 ? random.byte() : filling == 1 ? 0xff : 0);
                    outcome const o = check_decoders(longer, size + random.below(100));
                    CHECK(o.out == input);
                    bool const padding_alone = more == 1 && longer.back() == 0;
                    CHECK(o.note.count == (padding_alone ? 0 : 1));
                }
        }
    });
}

TEST_CASE("an end symbol in the middle") {
    random_source random;
    for_all_kinds([&](kind k) {
        for (int i = 0; i < 40; ++i) {
            bytes coded = encoded(make(k, random.below(3000), random));
            bytes const second = encoded(make(k, random.below(3000), random));
            coded.insert(coded.end(), second.begin(), second.end());
            (void)check_decoders(coded, 8000);
        }
    });
}

TEST_CASE("several short inputs at once") {
    random_source random;
    constexpr std::size_t most = kernels::huffman_piece::max_bytes;
    for (int i = 0; i < 3000; ++i) {
        std::vector<bytes> inputs(random.below(11));
        for (bytes& input : inputs) {
            if (random.below(8) == 0) {
                input.resize(random.below(most + 1));
                for (std::uint8_t& b : input) b = random.byte();
                continue;
            }
            auto const k = static_cast<kind>(random.below(static_cast<std::size_t>(kind::count)));
            input.resize(huffman_bound(600));
            input.resize(*plain::huffman_encode(make(k, random.below(300), random), input, huffman_end::exact));
            // Cut off, damaged, or with more after the end.
            if (random.below(6) == 0) input.resize(random.below(input.size()));
            if (random.below(6) == 0 && !input.empty()) input[random.below(input.size())] ^= 1U << random.below(8);
            if (random.below(6) == 0) input.resize(input.size() + random.below(4), random.byte());
            if (input.size() > most) input.resize(most);
        }
        check_short(inputs, random.below(3) == 0 ? 1000 : random.below(40));
    }
    // The most that one can give: symbols of one bit, without an end.
    check_short(std::vector<bytes>(5, bytes(most, 0xff)), 0);
    check_short(std::vector<bytes>(5, bytes(most, 0)), 100);
}

TEST_CASE("garbage and damaged codes") {
    random_source random;
    for (int i = 0; i < 2000; ++i) {
        bytes garbage(random.below(i % 10 == 0 ? 4000 : 200));
        for (std::uint8_t& b : garbage) b = random.byte();
        (void)check_decoders(garbage, garbage.size() * 8);
        (void)check_decoders(garbage, random.below(garbage.size() * 2 + 1));
    }
    for_all_kinds([&](kind k) {
        for (int i = 0; i < 100; ++i) {
            bytes coded = encoded(make(k, 50 + random.below(2500), random));
            for (std::size_t n = random.below(5) + 1; n > 0; --n)
                coded[random.below(coded.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
            (void)check_decoders(coded, coded.size() * 8);
        }
    });
    // The same bits over and over, in which a decoder that starts inside a code may never find a beginning.
    for (unsigned pattern = 0; pattern < 256; ++pattern)
        for (std::size_t const size : {20U, 200U, 1700U}) {
            bytes const repeated(size, static_cast<std::uint8_t>(pattern));
            (void)check_decoders(repeated, size * 8);
            (void)check_decoders(repeated, size);
        }
}

TEST_CASE("without notes") {
    bytes coded = encoded({1, 2, 3});
    coded.insert(coded.end(), 20, 0xff);
    for (auto const& v : kernels::codec_variants()) {
        if (!kernels::supported(v.required)) continue;
        bytes out(3);
        result<std::size_t> const size = v.functions.huffman_decode(coded, out, nullptr);
        CHECK(size.has_value());
        CHECK(out == bytes{1, 2, 3});
    }
}
