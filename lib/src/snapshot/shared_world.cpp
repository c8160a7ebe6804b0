// The views of a tick. A client mostly sees what it saw in the tick before, and where one of its contents was
// followed by another one, it was so for others, too. So most contents are found by comparing them with a single one; only
// the others are looked for by their hash.
#include "shared_world_state.hpp"

#include "same_content.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace teewire {

using detail::none;
using detail::shared_tick;
using detail::shared_view;

namespace {

// Steps to find a content by its hash. One that is not found by then is stored once more, which does no harm.
constexpr std::size_t most_steps = 32;
constexpr std::size_t least_table = 256;
// How far from where a key is expected it is looked for.
constexpr std::size_t nearby = 8;

std::uint32_t hash_of(std::span<std::int32_t const> data, std::uint64_t multiplier) noexcept {
    std::uint64_t hash = data.size() * multiplier;
    std::size_t i = 0;
    for (; i + 2 <= data.size(); i += 2) {
        std::uint64_t pair;
        std::memcpy(&pair, &data[i], 8);
        hash = (hash ^ pair) * multiplier;
        hash ^= hash >> 32;
    }
    if (i < data.size()) hash = (hash ^ static_cast<std::uint32_t>(data[i])) * multiplier;
    return static_cast<std::uint32_t>(hash >> 32);
}

} // namespace

shared_world::state::state(shared_limits const& limits, std::span<std::byte> memory) noexcept
    : limits_{limits}, ticks_{parts_.ticks.in(memory)}, past_{memory.subspan(parts_.end,
                                                                             (memory.size() - parts_.end) / 8 * 8)},
      views_{parts_.views.in(memory)}, hashes_{parts_.hashes.in(memory)}, sums_{parts_.sums.in(memory)},
      ids_{parts_.ids.in(memory)}, table_{parts_.table.in(memory)},
      successors_{parts_.successors.in(memory)}, begins_{parts_.begins.in(memory)}, data_{parts_.data.in(memory)},
      keys_{parts_.keys.in(memory)}, numbers_{parts_.numbers.in(memory)}, fresh_{parts_.fresh.in(memory)},
      own_begins_{parts_.own_begins.in(memory)}, own_data_{parts_.own_data.in(memory)}, pending_{parts_.pending.in(
                                                                                            memory)} {
    assert(limits.contents > 0 && limits.contents < none && limits.clients > 0 && limits.clients < none &&
           limits.client.items < none && limits.ticks > 0);
    std::fill(views_.begin(), views_.end(), shared_view{});
}

void shared_world::state::clear() noexcept {
    first_ = count_ = end_ = making_bytes_ = contents_ = 0;
    ++changes_;
    making_ = current_ = open_ = false;
}

// ---- the tick ------------------------------------------------------------------------------------------------------

result<std::size_t> shared_world::state::start(std::int32_t tick) noexcept {
    if (auto const last = newest(); last && tick <= *last) return failure{errc::bad_tick, 0};
    if (making_bytes_ != 0) end_ = end_before_;
    making_ = true;
    making_bytes_ = 0;
    end_before_ = end_;
    open_ = false;
    tick_ = tick;
    std::fill(views_.begin(), views_.end(), shared_view{});

    std::size_t const before = count_ != 0 ? newest_tick()->contents : 0;
    std::fill_n(successors_.begin(), before, none);
    table_size_ = std::min(table_.size(), std::bit_ceil(std::max(least_table, 2 * before)));
    std::fill_n(table_.begin(), table_size_, none);
    contents_ = ints_ = 0;
    begins_[0] = 0;
    return count_;
}

