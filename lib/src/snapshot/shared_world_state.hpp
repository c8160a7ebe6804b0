// The state at the front of a shared world's memory.
#pragma once

#include "shared_tick.hpp"

#include "teewire/shared_world.hpp"

#include <algorithm>
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
    result<std::size_t> add(item const& copied) noexcept;
    result<std::size_t> keep(std::size_t first, std::size_t count) noexcept;
    result<std::size_t> show(std::size_t client, std::span<std::uint64_t const> set) noexcept;
    void start_view(std::size_t client) noexcept;
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

    // A view of the tick that is being made.
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
            : memory_plan{detail::eights(sizeof(state))}, entries{take<detail::shared_entry>(l.ticks)},
              tallies{take<std::uint64_t>(l.items)}, further{take<std::uint64_t>(detail::set_words(l.items))},
              views{take<view>(l.clients)}, keys{take<std::int32_t>(l.items)},
              begins{take<std::uint32_t>(std::size_t{l.items} + 1)}, ids{take<std::uint32_t>(l.items)},
              next_of_key{take<std::uint16_t>(l.items)}, successors{take<std::uint16_t>(l.items)},
              data{take<std::int32_t>(l.ints)}, sets{take<std::uint64_t>(l.clients * detail::set_words(l.items))},
              staged_keys{take<std::int32_t>(l.client.items)}, staged_begins{take<std::uint32_t>(
                                                                   std::size_t{l.client.items} + 1)},
              staged_items{take<std::uint16_t>(l.client.items)}, staged_different{take<std::uint64_t>(
                                                                     l.client.items / 64 + 1)},
              staged_data{take<std::int32_t>(l.client.ints() + 32)} { // comparing reads past an item
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
        // For the tick that is being made, and for the one before, in turn.
        std::array<detail::part_of<std::int32_t>, 2> index_keys{};
        std::array<detail::part_of<std::uint16_t>, 2> index_places{}, index_items{}, lists{};
    };

    // The index of a tick's keys: the first item of each.
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
    [[nodiscard]] failure no_room(std::size_t ints) const noexcept;
    void find_keys() noexcept;
    void expect(std::size_t before, std::size_t item) noexcept;
    result<std::size_t> add_staged(std::size_t staged) noexcept;
    // A client's items in the order in which they were added, in the tick of that turn.
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

    // The tick that is being made, or was made last. For each item: the sum of its data in the upper half, the number
    // of its ints and its key in the lower.
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
    detail::view_stage stage_;
    std::size_t client_ = 0;
    std::span<std::uint16_t> staged_items_;     // of the world, with these keys and then with these contents
    std::span<std::uint64_t> staged_different_; // from the items of the world
    failure left_out_{};

    std::array<uuid, max_extended_types> extended_{};
    std::size_t extended_count_ = 0;
};

} // namespace teewire
