// A running server as a stream.
#pragma once

#include "recording/server/spectator.hpp"
#include "recording/stream/early_messages.hpp"
#include "recording/stream/event.hpp"

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// HOST:PORT or [ADDRESS]:PORT, if no file has that name.
[[nodiscard]] std::optional<host_port> parse_server(std::string const& name);

/// The outcome of watching a server.
struct watched_server {
    bool failed = false;         ///< it ended otherwise than by a signal, the duration, or the sink
    std::uint64_t snapshots = 0; ///< given
    std::uint64_t lost = 0;      ///< that were damaged, or against a base that was lost
};

/// Joins a server as a spectator and hands over what it sends, at once. A recording begins with the first snapshot of each
/// map; what the server said before that follows it. Talk goes to standard error.
class server_reader final : private spectator_owner {
public:
    /// `ended` is called when it is over. Borrowed arguments must outlive it.
    server_reader(service_loop& loop, spectator_options const& options, host_port const& server, event_sink& to,
                  std::function<void()> ended);

    void start() { server_.start(); }
    void stop() { server_.stop(); }
    /// Throws what the sink has thrown.
    [[nodiscard]] watched_server outcome() const;

private:
    void says(std::string const& line) override;
    void fails(std::string const& why) override;
    void disconnects() override { begun_ = false; }
    void ends() override { ended_(); }
    void proceeds() override;
    void map_changes(served_map const&) override { begun_ = false; }
    void map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) override;
    void receives(snapshot_event const& event) override;
    void receives(message const&, message_type, std::span<std::uint8_t const> bytes, bool vital) override;

    void begin(std::int32_t tick);
    void say_message(std::span<std::uint8_t const> bytes, bool vital);
    void give(stream_event const& e);

    std::unique_ptr<snapshot_scratch> scratch_;
    std::string label_;
    event_sink& to_;
    std::function<void()> ended_;
    recording_info recording_;
    std::vector<std::uint8_t> map_;
    early_messages early_;
    bool begun_ = false;
    std::int32_t tick_ = -1;
    watched_server found_;
    std::exception_ptr thrown_;
    spectator server_;
};

/// Reads a server until the program is interrupted, the duration is over, the server is gone (and `retry` is not set), or
/// the sink has enough. The map is not downloaded.
[[nodiscard]] watched_server watch(host_port const& server, spectator_options options, event_sink& to);

} // namespace teewire::replay
