#include "teewire/live_snapshot.hpp"

#include "hash.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <cstring>

namespace teewire {
namespace {

constinit kernels::change_items_fn* change_fast = kernels::plain_change_items;
[[gnu::constructor]] void choose() noexcept { change_fast = kernels::best(kernels::change_items_variants()); }

std::uint32_t sum_of(std::span<std::int32_t const> values) noexcept {
    std::uint32_t sum = 0;
    for (std::int32_t const value : values) sum += static_cast<std::uint32_t>(value);
    return sum;
}

} // namespace

void live_snapshot::clear() noexcept {
    slots_ = used_ = alive_ = alive_ints_ = repeated_ = 0;
    checksum_ = 0;
    index_all(0);
}

// ---- keys ----------------------------------------------------------------------------------------------------------

// Where the key is, or the free place where it belongs.
std::uint16_t& live_snapshot::table_entry(std::int32_t key) noexcept {
    std::size_t at = hash_key(key, multiplier_, table_.size());
    for (; table_[at] != 0 && keys_[table_[at] - 1U] != key; ++steps_) at = (at + 1) & (table_.size() - 1);
    return table_[at];
}

// More steps past other keys than random ones would ever need, and a hash function left to try.
bool live_snapshot::crowded() const noexcept { return steps_ > 8 * slots_ + 64 && attempt_ + 1 < hash_functions; }

std::size_t live_snapshot::find_slot(std::int32_t key) const noexcept {
    for (std::size_t at = hash_key(key, multiplier_, table_.size());; at = (at + 1) & (table_.size() - 1)) {
        if (table_[at] == 0) return none;
        std::size_t const slot = table_[at] - 1U;
        if (keys_[slot] == key) return states_[slot] == gone ? none : slot;
    }
}

void live_snapshot::index_all(unsigned attempt) noexcept {
    attempt_ = attempt;
    multiplier_ = hash_multiplier(attempt, table_.data());
    steps_ = 0;
    repeated_ = 0;
    std::fill(table_.begin(), table_.end(), std::uint16_t{0});
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        if (states_[slot] == gone) continue;
        std::uint16_t& entry = table_entry(keys_[slot]);
        bool const taken = entry != 0 && states_[entry - 1U] != going;
        if (taken) ++repeated_; // the first one is found
        else entry = static_cast<std::uint16_t>(slot + 1);
        if (crowded()) return index_all(attempt + 1);
    }
}

std::size_t live_snapshot::add_slot(std::int32_t key, std::size_t ints) noexcept {
    std::size_t const slot = slots_++;
    keys_[slot] = key;
    sizes_[slot] = static_cast<std::uint32_t>(ints);
    sources_[slot] = UINT32_MAX;
    return slot;
}

// ---- gaps ----------------------------------------------------------------------------------------------------------

void live_snapshot::close_gaps() noexcept {
    std::size_t to = 0;
    std::size_t at = 0;
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        if (states_[slot] == gone) continue;
        std::size_t const size = 1 + sizes_[slot];
        if (begins_[slot] != at) std::memmove(pool() + at, pool() + begins_[slot], size * 4);
        keys_[to] = keys_[slot];
        sizes_[to] = sizes_[slot];
        begins_[to] = static_cast<std::uint32_t>(at);
        states_[to++] = alive;
        at += size;
    }
    slots_ = to;
    used_ = at;
    index_all(0);
}

snapshot_view live_snapshot::view() noexcept {
    if (slots_ != alive_) close_gaps();
    std::int32_t* const whole = pool() - alive_ - 2;
    whole[0] = static_cast<std::int32_t>(used_ * 4);
    whole[1] = static_cast<std::int32_t>(alive_);
    for (std::size_t i = 0; i < alive_; ++i) whole[2 + i] = static_cast<std::int32_t>(begins_[i] * 4);
    return snapshot_view::trusted({whole, 2 + alive_ + used_}, repeated_ == 0);
}

std::optional<item> live_snapshot::find(std::int32_t key) const noexcept {
    std::size_t const slot = find_slot(key);
    if (slot == none) return std::nullopt;
    return item{key, {pool() + begins_[slot] + 1, sizes_[slot]}};
}

// ---- changes -------------------------------------------------------------------------------------------------------

failure live_snapshot::assign(snapshot_view snapshot) noexcept {
    clear();
    if (snapshot.size() > limits_.items) return {errc::too_many_items, 0};
    if (snapshot.ints().size() > limits_.ints()) return {errc::too_large, 0};
    for (item const i : snapshot) {
        std::size_t const slot = add_slot(i.key, i.data.size());
        states_[slot] = alive;
        begins_[slot] = static_cast<std::uint32_t>(used_);
        pool()[used_] = i.key;
        std::copy(i.data.begin(), i.data.end(), pool() + used_ + 1);
        used_ += 1 + i.data.size();
    }
    alive_ = slots_;
    alive_ints_ = used_;
    checksum_ = snapshot.checksum();
    index_all(0);
    return {};
}

