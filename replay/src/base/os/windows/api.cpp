#include "base/os/windows/api.hpp"

#include <cerrno>
#include <system_error>

namespace teewire::replay::os {

std::wstring to_wide(std::string_view text) {
    int const size = static_cast<int>(text.size());
    int const units = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0);
    std::wstring wide(static_cast<std::size_t>(units), L'\0');
    ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), units);
    return wide;
}

std::string to_utf8(std::wstring_view text) {
    int const units = static_cast<int>(text.size());
    int const size = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), units, nullptr, 0, nullptr, nullptr);
    std::string narrow(static_cast<std::size_t>(size), '\0');
    ::WideCharToMultiByte(CP_UTF8, 0, text.data(), units, narrow.data(), size, nullptr, nullptr);
    return narrow;
}

std::wstring wide_path(std::string const& name) {
    constexpr DWORD longest = 240; // with room for what a folder needs
    std::wstring const wide = to_wide(name);
    DWORD const size = ::GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr);
    if (size < longest || wide.starts_with(L"\\\\")) return wide;
    std::wstring full(size, L'\0');
    full.resize(::GetFullPathNameW(wide.c_str(), size, full.data(), nullptr));
    return L"\\\\?\\" + full;
}

void set_errno() noexcept {
    DWORD const error = ::GetLastError();
    std::error_condition const meaning =
        std::error_code{static_cast<int>(error), std::system_category()}.default_error_condition();
    errno = error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION ? EBUSY
            : meaning.category() == std::generic_category()                   ? meaning.value()
                                                                              : EIO;
}

} // namespace teewire::replay::os
