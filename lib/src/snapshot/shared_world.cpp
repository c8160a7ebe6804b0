#include "teewire/shared_world.hpp"

#include "snapshot_functions.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace teewire {

using detail::eights;
using detail::set_words;
using detail::shared_tick;

namespace {

// Contents of a key that a new one is compared with. One that is equal to a later one is kept a second time, which is
// no harm; comparing with the contents of each client would be.
constexpr int compared_contents = 8;
// Views that are asked which content of a key is the primary one.
constexpr std::size_t asked_views = 8;

constexpr std::uint64_t tally_of(std::uint32_t sum, std::size_t ints) noexcept {
    return std::uint64_t{sum} << 32 | (1 + ints);
}

// Most items are too short for a call to pay.
bool equal_ints(std::int32_t const* a, std::int32_t const* b, std::size_t n) noexcept {
    std::uint64_t different = 0;
    std::size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        std::uint64_t x;
        std::uint64_t y;
        std::memcpy(&x, a + i, 8);
        std::memcpy(&y, b + i, 8);
        different |= x ^ y;
    }
    if (i < n) different |= static_cast<std::uint32_t>(a[i] ^ b[i]);
    return different == 0;
}

constexpr bool has(std::span<std::uint64_t const> set, std::size_t number) noexcept {
    return (set[number / 64] >> number % 64 & 1) != 0;
}

constexpr void insert(std::span<std::uint64_t> set, std::size_t number) noexcept {
    set[number / 64] |= std::uint64_t{1} << number % 64;
}

// The bits of the first n.
void clear_behind(std::span<std::uint64_t> set, std::size_t n) noexcept {
    set[n / 64] &= (std::uint64_t{1} << n % 64) - 1;
    std::fill(set.begin() + static_cast<std::ptrdiff_t>(n / 64 + 1), set.end(), std::uint64_t{0});
}

} // namespace

shared_world::shared_world(shared_limits const& limits, std::span<std::byte> memory) noexcept
    : limits_{limits}, memory_{memory}, entries_{part<detail::shared_entry>(parts_.entries, limits.ticks)},
      past_{memory.subspan(parts_.end)}, tallies_{part<std::uint64_t>(parts_.tallies, limits.items)},
      further_{part<std::uint64_t>(parts_.further, set_words(limits.items))},
      views_{part<view>(parts_.views, limits.clients)}, keys_{part<std::int32_t>(parts_.keys, limits.items)},
      begins_{part<std::uint32_t>(parts_.begins, std::size_t{limits.items} + 1)}, ids_{part<std::uint32_t>(
                                                                                      parts_.ids, limits.items)},
      next_of_key_{part<std::uint16_t>(parts_.next_of_key, limits.items)},
      first_of_key_{part<std::uint16_t>(parts_.first_of_key, limits.items)}, successors_{part<std::uint16_t>(
                                                                                 parts_.successors, limits.items)},
      data_{part<std::int32_t>(parts_.data, limits.ints)}, indexes_{make_index(0), make_index(1)},
      staged_keys_{part<std::int32_t>(parts_.staged_keys, limits.client.items)},
      staged_begins_{part<std::uint32_t>(parts_.staged_begins, std::size_t{limits.client.items} + 1)},
      staged_items_{part<std::uint16_t>(parts_.staged_items, limits.client.items)},
      staged_different_{part<std::uint64_t>(parts_.staged_different, limits.client.items / 64 + 1)},
      staged_data_{part<std::int32_t>(parts_.staged_data, limits.client.ints())} {
    assert(limits.items > 0 && limits.items < none && limits.clients > 0 && limits.clients < none &&
           limits.ticks > 0);
    assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment == 0 && memory.size() >= parts_.end);
    std::fill(views_.begin(), views_.end(), view{});
}

shared_world::index shared_world::make_index(std::size_t number) const noexcept {
    std::size_t const n = limits_.items;
    return {{part<std::int32_t>(parts_.index_keys, 2 * n).subspan(number * n, n),
             part<std::uint16_t>(parts_.index_numbers, 2 * parts_.places)
                 .subspan(number * parts_.places, parts_.places)},
            part<std::uint16_t>(parts_.index_items, 2 * n).subspan(number * n, n)};
}

