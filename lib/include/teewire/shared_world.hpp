/// @file
/// One world for many clients: each item is kept once a tick, whoever sees it, and a client's snapshot is a set of them.
///
/// What is put in here comes out of a shared_encoder byte for byte as snapshot_builder, create_delta and encode_varints
/// would make it for each client. See doc/server.md for when to use it.
#pragma once

#include "teewire/snapshot_builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace teewire {

/// What a shared_world may hold.
struct shared_limits {
    std::uint32_t clients = 64;  ///< at most 65534; they have numbers from 0 on
    std::uint32_t items = 4096;  ///< of a tick, different contents of one key included; at most 65534
    std::uint32_t ints = 65536;  ///< of their data
    std::uint32_t ticks = 75;    ///< held at most; 3 seconds at 25 a second
    snapshot_limits client = {}; ///< of the snapshot of one client
};

/// @cond memory
namespace detail {

// A set of items: a bit for each. One word more than they need can be read and written.
[[nodiscard]] constexpr std::size_t set_words(std::size_t items) noexcept { return items / 64 + 2; }
[[nodiscard]] constexpr std::size_t eights(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

// A part of a memory.
template <class T>
struct part_of {
    std::size_t at = 0; // bytes
    std::size_t count = 0;

    [[nodiscard]] std::span<T> in(std::span<std::byte> memory) const noexcept {
        return {reinterpret_cast<T*>(memory.data() + at), count};
    }
};

// Takes parts one behind the other.
struct memory_plan {
    std::size_t end = 0; // bytes

    template <class T>
    constexpr part_of<T> take(std::size_t count) noexcept {
        part_of<T> const taken{end, count};
        end += eights(count * sizeof(T));
        return taken;
    }
};

// What a client sees in a tick.
struct shared_view {
    std::uint32_t items = 0;
    std::uint32_t ints = 0; // of the whole snapshot
    std::uint32_t checksum = 0;
    std::uint32_t set = 0;   // bytes from the beginning of the tick; 0: the client was not shown this tick
    std::uint32_t order = 0; // numbers in the order of the snapshot; 0: that of the numbers
};

// Where the parts of a finished tick lie, but for the sets and orders of clients, which follow.
struct tick_plan : memory_plan {
    constexpr tick_plan(std::size_t clients, std::size_t items, std::size_t ints, bool has_alternatives) noexcept
        : alternatives{take<std::uint64_t>(has_alternatives ? set_words(items) : 0)}, views{take<shared_view>(
                                                                                          clients)},
          keys{take<std::int32_t>(items)}, begins{take<std::uint32_t>(items + 1)}, ids{take<std::uint32_t>(items)},
          next_of_key{take<std::uint16_t>(has_alternatives ? items : 0)}, data{take<std::int32_t>(ints)} {}

    part_of<std::uint64_t> alternatives;
    part_of<shared_view> views;
    part_of<std::int32_t> keys;
    part_of<std::uint32_t> begins, ids;
    part_of<std::uint16_t> next_of_key;
    part_of<std::int32_t> data;
};

// A tick that is finished. All items of one key but one, which is the primary one, are alternatives.
struct shared_tick {
    std::int32_t tick = 0;
    std::uint32_t items = 0;
    std::byte const* begin = nullptr;
    shared_view* views = nullptr; // by client
    std::int32_t const* keys = nullptr;
    std::uint32_t const* begins = nullptr; // of the data; one more for the end
    std::int32_t const* data = nullptr;
    std::uint32_t const* ids = nullptr; // two items with the same id have the same content
    bool has_alternatives = false;
    std::uint64_t const* alternatives = nullptr; // the set of them
    std::uint16_t const* next_of_key = nullptr;  // in a ring, if there are alternatives at all

    [[nodiscard]] std::span<std::int32_t const> content(std::size_t item) const noexcept {
        return {data + begins[item], begins[item + 1] - begins[item]};
    }
    [[nodiscard]] std::uint64_t const* set(shared_view const& view) const noexcept {
        return reinterpret_cast<std::uint64_t const*>(begin + view.set);
    }
    [[nodiscard]] std::uint16_t const* order(shared_view const& view) const noexcept {
        return view.order != 0 ? reinterpret_cast<std::uint16_t const*>(begin + view.order) : nullptr;
    }
    [[nodiscard]] bool is_alternative(std::size_t item) const noexcept {
        return has_alternatives && (alternatives[item / 64] >> item % 64 & 1) != 0;
    }
};

struct shared_entry {
    shared_tick tick;
    std::size_t begin = 0; // in the memory of past ticks
};

} // namespace detail
/// @endcond

/// The items of a tick, what each client sees of them, and the ticks before, which clients may have acknowledged.
///
/// A tick is made through one of two doors. Either items are added once, each with the number that it gets, and then
/// show() says for each client which of these it sees: then all clients have them in the order in which they were added.
/// Or, with start_view() and finish_view(), each client's items are added as to a snapshot_builder, in any order;
/// equal ones are recognised and kept once.
///
/// Between finish() and the next start() nothing changes, and any number of threads may read and encode.
class shared_world {
public:
    static constexpr std::size_t max_extended_types = 64; ///< that one world can describe
    static constexpr std::size_t alignment = 8;           ///< of the memory

