// One reading of a capture, of one file or several, from its first frame to its last.
#pragma once

#include "recording/capture/capture_sequence.hpp"
#include "recording/capture/connections.hpp"
#include "recording/capture/fragments.hpp"
#include "recording/capture/report.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

class capture_pass {
public:
    /// Borrowed arguments must outlive it. Throws as capture_sequence does.
    capture_pass(std::span<capture_source const> files, capture_listener& listener);

    /// Reads a frame. False at the end and where the file is damaged: then what is still open has been counted.
    bool next();
    /// Reads all that are left, unless the program is interrupted. `look` is called now and then, with the bytes done.
    void read_all(std::function<void(std::uint64_t)> const& look);

    [[nodiscard]] connection_watcher const& watcher() const noexcept { return watcher_; }
    [[nodiscard]] std::vector<connection_stats const*> connections() const { return watcher_.connections(); }
    [[nodiscard]] frame_counts const& frames() const noexcept { return frames_; }
    [[nodiscard]] std::vector<std::string> links() const { return reader_.links(); }
    /// The damage and its position; empty if there is none.
    [[nodiscard]] std::string const& error() const noexcept { return reader_.error(); }
    [[nodiscard]] std::uint64_t done_bytes() const { return reader_.position(); }

private:
    capture_sequence reader_;
    fragment_buffer fragments_;
    connection_watcher watcher_;
    frame_counts frames_;
};

/// The place in `all` of the connection asked for: by number, from 1, or by the client's address; if nothing is, the one
/// with most snapshots. Throws usage_error if there is none, or none with snapshots. `file`: for messages.
[[nodiscard]] std::size_t choose_connection(std::vector<connection_stats const*> const& all,
                                            std::string const& wanted, std::string const& file);

} // namespace teewire::replay
