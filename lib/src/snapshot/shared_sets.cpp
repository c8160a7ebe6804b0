#include "item_sets.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>
#include <cstring>

namespace teewire {
using item_sets::has;
using item_sets::insert;

kernels::set_tally plain::tally_set(std::uint64_t const* tallies, std::uint64_t const* set,
                                    std::size_t n) noexcept {
    kernels::set_tally tally{};
    for (std::size_t i = 0; i < n; ++i) {
        if (!has(set, i)) continue;
        ++tally.items;
        tally.ints += static_cast<std::uint32_t>(tallies[i]);
        tally.sum += static_cast<std::uint32_t>(tallies[i] >> 32);
    }
    return tally;
}

void plain::match_contents(kernels::staged_items const& staged) noexcept {
    for (std::size_t i = 0; i < staged.count; ++i) {
        if (i % 64 == 0) staged.different[i / 64] = 0;
        std::size_t const item = staged.items[i];
        bool const same = item != kernels::staged_items::none &&
                          std::equal(staged.data + staged.begins[i], staged.data + staged.begins[i + 1],
                                     staged.world_data + staged.world_begins[item],
                                     staged.world_data + staged.world_begins[item + 1]);
        if (!same) insert(staged.different, i);
    }
}

void plain::select_updates(kernels::shared_sets& s) noexcept {
    std::memset(s.known, 0, 8 * s.words);
    std::memset(s.updates, 0, 8 * s.words);
    s.kept_count = s.update_count = 0;
    for (kernels::shared_run const& r : s.runs)
        for (std::size_t i = 0; i < r.count; ++i)
            if (has(s.base, r.base + i) && has(s.now, r.now + i)) {
                insert(s.known, r.now + i);
                ++s.kept_count;
            }
    for (std::size_t i = 0; i < 64 * s.words; ++i)
        if (has(s.now, i) && !(has(s.known, i) && !has(s.changed, i))) {
            insert(s.updates, i);
            ++s.update_count;
        }
}

void plain::find_in_base(std::span<kernels::shared_run const> runs, std::uint64_t const* now, std::uint64_t* base,
                         std::size_t base_words) noexcept {
    std::memset(base, 0, 8 * base_words);
    for (kernels::shared_run const& r : runs)
        for (std::size_t i = 0; i < r.count; ++i)
            if (has(now, r.now + i)) insert(base, r.base + i);
}

std::uint32_t plain::copy_pieces(kernels::piece_copier& c) noexcept {
    // In the order of the numbers, `at` and `left` are a word and its bits.
    for (;;) {
        std::uint32_t item;
        if (c.order != nullptr) {
            if (c.at == c.end) return kernels::piece_copier::done;
            item = c.order[c.at++];
            if (!has(c.updates, item)) continue;
        } else if (c.left == 0) {
            if (c.at + 1 >= c.end) return kernels::piece_copier::done;
            c.left = c.updates[++c.at];
            continue;
        } else {
            item = static_cast<std::uint32_t>(64 * c.at + kernels::lowest(c.left));
            c.left &= c.left - 1;
        }
        std::uint32_t const place =
            has(c.unshared, item) ? 0 : (has(c.known, item) ? c.differences : c.wholes)[item];
        if (place == 0) return item;
        std::byte const* const piece = c.memory + std::size_t{8} * place;
        std::uint32_t size;
        std::memcpy(&size, piece, 4);
        std::memcpy(c.out, piece + 4, size);
        c.out += size;
    }
}

} // namespace teewire
