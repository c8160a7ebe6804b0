#include "base/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teewire::replay {
namespace {

// Opening a pipe must not wait for a writer.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

} // namespace

stored_file::stored_file(unique_fd descriptor, std::uint64_t size, std::int64_t modified, std::string tag)
    : descriptor_{std::move(descriptor)}, size_{size}, modified_{modified}, tag_{std::move(tag)} {}

std::shared_ptr<stored_file const> stored_file::take(unique_fd descriptor) {
    struct stat status {};
    if (!descriptor || ::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / second - 1; // in the year 2262
    std::int64_t const modified =
        std::clamp<std::int64_t>(status.st_mtim.tv_sec, -most, most) * second + status.st_mtim.tv_nsec;
    return std::shared_ptr<stored_file const>{
        new stored_file{std::move(descriptor), static_cast<std::uint64_t>(status.st_size), modified,
                        fmt::format("{:x}-{:x}-{:x}", status.st_ino, modified, status.st_size)}};
}

std::shared_ptr<stored_file const> stored_file::open(std::string const& file) {
    return take(unique_fd{::open(file.c_str(), reading)});
}

std::shared_ptr<stored_file const> stored_file::open(std::string const& folder, std::string_view path) {
    unique_fd at{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    while (at) {
        std::size_t const slash = path.find('/');
        std::string const name{path.substr(0, slash)};
        bool const last = slash == std::string_view::npos;
        if (name.empty() || name.front() == '.' || name.find('\0') != std::string::npos) return nullptr;
        int const flags = last ? reading | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        at = unique_fd{::openat(at.get(), name.c_str(), flags)};
        if (last) return take(std::move(at));
        path.remove_prefix(slash + 1);
    }
    return nullptr;
}

std::size_t stored_file::read(std::uint64_t offset, std::span<std::uint8_t> to) const noexcept {
    std::size_t done = 0;
    while (done < to.size()) {
        ssize_t const n =
            ::pread(descriptor_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

} // namespace teewire::replay