void shared_world::clear() noexcept {
    first_ = count_ = end_ = 0;
    ++changes_;
    making_ = viewing_ = indexed_ = index_before_ = false;
    items_ = ints_ = 0;
}

// ---- items ---------------------------------------------------------------------------------------------------------

result<std::size_t> shared_world::start(std::int32_t tick) noexcept {
    if (auto const last = newest(); last && tick <= *last) return failure{errc::bad_tick, 0};
    bool const again = making_;
    if (!again) { // otherwise the index of the one before is still that
        index_before_ = indexed_;
        now_ ^= 1;
    }
    making_ = true;
    viewing_ = has_further_ = false;
    tick_ = tick;
    items_ = ints_ = 0;
    begins_[0] = 0;
    expected_before_ = 0;
    indexes_[now_].keys.clear();
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
void shared_world::describe_types() noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i) {
        auto const words = extended_[i].ints();
        item const description{make_key(type_ex, static_cast<std::uint16_t>(last_alias - i)), words};
        if (!viewing_) {
            if (auto const added = add(description); !added) leave_out(added.error());
        } else if (auto const added = add_to_view(description); !added) {
            leave_out(added.error());
        }
    }
}

void shared_world::leave_out(failure error) noexcept {
    if (error.code != errc::ok && left_out_.code == errc::ok) left_out_ = error;
}

result<std::uint16_t> shared_world::extended_type(uuid const& extended) noexcept {
    for (std::size_t i = 0; i < extended_count_; ++i)
        if (extended_[i] == extended) return static_cast<std::uint16_t>(last_alias - i);
    if (extended_count_ == max_extended_types) return failure{errc::too_many_types, size()};
    auto const alias = static_cast<std::uint16_t>(last_alias - extended_count_);
    if (viewing_) {
        auto const words = extended.ints();
        if (auto const added = add_to_view(item{make_key(type_ex, alias), words}); !added) return added.error();
    }
    extended_[extended_count_++] = extended;
    return alias;
}

std::uint16_t shared_world::first_item(std::int32_t key) const noexcept {
    index const& i = indexes_[now_];
    std::size_t const found = i.keys.find(key);
    return found != key_index::npos ? i.items[found] : none;
}

bool shared_world::equals(std::size_t number, std::span<std::int32_t const> data) const noexcept {
    auto const there = content(number);
    return there.size() == data.size() && equal_ints(there.data(), data.data(), data.size());
}

// Whoever saw that item in the tick before, or another one of its key, is expected to see this one now.
void shared_world::expect(std::size_t before, std::size_t item) noexcept {
    shared_tick const& tick = *newest_tick();
    std::size_t i = before;
    do {
        successors_[i] = static_cast<std::uint16_t>(item);
        if (!tick.has_alternatives) return;
        i = tick.next_of_key[i];
    } while (i != before);
}

