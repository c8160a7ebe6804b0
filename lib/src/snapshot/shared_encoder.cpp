// An update has a head and a body. The head, type and id, is the client's own; the body depends only on two contents, the
// old and the new one. A body is packed when the first client needs it; the others copy it.
#include "teewire/shared_encoder.hpp"

#include "key_pairs.hpp"
#include "same_content.hpp"
#include "shared_world_state.hpp"

#include "teewire/varint.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace teewire {

using detail::none;
using detail::shared_tick;
using detail::shared_view;

// The state at the front of an encoder's memory.
class shared_encoder::state {
public:
    state(shared_world const& world, std::span<std::byte> memory) noexcept;
    result<packed_delta> encode(std::size_t client, std::int32_t base_tick, size_table const& sizes) noexcept;

private:
    friend class shared_encoder;

    // Where the body of an update is: in eights of bytes from the beginning of the memory.
    static constexpr std::uint32_t unknown = 0; // not made yet
    static constexpr std::uint32_t same = 1;    // both contents are the same: no update
    // Before a body.
    struct body_head {
        std::uint32_t bytes;
        std::uint32_t ints;
    };
    // By content of the newest tick: the body from a content of the base.
    struct difference {
        std::uint16_t base;
        std::uint32_t body;
    };
    // With the tick of a base.
    struct comparison {
        std::int32_t base_tick;
        difference* differences;
    };

    static constexpr std::size_t max_comparisons = 256;
    static constexpr std::size_t overread = 64;               // copying reads past the last body
    static constexpr std::size_t most_counts = 3 * 5;         // bytes before what was removed
    static constexpr std::size_t most_head_bytes = 3 + 3 + 5; // type, id and size of an update

    [[nodiscard]] static constexpr std::size_t out_bytes(snapshot_limits const& l) noexcept {
        return max_head + most_counts + std::size_t{l.items} * (5 + most_head_bytes) + varint_bound(l.ints()) +
               overread;
    }

    // Where the parts lie that are always there.
    struct layout : detail::memory_plan {
        explicit constexpr layout(shared_limits const& l) noexcept
            : memory_plan{detail::eights(sizeof(state))},
              comparisons{take<comparison>(max_comparisons)}, bodies{take<std::uint32_t>(l.client.items)},
              chosen{take<std::uint16_t>(l.client.items)}, partners{take<std::uint16_t>(l.client.items)},
              rest{take<std::uint16_t>(l.client.items)}, rest_keys{take<std::int32_t>(l.client.items)},
              paired{take<std::uint64_t>(std::size_t{l.client.items} / 64 + 1)}, out{take<std::uint8_t>(
                                                                                     out_bytes(l.client))} {}
        detail::part_of<comparison> comparisons;
        detail::part_of<std::uint32_t> bodies;
        detail::part_of<std::uint16_t> chosen, partners, rest;
        detail::part_of<std::int32_t> rest_keys;
        detail::part_of<std::uint64_t> paired;
        detail::part_of<std::uint8_t> out;
    };

    // The snapshot that is encoded, and its base.
    struct job {
        shared_tick const* now;
        shared_view view;
        shared_tick const* base; // or null
        shared_view base_view;
        difference* differences; // of that base; null where contents are not shared
        std::uint8_t* out;
        std::size_t updates = 0;
    };

    void forget() noexcept;
    [[nodiscard]] std::byte* take(std::size_t bytes) noexcept;
    [[nodiscard]] bool prepare(std::int32_t base_tick, difference*& differences) noexcept;
    [[nodiscard]] std::size_t choose(job const& j) noexcept;
    [[nodiscard]] std::size_t write_chosen(job& j, std::size_t n, size_table const& sizes) noexcept;
    [[nodiscard]] bool write_update(job& j, std::size_t item, size_table const& sizes) noexcept;
    [[nodiscard]] std::uint32_t keep(std::size_t ints, std::span<std::uint8_t const> body) noexcept;
    [[nodiscard, gnu::always_inline]] static inline bool
    put_head(std::uint8_t*& out, std::int32_t key, std::size_t ints, size_table const& sizes) noexcept;

