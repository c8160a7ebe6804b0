#include "teewire/live_snapshot.hpp"

#include "hash.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace teewire {
namespace {

// a += b
void accumulate(std::span<std::int32_t> a, std::span<std::int32_t const> b) noexcept {
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a[i]) + static_cast<std::uint32_t>(b[i]));
}

std::uint32_t sum_of(std::span<std::int32_t const> values) noexcept {
    std::uint32_t sum = 0;
    for (std::int32_t const value : values) sum += static_cast<std::uint32_t>(value);
    return sum;
}

} // namespace

void live_snapshot::clear() noexcept {
    slots_ = used_ = live_count_ = live_ints_ = repeated_ = 0;
    laid_out_ = false;
    checksum_ = 0;
    index_all(0);
}

// ---- keys ----------------------------------------------------------------------------------------------------------

// Where the key is, or the free place where it belongs.
std::uint16_t& live_snapshot::table_entry(std::int32_t key) noexcept {
    std::size_t const begin = detail::hash_key(key, multiplier_, shift_);
    std::size_t const at = probe(begin, key);
    if (table_[at] == 0) steps_ += (at - begin) & (table_.size() - 1);
    return table_[at];
}

bool live_snapshot::crowded() const noexcept { return detail::crowded(steps_, slots_, attempt_); }

std::size_t live_snapshot::find_slot(std::int32_t key) const noexcept {
    std::uint16_t const found = table_[probe(detail::hash_key(key, multiplier_, shift_), key)];
    return found == 0 || items_[found - 1U].now == slot::removed ? none : found - 1U;
}

void live_snapshot::index_all(unsigned attempt) noexcept {
    attempt_ = attempt;
    multiplier_ = hash_multiplier(attempt, table_.data());
    steps_ = 0;
    repeated_ = 0;
    std::fill(table_.begin(), table_.end(), std::uint16_t{0});
    for (std::size_t number = 0; number < slots_; ++number) {
        if (items_[number].now == slot::removed) continue;
        std::uint16_t& entry = table_entry(items_[number].key);
        bool const taken = entry != 0 && items_[entry - 1U].now != slot::pending_removal;
        if (taken) ++repeated_; // the first one is found
        else entry = static_cast<std::uint16_t>(number + 1);
        if (crowded()) return index_all(attempt + 1);
    }
}

// ---- gaps ----------------------------------------------------------------------------------------------------------

// Moves the data together, and writes the offsets. Slots stay where they are, so that the index stays right.
void live_snapshot::lay_out() noexcept {
    if (laid_out_) return;
    laid_out_ = true;
    std::int32_t* offset = pool() - live_count_;
    std::size_t at = 0;
    std::size_t from = 0; // what lies together from there on has its place at `to`
    std::size_t to = 0;
    auto const move = [&] {
        if (from != to) std::memmove(pool() + to, pool() + from, (at - to) * 4);
    };
    for (slot& s : items_.first(slots_)) {
        if (s.now == slot::removed) continue;
        if (s.begin != from + (at - to)) {
            move();
            from = s.begin;
            to = at;
        }
        s.begin = static_cast<std::uint32_t>(at);
        *offset++ = static_cast<std::int32_t>(at * 4);
        at += 1 + s.size;
    }
    move();
    used_ = at;
    assert(offset == pool());
}

// Does without the slots of removed items as well.
void live_snapshot::close_gaps() noexcept {
    lay_out();
    std::size_t to = 0;
    for (slot const& s : items_.first(slots_))
        if (s.now != slot::removed) items_[to++] = s;
    slots_ = to;
    index_all(0);
}

snapshot_view live_snapshot::view() noexcept {
    // A new index costs as much as many slots that are passed over.
    if (slots_ - live_count_ > live_count_ / 4 + 8) close_gaps();
    lay_out();
    std::int32_t* const whole = pool() - live_count_ - 2;
    whole[0] = static_cast<std::int32_t>(used_ * 4);
    whole[1] = static_cast<std::int32_t>(live_count_);
    return snapshot_view::trusted({whole, 2 + live_count_ + used_}, repeated_ == 0);
}

