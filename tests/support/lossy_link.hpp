// A way between two programs that loses, doubles and delays datagrams, reproducibly.
#pragma once

#include "check.hpp"
#include "random.hpp"

#include <algorithm>

namespace test {

struct link_quality {
    unsigned loss = 0;    // percent
    unsigned doubled = 0; // percent
    unsigned late = 0;    // percent, by up to `delay` more milliseconds
    std::int64_t delay = 100;
};

class lossy_link {
public:
    lossy_link(std::uint64_t seed, link_quality quality) : rng_{seed}, quality_{quality} {}

    void send(std::span<std::uint8_t const> datagram, std::int64_t now) {
        if (datagram.empty() || rng_.chance(quality_.loss)) return;
        for (int copies = rng_.chance(quality_.doubled) ? 2 : 1; copies-- > 0;) {
            std::int64_t const extra =
                rng_.chance(quality_.late)
                    ? static_cast<std::int64_t>(rng_.below(static_cast<std::size_t>(quality_.delay)))
                    : 0;
            on_the_way_.push_back({now + 10 + extra, copy_of(datagram)});
        }
    }
    /// The datagrams that have arrived.
    std::vector<bytes> arrived(std::int64_t now) {
        std::vector<bytes> all;
        auto const first_left = std::stable_partition(on_the_way_.begin(), on_the_way_.end(),
                                                      [&](auto const& d) { return d.time <= now; });
        std::stable_sort(on_the_way_.begin(), first_left,
                         [](auto const& a, auto const& b) { return a.time < b.time; });
        for (auto it = on_the_way_.begin(); it != first_left; ++it) all.push_back(std::move(it->data));
        on_the_way_.erase(on_the_way_.begin(), first_left);
        return all;
    }

private:
    struct traveller {
        std::int64_t time;
        bytes data;
    };
    random rng_;
    link_quality quality_;
    std::vector<traveller> on_the_way_;
};

} // namespace test
