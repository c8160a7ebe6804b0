// For a tick that clients have acknowledged, the items of both ticks are compared once. The items of a key that most
// clients see are the primary ones, and a client's set of primary items of the old tick becomes one in the numbers of
// the new tick by moving runs of bits. The rest is bits: known, changed, new. Updates are packed when the first client
// needs them.
#include "teewire/shared_encoder.hpp"

#include "item_sets.hpp"
#include "shared_world_state.hpp"
#include "snapshot_functions.hpp"

#include "teewire/varint.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace teewire {

using detail::set_words;
using detail::shared_tick;

using item_sets::has;
using item_sets::insert;
using item_sets::none;

namespace {

bool same_content(shared_tick const& a, std::size_t i, shared_tick const& b, std::size_t j) noexcept {
    return a.ids[i] == b.ids[j] || item_sets::same_content(a.content(i), b.content(j));
}

} // namespace

// The state at the front of an encoder's memory.
class shared_encoder::state {
public:
    state(shared_world const& world, std::span<std::byte> memory) noexcept;
    result<packed_delta> encode(std::size_t client, std::int32_t base_tick, size_table const& sizes) noexcept;

private:
    friend class shared_encoder;
    struct job;
    static constexpr std::size_t run_bytes = 12;
    static constexpr std::size_t piece_slack = 64; // copying reads past the last piece

    // The items of the newest tick, compared with those of another one.
    struct comparison {
        std::int32_t base_tick = -1;
        size_table const* sizes = nullptr;
        detail::shared_tick const* base = nullptr;
        std::uint64_t* changed = nullptr;  // the set of primary items whose primary content is another one now
        std::uint16_t* partners = nullptr; // by primary item: that of the base
        std::uint32_t* pieces = nullptr; // by item: where the packed update is, in eights of bytes; 0: not made yet
        kernels::shared_run* runs = nullptr; // stretches of items with the same keys
        std::size_t run_count = 0;
    };

    static constexpr std::size_t max_comparisons = 256;

    [[nodiscard]] static constexpr std::size_t comparison_bytes(std::size_t items) noexcept {
        return 8 * detail::set_words(items) + detail::eights(2 * items) + detail::eights(4 * items) +
               detail::eights(run_bytes * items);
    }

    // Where the parts lie that are always there.
    struct layout : detail::memory_plan {
        explicit constexpr layout(shared_limits const& l) noexcept
            : memory_plan{detail::eights(sizeof(state))}, comparisons{take<comparison>(max_comparisons)},
              base{take<std::uint64_t>(detail::set_words(l.items))}, known{take<std::uint64_t>(
                                                                         detail::set_words(l.items))},
              updates{take<std::uint64_t>(detail::set_words(l.items))}, paired{take<std::uint64_t>(
                                                                            detail::set_words(l.items))},
              unshared{take<std::uint64_t>(detail::set_words(l.items))}, bases{take<std::uint16_t>(l.items)},
              out{take<std::uint8_t>(
                  max_head + 64 +
                  varint_bound(delta_header_ints + 3 * std::size_t{l.client.items} + l.client.ints()))} {}
        detail::part_of<comparison> comparisons;
        detail::part_of<std::uint64_t> base, known, updates, paired, unshared;
        detail::part_of<std::uint16_t> bases;
        detail::part_of<std::uint8_t> out;
    };

    void forget() noexcept;
    [[nodiscard]] std::byte* take(std::size_t bytes) noexcept;
    [[nodiscard]] comparison const* compare(std::int32_t base_tick, detail::shared_tick const* base,
                                            size_table const& sizes) noexcept;
    [[nodiscard]] bool match(comparison& c) noexcept;
    [[nodiscard]] std::uint16_t primary_of(std::int32_t key) const noexcept;
    std::uint8_t* write_update(std::uint8_t* out, std::size_t item, detail::shared_tick const* base,
                               std::size_t before, size_table const& sizes) const noexcept;
    void select(job& j) noexcept;
    void pair_alternatives(job& j) noexcept;
    std::uint8_t* write_removed(std::uint8_t* out, job const& j) noexcept;
    result<std::uint8_t*> write_updates(std::uint8_t* out, job const& j, size_table const& sizes) noexcept;
    void keep_piece(comparison const& c, std::size_t item, std::span<std::uint8_t const> update) noexcept;

