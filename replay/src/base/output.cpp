#include "base/output.hpp"

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

} // namespace teewire::replay