    shared_world const& public_world_;
    shared_world::state const& world_;
    std::span<std::byte> memory_;
    layout parts_;
    std::span<comparison> comparisons_;
    std::uint32_t* wholes_ = nullptr; // bodies from nothing, by content of the newest tick
    std::size_t count_ = 0;           // of comparisons
    std::size_t used_ = 0;            // bytes
    std::uint32_t seen_ = 0;          // what the world had changed
    // For the client that is encoded:
    std::uint32_t* bodies_; // of the items that are updates, or may be
    std::uint16_t* chosen_; // their numbers
    key_pairs::room pairs_; // with the base
    std::uint8_t* out_;
};

shared_encoder::state::state(shared_world const& world, std::span<std::byte> memory) noexcept
    : public_world_{world}, world_{*world.state_}, memory_{memory}, parts_{world.limits()},
      comparisons_{parts_.comparisons.in(memory)}, bodies_{parts_.bodies.in(memory).data()},
      chosen_{parts_.chosen.in(memory).data()}, pairs_{parts_.partners.in(memory).data(),
                                                       parts_.paired.in(memory).data(),
                                                       parts_.rest_keys.in(memory).data(),
                                                       parts_.rest.in(memory).data()},
      out_{parts_.out.in(memory).data()} {
    forget();
    seen_ = world_.changes_;
}

void shared_encoder::state::forget() noexcept {
    count_ = 0;
    wholes_ = nullptr;
    used_ = parts_.end;
}

std::byte* shared_encoder::state::take(std::size_t bytes) noexcept {
    if (bytes + overread > memory_.size() - used_) return nullptr;
    std::byte* const taken = memory_.data() + used_;
    used_ += detail::eights(bytes);
    return taken;
}

// Finds or makes what is known about bodies, and about those from that base. False if there is no room.
bool shared_encoder::state::prepare(std::int32_t base_tick, difference*& differences) noexcept {
    std::size_t const contents = world_.newest_tick()->contents;
    if (wholes_ == nullptr) {
        auto* const made = reinterpret_cast<std::uint32_t*>(take(contents * sizeof(std::uint32_t)));
        if (made == nullptr) return false;
        std::fill_n(made, contents, unknown);
        wholes_ = made;
    }
    if (base_tick < 0) return true;
    for (comparison const& c : comparisons_.first(count_))
        if (c.base_tick == base_tick) {
            differences = c.differences;
            return true;
        }
    if (count_ == comparisons_.size()) return false;
    differences = reinterpret_cast<difference*>(take(contents * sizeof(difference)));
    if (differences == nullptr) return false;
    std::fill_n(differences, contents, difference{none, unknown});
    comparisons_[count_++] = {base_tick, differences};
    return true;
}