// The number of that content, which becomes one if there is none like it; none if there is no room for it. `was`: what the
// item had in the tick before, or none.
std::uint16_t shared_world::state::intern(std::span<std::int32_t const> data, std::uint16_t was) noexcept {
    std::uint32_t const hash = hash_of(data, multiplier_);
    std::size_t place = hash & (table_size_ - 1);
    std::size_t steps = 0;
    for (; table_[place] != none && steps < most_steps; ++steps) {
        std::uint16_t const there = table_[place];
        if (hashes_[there] == hash && same_content(content(there), data)) return there;
        place = (place + 1) & (table_size_ - 1);
    }
    if (contents_ == limits_.contents || data.size() > limits_.ints - ints_) return none;
    auto const number = static_cast<std::uint16_t>(contents_++);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        data_[ints_ + i] = data[i];
        sum += static_cast<std::uint32_t>(data[i]);
    }
    sums_[number] = sum;
    ints_ += data.size();
    begins_[contents_] = static_cast<std::uint32_t>(ints_);
    hashes_[number] = hash;
    shared_tick const* const before = was != none ? newest_tick() : nullptr;
    ids_[number] = before != nullptr && same_content(before->table[was], data) ? before->ids[was] : next_id_++;
    if (table_[place] == none) table_[place] = number;
    if (2 * contents_ > table_size_ && table_size_ < table_.size()) grow_table();
    return number;
}

void shared_world::state::grow_table() noexcept {
    table_size_ = std::min(table_.size(), 4 * table_size_);
    std::fill_n(table_.begin(), table_size_, none);
    for (std::size_t i = 0; i < contents_; ++i) {
        std::size_t place = hashes_[i] & (table_size_ - 1);
        for (std::size_t steps = 0; table_[place] != none && steps < most_steps; ++steps)
            place = (place + 1) & (table_size_ - 1);
        if (table_[place] == none) table_[place] = static_cast<std::uint16_t>(i);
    }
}

result<std::size_t> shared_world::state::finish() noexcept {
    assert(making_ && !open_);
    detail::tick_plan const plan{limits_.clients, contents_, ints_};
    auto const place = allocate(plan.end);
    making_ = false;
    current_ = place.has_value();
    making_bytes_ = 0;
    if (!place) {
        end_ = end_before_;
        return failure{errc::too_large, past_.size()};
    }
    if (count_ == ticks_.size()) drop_oldest();
    auto const block = past_.subspan(*place, plan.end);
    auto const copy = [&block]<class T>(detail::part_of<T> to, std::span<T const> from) {
        auto const part = to.in(block);
        std::copy_n(from.begin(), part.size(), part.begin());
        return part.data();
    };
    ++count_;
    ++changes_;
    at(count_ - 1) = {tick_,
                      static_cast<std::uint32_t>(contents_),
                      copy(plan.views, std::span<shared_view const>{views_}),
                      copy(plan.ids, std::span<std::uint32_t const>{ids_}),
                      {copy(plan.begins, std::span<std::uint32_t const>{begins_}),
                       copy(plan.data, std::span<std::int32_t const>{data_})},
                      making_begin_};
    return contents_;
}

// ---- a view --------------------------------------------------------------------------------------------------------

void shared_world::state::leave_out(failure error) noexcept {
    if (left_out_.code == errc::ok) left_out_ = error;
}

result<std::uint16_t> shared_world::state::extended_type(uuid const& extended) noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i)
        if (extended_[i] == extended) return static_cast<std::uint16_t>(last_alias - i);
    if (extended_count_ == max_extended_types) return failure{errc::too_many_types, extended_count_};
    auto const alias = static_cast<std::uint16_t>(last_alias - extended_count_);
    if (open_)
        if (errc const error = put(make_key(type_ex, alias), extended.ints()); error != errc::ok)
            return failure{error, items_};
    extended_[extended_count_++] = extended;
    return alias;
}

