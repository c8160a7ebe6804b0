// Steps done on several threads, whose results are delivered in order.
#pragma once

#include "base/workers.hpp"

#include <cstddef>

namespace teewire::replay {

/// The state that a step may ask for while it runs.
class ordered_turn {
public:
    /// Nothing of the step is wanted any more.
    [[nodiscard]] virtual bool stopped() const noexcept = 0;
    /// So many bytes of it wait for delivery. Delivers them if no other step comes before it, and waits if too many have
    /// gathered. False if it was stopped.
    [[nodiscard]] virtual bool offer(std::size_t bytes) = 0;

protected:
    ~ordered_turn() = default;
};

/// Steps with numbers from 0. An exception of a step ends the work.
class ordered_work {
public:
    enum class outcome { more, last, stopped }; ///< last: no later step is wanted; stopped: nothing more is

    /// Does a step, on any thread. A number is given out when the one that is less by the window has been delivered.
    virtual outcome make(std::size_t number, ordered_turn& turn) = 0;
    /// Delivers what there is of a step: in order, on any thread, but never two at the same time.
    virtual void deliver(std::size_t number, bool complete) = 0;

protected:
    ~ordered_work() = default;
};

struct ordered_limits {
    std::size_t steps;         ///< in all
    std::size_t window;        ///< steps that may be ahead of what has been delivered
    std::size_t waiting_bytes; ///< for each worker
};

/// Does the steps on this thread, which is one of the team, and on others of it that have nothing else to do. Returns
/// when no thread is at them any more.
void parallel_ordered(workers& team, ordered_limits const& limits, ordered_work& work);

} // namespace teewire::replay
