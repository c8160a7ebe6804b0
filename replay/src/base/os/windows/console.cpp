#include "base/os/windows/api.hpp"

#include "base/os/console.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include <io.h>
#include <unistd.h>

namespace teewire::replay::os {

namespace asio = boost::asio;

namespace {

DWORD modes_before = 0;

HANDLE input_handle() noexcept { return ::GetStdHandle(STD_INPUT_HANDLE); }

// As terminals elsewhere send it.
std::string_view sequence_of(KEY_EVENT_RECORD const& key) noexcept {
    bool const shift = (key.dwControlKeyState & SHIFT_PRESSED) != 0;
    switch (key.wVirtualKeyCode) {
    case VK_LEFT: return shift ? "\x1b[1;2D" : "\x1b[D";
    case VK_RIGHT: return shift ? "\x1b[1;2C" : "\x1b[C";
    case VK_PRIOR: return "\x1b[5~";
    case VK_NEXT: return "\x1b[6~";
    case VK_HOME: return "\x1b[H";
    case VK_END: return "\x1b[F";
    default: return {};
    }
}

std::string read_keys() {
    std::array<INPUT_RECORD, 64> events;
    DWORD count = 0;
    std::string typed;
    if (!::ReadConsoleInputW(input_handle(), events.data(), static_cast<DWORD>(events.size()), &count))
        return typed;
    for (INPUT_RECORD const& event : std::span{events}.first(count)) {
        if (event.EventType != KEY_EVENT || !event.Event.KeyEvent.bKeyDown) continue;
        wchar_t const unit = event.Event.KeyEvent.uChar.UnicodeChar;
        typed += unit != 0 ? to_utf8({&unit, 1}) : std::string{sequence_of(event.Event.KeyEvent)};
    }
    return typed;
}

} // namespace

bool is_terminal(int descriptor) noexcept {
    DWORD mode = 0;
    return ::GetConsoleMode(reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)), &mode) != 0;
}

std::optional<window> window_size() noexcept {
    CONSOLE_SCREEN_BUFFER_INFO found{};
    if (!::GetConsoleScreenBufferInfo(::GetStdHandle(STD_OUTPUT_HANDLE), &found)) return {};
    return window{static_cast<std::size_t>(found.srWindow.Bottom - found.srWindow.Top + 1),
                  static_cast<std::size_t>(found.srWindow.Right - found.srWindow.Left + 1)};
}

bool keep_terminal_modes() noexcept { return ::GetConsoleMode(input_handle(), &modes_before) != 0; }

void set_key_modes() noexcept {
    ::SetConsoleMode(input_handle(), ENABLE_PROCESSED_INPUT | ENABLE_WINDOW_INPUT | ENABLE_EXTENDED_FLAGS);
}

void restore_terminal_modes(bool) noexcept { ::SetConsoleMode(input_handle(), modes_before); }

bool write_to_terminal(std::string_view text) noexcept {
    while (!text.empty()) {
        int const n = ::_write(STDOUT_FILENO, text.data(), static_cast<unsigned>(text.size()));
        if (n <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// Nothing but a thread can wait for a pipe. It may live longer than the loop.
struct standard_input::state {
    std::mutex access;
    std::condition_variable taken;
    asio::io_context* io; // null when the loop is gone
    std::function<void()> waiting;
    std::string typed;
    bool ended = false;
    bool started = false;

    void report() {
        if (io != nullptr && waiting) asio::post(*io, std::exchange(waiting, nullptr));
    }

    static void run(std::shared_ptr<state> const& self) {
        bool const keys = is_terminal(STDIN_FILENO);
        for (bool more = true; more;) {
            std::string got;
            if (keys) {
                got = read_keys();
            } else {
                std::array<char, 256> bytes;
                DWORD size = 0;
                more = ::ReadFile(input_handle(), bytes.data(), static_cast<DWORD>(bytes.size()), &size, nullptr) &&
                       size != 0;
                got.assign(bytes.data(), size);
            }
            std::unique_lock lock{self->access};
            self->typed += got;
            self->ended = !more;
            self->report();
            self->taken.wait(lock, [&] { return self->typed.empty() || self->io == nullptr; });
            if (self->io == nullptr) return;
        }
    }
};

standard_input::standard_input(asio::io_context& io) : state_{std::make_shared<state>()} { state_->io = &io; }

standard_input::~standard_input() {
    std::lock_guard const lock{state_->access};
    state_->io = nullptr;
    state_->taken.notify_one();
}

void standard_input::wait(std::function<void()> f) {
    std::lock_guard const lock{state_->access};
    state_->waiting = std::move(f);
    if (!std::exchange(state_->started, true)) std::thread{state::run, state_}.detach();
    else if (!state_->typed.empty() || state_->ended) state_->report();
}

bool standard_input::read(std::string& typed) {
    std::lock_guard const lock{state_->access};
    typed += std::exchange(state_->typed, {});
    state_->taken.notify_one();
    return !state_->ended;
}

struct terminal_events::state {};

terminal_events::terminal_events(asio::io_context&, std::function<void(terminal_event)>) {}
terminal_events::~terminal_events() = default;

void suspend() noexcept {}

} // namespace teewire::replay::os
