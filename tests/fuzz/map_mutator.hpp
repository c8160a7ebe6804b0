// Changes maps inside of their items and data blocks.
#pragma once

#include "mutator.hpp"

#include <teewire/map/datafile.hpp>

#include <optional>

namespace fuzz {

/// A datafile in pieces that can be changed.
struct loose_datafile {
    struct item {
        std::uint16_t type;
        std::uint16_t id;
        std::vector<std::int32_t> ints;
    };
    int version = 4;
    std::vector<item> items;
    std::vector<bytes> blocks;

    /// Nothing if it cannot be opened, has a block that cannot be read, or holds so much that fuzzing becomes slow.
    static std::optional<loose_datafile> read(bytes_view file) {
        constexpr std::size_t most = 1 << 18;
        auto const opened = teewire::datafile::open(file);
        if (!opened) return {};
        loose_datafile all;
        all.version = opened->version();
        for (std::size_t i = 0; i < opened->item_count(); ++i) {
            teewire::datafile_item const found = opened->item(i);
            item& loose = all.items.emplace_back(item{found.type, found.id, {}});
            for (std::size_t n = 0; n < found.ints.size(); ++n) loose.ints.push_back(found.ints[n]);
        }
        std::size_t total = 0;
        for (std::size_t n = 0; n < opened->block_count(); ++n) {
            auto const number = static_cast<std::int32_t>(n);
            auto const size = opened->block_size(number);
            if (!size || (total += *size) > most) return {};
            bytes& block = all.blocks.emplace_back(*size);
            auto const content = opened->read_block(number, block, lasting<teewire::inflate_memory>());
            if (!content) return {};
            block.resize(content->size());
        }
        return all;
    }

    [[nodiscard]] bytes write() const {
        constexpr int fast = 1;
        teewire::datafile_writer file{{version, fast}};
        for (item const& i : items) file.add_item(i.type, i.id, i.ints);
        for (bytes const& block : blocks) {
            static constexpr std::uint8_t nothing[] = {0};
            static_cast<void>(file.add_block(block.empty() ? bytes_view{nothing} : bytes_view{block}));
        }
        return file.finish();
    }
};

/// One int becomes what means something elsewhere: the number of a block or an item, a size, that of another item.
inline void mutate_int(loose_datafile const& file, std::vector<std::int32_t>& ints, dice& random) {
    if (ints.empty()) return;
    std::size_t const at = random.below(ints.size());
    switch (random.below(5)) {
    case 0: ints[at] = static_cast<std::int32_t>(random.below(file.blocks.size() + 1)); break;
    case 1: ints[at] = static_cast<std::int32_t>(random.below(file.items.size() + 1)); break;
    case 2: ints[at] = -1; break;
    case 3: ints[at] ^= static_cast<std::int32_t>(1U << random.below(32)); break;
    default: {
        auto const& other = file.items[random.below(file.items.size())].ints;
        if (at < other.size()) ints[at] = other[at];
    }
    }
}

inline bool mutate_map(bytes& file, dice& random) {
    auto loose = loose_datafile::read(file);
    if (!loose || loose->items.empty()) return false;
    std::size_t const chosen = random.below(loose->items.size());
    auto const at = loose->items.begin() + static_cast<std::ptrdiff_t>(chosen);
    switch (random.below(loose->blocks.empty() ? 5 : 9)) {
    case 0: mutate_int(*loose, at->ints, random); break;
    case 1: at->ints.resize(random.below(at->ints.size() + 4)); break;
    case 2: loose->items.erase(at); break;
    case 3: loose->items.insert(at, loose_datafile::item{*at}); break;
    case 4: {
        bytes content(4 * at->ints.size());
        if (!content.empty()) std::memcpy(content.data(), at->ints.data(), content.size());
        mutate_bytes(content);
        at->ints.assign((content.size() + 3) / 4, 0);
        if (!content.empty()) std::memcpy(at->ints.data(), content.data(), content.size());
        break;
    }
    default: {
        bytes& block = loose->blocks[random.below(loose->blocks.size())];
        if (random.one_in(8)) block = loose->blocks[random.below(loose->blocks.size())];
        else mutate_bytes(block);
    }
    }
    file = loose->write();
    return true;
}

/// A block or an item of the other one comes into this, instead of one there or beside it.
inline bool cross_maps(bytes& file, bytes_view other, dice& random) {
    auto here = loose_datafile::read(file);
    auto const there = loose_datafile::read(other);
    if (!here || !there || here->items.empty() || there->items.empty()) return false;
    if (!here->blocks.empty() && !there->blocks.empty() && random.one_in(2)) {
        bytes const& block = there->blocks[random.below(there->blocks.size())];
        if (random.one_in(4)) here->blocks.push_back(block);
        else here->blocks[random.below(here->blocks.size())] = block;
    } else {
        auto const& item = there->items[random.below(there->items.size())];
        auto const same_type = std::find_if(here->items.begin(), here->items.end(),
                                            [&](loose_datafile::item const& i) { return i.type == item.type; });
        if (same_type == here->items.end() || random.one_in(2)) here->items.push_back(item);
        else same_type->ints = item.ints;
    }
    file = here->write();
    return true;
}

} // namespace fuzz