    /// Bytes for the tick that is being made: 0.8 MiB with the default limits.
    [[nodiscard]] static constexpr std::size_t fixed_bytes(shared_limits const& limits) noexcept {
        return layout{limits}.end;
    }
    /// Bytes that a tick takes while it is held, when it has so many items with so many ints in all, and each of the
    /// clients sees so many. A server of 64 clients with 300 items, and 2500 ints, holds 75 of them in 4.1 MiB.
    [[nodiscard]] static constexpr std::uint64_t tick_bytes(shared_limits const& limits, std::size_t items,
                                                            std::size_t ints, std::size_t seen) noexcept {
        return detail::tick_plan{limits.clients, items, ints, true}.end +
               std::uint64_t{limits.clients} * (8 * detail::set_words(items) + detail::eights(2 * seen));
    }
    /// Bytes with which no tick is refused, and as many are held as `limits` say, whatever the clients see. For less, add
    /// fixed_bytes() and as many tick_bytes() as shall be held.
    [[nodiscard]] static constexpr std::uint64_t most_bytes(shared_limits const& limits) noexcept {
        return fixed_bytes(limits) +
               (limits.ticks + 1) * tick_bytes(limits, limits.items, limits.ints, limits.client.items);
    }

    /// Empty. Keeps `memory`, which is aligned to `alignment` and has at least fixed_bytes(); what is more is for past
    /// ticks. Touches no more than it needs. O(items + clients).
    shared_world(shared_limits const& limits, std::span<std::byte> memory) noexcept;
    /// There is one for its memory.
    shared_world(shared_world const&) = delete;
    /// There is one for its memory.
    shared_world& operator=(shared_world const&) = delete;

    /// The alias of an extended type, from now on described at the front of every snapshot, as by a snapshot_builder that
    /// has used the type; before the next item when a view is being made. To be asked for before start() if items are
    /// to be shown. Error: too_many_types, and when its item does not fit those of add(). O(extended types).
    result<std::uint16_t> extended_type(uuid const& extended) noexcept;

    /// Begins a tick, with the describing items of all extended types. One that was begun and not finished is forgotten.
    /// Error: bad_tick when it is not larger than the newest one. O(items).
    result<std::size_t> start(std::int32_t tick) noexcept;

    // ---- items that are added once -------------------------------------------------------------------------------------

    /// Adds a copy, and gives its number, which is that of an equal one if there is one. Several contents of one key, for
    /// different clients, are several items. Errors, with the number of items so far: bad_type (a negative key),
    /// too_many_items, too_large. O(ints).
    result<std::size_t> add(item const& copied) noexcept;
    /// Adds `count` items of the tick before, from number `first` on, without looking whether they have changed. Gives the
    /// number of the first. Errors: unknown_tick when there is none before, or it has no such items; those of add().
    result<std::size_t> keep(std::size_t first, std::size_t count = 1) noexcept;
    /// A client sees the items whose bits are set: bit n % 64 of word n / 64; describing items need not be. Errors, and then
    /// the client sees nothing: duplicate_key, too_many_items, too_large. O(items / 64 + items seen).
    result<std::size_t> show(std::size_t client, std::span<std::uint64_t const> set) noexcept;