std::optional<item> live_snapshot::find(std::int32_t key) const noexcept {
    std::size_t const number = find_slot(key);
    if (number == none) return std::nullopt;
    return item{key, data(items_[number])};
}

// ---- changes -------------------------------------------------------------------------------------------------------

failure live_snapshot::assign(snapshot_view snapshot) noexcept {
    clear();
    if (snapshot.size() > limits_.items) return {errc::too_many_items, 0};
    if (snapshot.ints().size() > limits_.ints()) return {errc::too_large, 0};
    for (item const i : snapshot) {
        slot& s = items_[slots_++];
        s = {i.key,      static_cast<std::uint32_t>(used_), static_cast<std::uint32_t>(i.data.size()), 0, 0,
             slot::live, static_cast<std::uint16_t>(slots_)};
        pool()[used_] = i.key;
        std::copy(i.data.begin(), i.data.end(), data(s).begin());
        used_ += 1 + i.data.size();
    }
    live_count_ = slots_;
    live_ints_ = used_;
    checksum_ = snapshot.checksum();
    index_all(0);
    return {};
}

// Numbers start again after 2^32 deltas.
void live_snapshot::begin_delta() noexcept {
    if (++delta_ == 0) {
        for (slot& s : items_.first(slots_)) s.delta = 0;
        delta_ = 1;
    }
    pending_count_ = 0;
    slots_before_ = slots_;
}

// They are removed when the whole delta is good: a key may be removed and updated, which starts from the old data.
void live_snapshot::mark_removed(std::span<std::int32_t const> keys, note_log* notes) noexcept {
    std::size_t expected = 0;
    auto const mark = [&](std::size_t number) {
        items_[number].now = slot::pending_removal;
        pending_removals_[pending_count_++] = static_cast<std::uint16_t>(number);
        --live_count_;
        live_ints_ -= 1 + items_[number].size;
    };
    for (std::size_t k = 0; k < keys.size(); ++k) {
        bool const guessed = expected < slots_ && items_[expected].key == keys[k] &&
                             items_[expected].now == slot::live && repeated_ == 0;
        std::size_t const number = guessed ? expected : find_slot(keys[k]);
        if (number == none || items_[number].now != slot::live) {
            if (notes != nullptr) notes->add(note::unknown_removed_key, delta_header_ints + k);
            continue;
        }
        mark(number);
        expected = number + 1;
    }
    if (repeated_ == 0 || pending_count_ == 0) return;
    // Others with the same key share the fate of the first one, which is the one that is found.
    for (std::size_t other = 0; other < slots_; ++other)
        if (items_[other].now == slot::live && items_[find_slot(items_[other].key)].now == slot::pending_removal)
            mark(other);
}

// Any update.
failure live_snapshot::update_item(delta_reader::update const& update, std::span<std::int32_t const> delta,
                                   note_log* notes) noexcept {
    std::uint16_t& entry = table_entry(update.key);
    bool const known = entry != 0 && items_[entry - 1U].now != slot::removed;
    std::size_t const number = known ? entry - 1U : none;
    if (!known || items_[number].now == slot::pending_removal) return add_item(update, delta, number, entry);
    slot& s = items_[number];
    bool const added = number >= slots_before_;
    if (added && notes != nullptr) notes->add(note::repeated_key, update.position);
    if (s.size != update.data.size()) return {errc::size_mismatch, update.position};
    // If a key has several updates, the last one counts.
    if (s.delta == delta_) undo(s, delta);
    s.delta = delta_;
    s.position = static_cast<std::uint32_t>(update.data.data() - delta.data());
    accumulate(data(s), update.data);
    checksum_ += sum_of(update.data);
    return {};
}

