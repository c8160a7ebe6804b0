#include "shared_world_state.hpp"

#include "item_sets.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace teewire {

using detail::set_words;
using detail::shared_tick;
using item_sets::has;
using item_sets::insert;
using item_sets::none;
using item_sets::same_content;

static_assert(none == kernels::staged_items::none);

namespace {

// Contents of a key that a new one is compared with. A content that equals a later one is stored a second time, which
// does no harm; comparing with the contents of each client would be too slow.
constexpr int compared_contents = 8;
// Views that are asked which content of a key is the primary one.
constexpr std::size_t asked_views = 8;

constexpr std::uint64_t tally_of(std::uint32_t sum, std::size_t ints) noexcept {
    return std::uint64_t{sum} << 32 | (1 + ints);
}

// The bits of the first n.
void clear_behind(std::span<std::uint64_t> set, std::size_t n) noexcept {
    set[n / 64] &= (std::uint64_t{1} << n % 64) - 1;
    std::fill(set.begin() + static_cast<std::ptrdiff_t>(n / 64 + 1), set.end(), std::uint64_t{0});
}

} // namespace

shared_world::state::state(shared_limits const& limits, std::span<std::byte> memory) noexcept
    : limits_{limits}, memory_{memory}, entries_{parts_.entries.in(memory)}, past_{memory.subspan(parts_.end)},
      tallies_{parts_.tallies.in(memory)}, further_{parts_.further.in(memory)}, views_{parts_.views.in(memory)},
      keys_{parts_.keys.in(memory)}, begins_{parts_.begins.in(memory)}, ids_{parts_.ids.in(memory)},
      next_of_key_{parts_.next_of_key.in(memory)}, successors_{parts_.successors.in(memory)},
      data_{parts_.data.in(memory)}, sets_{parts_.sets.in(memory)}, lists_{parts_.lists[0].in(memory),
                                                                           parts_.lists[1].in(memory)},
      indexes_{make_index(0), make_index(1)}, stage_{parts_.staged_keys.in(memory).data(),
                                                     parts_.staged_begins.in(memory).data(),
                                                     parts_.staged_data.in(memory).data(), limits.client.items,
                                                     limits.client.ints()},
      staged_items_{parts_.staged_items.in(memory)}, staged_different_{parts_.staged_different.in(memory)} {
    assert(limits.items > 0 && limits.items < none && limits.clients > 0 && limits.clients < none &&
           limits.ticks > 0);
    std::fill(views_.begin(), views_.end(), view{});
}

shared_world::state::index shared_world::state::make_index(std::size_t turn) const noexcept {
    return {{parts_.index_keys[turn].in(memory_), parts_.index_places[turn].in(memory_)},
            parts_.index_items[turn].in(memory_)};
}

void shared_world::state::clear() noexcept {
    first_ = count_ = end_ = 0;
    ++changes_;
    making_ = stage_.open = indexed_ = index_before_ = false;
    items_ = ints_ = 0;
}

// ---- items ---------------------------------------------------------------------------------------------------------

result<std::size_t> shared_world::state::start(std::int32_t tick) noexcept {
    if (auto const last = newest(); last && tick <= *last) return failure{errc::bad_tick, 0};
    bool const again = making_;
    if (!again) { // otherwise the index of the one before is still that
        index_before_ = indexed_;
        turn_ ^= 1;
    }
    making_ = true;
    stage_.open = has_further_ = false;
    tick_ = tick;
    items_ = ints_ = 0;
    begins_[0] = 0;
    expected_before_ = 0;
    indexes_[turn_].keys.clear();
    std::fill(further_.begin(), further_.end(), std::uint64_t{0});
    std::size_t const before = index_before_ ? newest_tick()->items : 0;
    std::fill_n(successors_.begin(), before, none);
    for (view& v : views_) {
        // Begun again, the lists of the tick before are still those.
        std::uint32_t const listed = again ? v.items_before : v.listed && index_before_ ? v.items : 0;
        v = {};
        v.items_before = listed;
    }
    describe_types();
    described_ = items_;
    return items_;
}

// In the world, or in the view that is being made.
void shared_world::state::describe_types() noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i) {
        auto const words = extended_[i].ints();
        item const description{make_key(type_ex, static_cast<std::uint16_t>(last_alias - i)), words};
        if (!stage_.open) {
            if (auto const added = add(description); !added) leave_out(added.error());
        } else if (auto const added = stage_.add(description); !added) {
            leave_out(added.error());
        }
    }
}

void shared_world::state::leave_out(failure error) noexcept {
    if (error.code != errc::ok && left_out_.code == errc::ok) left_out_ = error;
}