void shared_world::state::start_view(std::size_t client) noexcept {
    assert(making_ && !open_ && client < limits_.clients);
    client_ = client;
    views_[client] = {};
    open_ = true;
    items_ = fresh_count_ = view_ints_ = view_sum_ = 0;
    alone_ = false;
    pending_key_ = -1;
    left_out_ = {};
    keys_before_ = {};
    contents_before_ = nullptr;
    next_before_ = 0;
    if (count_ != 0)
        if (shared_view const& before = newest_tick()->views[client]; before.list != 0) {
            keys_before_ = keys_of(before);
            if (!before.alone) contents_before_ = contents_of(before);
        }
    for (std::size_t i = 0; i < extended_count_; ++i) {
        errc const error = put(make_key(type_ex, static_cast<std::uint16_t>(last_alias - i)), extended_[i].ints());
        if (error != errc::ok) leave_out({error, items_});
    }
}

errc shared_world::state::room_for(std::int32_t key, std::size_t ints) const noexcept {
    assert(open_);
    if (key < 0) [[unlikely]]
        return errc::bad_type;
    if (items_ == limits_.client.items) [[unlikely]]
        return errc::too_many_items;
    // With what precedes the items, and their offsets and keys.
    std::size_t const most = limits_.client.ints();
    if (ints > most || 2 + 2 * (items_ + 1) + view_ints_ + ints > most) [[unlikely]]
        return errc::too_large;
    return errc::ok;
}

// The item of the view before with that key, if it is near where it is expected. Items before it were removed.
std::size_t shared_world::state::place_before(std::int32_t key) noexcept {
    std::size_t const end = std::min(keys_before_.size(), next_before_ + 1 + nearby);
    for (std::size_t i = next_before_; i < end; ++i)
        if (keys_before_[i] == key) {
            next_before_ = i + 1;
            return i;
        }
    return keys_before_.size();
}

// The item that had that key in the view before, or none of them.
inline std::size_t shared_world::state::append_key(std::int32_t key) noexcept {
    std::size_t const before = place_before(key);
    keys_[items_] = key;
    if (before == keys_before_.size()) fresh_[fresh_count_++] = static_cast<std::uint16_t>(items_);
    return before;
}

// After append_key(). The number of its content, unless the view has its own.
inline void shared_world::state::end_item(std::uint16_t number, std::span<std::int32_t const> data) noexcept {
    if (alone_) {
        append_alone(data);
    } else {
        numbers_[items_] = number;
        view_sum_ += sums_[number];
    }
    view_ints_ += data.size();
    ++items_;
}

// Precondition: there is room for it.
inline void shared_world::state::append(std::int32_t key, std::span<std::int32_t const> data) noexcept {
    std::size_t const before = append_key(key);
    std::uint16_t number = none;
    if (!alone_) {
        bool const known = before != keys_before_.size();
        std::uint16_t const was = known && contents_before_ != nullptr ? contents_before_[before] : none;
        if (was != none) number = successors_[was];
        if (number == none || !same_content(content(number), data)) {
            number = intern(data, was);
            if (number == none) go_alone();
            else if (was != none) successors_[was] = number;
        }
    }
    end_item(number, data);
}

errc shared_world::state::put(std::int32_t key, std::span<std::int32_t const> data) noexcept {
    if (pending_key_ >= 0) settle();
    errc const error = room_for(key, data.size());
    if (error == errc::ok) append(key, data);
    return error;
}

result<std::size_t> shared_world::state::share(std::span<std::int32_t const> data) noexcept {
    assert(making_ && !open_);
    // Mostly they are handed over in the same order in each tick.
    std::size_t const expected = count_ != 0 && contents_ < newest_tick()->contents ? contents_ : none;
    std::uint16_t const number = intern(data, static_cast<std::uint16_t>(expected));
    if (number == none) return failure{errc::too_large, contents_};
    return std::size_t{number};
}

errc shared_world::state::put_shared(std::int32_t key, std::size_t number) noexcept {
    if (pending_key_ >= 0) settle();
    assert(number < contents_);
    auto const data = content(number);
    if (errc const error = room_for(key, data.size()); error != errc::ok) return error;
    append_key(key);
    end_item(static_cast<std::uint16_t>(number), data);
    return errc::ok;
}

