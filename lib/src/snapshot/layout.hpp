// A snapshot as plain pointers, and updates in registers.
#pragma once

#include "delta_walk.hpp"

#include "simd/level.hpp"

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

inline std::int32_t const* at_byte(std::int32_t const* items, std::int32_t offset) noexcept {
    return reinterpret_cast<std::int32_t const*>(reinterpret_cast<char const*>(items) + offset);
}

// The offsets and items of a snapshot as plain pointers. All positions are ints from the start of the items.
struct layout {
    explicit layout(snapshot_view const& s) noexcept
        : n{s.size()}, offsets{s.ints().data() + 2}, items{offsets + n}, size{s.data_size() / 4} {}
    [[nodiscard]] std::size_t begin(std::size_t i) const noexcept {
        return static_cast<std::uint32_t>(offsets[i]) / 4;
    }
    [[nodiscard]] std::size_t end(std::size_t i) const noexcept { return i + 1 < n ? begin(i + 1) : size; }
    [[nodiscard]] std::size_t ints(std::size_t i) const noexcept { return end(i) - begin(i) - 1; } // of the data
    [[nodiscard]] std::int32_t key(std::size_t i) const noexcept { return *at_byte(items, offsets[i]); }

    std::size_t n;
    std::int32_t const* offsets;
    std::int32_t const* items;
    std::size_t size;
};

// reader.next(update). Calls that need the address of either use copies, so that loops keep both in registers.
[[gnu::always_inline]] inline bool next_update(delta_reader& reader, delta_reader::update& update) noexcept {
    if (delta_walk::next_ordinary(reader, update)) [[likely]]
        return true;
    delta_reader same_reader = reader;
    delta_reader::update same_update;
    bool const more = same_reader.next(same_update);
    reader = same_reader;
    update = same_update;
    return more;
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
