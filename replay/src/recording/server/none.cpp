// Servers, where there is no network.
#include "base/errors.hpp"
#include "recording/server/server_source.hpp"

namespace teewire::replay {

std::optional<host_port> parse_server(std::string const&) { return {}; }
watched_server watch(host_port const&, spectator_options, event_sink&) {
    throw usage_error{"there is no network here"};
}

} // namespace teewire::replay
