#include "base/output.hpp"

#include "base/os/console.hpp"

#include <algorithm>
#include <cmath>
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

namespace {

verbosity how_much = verbosity::normal; // set before there are threads

// "1:05 left  ", or nothing before there is enough to estimate from.
std::string rest_text(std::uint64_t done, std::uint64_t total, double seconds) {
    if (seconds < 2 || done == 0 || done >= total) return {};
    double const rest = seconds * static_cast<double>(total - done) / static_cast<double>(done);
    if (rest > 359'999) return {};
    auto const whole = std::lround(rest);
    if (whole >= 3600) return fmt::format("{}:{:02}:{:02} left  ", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02} left  ", whole / 60, whole % 60);
}

} // namespace

void set_verbosity(verbosity v) noexcept { how_much = v; }

void write_error(std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    std::fflush(stderr);
}
void say(std::string_view text) {
    if (how_much != verbosity::quiet) write_error(text);
}

std::string error_line(std::string_view text) { return fmt::format("teewire: {}\n", printable(text)); }
void complain(std::string_view text) { write_error(error_line(text)); }
void remark(std::string_view text) { say(std::string_view{error_line(text)}); }

progress::progress(std::uint64_t total_bytes)
    : form_{how_much == verbosity::quiet     ? form::none
            : os::is_terminal(STDERR_FILENO) ? form::line_on_terminal
            : how_much == verbosity::verbose ? form::lines
                                             : form::none},
      total_{total_bytes}, begun_{clock::now()}, next_{begun_ + std::chrono::milliseconds{
                                                                    form_ == form::lines ? 2000 : 300}} {}

void progress::update(std::uint64_t done_bytes, std::string_view what) {
    if (form_ == form::none) return;
    auto const now = clock::now();
    if (now < next_) return;
    auto const percent = total_ == 0 ? 100 : std::min(done_bytes, total_) * 100 / total_;
    std::string const text = fmt::format(
        "{:3}%  {}{}", percent, rest_text(done_bytes, total_, std::chrono::duration<double>{now - begun_}.count()),
        printable(what));
    if (form_ == form::lines) {
        next_ = now + std::chrono::seconds{2};
        write_error(text + "\n");
        return;
    }
    next_ = now + std::chrono::milliseconds{100};
    shown_ = true;
    set_line_shown(true);
    write_error("\r\x1b[K" + text);
}

void progress::clear() {
    if (!shown_) return;
    shown_ = false;
    write_error("\r\x1b[K");
    set_line_shown(false);
}

} // namespace teewire::replay
