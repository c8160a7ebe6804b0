// Snapshots that the input of a fuzz target describes: items that come, change, move and go.
#pragma once

#include "fuzz.hpp"

#include <teewire/snapshot.hpp>

#include <algorithm>
#include <compare>
#include <vector>

namespace fuzz {

struct loose_item {
    std::int32_t key = 0;
    std::vector<std::int32_t> data;
    friend std::strong_ordering operator<=>(loose_item const&, loose_item const&) = default;
};

/// The ints of a snapshot, laid out without the library's builder.
inline std::vector<std::int32_t> lay_out(std::vector<loose_item> const& items) {
    std::vector<std::int32_t> ints{0, static_cast<std::int32_t>(items.size())};
    std::int32_t at = 0;
    for (auto const& i : items) {
        ints.push_back(at);
        at += 4 * static_cast<std::int32_t>(1 + i.data.size());
    }
    for (auto const& i : items) {
        ints.push_back(i.key);
        ints.insert(ints.end(), i.data.begin(), i.data.end());
    }
    ints[0] = at;
    return ints;
}

inline std::vector<loose_item> items_of(teewire::snapshot_view snapshot) {
    std::vector<loose_item> items;
    items.reserve(snapshot.size());
    for (teewire::item const i : snapshot) items.push_back({i.key, {i.data.begin(), i.data.end()}});
    return items;
}

inline bool have_same_key(std::vector<loose_item> const& items) {
    std::vector<std::int32_t> keys;
    for (auto const& i : items) keys.push_back(i.key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

/// A view that says whether its keys are distinct.
inline teewire::snapshot_view view_of(std::span<std::int32_t const> ints) {
    auto const view = teewire::snapshot_view::trusted(ints, false);
    return teewire::snapshot_view::trusted(ints, !have_same_key(items_of(view)));
}

/// Within what a snapshot may hold; keys are distinct, and sizes those agreed unless an input says otherwise.
class world {
public:
    explicit world(teewire::size_table const& sizes) : sizes_{sizes} {}

    [[nodiscard]] std::vector<loose_item> const& items() const noexcept { return items_; }

    /// One change. Returns false for changes of an item's size, which no delta can express.
    bool change(input& in) {
        static constexpr std::uint16_t types[] = {1,  2,  4,  5,  9,  10, 11,     13,
                                                  19, 22, 23, 40, 63, 64, 0x4000, 0x7fff};
        std::uint8_t const what = in.byte();
        std::uint8_t const id = in.byte();
        std::uint16_t const type = types[what / 8 % std::size(types)];
        std::size_t const number = items_.empty() ? 0 : id % items_.size();
        switch (what % 8) {
        case 0:
        case 1: add(type, id, in.byte(), in); break;
        case 2:
        case 3:
            if (!items_.empty()) fill(items_[number], in);
            break;
        case 4:
            if (!items_.empty()) items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(number));
            break;
        case 5: // to the end
            if (!items_.empty())
                std::rotate(items_.begin() + static_cast<std::ptrdiff_t>(number),
                            items_.begin() + static_cast<std::ptrdiff_t>(number) + 1, items_.end());
            break;
        case 6: { // many
            std::uint8_t const size = in.byte();
            for (std::uint16_t i = 0; i < id; ++i) add(type, static_cast<std::uint16_t>(256 + i), size, in);
            break;
        }
        default:
            if (items_.empty() || sizes_[teewire::key_type(items_[number].key)] != 0 || what < 200) {
                items_.clear();
                break;
            }
            if (std::size_t const size = type % 24; ints() + size - items_[number].data.size() <= max_ints)
                items_[number].data.resize(size);
            return false;
        }
        return true;
    }

private:
    static constexpr std::size_t max_ints = 16384;

    // The sum over the whole snapshot.
    [[nodiscard]] std::size_t ints() const noexcept {
        std::size_t all = 2;
        for (auto const& i : items_) all += 2 + i.data.size();
        return all;
    }
    static std::int32_t value(input& in) {
        std::uint8_t const small = in.byte();
        return small < 0xf0 ? small - 0x70 : in.integer();
    }
    static void fill(loose_item& i, input& in) {
        if (i.data.empty()) return;
        std::uint8_t const where = in.byte();
        if (where < 0xc0) {
            i.data[where % i.data.size()] = value(in);
            return;
        }
        std::int32_t const first = value(in);
        for (std::size_t n = 0; n < i.data.size(); ++n)
            i.data[n] = static_cast<std::int32_t>(static_cast<std::uint32_t>(first) * (where == 0xff ? n * n : 1));
    }
    void add(std::uint16_t type, std::uint16_t id, std::uint8_t size, input& in) {
        loose_item made{teewire::make_key(type, id), {}};
        std::size_t const agreed = sizes_[type];
        made.data.resize(agreed != 0 ? agreed : size < 0xf8 ? size % 24 : size);
        for (auto const& i : items_)
            if (i.key == made.key) return;
        if (items_.size() == 1024 || ints() + 2 + made.data.size() > max_ints) return;
        fill(made, in);
        items_.push_back(std::move(made));
    }

    teewire::size_table const& sizes_;
    std::vector<loose_item> items_;
};

} // namespace fuzz
