#include "edit/segment_choice.hpp"

#include <algorithm>

namespace teewire::replay {

segment_gaps::segment_gaps(std::span<segment const> found) : found_{found} {
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 0; i + 1 < found.size(); ++i)
        if (found[i + 1].follows && gap(i) > 0) gaps.push_back(gap(i));
    if (gaps.empty()) return;
    std::sort(gaps.begin(), gaps.end());
    most_ = 4 * gaps[gaps.size() / 2];
}

std::vector<std::size_t> heaviest_chain(std::span<segment const> found, segment_gaps const& gaps) {
    std::vector<std::size_t> candidates;
    std::vector<std::int32_t> lasts;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].snapshots == 0) continue;
        candidates.push_back(i);
        lasts.push_back(found[i].last_tick);
    }
    std::sort(lasts.begin(), lasts.end());
    // The best chain of all that end at or before a tick: a Fenwick tree of maxima over `lasts`.
    struct best {
        std::uint64_t weight = 0;
        std::size_t number = SIZE_MAX; // of the candidate at its end
    };
    std::vector<best> tree(lasts.size() + 1);
    std::vector<best> before(candidates.size());
    best all;
    for (std::size_t n = 0; n < candidates.size(); ++n) {
        std::size_t const i = candidates[n];
        segment const& s = found[i];
        best b;
        auto const earlier = std::lower_bound(lasts.begin(), lasts.end(), s.first_tick) - lasts.begin();
        for (auto at = static_cast<std::size_t>(earlier); at > 0; at &= at - 1)
            if (tree[at].weight > b.weight) b = tree[at];
        before[n] = b;
        std::uint64_t const times = gaps.fits_previous(i) || gaps.fits_next(i) ? 4 : 1;
        best const own{b.weight + s.snapshots * times, n};
        auto const place = std::lower_bound(lasts.begin(), lasts.end(), s.last_tick) - lasts.begin() + 1;
        for (auto at = static_cast<std::size_t>(place); at < tree.size(); at += at & (~at + 1))
            if (own.weight > tree[at].weight) tree[at] = own;
        if (own.weight > all.weight) all = own;
    }
    std::vector<std::size_t> chain;
    for (std::size_t n = all.number; n != SIZE_MAX; n = before[n].number) chain.push_back(candidates[n]);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

void keep_longer_copies(std::span<segment> found, std::vector<bool>& kept) {
    for (std::size_t i = 0, previous = SIZE_MAX; i < found.size(); ++i) {
        if (!kept[i] && found[i].snapshots != 0 && previous != SIZE_MAX &&
            found[i].first_tick == found[previous].first_tick && found[i].last_tick > found[previous].last_tick) {
            auto const next = std::find(kept.begin() + static_cast<std::ptrdiff_t>(i), kept.end(), true);
            kept[i] = next == kept.end() ||
                      found[static_cast<std::size_t>(next - kept.begin())].first_tick > found[i].last_tick;
            if (kept[i]) found[i].after = found[previous].last_tick;
        }
        if (kept[i]) previous = i;
    }
}

} // namespace teewire::replay
