// The bits after the end symbol, for all decoders.
#pragma once

#include "teewire/huffman.hpp"

namespace teewire::huffman {

// At most the one zero byte that older encoders add.
inline void note_rest(std::span<std::uint8_t const> input, std::size_t used, note_log* notes) noexcept {
    if (notes == nullptr || used == input.size()) return;
    if (input.size() - used > 1 || input[used] != 0) notes->add(note::data_after_end, used);
}

} // namespace teewire::huffman