// The id of that content if the tick before had it, or a new one.
std::uint32_t shared_world::id_before(std::int32_t key, std::span<std::int32_t const> data) noexcept {
    shared_tick const* const before = newest_tick();
    if (before == nullptr) return next_id_++;
    auto const same = [&](std::size_t number) {
        auto const there = before->content(number);
        return there.size() == data.size() && equal_ints(there.data(), data.data(), data.size());
    };
    std::size_t number = expected_before_;
    if (number >= before->items || before->keys[number] != key) {
        if (!index_before_) return next_id_++;
        index const& keys = indexes_[now_ ^ 1];
        std::size_t const found = keys.keys.find(key);
        if (found == key_index::npos) return next_id_++;
        number = keys.items[found];
    }
    std::size_t const first = number;
    if (index_before_ && successors_[first] == none) expect(first, items_); // which it is about to become
    for (int i = 0; i < compared_contents; ++i) {
        if (same(number)) {
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

failure shared_world::no_room(std::size_t ints) const noexcept {
    if (items_ == limits_.items) return {errc::too_many_items, items_};
    if (ints > limits_.ints - ints_) return {errc::too_large, items_};
    return {};
}

// Behind the others.
result<std::size_t> shared_world::append(std::int32_t key, std::span<std::int32_t const> data,
                                         std::uint32_t id) noexcept {
    std::size_t const number = items_;
    if (failure const error = no_room(data.size()); error.code != errc::ok) return error;
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
    index& keys = indexes_[now_];
    std::size_t const known = keys.keys.insert(key);
    if (known == key_index::npos) {
        keys.items[keys.keys.size() - 1] = named;
        next_of_key_[number] = first_of_key_[number] = named;
    } else {
        std::uint16_t const first = keys.items[known];
        next_of_key_[number] = next_of_key_[first];
        next_of_key_[first] = named;
        first_of_key_[number] = first;
        insert(further_, number);
        has_further_ = true;
    }
    return number;
}

// The number of the item with that content, which becomes one if there is none. `like` is an item of its key, or none.
result<std::size_t> shared_world::intern(std::int32_t key, std::span<std::int32_t const> data,
                                         std::uint16_t like) noexcept {
    if (like != none) {
        std::uint16_t other = like;
        for (int i = 0; i < compared_contents; ++i) {
            if (equals(other, data)) return other;
            other = next_of_key_[other];
            if (other == like) break;
        }
    }
    if (failure const error = no_room(data.size()); error.code != errc::ok) return error;
    return append(key, data, id_before(key, data)); // which counts on the item being added
}

result<std::size_t> shared_world::add(item const& copied) noexcept {
    assert(making_ && !viewing_);
    if (copied.key < 0) return failure{errc::bad_type, items_};
    return intern(copied.key, copied.data, first_item(copied.key));
}

result<std::size_t> shared_world::keep(std::size_t first, std::size_t count) noexcept {
    assert(making_ && !viewing_);
    shared_tick const* const before = newest_tick();
    if (before == nullptr || first > before->items || count > before->items - first)
        return failure{errc::unknown_tick, items_};
    std::size_t const number = items_;
    for (std::size_t i = first; i < first + count; ++i)
        if (auto const added = append(before->keys[i], before->content(i), before->ids[i]); !added) return added;
    expected_before_ = first + count;
    return number;
}

// ---- what clients see ----------------------------------------------------------------------------------------------

// Those of the tick that is being made, and of the one before, take turns.
std::span<std::uint16_t> shared_world::numbers_of(std::size_t client, std::size_t tick) const noexcept {
    std::size_t const bytes = eights(2 * std::size_t{limits_.client.items});
    return part<std::uint16_t>(parts_.numbers + (2 * client + tick) * bytes, limits_.client.items);
}

std::span<std::uint64_t> shared_world::set_of(std::size_t client) const noexcept {
    std::size_t const words = set_words(limits_.items);
    return part<std::uint64_t>(parts_.sets + client * 8 * words, words);
}

result<std::size_t> shared_world::show(std::size_t client, std::span<std::uint64_t const> set) noexcept {
    assert(making_ && !viewing_ && client < limits_.clients);
    view& v = views_[client];
    v = {0, 0, 0, false, true, false, v.items_before};
    auto const seen = set_of(client);
    std::size_t const given = std::min(set.size(), seen.size());
    std::copy_n(set.begin(), given, seen.begin());
    std::fill(seen.begin() + static_cast<std::ptrdiff_t>(given), seen.end(), std::uint64_t{0});
    clear_behind(seen, items_);
    for (std::size_t i = 0; i < described_; ++i) insert(seen, i);
    if (has_further_)
        for (std::size_t word = 0; word < seen.size(); ++word)
            for (std::uint64_t left = seen[word] & further_[word]; left != 0; left &= left - 1) {
                auto const number = static_cast<std::uint16_t>(word * 64 + kernels::lowest(left));
                for (std::uint16_t other = next_of_key_[number]; other != number; other = next_of_key_[other])
                    if (has(seen, other)) return failure{errc::duplicate_key, number};
            }
    kernels::set_tally const tally = kernels::snapshot.tally_set(tallies_.data(), seen.data(), items_);
    if (tally.items > limits_.client.items) return failure{errc::too_many_items, tally.items};
    if (2 + tally.items + tally.ints > limits_.client.ints()) return failure{errc::too_large, tally.items};
    v = {tally.items, tally.ints, tally.sum, true, true, false, v.items_before};
    return tally.items;
}

void shared_world::start_view(std::size_t client) noexcept {
    assert(making_ && !viewing_ && client < limits_.clients);
    client_ = client;
    view& v = views_[client];
    v = {0, 0, 0, true, true, true, v.items_before};
    viewing_ = true;
    staged_ = 0;
    staged_begins_[0] = 0;
    left_out_ = {};
    describe_types();
}

// For each item that was added, one of the world with its key, or none. The client mostly sees what it saw before.
void shared_world::find_keys() noexcept {
    constexpr std::size_t near = 4;
    auto const before = numbers_of(client_, now_ ^ 1).first(views_[client_].items_before);
    std::int32_t const* const keys = before.empty() ? nullptr : newest_tick()->keys;
    std::size_t const known = keys != nullptr ? before.size() : 0;
    std::size_t expected = 0;
    for (std::size_t i = 0; i < staged_; ++i) {
        std::int32_t const key = staged_keys_[i];
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

bool shared_world::sees_key_of(std::uint16_t item) const noexcept {
    auto const seen = set_of(client_);
    if (has(seen, item)) return true;
    for (std::uint16_t other = next_of_key_[item]; other != item; other = next_of_key_[other])
        if (has(seen, other)) return true;
    return false;
}

result<std::size_t> shared_world::finish_view() noexcept {
    assert(viewing_);
    viewing_ = false;
    auto const seen = set_of(client_);
    auto const numbers = numbers_of(client_, now_);
    std::fill(seen.begin(), seen.end(), std::uint64_t{0}); // more items may come
    find_keys();
    kernels::snapshot.match_contents({staged_, staged_data_.data(), staged_begins_.data(), staged_items_.data(),
                                      data_.data(), begins_.data(), staged_different_.data()});
    // Nothing else points to these, so that they are kept in registers.
    std::size_t const staged = staged_;
    std::uint16_t const* const of_world = staged_items_.data();
    std::uint64_t const* const different = staged_different_.data();
    std::uint16_t const* const next_of_key = next_of_key_.data();
    std::uint64_t const* const tallies = tallies_.data();
    std::uint64_t* const set = seen.data();
    std::uint16_t* const out = numbers.data();
    std::uint64_t tally = 0;
    std::uint32_t items = 0;
    std::uint32_t last = 0;
    bool sorted = true;
    for (std::size_t i = 0; i < staged; ++i) {
        std::uint32_t number = of_world[i];
        if ((different[i / 64] >> i % 64 & 1) != 0) [[unlikely]] {
            auto const added = add_staged(i);
            if (!added) {
                leave_out({added.error().code, i});
                continue;
            }
            number = static_cast<std::uint32_t>(*added);
        } else if (next_of_key[number] != number ? sees_key_of(static_cast<std::uint16_t>(number))
                                                 : (set[number / 64] >> number % 64 & 1) != 0) [[unlikely]] {
            leave_out({errc::duplicate_key, i});
            continue;
        }
        set[number / 64] |= std::uint64_t{1} << number % 64;
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
result<std::size_t> shared_world::add_staged(std::size_t staged) noexcept {
    std::int32_t const key = staged_keys_[staged];
    std::uint32_t const begin = staged_begins_[staged];
    std::uint16_t like = staged_items_[staged];
    if (like == none) like = first_item(key); // this view may have added it
    if (like != none && sees_key_of(like)) return failure{errc::duplicate_key, staged};
    std::size_t const there = items_;
    auto const found = intern(key, staged_data_.subspan(begin, staged_begins_[staged + 1] - begin), like);
    // What one client alone sees comes once; what a second one sees, most will.
    if (found && *found < there && index_before_) {
        index const& keys = indexes_[now_ ^ 1];
        if (std::size_t const before = keys.keys.find(key); before != key_index::npos)
            expect(keys.items[before], *found);
    }
    return found;
}

// ---- ticks ---------------------------------------------------------------------------------------------------------

// Of several contents of a key, the one that most see, as far as some views can tell, is the primary one.
void shared_world::choose_primary(std::span<std::uint64_t> alternatives) noexcept {
    std::array<std::size_t, asked_views> asked{};
    std::size_t count = 0;
    std::size_t const step = std::max<std::size_t>(1, limits_.clients / asked_views);
    for (std::size_t c = 0; c < limits_.clients && count < asked.size(); c += step)
        if (views_[c].shown) asked[count++] = c;
    for (std::size_t c = 0; c < limits_.clients && count < asked.size(); ++c)
        if (c % step != 0 && views_[c].shown) asked[count++] = c;

    // Each key is met at the first of its further contents.
    for (std::size_t word = 0; word < set_words(items_); ++word)
        for (std::uint64_t left = further_[word]; left != 0; left &= left - 1) {
            auto const number = static_cast<std::uint16_t>(word * 64 + kernels::lowest(left));
            std::uint16_t const first = first_of_key_[number];
            if (has(alternatives, number) || has(alternatives, first)) continue;
            std::uint16_t primary = first;
            std::size_t most = 0;
            std::uint16_t candidate = first;
            for (int i = 0; i < compared_contents; ++i) {
                std::size_t votes = 0;
                for (std::size_t c = 0; c < count; ++c) votes += has(set_of(asked[c]), candidate);
                if (votes > most) {
                    most = votes;
                    primary = candidate;
                }
                candidate = next_of_key_[candidate];
                if (candidate == first) break;
            }
            for (std::uint16_t other = next_of_key_[primary]; other != primary; other = next_of_key_[other])
                insert(alternatives, other);
        }
}

result<std::size_t> shared_world::finish() noexcept {
    assert(making_ && !viewing_);
    making_ = false;
    std::size_t needed = 0;
    auto const take = [&needed](std::size_t bytes) {
        std::size_t const at = needed;
        needed += eights(bytes);
        return at;
    };
    std::size_t const n = items_;
    std::size_t const words = set_words(n);
    std::size_t const tallies = take(8 * n);
    std::size_t const alternatives = take(has_further_ ? 8 * words : 0);
    std::size_t const views = take(limits_.clients * sizeof(detail::shared_view));
    std::size_t const keys = take(4 * n);
    std::size_t const begins = take(4 * (n + 1));
    std::size_t const ids = take(4 * n);
    std::size_t const next_of_key = take(has_further_ ? 2 * n : 0);
    std::size_t const data = take(4 * ints_);
    std::size_t const sets = needed;
    for (view const& v : views_) {
        if (!v.shown) continue;
        needed += 8 * words;
        if (!v.sorted) needed += eights(2 * v.items);
    }
    indexed_ = needed <= past_.size();
    if (!indexed_) {
        items_ = 0;
        return failure{errc::too_large, past_.size()};
    }

    // Ticks are never split: what does not fit before the end of the memory goes to its start.
    std::size_t begin = end_;
    if (needed > past_.size() - begin) {
        while (count_ > 0 && at(0).begin >= begin) drop_oldest();
        begin = 0;
    }
    auto const in_the_way = [&](detail::shared_entry const& e) {
        return e.begin < begin + needed && e.begin + e.bytes > begin;
    };
    while (count_ > 0 && (count_ == entries_.size() || in_the_way(at(0)))) drop_oldest();
    end_ = begin + needed;
    ++count_;
    ++changes_;

    std::byte* const to = past_.data() + begin;
    auto const copy = [to](std::size_t at, auto const* from, std::size_t count) {
        if (count != 0) std::memcpy(to + at, from, count * sizeof *from);
    };
    copy(tallies, tallies_.data(), n);
    copy(keys, keys_.data(), n);
    copy(begins, begins_.data(), n + 1);
    copy(ids, ids_.data(), n);
    copy(data, data_.data(), ints_);
    auto const as = [to]<class T>(T*, std::size_t at) { return reinterpret_cast<T*>(to + at); };
    auto* const shared_views = as(static_cast<detail::shared_view*>(nullptr), views);
    if (has_further_) {
        copy(next_of_key, next_of_key_.data(), n);
        std::span const set{as(static_cast<std::uint64_t*>(nullptr), alternatives), words};
        std::fill(set.begin(), set.end(), std::uint64_t{0});
        choose_primary(set);
    }
    at(count_ -
       1) = {{tick_, has_further_, static_cast<std::uint32_t>(n), as(static_cast<std::uint32_t*>(nullptr), ids),
              as(static_cast<std::uint64_t*>(nullptr), tallies), as(static_cast<std::int32_t*>(nullptr), keys),
              as(static_cast<std::uint32_t*>(nullptr), begins), as(static_cast<std::int32_t*>(nullptr), data),
              as(static_cast<std::uint64_t*>(nullptr), alternatives),
              as(static_cast<std::uint16_t*>(nullptr), next_of_key), shared_views, to},
             begin,
             needed};
    std::size_t place = sets;
    for (std::size_t c = 0; c < limits_.clients; ++c) {
        view const& v = views_[c];
        if (!v.shown) {
            shared_views[c] = {};
            continue;
        }
        detail::shared_view kept{v.items, 2 + v.items + v.ints, v.checksum, static_cast<std::uint32_t>(place), 0};
        std::span const set{as(static_cast<std::uint64_t*>(nullptr), place), words};
        place += 8 * words;
        std::copy_n(set_of(c).begin(), words, set.begin());
        if (!v.sorted) {
            kept.order = static_cast<std::uint32_t>(place);
            copy(place, numbers_of(c, now_).data(), v.items);
            place += eights(2 * v.items);
        }
        shared_views[c] = kept;
    }
    assert(place == needed);
    return n;
}

void shared_world::drop_oldest() noexcept {
    first_ = (first_ + 1) % entries_.size();
    --count_;
    if (count_ == 0) end_ = 0;
}

std::optional<std::int32_t> shared_world::newest() const noexcept {
    shared_tick const* const tick = newest_tick();
    return tick != nullptr ? std::optional{tick->tick} : std::nullopt;
}

shared_tick const* shared_world::find(std::int32_t tick) const noexcept {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (at(middle).tick.tick < tick) low = middle + 1;
        else high = middle;
    }
    return low != count_ && at(low).tick.tick == tick ? &at(low).tick : nullptr;
}

shared_tick const* shared_world::find(std::size_t client, std::int32_t tick) const noexcept {
    assert(client < limits_.clients);
    shared_tick const* const found = find(tick);
    return found != nullptr && found->views[client].set != 0 ? found : nullptr;
}

bool shared_world::holds(std::size_t client, std::int32_t tick) const noexcept {
    return find(client, tick) != nullptr;
}

result<std::uint32_t> shared_world::checksum(std::size_t client, std::int32_t tick) const noexcept {
    shared_tick const* const found = find(client, tick);
    if (found == nullptr) return failure{errc::unknown_tick, 0};
    return found->views[client].checksum;
}

result<snapshot_view> shared_world::snapshot(std::size_t client, std::int32_t tick,
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
        std::uint64_t const* const set = found->set(v);
        for (std::size_t word = 0; word < set_words(found->items); ++word)
            for (std::uint64_t left = set[word]; left != 0; left &= left - 1)
                add(word * 64 + kernels::lowest(left));
    }
    assert(at == v.ints && count == v.items);
    out[0] = static_cast<std::int32_t>(4 * (at - 2 - v.items));
    out[1] = static_cast<std::int32_t>(v.items);
    return snapshot_view::trusted(out);
}

void shared_world::drop_before(std::int32_t tick) noexcept {
    while (count_ > 1 && at(0).tick.tick < tick) drop_oldest();
}

void shared_world::forget_client(std::size_t client) noexcept {
    assert(client < limits_.clients);
    for (std::size_t i = 0; i < count_; ++i) {
        at(i).tick.views[client] = {};
    }
    if (making_) views_[client] = {};
}

} // namespace teewire
