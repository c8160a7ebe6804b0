// The state at the front of a shared world's memory.
#pragma once

#include "hash.hpp"
#include "shared_tick.hpp"

#include "teewire/shared_world.hpp"

#include <array>
#include <bit>
#include <optional>
#include <span>

namespace teewire {

class shared_world::state {
public:
    state(shared_limits const& limits, std::span<std::byte> memory) noexcept;

    result<std::uint16_t> extended_type(uuid const& extended) noexcept;
    result<std::size_t> start(std::int32_t tick) noexcept;
    void start_view(std::size_t client) noexcept;
    result<std::size_t> share(std::span<std::int32_t const> data) noexcept;
    errc put(std::int32_t key, std::span<std::int32_t const> data) noexcept;
    errc put_shared(std::int32_t key, std::size_t number) noexcept;
    result<std::span<std::int32_t>> put_zeros(std::int32_t key, std::size_t ints) noexcept;
    result<std::size_t> finish_view() noexcept;
    result<std::size_t> finish() noexcept;
    [[nodiscard]] std::optional<std::int32_t> newest() const noexcept;
    [[nodiscard]] result<std::uint32_t> checksum(std::size_t client, std::int32_t tick) const noexcept;
    [[nodiscard]] result<snapshot_view> snapshot(std::size_t client, std::int32_t tick,
                                                 std::span<std::int32_t> out) const noexcept;
    void drop_before(std::int32_t tick) noexcept;
    void forget_client(std::size_t client) noexcept;
    void clear() noexcept;

private:
    friend class shared_encoder;
    friend class shared_world;

    // Where the parts lie that are always there.
    struct layout : detail::memory_plan {
        explicit constexpr layout(shared_limits const& l) noexcept
            : memory_plan{detail::eights(sizeof(state))}, ticks{take<detail::shared_tick>(l.ticks)},
              views{take<detail::shared_view>(l.clients)}, hashes{take<std::uint32_t>(l.contents)},
              sums{take<std::uint32_t>(l.contents)}, ids{take<std::uint32_t>(l.contents)},
              table{take<std::uint16_t>(std::bit_ceil(2 * std::size_t{l.contents}))},
              successors{take<std::uint16_t>(l.contents)}, begins{take<std::uint32_t>(std::size_t{l.contents} + 1)},
              data{take<std::int32_t>(l.ints)}, keys{take<std::int32_t>(l.client.items)},
              numbers{take<std::uint16_t>(l.client.items)}, fresh{take<std::uint16_t>(l.client.items)},
              own_begins{take<std::uint32_t>(std::size_t{l.client.items} + 1)},
              own_data{take<std::int32_t>(l.client.ints())}, pending{take<std::int32_t>(l.client.ints() + 4)} {}
        detail::part_of<detail::shared_tick> ticks;
        detail::part_of<detail::shared_view> views;
        detail::part_of<std::uint32_t> hashes, sums, ids;
        detail::part_of<std::uint16_t> table, successors;
        detail::part_of<std::uint32_t> begins;
        detail::part_of<std::int32_t> data;
        detail::part_of<std::int32_t> keys;
        detail::part_of<std::uint16_t> numbers, fresh;
        detail::part_of<std::uint32_t> own_begins;
        detail::part_of<std::int32_t> own_data, pending;
    };

    // ---- past ticks ----
    [[nodiscard]] detail::shared_tick& at(std::size_t i) const noexcept {
        return ticks_[(first_ + i) % ticks_.size()];
    }
    [[nodiscard]] detail::shared_tick const* newest_tick() const noexcept {
        return count_ != 0 ? &at(count_ - 1) : nullptr;
    }
    [[nodiscard]] detail::shared_tick const* find(std::int32_t tick) const noexcept;
    [[nodiscard]] detail::shared_tick const* find(std::size_t client, std::int32_t tick) const noexcept;
    void drop_oldest() noexcept;
    [[nodiscard]] std::size_t oldest_block() const noexcept { return count_ != 0 ? at(0).begin : making_begin_; }
    std::optional<std::size_t> allocate(std::size_t bytes) noexcept;
    void move_blocks(std::size_t begin, std::size_t end, std::size_t by) noexcept;
    // A block of the memory of ticks.
    [[nodiscard]] std::span<std::byte> block(std::uint32_t eights_and_one, std::size_t bytes) const noexcept {
        return past_.subspan(std::size_t{8} * (eights_and_one - 1), bytes);
    }
    [[nodiscard]] std::span<std::int32_t const> keys_of(detail::shared_view const& v) const noexcept {
        detail::view_plan const plan{v.items};
        return plan.keys.in(block(v.list, plan.end));
    }
    // By item, if the contents are not the view's own.
    [[nodiscard]] std::uint16_t const* contents_of(detail::shared_view const& v) const noexcept {
        detail::view_plan const plan{v.items};
        return plan.contents.in(block(v.list, plan.end)).data();
    }
    // By item, if they are.
    [[nodiscard]] detail::content_table own_contents(detail::shared_view const& v) const noexcept {
        std::size_t const list = detail::view_plan{v.items}.end;
        detail::alone_plan const plan{v.items, v.ints - 2 - 2 * std::size_t{v.items}};
        auto const own = block(v.list, list + plan.end).subspan(list);
        return {plan.begins.in(own).data(), plan.data.in(own).data()};
    }
    [[nodiscard]] std::span<std::int32_t const>
    content(detail::shared_tick const& tick, detail::shared_view const& v, std::size_t item) const noexcept {
        return v.alone ? own_contents(v)[item] : tick.table[contents_of(v)[item]];
    }