    // ---- items that are added for each client --------------------------------------------------------------------------

    /// Begins what a client sees, with the describing items. Asserts that there is such a client.
    void start_view(std::size_t client) noexcept;
    /// Adds an item to it whose data is all zero, to be filled in before finish_view(). Errors, with the number of items of
    /// the view so far: bad_type, too_many_items, too_large. O(ints).
    result<std::span<std::int32_t>> add_to_view(std::uint16_t type, std::uint16_t id, std::size_t ints) noexcept {
        return make_key(type, id) < 0 ? failure{errc::bad_type, staged_} : stage(make_key(type, id), ints, true);
    }
    /// Adds a copy.
    result<std::span<std::int32_t>> add_to_view(item const& copied) noexcept;
    /// Items of the view that is being made, with those that finish_view() will leave out.
    [[nodiscard]] std::size_t view_size() const noexcept { return staged_; }
    /// Ends it, and gives the number of its items. Items that cannot be in it are left out; the error says why of the first,
    /// with its number: duplicate_key, or too_many_items and too_large when the world is full. O(items + ints).
    result<std::size_t> finish_view() noexcept;

    // ---- the ticks -----------------------------------------------------------------------------------------------------

    /// Ends the tick, and drops old ones when there is no room. Error: too_large when it could not be held even alone; then
    /// it is forgotten. O(items + ints + clients * items / 64).
    result<std::size_t> finish() noexcept;

    /// Items of the tick that is being made, or else of the newest one.
    [[nodiscard]] std::size_t size() const noexcept { return items_; }
    /// Ticks held.
    [[nodiscard]] std::size_t ticks() const noexcept { return count_; }
    /// The newest one that is finished.
    [[nodiscard]] std::optional<std::int32_t> newest() const noexcept;
    /// Whether the client was shown that tick, and it is held. O(log ticks).
    [[nodiscard]] bool holds(std::size_t client, std::int32_t tick) const noexcept;
    /// The checksum of the client's snapshot. Error: unknown_tick if it is not held. O(log ticks).
    [[nodiscard]] result<std::uint32_t> checksum(std::size_t client, std::int32_t tick) const noexcept;
    /// Writes the client's snapshot to `out`, as for a demo. Errors: unknown_tick if it is not held; output_full, never with
    /// client.ints() of the limits. O(ints).
    [[nodiscard]] result<snapshot_view> snapshot(std::size_t client, std::int32_t tick,
                                                 std::span<std::int32_t> out) const noexcept;

    /// Drops everything older than `tick`, but never the newest one. O(dropped).
    void drop_before(std::int32_t tick) noexcept;
    /// Nobody has seen anything under that number: for when another client gets it. O(ticks).
    void forget_client(std::size_t client) noexcept;
    /// No ticks are held any more: for a change of the map, after which they begin again. Extended types keep their
    /// aliases, as those of a snapshot_builder do. O(1).
    void clear() noexcept;

    /// What it was made with.
    [[nodiscard]] shared_limits const& limits() const noexcept { return limits_; }

private:
    friend class shared_encoder;

    // Of the tick that is being made.
    struct view {
        std::uint32_t items;
        std::uint32_t ints; // of the items section
        std::uint32_t checksum;
        bool shown;
        bool sorted;                // in the order of the numbers; otherwise there is a list
        bool listed;                // there is a list anyway
        std::uint32_t items_before; // in the list of the tick before
    };