result<std::uint16_t> shared_world::state::extended_type(uuid const& extended) noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i)
        if (extended_[i] == extended) return static_cast<std::uint16_t>(last_alias - i);
    if (extended_count_ == max_extended_types) return failure{errc::too_many_types, items_};
    auto const alias = static_cast<std::uint16_t>(last_alias - extended_count_);
    if (stage_.open) {
        auto const words = extended.ints();
        if (auto const added = stage_.add(item{make_key(type_ex, alias), words}); !added) return added.error();
    }
    extended_[extended_count_++] = extended;
    return alias;
}

std::uint16_t shared_world::state::first_item(std::int32_t key) const noexcept {
    index const& i = indexes_[turn_];
    std::size_t const found = i.keys.find(key);
    return found != key_index::npos ? i.items[found] : none;
}

// A client that saw that item in the tick before, or another one of its key, is expected to see this one now.
void shared_world::state::expect(std::size_t before, std::size_t item) noexcept {
    shared_tick const& tick = *newest_tick();
    std::size_t i = before;
    do {
        successors_[i] = static_cast<std::uint16_t>(item);
        if (!tick.has_alternatives) return;
        i = tick.next_of_key[i];
    } while (i != before);
}

// The id of that content if the tick before had it, or a new one.
std::uint32_t shared_world::state::id_before(std::int32_t key, std::span<std::int32_t const> data) noexcept {
    shared_tick const* const before = newest_tick();
    if (before == nullptr) return next_id_++;
    std::size_t number = expected_before_;
    if (number >= before->items || before->keys[number] != key) {
        if (!index_before_) return next_id_++;
        index const& keys = indexes_[turn_ ^ 1];
        std::size_t const found = keys.keys.find(key);
        if (found == key_index::npos) return next_id_++;
        number = keys.items[found];
    }
    std::size_t const first = number;
    if (index_before_ && successors_[first] == none) expect(first, items_); // which it is about to become
    for (int i = 0; i < compared_contents; ++i) {
        if (same_content(before->content(number), data)) {
            expected_before_ = number + 1;
            return before->ids[number];
        }
        if (!before->has_alternatives) break;
        number = before->next_of_key[number];
        if (number == first) break;
    }
    expected_before_ = first + 1;
    return next_id_++;
}

failure shared_world::state::no_room(std::size_t ints) const noexcept {
    if (items_ == limits_.items) return {errc::too_many_items, items_};
    if (ints > limits_.ints - ints_) return {errc::too_large, items_};
    return {};
}

// Adds it after the others. Precondition: there is room.
std::size_t shared_world::state::append(std::int32_t key, std::span<std::int32_t const> data,
                                        std::uint32_t id) noexcept {
    assert(no_room(data.size()).code == errc::ok);
    std::size_t const number = items_;
    std::int32_t* const place = data_.data() + ints_;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        place[i] = data[i];
        sum += static_cast<std::uint32_t>(data[i]);
    }
    keys_[number] = key;
    ids_[number] = id;
    tallies_[number] = tally_of(sum, data.size());
    ints_ += data.size();
    begins_[number + 1] = static_cast<std::uint32_t>(ints_);
    ++items_;

    auto const named = static_cast<std::uint16_t>(number);
    index& keys = indexes_[turn_];
    std::size_t const known = keys.keys.insert(key);
    if (known == key_index::npos) {
        keys.items[keys.keys.size() - 1] = named;
        next_of_key_[number] = named;
    } else {
        std::uint16_t const first = keys.items[known];
        next_of_key_[number] = next_of_key_[first];
        next_of_key_[first] = named;
        insert(further_.data(), number);
        has_further_ = true;
    }
    return number;
}

// The number of the item with that content, which becomes one if there is none. `like` is an item of its key, or none.
result<std::size_t> shared_world::state::intern(std::int32_t key, std::span<std::int32_t const> data,
                                                std::uint16_t like) noexcept {
    if (like != none) {
        std::uint16_t other = like;
        for (int i = 0; i < compared_contents; ++i) {
            if (same_content(content(other), data)) return other;
            other = next_of_key_[other];
            if (other == like) break;
        }
    }
    if (failure const error = no_room(data.size()); error.code != errc::ok) return error;
    return append(key, data, id_before(key, data)); // which counts on the item being added
}

result<std::size_t> shared_world::state::add(item const& copied) noexcept {
    assert(making_ && !stage_.open);
    if (copied.key < 0) return failure{errc::bad_type, items_};
    return intern(copied.key, copied.data, first_item(copied.key));
}

result<std::size_t> shared_world::state::keep(std::size_t first, std::size_t count) noexcept {
    assert(making_ && !stage_.open);
    shared_tick const* const before = newest_tick();
    if (before == nullptr || first > before->items || count > before->items - first)
        return failure{errc::unknown_tick, items_};
    std::size_t const number = items_;
    for (std::size_t i = first; i < first + count; ++i) {
        auto const content = before->content(i);
        if (failure const error = no_room(content.size()); error.code != errc::ok) return error;
        append(before->keys[i], content, before->ids[i]);
    }
    expected_before_ = first + count;
    return number;
}

