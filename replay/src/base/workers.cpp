#include "base/workers.hpp"

#include "base/os/process.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace teewire::replay {
namespace {

// How many threads, of those asked for, leave room for what their tasks need.
unsigned that_fit(unsigned jobs) {
    constexpr std::uint64_t for_each = std::uint64_t{32} << 20; // with a stack of 8 MiB
    auto const space = os::address_space_limit();
    return space ? static_cast<unsigned>(std::clamp<std::uint64_t>(*space / for_each, 1, jobs)) : jobs;
}

} // namespace

class workers::team {
public:
    explicit team(unsigned jobs)
        : count_{that_fit(jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency()))},
          open_{tasks_.get_executor()} {
        if (os::address_space_limit()) os::save_address_space();
    }
    team(team const&) = delete;
    team& operator=(team const&) = delete;
    ~team() {
        tasks_.stop();
        join();
    }

    [[nodiscard]] unsigned count() const {
        std::lock_guard const lock{mutex_};
        return exhausted_ ? std::max(1U, static_cast<unsigned>(threads_.size())) : count_;
    }

    void post(std::function<void()> task) {
        ++unfinished_;
        auto const done = [this, task = std::move(task)] {
            task();
            --unfinished_;
        };
        if (make_thread()) boost::asio::post(tasks_, done);
        else done();
    }

    void join() {
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

private:
    // False if there is none.
    bool make_thread() {
        std::lock_guard const lock{mutex_};
        if (!exhausted_ && threads_.size() < std::min<std::size_t>(count_, unfinished_)) {
            try {
                threads_.emplace_back([this] { tasks_.run(); });
            } catch (std::system_error const&) {
                exhausted_ = true;
            }
        }
        return !threads_.empty();
    }

    unsigned count_;
    boost::asio::io_context tasks_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_;
    std::atomic<std::size_t> unfinished_ = 0; // tasks
    mutable std::mutex mutex_;                // for what follows
    std::vector<std::thread> threads_;
    bool exhausted_ = false; // the system gives no more
};

workers::workers(unsigned jobs) : team_{std::make_unique<team>(jobs)} {}
workers::~workers() = default;
unsigned workers::count() const { return team_->count(); }
void workers::post(std::function<void()> task) { team_->post(std::move(task)); }
void workers::join() { team_->join(); }

} // namespace teewire::replay