result<packed_delta> shared_encoder::state::encode(std::size_t client, std::int32_t base_tick,
                                                   size_table const& sizes) noexcept {
    assert(client < world_.limits_.clients && !world_.making_);
    shared_tick const* const now = world_.newest_tick();
    if (!world_.current_ || now->views[client].list == 0) return failure{errc::unknown_tick, 0};
    if (seen_ != world_.changes_) {
        forget();
        seen_ = world_.changes_;
    }
    shared_tick const* const base = base_tick < now->tick ? world_.find(client, base_tick) : nullptr;
    job j{now, now->views[client], base, base != nullptr ? base->views[client] : shared_view{}, nullptr, nullptr};
    std::int32_t const shared_base = base != nullptr && !j.base_view.alone ? base_tick : -1;
    if (!j.view.alone && !prepare(shared_base, j.differences)) {
        forget();
        [[maybe_unused]] bool const prepared = prepare(shared_base, j.differences);
        assert(prepared); // least_bytes()
    }

    // The counts come first, but are known last.
    std::uint8_t* const begin = out_ + max_head + most_counts;
    j.out = begin;
    std::size_t removed = 0;
    if (base != nullptr) {
        auto const keys = world_.keys_of(j.base_view);
        removed = keys.size() - key_pairs::find(world_.keys_of(j.view), keys, pairs_);
        if (removed != 0)
            key_pairs::for_each_unpaired(pairs_, keys.size(),
                                         [&](std::size_t i) { j.out = put_varint(j.out, keys[i]); });
    }
    if (std::size_t const wrong = write_chosen(j, choose(j), sizes); wrong != none)
        return failure{errc::size_mismatch, wrong};

    packed_delta delta{{begin, 0}, now->tick, base != nullptr ? base_tick : -1, j.view.checksum};
    if (removed == 0 && j.updates == 0) return delta;
    std::uint8_t counts[most_counts];
    std::uint8_t* end = put_varint(counts, static_cast<std::int32_t>(removed));
    end = put_varint(end, static_cast<std::int32_t>(j.updates));
    end = put_varint(end, 0);
    auto const size = static_cast<std::size_t>(end - counts);
    std::memcpy(begin - size, counts, size);
    delta.bytes = {begin - size, static_cast<std::size_t>(j.out - begin) + size};
    return delta;
}

// The items that are updates, and where their bodies are; or where that is unknown, those that may be.
std::size_t shared_encoder::state::choose(job const& j) noexcept {
    std::size_t const n = j.view.items;
    std::uint32_t* const bodies = bodies_;
    std::uint16_t* const chosen = chosen_;
    std::uint16_t const* const partners = pairs_.partners;
    if (j.view.alone || j.base_view.alone) {
        for (std::size_t i = 0; i < n; ++i) {
            chosen[i] = static_cast<std::uint16_t>(i);
            bodies[i] = unknown;
        }
        return n;
    }
    std::uint16_t const* const contents = world_.contents_of(j.view);
    std::uint32_t const* const wholes = wholes_;
    if (j.base == nullptr) {
        for (std::size_t i = 0; i < n; ++i) {
            chosen[i] = static_cast<std::uint16_t>(i);
            bodies[i] = wholes[contents[i]];
        }
        return n;
    }
    std::uint16_t const* const base_contents = world_.contents_of(j.base_view);
    difference* const differences = j.differences;
    std::uint32_t const* const ids = j.now->ids;
    std::uint32_t const* const base_ids = j.base->ids;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t const partner = partners[i];
        std::uint32_t body;
        if (partner == none) [[unlikely]] {
            body = wholes[contents[i]];
        } else {
            std::uint16_t const from = base_contents[partner];
            difference& d = differences[contents[i]];
            body = d.body;
            if (d.base != from) [[unlikely]] {
                body = ids[contents[i]] == base_ids[from] ? same : unknown;
                if (d.base == none && body == same) d = {from, same};
            }
        }
        chosen[count] = static_cast<std::uint16_t>(i);
        bodies[count] = body;
        count += body != same; // without a branch
    }
    return count;
}

// False if no receiver could read the item.
bool shared_encoder::state::put_head(std::uint8_t*& out, std::int32_t key, std::size_t ints,
                                     size_table const& sizes) noexcept {
    std::size_t const agreed = sizes[key_type(key)];
    if (agreed != 0 && agreed != ints) return false;
    out = put_varint(out, key >> 16);
    out = put_varint(out, key_id(key));
    if (agreed == 0) out = put_varint(out, static_cast<std::int32_t>(ints));
    return true;
}

