#include "recording/live_source.hpp"

#include "base/output.hpp"
#include "base/text.hpp"
#include "recording/demo/demo_follower.hpp"
#include "recording/server/server_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace teewire::replay {
namespace {

int follow(std::string const& file, live_sink& to) {
    demo_follower source{file, [&] { to.flush(); }};
    for (stream_event event; !to.over() && source.next(event);) to.put(event);
    to.finish();
    std::string const error = source.error();
    if (!error.empty()) complain(fmt::format("{}: {}", source.name(), error));
    return error.empty() ? exit_ok : exit_bad_input;
}

int spectate(host_port const& server, spectator_options const& options, live_sink& to) {
    watched_server const found = watch(server, options, to);
    to.finish();
    if (found.lost != 0) complain(counted(found.lost, "snapshot was lost", "snapshots were lost"));
    return found.failed ? exit_io : found.snapshots == 0 ? exit_interrupted : exit_ok;
}

} // namespace

bool is_live(std::vector<std::string> const& files, live_reading const& how) {
    auto const server =
        std::find_if(files.begin(), files.end(), [](auto const& file) { return parse_server(file); });
    if (server != files.end() && files.size() > 1)
        throw usage_error{*server, "a server cannot be combined with other inputs"};
    if (how.follow && files.size() > 1) throw usage_error{"--follow takes one file"};
    return server != files.end() || how.follow;
}

int read_live(std::string const& file, live_reading const& how, live_sink& to) {
    defer_exit();
    if (auto const server = parse_server(file)) return spectate(*server, how.spectating, to);
    return follow(file, to);
}

} // namespace teewire::replay
