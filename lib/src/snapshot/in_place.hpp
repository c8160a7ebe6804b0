// The fast form of plain::apply_updates, which live_snapshot::apply calls: in_place.cpp.
#pragma once

#include "in_place_state.hpp"
#include "layout.hpp"

#include <cstring>

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

// Adds differences to items, and keeps the sum of all.
class in_place_adder {
public:
    void add_ints(std::int32_t* data, std::int32_t const* difference, std::size_t n) noexcept {
        if constexpr (width >= 4)
            if (n >= width) return add_vectors<width>(data, difference, n, widest_);
        if constexpr (width > 8)
            if (n >= 8) return add_vectors<8>(data, difference, n, eight_);
        if constexpr (width > 4)
            if (n >= 4) return add_vectors<4>(data, difference, n, four_);
        for (std::size_t i = 0; i < n; ++i) {
            auto const change = static_cast<std::uint32_t>(difference[i]);
            data[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(data[i]) + change);
            rest_ += change;
        }
    }
    [[nodiscard]] std::uint32_t total() const noexcept {
        std::uint32_t sum = rest_;
        if constexpr (width >= 4)
            for (std::size_t k = 0; k < width; ++k) sum += widest_[k];
        if constexpr (width > 8)
            for (std::size_t k = 0; k < 8; ++k) sum += eight_[k];
        if constexpr (width > 4)
            for (std::size_t k = 0; k < 4; ++k) sum += four_[k];
        return sum;
    }

private:
    template <std::size_t lanes>
    struct vector_of {
        typedef std::uint32_t type __attribute__((vector_size(4 * lanes)));
    };

    // No store reaches further than the item, as the next item's load waits for whatever is stored over it: the last
    // vector repeats a part of the one before it.
    template <std::size_t lanes>
    static void add_vectors(std::int32_t* data, std::int32_t const* difference, std::size_t n,
                            typename vector_of<lanes>::type& sum) noexcept {
        using vector = typename vector_of<lanes>::type;
        auto const read = [](void const* from, vector& v) noexcept { std::memcpy(&v, from, sizeof v); };
        auto const write = [](void* to, vector const& v) noexcept { std::memcpy(to, &v, sizeof v); };
        static constexpr std::uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        vector change, value, last_change, last_value, number;
        std::size_t const last = n - lanes;
        read(difference + last, last_change);
        read(data + last, last_value);
        std::size_t i = 0;
        for (; i < last; i += lanes) {
            read(difference + i, change);
            read(data + i, value);
            sum += change;
            value += change;
            write(data + i, value);
        }
        last_value += last_change;
        write(data + last, last_value);
        read(numbers, number);
        vector const repeated = vector{} + static_cast<std::uint32_t>(i - last); // lanes
        sum += number >= repeated ? last_change : vector{};
    }

    typename vector_of<width>::type widest_{};
    typename vector_of<8>::type eight_{};
    typename vector_of<4>::type four_{};
    std::uint32_t rest_ = 0;
};

inline bool apply_updates(in_place_state& state, delta_reader& shared_reader,
                          delta_reader::update& other) noexcept {
    using slot = detail::live_slot;
    // Copies that nothing else points to, to be kept in registers.
    in_place_state const c = state;
    delta_reader reader = shared_reader;
    in_place_adder sum;
    slot* before = nullptr;
    std::size_t expected = 0;
    bool has_other = false;
    for (delta_reader::update update;;) {
        std::int32_t const key = delta_walk::next_key(reader);
        slot* s = c.items + expected;
        if (key < 0 || expected >= c.guessable || s->key != key ||
            !delta_walk::next_of_size(reader, key, s->size, update)) {
            if (!next_update(reader, update)) break;
            s = c.find(update.key);
            if (before != nullptr && s != nullptr) before->follower = static_cast<std::uint16_t>(s - c.items);
        }
        std::size_t const n = update.data.size();
        if (s == nullptr || s->now != slot::live || s->size != n || s->delta == c.delta_number) {
            has_other = true;
            other = update;
            break;
        }
        s->delta = c.delta_number;
        std::int32_t const* const difference = update.data.data();
        s->position = static_cast<std::uint32_t>(difference - c.delta);
        expected = s->follower;
        before = s;
        std::int32_t* const data = c.pool + s->begin + 1;
        sum.add_ints(data, difference, n);
    }
    if (before != nullptr) state.sum += sum.total();
    shared_reader = reader;
    return has_other;
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