// The first item that no receiver could read, or none of them.
std::size_t shared_encoder::state::write_chosen(job& j, std::size_t n, size_table const& sizes) noexcept {
    std::int32_t const* const keys = world_.keys_of(j.view).data();
    std::byte const* const memory = memory_.data();
    std::uint8_t* out = j.out;
    std::size_t updates = 0;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t const item = chosen_[k];
        bool good = true;
        if (bodies_[k] == unknown) [[unlikely]] {
            j.out = out;
            j.updates = updates;
            good = write_update(j, item, sizes);
            out = j.out;
            updates = j.updates;
        } else {
            std::byte const* const body = memory + std::size_t{8} * bodies_[k];
            body_head head;
            std::memcpy(&head, body, sizeof head);
            good = put_head(out, keys[item], head.ints, sizes);
            std::memcpy(out, body + sizeof head, 16);
            std::memcpy(out + 16, body + sizeof head + 16, 16);
            for (std::uint32_t at = 32; at < head.bytes; at += 16)
                std::memcpy(out + at, body + sizeof head + at, 16);
            out += head.bytes;
            ++updates;
        }
        if (!good) [[unlikely]]
            return item;
    }
    j.out = out;
    j.updates = updates;
    return none;
}

// Writes an update whose body was not made yet, unless the content is the same, and keeps it for other clients.
bool shared_encoder::state::write_update(job& j, std::size_t item, size_table const& sizes) noexcept {
    bool const shared = !j.view.alone;
    std::size_t const partner = j.base != nullptr ? pairs_.partners[item] : none;
    auto const data = world_.content(*j.now, j.view, item);
    std::uint16_t const content = shared ? world_.contents_of(j.view)[item] : none;
    std::span<std::int32_t const> from;
    difference* kept = nullptr;
    std::uint16_t base_content = none;
    if (partner != none) {
        from = world_.content(*j.base, j.base_view, partner);
        if (j.differences != nullptr) {
            base_content = world_.contents_of(j.base_view)[partner];
            kept = &j.differences[content];
            if (kept->base != none && kept->base != base_content) kept = nullptr; // others come from there
        }
        if (same_content(from, data)) {
            if (kept != nullptr) *kept = {base_content, same};
            return true;
        }
        if (from.size() != data.size()) return false;
    }
    if (!put_head(j.out, world_.keys_of(j.view)[item], data.size(), sizes)) return false;
    std::uint8_t* const body = j.out;
    std::int32_t ints[64];
    for (std::size_t i = 0; i < data.size(); i += std::size(ints)) {
        std::size_t const n = std::min(std::size(ints), data.size() - i);
        for (std::size_t k = 0; k < n; ++k)
            ints[k] = partner != none ? static_cast<std::int32_t>(static_cast<std::uint32_t>(data[i + k]) -
                                                                  static_cast<std::uint32_t>(from[i + k]))
                                      : data[i + k];
        j.out += *encode_varints(std::span{ints}.first(n), {j.out, varint_bound(n)});
    }
    ++j.updates;
    if (kept != nullptr) *kept = {base_content, keep(data.size(), {body, j.out})};
    else if (partner == none && shared) wholes_[content] = keep(data.size(), {body, j.out});
    return true;
}

// Where the body is kept, or unknown if there is no room.
std::uint32_t shared_encoder::state::keep(std::size_t ints, std::span<std::uint8_t const> body) noexcept {
    body_head const head{static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(ints)};
    std::size_t const place = used_;
    std::byte* const kept = take(sizeof head + body.size());
    if (kept == nullptr) return unknown;
    std::memcpy(kept, &head, sizeof head);
    std::memcpy(kept + sizeof head, body.data(), body.size());
    return static_cast<std::uint32_t>(place / 8);
}

// ---- the public class ----------------------------------------------------------------------------------------------

std::uint64_t shared_encoder::bytes_for(shared_limits const& limits, std::size_t contents, std::size_t ints,
                                        std::size_t ticks) noexcept {
    return least_bytes(limits) +
           (ticks + std::uint64_t{1}) * (contents * (sizeof(state::difference) + 16) + 2 * 4 * ints);
}
std::size_t shared_encoder::least_bytes(shared_limits const& limits) noexcept {
    return state::layout{limits}.end + limits.contents * (sizeof(std::uint32_t) + sizeof(state::difference)) + 16 +
           state::overread;
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
