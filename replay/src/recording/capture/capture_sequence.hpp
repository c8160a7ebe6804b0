// The files of one capture, which tcpdump and dumpcap write in turn, read as one.
#pragma once

#include "recording/capture/capture_reader.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Gives the frames of several files in the order of their time, whatever the order of the files. Those of one file stay
/// in its order. Only files whose times overlap are open together.
class capture_sequence {
public:
    /// Borrowed: the files must outlive it. Throws as capture_reader does if there is only one file. Among
    /// several, error() names those that are damaged from their beginning, and the others are read.
    explicit capture_sequence(std::span<capture_source const> files);

    /// False at the end. A file that is damaged ends there, and the others go on. Frames are numbered through all files.
    bool next(captured_frame& out);
    /// The damage and its position, with the names of the files if there are several; empty if there is none.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }

    /// As capture_reader gives them, of all files.
    [[nodiscard]] std::vector<std::string> links() const;
    [[nodiscard]] std::uint64_t untimed() const;
    [[nodiscard]] std::uint64_t position() const;

private:
    struct waiting_file {
        capture_source const* source;
        std::int64_t first_time;
    };
    struct open_one {
        std::string const& name;
        capture_reader reader;
        captured_frame ahead; // the next one to give
    };
    void look_at(capture_source const& source);
    bool advance(std::list<open_one>::iterator file);
    void open_next();
    void complain(std::string const& name, std::string const& why);

    bool several_;
    std::vector<waiting_file> waiting_; // the earliest last
    std::list<open_one> open_;
    std::optional<std::list<open_one>::iterator> given_; // whose frame was given last
    std::vector<std::string> links_;                     // of the files so far
    std::uint64_t frames_ = 0;
    std::uint64_t untimed_ = 0, done_ = 0; // of files that are closed
    std::string error_;
};

} // namespace teewire::replay