    // Where the parts lie that are always there.
    struct layout : detail::memory_plan {
        explicit constexpr layout(shared_limits const& l) noexcept
            : entries{take<detail::shared_entry>(l.ticks)}, tallies{take<std::uint64_t>(l.items)},
              further{take<std::uint64_t>(detail::set_words(l.items))}, views{take<view>(l.clients)},
              keys{take<std::int32_t>(l.items)}, begins{take<std::uint32_t>(std::size_t{l.items} + 1)},
              ids{take<std::uint32_t>(l.items)}, next_of_key{take<std::uint16_t>(l.items)},
              successors{take<std::uint16_t>(l.items)}, data{take<std::int32_t>(l.ints)},
              sets{take<std::uint64_t>(l.clients * detail::set_words(l.items))},
              staged_keys{take<std::int32_t>(l.client.items)}, staged_begins{take<std::uint32_t>(
                                                                   std::size_t{l.client.items} + 1)},
              staged_items{take<std::uint16_t>(l.client.items)}, staged_different{take<std::uint64_t>(
                                                                     l.client.items / 64 + 1)},
              staged_data{take<std::int32_t>(l.client.ints() + 32)} { // what compares reads behind an item
            for (std::size_t i = 0; i < 2; ++i) {
                index_keys[i] = take<std::int32_t>(l.items);
                index_places[i] = take<std::uint16_t>(std::bit_ceil(2 * std::max<std::size_t>(2, l.items)));
                index_items[i] = take<std::uint16_t>(l.items);
                lists[i] = take<std::uint16_t>(std::size_t{l.clients} * l.client.items);
            }
        }
        detail::part_of<detail::shared_entry> entries;
        detail::part_of<std::uint64_t> tallies, further;
        detail::part_of<view> views;
        detail::part_of<std::int32_t> keys;
        detail::part_of<std::uint32_t> begins, ids;
        detail::part_of<std::uint16_t> next_of_key, successors;
        detail::part_of<std::int32_t> data;
        detail::part_of<std::uint64_t> sets;
        detail::part_of<std::int32_t> staged_keys;
        detail::part_of<std::uint32_t> staged_begins;
        detail::part_of<std::uint16_t> staged_items;
        detail::part_of<std::uint64_t> staged_different;
        detail::part_of<std::int32_t> staged_data;
        // Of the tick that is being made, and of the one before, by turns.
        std::array<detail::part_of<std::int32_t>, 2> index_keys{};
        std::array<detail::part_of<std::uint16_t>, 2> index_places{}, index_items{}, lists{};
    };

    // Of the keys of a tick: the first item of each.
    struct index {
        key_index keys;
        std::span<std::uint16_t> items;
    };

    [[nodiscard]] detail::shared_entry& at(std::size_t i) const noexcept {
        return entries_[(first_ + i) % entries_.size()];
    }
    [[nodiscard]] detail::shared_tick const* newest_tick() const noexcept {
        return count_ != 0 ? &at(count_ - 1).tick : nullptr;
    }
    [[nodiscard]] detail::shared_tick const* find(std::int32_t tick) const noexcept;
    [[nodiscard]] detail::shared_tick const* find(std::size_t client, std::int32_t tick) const noexcept;
    [[nodiscard]] std::uint16_t first_item(std::int32_t key) const noexcept;
    [[nodiscard]] std::span<std::int32_t const> content(std::size_t number) const noexcept {
        return data_.subspan(begins_[number], begins_[number + 1] - begins_[number]);
    }
    [[nodiscard]] std::uint32_t id_before(std::int32_t key, std::span<std::int32_t const> data) noexcept;
    std::size_t append(std::int32_t key, std::span<std::int32_t const> data, std::uint32_t id) noexcept;
    result<std::size_t> intern(std::int32_t key, std::span<std::int32_t const> data, std::uint16_t like) noexcept;
    result<std::span<std::int32_t>> stage(std::int32_t key, std::size_t ints, bool zero) noexcept;
    [[nodiscard]] failure no_room(std::size_t ints) const noexcept;
    void find_keys() noexcept;
    void expect(std::size_t before, std::size_t item) noexcept;
    result<std::size_t> add_staged(std::size_t staged) noexcept;
    // What a client sees in the order in which it was added, in the tick of that turn.
    [[nodiscard]] std::span<std::uint16_t> list_of(std::size_t client, std::size_t turn) const noexcept {
        return lists_[turn].subspan(client * limits_.client.items, limits_.client.items);
    }
    [[nodiscard]] std::span<std::uint64_t> set_of(std::size_t client) const noexcept {
        std::size_t const words = detail::set_words(limits_.items);
        return sets_.subspan(client * words, words);
    }
    void choose_primary(std::uint64_t* alternatives) noexcept;
    void describe_types() noexcept;
    void leave_out(failure error) noexcept;
    void drop_oldest() noexcept;
    [[nodiscard]] index make_index(std::size_t turn) const noexcept;

