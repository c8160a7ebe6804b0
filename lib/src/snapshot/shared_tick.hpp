// Ticks of a shared world that are finished, and how they lie in its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire {

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

// Lays out parts one after the other.
struct memory_plan {
    std::size_t end = 0; // bytes

    template <class T>
    constexpr part_of<T> take(std::size_t count) noexcept {
        part_of<T> const taken{end, count};
        end += eights(count * sizeof(T));
        return taken;
    }
};

// The items that a client sees in a tick.
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

} // namespace teewire
