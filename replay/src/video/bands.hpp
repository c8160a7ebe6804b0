// Work on the rows of a picture, by several threads.
#pragma once

#include "base/workers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace teewire::replay {

/// Calls `work` for bands of rows, from the first one up to the last one, and waits for all.
template <class Work>
void for_bands(std::int32_t rows, workers& team, Work const& work) {
    if (team.count() <= 1) return work(0, rows);
    std::int32_t const bands = static_cast<std::int32_t>(team.count()) * 4;
    std::mutex mutex;
    std::condition_variable done;
    std::int32_t left = bands;
    for (std::int32_t n = 0; n < bands; ++n)
        team.post([&, n] {
            auto const row = [&](std::int32_t band) {
                return static_cast<std::int32_t>(std::int64_t{rows} * band / bands);
            };
            work(row(n), row(n + 1));
            std::lock_guard const lock{mutex};
            if (--left == 0) done.notify_one();
        });
    std::unique_lock lock{mutex};
    done.wait(lock, [&] { return left == 0; });
}

} // namespace teewire::replay
