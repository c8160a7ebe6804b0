#include "teewire/snapshot.hpp"

#include "hash.hpp"

#include <algorithm>
#include <bit>

namespace teewire {

result<snapshot_view> snapshot_view::parse(std::span<std::int32_t const> ints, decoding mode,
                                           snapshot_limits limits, note_log* notes) noexcept {
    if (ints.size() < 2) return failure{errc::truncated, ints.size()};
    if (ints.size() > limits.ints()) return failure{errc::too_large, limits.ints()};
    std::int32_t const data_size = ints[0];
    std::int32_t const count = ints[1];
    if (count < 0 || static_cast<std::uint32_t>(count) > limits.items) return failure{errc::bad_count, 1};
    auto const n = static_cast<std::size_t>(count);
    if (ints.size() < 2 + n) return failure{errc::truncated, ints.size()};
    std::size_t const data_ints = ints.size() - 2 - n;
    if (data_size < 0 || data_size % 4 != 0 || static_cast<std::size_t>(data_size) / 4 != data_ints)
        return failure{errc::bad_length, 0};
    std::int32_t end = data_size;
    for (std::size_t i = n; i-- > 0;) {
        std::int32_t const offset = ints[2 + i];
        // Every item has at least its key.
        if (offset < 0 || offset % 4 != 0 || offset > end - 4) return failure{errc::bad_offset, 2 + i};
        end = offset;
    }
    if (n > 0 && end != 0 && notes != nullptr) notes->add(note::gap_before_items, 2);
    snapshot_view const view{ints, n < 2};
    for (std::size_t i = 0; i < n; ++i) {
        if (view.key(i) >= 0) continue;
        std::size_t const position = 2 + n + static_cast<std::size_t>(ints[2 + i]) / 4;
        if (mode == decoding::strict) return failure{errc::bad_type, position};
        if (notes != nullptr) notes->add(note::unsigned_key_half, position);
    }
    return view;
}

snapshot_view snapshot_view::trusted(std::span<std::int32_t const> ints, bool distinct_keys) noexcept {
    assert(parse(ints, decoding::lenient, {65534, UINT32_MAX}));
    return {ints, distinct_keys};
}

void find_starts(snapshot_view snapshot, std::span<std::uint32_t> out) noexcept {
    assert(out.size() == starts_words(snapshot.data_size() / 4));
    std::fill(out.begin(), out.end(), 0U);
    std::size_t word = 0;
    std::uint32_t marks = 0; // of this word, not to wait for what was stored
    auto const mark = [&](std::size_t n) {
        marks = (n / 32 == word ? marks : 0) | 1U << n % 32;
        word = n / 32;
        out[word] = marks;
    };
    for (std::int32_t const offset : snapshot.offsets()) mark(static_cast<std::uint32_t>(offset) / 4);
    mark(snapshot.data_size() / 4);
}

snapshot_view snapshot_view::with_outline(snapshot_outline outline) const noexcept {
    assert(outline.keys.size() == size() && outline.starts.size() == starts_words(data_size() / 4));
#ifndef NDEBUG
    for (std::size_t i = 0; i < size(); ++i)
        assert(outline.keys[i] == key(i) && (outline.starts[begins(i) / 32] >> begins(i) % 32 & 1) != 0);
    assert((outline.starts[data_size() / 128] >> data_size() / 4 % 32 & 1) != 0);
#endif
    snapshot_view view = *this;
    view.keys_ = outline.keys.data();
    view.starts_ = outline.starts.data();
    return view;
}

std::optional<item> snapshot_view::find(std::int32_t wanted) const noexcept {
    for (std::size_t i = 0; i < size(); ++i)
        if (key(i) == wanted) return (*this)[i];
    return std::nullopt;
}

std::optional<uuid> find_extended_type(snapshot_view snapshot, std::uint16_t alias) noexcept {
    auto const description = snapshot.find(make_key(type_ex, alias));
    if (!description || description->data.size() < 4) return std::nullopt;
    return uuid::from_ints(description->data.first<4>());
}

key_index::key_index(std::span<std::int32_t> keys, std::span<std::uint16_t> numbers) noexcept
    : keys_{keys}, numbers_{numbers}, shift_{32U - static_cast<unsigned>(std::countr_zero(numbers.size()))} {
    assert(std::has_single_bit(numbers.size()) && numbers.size() >= 2 * keys.size() && keys.size() < 65535);
    start(0);
}

void key_index::clear() noexcept {
    if (size_ == 0 && attempt_ == 0) return; // as it was made
    size_ = 0;
    start(0);
}

void key_index::start(unsigned attempt) noexcept {
    attempt_ = attempt;
    multiplier_ = hash_multiplier(attempt, numbers_.data());
    steps_ = 0;
    std::fill(numbers_.begin(), numbers_.end(), std::uint16_t{0});
}

bool key_index::place_all() noexcept {
    for (;; start(attempt_ + 1)) {
        key_index local = *this; // nothing else points to it, so that it is kept in registers
        bool distinct = true;
        for (std::size_t i = 0; i < local.size_ && !local.crowded(); ++i) distinct &= local.place(i) == npos;
        steps_ = local.steps_;
        if (!crowded()) return distinct;
    }
}

bool key_index::build(snapshot_view snapshot) noexcept {
    assert(snapshot.size() <= capacity());
    clear();
    size_ = snapshot.size();
    for (std::size_t i = 0; i < size_; ++i) keys_[i] = snapshot.key(i);
    return place_all();
}

bool key_index::build_from_keys(std::span<std::int32_t const> keys) noexcept {
    assert(keys.size() <= capacity());
    clear();
    size_ = keys.size();
    if (keys.data() != keys_.data()) std::copy(keys.begin(), keys.end(), keys_.begin());
    return place_all();
}

result<snapshot_view> sort_by_key(snapshot_view snapshot, std::span<std::uint16_t> order,
                                  std::span<std::int32_t> out) noexcept {
    std::size_t const n = snapshot.size();
    assert(order.size() >= n);
    order = order.first(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint16_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
        return snapshot.key(a) != snapshot.key(b) ? snapshot.key(a) < snapshot.key(b) : a < b;
    });
    std::size_t at = 2 + n;
    for (std::size_t i = 0; i < n; ++i) {
        item const next = snapshot[order[i]];
        if (at + 1 + next.data.size() > out.size()) return failure{errc::output_full, i};
        out[2 + i] = static_cast<std::int32_t>((at - 2 - n) * 4);
        out[at++] = next.key;
        std::copy(next.data.begin(), next.data.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
        at += next.data.size();
    }
    if (out.size() < 2) return failure{errc::output_full, 0};
    out[0] = static_cast<std::int32_t>((at - 2 - n) * 4);
    out[1] = static_cast<std::int32_t>(n);
    return snapshot_view::trusted(out.first(at), snapshot.distinct_keys());
}

} // namespace teewire
