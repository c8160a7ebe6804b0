#include "teewire/schema.hpp"

#include "objects.hpp"

#include <algorithm>

namespace teewire {

std::string_view name(protocol p) noexcept {
    switch (p) {
    case protocol::teeworlds_06: return "0.6";
    case protocol::ddnet: return "ddnet";
    case protocol::teeworlds_07: return "0.7";
    }
    return "unknown";
}

std::span<object const> plain_objects(protocol p) noexcept {
    return p == protocol::teeworlds_07 ? schema::objects_07() : schema::objects_06();
}

std::span<object const> extended_objects() noexcept { return schema::objects_ddnet(); }

object const* find_object(protocol p, std::uint16_t type) noexcept {
    auto const objects = plain_objects(p); // numbered from 1 without gaps
    return type >= 1 && type <= objects.size() ? &objects[type - 1U] : nullptr;
}

object const* find_object(uuid const& extended) noexcept {
    for (object const& o : extended_objects())
        if (o.extended == extended) return &o;
    return nullptr;
}

object const* find_object(protocol p, std::string_view name) noexcept {
    for (auto const objects : {plain_objects(p), extended_objects()})
        for (object const& o : objects)
            if (o.name == name) return &o;
    return nullptr;
}

std::string_view decode_text(std::span<std::int32_t const> ints, std::span<char> out) noexcept {
    assert(out.size() >= ints.size() * 4);
    std::size_t size = 0;
    for (; size + 1 < ints.size() * 4; ++size) {
        auto const word = static_cast<std::uint32_t>(ints[size / 4]);
        auto const byte = static_cast<std::uint8_t>((word >> (24 - 8 * (size % 4))) - 128U);
        if (byte == 0) break;
        out[size] = static_cast<char>(byte);
    }
    return {out.data(), size};
}

void encode_text(std::string_view text, std::span<std::int32_t> ints) noexcept {
    for (std::size_t i = 0; i < ints.size(); ++i) {
        std::uint32_t word = 0;
        for (std::size_t b = 4 * i; b < 4 * i + 4; ++b) {
            std::uint32_t const byte = b < text.size() ? static_cast<std::uint8_t>(text[b]) : 0U;
            word = word << 8 | ((byte + 128U) & 0xffU);
        }
        ints[i] = static_cast<std::int32_t>(word);
    }
    if (!ints.empty())
        ints.back() = static_cast<std::int32_t>(static_cast<std::uint32_t>(ints.back()) & 0xffffff00U);
}

} // namespace teewire
