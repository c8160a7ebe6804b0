// Files that are examined at the same time.
#pragma once

#include "base/output.hpp"
#include "base/workers.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace teewire::replay {

/// The result of examining one file.
struct report {
    int code = exit_ok;
    std::string out; ///< for standard output
    std::string err; ///< for standard error, as error_line() gives it
};
/// Runs on a worker, and may let others help. Adds what it has done to `done_bytes`.
using examination =
    std::function<report(std::size_t number, workers& team, std::atomic<std::uint64_t>& done_bytes)>;

/// For readers that say how many bytes of one file are done so far.
[[nodiscard]] inline std::function<void(std::uint64_t)> add_progress_to(std::atomic<std::uint64_t>& done_bytes) {
    return [&done_bytes, counted = std::uint64_t{0}](std::uint64_t bytes) mutable {
        if (bytes > counted) done_bytes += bytes - std::exchange(counted, bytes);
    };
}

/// In bytes, of the files whose size is known before they are read.
[[nodiscard]] std::uint64_t total_size(std::vector<std::string> const& files);

/// Examines the files at the same time and prints the reports to `out` and standard error in the order of the files. An
/// exception in an examination is reported, and the next file continues. Returns the worst exit code, or
/// exit_interrupted. Throws output_error.
int examine_files(std::vector<std::string> const& files, unsigned jobs, output& out, examination const& examine);

} // namespace teewire::replay
