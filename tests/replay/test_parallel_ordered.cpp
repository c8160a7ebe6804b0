// Steps done on several threads, delivered in order.
#include "base/parallel_ordered.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace teewire::replay;

namespace {

// Counts what must not happen: doctest's checks are not for several threads.
class counted_steps final : public ordered_work {
public:
    outcome make(std::size_t number, ordered_turn& turn) override {
        if (number == throws_at) throw std::runtime_error{"as asked"};
        for (std::size_t i = 0; i < number % 3; ++i)
            if (!turn.offer(100)) return outcome::stopped;
        return number == last_at ? outcome::last : outcome::more;
    }
    void deliver(std::size_t number, bool complete) override {
        wrong += delivering.exchange(true);
        wrong += number != next;
        if (number % 7 == 0) std::this_thread::yield();
        if (complete) ++next;
        delivering = false;
    }

    std::size_t throws_at = SIZE_MAX;
    std::size_t last_at = SIZE_MAX;
    std::atomic<bool> delivering = false;
    std::atomic<std::size_t> next = 0;
    std::atomic<int> wrong = 0;
};

} // namespace

TEST_CASE("each step is delivered once, in order, by one thread at a time") {
    for (unsigned const threads : {1U, 4U})
        for (int round = 0; round < 10; ++round) {
            workers team{threads};
            counted_steps work;
            parallel_ordered(team, {1000, 8, 150}, work);
            CHECK(work.wrong == 0);
            CHECK(work.next == 1000);
        }
}

TEST_CASE("ordered steps end at the last one that is wanted, and at an exception") {
    workers team{4};
    counted_steps ends;
    ends.last_at = 500;
    parallel_ordered(team, {2000, 8, 1000}, ends);
    CHECK(ends.next == 501);
    counted_steps throws;
    throws.throws_at = 500;
    CHECK_THROWS_AS(parallel_ordered(team, {2000, 8, 1000}, throws), std::runtime_error);
    CHECK(throws.next <= 500);
    CHECK(throws.wrong == 0);
}
