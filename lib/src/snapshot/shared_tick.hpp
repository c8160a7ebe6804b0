// Ticks of a shared world that are finished, and how they lie in its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::detail {

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

// No content.
inline constexpr std::uint16_t none = 0xffff;

// The view of a client in a tick.
struct shared_view {
    std::uint32_t items = 0;
    std::uint32_t ints = 0; // of the whole snapshot
    std::uint32_t checksum = 0;
    std::uint32_t list =
        0; // where its view_plan lies, in eights of bytes, plus one; 0: the client was not shown this tick
    bool alone = false; // it has contents of its own: an alone_plan after that
};

// The keys of a view in the order of the snapshot, and the numbers of their contents.
struct view_plan : memory_plan {
    explicit constexpr view_plan(std::size_t items) noexcept
        : keys{take<std::int32_t>(items)}, contents{take<std::uint16_t>(items)} {}
    part_of<std::int32_t> keys;
    part_of<std::uint16_t> contents;
};

// The contents of a view that has its own.
struct alone_plan : memory_plan {
    constexpr alone_plan(std::size_t items, std::size_t ints) noexcept
        : begins{take<std::uint32_t>(items + 1)}, data{take<std::int32_t>(ints)} {}
    part_of<std::uint32_t> begins;
    part_of<std::int32_t> data;
};

// A tick without its views.
struct tick_plan : memory_plan {
    constexpr tick_plan(std::size_t clients, std::size_t contents, std::size_t ints) noexcept
        : views{take<shared_view>(clients)}, ids{take<std::uint32_t>(contents)},
          begins{take<std::uint32_t>(contents + 1)}, data{take<std::int32_t>(ints)} {}
    part_of<shared_view> views;
    part_of<std::uint32_t> ids, begins;
    part_of<std::int32_t> data;
};

// Contents one after the other.
struct content_table {
    std::uint32_t const* begins = nullptr; // of the data; one more for the end
    std::int32_t const* data = nullptr;

    [[nodiscard]] std::span<std::int32_t const> operator[](std::size_t number) const noexcept {
        return {data + begins[number], begins[number + 1] - begins[number]};
    }
};

// A tick that is finished.
struct shared_tick {
    std::int32_t tick = 0;
    std::uint32_t contents = 0;
    shared_view* views = nullptr;       // by client
    std::uint32_t const* ids = nullptr; // by content: two of different ticks with the same id are the same
    content_table table;
    std::size_t begin = 0; // of its first block in the memory of ticks
};

} // namespace teewire::detail
