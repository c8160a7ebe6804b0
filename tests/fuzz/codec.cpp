// Variable-length ints and the Huffman code: fast against plain, both ways, in memory of any size. The first byte
// chooses, the second one how much room there is.
#include "fuzz.hpp"

#include "codec/codec_functions.hpp"

#include <teewire/varint.hpp>

#include <array>
#include <vector>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

constexpr huffman_end endings[] = {huffman_end::exact, huffman_end::padded};

// Ample room, just enough, or so many elements less.
std::size_t room(std::uint8_t choice, std::size_t ample, std::size_t needed) {
    if (choice == 0) return ample;
    std::size_t const missing = choice - 1U;
    return needed > missing ? needed - missing : 0;
}

template <class T>
struct outcome {
    explicit outcome(std::size_t size) : out{size} {}
    exact<T> out;
    std::size_t size = 0;
    failure error;
    note_log notes;
    [[nodiscard]] std::span<T const> written() const { return out.view().first(size); }
};

template <class T, class Run>
outcome<T> run(std::size_t size, Run call) {
    outcome<T> o{size};
    auto const written = call(o.out.span(), &o.notes);
    o.error = fuzz::error_of(written);
    if (written) o.size = *written;
    FUZZ_REQUIRE(o.size <= size);
    return o;
}

template <class T>
void require_equal(outcome<T> const& a, outcome<T> const& b) {
    FUZZ_REQUIRE(a.error == b.error);
    FUZZ_REQUIRE(same(a.written(), b.written()));
    FUZZ_REQUIRE(same(a.notes, b.notes));
}

// ---- variable-length ints ------------------------------------------------------------------------------------------

outcome<std::uint8_t> encode(kernels::encode_varints_fn* f, std::span<std::int32_t const> values,
                             std::size_t size) {
    return run<std::uint8_t>(size, [&](std::span<std::uint8_t> out, note_log*) { return f(values, out); });
}

void encode_ints(std::span<std::int32_t const> values, std::uint8_t choice) {
    std::size_t const needed = varint_size(values);
    auto const variants = kernels::codec_variants();
    std::size_t const size = room(choice, varint_bound(values.size()), needed);
    auto const plain = encode(variants.front().functions.encode_varints, values, size);
    for (auto const& v : variants)
        if (kernels::supported(v.required)) require_equal(encode(v.functions.encode_varints, values, size), plain);
    FUZZ_REQUIRE((plain.error.code == errc::ok) == (size >= needed));
    if (size < needed) {
        FUZZ_REQUIRE(plain.error.code == errc::output_full && plain.error.position < values.size());
        return;
    }
    FUZZ_REQUIRE(plain.size == needed);
    exact<std::uint8_t> const coded{plain.written()};
    auto const back = run<std::int32_t>(values.size(), [&](std::span<std::int32_t> out, note_log* notes) {
        return decode_varints(coded.view(), out, decoding::strict, notes);
    });
    FUZZ_REQUIRE(back.error.code == errc::ok && back.notes.empty());
    FUZZ_REQUIRE(same(back.written(), values));
}

void decode_ints(fuzz::bytes_view bytes, std::uint8_t choice) {
    // One by one first.
    std::vector<std::int32_t> values;
    std::size_t at = 0;
    while (at < bytes.size()) {
        auto const one = decode_varint(bytes.subspan(at));
        if (!one) {
            FUZZ_REQUIRE(one.error().code == errc::truncated);
            break;
        }
        values.push_back(one->value);
        at += one->size;
        FUZZ_REQUIRE(one->size <= max_varint_bytes && varint_size(one->value) <= one->size);
    }
    std::size_t const size = room(choice, bytes.size(), values.size());
    std::array<outcome<std::int32_t>, 2> both{outcome<std::int32_t>{0}, outcome<std::int32_t>{0}};
    for (decoding const mode : {decoding::strict, decoding::lenient}) {
        auto const variants = kernels::codec_variants();
        auto const decode = [&](kernels::decode_varints_fn* f, bool with_notes = true) {
            return run<std::int32_t>(size, [&](std::span<std::int32_t> out, note_log* notes) {
                return f(bytes, out, mode, with_notes ? notes : nullptr);
            });
        };
        auto plain = decode(variants.front().functions.decode_varints);
        for (auto const& v : variants) {
            if (!kernels::supported(v.required)) continue;
            require_equal(decode(v.functions.decode_varints), plain);
            auto const silent = decode(v.functions.decode_varints, false);
            FUZZ_REQUIRE(silent.error == plain.error && same(silent.written(), plain.written()));
        }
        both[static_cast<std::size_t>(mode)] = std::move(plain);
    }
    auto const& strict = both[static_cast<std::size_t>(decoding::strict)];
    auto const& lenient = both[static_cast<std::size_t>(decoding::lenient)];
    FUZZ_REQUIRE(lenient.error.code != errc::bad_varint);
    bool const odd = lenient.notes[note::overlong_varint].count + lenient.notes[note::dirty_varint].count > 0;
    if (lenient.error.code == errc::ok) {
        FUZZ_REQUIRE(at == bytes.size() && same<std::int32_t>(lenient.written(), values));
        FUZZ_REQUIRE((strict.error.code == errc::bad_varint) == odd);
    }
    if (strict.error.code == errc::ok) {
        FUZZ_REQUIRE(lenient.error.code == errc::ok && same(strict.written(), lenient.written()));
        // Strict decoding takes only one form.
        exact<std::uint8_t> again{bytes.size()};
        auto const coded = encode_varints(strict.written(), again.span());
        FUZZ_REQUIRE(coded && *coded == bytes.size() && same(again.view(), bytes));
    }
}

