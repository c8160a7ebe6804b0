// Codes are joined in pairs, the pairs in fours, and so on: that way most of the work does not have to wait for what was
// written before.
#pragma once

#include "teewire/huffman.hpp"

#include "huffman_table.hpp"
#include "huffman_words.hpp"

namespace teewire::huffman {

struct bit_string {
    std::uint64_t bits; // first one lowest; zero above `length`
    unsigned length;
};

[[gnu::always_inline]] inline bit_string code_of(std::size_t symbol) noexcept {
    return {table.codes[symbol].bits, table.codes[symbol].length};
}

[[gnu::always_inline]] inline bit_string joined(bit_string first, bit_string second) noexcept {
    return {first.bits | second.bits << first.length, first.length + second.length};
}

struct written {
    std::size_t bits = 0;
    std::uint64_t pending = 0; // the last bits % 8 of them
};

// One store, and no branch on how many bytes are complete. At most 56 bits are added; `out` has room for 8 bytes.
[[gnu::always_inline]] inline void append(written& w, std::uint8_t* out, bit_string added) noexcept {
    unsigned const shift = w.bits & 7;
    std::uint64_t const word = w.pending | added.bits << shift;
    store64(out + w.bits / 8, word);
    w.bits += added.length;
    w.pending = word >> ((shift + added.length) & 56);
}

// For up to 60 bits; `out` has room for 16 bytes.
constexpr std::size_t group_room = 16;
[[gnu::always_inline]] inline void append(written& w, std::uint8_t* out, bit_string a, bit_string b) noexcept {
    bit_string const both = joined(a, b);
    if (both.length <= 56) [[likely]] {
        append(w, out, both);
    } else {
        append(w, out, a);
        append(w, out, b);
    }
}

// With all bits in place: the size, and the byte that older encoders add. `out` has room for it.
[[gnu::always_inline]] inline std::size_t end_bytes(std::size_t bits, std::uint8_t* out,
                                                    huffman_end ending) noexcept {
    if (bits % 8 != 0 || ending == huffman_end::exact) return (bits + 7) / 8;
    out[bits / 8] = 0;
    return bits / 8 + 1;
}

// From input byte i on, code by code: where the output may be too small.
[[gnu::noinline]] inline result<std::size_t> encode_slowly(std::span<std::uint8_t const> input, std::size_t i,
                                                           std::span<std::uint8_t> out, huffman_end ending,
                                                           written w) noexcept {
    for (; i <= input.size(); ++i) {
        bit_string const code = code_of(i < input.size() ? input[i] : end_symbol);
        std::size_t at = w.bits / 8;
        std::uint64_t word = w.pending | code.bits << w.bits % 8;
        w.bits += code.length;
        if (w.bits > out.size() * 8) return failure{errc::output_full, i};
        for (; at < w.bits / 8; word >>= 8) out[at++] = static_cast<std::uint8_t>(word);
        w.pending = word;
    }
    if (w.bits % 8 != 0) {
        out[w.bits / 8] = static_cast<std::uint8_t>(w.pending);
    } else if (ending == huffman_end::padded && w.bits / 8 == out.size()) {
        return failure{errc::output_full, input.size()};
    }
    return end_bytes(w.bits, out.data(), ending);
}

// Fewer than four bytes that remain, and the end symbol. `out` has room for a group.
[[gnu::always_inline]] inline std::size_t encode_last(std::span<std::uint8_t const> input, std::size_t i,
                                                      std::uint8_t* out, huffman_end ending, written w) noexcept {
    bit_string last{};
    for (; i < input.size(); ++i) last = joined(last, code_of(input[i]));
    append(w, out, last, code_of(end_symbol));
    return end_bytes(w.bits, out, ending);
}

[[gnu::always_inline]] inline result<std::size_t> encode(std::span<std::uint8_t const> input, std::size_t i,
                                                         std::span<std::uint8_t> out, huffman_end ending,
                                                         written w) noexcept {
    for (; input.size() - i >= 4 && out.size() - w.bits / 8 >= group_room; i += 4) {
        std::uint8_t const* const at = input.data() + i;
        append(w, out.data(), joined(code_of(at[0]), code_of(at[1])), joined(code_of(at[2]), code_of(at[3])));
    }
    if (out.size() - w.bits / 8 < group_room) return encode_slowly(input, i, out, ending, w);
    return encode_last(input, i, out.data(), ending, w);
}

} // namespace teewire::huffman
