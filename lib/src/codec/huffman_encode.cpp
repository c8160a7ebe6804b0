#include "huffman_encode.hpp"

#include "codec_functions.hpp"

namespace teewire::kernels {

result<std::size_t> scalar::huffman_encode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                           huffman_end ending) noexcept {
    return huffman::encode(input, 0, out, ending, {});
}

#if defined(__x86_64__)
// Shifts by any number of bits are all that it needs of its level.
[[gnu::target("bmi2")]] result<std::size_t> avx2::huffman_encode(std::span<std::uint8_t const> input,
                                                                 std::span<std::uint8_t> out,
                                                                 huffman_end ending) noexcept {
    return huffman::encode(input, 0, out, ending, {});
}
#endif

} // namespace teewire::kernels
