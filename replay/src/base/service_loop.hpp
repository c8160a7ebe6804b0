// The loop of a verb that stays: sockets, timers, names of hosts, and the signals that end it.
#pragma once

#include "base/os/signals.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace teewire::replay {

class service_loop {
public:
    service_loop();
    ~service_loop();
    service_loop(service_loop const&) = delete;
    service_loop& operator=(service_loop const&) = delete;

    [[nodiscard]] boost::asio::io_context& io() noexcept { return io_; }
    /// Runs until stop().
    void run();
    void stop() { io_.stop(); }

    /// Calls `f` when a signal has come, as catch_interrupts() says; from then on a signal does not end the program after
    /// a quarter of a second, but a second one does, at once. Only after catch_interrupts(), and once.
    void on_signal(std::function<void()> f);
    /// Calls `f` when `period` has passed, and again each time it has passed after that.
    void every(std::chrono::milliseconds period, std::function<void()> f);

    using endpoints = std::vector<boost::asio::ip::udp::endpoint>;
    /// Looks up a host, and calls `f` from run(). That cannot be cancelled, and may take minutes: when the loop ends
    /// before, `f` is not called, and nothing waits for it.
    void resolve(std::string host, std::string port,
                 std::function<void(boost::system::error_code failed, endpoints const& found)> const& f);

private:
    // The results of threads that look up names, which may live longer than the loop.
    struct mailbox;
    struct repeated {
        boost::asio::steady_timer timer;
        std::chrono::milliseconds period;
        std::function<void()> work;
    };
    static void repeat(repeated& r);

    boost::asio::io_context io_;
    std::shared_ptr<mailbox> mailbox_;
    os::signal_waiter signal_{io_};
    std::deque<repeated> repeated_;
};

} // namespace teewire::replay
