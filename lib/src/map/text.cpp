#include "text.hpp"

#include "teewire/map/map.hpp"

#include <algorithm>

namespace teewire {

namespace map_detail {

bool is_utf8(std::string_view text) noexcept {
    auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        unsigned char const first = byte(i++);
        if (first < 0x80) continue;
        if (first < 0xc2 || first > 0xf4) return false;
        std::size_t const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        if (text.size() - i < more) return false;
        // The second byte has limits of its own: they rule out overlong forms, surrogates and what is too high.
        unsigned char const low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        unsigned char const high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (byte(i) < low || byte(i) > high) return false;
        for (std::size_t n = 1; n < more; ++n)
            if ((byte(i + n) & 0xc0) != 0x80) return false;
        i += more;
    }
    return true;
}

} // namespace map_detail

std::optional<std::string> unpack_name(std::span<std::int32_t const> ints) {
    std::string text;
    for (std::size_t i = 0; i + 1 < 4 * ints.size(); ++i) { // the last byte is a terminator, whatever it says
        auto const word = static_cast<std::uint32_t>(ints[i / 4]);
        auto const byte = static_cast<std::uint8_t>((word >> (24 - 8 * (i % 4))) - 128);
        if (byte == 0) break;
        text.push_back(static_cast<char>(byte));
    }
    if (!map_detail::is_utf8(text)) return {};
    return text;
}

void pack_name(std::string_view text, std::span<std::int32_t> out) noexcept {
    std::size_t const room = 4 * out.size() - 1;
    if (text.size() > room) {
        std::size_t end = room;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        text = text.substr(0, end);
    }
    std::fill(out.begin(), out.end(), 0);
    for (std::size_t i = 0; i < room; ++i) {
        auto const byte =
            static_cast<std::uint8_t>((i < text.size() ? static_cast<unsigned char>(text[i]) : 0) + 128);
        auto& word = out[i / 4];
        word =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | std::uint32_t{byte} << (24 - 8 * (i % 4)));
    }
}

} // namespace teewire