    shared_limits limits_;
    std::span<std::byte> memory_;
    layout parts_{limits_};

    // Past ticks.
    std::span<detail::shared_entry> entries_;
    std::span<std::byte> past_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t end_ = 0;
    std::uint32_t changes_ = 0; // finished and cleared: what encoders have made is of no use any more

    // The tick that is being made, or was made last.
    // Of each item: the sum of its data in the upper half, the number of its ints and its key in the lower.
    std::span<std::uint64_t> tallies_;
    std::span<std::uint64_t> further_; // the set of those that are not the first of their key
    std::span<view> views_;
    std::span<std::int32_t> keys_;
    std::span<std::uint32_t> begins_;
    std::span<std::uint32_t> ids_;
    std::span<std::uint16_t> next_of_key_;
    std::span<std::uint16_t> successors_; // by item of the tick before: the item that has its key now, or none
    std::span<std::int32_t> data_;
    std::span<std::uint64_t> sets_;
    std::array<std::span<std::uint16_t>, 2> lists_;
    std::array<index, 2> indexes_;
    std::size_t turn_ = 0;      // of lists_ and indexes_; the others are of the tick before
    bool indexed_ = false;      // indexes_[turn_] is of the newest tick, unless one is being made
    bool index_before_ = false; // while one is being made, the other one is of the newest tick
    bool making_ = false;
    bool has_further_ = false;
    std::int32_t tick_ = 0;
    std::size_t items_ = 0;
    std::size_t ints_ = 0;
    std::size_t described_ = 0;       // describing items, which come first
    std::size_t expected_before_ = 0; // the item of the tick before that comes next, if nothing changes
    std::uint32_t next_id_ = 0;

    // The view that is being made.
    std::size_t client_ = 0;
    bool viewing_ = false;
    std::span<std::int32_t> staged_keys_;
    std::span<std::uint32_t> staged_begins_;    // in the data; one more for the end
    std::span<std::uint16_t> staged_items_;     // of the world, with these keys and then with these contents
    std::span<std::uint64_t> staged_different_; // from the items of the world
    std::span<std::int32_t> staged_data_;
    std::size_t staged_ = 0;
    failure left_out_{};

    std::array<uuid, max_extended_types> extended_{};
    std::size_t extended_count_ = 0;
};

// ---- inline, as servers call it for every item ---------------------------------------------------------------------

inline result<std::span<std::int32_t>> shared_world::stage(std::int32_t key, std::size_t ints, bool zero) noexcept {
    assert(viewing_);
    std::size_t const number = staged_;
    std::size_t const at = staged_begins_[number];
    if (number == limits_.client.items) [[unlikely]]
        return failure{errc::too_many_items, number};
    // With what precedes the items, and their offsets and keys.
    if (ints > limits_.client.ints() || 2 + 2 * (number + 1) + at + ints > limits_.client.ints()) [[unlikely]]
        return failure{errc::too_large, number};
    std::int32_t* const data = staged_data_.data() + at;
    if (zero)
        for (std::size_t i = 0; i < ints; i += 4) std::memset(data + i, 0, 16);
    staged_keys_[number] = key;
    staged_begins_[number + 1] = static_cast<std::uint32_t>(at + ints);
    staged_ = number + 1;
    return std::span{data, ints};
}

inline result<std::span<std::int32_t>> shared_world::add_to_view(item const& copied) noexcept {
    if (copied.key < 0) [[unlikely]]
        return failure{errc::bad_type, staged_};
    auto const data = stage(copied.key, copied.data.size(), false);
    if (data) detail::copy_ints(data->data(), copied.data.data(), copied.data.size());
    return data;
}

} // namespace teewire
