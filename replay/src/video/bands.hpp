// Work on parts of a picture, by several threads.
#pragma once

#include "base/workers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace teewire::replay {

/// Calls `work` with the numbers from 0 up to `count`, in any order, and waits for all. Nothing may be thrown.
template <class Work>
void for_each_of(std::size_t count, workers& team, Work const& work) {
    if (team.count() <= 1 || count <= 1) {
        for (std::size_t n = 0; n < count; ++n) work(n);
        return;
    }
    std::mutex mutex;
    std::condition_variable done;
    std::size_t left = count;
    for (std::size_t n = 0; n < count; ++n)
        team.post([&, n] {
            work(n);
            std::lock_guard const lock{mutex};
            if (--left == 0) done.notify_one();
        });
    std::unique_lock lock{mutex};
    done.wait(lock, [&] { return left == 0; });
}

/// Calls `work` for bands of rows, from the first one up to the last one, and waits for all.
template <class Work>
void for_bands(std::int32_t rows, workers& team, Work const& work) {
    auto const bands = team.count() <= 1 ? std::int32_t{1} : static_cast<std::int32_t>(team.count()) * 4;
    for_each_of(static_cast<std::size_t>(bands), team, [&](std::size_t n) {
        auto const row = [&](std::size_t band) {
            return static_cast<std::int32_t>(std::int64_t{rows} * static_cast<std::int64_t>(band) / bands);
        };
        work(row(n), row(n + 1));
    });
}

} // namespace teewire::replay
