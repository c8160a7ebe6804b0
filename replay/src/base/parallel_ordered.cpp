#include "base/parallel_ordered.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace teewire::replay {
namespace {

// Helpers that come too late find nothing to do, and touch nothing that is gone by then.
class schedule : public std::enable_shared_from_this<schedule> {
public:
    schedule(workers& team, ordered_limits const& limits, ordered_work& work)
        : team_{team}, work_{work}, steps_{limits.steps}, waiting_per_worker_{limits.waiting_bytes},
          slots_(limits.window) {}

    void run() {
        help();
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return active_ == 0; });
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    struct slot {
        std::size_t waiting_bytes = 0;
        bool complete = false;
    };

    class turn final : public ordered_turn {
    public:
        turn(schedule& of, std::size_t number) : of_{of}, number_{number} {}
        [[nodiscard]] bool stopped() const noexcept override { return of_.stopped_; }
        [[nodiscard]] bool offer(std::size_t bytes) override { return of_.offer(number_, bytes); }

    private:
        schedule& of_;
        std::size_t number_;
    };

    // Takes steps until there are no more.
    void help() {
        while (auto const number = claim()) {
            try {
                turn of_step{*this, *number};
                auto const made = work_.make(*number, of_step);
                if (made == ordered_work::outcome::stopped) stop();
                else finish(*number, made == ordered_work::outcome::last);
            } catch (...) {
                std::lock_guard const lock{mutex_};
                if (!thrown_) thrown_ = std::current_exception();
                stopped_ = true;
            }
            std::lock_guard const lock{mutex_};
            --active_;
            changed_.notify_all();
        }
    }

    // Waits until there is room. The first step that has not been delivered is always being worked on.
    std::optional<std::size_t> claim() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock,
                      [&] { return stopped_ || claimed_ >= steps_ || claimed_ < delivered_ + slots_.size(); });
        if (stopped_ || claimed_ >= steps_) return {};
        std::size_t const number = claimed_++;
        at(number) = {};
        ++active_;
        // Each helper calls the next one: busy teams do not get heaps of calls that come to nothing.
        if (claimed_ < steps_ && helpers_ + 1 < team_.count()) {
            ++helpers_;
            team_.post([self = shared_from_this()] { self->help(); });
        }
        return number;
    }

    bool offer(std::size_t number, std::size_t bytes) {
        {
            std::unique_lock lock{mutex_};
            waiting_bytes_ += bytes - std::exchange(at(number).waiting_bytes, bytes);
            changed_.wait(lock, [&] {
                return stopped_ || number == delivered_ || waiting_bytes_ <= waiting_per_worker_ * team_.count();
            });
            if (stopped_) return false;
            if (number != delivered_) return true;
            waiting_bytes_ -= std::exchange(at(number).waiting_bytes, 0);
        }
        work_.deliver(number, false);
        return true;
    }

    // Delivers a complete step and those after it, unless others come before it.
    void finish(std::size_t number, bool last) {
        {
            std::lock_guard const lock{mutex_};
            at(number).complete = true;
            if (last && number < steps_) steps_ = number + 1;
        }
        for (; take_next(number); ++number) {
            work_.deliver(number, true);
            std::lock_guard const lock{mutex_};
            if (++delivered_ == steps_) stopped_ = true;
            changed_.notify_all();
        }
    }

    // Whether this thread is to deliver that step: the thread that completed it and the one that delivered the step before
    // both ask, and one of them gets it.
    bool take_next(std::size_t number) {
        std::lock_guard const lock{mutex_};
        if (stopped_ || number != delivered_ || number >= claimed_) return false;
        if (!std::exchange(at(number).complete, false)) return false;
        waiting_bytes_ -= std::exchange(at(number).waiting_bytes, 0);
        return true;
    }

    void stop() {
        std::lock_guard const lock{mutex_};
        stopped_ = true;
        changed_.notify_all();
    }

    [[nodiscard]] slot& at(std::size_t number) { return slots_[number % slots_.size()]; }

    workers& team_;
    ordered_work& work_;

    std::mutex mutex_; // for everything below
    std::condition_variable changed_;
    std::size_t steps_;
    std::size_t const waiting_per_worker_;
    std::vector<slot> slots_;
    std::size_t claimed_ = 0;
    std::size_t delivered_ = 0;
    std::size_t active_ = 0;  // threads that do a step
    std::size_t helpers_ = 0; // called so far
    std::size_t waiting_bytes_ = 0;
    std::exception_ptr thrown_;
    std::atomic<bool> stopped_ = false; // read without the lock, too
};

} // namespace

void parallel_ordered(workers& team, ordered_limits const& limits, ordered_work& work) {
    std::make_shared<schedule>(team, limits, work)->run();
}

} // namespace teewire::replay
