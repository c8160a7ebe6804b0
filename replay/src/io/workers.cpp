#include "io/workers.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace teewire::replay {

workers::workers(unsigned jobs)
    : count_{jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency())}, open_{tasks_.get_executor()} {}

workers::~workers() {
    tasks_.stop();
    join();
}

unsigned workers::count() const {
    std::lock_guard const lock{mutex_};
    return exhausted_ ? std::max(1U, static_cast<unsigned>(threads_.size())) : count_;
}

// False if there is none.
bool workers::make_thread() {
    std::lock_guard const lock{mutex_};
    if (!exhausted_ && threads_.size() < std::min<std::size_t>(count_, unfinished_)) try {
            threads_.emplace_back([this] { tasks_.run(); });
        } catch (std::system_error const&) {
            exhausted_ = true;
        }
    return !threads_.empty();
}

void workers::post(std::function<void()> task) {
    ++unfinished_;
    auto const done = [this, task = std::move(task)] {
        task();
        --unfinished_;
    };
    if (make_thread()) boost::asio::post(tasks_, done);
    else done();
}

void workers::join() {
    open_.reset();
    for (std::size_t i = 0;; ++i) { // while one works, it may post what makes another
        std::thread next;
        {
            std::lock_guard const lock{mutex_};
            if (i == threads_.size()) return;
            next = std::move(threads_[i]);
        }
        if (next.joinable()) next.join();
    }
}

} // namespace teewire::replay