    // ---- the view that is being made ----
    [[nodiscard]] errc room_for(std::int32_t key, std::size_t ints) const noexcept;
    [[nodiscard]] std::size_t place_before(std::int32_t key) noexcept;
    [[gnu::noinline]] void settle() noexcept;
    [[gnu::always_inline]] std::size_t append_key(std::int32_t key) noexcept;
    [[gnu::always_inline]] void end_item(std::uint16_t number, std::span<std::int32_t const> data) noexcept;
    [[gnu::always_inline]] void append(std::int32_t key, std::span<std::int32_t const> data) noexcept;
    void append_alone(std::span<std::int32_t const> data) noexcept;
    [[gnu::noinline]] void go_alone() noexcept;
    [[nodiscard]] std::span<std::int32_t const> content(std::size_t number) const noexcept {
        return {data_.data() + begins_[number], begins_[number + 1] - begins_[number]};
    }
    [[nodiscard, gnu::noinline]] std::uint16_t intern(std::span<std::int32_t const> data,
                                                      std::uint16_t was) noexcept;
    void grow_table() noexcept;
    void leave_out_repeated() noexcept;
    void leave_out(failure error) noexcept;

    shared_limits limits_;
    layout parts_{limits_};

    // Past ticks, and what is there of the one that is being made: blocks in a ring.
    std::span<detail::shared_tick> ticks_;
    std::span<std::byte> past_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t end_ = 0;          // of the newest block
    std::size_t high_ = 0;         // where the blocks before the start of the memory end, if the ring goes over it
    std::size_t making_begin_ = 0; // the first block of the tick that is being made
    std::size_t making_bytes_ = 0; // of all its blocks; 0: it has none
    std::size_t end_before_ = 0;   // without them
    std::uint32_t changes_ = 0;    // finished and cleared: what encoders have made is of no use any more

    // The tick that is being made, or was made last.
    bool making_ = false;
    bool current_ = false; // the newest tick is that one
    std::int32_t tick_ = 0;
    std::span<detail::shared_view> views_;
    std::span<std::uint32_t> hashes_; // by content
    std::span<std::uint32_t> sums_;   // of their data
    std::span<std::uint32_t> ids_;
    std::uint32_t next_id_ = 0;      // comes again after days, when no tick is held that had it
    std::span<std::uint16_t> table_; // by hash: a content, or none
    std::uint64_t multiplier_ = hash_multiplier(0, table_.data());
    std::size_t table_size_ = 0;          // of which so much is in use
    std::span<std::uint16_t> successors_; // by content of the tick before: what it was last followed by, or none
    std::span<std::uint32_t> begins_;
    std::span<std::int32_t> data_;
    std::size_t contents_ = 0;
    std::size_t ints_ = 0;
    std::uint64_t views_alone_ = 0;

    // The view that is being made.
    bool open_ = false;
    std::size_t client_ = 0;
    std::span<std::int32_t> keys_;
    std::span<std::uint16_t> numbers_; // of contents, by item
    std::span<std::uint16_t> fresh_;   // items whose keys were not found in the view before
    std::size_t items_ = 0;
    std::size_t fresh_count_ = 0;
    std::size_t view_ints_ = 0; // of their data
    std::uint32_t view_sum_ = 0;
    failure left_out_{};
    // The client's view in the tick before.
    std::span<std::int32_t const> keys_before_;
    std::uint16_t const* contents_before_ = nullptr; // unless it had its own
    std::size_t next_before_ = 0;                    // the item that is expected next
    // Its contents, if the world has no room for them.
    bool alone_ = false;
    std::span<std::uint32_t> own_begins_;
    std::span<std::int32_t> own_data_;
    // An item whose data may still be written.
    std::span<std::int32_t> pending_;
    std::int32_t pending_key_ = -1; // if there is one
    std::size_t pending_ints_ = 0;

    std::array<uuid, max_extended_types> extended_{};
    std::size_t extended_count_ = 0;
};

} // namespace teewire
