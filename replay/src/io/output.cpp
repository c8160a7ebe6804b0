#include "io/output.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace teewire::replay {

void output::write(std::string_view text) {
    if (buffer_.size() + text.size() <= flush_size) return buffer_.write(text);
    flush();
    put(text);
}

void output::flush() {
    put(buffer_.view());
    buffer_.clear();
}

void output::put(std::string_view text) {
    file_.write({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()});
}

int output::finish(int code) {
    flush();
    if (code == exit_interrupted || (code != exit_ok && file_.size() == 0)) return code;
    file_.finish_as_named();
    return code;
}

void say(std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    std::fflush(stderr);
}

std::string error_line(std::string_view text) { return fmt::format("teewire: {}\n", printable(text)); }
void complain(std::string_view text) { say(std::string_view{error_line(text)}); }

progress::progress(std::uint64_t total_bytes)
    : terminal_{isatty(STDERR_FILENO) != 0}, total_{total_bytes}, next_{std::chrono::steady_clock::now() +
                                                                        std::chrono::milliseconds{300}} {}

void progress::update(std::uint64_t done_bytes, std::string_view what) {
    if (!terminal_) return;
    auto const now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds{100};
    shown_ = true;
    set_line_shown(true);
    say("\r\x1b[K{:3}%  {}", total_ == 0 ? 100 : done_bytes * 100 / total_, printable(what));
}

void progress::clear() {
    if (!shown_) return;
    shown_ = false;
    say("\r\x1b[K");
    set_line_shown(false);
}

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

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string clock_text(std::int64_t ticks) {
    std::int64_t const tenths = ticks / 5;
    return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

} // namespace teewire::replay
