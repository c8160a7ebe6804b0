// Every variant of the variable-length int codec does exactly what the plain one does.
#include "codec/codec_functions.hpp"
#include "random.hpp"

#include "teewire/varint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace teewire;

namespace {

using bytes = std::vector<std::uint8_t>;
using ints = std::vector<std::int32_t>;

// On the heap, `shift` elements after its start and not an element longer, so that a sanitizer sees every access too
// far.
template <class T>
class exact {
public:
    exact(std::size_t size, std::size_t shift)
        : memory_{std::make_unique<T[]>(shift + size)}, size_{size}, shift_{shift} {}
    exact(std::span<T const> from, std::size_t shift) : exact{from.size(), shift} {
        std::copy(from.begin(), from.end(), memory_.get() + shift);
    }
    [[nodiscard]] std::span<T> span() const { return {memory_.get() + shift_, size_}; }

private:
    std::unique_ptr<T[]> memory_;
    std::size_t size_, shift_;
};

// Memory for results, with enough after it to notice the widest store.
template <class T>
class guarded {
public:
    guarded(std::size_t size, std::size_t shift)
        : memory_(shift + size + margin, guard), size_{size}, shift_{shift} {}
    [[nodiscard]] std::span<T> span() { return std::span{memory_}.subspan(shift_, size_); }
    [[nodiscard]] std::span<T const> first(std::size_t count) const {
        return std::span{memory_}.subspan(shift_, count);
    }
    // Nothing is written before the memory given, nor after its first `count` elements.
    [[nodiscard]] bool untouched_but(std::size_t count) const {
        auto const is_guard = [](T value) { return value == guard; };
        auto const begin = memory_.begin() + static_cast<std::ptrdiff_t>(shift_);
        return std::all_of(memory_.begin(), begin, is_guard) &&
               std::all_of(begin + static_cast<std::ptrdiff_t>(count), memory_.end(), is_guard);
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static constexpr std::size_t margin = 128;
    static constexpr T guard = static_cast<T>(0x5a5a5a5b);
    std::vector<T> memory_;
    std::size_t size_, shift_;
};

template <class T>
failure error_of(result<T> const& r) {
    return r ? failure{} : r.error();
}

bool same(note_log const& a, note_log const& b) {
    for (std::size_t i = 0; i < note_count; ++i)
        if (a.entries[i].count != b.entries[i].count || a.entries[i].position != b.entries[i].position ||
            a.entries[i].origin != b.entries[i].origin)
            return false;
    return true;
}

template <class T>
bool same(std::span<T const> a, std::span<T const> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::vector<kernels::variant<kernels::codec_functions>> runnable() {
    std::vector<kernels::variant<kernels::codec_functions>> found;
    for (auto const& v : kernels::codec_variants())
        if (kernels::supported(v.required)) found.push_back(v);
    static constexpr kernels::codec_functions in_use = {encode_varints, decode_varints, huffman_encode,
                                                        huffman_decode, plain::huffman_decode_short};
    found.push_back({"public", kernels::required_by(cpu_level::scalar), in_use});
    return found;
}
auto const variants = runnable();

bytes encoded(std::span<std::int32_t const> values) {
    bytes out(varint_bound(values.size()));
    out.resize(*plain::encode_varints(values, out));
    return out;
}

// `run` and the public function, compared with the plain variant.
void compare_encode(kernels::variant<kernels::codec_functions> const& v, std::span<std::int32_t const> values,
                    std::size_t room, std::size_t shift) {
    exact<std::int32_t> const in{values, shift % 16};
    guarded<std::uint8_t> expected{room, shift % 64};
    guarded<std::uint8_t> out{room, shift % 64};
    auto const right = plain::encode_varints(values, expected.span());
    auto const got = v.functions.encode_varints(in.span(), out.span());
    CAPTURE(std::string{v.name});
    CAPTURE(values.size());
    CAPTURE(room);
    REQUIRE(error_of(got) == error_of(right));
    std::size_t const done = right ? *right : varint_size(values.first(right.error().position));
    if (right) REQUIRE(*got == *right);
    REQUIRE(same(out.first(done), expected.first(done)));
    REQUIRE(out.untouched_but(right ? done : room));
}

void compare_decode(kernels::variant<kernels::codec_functions> const& v, std::span<std::uint8_t const> coded,
                    std::size_t room, std::size_t shift, decoding mode) {
    exact<std::uint8_t> const in{coded, shift % 64};
    guarded<std::int32_t> expected{room, shift % 16};
    guarded<std::int32_t> out{room, shift % 16};
    note_log right_notes, notes;
    right_notes.origin = notes.origin = 1000;
    auto const right = plain::decode_varints(coded, expected.span(), mode, &right_notes);
    auto const got = v.functions.decode_varints(in.span(), out.span(), mode, &notes);
    CAPTURE(std::string{v.name});
    CAPTURE(coded.size());
    CAPTURE(room);
    REQUIRE(error_of(got) == error_of(right));
    REQUIRE(same(notes, right_notes));
    std::size_t done = 0;
    if (right) {
        done = *right;
        REQUIRE(*got == done);
    } else { // the values before the offending one
        ints before(room);
        done = *plain::decode_varints(coded.first(right.error().position), before, decoding::lenient, nullptr);
    }
    REQUIRE(same(out.first(done), expected.first(done)));
    REQUIRE(out.untouched_but(right ? done : room));
    REQUIRE(error_of(v.functions.decode_varints(in.span(), out.span(), mode, nullptr)) == error_of(right));
}

void compare_encode(std::span<std::int32_t const> values, std::size_t room, std::size_t shift) {
    for (auto const& v : variants) compare_encode(v, values, room, shift);
}

void compare_decode(std::span<std::uint8_t const> coded, std::size_t room, std::size_t shift) {
    for (decoding const mode : {decoding::lenient, decoding::strict}) {
        for (auto const& v : variants) compare_decode(v, coded, room, shift, mode);
    }
}

std::int32_t value_of_size(test::random& random, std::size_t size) {
    static constexpr int bits[] = {0, 6, 13, 20, 27, 31};
    std::uint32_t const low = size == 1 ? 0 : 1U << bits[size - 1];
    auto const magnitude = static_cast<std::int32_t>(low + random.next() % ((1U << bits[size]) - low));
    return random.chance(50) ? magnitude : ~magnitude;
}

// `percent` of the values take more than a byte, up to `longest`.
ints values_of(test::random& random, std::size_t count, unsigned percent, std::size_t longest) {
    ints values(count);
    for (auto& value : values)
        value = value_of_size(random, longest > 1 && random.chance(percent) ? 2 + random.below(longest - 1) : 1);
    return values;
}

template <class Use>
void for_each_mix(test::random& random, std::size_t count, Use&& use) {
    for (unsigned const percent : {0U, 3U, 12U, 50U, 100U})
        for (std::size_t longest = 2; longest <= max_varint_bytes; ++longest)
            use(values_of(random, count, percent, longest));
}

// Over-long and dirty forms, and a legal one of five bytes.
bytes const odd_forms[] = {{0x80, 0},
                           {0xc0, 0},
                           {0xff, 0x80, 0},
                           {0x85, 0x80, 0x80, 0},
                           {0x81, 0x82, 0x83, 0x84, 0},
                           {0x80, 0x80, 0x80, 0x80, 0x10},
                           {0xff, 0xff, 0xff, 0xff, 0x7f},
                           {0xbf, 0xff, 0xff, 0xff, 0x80},
                           {0xff, 0xff, 0xff, 0xff, 0xff},
                           {0x80, 0x80, 0x80, 0x80, 0xf0},
                           {0xff, 0xff, 0xff, 0xff, 0x0f}};

bytes joined(bytes a, bytes const& b, bytes const& c = {}) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
}

} // namespace

TEST_CASE("encoding: every length and mix of sizes") {
    test::random random{1};
    for (std::size_t count = 0; count <= 200; ++count)
        for_each_mix(random, count, [&](ints const& values) {
            compare_encode(values, varint_bound(count), count);
            compare_encode(values, varint_size(values), count);
        });
}

TEST_CASE("encoding: every boundary value in every place") {
    ints boundaries{0, -1, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
    for (unsigned bit = 0; bit < 31; ++bit)
        for (std::int32_t const near : {-1, 0, 1}) {
            auto const m = static_cast<std::int32_t>((1U << bit) + static_cast<std::uint32_t>(near));
            boundaries.push_back(m);
            boundaries.push_back(~m);
        }
    for (std::int32_t const boundary : boundaries)
        for (std::size_t at = 0; at < 40; ++at) {
            ints values(120, 1);
            values[at] = boundary;
            compare_encode(values, varint_bound(values.size()), at);
            compare_encode(std::span{values}.first(at + 1), varint_bound(at + 1), at);
        }
}

TEST_CASE("encoding: every alignment") {
    test::random random{2};
    for (std::size_t shift = 0; shift < 64; ++shift) compare_encode(values_of(random, 150, 20, 5), 750, shift);
}

TEST_CASE("encoding: every output size") {
    test::random random{3};
    for (std::size_t const count : {1U, 2U, 7U, 16U, 17U, 40U, 100U, 130U})
        for_each_mix(random, count, [&](ints const& values) {
            std::size_t const needed = varint_size(values);
            for (std::size_t room = 0; room <= needed + 1; ++room) compare_encode(values, room, room);
        });
}

TEST_CASE("encoding: long runs") {
    test::random random{4};
    for_each_mix(random, 5000, [&](ints const& values) {
        std::size_t const needed = varint_size(values);
        for (std::size_t const room : {needed * 2, needed + 1, needed, needed - 1, needed / 2})
            compare_encode(values, room, 0);
    });
}

TEST_CASE("decoding: every length and mix of sizes") {
    test::random random{5};
    for (std::size_t count = 0; count <= 200; ++count)
        for_each_mix(random, count, [&](ints const& values) {
            bytes const coded = encoded(values);
            compare_decode(coded, count, count);
            compare_decode(coded, count + 100, count);
            ints decoded(count);
            REQUIRE(*decode_varints(coded, decoded) == count);
            REQUIRE(decoded == values);
        });
}

TEST_CASE("decoding: every alignment") {
    test::random random{6};
    for (std::size_t shift = 0; shift < 64; ++shift)
        compare_decode(encoded(values_of(random, 150, 20, 5)), 200, shift);
}

TEST_CASE("decoding: every end of the input") {
    test::random random{7};
    for_each_mix(random, 130, [&](ints const& values) {
        bytes const coded = encoded(values);
        for (std::size_t size = 0; size < coded.size(); ++size)
            compare_decode(std::span{coded}.first(size), 130, size);
    });
}

TEST_CASE("decoding: every output size") {
    test::random random{8};
    for_each_mix(random, 170, [&](ints const& values) {
        bytes const coded = encoded(values);
        for (std::size_t room = 0; room <= values.size() + 1; ++room) compare_decode(coded, room, room);
    });
}

TEST_CASE("decoding: every odd form in every place, whole and cut off") {
    for (bytes const& odd : odd_forms)
        for (std::size_t before = 0; before <= 140; ++before)
            for (std::size_t const behind : {0U, 1U, 5U, 90U}) {
                bytes const coded = joined(bytes(before, 0x01), odd, bytes(behind, 0x41));
                compare_decode(coded, 256, before);
                compare_decode(coded, before, before);
                if (behind != 0) continue;
                for (std::size_t cut = 1; cut < odd.size(); ++cut)
                    compare_decode(std::span{coded}.first(coded.size() - cut), 256, before);
            }
}

TEST_CASE("decoding: odd forms among others") {
    test::random random{9};
    for (unsigned round = 0; round < 3000; ++round) {
        bytes coded;
        for (std::size_t parts = random.below(12); parts != 0; --parts) {
            std::size_t const count = random.below(60);
            coded = joined(coded, encoded(values_of(random, count, 10, 5)));
            coded = joined(coded, odd_forms[random.below(std::size(odd_forms))]);
        }
        compare_decode(coded, random.chance(80) ? coded.size() : random.below(coded.size() + 1), round);
    }
}

TEST_CASE("decoding: any bytes") {
    test::random random{10};
    for (unsigned round = 0; round < 5000; ++round) {
        bytes coded(random.below(400));
        // from all first bytes to none, and with or without zeros
        auto const percent = static_cast<unsigned>(random.below(101));
        bool const zeros = random.chance(50);
        for (auto& byte : coded) {
            byte = random.byte() & 0x7f;
            if (byte == 0 && !zeros) byte = 1;
            if (random.chance(percent)) byte |= 0x80;
        }
        compare_decode(coded, random.chance(80) ? coded.size() : random.below(coded.size() + 1), round);
    }
}

TEST_CASE("decoding: long runs") {
    test::random random{11};
    for_each_mix(random, 5000, [&](ints const& values) {
        bytes const coded = encoded(values);
        for (std::size_t const room : {values.size() * 2, values.size(), values.size() - 1, values.size() / 2})
            compare_decode(coded, room, 0);
    });
}

TEST_CASE("nothing at all") {
    for (auto const& v : variants) {
        CHECK(*v.functions.encode_varints({}, {}) == 0);
        CHECK(*v.functions.decode_varints({}, {}, decoding::strict, nullptr) == 0);
    }
}
