// Ticks of a shared world that are finished and held, and the memory that they and the newest one are in.
#include "first_from.hpp"
#include "shared_world_state.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace teewire {

using detail::shared_tick;
using detail::shared_view;

void shared_world::state::drop_oldest() noexcept {
    first_ = (first_ + 1) % ticks_.size();
    --count_;
}

// A block for the tick that is being made: where it begins. Drops old ticks if it needs their room.
std::optional<std::size_t> shared_world::state::allocate(std::size_t bytes) noexcept {
    bytes = std::max<std::size_t>(bytes, 8);                       // none is empty, or it would not be one
    if (bytes > past_.size() - making_bytes_) return std::nullopt; // whatever is dropped
    for (;;) {
        bool const used = count_ != 0 || making_bytes_ != 0;
        std::size_t const oldest = oldest_block();
        bool const wrapped = used && end_ <= oldest;
        std::optional<std::size_t> place =
            detail::ring{0, past_.size(), oldest, end_, static_cast<std::size_t>(used)}.room(bytes);
        // Going back early, while there is plenty of room, leaves the rest of the memory untouched.
        if (used && !wrapped && oldest >= 2 * (end_ - oldest) + bytes) place = 0;
        if (place) {
            if (used && *place < end_) high_ = end_;
            if (making_bytes_ == 0) making_begin_ = *place;
            making_bytes_ += bytes;
            end_ = *place + bytes;
            return place;
        }
        // The room may be in two parts. The ring went back to the start when less was held, so the blocks at the end of
        // the memory are moved to its very end.
        if (wrapped && high_ != past_.size()) {
            move_blocks(oldest, high_, past_.size() - high_);
            high_ = past_.size();
        } else if (count_ != 0) {
            drop_oldest();
        } else { // its own blocks are in the way
            move_blocks(oldest, end_, 0 - oldest);
            end_ -= oldest;
        }
    }
}

// Modulo 2^64, so that they can be moved to either side.
void shared_world::state::move_blocks(std::size_t begin, std::size_t end, std::size_t by) noexcept {
    std::memmove(past_.data() + (begin + by), past_.data() + begin, end - begin);
    auto const inside = [&](std::size_t place) { return place >= begin && place < end; };
    auto const move = [&](std::size_t& place) {
        if (inside(place)) place += by;
    };
    auto const move_views = [&](shared_view* views) {
        for (std::size_t c = 0; c < limits_.clients; ++c)
            if (std::uint32_t& list = views[c].list; list != 0 && inside(std::size_t{8} * (list - 1)))
                list += static_cast<std::uint32_t>(by / 8);
    };
    for (std::size_t i = 0; i < count_; ++i) {
        shared_tick& tick = at(i);
        move(tick.begin);
        auto* const block = reinterpret_cast<std::byte*>(tick.views);
        if (inside(static_cast<std::size_t>(block - past_.data()))) {
            std::byte* const moved = past_.data() + (static_cast<std::size_t>(block - past_.data()) + by);
            detail::tick_plan const plan{limits_.clients, tick.contents, 0};
            auto const there = std::span{moved, plan.end};
            tick.views = plan.views.in(there).data();
            tick.ids = plan.ids.in(there).data();
            tick.table = {plan.begins.in(there).data(), plan.data.in(there).data()};
        }
        move_views(tick.views);
    }
    move_views(views_.data());
    move(making_begin_);
    if (end_before_ > begin && end_before_ <= end) end_before_ += by;
}

std::optional<std::int32_t> shared_world::state::newest() const noexcept {
    shared_tick const* const tick = newest_tick();
    return tick != nullptr ? std::optional{tick->tick} : std::nullopt;
}

shared_tick const* shared_world::state::find(std::int32_t tick) const noexcept {
    std::size_t const found = first_from(0, count_, tick, [this](std::size_t i) { return at(i).tick; });
    return found != count_ && at(found).tick == tick ? &at(found) : nullptr;
}

shared_tick const* shared_world::state::find(std::size_t client, std::int32_t tick) const noexcept {
    assert(client < limits_.clients);
    shared_tick const* const found = find(tick);
    return found != nullptr && found->views[client].list != 0 ? found : nullptr;
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
    shared_view const& v = found->views[client];
    if (out.size() < v.ints) return failure{errc::output_full, out.size()};
    out = out.first(v.ints);
    auto const keys = keys_of(v);
    std::size_t const items = 2 + std::size_t{v.items};
    std::size_t at = items;
    for (std::size_t i = 0; i < v.items; ++i) {
        out[2 + i] = static_cast<std::int32_t>(4 * (at - items));
        out[at++] = keys[i];
        auto const data = content(*found, v, i);
        std::copy(data.begin(), data.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
        at += data.size();
    }
    assert(at == v.ints);
    out[0] = static_cast<std::int32_t>(4 * (at - items));
    out[1] = static_cast<std::int32_t>(v.items);
    return snapshot_view::trusted(out);
}

void shared_world::state::drop_before(std::int32_t tick) noexcept {
    while (count_ > 1 && at(0).tick < tick) drop_oldest();
}

void shared_world::state::forget_client(std::size_t client) noexcept {
    assert(client < limits_.clients);
    for (std::size_t i = 0; i < count_; ++i) at(i).views[client] = {};
    if (making_) views_[client] = {};
}

} // namespace teewire
