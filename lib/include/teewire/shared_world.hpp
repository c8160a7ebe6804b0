/// @file
/// One world for many clients. Each item is stored once per tick, whoever sees it; a client's snapshot is a set of items.
///
/// A shared_encoder makes the same bytes from it as snapshot_builder, create_delta and encode_varints would for each client.
/// doc/server.md says when to use it.
#pragma once

#include "teewire/snapshot_builder.hpp"

#include <cassert>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace teewire {

/// Limits of a shared_world.
struct shared_limits {
    std::uint32_t clients = 64;  ///< at most 65534; clients are numbered from 0
    std::uint32_t items = 4096;  ///< per tick, at most 65534; a key with several contents counts several times
    std::uint32_t ints = 65536;  ///< of data per tick
    std::uint32_t ticks = 75;    ///< held; 75 are 3 seconds at 25 snapshots a second
    snapshot_limits client = {}; ///< of one client's snapshot
};

/// @cond memory
namespace detail {

// The items of the view that is being made.
struct view_stage {
    std::int32_t* keys;
    std::uint32_t* begins; // in the data; one more for the end
    std::int32_t* data;
    std::size_t max_items;
    std::size_t max_ints;
    std::size_t count = 0;
    bool open = false;

    result<std::span<std::int32_t>> add(std::int32_t key, std::size_t ints, bool zero) noexcept {
        assert(open);
        std::size_t const number = count;
        std::size_t const at = begins[number];
        if (number == max_items) [[unlikely]]
            return failure{errc::too_many_items, number};
        // With what precedes the items, and their offsets and keys.
        if (ints > max_ints || 2 + 2 * (number + 1) + at + ints > max_ints) [[unlikely]]
            return failure{errc::too_large, number};
        if (zero)
            for (std::size_t i = 0; i < ints; i += 4) std::memset(data + at + i, 0, 16);
        keys[number] = key;
        begins[number + 1] = static_cast<std::uint32_t>(at + ints);
        count = number + 1;
        return std::span{data + at, ints};
    }
    result<std::span<std::int32_t>> add(item const& copied) noexcept {
        if (copied.key < 0) [[unlikely]]
            return failure{errc::bad_type, count};
        auto const to = add(copied.key, copied.data.size(), false);
        if (to) copy_ints(to->data(), copied.data.data(), copied.data.size());
        return to;
    }
};

} // namespace detail
/// @endcond

/// The items of the current tick, what each client sees of them, and the past ticks that clients may acknowledge.
///
/// There are two ways to fill a tick between start() and finish():
/// - add() each item once, then call show() with the set of items that each client sees. All clients get the items in the
///   order in which they were added.
/// - For each client call start_view(), add_to_view() for each item, as with a snapshot_builder, and finish_view(). Equal
///   items are found and stored once.
///
/// Between finish() and the next start() nothing changes, so any number of threads may read and encode.
class shared_world {
public:
    static constexpr std::size_t max_extended_types = 64; ///< of one world
    static constexpr std::size_t alignment = 8;           ///< of the memory

    /// Bytes for everything except past ticks: 0.8 MiB with the default limits.
    [[nodiscard]] static std::size_t fixed_bytes(shared_limits const& limits) noexcept;
    /// Bytes of a past tick with so many items and ints of data, of which each client sees `seen` items. A server of 64
    /// clients with 300 items and 2500 ints needs 4.1 MiB for 75 ticks.
    [[nodiscard]] static std::uint64_t tick_bytes(shared_limits const& limits, std::size_t items, std::size_t ints,
                                                  std::size_t seen) noexcept;
    /// Bytes that suffice for limits.ticks ticks whatever the clients see. To use less, add fixed_bytes() and tick_bytes()
    /// for each tick to be held.
    [[nodiscard]] static std::uint64_t most_bytes(shared_limits const& limits) noexcept {
        return fixed_bytes(limits) +
               (limits.ticks + 1) * tick_bytes(limits, limits.items, limits.ints, limits.client.items);
    }

    /// Makes an empty world in `memory`, which must be aligned to `alignment`, have at least fixed_bytes() and outlive it.
    /// Past ticks take the rest. Pages are touched only when they are needed. O(items + clients).
    shared_world(shared_limits const& limits, std::span<std::byte> memory) noexcept;
    /// Not copyable, as its state is in the memory.
    shared_world(shared_world const&) = delete;
    /// Not copyable.
    shared_world& operator=(shared_world const&) = delete;

