// The bytes of capture files.
#pragma once

#include "base/input.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Bytes that are read one after another.
class byte_source {
public:
    byte_source() = default;
    byte_source(byte_source const&) = delete;
    byte_source& operator=(byte_source const&) = delete;
    virtual ~byte_source() = default;

    /// The bytes read, fewer than there is room for only at the end or after a failure.
    [[nodiscard]] std::size_t read(std::span<std::uint8_t> to);
    /// The next bytes, which stay; fewer only at the end. At most some hundred.
    [[nodiscard]] std::span<std::uint8_t const> peek(std::size_t size);
    /// Bytes of the file before the next one, or 0 if that is not known.
    [[nodiscard]] std::uint64_t position() const;
    /// The failure that made it end early, as errno has it, or 0.
    [[nodiscard]] int error() const noexcept { return error_; }

private:
    /// Reads some bytes. 0: the end; negative: errno says what failed.
    [[nodiscard]] virtual std::int64_t take(std::span<std::uint8_t> to) = 0;
    /// Where the next take() begins, or 0.
    [[nodiscard]] virtual std::uint64_t place() const { return 0; }
    bool fill();

    std::vector<std::uint8_t> block_;
    std::size_t begin_ = 0; // of what is left in the block
    std::size_t end_ = 0;
    bool ended_ = false;
    int error_ = 0;
};
using open_file = std::unique_ptr<byte_source>;

/// Bytes that are in memory, and outlive this.
[[nodiscard]] open_file open_bytes(std::span<std::uint8_t const> bytes);

/// A capture to be read. A compressed one is decompressed on the way.
struct open_capture {
    open_file file;
    /// Not null if it was compressed: after the last byte, what is wrong with that data, or empty.
    std::shared_ptr<std::string const> damage;
};

/// How often a capture is read.
enum class passes : std::uint8_t { one, two };

/// Where a capture comes from: a file, compressed by gzip or zstd or not, or a stream, which is put into a temporary
/// file if it is needed twice.
class capture_source {
public:
    /// "-" is standard input. Throws io_error, also for streams of more than max_stream_bytes that are needed twice.
    capture_source(std::string name, passes readings);
    /// Bytes that are in memory already, and outlive this.
    explicit capture_source(input const& bytes) noexcept;

    /// For messages.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// Bytes, or 0 if that is not known.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// At its beginning. Throws io_error.
    [[nodiscard]] open_capture open() const;

private:
    [[nodiscard]] open_file open_raw() const;

    std::string path_;
    std::string name_;
    std::uint64_t size_ = 0;
    bool regular_ = false;
    std::uint64_t begin_ = 0; // of standard input, in its file
    unique_fd spool_;         // the temporary file
    input const* bytes_ = nullptr;
};

} // namespace teewire::replay
