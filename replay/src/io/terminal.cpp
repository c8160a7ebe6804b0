#include "io/terminal.hpp"

#include "io/output.hpp"

#include <algorithm>
#include <cmath>

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

// ---- view ----------------------------------------------------------------------------------------------------------

namespace {

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

std::string minutes(std::int64_t ticks) {
    std::int64_t const seconds = ticks / ticks_per_second;
    return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string speed_text(double speed) {
    return speed < 1 && std::trunc(1 / speed) == 1 / speed ? fmt::format("1/{}", 1 / speed)
                                                           : fmt::format("{}", speed);
}

// Of the first one who runs.
std::string race_clock(std::span<player const> players) {
    auto const runner =
        std::find_if(players.begin(), players.end(), [](player const& p) { return p.race.has_value(); });
    return runner == players.end() ? "" : fmt::format("   {} races {}", runner->name, clock_text(*runner->race));
}

std::string position_line(view const& v) {
    char const* const state = v.tick >= v.last_tick ? "end" : v.paused ? "paused" : "playing";
    return fmt::format("tick {}   {} / {}   speed {}x   {}{}", v.tick, minutes(std::int64_t{v.tick} - v.first_tick),
                       minutes(std::int64_t{v.last_tick} - v.first_tick), speed_text(v.speed), state,
                       race_clock(v.players));
}

std::string position_bar(view const& v, std::size_t columns) {
    if (columns < 3) return {};
    std::size_t const cells = columns - 2;
    double const length = std::max(1.0, static_cast<double>(v.last_tick) - v.first_tick);
    auto const cell = [&](std::int32_t tick) {
        double const part = std::clamp((static_cast<double>(tick) - v.first_tick) / length, 0.0, 1.0);
        return static_cast<std::size_t>(std::lround(part * static_cast<double>(cells - 1)));
    };
    std::string bar(cells, '-');
    std::fill_n(bar.begin(), cell(v.tick), '=');
    for (std::int32_t const marker : v.markers) bar[cell(marker)] = '|';
    bar[cell(v.tick)] = '#';
    return '[' + bar + ']';
}

// 80 columns. Times are longer than scores.
std::string player_row(bool timed, std::string_view id, std::string_view name, std::string_view clan,
                       std::string_view team, std::string_view score, std::string_view position,
                       std::string_view condition, std::string_view weapon, std::string_view latency) {
    std::size_t const score_width = timed ? 10 : 6;
    return fmt::format("{:>3} {} {} {} {:>{}} {:>13} {:>5}  {} {:>4}", id, fit(name, 15),
                       fit(clan, 17 - score_width), fit(team, 4), score, score_width, position, condition,
                       fit(weapon, 8), latency);
}

std::string player_row(player const& p, bool timed) {
    auto const number = [](std::int32_t value) { return fmt::format("{}", value); };
    std::string const score = p.time ? time_text(*p.time) : p.score ? number(*p.score) : "-";
    character const body = p.body.value_or(character{});
    return player_row(timed, number(p.client_id), p.name, p.clan, p.team, score, p.body ? body.position() : "-",
                      body.condition(), body.weapon, number(p.latency));
}

} // namespace

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

std::vector<std::string> draw(view const& v, window size) {
    bool const timed = std::any_of(v.players.begin(), v.players.end(), [](player const& p) { return p.timed; });
    std::vector<std::string> rows{v.title, position_line(v), position_bar(v, size.columns),
                                  player_row(timed, "id", "name", "clan", "team", timed ? "time" : "score", "x,y",
                                             "hp/ar", "weapon", "ping")};
    // Two rows more are an empty one and the last one. A third is for what happens; more if players leave it.
    std::size_t const room = size.rows - std::min(size.rows, rows.size() + 2);
    std::size_t const lines =
        std::min(v.happenings.size(), std::max(room / 3, room - std::min(room, v.players.size())));
    std::size_t players = std::min(v.players.size(), room - lines);
    if (players < v.players.size() && players > 0) --players; // for the line that says so
    for (player const& p : v.players.first(players)) rows.push_back(player_row(p, timed));
    if (players < v.players.size()) rows.push_back(fmt::format("    and {} more", v.players.size() - players));
    rows.emplace_back();
    for (happening const& h : v.happenings.last(lines))
        rows.push_back(
            fmt::format("{:>6}  {}", minutes(std::max(h.tick, v.first_tick) - std::int64_t{v.first_tick}), h.text));
    rows.resize(size.rows - std::min<std::size_t>(size.rows, 1));
    rows.push_back(!v.error.empty()
                       ? v.error
                       : fmt::format("space pause  </> 5 s  PgUp/PgDn 60 s  Home/End  +/- speed  . step  {}q quit",
                                     v.markers.empty() ? "" : "n/p marker  "));
    rows.resize(size.rows);
    for (std::string& row : rows) row = fit(row, size.columns);
    return rows;
}

// ---- terminal ------------------------------------------------------------------------------------------------------

terminal::terminal() {
    if (tcgetattr(STDIN_FILENO, &modes_before_) != 0) throw io_error{"standard input: not a terminal"};
    flags_before_ = fcntl(STDIN_FILENO, F_GETFL);
    try {
        enter();
    } catch (...) {
        leave();
        throw;
    }
}

bool terminal::available() noexcept { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

void terminal::enter() {
    termios modes = modes_before_;
    modes.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON); // Ctrl-C and Ctrl-Z stay signals
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    entered_ = true;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    forget();
    write("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"); // alternate screen, no cursor, no wrapping
}

void terminal::leave() noexcept {
    if (!entered_) return;
    entered_ = false;
    try {
        write("\x1b[?7h\x1b[?25h\x1b[?1049l");
    } catch (io_error const&) { // nobody looks any more
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_before_);
    fcntl(STDIN_FILENO, F_SETFL, flags_before_);
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
