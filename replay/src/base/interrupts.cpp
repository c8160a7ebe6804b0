#include "base/interrupts.hpp"

#include "base/output.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace teewire::replay {

// One in a list that only grows, as a signal handler may be reading it.
struct unfinished {
    std::string path;
    std::atomic<bool> there = true;
    unfinished* next = nullptr;
};

namespace {

constexpr long grace_nanoseconds = 250'000'000;
constexpr itimerspec no_time{};

// All threads and the signal handler look at these.
std::atomic<bool> interrupt_seen = false;
std::atomic<int> endless_waits = 0;
std::atomic<bool> line_shown = false;
std::atomic<void (*)() noexcept> restore_terminal = nullptr;
std::atomic<unfinished*> all_unfinished = nullptr;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<unfinished*>::is_always_lock_free);

// Before the handler is there.
int wake_up[2] = {-1, -1};
std::atomic<bool> has_grace_timer = false;
timer_t grace_timer{};

// These three are run as signal handlers.

[[noreturn]] void end_now() {
    for (unfinished const* u = all_unfinished; u != nullptr; u = u->next)
        if (u->there && ::unlink(u->path.c_str()) != 0)
            ::rmdir(u->path.c_str()); // the newest first: a folder is empty by then
    if (auto const restore = restore_terminal.load()) restore();
    if (line_shown) static_cast<void>(!::write(STDERR_FILENO, "\r\x1b[K", 4));
    ::_exit(exit_interrupted);
}

void grace_over(int) { end_now(); }

void seen(int) {
    int const error = errno;
    if (interrupt_seen.exchange(true) || endless_waits > 0) end_now();
    static_cast<void>(!::write(wake_up[1], "", 1));
    itimerspec grace{};
    grace.it_value.tv_nsec = grace_nanoseconds;
    if (has_grace_timer) ::timer_settime(grace_timer, 0, &grace, nullptr);
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

void catch_interrupts(ending when) {
    if (::pipe2(wake_up, O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error{errno, std::generic_category(), "pipe"};
    if (when == ending::soon) {
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

bool interrupted() noexcept { return interrupt_seen.load(std::memory_order_relaxed); }

void defer_exit() noexcept {
    if (has_grace_timer.exchange(false)) ::timer_settime(grace_timer, 0, &no_time, nullptr);
}

int interrupt_descriptor() noexcept { return wake_up[0]; }

endless_wait::endless_wait() noexcept {
    ++endless_waits;
    if (interrupt_seen) end_now(); // before this waits
}
endless_wait::~endless_wait() { --endless_waits; }

unfinished_name::unfinished_name(std::string const& path) : entry_{new unfinished{path}} {
    entry_->next = all_unfinished;
    while (!all_unfinished.compare_exchange_weak(entry_->next, entry_)) {
    }
}
unfinished_name::~unfinished_name() { entry_->there = false; }

void set_line_shown(bool shown) noexcept { line_shown = shown; }
void set_restore_terminal(void (*restore)() noexcept) noexcept { restore_terminal = restore; }

} // namespace teewire::replay
