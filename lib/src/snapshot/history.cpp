#include "teewire/history.hpp"

#include <algorithm>
#include <cstring>

namespace teewire {
namespace {

// The first of the snapshots [low, high), the oldest first, that is not older than `tick`, or high.
template <class TickOf>
std::size_t first_from(std::size_t low, std::size_t high, std::int32_t tick, TickOf&& tick_of) noexcept {
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (tick_of(middle) < tick) low = middle + 1;
        else high = middle;
    }
    return low;
}

} // namespace

snapshot_view history::view(entry const& e) const noexcept {
    auto const snapshot = snapshot_view::trusted(block_.subspan(e.begin, e.size), e.distinct_keys);
    if (!e.outlined) return snapshot;
    std::int32_t const* const keys = block_.data() + e.begin + e.size;
    std::int32_t const* const starts = keys + snapshot.size();
    return snapshot.with_outline(
        {{keys, snapshot.size()},
         {reinterpret_cast<std::uint32_t const*>(starts), starts_words(snapshot.data_size() / 4)}});
}

result<snapshot_view> history::add(std::int32_t tick, snapshot_view snapshot, std::uint64_t word) noexcept {
    if (auto const last = newest(); last && tick <= *last) return failure{errc::bad_tick, 0};
    return append(tick, snapshot, word);
}

result<snapshot_view> history::add_late(std::int32_t tick, snapshot_view snapshot) noexcept {
    auto const last = newest();
    if (!last || tick > *last) return append(tick, snapshot, 0);
    if (find(tick)) return failure{errc::bad_tick, 0};
    auto const added = append(tick, snapshot, 0);
    if (added) unordered_ = count_;
    return added;
}

result<snapshot_view> history::append(std::int32_t tick, snapshot_view snapshot, std::uint64_t word) noexcept {
    std::size_t const size = snapshot.ints().size();
    auto const [keys, starts] = snapshot.outline();
    std::size_t const needed = size + keys.size() + starts.size();
    if (needed > block_.size()) return failure{errc::too_large, block_.size()};

    if (count_ == entries_.size()) drop_oldest();
    std::optional<std::size_t> begin;
    for (;; drop_oldest()) {
        if (count_ == 0) divide_block(needed);
        if ((begin = room(needed))) break;
    }
    std::int32_t* const place = block_.data() + *begin;
    std::memcpy(place, snapshot.ints().data(), size * 4);
    if (!keys.empty()) std::memcpy(place + size, keys.data(), keys.size() * 4);
    if (!starts.empty()) std::memcpy(place + size + keys.size(), starts.data(), starts.size() * 4);
    (*begin < many_.first ? few_ : many_).add(*begin, needed);
    ++count_;
    at(count_ - 1) = {word,
                      tick,
                      static_cast<std::uint32_t>(*begin),
                      static_cast<std::uint32_t>(size),
                      static_cast<std::uint32_t>(needed),
                      snapshot.distinct_keys(),
                      !starts.empty()};
    return view(at(count_ - 1));
}

history::entry const* history::entry_of(std::int32_t tick) const noexcept {
    for (std::size_t i = 0; i < unordered_; ++i)
        if (at(i).tick == tick) return &at(i);
    std::size_t const found = first_from(unordered_, count_, tick, [this](std::size_t i) { return at(i).tick; });
    return found != count_ && at(found).tick == tick ? &at(found) : nullptr;
}

std::optional<snapshot_view> history::find(std::int32_t tick) const noexcept {
    entry const* const found = entry_of(tick);
    return found != nullptr ? std::optional{view(*found)} : std::nullopt;
}

std::optional<std::uint64_t> history::word_of(std::int32_t tick) const noexcept {
    entry const* const found = entry_of(tick);
    return found != nullptr ? std::optional{found->word} : std::nullopt;
}

memory_ahead history::ahead(std::int32_t base_tick) const noexcept {
    entry const* const base = entry_of(base_tick);
    if (base == nullptr) return {};
    // The next one is taken for as large as its base. Without room it may go where the oldest one is.
    std::size_t const place =
        room(base->whole).value_or(std::min<std::size_t>(at(0).begin, block_.size() - base->whole));
    snapshot_view const snapshot = view(*base);
    return {snapshot, block_.data() + place + 2 + snapshot.size()};
}

void history::drop_before(std::int32_t tick) noexcept {
    while (count_ > 0 && at(0).tick < tick) drop_oldest();
}

void history::clear() noexcept { first_ = count_ = unordered_ = 0; }

std::optional<std::int32_t> history::oldest() const noexcept {
    if (count_ == 0) return std::nullopt;
    std::int32_t tick = at(0).tick;
    for (std::size_t i = 1; i < unordered_; ++i) tick = std::min(tick, at(i).tick);
    return tick;
}

std::optional<std::int32_t> history::newest() const noexcept {
    if (count_ == 0) return std::nullopt;
    std::int32_t tick = at(count_ - 1).tick;
    for (std::size_t i = 0; i < unordered_; ++i) tick = std::max(tick, at(i).tick);
    return tick;
}

std::optional<std::size_t> history::room(std::size_t size) const noexcept {
    auto const among_few = few_.room(size);
    return among_few ? among_few : many_.room(size);
}

// Nothing is held. Where the part would not hold at least four snapshots, it would cost more room than it saves.
void history::divide_block(std::size_t first_size) noexcept {
    std::size_t const part = block_.size() / 8;
    few_ = {.last = first_size <= part / 4 ? part : 0};
    many_ = {.first = few_.last, .last = block_.size()};
}

void history::drop_oldest() noexcept {
    bool const of_many = at(0).begin >= many_.first;
    detail::ring& ring = of_many ? many_ : few_;
    first_ = (first_ + 1) % entries_.size();
    --count_;
    unordered_ -= unordered_ > 0;
    if (--ring.blocks == 0) return;
    // The others on the way are passed once in all.
    std::size_t i = 0;
    while ((at(i).begin >= many_.first) != of_many) ++i;
    ring.oldest = at(i).begin;
}

} // namespace teewire