// ---- Huffman -------------------------------------------------------------------------------------------------------

void encode_bytes(fuzz::bytes_view bytes, std::uint8_t choice, huffman_end ending) {
    std::size_t const needed = huffman_size(bytes, ending);
    FUZZ_REQUIRE(needed <= huffman_bound(bytes.size()));
    std::size_t const size = room(choice, huffman_bound(bytes.size()), needed);
    auto const variants = kernels::codec_variants();
    auto const encode = [&](kernels::huffman_encode_fn* f) {
        return run<std::uint8_t>(size,
                                 [&](std::span<std::uint8_t> out, note_log*) { return f(bytes, out, ending); });
    };
    auto const plain = encode(variants.front().functions.huffman_encode);
    for (auto const& v : variants)
        if (kernels::supported(v.required)) require_equal(encode(v.functions.huffman_encode), plain);
    FUZZ_REQUIRE((plain.error.code == errc::ok) == (size >= needed));
    if (plain.error.code != errc::ok) {
        FUZZ_REQUIRE(plain.error.code == errc::output_full && plain.error.position <= bytes.size());
        return;
    }
    FUZZ_REQUIRE(plain.size == needed);
    exact<std::uint8_t> const coded{plain.written()};
    auto const back = run<std::uint8_t>(bytes.size(), [&](std::span<std::uint8_t> out, note_log* notes) {
        return huffman_decode(coded.view(), out, notes);
    });
    FUZZ_REQUIRE(back.error.code == errc::ok && back.notes.empty() && same(back.written(), bytes));
}

void decode_bytes(fuzz::bytes_view bytes, std::uint8_t choice) {
    auto const variants = kernels::codec_variants();
    auto const decode = [&](kernels::huffman_decode_fn* f, std::size_t size) {
        return run<std::uint8_t>(
            size, [&](std::span<std::uint8_t> out, note_log* notes) { return f(bytes, out, notes); });
    };
    std::size_t const ample = 8 * bytes.size() + 8; // a byte may be one bit
    auto const whole = decode(variants.front().functions.huffman_decode, ample);
    FUZZ_REQUIRE(whole.error.code != errc::output_full);
    std::size_t const size = room(choice, ample, whole.size);
    auto const plain = decode(variants.front().functions.huffman_decode, size);
    for (auto const& v : variants)
        if (kernels::supported(v.required)) require_equal(decode(v.functions.huffman_decode, size), plain);
    if (whole.error.code != errc::ok) return;
    FUZZ_REQUIRE((plain.error.code == errc::ok) == (size >= whole.size));
    for (huffman_end const ending : endings) encode_bytes(whole.written(), 0, ending);
}

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    std::uint8_t const what = in.byte();
    std::uint8_t const choice = in.byte();
    exact<std::uint8_t> const bytes{in.rest()};
    switch (what % 4) {
    case 0: decode_ints(bytes.view(), choice); break;
    case 1: {
        exact<std::int32_t> const values{bytes.view().size() / 4};
        for (auto& value : values.span()) value = in.integer();
        encode_ints(values.view(), choice);
        break;
    }
    case 2: decode_bytes(bytes.view(), choice); break;
    default: encode_bytes(bytes.view(), choice, endings[what / 4 % 2]); break;
    }
}

} // namespace

FUZZ_TARGET("codec", run_target)
