// Ticks of a shared world that are finished and held.
#include "first_from.hpp"
#include "item_sets.hpp"
#include "shared_world_state.hpp"
#include "teewire/history.hpp"

#include <algorithm>
#include <cassert>

namespace teewire {

using detail::set_words;
using detail::shared_tick;

result<std::size_t> shared_world::state::finish() noexcept {
    assert(making_ && !stage_.open);
    making_ = false;
    std::size_t const n = items_;
    std::size_t const words = set_words(n);
    detail::tick_plan plan{limits_.clients, n, ints_, has_further_};
    detail::memory_plan all = plan;
    for (view const& v : views_) {
        if (!v.shown) continue;
        all.take<std::uint64_t>(words);
        if (!v.sorted) all.take<std::uint16_t>(v.items);
    }
    indexed_ = all.end <= past_.size();
    if (!indexed_) {
        items_ = 0;
        return failure{errc::too_large, past_.size()};
    }

    if (count_ == entries_.size()) drop_oldest();
    auto const room = [&] {
        return detail::ring{0, past_.size(), count_ != 0 ? at(0).begin : 0, end_, count_}.room(all.end);
    };
    std::optional<std::size_t> found;
    while (!(found = room())) drop_oldest();
    std::size_t const begin = *found;
    end_ = begin + all.end;
    ++count_;
    ++changes_;

    auto const block = past_.subspan(begin, all.end);
    auto const copy = [&block]<class T>(detail::part_of<T> to, std::span<T const> from) {
        auto const part = to.in(block);
        std::copy_n(from.begin(), part.size(), part.begin());
        return part.data();
    };
    shared_tick made;
    made.tick = tick_;
    made.items = static_cast<std::uint32_t>(n);
    made.begin = block.data();
    made.views = plan.views.in(block).data();
    made.keys = copy(plan.keys, std::span<std::int32_t const>{keys_});
    made.begins = copy(plan.begins, std::span<std::uint32_t const>{begins_});
    made.data = copy(plan.data, std::span<std::int32_t const>{data_});
    made.ids = copy(plan.ids, std::span<std::uint32_t const>{ids_});
    made.has_alternatives = has_further_;
    if (has_further_) {
        auto const alternatives = plan.alternatives.in(block);
        std::fill(alternatives.begin(), alternatives.end(), std::uint64_t{0});
        choose_primary(alternatives.data());
        made.alternatives = alternatives.data();
        made.next_of_key = copy(plan.next_of_key, std::span<std::uint16_t const>{next_of_key_});
    }
    for (std::size_t c = 0; c < limits_.clients; ++c) {
        view const& v = views_[c];
        made.views[c] = {};
        if (!v.shown) continue;
        auto const set = plan.take<std::uint64_t>(words);
        copy(set, std::span<std::uint64_t const>{set_of(c)});
        made.views[c] = {v.items, 2 + v.items + v.ints, v.checksum, static_cast<std::uint32_t>(set.at), 0};
        if (v.sorted) continue;
        auto const order = plan.take<std::uint16_t>(v.items);
        copy(order, std::span<std::uint16_t const>{list_of(c, turn_)});
        made.views[c].order = static_cast<std::uint32_t>(order.at);
    }
    assert(plan.end == all.end);
    at(count_ - 1) = {made, begin};
    return n;
}

void shared_world::state::drop_oldest() noexcept {
    first_ = (first_ + 1) % entries_.size();
    --count_;
}

std::optional<std::int32_t> shared_world::state::newest() const noexcept {
    shared_tick const* const tick = newest_tick();
    return tick != nullptr ? std::optional{tick->tick} : std::nullopt;
}

shared_tick const* shared_world::state::find(std::int32_t tick) const noexcept {
    std::size_t const found = first_from(0, count_, tick, [this](std::size_t i) { return at(i).tick.tick; });
    return found != count_ && at(found).tick.tick == tick ? &at(found).tick : nullptr;
}

shared_tick const* shared_world::state::find(std::size_t client, std::int32_t tick) const noexcept {
    assert(client < limits_.clients);
    shared_tick const* const found = find(tick);
    return found != nullptr && found->views[client].set != 0 ? found : nullptr;
}

result<std::uint32_t> shared_world::state::checksum(std::size_t client, std::int32_t tick) const noexcept {
    shared_tick const* const found = find(client, tick);
    if (found == nullptr) return failure{errc::unknown_tick, 0};
    return found->views[client].checksum;
}

result<snapshot_view> shared_world::state::snapshot(std::size_t client, std::int32_t tick,
                                                    std::span<std::int32_t> out) const noexcept {
    shared_tick const* const found = find(client, tick);
    if (found == nullptr) return failure{errc::unknown_tick, 0};
    detail::shared_view const& v = found->views[client];
    if (out.size() < v.ints) return failure{errc::output_full, out.size()};
    out = out.first(v.ints);
    std::size_t count = 0;
    std::size_t at = 2 + v.items;
    auto const add = [&](std::size_t number) {
        out[2 + count++] = static_cast<std::int32_t>(4 * (at - 2 - v.items));
        out[at++] = found->keys[number];
        auto const data = found->content(number);
        std::copy(data.begin(), data.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
        at += data.size();
    };
    if (std::uint16_t const* const order = found->order(v)) {
        for (std::size_t i = 0; i < v.items; ++i) add(order[i]);
    } else {
        item_sets::for_each(found->set(v), found->set(v), set_words(found->items), add);
    }
    assert(at == v.ints && count == v.items);
    out[0] = static_cast<std::int32_t>(4 * (at - 2 - v.items));
    out[1] = static_cast<std::int32_t>(v.items);
    return snapshot_view::trusted(out);
}

void shared_world::state::drop_before(std::int32_t tick) noexcept {
    while (count_ > 1 && at(0).tick.tick < tick) drop_oldest();
}

void shared_world::state::forget_client(std::size_t client) noexcept {
    assert(client < limits_.clients);
    for (std::size_t i = 0; i < count_; ++i) at(i).tick.views[client] = {};
    if (making_) views_[client] = {};
}

} // namespace teewire
