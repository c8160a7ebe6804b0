// The bytes of capture files.
#pragma once

#include "base/input.hpp"

#include <cstdio>
#include <memory>
#include <string>

namespace teewire::replay {

struct file_closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, file_closer>;

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
    std::int64_t begin_ = 0; // of standard input, in its file
    open_file spool_;
    input const* bytes_ = nullptr;
};

} // namespace teewire::replay
