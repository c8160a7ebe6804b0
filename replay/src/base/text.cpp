#include "base/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace teewire::replay {
namespace {

bool is_control(std::int32_t point) {
    struct range {
        std::int32_t first;
        std::int32_t last;
    };
    // C0, DEL and C1; marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
    constexpr range ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [point](range r) { return point >= r.first && point <= r.last; });
}

// Bytes of the valid character at the front of what is not empty, or 0.
std::size_t read_point(std::string_view text, std::int32_t& point) {
    auto const size = utf8proc_iterate(reinterpret_cast<utf8proc_uint8_t const*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &point);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::string valid_text(std::string_view text, bool keep_controls) {
    std::string out;
    while (!text.empty()) {
        std::int32_t point = 0;
        std::size_t const size = read_point(text, point);
        if (size == 0) out += "\xef\xbf\xbd";
        else if (keep_controls || !is_control(point)) out += text.substr(0, size);
        else out += ' ';
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

// Whether it begins with the sign of a formula, which may be full-width.
bool has_sign(std::string_view text) {
    for (std::string_view const sign : {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"})
        if (text.starts_with(sign)) return true;
    return false;
}

} // namespace

void text_buffer::append(fmt::string_view format, fmt::format_args arguments) {
    fmt::vformat_to(fmt::appender{buffer_}, format, arguments);
}

std::string printable(std::string_view text) { return valid_text(text, false); }
std::string valid_utf8(std::string_view text) { return valid_text(text, true); }

std::string csv_text(std::string_view text, csv_texts form) {
    std::string quoted = "\"";
    bool begins = true; // a cell, or a line in it
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const blank = i == 0 && std::string_view{"\t\r\n"}.find(text[0]) != std::string_view::npos;
        if (form == csv_texts::safe && begins && (blank || has_sign(text.substr(i)))) quoted += '\'';
        begins = text[i] == '\n' || text[i] == '\r';
        if (text[i] == '"') quoted += '"';
        quoted += text[i];
    }
    return quoted + '"';
}

std::string fit(std::string_view text, std::size_t columns) {
    std::string out;
    std::size_t used = 0;
    std::int32_t point = 0;
    while (std::size_t const size = text.empty() ? 0 : read_point(text, point)) {
        auto const width = static_cast<std::size_t>(utf8proc_charwidth(point));
        if (used + width > columns) break;
        used += width;
        out += text.substr(0, size);
        text.remove_prefix(size);
    }
    return out.append(columns - used, ' ');
}

std::string size_text(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    constexpr std::array units{"KiB", "MiB", "GiB"};
    double size = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; size >= 1023.95 && unit + 1 < units.size(); ++unit) size /= 1024;
    return fmt::format("{:.1f} {}", size, units[unit]);
}

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
    if (count == 1 || plural.empty()) return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
    return fmt::format("{} {}", count, plural);
}

std::string hex(std::span<std::uint8_t const> bytes, std::string_view between) {
    return fmt::format("{:02x}", fmt::join(bytes, between));
}

std::string first_bytes_text(std::span<std::uint8_t const> bytes) {
    constexpr std::size_t most = 16;
    return hex(bytes.first(std::min(most, bytes.size())), " ") + (bytes.size() > most ? " ..." : "");
}

std::string clock_text(std::int64_t ticks) {
    std::int64_t const tenths = ticks / 5;
    return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

} // namespace teewire::replay