failure live_snapshot::add_item(delta_reader::update const& update, std::span<std::int32_t const> delta,
                                std::size_t source, std::uint16_t& entry) noexcept {
    if (live_count_ == limits_.items) return {errc::too_many_items, update.position};
    if (2 + live_count_ + 1 + live_ints_ + 1 + update.data.size() > limits_.ints())
        return {errc::too_large, update.position};
    if (source != none && items_[source].size != update.data.size()) return {errc::size_mismatch, update.position};
    slot& s = items_[slots_++];
    s = {update.key,
         static_cast<std::uint32_t>(used_),
         static_cast<std::uint32_t>(update.data.size()),
         delta_,
         static_cast<std::uint32_t>(update.data.data() - delta.data()),
         slot::live,
         static_cast<std::uint16_t>(slots_)};
    entry = static_cast<std::uint16_t>(slots_);
    if (crowded()) index_all(attempt_ + 1);
    laid_out_ = false;
    std::int32_t* const made = pool() + used_;
    made[0] = update.key;
    for (std::size_t i = 0; i < s.size; ++i) made[1 + i] = update.data[i];
    if (source != none) accumulate(data(s), data(items_[source]));
    checksum_ += sum_of(data(s));
    ++live_count_;
    live_ints_ += 1 + s.size;
    used_ += 1 + s.size;
    return {};
}

// Takes a change back.
void live_snapshot::undo(slot const& s, std::span<std::int32_t const> delta) noexcept {
    for (std::uint32_t i = 0; i < s.size; ++i) {
        std::int32_t& value = data(s)[i];
        auto const change = static_cast<std::uint32_t>(delta[s.position + i]);
        value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) - change);
        checksum_ -= change;
    }
}

// Removes what is pending.
void live_snapshot::commit() noexcept {
    for (std::uint16_t const number : pending_removals_.first(pending_count_)) {
        checksum_ -= sum_of(data(items_[number]));
        items_[number].now = slot::removed;
    }
    laid_out_ = laid_out_ && pending_count_ == 0;
    if (repeated_ != 0 && pending_count_ != 0) index_all(attempt_); // some of them may have been removed
}

// After a refused delta.
void live_snapshot::take_back(std::span<std::int32_t const> delta) noexcept {
    for (slot const& s : items_.subspan(slots_before_, slots_ - slots_before_)) checksum_ -= sum_of(data(s));
    slots_ = slots_before_;
    live_count_ = 0;
    for (slot& s : items_.first(slots_)) {
        if (s.delta == delta_ && s.now != slot::removed) undo(s, delta);
        if (s.now == slot::pending_removal) s.now = slot::live;
        live_count_ += s.now == slot::live;
    }
    laid_out_ = false;
    close_gaps(); // rebuilds the index, too
    live_ints_ = used_;
}

failure live_snapshot::apply(std::span<std::int32_t const> delta, size_table const& sizes,
                             apply_options const& options) noexcept {
    auto const opened = delta_reader::open(delta, sizes, options.mode, options.notes);
    if (!opened) return opened.error();
    // From here on there is room for as many new items as the limits allow.
    if (slots_ > limits_.items || used_ > limits_.ints()) close_gaps();
    if (repeated_ != 0 && options.notes != nullptr) options.notes->add(note::repeated_key, 0);
    begin_delta();
    delta_reader reader = *opened;
    mark_removed(reader.removed_keys(), options.notes);
    kernels::in_place_state changes{
        items_.data(), repeated_ == 0 ? slots_ : 0, pool(), table_, multiplier_, shift_, delta.data(), delta_, 0};
    failure refused{};
    delta_reader::update other;
    for (bool more = true; more && kernels::snapshot.apply_updates(changes, reader, other);) {
        // A new item is often followed by another one.
        for (bool added = true; added && more;) {
            std::size_t const slots = slots_;
            refused = update_item(other, delta, options.notes);
            added = slots_ != slots;
            more = refused.code == errc::ok && (!added || reader.next(other));
        }
        changes.multiplier = multiplier_;
    }
    checksum_ += changes.sum;
    if (refused.code == errc::ok) refused = reader.error();
    if (refused.code == errc::ok) commit();
    else take_back(delta);
    return refused;
}

} // namespace teewire
