#include "recording/capture/capture_source.hpp"

#include "base/compression.hpp"
#include "base/interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teewire::replay {
namespace {

// Reads what may be slow: a signal ends it like the end of the file, so that what came until then can be reported.
ssize_t read_stream(void* cookie, char* to, std::size_t size) {
    int const file = *static_cast<int*>(cookie);
    for (;;) {
        std::array<pollfd, 2> either{{{file, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}}};
        if (::poll(either.data(), either.size(), -1) < 0 && errno != EINTR) return -1;
        if (interrupted()) return 0;
        if (either[0].revents == 0) continue;
        ssize_t const n = ::read(file, to, size);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
    }
}

int close_stream(void* cookie) {
    std::unique_ptr<int> const file{static_cast<int*>(cookie)};
    return ::close(*file);
}

// A compressed file, read decompressed.
struct packed_file {
    packed_file(open_file file, compression kind) : inner{std::move(file)}, reader{kind} {}

    open_file inner;
    decompressor reader;
    std::array<std::uint8_t, 65536> block;
    std::span<std::uint8_t const> left; // of the block
    std::shared_ptr<std::string> damage = std::make_shared<std::string>();
};

ssize_t read_packed(void* cookie, char* to, std::size_t size) {
    packed_file& from = *static_cast<packed_file*>(cookie);
    try {
        for (;;) {
            bool const fresh = from.left.empty();
            if (fresh) {
                std::size_t const n = std::fread(from.block.data(), 1, from.block.size(), from.inner.get());
                if (n == 0 && std::ferror(from.inner.get())) return -1;
                from.left = std::span{from.block}.first(n);
            }
            bool const ended = fresh && from.left.empty();
            auto const step = from.reader.run(from.left, {reinterpret_cast<std::uint8_t*>(to), size});
            from.left = from.left.subspan(step.taken);
            if (step.given != 0) return static_cast<ssize_t>(step.given);
            if (!ended && from.reader.error().empty()) continue;
            if (!interrupted()) *from.damage = from.reader.damage();
            return 0;
        }
    } catch (std::bad_alloc const&) {
        errno = ENOMEM;
        return -1;
    }
}

int close_packed(void* cookie) {
    std::unique_ptr<packed_file> const file{static_cast<packed_file*>(cookie)};
    return 0;
}

// Takes the descriptor.
open_file stream_of(int descriptor, std::string const& name) {
    auto cookie = descriptor < 0 ? nullptr : std::make_unique<int>(descriptor);
    open_file opened{cookie ? fopencookie(cookie.get(), "rb", {read_stream, nullptr, nullptr, close_stream})
                            : nullptr};
    if (opened == nullptr) throw io_error{name, fmt::format("cannot be opened: {}", std::strerror(errno))};
    static_cast<void>(cookie.release()); // close_stream has it
    return opened;
}

open_file copy_of(open_file const& stream, std::string const& name) {
    open_file copy{std::tmpfile()};
    if (copy == nullptr) throw io_error{fmt::format("cannot create a temporary file: {}", std::strerror(errno))};
    std::array<char, 65536> block;
    std::uint64_t size = 0;
    while (std::size_t const n = std::fread(block.data(), 1, block.size(), stream.get())) {
        if (std::fwrite(block.data(), 1, n, copy.get()) != n)
            throw io_error{fmt::format("a temporary file cannot be written: {}", std::strerror(errno))};
        if ((size += n) > max_stream_bytes)
            throw io_error{
                name, fmt::format("more than {} GiB, which can only be read from a file", max_stream_bytes >> 30)};
    }
    if (std::ferror(stream.get())) throw io_error{name, "cannot be read"};
    if (std::fflush(copy.get()) != 0) throw io_error{"a temporary file cannot be written"};
    return copy;
}

// Puts back the bytes that were read first.
void put_back(open_file const& file, std::span<std::uint8_t const> bytes, std::string const& name) {
    for (std::size_t i = bytes.size(); i > 0; --i)
        if (std::ungetc(bytes[i - 1], file.get()) == EOF) throw io_error{name, "cannot be read"};
}

} // namespace

capture_source::capture_source(std::string name, passes readings) : path_{std::move(name)}, name_{path_} {
    namespace fs = std::filesystem;
    if (path_ == "-") {
        name_ = "standard input";
        struct stat status {};
        regular_ = ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
        if (regular_) size_ = static_cast<std::uint64_t>(status.st_size);
        begin_ = regular_ ? ::lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    } else {
        std::error_code failed;
        fs::file_status const status = fs::status(path_, failed);
        if (!fs::exists(status)) throw io_error{name_, "no such file"};
        if (fs::is_directory(status)) throw io_error{name_, "is a directory"};
        regular_ = fs::is_regular_file(status);
        if (regular_) size_ = fs::file_size(path_, failed);
    }
    if (readings == passes::two && !regular_) spool_ = copy_of(open_raw(), name_);
}

capture_source::capture_source(input const& bytes) noexcept
    : name_{bytes.name()}, size_{bytes.bytes().size()}, bytes_{&bytes} {}

open_capture capture_source::open() const {
    open_file file = open_raw();
    if (bytes_ != nullptr) return {std::move(file), std::make_shared<std::string>(bytes_->damage())};
    endless_wait const beginning; // of which there is nothing to report
    std::array<std::uint8_t, compression_magic_bytes> begin{};
    std::size_t const size = std::fread(begin.data(), 1, begin.size(), file.get());
    put_back(file, std::span{begin}.first(size), name_);
    compression const kind = find_compression(std::span{begin}.first(size));
    if (kind == compression::none) return {std::move(file), nullptr};
    auto packed = std::make_unique<packed_file>(std::move(file), kind);
    open_capture opened{open_file{fopencookie(packed.get(), "rb", {read_packed, nullptr, nullptr, close_packed})},
                        packed->damage};
    if (opened.file == nullptr) throw io_error{name_, fmt::format("cannot be opened: {}", std::strerror(errno))};
    static_cast<void>(packed.release()); // close_packed has it
    return opened;
}

open_file capture_source::open_raw() const {
    if (bytes_ != nullptr) {
        // It only reads, whatever its type says.
        open_file opened{
            ::fmemopen(const_cast<std::uint8_t*>(bytes_->bytes().data()), bytes_->bytes().size(), "rb")};
        if (opened == nullptr) throw io_error{name_, std::strerror(errno)};
        return opened;
    }
    if (spool_ != nullptr || (path_ == "-" && regular_)) {
        int const file = spool_ != nullptr ? fileno(spool_.get()) : STDIN_FILENO;
        int const again = ::lseek(file, begin_, SEEK_SET) < 0 ? -1 : ::dup(file);
        open_file opened{again < 0 ? nullptr : ::fdopen(again, "rb")};
        if (opened == nullptr) throw io_error{name_, std::strerror(errno)};
        return opened;
    }
    if (path_ == "-") return stream_of(::dup(STDIN_FILENO), name_);
    if (!regular_) {
        endless_wait const opening; // a pipe may never get a writer
        return stream_of(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), name_);
    }
    open_file file{std::fopen(path_.c_str(), "rb")};
    if (file == nullptr) throw io_error{name_, std::strerror(errno)};
    return file;
}

} // namespace teewire::replay
