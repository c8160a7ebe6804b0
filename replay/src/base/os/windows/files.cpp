#include "base/os/files.hpp"

#include "base/os/windows/api.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cwctype>
#include <limits>

#include <fcntl.h>
#include <io.h>

namespace teewire::replay::os {
namespace {

constexpr DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

HANDLE handle_of(int descriptor) noexcept { return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)); }

unique_handle open_handle(std::string const& name, DWORD access, DWORD sharing, DWORD how, DWORD flags) noexcept {
    unique_handle opened{::CreateFileW(wide_path(name).c_str(), access, sharing, nullptr, how, flags, nullptr)};
    if (!opened) set_errno();
    return opened;
}

unique_fd descriptor_of(unique_handle handle, int flags) noexcept {
    if (!handle) return {};
    unique_fd made{
        ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle.get()), flags | _O_BINARY | _O_NOINHERIT)};
    if (made) static_cast<void>(handle.release()); // the descriptor has it
    return made;
}

// Reading and writing elsewhere moves the position of a descriptor, which the next read() or write() must not notice.
class kept_position {
public:
    explicit kept_position(int descriptor) noexcept
        : descriptor_{descriptor}, position_{::_lseeki64(descriptor, 0, SEEK_CUR)} {}
    ~kept_position() { ::_lseeki64(descriptor_, position_, SEEK_SET); }
    kept_position(kept_position const&) = delete;
    kept_position& operator=(kept_position const&) = delete;

private:
    int descriptor_;
    std::int64_t position_;
};

OVERLAPPED place(std::uint64_t offset) noexcept {
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(offset);
    at.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return at;
}

DWORD at_once(std::size_t bytes) noexcept { return static_cast<DWORD>(std::min<std::size_t>(bytes, 1 << 30)); }

std::int64_t nanoseconds_of(FILETIME const& time) noexcept {
    constexpr std::int64_t from_1601 = 116'444'736'000'000'000; // to 1970, in the units of 100 ns
    std::int64_t const units = (std::int64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) - from_1601;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 100;
    return std::clamp(units, -most, most) * 100;
}

file_facts facts_from(HANDLE handle) noexcept {
    file_facts facts;
    BY_HANDLE_FILE_INFORMATION found{};
    switch (::GetFileType(handle)) {
    case FILE_TYPE_DISK: break;
    case FILE_TYPE_CHAR:
    case FILE_TYPE_PIPE: facts.type = file_type::other; return facts;
    default: errno = EBADF; return facts;
    }
    if (!::GetFileInformationByHandle(handle, &found)) {
        set_errno();
        return facts;
    }
    facts.type = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? file_type::folder : file_type::regular;
    facts.size = std::uint64_t{found.nFileSizeHigh} << 32 | found.nFileSizeLow;
    facts.modified = nanoseconds_of(found.ftLastWriteTime);
    facts.volume = found.dwVolumeSerialNumber;
    facts.number = std::uint64_t{found.nFileIndexHigh} << 32 | found.nFileIndexLow;
    return facts;
}

// Without links, and in capital letters, in which names of files are the same.
std::wstring final_path(HANDLE handle) {
    std::wstring path(::GetFinalPathNameByHandleW(handle, nullptr, 0, FILE_NAME_NORMALIZED), L'\0');
    path.resize(
        ::GetFinalPathNameByHandleW(handle, path.data(), static_cast<DWORD>(path.size()), FILE_NAME_NORMALIZED));
    ::CharUpperBuffW(path.data(), static_cast<DWORD>(path.size()));
    return path;
}

// A virus scanner may have a new file open for a moment.
int move_file(std::string const& from, std::string const& to, DWORD flags) noexcept {
    constexpr int tries = 20;
    constexpr DWORD pause = 25; // milliseconds
    for (int i = 1; !::MoveFileExW(wide_path(from).c_str(), wide_path(to).c_str(), flags); ++i) {
        DWORD const error = ::GetLastError();
        if (error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS) return EEXIST;
        if (i == tries || (error != ERROR_SHARING_VIOLATION && error != ERROR_ACCESS_DENIED)) {
            set_errno();
            return errno;
        }
        ::Sleep(pause);
    }
    return 0;
}

// "con", "NUL.txt", "com1": devices in every folder.
bool is_device(std::string_view name) {
    std::string stem{name.substr(0, name.find('.'))};
    while (stem.ends_with(' ')) stem.pop_back();
    std::transform(stem.begin(), stem.end(), stem.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    constexpr std::string_view devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
    bool const is_port = stem.size() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT")) &&
                         stem[3] >= '0' && stem[3] <= '9';
    return is_port || std::find(std::begin(devices), std::end(devices), stem) != std::end(devices);
}

} // namespace

