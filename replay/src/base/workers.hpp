// Threads that share work.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace teewire::replay {

/// Threads that files and their segments share. Tasks begin in the order of posting. Threads are made when there is
/// work for them; if the system gives no more, the existing ones do the work.
class workers {
public:
    /// 0: as many as there are cores.
    explicit workers(unsigned jobs);
    workers(workers const&) = delete;
    workers& operator=(workers const&) = delete;
    /// Drops tasks that have not begun.
    ~workers();

    /// How many can work at the same time: what was asked for, or what the system gave.
    [[nodiscard]] unsigned count() const;
    /// Runs the task before it returns if there is no thread at all.
    void post(std::function<void()> task);
    /// Waits for everything posted. Nothing can be posted later.
    void join();

private:
    bool make_thread();

    unsigned count_;
    boost::asio::io_context tasks_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_;
    std::atomic<std::size_t> unfinished_ = 0; // tasks
    mutable std::mutex mutex_;                // for what follows
    std::vector<std::thread> threads_;
    bool exhausted_ = false; // the system gives no more
};

} // namespace teewire::replay
