// Snapshots that outlive the memory they were read into.
#pragma once

#include <teewire/snapshot.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace teewire::replay {

/// A copy of a snapshot in memory of its own.
class owned_snapshot {
public:
    void assign(snapshot_view snapshot) {
        ints_.assign(snapshot.ints().begin(), snapshot.ints().end());
        distinct_keys_ = snapshot.distinct_keys();
    }
    void clear() noexcept { ints_.clear(); }
    /// Whether there is a snapshot; it may have no items.
    [[nodiscard]] bool has_value() const noexcept { return !ints_.empty(); }
    /// Empty if there is none. Holds until assign() or clear(), or a move.
    [[nodiscard]] snapshot_view view() const noexcept {
        return has_value() ? snapshot_view::trusted(ints_, distinct_keys_) : snapshot_view{};
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return 4 * ints_.size(); }

private:
    std::vector<std::int32_t> ints_;
    bool distinct_keys_ = false;
};

/// The snapshot in `ints`, a copy of `original` in which only data has changed, and no key or size.
[[nodiscard]] inline snapshot_view with_data(snapshot_view original, std::span<std::int32_t const> ints) noexcept {
    return snapshot_view::trusted(ints, original.distinct_keys());
}

} // namespace teewire::replay
