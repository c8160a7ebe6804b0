// Threads, and files that are examined on them.
#pragma once

#include "output.hpp"

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace teewire::replay {

/// Threads that files and their segments share. What is posted first is begun first.
class workers {
public:
    /// 0: as many as there are cores.
    explicit workers(unsigned jobs);

    [[nodiscard]] unsigned count() const noexcept { return count_; }
    void post(std::function<void()> task);
    /// Waits for everything posted.
    void join() { pool_.join(); }

private:
    unsigned count_;
    boost::asio::thread_pool pool_;
};

/// What a command has to say about a file.
struct report {
    int code = exit_ok;
    std::string out; ///< for standard output
    std::string err; ///< for standard error
};
/// Runs on a worker, and may let others help. Adds what it has done to `done_bytes`.
using examination =
    std::function<report(std::size_t number, workers& team, std::atomic<std::uint64_t>& done_bytes)>;

/// Examines the files at the same time and prints the reports in the order of the files. The worst exit code, or
/// exit_interrupted. Throws what the first file in that order throws.
int examine_files(std::vector<std::string> const& files, unsigned jobs, examination const& examine);

} // namespace teewire::replay
