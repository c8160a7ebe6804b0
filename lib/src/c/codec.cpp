#include "convert.hpp"

#include "teewire/varint.hpp"

using namespace teewire;
using namespace teewire::c;

std::int32_t teewire_varint_encode(std::int32_t const* ints, std::uint32_t n, std::uint8_t* out,
                                   std::uint32_t capacity, teewire_failure* failure) {
    auto const size = encode_varints({ints, n}, {out, clip(capacity)});
    return size ? count(*size) : fail(size.error(), failure);
}

std::int32_t teewire_varint_decode(std::uint8_t const* bytes, std::uint32_t size, std::int32_t* out,
                                   std::uint32_t capacity, teewire_failure* failure) {
    auto const n = decode_varints({bytes, size}, {out, clip(capacity)});
    return n ? count(*n) : fail(n.error(), failure);
}

std::int32_t teewire_varint_read(std::uint8_t const* bytes, std::uint32_t size, std::int32_t* value,
                                 teewire_failure* failure) {
    auto const read = decode_varint({bytes, size});
    if (!read) return fail(read.error(), failure);
    *value = read->value;
    return count(read->size);
}

std::int32_t teewire_huffman_encode(std::uint8_t const* bytes, std::uint32_t size, std::int32_t ending,
                                    std::uint8_t* out, std::uint32_t capacity, teewire_failure* failure) {
    huffman_end end{};
    if (!read_ending(ending, end)) return bad_argument(failure);
    auto const written = huffman_encode({bytes, size}, {out, clip(capacity)}, end);
    return written ? count(*written) : fail(written.error(), failure);
}

std::int32_t teewire_huffman_decode(std::uint8_t const* bytes, std::uint32_t size, std::uint8_t* out,
                                    std::uint32_t capacity, teewire_failure* failure) {
    auto const written = huffman_decode({bytes, size}, {out, clip(capacity)});
    return written ? count(*written) : fail(written.error(), failure);
}
