// Threads that share work.
#pragma once

#include <functional>
#include <memory>

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
    class team;
    std::unique_ptr<team> team_;
};

} // namespace teewire::replay
