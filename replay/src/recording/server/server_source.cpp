#include "recording/server/server_source.hpp"

#include "base/output.hpp"

#include <exception>
#include <filesystem>
#include <utility>

namespace teewire::replay {

server_reader::server_reader(service_loop& loop, spectator_options const& options, host_port const& server,
                             event_sink& to, std::function<void()> ended)
    : scratch_{std::make_unique<snapshot_scratch>()}, label_{fmt::format("{}:{}", server.host, server.port)},
      to_{to}, ended_{std::move(ended)}, server_{loop, options, server, *this, *scratch_} {}

watched_server server_reader::outcome() const {
    if (thrown_) std::rethrow_exception(thrown_);
    watched_server found = found_;
    found.failed = server_.failed();
    return found;
}

void server_reader::says(std::string const& line) { say("{}\n", printable(fmt::format("{}: {}", label_, line))); }
void server_reader::fails(std::string const& why) { complain(fmt::format("{}: {}", label_, why)); }

void server_reader::proceeds() {
    if (thrown_ || (found_.snapshots != 0 && to_.over())) server_.stop();
}

void server_reader::map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) {
    recording_ = {};
    map_ = std::move(bytes);
    recording_.map = map;
    recording_.map_bytes = map_;
    early_.clear();
    tick_ = -1;
}

void server_reader::receives(snapshot_event const& event) {
    stream_event e;
    e.tick = event.tick;
    switch (event.kind) {
    case snapshot_event_kind::snapshot: break;
    case snapshot_event_kind::missing_base:
    case snapshot_event_kind::damaged:
    case snapshot_event_kind::malformed:
        e.kind = event_kind::lost;
        ++found_.lost;
        return give(e);
    default: return;
    }
    if (event.tick <= tick_) return; // what came before it is given already
    if (!begun_) begin(event.tick);
    tick_ = event.tick;
    ++found_.snapshots;
    e.kind = event_kind::snapshot;
    e.keyframe = event.base_tick < 0;
    e.state = event.snapshot;
    give(e);
}

void server_reader::begin(std::int32_t tick) {
    recording_.version = server_.client().version();
    recording_.first_tick = tick;
    stream_event first;
    first.kind = event_kind::begin;
    first.begun = &recording_;
    give(first);
    begun_ = true;
    tick_ = tick;
    early_.release([&](std::span<std::uint8_t const> bytes, bool vital) { say_message(bytes, vital); });
}

void server_reader::receives(message const&, message_type, std::span<std::uint8_t const> bytes, bool vital) {
    if (begun_) say_message(bytes, vital);
    else early_.add(bytes, vital);
}

void server_reader::say_message(std::span<std::uint8_t const> bytes, bool vital) {
    stream_event e;
    e.kind = event_kind::message;
    e.tick = tick_;
    e.message = bytes;
    e.vital = vital;
    give(e);
}

// Exceptions of the sink have to wait until the client is done.
void server_reader::give(stream_event const& e) {
    if (thrown_) return;
    try {
        to_.put(e);
        to_.flush();
    } catch (...) {
        thrown_ = std::current_exception();
    }
}

std::optional<host_port> parse_server(std::string const& name) {
    std::error_code failed;
    if (name.find_first_of("/\\") != std::string::npos || name.find(':') == std::string::npos ||
        std::filesystem::exists(name, failed))
        return {};
    return host_port::parse(name);
}

watched_server watch(host_port const& server, spectator_options options, event_sink& to) {
    options.download_map = false;
    service_loop loop;
    server_reader reader{loop, options, server, to, [&] { loop.stop(); }};
    loop.on_signal([&] { reader.stop(); });
    reader.start();
    loop.run();
    return reader.outcome();
}

} // namespace teewire::replay
