#include "base/os/console.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace teewire::replay::os {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// As the terminal was. A signal handler needs them, too.
termios modes_before;
int flags_before;

} // namespace

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) != 0; }

std::optional<window> window_size() noexcept {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
    return window{size.ws_row, size.ws_col};
}

bool keep_terminal_modes() noexcept {
    flags_before = ::fcntl(STDIN_FILENO, F_GETFL);
    return ::tcgetattr(STDIN_FILENO, &modes_before) == 0;
}

void set_key_modes() noexcept {
    termios modes = modes_before;
    modes.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON); // Ctrl-C and Ctrl-Z stay signals
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
}

void restore_terminal_modes(bool at_once) noexcept {
    ::tcsetattr(STDIN_FILENO, at_once ? TCSANOW : TCSADRAIN, &modes_before);
    ::fcntl(STDIN_FILENO, F_SETFL, flags_before);
}

// Waiting for input asynchronously makes the terminal non-blocking, and output usually shares that.
bool write_to_terminal(std::string_view text) noexcept {
    while (!text.empty()) {
        ssize_t const n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n > 0) {
            text.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN) {
            pollfd ready{STDOUT_FILENO, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

struct standard_input::state {
    asio::posix::stream_descriptor descriptor;
};

standard_input::standard_input(asio::io_context& io)
    : state_{std::make_shared<state>(state{asio::posix::stream_descriptor{io, ::dup(STDIN_FILENO)}})} {}

standard_input::~standard_input() = default;

void standard_input::wait(std::function<void()> f) {
    state_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [f = std::move(f)](error_code failed) {
        if (failed != asio::error::operation_aborted) f();
    });
}

bool standard_input::read(std::string& typed) {
    char bytes[256];
    ssize_t const n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    typed.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
}

struct terminal_events::state {
    state(asio::io_context& io, std::function<void(terminal_event)> f)
        : signals{io, SIGQUIT, SIGTSTP, SIGCONT}, report{std::move(f)} {
        signals.add(SIGWINCH);
    }

    asio::signal_set signals;
    std::function<void(terminal_event)> report;

    void wait() {
        signals.async_wait([this](error_code failed, int signal) {
            if (failed) return;
            switch (signal) {
            case SIGTSTP: report(terminal_event::suspended); break;
            case SIGCONT: report(terminal_event::resumed); break;
            case SIGWINCH: report(terminal_event::resized); break;
            default: return report(terminal_event::closed);
            }
            wait();
        });
    }
};

terminal_events::terminal_events(asio::io_context& io, std::function<void(terminal_event)> f)
    : state_{std::make_unique<state>(io, std::move(f))} {
    state_->wait();
}

terminal_events::~terminal_events() = default;

void suspend() noexcept { std::raise(SIGSTOP); }

} // namespace teewire::replay::os
