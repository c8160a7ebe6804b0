// Another relay's broadcast, by HTTP, as events at their pace.
#pragma once

#include "base/service_loop.hpp"
#include "recording/stream/event_queue.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace teewire::replay {

/// http://HOST[:PORT][/PATH]
struct web_address {
    std::string host;
    std::string port = "80";
    std::string path = "/"; ///< with a slash at both ends

    /// None if the name does not begin with http://. Throws usage_error.
    static std::optional<web_address> parse(std::string const& name);
};

/// Goes on from fragment to fragment and from recording to recording, and begins again after whatever happens: there may
/// be gaps, but nothing twice and nothing out of order.
class subscriber {
public:
    /// Borrowed arguments must outlive it. `say` gets lines for people.
    subscriber(service_loop& loop, web_address from, event_sink& to, std::function<void(std::string const&)> say);
    ~subscriber();
    subscriber(subscriber const&) = delete;
    subscriber& operator=(subscriber const&) = delete;

    void start();
    void stop();

private:
    class state;
    std::unique_ptr<state> state_;
};

} // namespace teewire::replay