void live_snapshot::mark_removed(std::span<std::int32_t const> keys, note_log* notes) noexcept {
    std::size_t expected = 0;
    auto const mark = [&](std::size_t slot) {
        states_[slot] = going;
        touched_[touched_count_++] = static_cast<std::uint16_t>(slot);
        --alive_;
        alive_ints_ -= 1 + sizes_[slot];
    };
    for (std::size_t k = 0; k < keys.size(); ++k) {
        bool const guessed = expected < slots_ && keys_[expected] == keys[k] && states_[expected] == alive;
        std::size_t const slot = guessed && repeated_ == 0 ? expected : find_slot(keys[k]);
        if (slot == none || states_[slot] != alive) {
            if (notes != nullptr) notes->add(note::unknown_removed_key, delta_header_ints + k);
            continue;
        }
        mark(slot);
        expected = slot + 1;
        if (repeated_ != 0) // they share its fate
            for (std::size_t other = slot + 1; other < slots_; ++other)
                if (keys_[other] == keys[k] && states_[other] == alive) mark(other);
    }
}

// Looks everything up without changing what counts: alive_ and alive_ints_ become those of the result.
failure live_snapshot::check(delta_reader& reader, std::span<std::int32_t const> delta,
                             apply_options const& options) noexcept {
    mark_removed(reader.removed_keys(), options.notes);
    std::size_t const slots_before = slots_;
    std::size_t expected = 0;
    for (delta_reader::update update; reader.next(update);) {
        auto const position = static_cast<std::uint32_t>(update.data.data() - delta.data());
        bool const guessed = expected < slots_before && keys_[expected] == update.key && repeated_ == 0;
        std::size_t const slot = guessed && states_[expected] != gone ? expected : find_slot(update.key);
        if (slot != none && states_[slot] != going) {
            // Of several updates of one key the last one holds.
            if (states_[slot] == coming && options.notes != nullptr)
                options.notes->add(note::repeated_key, update.position);
            if (sizes_[slot] != update.data.size()) return {errc::size_mismatch, update.position};
            positions_[slot] = position;
            if (states_[slot] == alive) {
                states_[slot] = changing;
                touched_[touched_count_++] = static_cast<std::uint16_t>(slot);
            }
            expected = slot + 1;
            continue;
        }
        if (alive_ == limits_.items) return {errc::too_many_items, update.position};
        if (2 + alive_ + 1 + alive_ints_ + 1 + update.data.size() > limits_.ints())
            return {errc::too_large, update.position};
        if (slot != none && sizes_[slot] != update.data.size()) return {errc::size_mismatch, update.position};
        ++alive_;
        alive_ints_ += 1 + update.data.size();
        std::uint16_t& entry = table_entry(update.key);
        std::size_t const added = add_slot(update.key, update.data.size());
        entry = static_cast<std::uint16_t>(added + 1);
        states_[added] = coming;
        if (crowded()) index_all(attempt_ + 1);
        positions_[added] = position;
        if (slot != none) sources_[added] = static_cast<std::uint32_t>(slot);
    }
    return reader.error();
}

void live_snapshot::commit(std::span<std::int32_t const> delta, std::size_t slots_before) noexcept {
    for (std::size_t slot = slots_before; slot < slots_; ++slot) {
        std::int32_t* const data = pool() + used_ + 1;
        data[-1] = keys_[slot];
        std::copy_n(delta.data() + positions_[slot], sizes_[slot], data);
        if (std::size_t const source = sources_[slot]; source != UINT32_MAX) {
            std::int32_t const* const old = pool() + begins_[source] + 1;
            for (std::size_t i = 0; i < sizes_[slot]; ++i)
                data[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(data[i]) +
                                                    static_cast<std::uint32_t>(old[i]));
        }
        checksum_ += sum_of({data, sizes_[slot]});
        begins_[slot] = static_cast<std::uint32_t>(used_);
        states_[slot] = alive;
        used_ += 1 + sizes_[slot];
    }
    // Those that go come first.
    std::size_t k = 0;
    for (; k < touched_count_ && states_[touched_[k]] == going; ++k) {
        std::size_t const slot = touched_[k];
        checksum_ -= sum_of({pool() + begins_[slot] + 1, sizes_[slot]});
        states_[slot] = gone;
    }
    auto const changing_slots = touched_.subspan(k, touched_count_ - k);
    checksum_ +=
        change_fast({pool(), delta.data(), changing_slots, begins_.data(), sizes_.data(), positions_.data()});
    for (std::uint16_t const slot : changing_slots) states_[slot] = alive;
    if (repeated_ != 0) index_all(attempt_); // some may have gone
}

// After a refused delta.
void live_snapshot::take_back(std::size_t slots_before) noexcept {
    for (std::size_t k = 0; k < touched_count_; ++k) states_[touched_[k]] = alive;
    slots_ = slots_before;
    close_gaps(); // indexes anew, too
    alive_ = slots_;
    alive_ints_ = used_;
}

failure live_snapshot::apply(std::span<std::int32_t const> delta, size_table const& sizes,
                             apply_options const& options) noexcept {
    auto const opened = delta_reader::open(delta, sizes, options.mode, options.notes);
    if (!opened) return opened.error();
    // From here on there is room for as many new items as the limits allow.
    if (slots_ > limits_.items || used_ > limits_.ints()) close_gaps();
    if (repeated_ != 0 && options.notes != nullptr) options.notes->add(note::repeated_key, 0);
    touched_count_ = 0;
    std::size_t const slots_before = slots_;
    delta_reader reader = *opened;
    failure const refused = check(reader, delta, options);
    if (refused.code != errc::ok) take_back(slots_before);
    else commit(delta, slots_before);
    return refused;
}

} // namespace teewire
