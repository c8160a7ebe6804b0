#include "stored_form.hpp"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <memory>

namespace teewire {

std::vector<std::uint8_t> map_detail::stored_form(map_bytes content, datafile_write_options const& options) {
    if (options.version == 3) return {content.begin(), content.end()};
    uLongf size = compressBound(static_cast<uLong>(content.size()));
    // Not a vector, which would touch all of it, as pixels and tiles become much smaller.
    std::unique_ptr<std::uint8_t[]> const stored{new std::uint8_t[size]};
    [[maybe_unused]] int const state =
        compress2(stored.get(), &size, content.data(), static_cast<uLong>(content.size()), options.level);
    assert(state == Z_OK);
    return {stored.get(), stored.get() + size};
}

namespace {

void put_int(std::vector<std::uint8_t>& out, std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

} // namespace

void datafile_writer::add_item(std::uint16_t type, std::uint16_t id, std::span<std::int32_t const> ints) {
    used_[type] = true;
    items_.push_back({type, id, ints_.size(), ints.size()});
    ints_.insert(ints_.end(), ints.begin(), ints.end());
}

std::uint16_t datafile_writer::number_of(uuid const& type) {
    if (auto const known = numbers_.find(type); known != numbers_.end()) return known->second;
    std::uint16_t number = 0xfffe;
    while (number > 0x8000 && (named_[number] || used_[number])) --number;
    if (number == 0x8000) { // finish() refuses
        too_many_names_ = true;
        return number;
    }
    name_type(number, type);
    return number;
}

void datafile_writer::name_type(std::uint16_t number, uuid const& type) {
    assert(number > 0x8000 && number != uuid_index_type);
    if (named_[number]) return;
    named_[number] = true;
    names_.emplace_back(number, type);
    numbers_.emplace(type, number);
}

std::int32_t datafile_writer::add_block(map_bytes content) {
    assert(!content.empty() && content.size() <= INT_MAX);
    auto const stored = map_detail::stored_form(content, options_);
    data_.insert(data_.end(), stored.begin(), stored.end());
    blocks_.push_back({data_.size(), content.size()});
    return static_cast<std::int32_t>(blocks_.size() - 1);
}

std::int32_t datafile_writer::add_stored_block(map_bytes stored, std::size_t size) {
    assert(options_.version == 4 && !stored.empty() && size <= INT_MAX);
    data_.insert(data_.end(), stored.begin(), stored.end());
    blocks_.push_back({data_.size(), size});
    return static_cast<std::int32_t>(blocks_.size() - 1);
}

std::vector<std::uint8_t> datafile_writer::finish() const {
    if (too_many_names_) return {};
    // The index items, as the reference writes them: at the end, since theirs is the highest type.
    std::vector<std::int32_t> ints = ints_;
    std::vector<item> items = items_;
    for (auto const& [number, name] : names_) {
        items.push_back({uuid_index_type, number, ints.size(), 4});
        for (std::size_t i = 0; i < 16; i += 4)
            ints.push_back(static_cast<std::int32_t>(
                std::uint32_t{name.bytes[i]} << 24 | std::uint32_t{name.bytes[i + 1]} << 16 |
                std::uint32_t{name.bytes[i + 2]} << 8 | std::uint32_t{name.bytes[i + 3]}));
    }
    std::stable_sort(items.begin(), items.end(), [](item const& a, item const& b) { return a.type < b.type; });

    std::vector<datafile_type> types;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (types.empty() || types.back().type != items[i].type)
            types.push_back({items[i].type, static_cast<std::uint32_t>(i), 0});
        ++types.back().count;
    }
    for (datafile_type const& type : types)
        if (type.count > 65536) return {};

    std::uint64_t const item_bytes = 8 * std::uint64_t{items.size()} + 4 * std::uint64_t{ints.size()};
    std::uint64_t const tables = 12 * std::uint64_t{types.size()} + 4 * std::uint64_t{items.size()} +
                                 (options_.version == 4 ? 8 : 4) * std::uint64_t{blocks_.size()};
    std::uint64_t const whole = 36 + tables + item_bytes + data_.size();
    if (whole > INT_MAX) return {};

    std::vector<std::uint8_t> out{'D', 'A', 'T', 'A'};
    out.reserve(static_cast<std::size_t>(whole));
    put_int(out, static_cast<std::uint32_t>(options_.version));
    for (std::uint64_t const field :
         {whole - 16, whole - 16 - data_.size(), std::uint64_t{types.size()}, std::uint64_t{items.size()},
          std::uint64_t{blocks_.size()}, item_bytes, std::uint64_t{data_.size()}})
        put_int(out, static_cast<std::uint32_t>(field));
    for (datafile_type const& type : types) {
        put_int(out, type.type);
        put_int(out, type.first);
        put_int(out, type.count);
    }
    std::size_t offset = 0;
    for (item const& i : items) {
        put_int(out, static_cast<std::uint32_t>(offset));
        offset += 8 + 4 * i.count;
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        put_int(out, static_cast<std::uint32_t>(i == 0 ? 0 : blocks_[i - 1].end));
    if (options_.version == 4)
        for (block const& b : blocks_) put_int(out, static_cast<std::uint32_t>(b.size));
    for (item const& i : items) {
        put_int(out, std::uint32_t{i.type} << 16 | i.id);
        put_int(out, static_cast<std::uint32_t>(4 * i.count));
        for (std::size_t n = 0; n < i.count; ++n) put_int(out, static_cast<std::uint32_t>(ints[i.first + n]));
    }
    out.insert(out.end(), data_.begin(), data_.end());
    return out;
}

} // namespace teewire
