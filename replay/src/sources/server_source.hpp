// A running server as a stream.
#pragma once

#include "net/spectator.hpp"
#include "stream/event.hpp"

#include <optional>
#include <string>

namespace teewire::replay {

/// HOST:PORT or [ADDRESS]:PORT, if no file has that name.
[[nodiscard]] std::optional<host_port> parse_server(std::string const& name);

/// What came of it.
struct watched_server {
    bool failed = false;         ///< it ended otherwise than by a signal, the duration, or the sink
    std::uint64_t snapshots = 0; ///< given
    std::uint64_t lost = 0;      ///< that were damaged, or against a base that was lost
};

/// Joins the server as a spectator and hands over what it sends, at once, until the program is interrupted, the duration
/// is over, the server is gone (and `retry` is not set), or the sink has enough. A recording begins with the first
/// snapshot of each map; the map is not downloaded. Talk goes to standard error.
[[nodiscard]] watched_server watch(host_port const& server, spectator_options options, live_sink& to);

} // namespace teewire::replay
