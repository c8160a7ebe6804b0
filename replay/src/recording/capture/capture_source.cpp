#include "recording/capture/capture_source.hpp"

#include "base/compression.hpp"
#include "base/interrupts.hpp"
#include "base/os/files.hpp"
#include "base/os/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <unistd.h>

namespace teewire::replay {

// Replaces what is in the block, of which nothing is left.
bool byte_source::fill() {
    if (ended_) return false;
    constexpr std::size_t block_bytes = 1 << 16;
    block_.resize(block_bytes);
    std::int64_t const n = take(block_);
    if (n < 0) error_ = errno;
    ended_ = n <= 0;
    begin_ = 0;
    end_ = ended_ ? 0 : static_cast<std::size_t>(n);
    return !ended_;
}

std::size_t byte_source::read(std::span<std::uint8_t> to) {
    std::size_t done = 0;
    while (done < to.size() && (begin_ < end_ || fill())) {
        std::size_t const n = std::min(end_ - begin_, to.size() - done);
        std::copy_n(block_.data() + begin_, n, to.data() + done);
        begin_ += n;
        done += n;
    }
    return done;
}

std::span<std::uint8_t const> byte_source::peek(std::size_t size) {
    std::vector<std::uint8_t> next(size);
    next.resize(read(next));
    std::vector<std::uint8_t> rest{block_.data() + begin_, block_.data() + end_};
    block_ = next;
    block_.insert(block_.end(), rest.begin(), rest.end());
    begin_ = 0;
    end_ = block_.size();
    return std::span{block_}.first(next.size());
}

std::uint64_t byte_source::position() const { return place() - std::min<std::uint64_t>(place(), end_ - begin_); }

namespace {

// A file, from one place on.
class stored_bytes final : public byte_source {
public:
    stored_bytes(unique_fd file, std::uint64_t begin) : file_{std::move(file)}, at_{begin} {}

private:
    std::int64_t take(std::span<std::uint8_t> to) override {
        std::int64_t n = 0;
        do n = os::read_at(file_.get(), at_, to);
        while (n < 0 && errno == EINTR);
        if (n > 0) at_ += static_cast<std::uint64_t>(n);
        return n;
    }
    [[nodiscard]] std::uint64_t place() const override { return at_; }

    unique_fd file_;
    std::uint64_t at_;
};

// A pipe or device, which may be slow: a signal ends it like the end of the file, so that what came until then can be reported.
class stream_bytes final : public byte_source {
public:
    explicit stream_bytes(unique_fd file) : file_{std::move(file)} {}

private:
    std::int64_t take(std::span<std::uint8_t> to) override {
        for (;;) {
            bool const ready = os::wait_to_read(file_.get(), -1);
            if (interrupted()) return 0;
            if (!ready) continue;
            auto const n = ::read(file_.get(), to.data(), to.size());
            if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
        }
    }

    unique_fd file_;
};

class bytes_in_memory final : public byte_source {
public:
    explicit bytes_in_memory(std::span<std::uint8_t const> bytes) : left_{bytes} {}

private:
    std::int64_t take(std::span<std::uint8_t> to) override {
        std::size_t const n = std::min(to.size(), left_.size());
        std::copy_n(left_.begin(), n, to.begin());
        left_ = left_.subspan(n);
        return static_cast<std::int64_t>(n);
    }

    std::span<std::uint8_t const> left_;
};

// A compressed file, read decompressed.
class unpacked_bytes final : public byte_source {
public:
    unpacked_bytes(open_file file, compression kind) : inner_{std::move(file)}, reader_{kind} {}

    [[nodiscard]] std::shared_ptr<std::string const> damage() const noexcept { return damage_; }

private:
    std::int64_t take(std::span<std::uint8_t> to) override {
        try {
            for (;;) {
                bool const fresh = left_.empty();
                if (fresh) {
                    left_ = std::span{block_}.first(inner_->read(block_));
                    if (left_.empty() && inner_->error() != 0) {
                        errno = inner_->error();
                        return -1;
                    }
                }
                bool const ended = fresh && left_.empty();
                auto const step = reader_.run(left_, to);
                left_ = left_.subspan(step.taken);
                if (step.given != 0) return static_cast<std::int64_t>(step.given);
                if (!ended && reader_.error().empty()) continue;
                if (!interrupted()) *damage_ = reader_.damage();
                return 0;
            }
        } catch (std::bad_alloc const&) {
            errno = ENOMEM;
            return -1;
        }
    }

