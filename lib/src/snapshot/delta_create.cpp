#include "teewire/delta.hpp"

#include "seen_keys.hpp"
#include "snapshot_functions.hpp"

#include <algorithm>

namespace teewire {

namespace {

// Whether no key occurs twice, for a fraction of what an index costs.
[[gnu::noinline]] bool has_distinct_keys(snapshot_view const& snapshot, delta_scratch const& scratch) noexcept {
    assert(snapshot.size() <= scratch.capacity());
    auto const words = scratch.base_filter.first(std::bit_floor(scratch.base_filter.size()));
    std::fill(words.begin(), words.end(), 0U);
    seen_keys const seen{words, seen_keys::multiplier(words)};
    std::int32_t* const keys = scratch.base_keys.data();
    std::size_t lookups = 64; // so many keys meet only in an attack
    std::size_t number = 0;
    for (item const i : snapshot) {
        if (seen.note(i.key)) {
            if (lookups-- == 0) return scratch.base_index().build(snapshot);
            if (kernels::snapshot.holds_key({keys, number}, i.key)) return false;
        }
        keys[number++] = i.key;
    }
    return true;
}

} // namespace

result<std::span<std::int32_t const>> create_delta(snapshot_view from, snapshot_view to, size_table const& sizes,
                                                   delta_scratch const& scratch,
                                                   std::span<std::int32_t> out) noexcept {
    if (std::max(from.data_size(), to.data_size()) / 4 > scratch.max_ints())
        return plain::create_delta(from, to, sizes, scratch, out);
    for (snapshot_view const* const s : {&from, &to})
        if (!s->distinct_keys() && !has_distinct_keys(*s, scratch)) return failure{errc::duplicate_key, 0};
    return kernels::snapshot.create_delta(from, to, sizes, scratch, out);
}

namespace {

constexpr std::int32_t difference(std::int32_t to, std::int32_t from) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}

} // namespace

result<std::span<std::int32_t const>> plain::create_delta(snapshot_view from, snapshot_view to,
                                                          size_table const& sizes, delta_scratch const& scratch,
                                                          std::span<std::int32_t> out) noexcept {
    key_index from_index = scratch.base_index();
    key_index to_index = scratch.added_index();
    bool const from_distinct = from_index.build(from);
    bool const to_distinct = to_index.build(to);
    if (!from_distinct || !to_distinct) return failure{errc::duplicate_key, 0};

    if (out.size() < delta_header_ints) return failure{errc::output_full, 0};
    std::size_t at = delta_header_ints;
    std::int32_t removed = 0;
    std::int32_t updates = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (to_index.find(from.key(i)) != key_index::npos) continue;
        if (at == out.size()) return failure{errc::output_full, 0};
        out[at++] = from.key(i);
        ++removed;
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
        item const now = to[i];
        std::size_t const known = from_index.find(now.key);
        item const before = known == key_index::npos ? item{} : from[known];
        if (known != key_index::npos) {
            if (before.data.size() != now.data.size()) return failure{errc::size_mismatch, i};
            if (std::equal(now.data.begin(), now.data.end(), before.data.begin())) continue;
        }
        std::size_t const agreed = sizes[now.type()];
        if (agreed != 0 && agreed != now.data.size()) return failure{errc::size_mismatch, i};
        std::size_t const head = agreed != 0 ? 2 : 3;
        if (head + now.data.size() > out.size() - at) return failure{errc::output_full, i};
        out[at] = now.key >> 16;
        out[at + 1] = now.id();
        if (agreed == 0) out[at + 2] = static_cast<std::int32_t>(now.data.size());
        at += head;
        auto const data = out.subspan(at, now.data.size());
        if (known != key_index::npos)
            std::transform(now.data.begin(), now.data.end(), before.data.begin(), data.begin(), difference);
        else std::copy(now.data.begin(), now.data.end(), data.begin());
        at += data.size();
        ++updates;
    }
    if (removed == 0 && updates == 0) return std::span<std::int32_t const>{};
    out[0] = removed;
    out[1] = updates;
    out[2] = 0;
    return std::span<std::int32_t const>{out.first(at)};
}

} // namespace teewire
