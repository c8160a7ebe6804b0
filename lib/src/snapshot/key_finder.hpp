#pragma once

#include "ints.hpp"
#include "key_filter.hpp"
#include "layout.hpp"

#include <optional>

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

// Finds the items of a snapshot by key, best when asked in their order. Looks through the keys in vectors; when that
// has cost as much as a Bloom filter for unknown keys, or an index for known ones, it makes these, so that the whole
// stays linear.
class key_finder {
public:
    key_finder(snapshot_view snapshot, delta_scratch const& scratch) noexcept
        : scratch_{scratch}, n_{snapshot.size()}, keys_{snapshot.outline().keys.data()} {
        if (keys_ != nullptr) return;
        layout const s{snapshot};
        for (std::size_t i = 0; i < n_; ++i) scratch.base_keys[i] = s.key(i);
        keys_ = scratch.base_keys.data();
    }

    // `next`: where it is expected. Its number, or npos.
    std::size_t find(std::int32_t key, std::size_t next) noexcept {
        std::size_t const near = find_near(key, next);
        return near != key_index::npos ? near : find_far(key, next);
    }
    // A plain loop lets the processor predict which one it is and run ahead.
    [[nodiscard]] std::size_t find_near(std::int32_t key, std::size_t next) const noexcept {
        for (std::size_t const end = std::min(n_, next + near_); next < end; ++next)
            if (keys_[next] == key) return next;
        return key_index::npos;
    }
    // When it is not near.
    std::size_t find_far(std::int32_t key, std::size_t next) noexcept {
        if (filter_ && !filter_->may_hold(key)) return key_index::npos;
        if (index_) return index_->find(key);
        std::size_t number = find_int(keys_, next, n_, key);
        if (number != n_) {
            count_known(number - next);
            return number;
        }
        number = find_int(keys_, 0, next, key);
        if (number != next) {
            count_known(n_ - next + number);
            return number;
        }
        count_unknown();
        return key_index::npos;
    }
    // How many of these, from the first on, are unknown. 0 unless many have been.
    [[nodiscard]] std::size_t count_unknown_ahead(std::span<std::int32_t const> keys) const noexcept {
        return filter_ ? count_unknown_by(*filter_, keys) : 0;
    }
    [[nodiscard]] std::int32_t key(std::size_t number) const noexcept { return keys_[number]; }
    [[nodiscard]] std::int32_t const* keys() const noexcept { return keys_; }

private:
    [[gnu::noinline]] static std::size_t count_unknown_by(key_filter filter,
                                                          std::span<std::int32_t const> keys) noexcept {
        std::size_t n = 0;
        auto const may_hold = [&](std::size_t i) -> int { return filter.may_hold(keys[n + i]); };
        while (n + 4 <= keys.size() && (may_hold(0) | may_hold(1) | may_hold(2) | may_hold(3)) == 0) n += 4;
        while (n < keys.size() && may_hold(0) == 0) ++n;
        return n;
    }
    void count_known(std::size_t keys) noexcept {
        known_work_ += keys;
        if (known_work_ > 2 * width * (n_ + 64)) build_index();
    }
    void count_unknown() noexcept {
        if (filter_) return count_known(n_); // a false positive
        unknown_work_ += n_;
        if (unknown_work_ > width * (n_ + 64)) build_filter();
    }
    [[gnu::noinline]] void build_index() noexcept {
        index_ = scratch_.base_index();
        index_->build_from_keys({keys_, n_});
        near_ = 1;
    }
    [[gnu::noinline]] void build_filter() noexcept {
        key_filter filter{scratch_.base_filter};
        for (std::size_t i = 0; i < n_; ++i) filter.insert(keys_[i]);
        filter_ = filter;
        near_ = 1;
    }

    delta_scratch const& scratch_;
    std::size_t n_;
    std::int32_t const* keys_;
    std::size_t near_ = 8;         // keys that are compared first
    std::size_t known_work_ = 0;   // keys that were compared with one that is there
    std::size_t unknown_work_ = 0; // and with one that is not
    std::optional<key_filter> filter_;
    std::optional<key_index> index_;
};

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