result<std::span<std::int32_t>> shared_world::state::put_zeros(std::int32_t key, std::size_t ints) noexcept {
    if (pending_key_ >= 0) settle();
    if (errc const error = room_for(key, ints); error != errc::ok) return failure{error, items_};
    pending_key_ = key;
    pending_ints_ = ints;
    for (std::size_t i = 0; i < ints; i += 4) std::memset(pending_.data() + i, 0, 16);
    return pending_.first(ints);
}

void shared_world::state::settle() noexcept {
    std::int32_t const key = pending_key_;
    pending_key_ = -1;
    append(key, pending_.first(pending_ints_));
}

void shared_world::state::append_alone(std::span<std::int32_t const> data) noexcept {
    std::copy(data.begin(), data.end(), own_data_.begin() + static_cast<std::ptrdiff_t>(view_ints_));
    own_begins_[items_ + 1] = static_cast<std::uint32_t>(view_ints_ + data.size());
    for (std::int32_t const value : data) view_sum_ += static_cast<std::uint32_t>(value);
}

// The world has no room for a content. So the view gets contents of its own, also of the items that it has.
void shared_world::state::go_alone() noexcept {
    std::size_t const items = items_;
    alone_ = true;
    own_begins_[0] = 0;
    view_sum_ = 0;
    for (items_ = view_ints_ = 0; items_ < items; ++items_) {
        auto const data = content(numbers_[items_]);
        append_alone(data);
        view_ints_ += data.size();
    }
}

// Items that were in the view before, in that order, have different keys; the others may have any.
void shared_world::state::leave_out_repeated() noexcept {
    auto const keys = keys_.first(items_);
    bool repeated = false;
    for (std::size_t i = 0; i < fresh_count_ && !repeated; ++i) {
        std::size_t const item = fresh_[i];
        repeated = kernels::snapshot.holds_key(keys.first(item), keys[item]) ||
                   kernels::snapshot.holds_key(keys.subspan(item + 1), keys[item]);
    }
    if (!repeated) return;
    std::size_t const items = items_;
    view_sum_ = 0;
    std::size_t count = 0;
    view_ints_ = 0;
    for (items_ = 0; items_ < items; ++items_) {
        bool const there = kernels::snapshot.holds_key(keys_.first(count), keys_[items_]);
        if (there) leave_out({errc::duplicate_key, items_});
        if (!alone_) {
            if (there) continue;
            std::uint16_t const number = numbers_[items_];
            view_ints_ += content(number).size();
            view_sum_ += sums_[number];
            numbers_[count] = number;
        } else {
            std::size_t const begin = own_begins_[items_];
            std::size_t const ints = own_begins_[items_ + 1] - begin;
            if (there) continue;
            for (std::size_t i = 0; i < ints; ++i) {
                own_data_[view_ints_ + i] = own_data_[begin + i];
                view_sum_ += static_cast<std::uint32_t>(own_data_[begin + i]);
            }
            view_ints_ += ints;
            own_begins_[count + 1] = static_cast<std::uint32_t>(view_ints_);
        }
        keys_[count++] = keys_[items_];
    }
    items_ = count;
}

result<std::size_t> shared_world::state::finish_view() noexcept {
    if (pending_key_ >= 0) settle();
    assert(open_);
    open_ = false;
    if (fresh_count_ != 0) leave_out_repeated();
    // Making room may move blocks or drop ticks, so both are asked for together.
    detail::view_plan const plan{items_};
    detail::alone_plan const own{items_, view_ints_};
    auto const place = allocate(plan.end + (alone_ ? own.end : 0));
    if (!place) return failure{errc::too_large, items_};
    auto const list = past_.subspan(*place, plan.end);
    std::copy_n(keys_.begin(), items_, plan.keys.in(list).begin());
    shared_view v{static_cast<std::uint32_t>(items_), static_cast<std::uint32_t>(2 + 2 * items_ + view_ints_),
                  view_sum_, static_cast<std::uint32_t>(*place / 8 + 1), alone_};
    if (!alone_) {
        std::copy_n(numbers_.begin(), items_, plan.contents.in(list).begin());
    } else {
        auto const block = past_.subspan(*place + plan.end, own.end);
        std::copy_n(own_begins_.begin(), items_ + 1, own.begins.in(block).begin());
        std::copy_n(own_data_.begin(), view_ints_, own.data.in(block).begin());
        ++views_alone_;
    }
    views_[client_] = v;
    if (left_out_.code != errc::ok) return left_out_;
    return items_;
}

