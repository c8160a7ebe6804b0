// A live source: a running server, a demo at its pace, another relay.
#pragma once

#include "recording/server/spectator.hpp"
#include "recording/stream/event.hpp"

#include <functional>
#include <memory>
#include <string>

namespace teewire::replay {

struct feed_options {
    spectator_options spectating; ///< of a server
    bool loop = false;            ///< a demo begins again at its end
    double speed = 1;             ///< times the recorded pace, of a demo
};

/// Hands over what happens when it happens. Talk goes to standard error.
class feed {
public:
    virtual ~feed() = default;
    virtual void start() = 0;
    /// Ends it. Not out of a sink.
    virtual void stop() = 0;
    /// It ended otherwise than by stop().
    [[nodiscard]] virtual bool failed() const = 0;
    /// Whether it hands over what another host sends.
    [[nodiscard]] virtual bool is_remote() const noexcept { return true; }
};

/// `name`: HOST:PORT, http://HOST[:PORT]/PATH, or a file. `ended` is called once after the last event. Borrowed
/// arguments must outlive it. Throws as input and demo_document do, and usage_error.
[[nodiscard]] std::unique_ptr<feed> open_feed(service_loop& loop, std::string const& name,
                                              feed_options const& options, event_sink& to,
                                              std::function<void()> ended);

} // namespace teewire::replay
