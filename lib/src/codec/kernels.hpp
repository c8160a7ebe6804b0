// Variants of a hot function for different processors. The first of each list is the plain twin that defines the
// result; the last one that the machine can run is used. Tests and benchmarks walk through the same lists.
#pragma once

#include "teewire/huffman.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire::kernels {

enum class cpu : std::uint8_t {
    any,
    avx2,   ///< with BMI1, BMI2 and LZCNT: x86-64-v3
    avx512, ///< F, BW, CD, DQ, VL, VBMI and VBMI2, as in Ice Lake and Zen 4
};

[[nodiscard]] bool supported(cpu needed) noexcept;

template <class Function>
struct variant {
    std::string_view name;
    cpu needed;
    Function* run;
};

template <class Function>
[[nodiscard]] Function* best(std::span<variant<Function> const> variants) noexcept {
    Function* chosen = variants.front().run;
    for (auto const& v : variants)
        if (supported(v.needed)) chosen = v.run;
    return chosen;
}

/// Makes `function` the best variant. For initialisers of constants, which run before main; until then it is the plain
/// twin that it was set to.
template <class Function>
bool choose(Function*& function, std::span<variant<Function> const> variants) noexcept {
    function = best(variants);
    return true;
}

using encode_varints_fn = result<std::size_t>(std::span<std::int32_t const>, std::span<std::uint8_t>) noexcept;
using decode_varints_fn = result<std::size_t>(std::span<std::uint8_t const>, std::span<std::int32_t>, decoding,
                                              note_log*) noexcept;
[[nodiscard]] std::span<variant<encode_varints_fn> const> encode_varints_variants() noexcept;
[[nodiscard]] std::span<variant<decode_varints_fn> const> decode_varints_variants() noexcept;

using huffman_encode_fn = result<std::size_t>(std::span<std::uint8_t const>, std::span<std::uint8_t>,
                                              huffman_end) noexcept;
using huffman_decode_fn = result<std::size_t>(std::span<std::uint8_t const>, std::span<std::uint8_t>,
                                              note_log*) noexcept;
[[nodiscard]] std::span<variant<huffman_encode_fn> const> huffman_encode_variants() noexcept;
[[nodiscard]] std::span<variant<huffman_decode_fn> const> huffman_decode_variants() noexcept;

} // namespace teewire::kernels
