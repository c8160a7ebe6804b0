#include "base/service_loop.hpp"

#include "base/interrupts.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace teewire::replay {

namespace asio = boost::asio;
using asio::ip::udp;
using boost::system::error_code;

struct service_loop::mailbox {
    std::mutex access;
    asio::io_context* io; // null when the loop is gone

    template <class Work>
    void post(Work&& work) {
        std::lock_guard const lock{access};
        if (io != nullptr) asio::post(*io, std::forward<Work>(work));
    }
};

service_loop::service_loop() : mailbox_{std::make_shared<mailbox>()} { mailbox_->io = &io_; }

service_loop::~service_loop() {
    std::lock_guard const lock{mailbox_->access};
    mailbox_->io = nullptr;
}

void service_loop::run() {
    auto const until_stop = asio::make_work_guard(io_);
    io_.run();
}

void service_loop::on_signal(std::function<void()> f) {
    defer_exit();
    signal_.wait(std::move(f));
}

void service_loop::every(std::chrono::milliseconds period, std::function<void()> f) {
    repeat(repeated_.emplace_back(repeated{asio::steady_timer{io_}, period, std::move(f)}));
}

void service_loop::repeat(repeated& r) {
    r.timer.expires_after(r.period);
    r.timer.async_wait([&r](error_code cancelled) {
        if (cancelled) return;
        r.work();
        repeat(r);
    });
}

void service_loop::resolve(std::string host, std::string port,
                           std::function<void(error_code, endpoints const&)> const& f) {
    auto look_up = [to = mailbox_, host = std::move(host), port = std::move(port), f] {
        asio::io_context own;
        error_code failed;
        auto const found = udp::resolver{own}.resolve(host, port, failed);
        to->post([f, failed, all = endpoints(found.begin(), found.end())] { f(failed, all); });
    };
    try {
        std::thread{std::move(look_up)}.detach();
    } catch (std::system_error const&) {
        asio::post(io_, [f] { f(asio::error::no_memory, {}); });
    }
}

} // namespace teewire::replay
