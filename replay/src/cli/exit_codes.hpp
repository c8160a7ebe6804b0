// Exit codes for what was found in recordings.
#pragma once

#include "recording/open_recording.hpp"

#include <span>
#include <string>

namespace teewire::replay {

/// exit_bad_input if the file of a capture is damaged, which it reports, or if some snapshots of its connection are
/// missing. Damage of a demo was reported when it was read.
[[nodiscard]] int exit_code_of(open_recording const& source);
/// The same for several connections of a capture, which is called `name`.
[[nodiscard]] int exit_code_of(capture_pass const& found, std::span<connection_stats const* const> connections,
                               std::string const& name);

} // namespace teewire::replay