    open_file inner_;
    decompressor reader_;
    std::array<std::uint8_t, 65536> block_;
    std::span<std::uint8_t const> left_; // of the block
    std::shared_ptr<std::string> damage_ = std::make_shared<std::string>();
};

unique_fd existing(unique_fd file, std::string const& name) {
    if (!file) throw io_error{name, std::strerror(errno)};
    return file;
}

unique_fd copy_of(byte_source& stream, std::string const& name) {
    unique_fd copy = os::create_temporary();
    if (!copy) throw io_error{fmt::format("cannot create a temporary file: {}", std::strerror(errno))};
    std::vector<std::uint8_t> block(1 << 16);
    std::uint64_t size = 0;
    while (std::size_t const n = stream.read(block)) {
        for (auto left = std::span{block}.first(n); !left.empty();) {
            std::int64_t const written = os::write_at(copy.get(), size, left);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0)
                throw io_error{fmt::format("a temporary file cannot be written: {}", std::strerror(errno))};
            size += static_cast<std::uint64_t>(written);
            left = left.subspan(static_cast<std::size_t>(written));
        }
        if (size > max_stream_bytes)
            throw io_error{
                name, fmt::format("more than {} GiB, which can only be read from a file", max_stream_bytes >> 30)};
    }
    if (stream.error() != 0) throw io_error{name, "cannot be read"};
    return copy;
}

} // namespace

open_file open_bytes(std::span<std::uint8_t const> bytes) { return std::make_unique<bytes_in_memory>(bytes); }

capture_source::capture_source(std::string name, passes readings) : path_{std::move(name)}, name_{path_} {
    bool const standard = path_ == "-";
    if (standard) name_ = "standard input";
    os::file_facts const facts = standard ? os::facts_of(STDIN_FILENO) : os::facts_of(path_);
    if (!standard && facts.type == os::file_type::none) throw io_error{name_, "no such file"};
    if (!standard && facts.type == os::file_type::folder) throw io_error{name_, "is a directory"};
    regular_ = facts.type == os::file_type::regular;
    if (regular_) size_ = facts.size;
    if (standard && regular_)
        begin_ = static_cast<std::uint64_t>(std::max<off_t>(::lseek(STDIN_FILENO, 0, SEEK_CUR), 0));
    if (readings == passes::two && !regular_) spool_ = copy_of(*open_raw(), name_);
}

capture_source::capture_source(input const& bytes) noexcept
    : name_{bytes.name()}, size_{bytes.bytes().size()}, bytes_{&bytes} {}

open_capture capture_source::open() const {
    open_file file = open_raw();
    if (bytes_ != nullptr) return {std::move(file), std::make_shared<std::string>(bytes_->damage())};
    endless_wait const beginning; // of which there is nothing to report
    compression const kind = find_compression(file->peek(compression_magic_bytes));
    if (kind == compression::none) return {std::move(file), nullptr};
    auto unpacked = std::make_unique<unpacked_bytes>(std::move(file), kind);
    auto damage = unpacked->damage();
    return {std::move(unpacked), std::move(damage)};
}

open_file capture_source::open_raw() const {
    if (bytes_ != nullptr) return open_bytes(bytes_->bytes());
    if (spool_) return std::make_unique<stored_bytes>(existing(unique_fd{::dup(spool_.get())}, name_), 0);
    if (path_ == "-") {
        unique_fd file = existing(unique_fd{::dup(STDIN_FILENO)}, name_);
        if (regular_) return std::make_unique<stored_bytes>(std::move(file), begin_);
        return std::make_unique<stream_bytes>(std::move(file));
    }
    if (regular_) return std::make_unique<stored_bytes>(existing(os::open_to_read(path_), name_), 0);
    endless_wait const opening; // a pipe may never get a writer
    unique_fd file = os::open_to_read(path_);
    if (!file) throw io_error{name_, fmt::format("cannot be opened: {}", std::strerror(errno))};
    return std::make_unique<stream_bytes>(std::move(file));
}

} // namespace teewire::replay
