// The options of verbs that join a server.
#pragma once

#include "cli/verb.hpp"
#include "net/spectator.hpp"

namespace teewire::replay {

/// --duration, --join-timeout, --protocol, --name, --password, --retry.
void server_options(option_set& options, spectator_options& to);

} // namespace teewire::replay