// ---- what clients see ----------------------------------------------------------------------------------------------

result<std::size_t> shared_world::state::show(std::size_t client, std::span<std::uint64_t const> set) noexcept {
    assert(making_ && !stage_.open && client < limits_.clients);
    view& v = views_[client];
    v = {0, 0, 0, false, true, false, v.items_before};
    auto const seen = set_of(client);
    std::size_t const given = std::min(set.size(), seen.size());
    std::copy_n(set.begin(), given, seen.begin());
    std::fill(seen.begin() + static_cast<std::ptrdiff_t>(given), seen.end(), std::uint64_t{0});
    clear_behind(seen, items_);
    for (std::size_t i = 0; i < described_; ++i) insert(seen.data(), i);
    if (has_further_) {
        std::size_t repeated = none;
        item_sets::for_each(seen.data(), further_.data(), seen.size(), [&](std::size_t number) {
            for (std::size_t other = next_of_key_[number]; other != number; other = next_of_key_[other])
                if (repeated == none && has(seen.data(), other)) repeated = number;
        });
        if (repeated != none) return failure{errc::duplicate_key, repeated};
    }
    kernels::set_tally const tally = kernels::snapshot.tally_set(tallies_.data(), seen.data(), items_);
    if (tally.items > limits_.client.items) return failure{errc::too_many_items, tally.items};
    if (2 + tally.items + tally.ints > limits_.client.ints()) return failure{errc::too_large, tally.items};
    v = {tally.items, tally.ints, tally.sum, true, true, false, v.items_before};
    return tally.items;
}

void shared_world::state::start_view(std::size_t client) noexcept {
    assert(making_ && !stage_.open && client < limits_.clients);
    client_ = client;
    view& v = views_[client];
    v = {0, 0, 0, true, true, true, v.items_before};
    stage_.open = true;
    stage_.count = 0;
    stage_.begins[0] = 0;
    left_out_ = {};
    describe_types();
}

// For each item that was added, one of the world with its key, or none. The client mostly sees what it saw before.
void shared_world::state::find_keys() noexcept {
    constexpr std::size_t near = 4;
    auto const before = list_of(client_, turn_ ^ 1).first(views_[client_].items_before);
    std::int32_t const* const keys = before.empty() ? nullptr : newest_tick()->keys;
    std::size_t const known = keys != nullptr ? before.size() : 0;
    std::size_t expected = 0;
    for (std::size_t i = 0; i < stage_.count; ++i) {
        std::int32_t const key = stage_.keys[i];
        std::uint16_t found = none;
        if (expected < known && keys[before[expected]] == key) [[likely]] {
            found = successors_[before[expected++]];
        } else {
            std::size_t const end = std::min(expected + near, before.size());
            for (std::size_t at = expected + 1; at < end; ++at)
                if (keys[before[at]] == key) {
                    found = successors_[before[at]];
                    expected = at + 1;
                    break;
                }
        }
        staged_items_[i] = found != none ? found : first_item(key);
    }
}

result<std::size_t> shared_world::state::finish_view() noexcept {
    assert(stage_.open);
    stage_.open = false;
    auto const seen = set_of(client_);
    std::fill(seen.begin(), seen.end(), std::uint64_t{0}); // more items may come
    find_keys();
    kernels::snapshot.match_contents({stage_.count, stage_.data, stage_.begins, staged_items_.data(), data_.data(),
                                      begins_.data(), staged_different_.data()});
    // Nothing else points to these, so that they are kept in registers.
    std::size_t const staged = stage_.count;
    std::uint16_t const* const of_world = staged_items_.data();
    std::uint64_t const* const different = staged_different_.data();
    std::uint16_t const* const next_of_key = next_of_key_.data();
    std::uint64_t const* const tallies = tallies_.data();
    std::uint64_t* const set = seen.data();
    std::uint16_t* const out = list_of(client_, turn_).data();
    std::uint64_t tally = 0;
    std::uint32_t items = 0;
    std::uint32_t last = 0;
    bool sorted = true;
    for (std::size_t i = 0; i < staged; ++i) {
        std::uint32_t number = of_world[i];
        if (has(different, i)) [[unlikely]] {
            auto const added = add_staged(i);
            if (!added) {
                leave_out({added.error().code, i});
                continue;
            }
            number = static_cast<std::uint32_t>(*added);
        } else if (item_sets::find_of_key(set, next_of_key, static_cast<std::uint16_t>(number)) != none)
            [[unlikely]] {
            leave_out({errc::duplicate_key, i});
            continue;
        }
        insert(set, number);
        sorted &= items == 0 || last < number;
        last = number;
        out[items++] = static_cast<std::uint16_t>(number);
        tally += tallies[number];
    }
    view& v = views_[client_];
    v.items = items;
    v.ints = static_cast<std::uint32_t>(tally);
    v.checksum = static_cast<std::uint32_t>(tally >> 32);
    v.sorted = sorted;
    if (left_out_.code != errc::ok) return left_out_;
    return std::size_t{items};
}

