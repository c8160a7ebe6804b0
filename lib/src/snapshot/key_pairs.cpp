#include "key_pairs.hpp"

#include "snapshot_functions.hpp"

#include <algorithm>

namespace teewire {

namespace {

// How far from where a key is expected it is looked for at first.
constexpr std::size_t near = 8;

std::size_t count_alike(std::int32_t const* a, std::int32_t const* b, std::size_t n) noexcept {
    constexpr std::size_t stretch = 16;
    std::size_t i = 0;
    for (; n - i >= stretch; i += stretch) {
        std::int32_t different = 0;
        for (std::size_t k = 0; k < stretch; ++k) different |= a[i + k] ^ b[i + k];
        if (different != 0) break;
    }
    while (i < n && a[i] == b[i]) ++i;
    return i;
}

} // namespace

std::size_t key_pairs::find(std::span<std::int32_t const> keys, std::span<std::int32_t const> others,
                            room const& room) noexcept {
    std::size_t const n = keys.size();
    std::size_t const m = others.size();
    std::span const paired{room.paired, (m + 63) / 64};
    std::fill(paired.begin(), paired.end(), std::uint64_t{0});
    std::size_t pairs = 0;
    std::size_t rest = 0; // keys without a partner so far
    std::size_t j = 0;    // the place that is expected next
    for (std::size_t i = 0; i < n;) {
        std::size_t const alike = count_alike(keys.data() + i, others.data() + j, std::min(n - i, m - j));
        for (std::size_t k = 0; k < alike; ++k) room.partners[i + k] = static_cast<std::uint16_t>(j + k);
        kernels::set_bits(paired, j, j + alike);
        pairs += alike;
        i += alike;
        j += alike;
        if (i == n) break;
        std::size_t const end = std::min(m, j + 1 + near);
        std::size_t at = j + 1;
        while (at < end && others[at] != keys[i]) ++at;
        if (at < end) { // what is between them was removed
            j = at;
            continue;
        }
        room.partners[i] = detail::none;
        room.rest_keys[rest] = keys[i];
        room.rest[rest++] = static_cast<std::uint16_t>(i++);
    }
    // Keys that changed places are left in both lists.
    if (rest == 0 || pairs == m) return pairs;
    for (std::size_t place = 0; place < m; ++place) {
        if ((paired[place / 64] >> place % 64 & 1) != 0 ||
            !kernels::snapshot.holds_key({room.rest_keys, rest}, others[place]))
            continue;
        std::size_t k = 0;
        while (room.rest_keys[k] != others[place]) ++k;
        room.partners[room.rest[k]] = static_cast<std::uint16_t>(place);
        kernels::set_bits(paired, place, place + 1);
        ++pairs;
    }
    return pairs;
}

} // namespace teewire
