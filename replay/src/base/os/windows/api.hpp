// The interface of Windows, and the texts that it takes.
#pragma once

#include <string>
#include <string_view>
#include <utility>

// Without what has names that others use, too. Boost's headers need the sockets first.
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>

#include <windows.h>

namespace teewire::replay::os {

[[nodiscard]] std::wstring to_wide(std::string_view text);
[[nodiscard]] std::string to_utf8(std::wstring_view text);
/// For functions that take the name of a file. One that is long gets the form that may be.
[[nodiscard]] std::wstring wide_path(std::string const& name);
/// Sets errno to what the last error of Windows means.
void set_errno() noexcept;

/// Closes a handle when it goes.
class unique_handle {
public:
    unique_handle() = default;
    explicit unique_handle(HANDLE handle) noexcept : handle_{handle} {}
    unique_handle(unique_handle&& other) noexcept : handle_{other.release()} {}
    unique_handle& operator=(unique_handle&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~unique_handle() {
        if (*this) ::CloseHandle(handle_);
    }

    [[nodiscard]] HANDLE get() const noexcept { return handle_; }
    [[nodiscard]] HANDLE release() noexcept { return std::exchange(handle_, INVALID_HANDLE_VALUE); }
    explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE && handle_ != nullptr; }

private:
    HANDLE handle_ = INVALID_HANDLE_VALUE;
};

} // namespace teewire::replay::os
