// Capture files, read by libpcap.
#pragma once

#include "base/input.hpp"
#include "recording/capture/frame.hpp"

#include <cstdio>
#include <memory>
#include <string>

struct pcap;

namespace teewire::replay {

/// Borrowed: the bytes hold until the next frame is read.
struct captured_frame {
    std::uint64_t number = 0;      ///< in the file, from 1
    std::int64_t time = 0;         ///< nanoseconds since 1970, before the year 2107
    std::size_t original_size = 0; ///< as it was on the wire
    std::span<std::uint8_t const> bytes;
};

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

class capture_reader {
public:
    /// `name`: for messages. Throws bad_input if it is not a capture, or is one of an unsupported network.
    capture_reader(open_capture from, std::string const& name);
    explicit capture_reader(capture_source const& source) : capture_reader{source.open(), source.name()} {}
    capture_reader(capture_reader const&) = delete;
    capture_reader& operator=(capture_reader const&) = delete;
    ~capture_reader();

    /// False at the end, and where the file is damaged.
    bool next(captured_frame& out);
    /// The damage and its position; empty if there is none.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }

    [[nodiscard]] link_layer link() const noexcept { return link_; }
    /// "Ethernet"
    [[nodiscard]] std::string_view link_name() const noexcept;
    /// Frames so far.
    [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }
    /// Frames among these with an impossible time; they have that of the frame before.
    [[nodiscard]] std::uint64_t untimed() const noexcept { return untimed_; }
    /// Bytes so far, or 0 if that is not known.
    [[nodiscard]] std::uint64_t position() const;

private:
    pcap* handle_ = nullptr;
    std::shared_ptr<std::string const> damage_;
    link_layer link_ = link_layer::ethernet;
    std::uint64_t frames_ = 0;
    std::uint64_t untimed_ = 0;
    std::int64_t time_ = 0; // of the last frame
    std::string error_;
};

} // namespace teewire::replay
