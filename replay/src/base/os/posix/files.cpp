#include "base/os/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teewire::replay::os {
namespace {

constexpr mode_t usual_mode = 0666; // less the umask
// Opening a pipe must not wait for a writer.
constexpr int reading_at_once = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

file_facts facts_from(struct stat const& status) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / second - 1; // in the year 2262
    file_facts facts;
    facts.type = S_ISREG(status.st_mode)   ? file_type::regular
                 : S_ISDIR(status.st_mode) ? file_type::folder
                                           : file_type::other;
    facts.size = static_cast<std::uint64_t>(status.st_size);
    facts.modified = std::clamp<std::int64_t>(status.st_mtim.tv_sec, -most, most) * second + status.st_mtim.tv_nsec;
    facts.volume = status.st_dev;
    facts.number = status.st_ino;
    facts.mode = status.st_mode & 07777U;
    return facts;
}

struct flock write_lock() noexcept {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

} // namespace

file_facts facts_of(std::string const& name) noexcept {
    struct stat status {};
    return ::stat(name.c_str(), &status) == 0 ? facts_from(status) : file_facts{};
}

file_facts facts_of(int descriptor) noexcept {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 ? facts_from(status) : file_facts{};
}

bool name_taken(std::string const& name) noexcept {
    struct stat status {};
    return ::lstat(name.c_str(), &status) == 0;
}

unique_fd open_to_read(std::string const& name) noexcept {
    return unique_fd{::open(name.c_str(), O_RDONLY | O_CLOEXEC)};
}

unique_fd open_at_once(std::string const& name) noexcept {
    return unique_fd{::open(name.c_str(), reading_at_once)};
}

unique_fd open_below(std::string const& folder, std::string_view path) noexcept {
    unique_fd at{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    while (at) {
        std::size_t const slash = path.find('/');
        std::string const name{path.substr(0, slash)};
        bool const last = slash == std::string_view::npos;
        if (name.empty() || name.front() == '.' || name.find('\0') != std::string::npos) return {};
        int const flags = last ? reading_at_once | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        at = unique_fd{::openat(at.get(), name.c_str(), flags)};
        if (last) return at;
        path.remove_prefix(slash + 1);
    }
    return {};
}

unique_fd open_to_write(std::string const& name) noexcept {
    return unique_fd{::open(name.c_str(), O_WRONLY | O_CLOEXEC)};
}

unique_fd create(std::string const& name) noexcept {
    unique_fd made{::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, usual_mode)};
    struct flock lock = write_lock();
    // Where there are no locks, nothing is removed either.
    if (made) static_cast<void>(::fcntl(made.get(), F_SETLK, &lock));
    return made;
}

unique_fd create_temporary() noexcept {
    std::FILE* const made = std::tmpfile();
    if (made == nullptr) return {};
    unique_fd file{::fcntl(::fileno(made), F_DUPFD_CLOEXEC, 0)};
    std::fclose(made);
    return file;
}

bool is_in_use(std::string const& name) noexcept {
    unique_fd const file{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
        return true;
    struct flock lock = write_lock();
    return ::fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::int64_t read_at(int descriptor, std::uint64_t offset, std::span<std::uint8_t> to) noexcept {
    return ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
}

std::int64_t write_at(int descriptor, std::uint64_t offset, std::span<std::uint8_t const> from) noexcept {
    return ::pwrite(descriptor, from.data(), from.size(), static_cast<off_t>(offset));
}

bool sync(int descriptor) noexcept { return ::fsync(descriptor) == 0 || errno == EINVAL; }

bool set_mode(int descriptor, unsigned mode) noexcept { return ::fchmod(descriptor, mode) == 0; }

int rename_to_free(std::string const& from, std::string const& to) noexcept {
#if defined(RENAME_NOREPLACE) // not in a browser
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
    // Not every file system can.
    if (::link(from.c_str(), to.c_str()) == 0) {
        ::unlink(from.c_str());
        return 0;
    }
    if (errno == EEXIST || name_taken(to)) return EEXIST;
    return replace(from, to);
}

int replace(std::string const& from, std::string const& to) noexcept {
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

void remove_file(std::string const& name) noexcept { ::unlink(name.c_str()); }

std::string allowed_name(std::string name) {
    std::replace(name.begin(), name.end(), '/', '-');
    return name;
}

} // namespace teewire::replay::os
