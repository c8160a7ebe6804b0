// The options of verbs that join a server.
#pragma once

#include "cli/verb.hpp"
#include "recording/live_source.hpp"

namespace teewire::replay {

/// --duration, --join-timeout, --protocol, --name, --password.
void server_options(option_set& options, spectator_options& to);
/// --retry, of verbs that would otherwise end with the server.
void retry_option(option_set& options, spectator_options& to);
/// --follow, and the options of verbs that join a server.
void live_options(option_set& options, live_reading& to);

} // namespace teewire::replay
