// A web server for files, in memory or stored, whole or in parts, and for feeds of events.
//
// Safe on an open port: only GET, HEAD and OPTIONS, headers of at most 8 KiB, no bodies, a time limit for each step,
// and limited connections and requests per address. Belongs after a cache when there are many viewers.
#pragma once

#include "base/stored_file.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

struct web_answer {
    enum class kind : std::uint8_t {
        file,
        later, ///< does not exist yet: the question is asked again when something changes, as long as `patience`
        feed,  ///< the connection gets what is published from now on
        none,  ///< nothing has that name
    };
    kind what = kind::none;
    std::shared_ptr<std::vector<std::uint8_t> const> body;
    std::string_view type = "application/octet-stream";
    std::string_view cache = "no-store";         ///< Cache-Control
    bool packed = false;                         ///< the body is gzip data, and meant is what is in it
    std::string tag{};                           ///< of the body: another one when it has changed; may be empty
    std::shared_ptr<stored_file const> stored{}; ///< instead of a body
    std::chrono::seconds patience{4};
};

/// A question of a browser, valid during a call.
struct page_request {
    std::string_view path;    ///< from after the first slash up to a question mark
    std::string_view query;   ///< after the question mark
    std::string_view address; ///< of this server, as the browser has it: "http://HOST:PORT/"
};

class web_pages {
public:
    [[nodiscard]] virtual web_answer get(page_request const& asked) = 0;

protected:
    ~web_pages() = default;
};

struct web_limits {
    std::size_t connections = 10'000;
    std::size_t connections_per_address = 256;
    double requests_per_address = 1000; ///< a second
    double requests = 50'000;           ///< a second
    bool local =
        false; ///< for browsers of this machine: pages of others get nothing, whatever name they have for it
};

class web_server {
public:
    /// `pages` must outlive it. Throws io_error.
    web_server(boost::asio::io_context& io, boost::asio::ip::tcp::endpoint const& at, web_pages& pages,
               web_limits const& limits);
    ~web_server();
    web_server(web_server const&) = delete;
    web_server& operator=(web_server const&) = delete;

    /// There may be an answer for those who wait.
    void change();
    /// Server-sent events, complete with their empty line, for all who read the feed. A reader that lags too far is
    /// disconnected.
    void publish(std::string text);
    /// Takes no more connections; existing ones end.
    void close();

    struct counters {
        std::uint64_t accepted = 0;
        std::uint64_t turned_away = 0; // too many connections
        std::uint64_t requests = 0;
        std::uint64_t refused = 0; // malformed, too large, too many
        std::uint64_t not_found = 0;
        std::uint64_t timeouts = 0;
        std::uint64_t bytes = 0; // of bodies
    };
    [[nodiscard]] counters const& count() const noexcept;
    [[nodiscard]] std::size_t connections() const noexcept;
    [[nodiscard]] std::size_t feeds() const noexcept;
    [[nodiscard]] boost::asio::ip::tcp::endpoint address() const;

private:
    class session;
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace teewire::replay
