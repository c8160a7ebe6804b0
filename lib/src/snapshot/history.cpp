#include "teewire/history.hpp"

#include <algorithm>

namespace teewire {

result<snapshot_view> history::add(std::int32_t tick, snapshot_view snapshot) noexcept {
    std::size_t const size = snapshot.ints().size();
    if (count_ > 0 && tick <= at(count_ - 1).tick) return failure{errc::bad_tick, 0};
    if (size > block_.size()) return failure{errc::too_large, block_.size()};

    // Snapshots are never split: what does not fit before the end of the block goes to its start.
    std::size_t begin = end_;
    bool const wraps = size > block_.size() - begin;
    if (wraps) {
        while (count_ > 0 && at(0).begin >= begin) drop_oldest(); // they lie in the part that is skipped
        begin = 0;
    }
    while (count_ > 0 &&
           (count_ == entries_.size() || (at(0).begin < begin + size && at(0).begin + at(0).size > begin)))
        drop_oldest();
    std::copy(snapshot.ints().begin(), snapshot.ints().end(), block_.begin() + static_cast<std::ptrdiff_t>(begin));
    end_ = begin + size;
    ++count_;
    at(count_ - 1) = {tick, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size),
                      snapshot.distinct_keys()};
    return snapshot_view::trusted(block_.subspan(begin, size), snapshot.distinct_keys());
}

std::optional<snapshot_view> history::find(std::int32_t tick) const noexcept {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (at(middle).tick < tick) low = middle + 1;
        else high = middle;
    }
    if (low == count_ || at(low).tick != tick) return std::nullopt;
    return snapshot_view::trusted(block_.subspan(at(low).begin, at(low).size), at(low).distinct_keys);
}

void history::drop_before(std::int32_t tick) noexcept {
    while (count_ > 0 && at(0).tick < tick) drop_oldest();
}

void history::clear() noexcept { first_ = count_ = end_ = 0; }

std::optional<std::int32_t> history::oldest() const noexcept {
    return count_ > 0 ? std::optional{at(0).tick} : std::nullopt;
}

std::optional<std::int32_t> history::newest() const noexcept {
    return count_ > 0 ? std::optional{at(count_ - 1).tick} : std::nullopt;
}

void history::drop_oldest() noexcept {
    first_ = (first_ + 1) % entries_.size();
    --count_;
    if (count_ == 0) end_ = 0;
}

} // namespace teewire