// The item of the world for one that is not there, or has another content.
result<std::size_t> shared_world::state::add_staged(std::size_t staged) noexcept {
    std::int32_t const key = stage_.keys[staged];
    std::uint32_t const begin = stage_.begins[staged];
    std::uint16_t like = staged_items_[staged];
    if (like == none) like = first_item(key); // this view may have added it
    if (like != none && item_sets::find_of_key(set_of(client_).data(), next_of_key_.data(), like) != none)
        return failure{errc::duplicate_key, staged};
    std::size_t const there = items_;
    auto const found = intern(key, std::span{stage_.data + begin, stage_.begins[staged + 1] - begin}, like);
    // An item for only one client is added once; most clients will see one that a second client sees.
    if (found && *found < there && index_before_) {
        index const& keys = indexes_[turn_ ^ 1];
        if (std::size_t const before = keys.keys.find(key); before != key_index::npos)
            expect(keys.items[before], *found);
    }
    return found;
}

// Among several contents of a key, the one that most clients see, judged by some views, is the primary one.
void shared_world::state::choose_primary(std::uint64_t* alternatives) noexcept {
    std::array<std::uint64_t const*, asked_views> asked{};
    std::size_t count = 0;
    std::size_t const step = std::max<std::size_t>(1, limits_.clients / asked_views);
    for (bool const evenly : {true, false}) // and if these are not enough, any others
        for (std::size_t c = 0; c < limits_.clients && count < asked.size(); ++c)
            if ((c % step == 0) == evenly && views_[c].shown) asked[count++] = set_of(c).data();

    // Each key is met at the first of its further contents.
    item_sets::for_each(further_.data(), further_.data(), set_words(items_), [&](std::size_t number) {
        std::uint16_t const first = first_item(keys_[number]);
        if (has(alternatives, number) || has(alternatives, first)) return;
        std::uint16_t primary = first;
        std::size_t most = 0;
        std::uint16_t candidate = first;
        for (int i = 0; i < compared_contents; ++i) {
            std::size_t votes = 0;
            for (std::size_t v = 0; v < count; ++v) votes += has(asked[v], candidate);
            if (votes > most) {
                most = votes;
                primary = candidate;
            }
            candidate = next_of_key_[candidate];
            if (candidate == first) break;
        }
        for (std::uint16_t other = next_of_key_[primary]; other != primary; other = next_of_key_[other])
            insert(alternatives, other);
    });
}

// ---- the public class ----------------------------------------------------------------------------------------------

std::size_t shared_world::fixed_bytes(shared_limits const& limits) noexcept { return state::layout{limits}.end; }
std::uint64_t shared_world::tick_bytes(shared_limits const& limits, std::size_t items, std::size_t ints,
                                       std::size_t seen) noexcept {
    return detail::tick_plan{limits.clients, items, ints, true}.end +
           std::uint64_t{limits.clients} * (8 * set_words(items) + detail::eights(2 * seen));
}

shared_world::shared_world(shared_limits const& limits, std::span<std::byte> memory) noexcept {
    assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment == 0 &&
           memory.size() >= fixed_bytes(limits));
    static_assert(alignof(state) <= alignment);
    state_ = ::new (memory.data()) state{limits, memory};
    stage_ = &state_->stage_;
}

result<std::uint16_t> shared_world::extended_type(uuid const& extended) noexcept {
    return state_->extended_type(extended);
}
result<std::size_t> shared_world::start(std::int32_t tick) noexcept { return state_->start(tick); }
result<std::size_t> shared_world::add(item const& copied) noexcept { return state_->add(copied); }
result<std::size_t> shared_world::keep(std::size_t first, std::size_t count) noexcept {
    return state_->keep(first, count);
}
result<std::size_t> shared_world::show(std::size_t client, std::span<std::uint64_t const> set) noexcept {
    return state_->show(client, set);
}
void shared_world::start_view(std::size_t client) noexcept { state_->start_view(client); }
result<std::size_t> shared_world::finish_view() noexcept { return state_->finish_view(); }
result<std::size_t> shared_world::finish() noexcept { return state_->finish(); }
std::size_t shared_world::size() const noexcept { return state_->items_; }
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
void shared_world::drop_before(std::int32_t tick) noexcept { state_->drop_before(tick); }
void shared_world::forget_client(std::size_t client) noexcept { state_->forget_client(client); }
void shared_world::clear() noexcept { state_->clear(); }
shared_limits const& shared_world::limits() const noexcept { return state_->limits_; }

} // namespace teewire