    /// Returns the 16-bit type that stands for an extended type. From now on the item that describes it is at the front of
    /// every snapshot, as in a snapshot_builder that has used the type; in a view that is being made it is the next item.
    /// Call it before start() if items are added by add(). Errors: too_many_types; those of add(), if the describing item
    /// does not fit. O(extended types).
    result<std::uint16_t> extended_type(uuid const& extended) noexcept;

    /// Begins a tick with the items that describe extended types, and returns their number. A tick that was begun and not
    /// finished is dropped. Error: bad_tick if the tick is not greater than the newest. O(items).
    result<std::size_t> start(std::int32_t tick) noexcept;

    // ---- items added once -------------------------------------------------------------------------------------------

    /// Adds a copy of an item and returns its number, or the number of an equal item if there is one. If clients see
    /// different contents of a key, add one item for each content. Errors, at the number of items so far: bad_type (a negative
    /// key), too_many_items, too_large. O(ints).
    result<std::size_t> add(item const& copied) noexcept;
    /// Adds `count` items of the previous tick from number `first` on, without comparing them, and returns the number of
    /// the first. Errors: unknown_tick if there is no previous tick, or it has no such items; those of add().
    result<std::size_t> keep(std::size_t first, std::size_t count = 1) noexcept;
    /// Sets what a client sees: item n if bit n % 64 of word n / 64 is set, and the describing items always. Returns the
    /// number of items. Errors, after which the client sees nothing: duplicate_key, too_many_items, too_large.
    /// O(items / 64 + items seen).
    result<std::size_t> show(std::size_t client, std::span<std::uint64_t const> set) noexcept;

    // ---- items added per client -------------------------------------------------------------------------------------

    /// Begins the view of a client with the describing items. Asserts that client < limits().clients.
    void start_view(std::size_t client) noexcept;
    /// Adds an item whose data is zero and may be written until finish_view(). Errors, at the number of items in the view:
    /// bad_type, too_many_items, too_large. O(ints).
    result<std::span<std::int32_t>> add_to_view(std::uint16_t type, std::uint16_t id, std::size_t ints) noexcept {
        return make_key(type, id) < 0 ? failure{errc::bad_type, stage_->count}
                                      : stage_->add(make_key(type, id), ints, true);
    }
    /// Adds a copy of an item.
    result<std::span<std::int32_t>> add_to_view(item const& copied) noexcept { return stage_->add(copied); }
    /// Items added to the view so far, including those that finish_view() will leave out.
    [[nodiscard]] std::size_t view_size() const noexcept { return stage_->count; }
    /// Ends the view and returns the number of its items. An item that cannot be in it is left out; the error gives the
    /// reason for the first one, at its number: duplicate_key, or too_many_items or too_large if the world is full.
    /// O(items + ints).
    result<std::size_t> finish_view() noexcept;

    // ---- past ticks -------------------------------------------------------------------------------------------------

    /// Ends the tick, returns the number of its items, and drops old ticks if it needs their room. Error: too_large if
    /// the memory is too small for this tick by itself, which is then dropped. O(items + ints + clients * items / 64).
    result<std::size_t> finish() noexcept;

    /// Items of the tick that is being made, otherwise of the newest tick.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Ticks held.
    [[nodiscard]] std::size_t ticks() const noexcept;
    /// The newest finished tick.
    [[nodiscard]] std::optional<std::int32_t> newest() const noexcept;
    /// Whether the tick is held and the client had a snapshot in it. O(log ticks).
    [[nodiscard]] bool holds(std::size_t client, std::int32_t tick) const noexcept;
    /// The checksum of the client's snapshot. Error: unknown_tick if !holds(). O(log ticks).
    [[nodiscard]] result<std::uint32_t> checksum(std::size_t client, std::int32_t tick) const noexcept;
    /// Writes the client's snapshot to `out`, for example for a demo. Errors: unknown_tick if !holds(); output_full, never
    /// if `out` has limits().client.ints(). O(ints).
    [[nodiscard]] result<snapshot_view> snapshot(std::size_t client, std::int32_t tick,
                                                 std::span<std::int32_t> out) const noexcept;

    /// Drops all ticks before `tick`, but not the newest one. O(dropped).
    void drop_before(std::int32_t tick) noexcept;
    /// Forgets what was shown under this number. Call it when another client gets the number. O(ticks).
    void forget_client(std::size_t client) noexcept;
    /// Drops all ticks, after which ticks may start again from 0: for a change of the map. Extended types keep their aliases.
    /// O(1).
    void clear() noexcept;

    /// As given to the constructor.
    [[nodiscard]] shared_limits const& limits() const noexcept;

private:
    friend class shared_encoder;
    class state;

    state* state_; // in the memory, as is the next
    detail::view_stage* stage_;
};

} // namespace teewire
