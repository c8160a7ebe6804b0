#include "huffman_encode.hpp"

#include "codec_functions.hpp"

namespace teewire::kernels {

// Apart from where it is called, which has no registers to save then.
[[gnu::noinline]] static result<std::size_t> encode_all(std::span<std::uint8_t const> input,
                                                        std::span<std::uint8_t> out, huffman_end ending) noexcept {
    return huffman::encode(input, 0, out, ending, {out.data()});
}

result<std::size_t> scalar::huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                           huffman_end ending) noexcept {
    if (input.size() <= huffman::few && out.size() >= huffman::few_room)
        return huffman::encode_few(input, out.data(), ending);
    return encode_all(input, out, ending);
}

} // namespace teewire::kernels