    shared_world const& public_world_;
    shared_world::state const& world_;
    std::span<std::byte> memory_;
    layout parts_;
    std::span<comparison> comparisons_;
    // For the client that is encoded:
    std::uint64_t* base_;         // a set of items of the base: the primary ones; then those that are removed
    std::uint64_t* known_;        // items that the base has, too; both are primary
    std::uint64_t* updates_;      // items that it has not, or with another content
    std::uint64_t* paired_;       // items of the base that were compared with an item one by one
    std::uint64_t* unshared_;     // updates against one of these, packed only for this client
    std::uint16_t* bases_;        // by item in unshared_: that of the base
    std::span<std::uint8_t> out_; // with the room before it
    std::size_t count_ = 0;       // of them
    std::size_t used_ = 0;        // bytes
    std::uint32_t seen_ = 0;      // what the world had changed
    detail::shared_tick const* now_ = nullptr;
};

shared_encoder::state::state(shared_world const& world, std::span<std::byte> memory) noexcept
    : public_world_{world}, world_{*world.state_}, memory_{memory}, parts_{world.limits()},
      comparisons_{parts_.comparisons.in(memory)}, base_{parts_.base.in(memory).data()},
      known_{parts_.known.in(memory).data()}, updates_{parts_.updates.in(memory).data()},
      paired_{parts_.paired.in(memory).data()}, unshared_{parts_.unshared.in(memory).data()},
      bases_{parts_.bases.in(memory).data()}, out_{parts_.out.in(memory)} {
    std::fill_n(unshared_, parts_.unshared.count, std::uint64_t{0});
    forget();
    seen_ = world_.changes_;
}

void shared_encoder::state::forget() noexcept {
    count_ = 0;
    used_ = parts_.end;
}

std::byte* shared_encoder::state::take(std::size_t bytes) noexcept {
    if (bytes + piece_slack > memory_.size() - used_) return nullptr;
    std::byte* const taken = memory_.data() + used_;
    used_ += detail::eights(bytes);
    return taken;
}

std::uint16_t shared_encoder::state::primary_of(std::int32_t key) const noexcept {
    std::uint16_t item = world_.first_item(key);
    if (item != none)
        while (now_->is_alternative(item)) item = now_->next_of_key[item];
    return item;
}

shared_encoder::state::comparison const*
shared_encoder::state::compare(std::int32_t base_tick, shared_tick const* base, size_table const& sizes) noexcept {
    for (comparison const& c : comparisons_.first(count_))
        if (c.base_tick == base_tick && c.sizes == &sizes) return &c;
    if (count_ == comparisons_.size()) forget();
    comparison c{base_tick, &sizes, base, nullptr, nullptr, nullptr, nullptr, 0};
    if (!match(c)) {
        forget();
        [[maybe_unused]] bool const matched = match(c);
        assert(matched); // least_bytes()
    }
    comparisons_[count_] = c;
    return &comparisons_[count_++];
}

