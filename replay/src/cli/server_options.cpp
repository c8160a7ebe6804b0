#include "cli/server_options.hpp"

namespace teewire::replay {

void server_options(option_set& options, spectator_options& to) {
    to.join_timeout = 120;
    options.duration("--duration", to.duration, "how long to stay on a server, or to look for one that answers");
    options.duration("--join-timeout", to.join_timeout,
                     "from connecting to a server to the first snapshot, the map's download included");
    options.choice("--protocol", to.protocol, {"auto", "0.6", "0.7"}, "auto: 0.6 if the server speaks it");
    options.text("--name", to.name, "of the spectator");
    options.text("--password", to.password, "of the server");
}

void retry_option(option_set& options, spectator_options& to) {
    options.flag("--retry", to.retry, "connect again when the server is gone");
}

void live_options(option_set& options, live_reading& to) {
    options.flag("--follow", to.follow, "a demo that is still being written: wait for more at its end");
    server_options(options, to.spectating);
    retry_option(options, to.spectating);
}

} // namespace teewire::replay
