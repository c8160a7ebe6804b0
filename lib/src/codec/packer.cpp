#include "teewire/packer.hpp"

#include <algorithm>

namespace teewire {

std::int32_t unpacker::read_int() noexcept {
    if (!ok()) return 0;
    auto const decoded = decode_varint(rest());
    if (!decoded) {
        fail(decoded.error().code);
        return 0;
    }
    at_ += decoded->size;
    return decoded->value;
}

std::string_view unpacker::read_string() noexcept {
    if (!ok()) return {};
    auto const left = rest();
    auto const end = std::find(left.begin(), left.end(), std::uint8_t{0});
    if (end == left.end()) {
        fail(left.empty() ? errc::truncated : errc::bad_text);
        return {};
    }
    auto const size = static_cast<std::size_t>(end - left.begin());
    at_ += size + 1;
    return {reinterpret_cast<char const*>(left.data()), size};
}

std::span<std::uint8_t const> unpacker::read_raw(std::size_t size) noexcept {
    if (!ok()) return {};
    if (size > bytes_.size() - at_) {
        fail(errc::truncated);
        return {};
    }
    auto const raw = bytes_.subspan(at_, size);
    at_ += size;
    return raw;
}

packer& packer::add_int(std::int32_t value) noexcept {
    std::uint8_t bytes[max_varint_bytes];
    return add_raw({bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes)});
}

packer& packer::add_string(std::string_view text) noexcept {
    assert(text.find('\0') == std::string_view::npos);
    if (!fits(text.size() + 1)) return *this;
    std::copy(text.begin(), text.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += text.size();
    out_[at_++] = 0;
    return *this;
}

packer& packer::add_raw(std::span<std::uint8_t const> bytes) noexcept {
    if (!fits(bytes.size())) return *this;
    std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += bytes.size();
    return *this;
}

result<std::span<std::uint8_t const>> packer::finish() const noexcept {
    if (full_) return failure{errc::output_full, at_};
    return std::span<std::uint8_t const>{out_.first(at_)};
}

} // namespace teewire
