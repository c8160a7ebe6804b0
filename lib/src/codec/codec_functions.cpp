#include "codec_functions.hpp"

namespace teewire::kernels {
namespace {

constexpr codec_functions plain_functions = {plain::encode_varints, plain::decode_varints, plain::huffman_encode,
                                             plain::huffman_decode, plain::huffman_decode_short};
constexpr codec_functions scalar_functions = {scalar::encode_varints, scalar::decode_varints,
                                              scalar::huffman_encode, scalar::huffman_decode,
                                              scalar::huffman_decode_short};
#if defined(__x86_64__)
constexpr codec_functions avx2_functions = {avx2::encode_varints, avx2::decode_varints, avx2::huffman_encode,
                                            avx2::huffman_decode, avx2::huffman_decode_short};
constexpr codec_functions avx512_functions = {avx512::encode_varints, avx512::decode_varints,
                                              avx512::huffman_encode, avx2::huffman_decode,
                                              avx2::huffman_decode_short};
#elif defined(TEEWIRE_NEON)
constexpr codec_functions neon_functions = {neon::encode_varints, neon::decode_varints, scalar::huffman_encode,
                                            scalar::huffman_decode, scalar::huffman_decode_short};
#endif

constexpr variant<codec_functions> variants[] = {
    {"plain", required_by(cpu_level::scalar), plain_functions},
    {"scalar", required_by(cpu_level::scalar), scalar_functions},
#if defined(__x86_64__)
    {"sse2", required_by(cpu_level::sse2), scalar_functions},
    {"avx2", required_by(cpu_level::avx2), avx2_functions},
    {"avx512", required_by(cpu_level::avx512), avx512_functions},
#elif defined(TEEWIRE_NEON)
    {"neon", required_by(cpu_level::neon), neon_functions},
#endif
};

constinit follower layer = {[](instruction_sets allowed) noexcept { choose(codec, codec_variants(), allowed); }};
[[maybe_unused]] bool const chosen = follow(layer);

} // namespace

constinit codec_functions codec = scalar_functions;

std::span<variant<codec_functions> const> codec_variants() noexcept { return variants; }

} // namespace teewire::kernels
