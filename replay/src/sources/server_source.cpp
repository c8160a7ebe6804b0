#include "sources/server_source.hpp"

#include "io/output.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include <unistd.h>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;

class server_events final : public spectator_owner {
public:
    server_events(asio::io_context& io, spectator_options const& options, host_port const& server, live_sink& to,
                  snapshot_scratch& scratch)
        : io_{io}, label_{fmt::format("{}:{}", server.host, server.port)}, to_{to}, server_{io, options, server,
                                                                                            *this, scratch} {}

    void start() { server_.start(); }
    void stop() { server_.stop(); }
    [[nodiscard]] bool looks_up() const noexcept { return server_.looks_up(); }
    [[nodiscard]] watched_server outcome() const {
        if (thrown_) std::rethrow_exception(thrown_);
        watched_server found = found_;
        found.failed = server_.failed();
        return found;
    }

private:
    void says(std::string const& line) override { say("{}\n", printable(fmt::format("{}: {}", label_, line))); }
    void fails(std::string const& why) override { complain(fmt::format("{}: {}", label_, why)); }
    void disconnects() override { begun_ = false; }
    void ends() override { io_.stop(); }
    void proceeds() override {
        if (thrown_ || (found_.snapshots != 0 && to_.over())) server_.stop();
    }

    void map_changes(served_map const&) override { begun_ = false; }
    void map_complete(served_map const& map, std::vector<std::uint8_t>&&) override {
        recording_ = {};
        recording_.map = map;
        tick_ = -1;
    }
    void receives(snapshot_event const& event) override {
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
        if (!begun_) {
            recording_.version = server_.client().version();
            recording_.first_tick = event.tick;
            stream_event first;
            first.kind = event_kind::begin;
            first.begun = &recording_;
            give(first);
            begun_ = true;
        }
        tick_ = event.tick;
        ++found_.snapshots;
        e.kind = event_kind::snapshot;
        e.keyframe = event.base_tick < 0;
        e.state = event.snapshot;
        give(e);
    }
    void receives(message const&, message_type, std::span<std::uint8_t const> bytes, bool vital) override {
        if (!begun_) return;
        stream_event e;
        e.kind = event_kind::message;
        e.tick = tick_;
        e.message = bytes;
        e.vital = vital;
        give(e);
    }

    // What the sink throws has to wait until the client is done.
    void give(stream_event const& e) {
        if (thrown_) return;
        try {
            to_.take(e);
            to_.flush();
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }

    asio::io_context& io_;
    std::string label_;
    live_sink& to_;
    recording recording_;
    bool begun_ = false;
    std::int32_t tick_ = -1;
    watched_server found_;
    std::exception_ptr thrown_;
    spectator server_;
};

} // namespace

std::optional<host_port> parse_server(std::string const& name) {
    std::error_code failed;
    if (name.find('/') != std::string::npos || name.find(':') == std::string::npos ||
        std::filesystem::exists(name, failed))
        return {};
    return host_port::parse(name);
}

watched_server watch(host_port const& server, spectator_options options, live_sink& to) {
    options.download_map = false;
    asio::io_context io;
    auto const scratch = std::make_unique<snapshot_scratch>();
    asio::posix::stream_descriptor signals{io, dup(interrupt_descriptor())};
    server_events events{io, options, server, to, *scratch};
    signals.async_wait(asio::posix::stream_descriptor::wait_read, [&](boost::system::error_code failed) {
        if (!failed) events.stop();
    });
    events.start();
    io.run();
    return events.outcome();
}

} // namespace teewire::replay
