#include "base/terminal.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace teewire::replay {

// ---- keys ----------------------------------------------------------------------------------------------------------

namespace {

struct key_sequence {
    std::string_view bytes;
    key meaning;
};
constexpr key_sequence key_sequences[] = {
    {" ", key::space},
    {"+", key::plus},
    {"=", key::plus},
    {"-", key::minus},
    {".", key::dot},
    {"n", key::n},
    {"p", key::p},
    {"q", key::q},
    {"\x1b[D", key::left},
    {"\x1bOD", key::left},
    {"\x1b[C", key::right},
    {"\x1bOC", key::right},
    {"\x1b[5~", key::page_up},
    {"\x1b[1;2D", key::page_up},
    {"\x1b[6~", key::page_down},
    {"\x1b[1;2C", key::page_down},
    {"\x1b[H", key::home},
    {"\x1bOH", key::home},
    {"\x1b[1~", key::home},
    {"\x1b[7~", key::home},
    {"\x1b[F", key::end},
    {"\x1bOF", key::end},
    {"\x1b[4~", key::end},
    {"\x1b[8~", key::end},
};

// Bytes of the key at the front: 0 if more have to come.
std::size_t key_size(std::string_view typed) {
    if (typed[0] != '\x1b') return 1;
    if (typed.size() == 1) return 0;
    if (typed[1] == 'O') return typed.size() < 3 ? 0 : 3;
    if (typed[1] != '[') return 1; // the escape key, and then another one
    auto const last = std::find_if(typed.begin() + 2, typed.end(), [](char c) { return c >= 0x40 && c <= 0x7e; });
    return last == typed.end() ? 0 : static_cast<std::size_t>(last - typed.begin()) + 1;
}

} // namespace

std::vector<key> take_keys(std::string& typed) {
    std::vector<key> keys;
    while (!typed.empty()) {
        std::size_t const size = key_size(typed);
        if (size == 0) break;
        for (key_sequence const& s : key_sequences)
            if (s.bytes == std::string_view{typed}.substr(0, size)) keys.push_back(s.meaning);
        typed.erase(0, size);
    }
    return keys;
}

// ---- terminal ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view ordinary_screen = "\x1b[?7h\x1b[?25h\x1b[?1049l";
// As the terminal was. A signal handler needs them, too.
termios modes_before;
int flags_before;

void restore() noexcept {
    static_cast<void>(!::write(STDOUT_FILENO, ordinary_screen.data(), ordinary_screen.size()));
    tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
    fcntl(STDIN_FILENO, F_SETFL, flags_before);
}

} // namespace

terminal::terminal() {
    if (tcgetattr(STDIN_FILENO, &modes_before) != 0) throw io_error{"standard input: not a terminal"};
    flags_before = fcntl(STDIN_FILENO, F_GETFL);
    try {
        enter();
    } catch (...) {
        leave();
        throw;
    }
}

bool terminal::available() noexcept { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

void terminal::enter() {
    termios modes = modes_before;
    modes.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON); // Ctrl-C and Ctrl-Z stay signals
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    entered_ = true;
    set_restore_terminal(restore);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    forget();
    write("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"); // alternate screen, no cursor, no wrapping
}

void terminal::leave() noexcept {
    if (!entered_) return;
    entered_ = false;
    try {
        write(ordinary_screen);
    } catch (io_error const&) { // the terminal is gone
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_before);
    set_restore_terminal(nullptr);
    fcntl(STDIN_FILENO, F_SETFL, flags_before);
}

window terminal::size() const noexcept {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
    return {size.ws_row, size.ws_col};
}

void terminal::show(std::vector<std::string> rows) {
    std::string changes;
    if (rows.size() != shown_.size()) {
        changes = "\x1b[2J";
        shown_.clear();
    }
    shown_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i] != shown_[i]) changes += fmt::format("\x1b[{};1H{}", i + 1, rows[i]);
    shown_ = std::move(rows);
    if (!changes.empty()) write(changes);
}

bool terminal::read(std::string& typed) {
    char bytes[256];
    ssize_t const n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    typed.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
}

// Waiting for input asynchronously makes the terminal non-blocking, and output usually shares that.
void terminal::write(std::string_view text) const {
    while (!text.empty()) {
        ssize_t const n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n > 0) {
            text.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN) {
            pollfd ready{STDOUT_FILENO, POLLOUT, 0};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            throw io_error{"standard output: cannot be written"};
        }
    }
}

} // namespace teewire::replay
