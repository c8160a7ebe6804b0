#include "teewire/varint.hpp"

namespace teewire {

std::size_t varint_size(std::span<std::int32_t const> values) noexcept {
    std::size_t size = 0;
    for (std::int32_t const value : values) size += varint_size(value);
    return size;
}

namespace {

struct raw_varint {
    std::int32_t value;
    std::uint8_t size; // 0: the input ends inside the value
    bool overlong;
    bool dirty;
};

raw_varint read_one(std::uint8_t const* at, std::size_t available) noexcept {
    std::uint32_t byte = *at;
    std::uint32_t const sign = 0U - (byte >> 6 & 1U);
    std::uint32_t m = byte & 0x3f;
    std::size_t size = 1;
    std::uint32_t data_bits = 0x7f;
    for (unsigned shift = 6; (byte & 0x80) != 0 && size < max_varint_bytes; shift += 7) {
        if (size == available) return {};
        byte = at[size++];
        if (size == max_varint_bytes) data_bits = 0x0f;
        m |= (byte & data_bits) << shift;
    }
    return {static_cast<std::int32_t>(m ^ sign), static_cast<std::uint8_t>(size),
            size > 1 && (byte & data_bits) == 0, size == max_varint_bytes && (byte & 0xf0) != 0};
}

// False if the oddity is to be refused.
bool tolerate(raw_varint const& raw, std::size_t position, decoding mode, note_log* notes) noexcept {
    if (!raw.overlong && !raw.dirty) return true;
    if (mode == decoding::strict) return false;
    if (notes != nullptr) notes->add(raw.dirty ? note::dirty_varint : note::overlong_varint, position);
    return true;
}

} // namespace

result<decoded_varint> decode_varint(std::span<std::uint8_t const> bytes, decoding mode, note_log* notes) noexcept {
    if (bytes.empty()) return failure{errc::truncated, 0};
    raw_varint const raw = read_one(bytes.data(), bytes.size());
    if (raw.size == 0) return failure{errc::truncated, 0};
    if (!tolerate(raw, 0, mode, notes)) return failure{errc::bad_varint, 0};
    return decoded_varint{raw.value, raw.size};
}

result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept {
    std::uint8_t* at = out.data();
    std::uint8_t* const end = at + out.size();
    std::size_t i = 0;
    for (; i < values.size() && static_cast<std::size_t>(end - at) >= max_varint_bytes; ++i)
        at = put_varint(at, values[i]);
    for (; i < values.size(); ++i) {
        if (varint_size(values[i]) > static_cast<std::size_t>(end - at)) return failure{errc::output_full, i};
        at = put_varint(at, values[i]);
    }
    return static_cast<std::size_t>(at - out.data());
}

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    std::size_t at = 0;
    std::size_t count = 0;
    while (at < bytes.size()) {
        if (count == out.size()) return failure{errc::output_full, at};
        std::uint32_t const first = bytes[at];
        if (first < 0x80) { // the mass of every delta
            out[count++] = static_cast<std::int32_t>((first & 0x3f) ^ (0U - (first >> 6)));
            ++at;
            continue;
        }
        raw_varint const raw = read_one(bytes.data() + at, bytes.size() - at);
        if (raw.size == 0) return failure{errc::truncated, at};
        if (!tolerate(raw, at, mode, notes)) return failure{errc::bad_varint, at};
        out[count++] = raw.value;
        at += raw.size;
    }
    return count;
}

} // namespace teewire
