// Recordings that are not complete yet, read as they come: a running server, or a demo that is still being written.
#pragma once

#include "recording/server/spectator.hpp"
#include "recording/stream/event.hpp"

#include <string>
#include <vector>

namespace teewire::replay {

struct live_reading {
    bool follow = false; ///< a file
    spectator_options spectating;
};

/// Whether the files are to be read as they come: a server, or with --follow a file. Throws usage_error if there are others
/// beside it.
[[nodiscard]] bool is_live(std::vector<std::string> const& files, live_reading const& how);

/// Passes events on until the server or the pipe ends, the program is interrupted, the duration is over, or the sink
/// is. Damage and losses are reported on standard error. Returns the exit code: exit_io if the server was lost,
/// exit_interrupted if it has sent no snapshot. Throws as demo_follower and the sink do.
[[nodiscard]] int read_live(std::string const& file, live_reading const& how, live_sink& to);

} // namespace teewire::replay
