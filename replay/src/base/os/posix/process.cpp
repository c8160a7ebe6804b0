#include "base/os/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <malloc.h>
#include <nss.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace teewire::replay::os {
namespace {

// The running ones; 0: a free place. A signal handler reads them.
std::array<std::atomic<pid_t>, 4> children{};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void change_child(pid_t from, pid_t to) noexcept {
    for (auto& place : children)
        if (pid_t expected = from; place.compare_exchange_strong(expected, to)) return;
}

} // namespace

std::vector<std::string> begin_process(int argc, char** argv) {
    // If standard output was closed, the next file that is opened would take its place. So missing streams are opened, for
    // the other direction, which makes using them an error.
    for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0)
            static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
#if defined(TEEWIRE_STATIC)
    // The C library in the program has these two. It would load others from the system, which are made for another version.
    static_cast<void>(::__nss_configure_lookup("hosts", "files dns"));
#endif
    std::signal(SIGPIPE, SIG_IGN); // instead, writing fails, and unfinished files are deleted
    return {argv + std::min(argc, 1), argv + argc};
}

void end_by_closed_pipe() noexcept {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
}

std::string environment(char const* name) {
    char const* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string cache_folder() {
    // As its specification says, what is not absolute does not count.
    if (auto cache = environment("XDG_CACHE_HOME"); cache.starts_with('/')) return cache;
    auto const home = environment("HOME");
    return home.starts_with('/') ? home + "/.cache" : std::string{};
}

std::vector<std::string> game_data_folders() {
    std::vector<std::string> folders;
    auto const home = environment("HOME");
    auto data = environment("XDG_DATA_HOME");
    if (!data.starts_with('/') && home.starts_with('/')) data = home + "/.local/share";
    // The files that players added and fetched come first.
    if (!data.empty())
        for (char const* const game : {"/ddnet", "/teeworlds"}) folders.push_back(data + game);
    if (home.starts_with('/'))
        for (char const* const place : {"/.teeworlds", "/.var/app/tw.ddnet.ddnet/data/ddnet",
                                        "/.steam/steam/steamapps/common/DDraceNetwork/ddnet/data"})
            folders.push_back(home + place);
    for (char const* const packaged : {"/usr/share/games/ddnet/data", "/usr/share/games/teeworlds/data"})
        folders.emplace_back(packaged);
    return folders;
}

std::vector<std::string> font_files() {
    return {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf",
            "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
            "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc"};
}

child_process::child_process(std::vector<std::string> const& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error{errno, std::generic_category()};
    unique_fd const reading{ends[0]};
    input_ = unique_fd{ends[1]};
    std::vector<std::string> copies = arguments;
    std::vector<char*> words;
    words.reserve(copies.size() + 1);
    for (std::string& word : copies) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&how);
    ::posix_spawn_file_actions_adddup2(&files, reading.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP); // Ctrl-C is not for it
    pid_t child = 0;
    int const failed = ::posix_spawnp(&child, words.front(), &files, &how, words.data(), environ);
    ::posix_spawnattr_destroy(&how);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::system_error{failed, std::generic_category()};
    process_ = child;
    change_child(0, child);
}

child_process::~child_process() {
    if (process_ < 0) return;
    ::kill(static_cast<pid_t>(process_), SIGKILL);
    static_cast<void>(finish());
}

bool child_process::write(std::span<std::uint8_t const> bytes) noexcept {
    while (!bytes.empty()) {
        auto const written = ::write(input_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

int child_process::finish() noexcept {
    input_ = unique_fd{};
    int status = 0;
    while (::waitpid(static_cast<pid_t>(process_), &status, 0) < 0 && errno == EINTR) {
    }
    change_child(static_cast<pid_t>(process_), 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void end_children() noexcept {
    for (auto const& place : children)
        if (pid_t const child = place; child > 0) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
}

// Its output is not wanted here, and it may run for longer.
std::string open_browser(std::string address) {
    if (environment("WAYLAND_DISPLAY").empty() && environment("DISPLAY").empty()) return {};
    std::string program = "xdg-open";
    std::array<char*, 3> arguments{program.data(), address.data(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&how);
    for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP); // Ctrl-C is not for it
    pid_t child = 0;
    bool const opened = ::posix_spawnp(&child, program.c_str(), &files, &how, arguments.data(), environ) == 0;
    ::posix_spawnattr_destroy(&how);
    ::posix_spawn_file_actions_destroy(&files);
    return opened ? "" : "xdg-open is not installed";
}

bool local_time(std::time_t time, std::tm& out) noexcept { return ::localtime_r(&time, &out) != nullptr; }

std::optional<std::uint64_t> address_space_limit() noexcept {
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return space.rlim_cur;
}

void save_address_space() noexcept {
#if defined(__GLIBC__)
    ::mallopt(M_ARENA_MAX, 2); // otherwise each thread may have an arena of 64 MiB
#endif
}

void allow_descriptors() noexcept {
    rlimit most{};
    if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return;
    most.rlim_cur = most.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &most));
}

std::uint8_t* reserve_memory(std::size_t bytes) noexcept {
    void* const space =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return space == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(space);
}

void release_memory(std::uint8_t* begin, std::size_t bytes) noexcept { ::munmap(begin, bytes); }

bool commit_memory(std::uint8_t*, std::size_t) noexcept { return true; } // as it is used

void clear_memory(std::uint8_t* begin, std::size_t bytes) noexcept { ::madvise(begin, bytes, MADV_DONTNEED); }

} // namespace teewire::replay::os
