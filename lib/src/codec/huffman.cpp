#include "teewire/huffman.hpp"

#include "huffman_table.hpp"

namespace teewire {
namespace {

using huffman::end_symbol;
using huffman::symbols;
using huffman::table;

// One look at the next bits gives a symbol, or the inner node where the walk goes on.
constexpr unsigned lookup_bits = 11;

struct lookup_entry {
    std::uint16_t number; // symbol, or inner node when above end_symbol
    std::uint8_t length;  // bits used
};

constexpr std::array<lookup_entry, 1U << lookup_bits> build_lookup() {
    std::array<lookup_entry, 1U << lookup_bits> lookup{};
    for (std::uint32_t bits = 0; bits < lookup.size(); ++bits) {
        std::size_t number = symbols + table.inner.size() - 1;
        unsigned length = 0;
        while (number >= symbols && length < lookup_bits)
            number = table.inner[number - symbols].child[bits >> length++ & 1];
        lookup[bits] = {static_cast<std::uint16_t>(number), static_cast<std::uint8_t>(length)};
    }
    return lookup;
}

constexpr auto lookup = build_lookup();

// What follows the end symbol: at most the one zero byte that older encoders add.
void note_rest(std::span<std::uint8_t const> input, std::size_t used, note_log* notes) noexcept {
    if (notes == nullptr || used == input.size()) return;
    if (input.size() - used > 1 || input[used] != 0) notes->add(note::data_after_end, used);
}

// The first input byte whose code does not fit; input.size() stands for the end symbol. An encoder that writes whole
// bytes notices it later than that.
std::size_t first_unfit(std::span<std::uint8_t const> input, std::size_t room) noexcept {
    std::size_t bits = 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
        bits += table.codes[input[i]].length;
        if (bits > room * 8) return i;
    }
    return input.size();
}

} // namespace

std::size_t huffman_size(std::span<std::uint8_t const> input, huffman_end ending) noexcept {
    std::size_t bits = table.codes[end_symbol].length;
    for (std::uint8_t const byte : input) bits += table.codes[byte].length;
    return ending == huffman_end::padded ? bits / 8 + 1 : (bits + 7) / 8;
}

result<std::size_t> huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   huffman_end ending) noexcept {
    std::uint64_t pending = 0;
    unsigned pending_bits = 0;
    std::size_t written = 0;
    for (std::size_t i = 0; i <= input.size(); ++i) {
        huffman::code const code = table.codes[i < input.size() ? input[i] : end_symbol];
        pending |= std::uint64_t{code.bits} << pending_bits;
        pending_bits += code.length;
        for (; pending_bits >= 8; pending_bits -= 8) {
            if (written == out.size()) return failure{errc::output_full, first_unfit(input, out.size())};
            out[written++] = static_cast<std::uint8_t>(pending);
            pending >>= 8;
        }
    }
    if (pending_bits > 0 || ending == huffman_end::padded) {
        if (written == out.size()) return failure{errc::output_full, input.size()};
        out[written++] = static_cast<std::uint8_t>(pending);
    }
    return written;
}

result<std::size_t> huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   note_log* notes) noexcept {
    std::uint64_t window = 0;
    unsigned window_bits = 0; // valid bits; above them the window is zero
    std::size_t read = 0;
    std::size_t written = 0;
    for (;;) {
        for (; window_bits <= 56 && read < input.size(); window_bits += 8)
            window |= std::uint64_t{input[read++]} << window_bits;
        lookup_entry const entry = lookup[window & (lookup.size() - 1)];
        std::size_t number = entry.number;
        unsigned length = entry.length;
        while (number >= symbols) number = table.inner[number - symbols].child[window >> length++ & 1];
        if (length > window_bits) return failure{errc::truncated, input.size()};
        window >>= length;
        window_bits -= length;
        if (number == end_symbol) {
            note_rest(input, read - window_bits / 8, notes);
            return written;
        }
        if (written == out.size()) return failure{errc::output_full, read - window_bits / 8};
        out[written++] = static_cast<std::uint8_t>(number);
    }
}

namespace plain {

result<std::size_t> huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   huffman_end ending) noexcept {
    std::size_t bits = 0;
    for (std::size_t i = 0; i <= input.size(); ++i) {
        huffman::code const code = table.codes[i < input.size() ? input[i] : end_symbol];
        for (unsigned b = 0; b < code.length; ++b, ++bits) {
            if (bits % 8 == 0) {
                if (bits / 8 == out.size()) return failure{errc::output_full, i};
                out[bits / 8] = 0;
            }
            out[bits / 8] = static_cast<std::uint8_t>(out[bits / 8] | (code.bits >> b & 1) << bits % 8);
        }
    }
    if (bits % 8 == 0 && ending == huffman_end::padded) {
        if (bits / 8 == out.size()) return failure{errc::output_full, input.size()};
        out[bits / 8] = 0;
        bits += 8;
    }
    return (bits + 7) / 8;
}

result<std::size_t> huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   note_log* notes) noexcept {
    std::size_t const root = symbols + table.inner.size() - 1;
    std::size_t number = root;
    std::size_t written = 0;
    for (std::size_t bit = 0; bit < input.size() * 8; ++bit) {
        number = table.inner[number - symbols].child[input[bit / 8] >> bit % 8 & 1];
        if (number >= symbols) continue;
        if (number == end_symbol) {
            note_rest(input, bit / 8 + 1, notes);
            return written;
        }
        if (written == out.size()) return failure{errc::output_full, bit / 8 + 1};
        out[written++] = static_cast<std::uint8_t>(number);
        number = root;
    }
    return failure{errc::truncated, input.size()};
}

} // namespace plain
} // namespace teewire
