#include "base/os/windows/api.hpp"

#include "base/os/signals.hpp"

#include <boost/asio/windows/object_handle.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <utility>

#include <io.h>

namespace teewire::replay::os {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr DWORD grace = 250; // milliseconds

// Before the handler is there.
void (*report_seen)() = nullptr;
void (*report_over)() = nullptr;
HANDLE wake_up = nullptr; // an event, which stays set
std::atomic<bool> has_grace = false;
std::atomic<bool> in_grace = false;

// In a thread of its own each time.
BOOL WINAPI seen(DWORD event) {
    report_seen();
    if (in_grace.exchange(false)) {
        ::Sleep(grace);
        if (has_grace) report_over();
    }
    // Where the console is closed or the user logs off, the system ends the program when this returns.
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
    return TRUE;
}

} // namespace

void catch_signals(void (*seen_signal)(), void (*over)(), bool with_grace) {
    report_seen = seen_signal;
    report_over = over;
    has_grace = with_grace;
    wake_up = ::CreateEventW(nullptr, TRUE, FALSE, nullptr);
    if (wake_up == nullptr || !::SetConsoleCtrlHandler(seen, TRUE))
        throw std::system_error{static_cast<int>(::GetLastError()), std::system_category(), "signals"};
}

void wake() noexcept { ::SetEvent(wake_up); }
void start_grace() noexcept { in_grace = has_grace.load(); }
void cancel_grace() noexcept { has_grace = false; }

void remove_unfinished(char const* path) noexcept {
    std::wstring const name = wide_path(path);
    if (!::DeleteFileW(name.c_str())) ::RemoveDirectoryW(name.c_str());
}

void write_to_standard_error(char const* text) noexcept {
    DWORD written = 0;
    ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), text, static_cast<DWORD>(std::strlen(text)), &written, nullptr);
}

void exit_now(int code) noexcept {
    ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(code));
    std::abort();
}

// Pipes have nothing to wait for, and are looked at now and then.
bool wait_to_read(int descriptor, int milliseconds) noexcept {
    constexpr DWORD pause = 10; // milliseconds
    auto const file = reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
    bool const is_pipe = ::GetFileType(file) == FILE_TYPE_PIPE;
    ULONGLONG const end = ::GetTickCount64() + static_cast<ULONGLONG>(std::max(milliseconds, 0));
    for (;;) {
        DWORD there = 0;
        if (!is_pipe) return true;
        if (!::PeekNamedPipe(file, nullptr, 0, nullptr, &there, nullptr) || there != 0) return true; // or its end
        if (milliseconds >= 0 && ::GetTickCount64() >= end) return false;
        if (::WaitForSingleObject(wake_up, pause) == WAIT_OBJECT_0) return false;
    }
}

bool wait_for_signal(int milliseconds) noexcept {
    return ::WaitForSingleObject(wake_up, milliseconds < 0 ? INFINITE : static_cast<DWORD>(milliseconds)) ==
           WAIT_OBJECT_0;
}

struct signal_waiter::state {
    asio::windows::object_handle event;
};

signal_waiter::signal_waiter(asio::io_context& io)
    : state_{std::make_unique<state>(state{asio::windows::object_handle{io}})} {}

signal_waiter::~signal_waiter() = default;

void signal_waiter::wait(std::function<void()> f) {
    HANDLE own = nullptr;
    ::DuplicateHandle(::GetCurrentProcess(), wake_up, ::GetCurrentProcess(), &own, 0, FALSE, DUPLICATE_SAME_ACCESS);
    state_->event.assign(own);
    state_->event.async_wait([f = std::move(f)](error_code cancelled) {
        if (!cancelled) f();
    });
}

} // namespace teewire::replay::os
