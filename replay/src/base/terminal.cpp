#include "base/terminal.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>

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

void restore() noexcept {
    static_cast<void>(os::write_to_terminal(ordinary_screen));
    os::restore_terminal_modes(true);
}

} // namespace

terminal::terminal() {
    if (!os::keep_terminal_modes()) throw io_error{"standard input: not a terminal"};
    try {
        enter();
    } catch (...) {
        leave();
        throw;
    }
}

bool terminal::available() noexcept { return os::is_terminal(STDIN_FILENO) && os::is_terminal(STDOUT_FILENO); }

void terminal::enter() {
    entered_ = true;
    set_restore_terminal(restore);
    os::set_key_modes();
    forget();
    write("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"); // alternate screen, no cursor, no wrapping
}

void terminal::leave() noexcept {
    if (!entered_) return;
    entered_ = false;
    static_cast<void>(os::write_to_terminal(ordinary_screen)); // unless it is gone
    os::restore_terminal_modes(false);
    set_restore_terminal(nullptr);
}

window terminal::size() const noexcept {
    window const found = os::window_size().value_or(window{});
    return found.rows == 0 || found.columns == 0 ? window{} : found;
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

void terminal::write(std::string_view text) const {
    if (!os::write_to_terminal(text)) throw io_error{"standard output: cannot be written"};
}

} // namespace teewire::replay
