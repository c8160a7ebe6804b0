#include "teewire/huffman.hpp"

#include "codec_functions.hpp"
#include "huffman_end.hpp"
#include "huffman_table.hpp"
#include "huffman_words.hpp"

namespace teewire {
namespace {

using huffman::end_symbol;
using huffman::note_rest;
using huffman::symbols;
using huffman::table;

} // namespace

std::size_t huffman_size(std::span<std::uint8_t const> input, huffman_end ending) noexcept {
    std::size_t bits = table.codes[end_symbol].length;
    std::size_t i = 0;
    for (; input.size() - i >= 8; i += 8) {
        std::uint64_t word = huffman::load64(input.data() + i); // compilers vectorise byte loads, to no good
        for (unsigned pair = 0; pair < 4; ++pair, word >>= 16)
            bits += std::size_t{table.codes[word & 0xff].length} + table.codes[word >> 8 & 0xff].length;
    }
    for (; i < input.size(); ++i) bits += table.codes[input[i]].length;
    return ending == huffman_end::padded ? bits / 8 + 1 : (bits + 7) / 8;
}

result<std::size_t> huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   huffman_end ending) noexcept {
    return kernels::codec.huffman_encode(input, out, ending);
}

result<std::size_t> huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   note_log* notes) noexcept {
    return kernels::codec.huffman_decode(input, out, notes);
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

namespace {

// `used`: bytes of the input up to the end symbol.
result<std::size_t> decode_bits(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                std::size_t& used) noexcept {
    std::size_t const root = symbols + table.inner.size() - 1;
    std::size_t number = root;
    std::size_t written = 0;
    for (std::size_t bit = 0; bit < input.size() * 8; ++bit) {
        number = table.inner[number - symbols].child[input[bit / 8] >> bit % 8 & 1];
        if (number >= symbols) continue;
        if (number == end_symbol) {
            used = bit / 8 + 1;
            return written;
        }
        if (written == out.size()) return failure{errc::output_full, bit / 8 + 1};
        out[written++] = static_cast<std::uint8_t>(number);
        number = root;
    }
    return failure{errc::truncated, input.size()};
}

} // namespace

result<std::size_t> huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                   note_log* notes) noexcept {
    std::size_t used = 0;
    auto const written = decode_bits(input, out, used);
    if (written) note_rest(input, used, notes);
    return written;
}

void huffman_decode_short(std::span<kernels::huffman_piece> pieces) noexcept {
    for (kernels::huffman_piece& p : pieces) {
        p.used = 0;
        auto const size = decode_bits(p.input, {p.out, kernels::huffman_piece::out_bytes}, p.used);
        p.size = size ? *size : 0;
    }
}

} // namespace plain

} // namespace teewire
