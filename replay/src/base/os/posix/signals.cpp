#include "base/os/signals.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace teewire::replay::os {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr long grace_nanoseconds = 250'000'000;
constexpr itimerspec no_time{};

// Before the handlers are there.
void (*report_seen)() = nullptr;
void (*report_over)() = nullptr;
int wake_up[2] = {-1, -1};
std::atomic<bool> has_grace_timer = false;
timer_t grace_timer{};

// Signal handlers.
void grace_over(int) { report_over(); }
void seen(int) {
    int const error = errno;
    report_seen();
    errno = error;
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

void catch_signals(void (*seen_signal)(), void (*over)(), bool with_grace) {
    report_seen = seen_signal;
    report_over = over;
    if (::pipe2(wake_up, O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error{errno, std::generic_category(), "pipe"};
    if (with_grace) {
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGALRM;
        handle(SIGALRM, grace_over);
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
        has_grace_timer = ::timer_create(CLOCK_MONOTONIC, &event, &grace_timer) == 0;
    }
    for (int const signal : {SIGINT, SIGTERM, SIGHUP})
        if (signal != SIGHUP || !is_ignored(signal)) handle(signal, seen);
}

void wake() noexcept { static_cast<void>(!::write(wake_up[1], "", 1)); }

void start_grace() noexcept {
    itimerspec grace{};
    grace.it_value.tv_nsec = grace_nanoseconds;
    if (has_grace_timer) ::timer_settime(grace_timer, 0, &grace, nullptr);
}

void cancel_grace() noexcept {
    if (has_grace_timer.exchange(false)) ::timer_settime(grace_timer, 0, &no_time, nullptr);
}

void remove_unfinished(char const* path) noexcept {
    if (::unlink(path) != 0) ::rmdir(path);
}

void write_to_standard_error(char const* text) noexcept {
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
}

void exit_now(int code) noexcept { ::_exit(code); }

bool wait_to_read(int descriptor, int milliseconds) noexcept {
    std::array<pollfd, 2> either{{{descriptor, POLLIN, 0}, {wake_up[0], POLLIN, 0}}};
    ::poll(either.data(), either.size(), milliseconds);
    return either[0].revents != 0;
}

bool wait_for_signal(int milliseconds) noexcept {
    pollfd signal{wake_up[0], POLLIN, 0};
    return ::poll(&signal, 1, milliseconds) > 0;
}

struct signal_waiter::state {
    asio::posix::stream_descriptor descriptor;
};

signal_waiter::signal_waiter(asio::io_context& io)
    : state_{std::make_unique<state>(state{asio::posix::stream_descriptor{io}})} {}

signal_waiter::~signal_waiter() = default;

void signal_waiter::wait(std::function<void()> f) {
    state_->descriptor.assign(::dup(wake_up[0]));
    state_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                  [f = std::move(f)](error_code cancelled) {
                                      if (!cancelled) f();
                                  });
}

} // namespace teewire::replay::os
