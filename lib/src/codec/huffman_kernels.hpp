// The fast encoders and decoders that huffman.cpp chooses from.
#pragma once

#include "kernels.hpp"

namespace teewire::huffman {

kernels::huffman_encode_fn encode_portable;
kernels::huffman_decode_fn decode_portable;
#if defined(__x86_64__)
kernels::huffman_encode_fn encode_bmi2;
kernels::huffman_decode_fn decode_bmi2;
kernels::huffman_encode_fn encode_avx512;
#endif

// What follows the end symbol: at most the one zero byte that older encoders add.
inline void note_rest(std::span<std::uint8_t const> input, std::size_t used, note_log* notes) noexcept {
    if (notes == nullptr || used == input.size()) return;
    if (input.size() - used > 1 || input[used] != 0) notes->add(note::data_after_end, used);
}

} // namespace teewire::huffman
