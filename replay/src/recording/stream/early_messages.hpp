// Messages that come before the first snapshot of a recording.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace teewire::replay {

/// Keeps messages until there is a snapshot to give them after. Peers are untrusted, so there is a limit: further
/// messages are lost.
class early_messages {
public:
    static constexpr std::size_t max_count = 1000;

    void add(std::span<std::uint8_t const> bytes, bool vital) {
        if (kept_.size() < max_count) kept_.push_back({{bytes.begin(), bytes.end()}, vital});
    }
    /// Calls give(bytes, vital) for each message, in their order. None are left.
    template <class F>
    void release(F const& give) {
        for (kept const& m : std::exchange(kept_, {})) give(std::span{m.bytes}, m.vital);
    }
    void clear() noexcept { kept_.clear(); }

private:
    struct kept {
        std::vector<std::uint8_t> bytes;
        bool vital;
    };
    std::vector<kept> kept_;
};

} // namespace teewire::replay
