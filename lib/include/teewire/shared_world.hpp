/// @file
/// One world for many clients. Each content of a tick is stored once, whoever sees it and under whichever key.
///
/// A shared_encoder makes the same bytes from it as snapshot_builder, create_delta and encode_varints would for each client.
/// doc/server.md says when to use it.
#pragma once

#include "teewire/snapshot.hpp"
#include "teewire/uuid.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace teewire {

/// Limits of a shared_world.
struct shared_limits {
    std::uint32_t clients = 64;     ///< at most 65534; clients are numbered from 0
    std::uint32_t contents = 16384; ///< different ones per tick that are shared, at most 65534
    std::uint32_t ints = 131072;    ///< of these contents
    std::uint32_t ticks = 75;       ///< held; 75 are 3 seconds at 25 snapshots a second
    snapshot_limits client = {};    ///< of one client's snapshot; at most 65534 items
};

/// The clients' views of the current tick, and of the past ticks that they may acknowledge.
///
/// Between start() and finish(), call start_view() for each client, add_to_view() for each item, as with a snapshot_builder,
/// and finish_view(). Equal contents are found and stored once, also where clients see them under different keys: where a
/// server translates ids, and one character has another id for each client. A server that knows what is in its world before
/// it knows who sees it hands each content over once, with share(), and adds items with add_shared().
///
/// Between finish() and the next start() nothing changes, so any number of threads may read and encode.
class shared_world {
public:
    static constexpr std::size_t max_extended_types = 64; ///< of one world
    static constexpr std::size_t alignment = 8;           ///< of the memory

    /// Bytes for everything except ticks: 1 MiB with the default limits.
    [[nodiscard]] static std::size_t fixed_bytes(shared_limits const& limits) noexcept;
    /// Bytes of a tick with so many different contents and ints of data, of which each client sees `seen` items. A server
    /// of 64 clients that see 370 items of 600 contents with 6000 ints needs 13 MB for 75 ticks.
    [[nodiscard]] static std::uint64_t tick_bytes(shared_limits const& limits, std::size_t contents,
                                                  std::size_t ints, std::size_t seen) noexcept;

    /// Makes an empty world in `memory`, which must be aligned to `alignment`, have at least fixed_bytes() and outlive it.
    /// Ticks take the rest, from the front, and no more of it than they need: if drop_before() follows the clients'
    /// acknowledgements, most pages are never touched. O(contents + clients).
    shared_world(shared_limits const& limits, std::span<std::byte> memory) noexcept;
    /// Not copyable, as its state is in the memory.
    shared_world(shared_world const&) = delete;
    /// Not copyable.
    shared_world& operator=(shared_world const&) = delete;

    /// Returns the 16-bit type that stands for an extended type. From now on the item that describes it is at the front of
    /// every view, as in a snapshot_builder that has used the type; in a view that is being made it is the next item.
    /// Errors: too_many_types; those of add_to_view(), if the describing item does not fit. O(extended types).
    result<std::uint16_t> extended_type(uuid const& extended) noexcept;

    /// Begins a tick, and returns the number of ticks held. One that was begun and not finished is dropped. Error: bad_tick
    /// if the tick is not greater than the newest. O(clients + contents).
    result<std::size_t> start(std::int32_t tick) noexcept;

    /// Stores a content for add_shared() until the next start(), and returns its number; an equal one keeps its own. Call it
    /// between start() and the first view, or between views, mostly in the same order in each tick. Error: too_large if
    /// there is no more room for contents. O(ints).
    result<std::size_t> share(std::span<std::int32_t const> data) noexcept;

    /// Begins the view of a client with the items that describe extended types. Asserts that client < limits().clients.
    void start_view(std::size_t client) noexcept;
    /// Adds a copy of an item, and returns the number of items in the view. Errors, at that number: bad_type (a negative key),
    /// too_many_items, too_large. O(ints).
    result<std::size_t> add_to_view(item const& copied) noexcept;
    /// Adds an item whose data is zero and may be written until the next call. Errors: the same.
    result<std::span<std::int32_t>> add_to_view(std::uint16_t type, std::uint16_t id, std::size_t ints) noexcept;
    /// Adds an item with a content that share() has stored, which must be one. Errors: the same. O(1).
    result<std::size_t> add_shared(std::uint16_t type, std::uint16_t id, std::size_t content) noexcept;
    /// Items added to the view so far, including those that finish_view() will leave out.
    [[nodiscard]] std::size_t view_size() const noexcept;
    /// Ends the view and returns the number of its items. If contents are more than the limits allow, the view is stored by
    /// itself: its delta is the same and takes longer to make, and views_alone() counts it. Errors: duplicate_key, at the
    /// number of the first item that had the key of an earlier one, where such items are left out; too_large if the memory
    /// has no room for the view even without past ticks, after which the client sees nothing. O(items + ints).
    result<std::size_t> finish_view() noexcept;

    /// Ends the tick, returns the number of its shared contents, and drops old ticks if it needs their room. Error:
    /// too_large if the memory is too small for this tick by itself, which is then dropped. O(clients + ints).
    result<std::size_t> finish() noexcept;

    /// Different contents of the tick that is being made, otherwise of the one made last.
    [[nodiscard]] std::size_t contents() const noexcept;
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
    /// Views that were stored by themselves since the world was made. If it grows, raise limits().contents or ints.
    [[nodiscard]] std::uint64_t views_alone() const noexcept;

    /// Drops all ticks before `tick`, but not the newest one. Call it with the oldest tick that a client has acknowledged.
    /// O(dropped).
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

    state* state_; // in the memory
};

} // namespace teewire