// False if there is no room.
bool shared_encoder::state::match(comparison& c) noexcept {
    shared_tick const& now = *now_;
    std::size_t const used = used_;
    auto* const changed = reinterpret_cast<std::uint64_t*>(take(8 * set_words(now.items)));
    auto* const pieces = reinterpret_cast<std::uint32_t*>(take(4 * now.items));
    auto* const partners = reinterpret_cast<std::uint16_t*>(take(c.base != nullptr ? 2 * now.items : 0));
    std::size_t const most_runs = c.base != nullptr ? std::min(now.items, c.base->items) : 0;
    auto* const runs = reinterpret_cast<kernels::shared_run*>(take(sizeof(kernels::shared_run) * most_runs));
    if (changed == nullptr || pieces == nullptr || partners == nullptr || runs == nullptr) {
        used_ = used;
        return false;
    }
    std::fill_n(changed, set_words(now.items), std::uint64_t{0});
    std::fill_n(pieces, now.items, 0U);
    c.changed = changed;
    c.pieces = pieces;
    c.partners = partners;
    c.runs = runs;
    if (c.base == nullptr) return true;

    shared_tick const& base = *c.base;
    std::fill_n(partners, now.items, none);
    kernels::shared_run current{0, 0, 0};
    for (std::uint32_t i = 0; i < base.items; ++i) {
        if (base.is_alternative(i)) continue;
        std::uint32_t at = current.now + (i - current.base); // if it goes on like that
        if (at >= now.items || now.keys[at] != base.keys[i] || now.is_alternative(at)) {
            if (current.count != 0) runs[c.run_count++] = current;
            std::uint16_t const found = primary_of(base.keys[i]);
            if (found == none) {
                current = {i + 1, at, 0};
                continue;
            }
            current = {i, found, 0};
            at = found;
        }
        current.count = i + 1 - current.base;
        partners[at] = static_cast<std::uint16_t>(i);
        if (!same_content(now, at, base, i)) insert(changed, at);
    }
    if (current.count != 0) runs[c.run_count++] = current;
    used_ -= detail::eights(sizeof(kernels::shared_run) * most_runs) -
             detail::eights(sizeof(kernels::shared_run) * c.run_count);
    return true;
}

// The update that makes the item of that item of the base, or of nothing. Null if no receiver could read it.
std::uint8_t* shared_encoder::state::write_update(std::uint8_t* out, std::size_t item, shared_tick const* base,
                                                  std::size_t before, size_table const& sizes) const noexcept {
    auto const data = now_->content(item);
    auto const from = base != nullptr ? base->content(before) : std::span<std::int32_t const>{};
    std::int32_t const key = now_->keys[item];
    std::size_t const agreed = sizes[key_type(key)];
    if ((base != nullptr && from.size() != data.size()) || (agreed != 0 && agreed != data.size())) return nullptr;
    out = put_varint(out, key >> 16);
    out = put_varint(out, key_id(key));
    if (agreed == 0) out = put_varint(out, static_cast<std::int32_t>(data.size()));
    std::array<std::int32_t, 64> ints;
    for (std::size_t i = 0; i < data.size(); i += ints.size()) {
        std::size_t const n = std::min(ints.size(), data.size() - i);
        for (std::size_t k = 0; k < n; ++k)
            ints[k] = base != nullptr ? static_cast<std::int32_t>(static_cast<std::uint32_t>(data[i + k]) -
                                                                  static_cast<std::uint32_t>(from[i + k]))
                                      : data[i + k];
        out += *encode_varints(std::span{ints}.first(n), {out, varint_bound(n)});
    }
    return out;
}

// For other clients, if there is room.
void shared_encoder::state::keep_piece(comparison const& c, std::size_t item,
                                       std::span<std::uint8_t const> update) noexcept {
    auto const size = static_cast<std::uint32_t>(update.size());
    std::size_t const place = used_;
    std::byte* const piece = take(sizeof size + size);
    if (piece == nullptr) return;
    std::memcpy(piece, &size, sizeof size);
    std::memcpy(piece + sizeof size, update.data(), size);
    c.pieces[item] = static_cast<std::uint32_t>(place / 8);
}

// The items that one client sees and saw, and the results for it.
struct shared_encoder::state::job {
    shared_tick const& now;
    shared_tick const* base; // or null
    detail::shared_view const& view;
    detail::shared_view const* base_view;
    comparison const* with = nullptr;         // the base
    comparison const* with_nothing = nullptr; // for items that are new
    std::size_t kept = 0;                     // items whose keys were there before
    std::size_t updates = 0;
    bool alternatives = false; // there are items that are compared one by one

    [[nodiscard]] std::uint64_t const* items() const noexcept { return now.set(view); }
    [[nodiscard]] std::uint64_t const* base_items() const noexcept { return base->set(*base_view); }
};

