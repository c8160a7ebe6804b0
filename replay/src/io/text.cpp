#include "io/text.hpp"

#include <algorithm>

namespace teewire::replay {

namespace {

bool is_control(std::uint32_t point) {
    struct range {
        std::uint32_t first;
        std::uint32_t last;
    };
    // C0, DEL and C1; marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
    constexpr range ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [point](range r) { return point >= r.first && point <= r.last; });
}

// Bytes of the valid character at the front, or 0.
std::size_t read_point(std::string_view text, std::uint32_t& point) {
    auto const byte = [&](std::size_t at) { return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0U; };
    std::uint32_t const first = byte(0);
    if (first < 0x80) {
        point = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) return 0;
    std::size_t const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    point = first & (0xffU >> (size + 1));
    for (std::size_t k = 1; k < size; ++k) {
        if ((byte(k) & 0xc0) != 0x80) return 0;
        point = point << 6 | (byte(k) & 0x3fU);
    }
    constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    return point >= smallest[size] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? size : 0;
}

std::string valid_text(std::string_view text, bool keep_controls) {
    std::string out;
    while (!text.empty()) {
        std::uint32_t point = 0;
        std::size_t const size = read_point(text, point);
        if (size == 0) out += "\xef\xbf\xbd";
        else if (keep_controls || !is_control(point)) out += text.substr(0, size);
        else out += ' ';
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

struct code_range {
    std::uint32_t first;
    std::uint32_t last;
};
constexpr code_range without_width[] = {
    {0x300, 0x36f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
};
constexpr code_range double_width[] = {
    {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
};

std::size_t width(std::uint32_t point) {
    auto const holds = [point](code_range r) { return point >= r.first && point <= r.last; };
    if (std::any_of(std::begin(without_width), std::end(without_width), holds)) return 0;
    return std::any_of(std::begin(double_width), std::end(double_width), holds) ? 2 : 1;
}

} // namespace

std::string printable(std::string_view text) { return valid_text(text, false); }
std::string valid_utf8(std::string_view text) { return valid_text(text, true); }

std::string csv_text(std::string_view text, csv_texts form) {
    std::string quoted = "\"";
    if (form == csv_texts::safe && !text.empty() &&
        std::string_view{"=+-@\t\r"}.find(text[0]) != std::string_view::npos)
        quoted += '\'';
    for (char const c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string fit(std::string_view text, std::size_t columns) {
    std::string out;
    std::size_t used = 0;
    for (std::size_t i = 0; i < text.size();) {
        auto const first = static_cast<std::uint8_t>(text[i]);
        std::size_t const size = std::min<std::size_t>(text.size() - i, first < 0x80   ? 1
                                                                        : first < 0xe0 ? 2
                                                                        : first < 0xf0 ? 3
                                                                                       : 4);
        std::uint32_t point = size == 1 ? first : first & (0xffU >> (size + 1));
        for (std::size_t k = 1; k < size; ++k)
            point = point << 6 | (static_cast<std::uint8_t>(text[i + k]) & 0x3fU);
        if (used + width(point) > columns) break;
        used += width(point);
        out += text.substr(i, size);
        i += size;
    }
    return out.append(columns - used, ' ');
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string clock_text(std::int64_t ticks) {
    std::int64_t const tenths = ticks / 5;
    return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

} // namespace teewire::replay
