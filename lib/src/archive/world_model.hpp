// The items of a block so far: their values and how these last changed. Only predictions depend on it.
#pragma once

#include "mixer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::archive {

inline constexpr std::size_t max_items = 1024;  // in a snapshot
inline constexpr std::size_t max_fields = 64;   // of an item that are followed
inline constexpr std::size_t max_classes = 128; // of items

// Item types, those above all agreed ones together in a few.
constexpr std::uint32_t class_of(std::int32_t key) noexcept {
    std::uint32_t const type = static_cast<std::uint32_t>(key) >> 16;
    return type < 64 ? type : 64 + type % 64;
}

struct track {
    std::int32_t key;
    std::uint32_t size; // ints
    std::int32_t tick;  // when it last changed
    std::uint16_t next; // with the same hash
    bool live;
    std::uint8_t touched;         // in the last deltas, a bit for each
    std::uint32_t stamp;          // the chunk that last named it
    std::uint64_t changed;        // fields in the last update, a bit for each
    std::uint64_t changed_before; // the same in the update before
    std::array<std::int32_t, max_fields> values;
    std::array<std::int32_t, max_fields> steps; // how much each last changed
};

class world_model {
public:
    static constexpr std::uint16_t none = 0xffff;
    static constexpr std::size_t tracks = 4 * max_items;

    void start() noexcept {
        heads_.fill(none);
        for (track& t : tracks_) {
            t.live = false;
            t.key = 0;
            t.next = none;
            t.size = used_never;
        }
        clock_ = 0;
        size = 0;
    }

    [[nodiscard]] std::uint16_t find(std::int32_t key) const noexcept {
        std::uint16_t at = heads_[place(key)];
        while (at != none && tracks_[at].key != key) at = tracks_[at].next;
        return at;
    }
    // A new one in the place of one that is not live. There are more tracks than can be live.
    [[nodiscard]] std::uint16_t add(std::int32_t key) noexcept {
        while (tracks_[clock_].live) clock_ = (clock_ + 1) % tracks_.size();
        auto const at = static_cast<std::uint16_t>(clock_);
        clock_ = (clock_ + 1) % tracks_.size();
        track& t = tracks_[at];
        if (t.size != used_never) {
            std::uint16_t* link = &heads_[place(t.key)];
            while (*link != at) link = &tracks_[*link].next;
            *link = t.next;
        }
        std::uint16_t& head = heads_[place(key)];
        t.key = key;
        t.next = head;
        t.size = 0;
        head = at;
        return at;
    }
    [[nodiscard]] track& operator[](std::uint16_t at) noexcept { return tracks_[at]; }

    // Those in the snapshot, in its order.
    std::array<std::uint16_t, max_items> order;
    std::size_t size;

private:
    static constexpr std::uint32_t used_never = UINT32_MAX;
    static constexpr std::size_t place(std::int32_t key) noexcept {
        return hash(static_cast<std::uint32_t>(key), 0) >> 21;
    }

    std::array<std::uint16_t, 2048> heads_;
    std::array<track, tracks> tracks_;
    std::size_t clock_;
};

} // namespace teewire::archive