file_facts facts_of(std::string const& name) noexcept {
    auto const handle = open_handle(name, FILE_READ_ATTRIBUTES, shared, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    return handle ? facts_from(handle.get()) : file_facts{};
}

file_facts facts_of(int descriptor) noexcept { return facts_from(handle_of(descriptor)); }

bool name_taken(std::string const& name) noexcept {
    return ::GetFileAttributesW(wide_path(name).c_str()) != INVALID_FILE_ATTRIBUTES;
}

unique_fd open_to_read(std::string const& name) noexcept {
    return descriptor_of(open_handle(name, GENERIC_READ, shared, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS),
                         _O_RDONLY);
}

unique_fd open_at_once(std::string const& name) noexcept { return open_to_read(name); }

unique_fd open_below(std::string const& folder, std::string_view path) noexcept {
    std::string name{path};
    for (std::string_view rest = path;;) {
        std::string_view const part = rest.substr(0, rest.find('/'));
        if (part.empty() || part != allowed_name(std::string{part})) return {};
        if (part.front() == '.') return {};
        if (part.size() == rest.size()) break;
        rest.remove_prefix(part.size() + 1);
    }
    std::replace(name.begin(), name.end(), '/', '\\');
    auto const at = open_handle(folder, FILE_READ_ATTRIBUTES, shared, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    auto file = open_handle(folder + "\\" + name, GENERIC_READ, shared, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (!at || !file) return {};
    std::wstring expected = final_path(at.get());
    if (!expected.ends_with(L'\\')) expected += L'\\';
    expected += to_wide(name);
    ::CharUpperBuffW(expected.data(), static_cast<DWORD>(expected.size()));
    if (final_path(file.get()) != expected) return {}; // a link led elsewhere
    return descriptor_of(std::move(file), _O_RDONLY);
}

unique_fd open_to_write(std::string const& name) noexcept {
    return descriptor_of(open_handle(name, GENERIC_WRITE, shared, OPEN_EXISTING, 0), _O_WRONLY);
}

unique_fd create(std::string const& name) noexcept {
    return descriptor_of(open_handle(name, GENERIC_READ | GENERIC_WRITE, shared, CREATE_NEW, FILE_ATTRIBUTE_NORMAL),
                         _O_RDWR);
}

unique_fd create_temporary() noexcept {
    std::array<wchar_t, MAX_PATH + 1> folder{}, name{};
    if (::GetTempPathW(static_cast<DWORD>(folder.size()), folder.data()) == 0 ||
        ::GetTempFileNameW(folder.data(), L"tee", 0, name.data()) == 0) {
        set_errno();
        return {};
    }
    return descriptor_of(open_handle(to_utf8(name.data()), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE,
                                     CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE),
                         _O_RDWR);
}

bool is_in_use(std::string const& name) noexcept {
    return !open_handle(name, GENERIC_READ, 0, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
}

std::int64_t read_at(int descriptor, std::uint64_t offset, std::span<std::uint8_t> to) noexcept {
    kept_position const kept{descriptor};
    OVERLAPPED at = place(offset);
    DWORD done = 0;
    if (::ReadFile(handle_of(descriptor), to.data(), at_once(to.size()), &done, &at) ||
        ::GetLastError() == ERROR_HANDLE_EOF)
        return done;
    set_errno();
    return -1;
}

std::int64_t write_at(int descriptor, std::uint64_t offset, std::span<std::uint8_t const> from) noexcept {
    kept_position const kept{descriptor};
    OVERLAPPED at = place(offset);
    DWORD done = 0;
    if (::WriteFile(handle_of(descriptor), from.data(), at_once(from.size()), &done, &at)) return done;
    set_errno();
    return -1;
}

bool sync(int descriptor) noexcept { return ::_commit(descriptor) == 0; }

bool set_mode(int, unsigned) noexcept { return true; }

int rename_to_free(std::string const& from, std::string const& to) noexcept { return move_file(from, to, 0); }

int replace(std::string const& from, std::string const& to) noexcept {
    return move_file(from, to, MOVEFILE_REPLACE_EXISTING);
}

void remove_file(std::string const& name) noexcept { ::DeleteFileW(wide_path(name).c_str()); }

std::string allowed_name(std::string name) {
    constexpr std::string_view forbidden = "<>:\"/\\|?*";
    for (char& c : name)
        if ((c >= 0 && c < ' ') || forbidden.find(c) != std::string_view::npos) c = '-';
    if (name.ends_with('.') || name.ends_with(' ')) name += '_';
    return is_device(name) ? "_" + name : name;
}

} // namespace teewire::replay::os
