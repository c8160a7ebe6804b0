#include "base/part_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

constexpr mode_t usual_mode = 0666; // less the umask
constexpr unsigned most_tries = 1000;
constexpr std::time_t silence = 600; // seconds
constexpr std::string_view prefix = ".teewire-";
constexpr std::string_view suffix = ".part";
constexpr std::string_view journal = "-journal"; // SQLite's, of a database that is not complete

bool is_part_name(std::string_view name) {
    if (name.ends_with(journal)) name.remove_suffix(journal.size());
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    return name.size() == 8 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_abandoned(std::string const& name) {
    unique_fd const file{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
        return false;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(file.get(), F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK &&
           status.st_mtim.tv_sec < std::time(nullptr) - silence;
}

// Before this process has files there: it would not see its own locks, and would lose them.
void remove_abandoned(fs::path const& folder) {
    static std::mutex access;
    static std::set<std::string> done;
    std::lock_guard const lock{access};
    if (!done.insert(folder.string()).second) return;
    std::error_code failed;
    for (fs::directory_iterator file{folder.empty() ? "." : folder, failed}, end; !failed && file != end;
         file.increment(failed)) {
        std::string const name = file->path().string();
        if (!is_part_name(file->path().filename().string()) || !is_abandoned(name)) continue;
        ::unlink(name.c_str());
        ::unlink((name + std::string{journal}).c_str());
    }
}

} // namespace

part_file make_part_file(std::string const& beside) {
    fs::path const path{beside};
    remove_abandoned(path.parent_path());
    std::random_device random;
    part_file made;
    for (unsigned i = 0; i < most_tries; ++i) {
        made.name = fs::path{path}.replace_filename(fmt::format("{}{:08x}{}", prefix, random(), suffix)).string();
        made.unfinished = std::make_unique<unfinished_name>(made.name);
        made.descriptor = unique_fd{::open(made.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, usual_mode)};
        if (made.descriptor || errno != EEXIST) break;
    }
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    // Where there are no locks, nothing is removed either.
    if (made.descriptor) static_cast<void>(::fcntl(made.descriptor.get(), F_SETLK, &lock));
    return made;
}

int rename_to_free(std::string const& from, std::string const& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // Not every file system can.
    if (::link(from.c_str(), to.c_str()) == 0) {
        ::unlink(from.c_str());
        return 0;
    }
    if (errno == EEXIST || name_taken(to)) return EEXIST;
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

bool name_taken(std::string const& name) {
    struct stat status {};
    return ::lstat(name.c_str(), &status) == 0;
}

} // namespace teewire::replay