result<packed_delta> shared_encoder::state::encode(std::size_t client, std::int32_t base_tick,
                                                   size_table const& sizes) noexcept {
    assert(client < world_.limits_.clients && !world_.making_);
    shared_tick const* const now = world_.newest_tick();
    // Keys are looked for in the index of the world, which is that of the tick made last.
    if (!world_.indexed_ || now->views[client].set == 0) return failure{errc::unknown_tick, 0};
    if (seen_ != world_.changes_) {
        forget();
        seen_ = world_.changes_;
    }
    now_ = now;
    shared_tick const* const base = base_tick < now->tick ? world_.find(client, base_tick) : nullptr;
    job j{*now, base, now->views[client], base != nullptr ? &base->views[client] : nullptr};
    j.with_nothing = j.with = compare(-1, nullptr, sizes);
    if (base != nullptr) {
        j.with = compare(base_tick, base, sizes);
        if (count_ == 1) j.with_nothing = compare(-1, nullptr, sizes); // was forgotten
    }
    select(j);

    std::uint8_t* const out = out_.data() + max_head;
    packed_delta delta{{out, 0}, now->tick, base != nullptr ? base_tick : -1, j.view.checksum};
    std::size_t const removed = (base != nullptr ? j.base_view->items : 0) - j.kept;
    if (removed == 0 && j.updates == 0) return delta;
    std::uint8_t* at = put_varint(out, static_cast<std::int32_t>(removed));
    at = put_varint(at, static_cast<std::int32_t>(j.updates));
    at = put_varint(at, 0);
    if (removed != 0) at = write_removed(at, j);
    auto const end = write_updates(at, j, sizes);
    if (j.alternatives) std::fill_n(unshared_, set_words(now->items), std::uint64_t{0});
    if (!end) return end.error();
    delta.bytes = {out, static_cast<std::size_t>(*end - out)};
    return delta;
}

void shared_encoder::state::select(job& j) noexcept {
    std::uint64_t const* base = j.items(); // any
    if (j.base != nullptr) {
        base = j.base_items();
        j.alternatives = j.now.has_alternatives;
        if (j.base->has_alternatives) {
            for (std::size_t i = 0; i < set_words(j.base->items); ++i) {
                base_[i] = base[i] & ~j.base->alternatives[i];
                j.alternatives |= base_[i] != base[i];
            }
            base = base_;
        }
    }
    kernels::shared_sets sets{
        j.items(), base,    j.with->changed, {j.with->runs, j.with->run_count}, set_words(j.now.items),
        known_,    updates_};
    kernels::snapshot.select_updates(sets);
    j.kept = sets.kept_count;
    j.updates = sets.update_count;
    if (j.alternatives) pair_alternatives(j);
}

// Items that are not the primary ones of their key, or were not in the base. They are few, as most see primary ones.
void shared_encoder::state::pair_alternatives(job& j) noexcept {
    std::uint64_t const* const items = j.items();
    std::uint64_t const* const base_items = j.base_items();
    std::size_t const base_words = set_words(j.base->items);
    std::fill_n(paired_, base_words, std::uint64_t{0});
    auto const pair = [&](std::size_t item, std::size_t before) {
        ++j.kept;
        insert(paired_, before);
        if (same_content(j.now, item, *j.base, before)) {
            item_sets::remove(updates_, item);
            --j.updates;
        } else {
            insert(unshared_, item);
            bases_[item] = static_cast<std::uint16_t>(before);
        }
    };
    if (j.base->has_alternatives)
        item_sets::for_each(base_items, j.base->alternatives, base_words, [&](std::size_t before) {
            std::uint16_t const primary = primary_of(j.base->keys[before]);
            if (primary == none) return;
            std::uint16_t const item = j.now.has_alternatives
                                           ? item_sets::find_of_key(items, j.now.next_of_key, primary)
                                       : has(items, primary) ? primary
                                                             : none;
            if (item != none) pair(item, before);
        });
    if (j.now.has_alternatives)
        item_sets::for_each(items, j.now.alternatives, set_words(j.now.items), [&](std::size_t item) {
            std::uint16_t const before = j.with->partners[primary_of(j.now.keys[item])];
            if (before != none && has(base_items, before)) pair(item, before);
        });
}

