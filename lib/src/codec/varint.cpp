#include "teewire/varint.hpp"

#include "codec_functions.hpp"
#include "varint_kernels.hpp"

namespace teewire {

std::size_t varint_size(std::span<std::int32_t const> values) noexcept {
    std::size_t size = 0;
    for (std::int32_t const value : values) size += varint_size(value);
    return size;
}

namespace {

struct raw_varint {
    std::int32_t value;
    std::uint32_t last; // the last byte
    std::size_t size;   // 0: the input ends inside the value

    [[nodiscard]] bool dirty() const noexcept { return size == max_varint_bytes && last > 0x0f; }
    [[nodiscard]] bool overlong() const noexcept {
        return size > 1 && (last & (size == max_varint_bytes ? 0x0fU : 0x7fU)) == 0;
    }
};

inline raw_varint read_one(std::uint8_t const* at, std::size_t available) noexcept {
    std::uint32_t byte = *at;
    std::uint32_t const sign = 0U - (byte >> 6 & 1U);
    std::uint32_t m = byte & 0x3f;
    std::size_t size = 1;
    // Written out, not a loop: each length gets its own branches, which are predicted better.
    auto const next = [&](unsigned shift, std::uint32_t data_bits) {
        if (byte < 0x80 || size == available) return false;
        byte = at[size++];
        m |= (byte & data_bits) << shift;
        return true;
    };
    bool const five = next(6, 0x7f) && next(13, 0x7f) && next(20, 0x7f) && next(27, 0x0f);
    if (byte >= 0x80 && !five) return {};
    return {static_cast<std::int32_t>(m ^ sign), byte, size};
}

// False if the quirk is to be refused.
bool tolerate(raw_varint const& raw, std::size_t position, decoding mode, note_log* notes) noexcept {
    if (!raw.overlong() && !raw.dirty()) return true;
    if (mode == decoding::strict) return false;
    if (notes != nullptr) notes->add(raw.dirty() ? note::dirty_varint : note::overlong_varint, position);
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

namespace kernels {

result<std::size_t> encode_plain(std::span<std::int32_t const> values, std::span<std::uint8_t> out, std::size_t i,
                                 std::size_t done) noexcept {
    std::uint8_t* at = out.data() + done;
    std::uint8_t* const end = out.data() + out.size();
    for (; i < values.size() && static_cast<std::size_t>(end - at) >= max_varint_bytes; ++i)
        at = put_varint(at, values[i]);
    for (; i < values.size(); ++i) {
        if (varint_size(values[i]) > static_cast<std::size_t>(end - at)) return failure{errc::output_full, i};
        at = put_varint(at, values[i]);
    }
    return static_cast<std::size_t>(at - out.data());
}

namespace {

// Decodes the values that start in [at, until).
inline errc decode_range(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                         note_log* notes, std::size_t& at, std::size_t& count, std::size_t until) noexcept {
    while (at < until) {
        if (count == out.size()) return errc::output_full;
        std::uint32_t const first = bytes[at];
        if (first < 0x80) { // the mass of every delta
            out[count++] = static_cast<std::int32_t>((first & 0x3f) ^ (0U - (first >> 6)));
            ++at;
            continue;
        }
        raw_varint const raw = read_one(bytes.data() + at, bytes.size() - at);
        if (raw.size == 0) return errc::truncated;
        if (!tolerate(raw, at, mode, notes)) return errc::bad_varint;
        out[count++] = raw.value;
        at += raw.size;
    }
    return errc::ok;
}

} // namespace

errc decode_plain(decode_run& run, std::size_t until) noexcept {
    std::size_t at = run.at;
    std::size_t count = run.count;
    errc const error = decode_range(run.bytes, run.out, run.mode, run.notes, at, count, until);
    run.at = at;
    run.count = count;
    return error;
}

} // namespace kernels

result<std::size_t> plain::encode_varints(std::span<std::int32_t const> values,
                                          std::span<std::uint8_t> out) noexcept {
    return kernels::encode_plain(values, out, 0, 0);
}

result<std::size_t> plain::decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out,
                                          decoding mode, note_log* notes) noexcept {
    std::size_t at = 0;
    std::size_t count = 0;
    errc const error = kernels::decode_range(bytes, out, mode, notes, at, count, bytes.size());
    if (error != errc::ok) return failure{error, at};
    return count;
}

// Runs too short for the set-up of a kernel to pay, such as an empty delta. First tried as bytes with a value each.
static constexpr std::size_t tiny = 8;

result<std::size_t> encode_varints(std::span<std::int32_t const> values, std::span<std::uint8_t> out) noexcept {
    if (values.size() >= tiny || values.size() > out.size()) return kernels::codec.encode_varints(values, out);
    std::size_t i = 0;
    for (; i < values.size(); ++i) {
        auto const value = static_cast<std::uint32_t>(values[i]);
        std::uint32_t const m = value ^ (0U - (value >> 31));
        if (m > 0x3f) return kernels::encode_plain(values, out, i, i);
        out[i] = static_cast<std::uint8_t>(m | (value >> 31) << 6);
    }
    return i;
}

result<std::size_t> decode_varints(std::span<std::uint8_t const> bytes, std::span<std::int32_t> out, decoding mode,
                                   note_log* notes) noexcept {
    if (bytes.size() >= tiny || bytes.size() > out.size())
        return kernels::codec.decode_varints(bytes, out, mode, notes);
    std::size_t i = 0;
    for (; i < bytes.size(); ++i) {
        std::uint32_t const byte = bytes[i];
        if (byte > 0x7f) return plain::decode_varints(bytes, out, mode, notes);
        out[i] = static_cast<std::int32_t>((byte & 0x3f) ^ (0U - (byte >> 6)));
    }
    return i;
}

} // namespace teewire
