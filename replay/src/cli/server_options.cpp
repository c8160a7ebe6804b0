#include "cli/server_options.hpp"

namespace teewire::replay {

void server_options(option_set& options, spectator_options& to) {
    to.join_timeout = 120;
    options.group("Servers");
    options.duration(
        "--duration", to.duration,
        "how long to stay, counted from the first snapshot; also how long to wait for a server to answer");
    options.duration(
        "--join-timeout", to.join_timeout,
        "how long joining may take, from connecting to the first snapshot, including the map download");
    options.choice("--protocol", to.protocol, {"auto", "0.6", "0.7"},
                   "protocol to speak; auto: 0.6 if the server supports it");
    options.text("--name", to.name, "name of the spectator");
    options.text("--password", to.password, "password of the server");
    options.group("Options");
}

void retry_option(option_set& options, spectator_options& to) {
    options.group("Servers");
    options.flag("--retry", to.retry, "reconnect when the connection is lost");
    options.group("Options");
}

void live_options(option_set& options, live_reading& to) {
    options.flag("--follow", to.follow, "wait for more at the end of a demo that is still being written");
    server_options(options, to.spectating);
    retry_option(options, to.spectating);
}

} // namespace teewire::replay
