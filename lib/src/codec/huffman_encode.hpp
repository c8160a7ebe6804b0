// Codes are put together in words, each at the top, where it pushes those before it down. Four make a word without
// waiting for what was written before.
#pragma once

#include "teewire/huffman.hpp"

#include "huffman_table.hpp"
#include "huffman_words.hpp"

#include <algorithm>
#include <bit>

namespace teewire::huffman {

// A code in the form in which it is put into a word: its bits at the top, its length at the bottom.
constexpr std::array<std::uint64_t, symbols> place_codes() {
    std::array<std::uint64_t, symbols> placed{};
    for (std::size_t s = 0; s < symbols; ++s)
        placed[s] = std::uint64_t{table.codes[s].bits} << (64 - table.codes[s].length) | table.codes[s].length;
    return placed;
}

alignas(64) inline constexpr std::array<std::uint64_t, symbols> placed_codes = place_codes();

// Codes of up to 60 bits together, the last one highest in `top`. Leftovers of joining are not cleared each time: the
// lowest four bits of `top` and all but the lowest eight of `length` mean nothing.
struct joined_codes {
    std::uint64_t top, length;
};

[[gnu::always_inline]] inline void join(joined_codes& to, std::size_t symbol) noexcept {
    std::uint64_t const code = placed_codes[symbol];
    to.top = to.top >> (code & 63) | code;
    to.length += code;
}
[[gnu::always_inline]] inline joined_codes join_four(std::uint8_t const* bytes) noexcept {
    joined_codes four{placed_codes[bytes[0]], placed_codes[bytes[0]]};
    for (int k = 1; k < 4; ++k) join(four, bytes[k]);
    return four;
}
[[gnu::always_inline]] inline joined_codes joined(joined_codes first, joined_codes second) noexcept {
    return {first.top >> (second.length & 63) | second.top, first.length + second.length};
}
[[gnu::always_inline]] inline std::uint64_t bits_of(joined_codes codes) noexcept {
    return codes.top & ~std::uint64_t{15};
}
[[gnu::always_inline]] inline std::size_t length_of(joined_codes codes) noexcept { return codes.length & 0xff; }

// Where the next bit goes.
struct cursor {
    std::uint8_t* at;
    std::uint64_t top = 0;   // the last bits, up to the highest one,
    std::size_t pending = 0; // of which these are not written, less than a byte
};

// One store of 8 bytes, and no branch on how many of them are complete.
constexpr std::size_t most_appended = 57;
[[gnu::always_inline]] inline void append(cursor& to, joined_codes added) noexcept {
    to.top = to.top >> (added.length & 63) | bits_of(added);
    to.pending += length_of(added);
    store64(to.at, to.top >> (-to.pending & 63));
    to.at += to.pending / 8;
    to.pending %= 8;
}
[[gnu::always_inline]] inline void append(cursor& to, joined_codes a, joined_codes b) noexcept {
    if (length_of(joined(a, b)) <= most_appended) [[likely]] {
        append(to, joined(a, b));
    } else {
        append(to, a);
        append(to, b);
    }
}
// For up to 60 bits.
[[gnu::always_inline]] inline void append_four(cursor& to, joined_codes four) noexcept {
    if (length_of(four) <= most_appended) [[likely]] {
        append(to, four);
    } else {
        constexpr std::size_t half = 30;
        append(to, {bits_of(four) << half, four.length - half});
        append(to, {four.top, half}); // bits below these are the ones that are there already
    }
}

// With all bits in place: the size, and the byte that older encoders add. There is room for it.
[[gnu::always_inline]] inline std::size_t end_bytes(cursor to, std::uint8_t const* out,
                                                    huffman_end ending) noexcept {
    if (to.pending != 0) ++to.at;
    else if (ending == huffman_end::padded) *to.at++ = 0;
    return static_cast<std::size_t>(to.at - out);
}

// From input byte i on, code by code: where the output may be too small.
[[gnu::noinline]] inline result<std::size_t> encode_slowly(std::span<std::uint8_t const> input, std::size_t i,
                                                           std::span<std::uint8_t> out, huffman_end ending,
                                                           cursor to) noexcept {
    auto room = static_cast<std::size_t>(out.data() + out.size() - to.at) * 8 - to.pending; // bits
    auto word = static_cast<std::uint64_t>(std::rotl(to.top, static_cast<int>(to.pending)));
    word &= (1U << to.pending) - 1;
    for (; i <= input.size(); ++i) {
        code const c = table.codes[i < input.size() ? input[i] : end_symbol];
        if (c.length > room) return failure{errc::output_full, i};
        room -= c.length;
        word |= std::uint64_t{c.bits} << to.pending;
        to.pending += c.length;
        for (; to.pending >= 8; to.pending -= 8, word >>= 8) *to.at++ = static_cast<std::uint8_t>(word);
    }
    if (to.pending != 0) {
        *to.at = static_cast<std::uint8_t>(word);
    } else if (ending == huffman_end::padded && room == 0) {
        return failure{errc::output_full, input.size()};
    }
    return end_bytes(to, out.data(), ending);
}

constexpr std::size_t step = 8; // input bytes
constexpr std::size_t step_output = step * max_code_bits / 8;
constexpr std::size_t step_room = step_output + 9; // output bytes that one step and the end symbol may reach

// Less than a step that remains, and the end symbol. There is room for a step.
[[gnu::always_inline]] inline std::size_t encode_last(std::span<std::uint8_t const> input, std::size_t i,
                                                      std::uint8_t* out, huffman_end ending, cursor to) noexcept {
    joined_codes last{};
    if (input.size() < step) {
        if (input.size() >= 4) {
            append_four(to, join_four(input.data()));
            i = 4;
        }
        for (; i < input.size(); ++i) join(last, input[i]);
    } else {
        // With as many zeros as a step lacks, whose bits are taken off again: no branch depends on how many they are.
        static_assert(table.codes[0].length == 1);
        std::size_t const missing = step - (input.size() - i);
        std::uint8_t bytes[step];
        store64(bytes, load64(input.data() + input.size() - step) >> (8 * missing - 1) >> 1);
        joined_codes const four = join_four(bytes);
        last = join_four(bytes + 4);
        if (length_of(joined(four, last)) <= most_appended) [[likely]] {
            last = joined(four, last);
        } else {
            append_four(to, four);
        }
        last = {bits_of(last) << missing, last.length - missing};
    }
    joined_codes end{};
    join(end, end_symbol);
    append(to, last, end);
    return end_bytes(to, out, ending);
}

// So few bytes that all bits fit into a word, such as those of an empty delta.
constexpr std::size_t few = 3;
constexpr std::size_t few_room = sizeof(std::uint64_t);
[[gnu::always_inline]] inline std::size_t encode_few(std::span<std::uint8_t const> input, std::uint8_t* out,
                                                     huffman_end ending) noexcept {
    joined_codes all{};
    for (std::uint8_t const byte : input) join(all, byte);
    join(all, end_symbol);
    std::size_t const bits = length_of(all);
    store64(out, all.top >> (64 - bits));
    return end_bytes({out + bits / 8, 0, bits % 8}, out, ending);
}

[[gnu::always_inline]] inline result<std::size_t> encode(std::span<std::uint8_t const> input, std::size_t i,
                                                         std::span<std::uint8_t> out, huffman_end ending,
                                                         cursor to) noexcept {
    for (;;) {
        auto const room = static_cast<std::size_t>(out.data() + out.size() - to.at);
        if (room < step_room) return encode_slowly(input, i, out, ending, to);
        std::size_t steps = std::min((input.size() - i) / step, (room - 8) / 16);
        if (steps == 0) return encode_last(input, i, out.data(), ending, to);
        std::uint8_t const* bytes = input.data() + i;
        i += steps * step;
        for (; steps != 0; --steps, bytes += step) {
            joined_codes const a = join_four(bytes);
            joined_codes const b = join_four(bytes + 4);
            if (length_of(joined(a, b)) <= most_appended) [[likely]] {
                append(to, joined(a, b));
            } else {
                append_four(to, a);
                append_four(to, b);
            }
        }
    }
}

} // namespace teewire::huffman
