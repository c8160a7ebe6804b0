// A report about a capture, as text and as JSON.
#pragma once

#include "base/text.hpp"
#include "recording/capture/connections.hpp"

namespace teewire::replay {

/// Frames that gave no datagram, by reason.
struct frame_counts {
    std::uint64_t all = 0;
    std::uint64_t other = 0;
    std::uint64_t fragments = 0;  ///< of datagrams whose other parts are missing
    std::uint64_t unreadable = 0; ///< of interfaces with another link layer
    std::uint64_t cut = 0;
    std::string first_cut;     ///< "frame 12 has 96 of 1042 bytes"
    std::uint64_t untimed = 0; ///< times that cannot be
    std::int64_t first_time = 0, last_time = 0;
};

/// One JSON object in a line. `number`: of the connection, from 1. `file`: to be named; or null.
void print_json(text_buffer& out, connection_stats const& stats, std::size_t number, std::string const* file);
/// `begin`: of the capture, in nanoseconds. `detailed`: with all kinds of messages and items.
void print_text(text_buffer& out, connection_stats const& stats, std::size_t number, std::int64_t begin,
                bool detailed);

/// Remarks about the capture as a whole, apart from its connections: a line each.
[[nodiscard]] std::vector<std::string> remarks(frame_counts const& frames, connection_watcher const& all);

/// "0.6.5", "0.6, DDNet"
[[nodiscard]] std::string protocol_text(connection_stats const& stats);
/// "12.5 kB"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

} // namespace teewire::replay