// ---- the public class ----------------------------------------------------------------------------------------------

std::size_t shared_world::fixed_bytes(shared_limits const& limits) noexcept { return state::layout{limits}.end; }
std::uint64_t shared_world::tick_bytes(shared_limits const& limits, std::size_t contents, std::size_t ints,
                                       std::size_t seen) noexcept {
    return detail::tick_plan{limits.clients, contents, ints}.end +
           std::uint64_t{limits.clients} * detail::view_plan{seen}.end;
}

shared_world::shared_world(shared_limits const& limits, std::span<std::byte> memory) noexcept {
    assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment == 0 &&
           memory.size() >= fixed_bytes(limits));
    static_assert(alignof(state) <= alignment);
    state_ = ::new (memory.data()) state{limits, memory};
}

result<std::uint16_t> shared_world::extended_type(uuid const& extended) noexcept {
    return state_->extended_type(extended);
}
result<std::size_t> shared_world::start(std::int32_t tick) noexcept { return state_->start(tick); }
void shared_world::start_view(std::size_t client) noexcept { state_->start_view(client); }
result<std::size_t> shared_world::add_to_view(item const& copied) noexcept {
    if (errc const error = state_->put(copied.key, copied.data); error != errc::ok)
        return failure{error, state_->items_};
    return state_->items_;
}
result<std::span<std::int32_t>> shared_world::add_to_view(std::uint16_t type, std::uint16_t id,
                                                          std::size_t ints) noexcept {
    return state_->put_zeros(make_key(type, id), ints);
}
result<std::size_t> shared_world::share(std::span<std::int32_t const> data) noexcept { return state_->share(data); }
result<std::size_t> shared_world::add_shared(std::uint16_t type, std::uint16_t id, std::size_t content) noexcept {
    if (errc const error = state_->put_shared(make_key(type, id), content); error != errc::ok)
        return failure{error, state_->items_};
    return state_->items_;
}
std::size_t shared_world::view_size() const noexcept { return state_->items_ + (state_->pending_key_ >= 0); }
result<std::size_t> shared_world::finish_view() noexcept { return state_->finish_view(); }
result<std::size_t> shared_world::finish() noexcept { return state_->finish(); }
std::size_t shared_world::contents() const noexcept { return state_->contents_; }
std::size_t shared_world::ticks() const noexcept { return state_->count_; }
std::optional<std::int32_t> shared_world::newest() const noexcept { return state_->newest(); }
bool shared_world::holds(std::size_t client, std::int32_t tick) const noexcept {
    return state_->find(client, tick) != nullptr;
}
result<std::uint32_t> shared_world::checksum(std::size_t client, std::int32_t tick) const noexcept {
    return state_->checksum(client, tick);
}
result<snapshot_view> shared_world::snapshot(std::size_t client, std::int32_t tick,
                                             std::span<std::int32_t> out) const noexcept {
    return state_->snapshot(client, tick, out);
}
std::uint64_t shared_world::views_alone() const noexcept { return state_->views_alone_; }
void shared_world::drop_before(std::int32_t tick) noexcept { state_->drop_before(tick); }
void shared_world::forget_client(std::size_t client) noexcept { state_->forget_client(client); }
void shared_world::clear() noexcept { state_->clear(); }
shared_limits const& shared_world::limits() const noexcept { return state_->limits_; }

} // namespace teewire
