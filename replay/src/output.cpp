#include "output.hpp"

#include "input.hpp"

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
    bool const written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) throw io_error{"standard output: cannot be written"};
}

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
    fmt::print(stderr, "\r\x1b[K{:3}%  {}", total_ == 0 ? 100 : done_bytes * 100 / total_, what);
    std::fflush(stderr);
}

void progress::clear() {
    if (!shown_) return;
    shown_ = false;
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    set_line_shown(false);
}

namespace {

std::string valid_text(std::string_view text, bool keep_controls) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        auto const byte = [&](std::size_t at) {
            return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
        };
        std::uint8_t const first = byte(i);
        if (first < 0x80) {
            out += !keep_controls && (first < 0x20 || first == 0x7f) ? ' ' : static_cast<char>(first);
            ++i;
            continue;
        }
        std::size_t const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
        std::uint32_t point = first & (0xffU >> (size + 1));
        bool valid = first >= 0xc2 && first <= 0xf4;
        for (std::size_t k = 1; valid && k < size; ++k) {
            valid = (byte(i + k) & 0xc0) == 0x80;
            point = point << 6 | (byte(i + k) & 0x3fU);
        }
        constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
        valid = valid && point >= smallest[size] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        if (valid && (keep_controls || point >= 0xa0))
            out.append(text.substr(i, size)); // 0x80..0x9f are controls too
        else out += valid ? " " : "\xef\xbf\xbd";
        i += valid ? size : 1;
    }
    return out;
}

} // namespace

std::string printable(std::string_view text) { return valid_text(text, false); }
std::string valid_utf8(std::string_view text) { return valid_text(text, true); }

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string clock_text(std::int64_t ticks) {
    std::int64_t const tenths = ticks / 5;
    return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

} // namespace teewire::replay