std::uint8_t* shared_encoder::state::write_removed(std::uint8_t* out, job const& j) noexcept {
    assert(j.base != nullptr);
    std::size_t const words = set_words(j.base->items);
    std::uint64_t const* const base_items = j.base_items();
    kernels::snapshot.find_in_base({j.with->runs, j.with->run_count}, known_, base_, words);
    for (std::size_t i = 0; i < words; ++i) {
        // Where a stretch goes past an alternative of the base, what lies there now belongs to another one.
        std::uint64_t kept = j.base->has_alternatives ? base_[i] & ~j.base->alternatives[i] : base_[i];
        if (j.alternatives) kept |= paired_[i];
        base_[i] = base_items[i] & ~kept;
    }
    if (std::uint16_t const* const order = j.base->order(*j.base_view)) {
        std::size_t left = j.base_view->items - j.kept;
        for (std::size_t i = 0; left != 0; ++i)
            if (has(base_, order[i])) {
                out = put_varint(out, j.base->keys[order[i]]);
                --left;
            }
    } else {
        item_sets::for_each(base_, base_, words,
                            [&](std::size_t item) { out = put_varint(out, j.base->keys[item]); });
    }
    return out;
}

// Error: size_mismatch, with the number of the item in the snapshot.
result<std::uint8_t*> shared_encoder::state::write_updates(std::uint8_t* out, job const& j,
                                                           size_table const& sizes) noexcept {
    kernels::piece_copier copier{updates_,       known_,         unshared_,          j.with_nothing->pieces,
                                 j.with->pieces, memory_.data(), j.now.order(j.view)};
    copier.out = out;
    copier.end = copier.order != nullptr ? j.view.items : set_words(j.now.items);
    copier.left = copier.order != nullptr ? 0 : updates_[0];
    for (std::uint32_t item; (item = kernels::snapshot.copy_pieces(copier)) != kernels::piece_copier::done;) {
        // An item without a piece.
        bool const alone = has(unshared_, item);
        comparison const& c = alone || has(known_, item) ? *j.with : *j.with_nothing;
        std::size_t const before = alone ? bases_[item] : c.base != nullptr ? c.partners[item] : 0;
        std::uint8_t* const end = write_update(copier.out, item, c.base, before, sizes);
        if (end == nullptr) {
            if (copier.order != nullptr) return failure{errc::size_mismatch, copier.at - 1};
            std::size_t number = 0;
            for (std::size_t i = 0; i < item; ++i) number += has(j.items(), i);
            return failure{errc::size_mismatch, number};
        }
        if (!alone) keep_piece(c, item, {copier.out, end});
        copier.out = end;
    }
    return copier.out;
}

// ---- the public class ----------------------------------------------------------------------------------------------

std::uint64_t shared_encoder::bytes_for(shared_limits const& limits, std::size_t items, std::size_t ints,
                                        std::size_t ticks) noexcept {
    return state::layout{limits}.end +
           (ticks + std::uint64_t{1}) * (state::comparison_bytes(items) + 16 * items + 2 * 4 * ints);
}
std::size_t shared_encoder::least_bytes(shared_limits const& limits) noexcept {
    return state::layout{limits}.end + 2 * state::comparison_bytes(limits.items) + state::piece_slack;
}

shared_encoder::shared_encoder(shared_world const& world, std::span<std::byte> memory) noexcept {
    assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment == 0);
    assert(memory.size() >= least_bytes(world.limits()));
    static_assert(alignof(state) <= alignment);
    state_ = ::new (memory.data()) state{world, memory};
}

result<packed_delta> shared_encoder::encode(std::size_t client, std::int32_t base_tick,
                                            size_table const& sizes) noexcept {
    return state_->encode(client, base_tick, sizes);
}

shared_world const& shared_encoder::world() const noexcept { return state_->public_world_; }

} // namespace teewire
