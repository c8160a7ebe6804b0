#include "new_file.hpp"

#include "input.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string const& name, int error) {
    throw io_error{fmt::format("{}: cannot be written: {}", name, std::strerror(error))};
}

// Closes, and takes the file away unless it was kept.
class unfinished_file {
public:
    unfinished_file(int descriptor, fs::path path)
        : descriptor_{descriptor}, path_{std::move(path)}, name_{path_.string()} {}
    unfinished_file(unfinished_file const&) = delete;
    unfinished_file& operator=(unfinished_file const&) = delete;
    ~unfinished_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    void rename(fs::path const& to, std::string const& name) {
        bool const synced = ::fsync(descriptor_) == 0 || errno == EINVAL;
        int const closed = ::close(descriptor_);
        descriptor_ = -1;
        if (!synced || closed != 0 || ::rename(path_.c_str(), to.c_str()) != 0) fail(name, errno);
        path_.clear();
    }

private:
    int descriptor_;
    fs::path path_;
    unfinished_name name_;
};

void write_all(int descriptor, std::span<std::uint8_t const> bytes, std::string const& name) {
    constexpr std::size_t block_bytes = 1 << 20;
    while (!bytes.empty() && !interrupted()) {
        ssize_t const written = ::write(descriptor, bytes.data(), std::min(bytes.size(), block_bytes));
        if (written < 0 && errno != EINTR) fail(name, errno);
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

} // namespace

void write_file(std::string const& name, std::span<std::uint8_t const> bytes) {
    if (interrupted()) return;
    if (name == "-") return write_all(STDOUT_FILENO, bytes, "standard output");
    std::error_code error;
    fs::path const resolved = fs::canonical(name, error); // a link stays one
    fs::path const path = error ? fs::path{name} : resolved;
    struct stat status {};
    bool const exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(name, EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
        endless_wait const writing; // nobody may ever read a pipe
        int const descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) fail(name, errno);
        unfinished_file const device{descriptor, {}};
        return write_all(descriptor, bytes, name);
    }
    fs::path part = path;
    part.replace_filename(fmt::format(".{}.{}.part", path.filename().string(), ::getpid()));
    constexpr mode_t usual_mode = 0666; // less the umask
    int const descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, usual_mode);
    if (descriptor < 0) fail(name, errno);
    unfinished_file file{descriptor, part};
    if (exists && ::fchmod(descriptor, status.st_mode & 07777) != 0) fail(name, errno);
    write_all(descriptor, bytes, name);
    if (!interrupted()) file.rename(path, name);
}

} // namespace teewire::replay
