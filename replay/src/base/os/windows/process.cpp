#include "base/os/windows/api.hpp"

#include "base/os/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <system_error>

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#include <unistd.h>

namespace teewire::replay::os {
namespace {

UINT code_page_before = 0;

// The running ones; 0: a free place. The thread that handles Ctrl-C reads them.
std::array<std::atomic<std::intptr_t>, 4> children{};

void change_child(std::intptr_t from, std::intptr_t to) noexcept {
    for (auto& place : children)
        if (std::intptr_t expected = from; place.compare_exchange_strong(expected, to)) return;
}

void restore_code_page() { ::SetConsoleOutputCP(code_page_before); }

// Where Steam is installed, which the user's part of the registry says.
std::string steam_folder() {
    std::array<wchar_t, MAX_PATH> path{};
    auto size = static_cast<DWORD>(sizeof path);
    LSTATUS const found = ::RegGetValueW(HKEY_CURRENT_USER, L"Software\\Valve\\Steam", L"SteamPath", RRF_RT_REG_SZ,
                                         nullptr, path.data(), &size);
    return found == ERROR_SUCCESS ? to_utf8(path.data()) : std::string{};
}

} // namespace

std::vector<std::string> begin_process(int, char**) {
    for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::_setmode(descriptor, _O_BINARY);
    // Otherwise each character is written by itself.
    std::setvbuf(stderr, nullptr, _IOFBF, 1 << 16);
    // Terminal sequences and UTF-8, wherever a console is.
    bool has_console = false;
    for (DWORD const stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
        DWORD mode = 0;
        HANDLE const handle = ::GetStdHandle(stream);
        if (!::GetConsoleMode(handle, &mode)) continue;
        ::SetConsoleMode(handle, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        has_console = true;
    }
    if (has_console) {
        code_page_before = ::GetConsoleOutputCP();
        ::SetConsoleOutputCP(CP_UTF8);
        std::atexit(restore_code_page);
    }
    int count = 0;
    LPWSTR* const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    std::vector<std::string> arguments;
    for (int i = 1; words != nullptr && i < count; ++i) arguments.push_back(to_utf8(words[i]));
    ::LocalFree(words);
    return arguments;
}

void end_by_closed_pipe() noexcept {}

std::string environment(char const* name) {
    wchar_t const* const value = ::_wgetenv(to_wide(name).c_str());
    return value != nullptr ? to_utf8(value) : std::string{};
}

std::string cache_folder() { return environment("LOCALAPPDATA"); }

std::vector<std::string> game_data_folders() {
    std::vector<std::string> folders;
    // The files that players added and fetched come first.
    if (auto const roaming = environment("APPDATA"); !roaming.empty())
        for (char const* const game : {"/DDNet", "/Teeworlds"}) folders.push_back(roaming + game);
    if (auto const steam = steam_folder(); !steam.empty())
        folders.push_back(steam + "/steamapps/common/DDraceNetwork/ddnet/data");
    return folders;
}

std::vector<std::string> font_files() {
    std::string const fonts = environment("WINDIR") + "/Fonts/";
    return {fonts + "arial.ttf", fonts + "segoeui.ttf", fonts + "msyh.ttc", fonts + "msgothic.ttc",
            fonts + "malgun.ttf"};
}

child_process::child_process(std::vector<std::string> const& arguments) {
    std::string line;
    for (std::string const& word : arguments) {
        // As CommandLineToArgvW undoes it.
        line += line.empty() ? "\"" : " \"";
        std::size_t slashes = 0;
        for (char const c : word) {
            if (c == '"') line.append(slashes + 1, '\\');
            slashes = c == '\\' ? slashes + 1 : 0;
            line += c;
        }
        line.append(slashes, '\\');
        line += '"';
    }
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE reading = nullptr;
    HANDLE writing = nullptr;
    auto const fail = [] {
        set_errno();
        throw std::system_error{errno, std::generic_category()};
    };
    constexpr DWORD room = 1 << 20;
    if (!::CreatePipe(&reading, &writing, &inherited, room)) fail();
    unique_handle const from{reading};
    unique_handle to{writing};
    ::SetHandleInformation(writing, HANDLE_FLAG_INHERIT, 0);
    unique_handle const nowhere{::CreateFileW(L"NUL", GENERIC_WRITE, 0, &inherited, OPEN_EXISTING, 0, nullptr)};
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = from.get();
    start.hStdOutput = nowhere.get();
    start.hStdError = ::GetStdHandle(STD_ERROR_HANDLE);
    PROCESS_INFORMATION made{};
    std::wstring words = to_wide(line);
    if (!::CreateProcessW(nullptr, words.data(), nullptr, nullptr, TRUE, CREATE_NEW_PROCESS_GROUP, nullptr, nullptr,
                          &start, &made))
        fail();
    ::CloseHandle(made.hThread);
    process_ = reinterpret_cast<std::intptr_t>(made.hProcess);
    change_child(0, process_);
    input_ = unique_fd{::_open_osfhandle(reinterpret_cast<std::intptr_t>(to.release()), _O_WRONLY | _O_BINARY)};
}

child_process::~child_process() {
    if (process_ == -1) return;
    ::TerminateProcess(reinterpret_cast<HANDLE>(process_), 1);
    static_cast<void>(finish());
}

bool child_process::write(std::span<std::uint8_t const> bytes) noexcept {
    constexpr std::size_t most = 1 << 20;
    while (!bytes.empty()) {
        int const written =
            ::_write(input_.get(), bytes.data(), static_cast<unsigned>(std::min(bytes.size(), most)));
        if (written <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

int child_process::finish() noexcept {
    input_ = unique_fd{};
    auto const process = reinterpret_cast<HANDLE>(process_);
    ::WaitForSingleObject(process, INFINITE);
    DWORD code = 0;
    bool const known = ::GetExitCodeProcess(process, &code) != 0;
    change_child(process_, 0);
    ::CloseHandle(process);
    process_ = -1;
    return known ? static_cast<int>(code) : -1;
}

void end_children() noexcept {
    for (auto const& place : children)
        if (std::intptr_t const child = place; child != 0) {
            ::TerminateProcess(reinterpret_cast<HANDLE>(child), 1);
            ::WaitForSingleObject(reinterpret_cast<HANDLE>(child), INFINITE);
        }
}

std::string open_browser(std::string address) {
    auto const result = reinterpret_cast<std::intptr_t>(
        ::ShellExecuteW(nullptr, L"open", to_wide(address).c_str(), nullptr, nullptr, SW_SHOWNORMAL));
    return result > 32 ? "" : "none is installed"; // errors are up to 32
}

bool local_time(std::time_t time, std::tm& out) noexcept { return ::localtime_s(&out, &time) == 0; }

std::optional<std::uint64_t> address_space_limit() noexcept { return std::nullopt; }
void save_address_space() noexcept {}
void allow_descriptors() noexcept {}

std::uint8_t* reserve_memory(std::size_t bytes) noexcept {
    return static_cast<std::uint8_t*>(::VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_READWRITE));
}

void release_memory(std::uint8_t* begin, std::size_t) noexcept { ::VirtualFree(begin, 0, MEM_RELEASE); }

bool commit_memory(std::uint8_t* begin, std::size_t bytes) noexcept {
    return bytes == 0 || ::VirtualAlloc(begin, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void clear_memory(std::uint8_t* begin, std::size_t bytes) noexcept {
    ::VirtualFree(begin, bytes, MEM_DECOMMIT);
    static_cast<void>(commit_memory(begin, bytes));
}

} // namespace teewire::replay::os
