#include "tables/item_tables.hpp"

#include "game/item_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace teewire::replay {
namespace {

// Columns that every table has.
constexpr std::string_view common_columns[] = {"recording", "id", "tick", "first_tick", "last_tick", "more"};

struct all_tables {
    std::vector<item_table> tables;
    std::map<object const*, item_layout> layouts;

    all_tables() {
        for (protocol const p : {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07})
            for (object const& o : plain_objects(p)) add(o);
        for (object const& o : extended_objects()) add(o);
    }
    void add(object const& o) {
        if (layouts.contains(&o)) return;
        auto table = std::find_if(tables.begin(), tables.end(), [&](auto const& t) { return t.name == o.name; });
        if (table == tables.end()) table = tables.insert(table, {std::string{o.name}, {}});
        item_layout layout;
        layout.table = static_cast<std::size_t>(table - tables.begin());
        for (field const& f : o.fields)
            for (std::size_t k = 0; k < f.count; ++k) {
                std::string name{f.name};
                if (std::find(std::begin(common_columns), std::end(common_columns), name) !=
                    std::end(common_columns))
                    name = fmt::format("{}_{}", o.name, name);
                if (f.count > 1) name += fmt::format("_{}", k);
                add(*table, layout, name, f, f.offset + k * f.ints);
            }
        layouts.emplace(&o, std::move(layout));
    }
    static void add(item_table& table, item_layout& layout, std::string const& name, field const& f,
                    std::size_t at) {
        auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [&](item_column const& c) { return c.name == name; });
        if (column == table.columns.end()) column = table.columns.insert(column, {name, f.kind});
        auto const number = static_cast<std::size_t>(column - table.columns.begin());
        if (layout.columns.size() <= number) layout.columns.resize(number + 1);
        layout.columns[number] = {&f, static_cast<std::uint16_t>(at)};
        layout.described = std::max(layout.described, at + f.ints);
    }
    void complete() {
        for (auto& [o, layout] : layouts) layout.columns.resize(tables[layout.table].columns.size());
    }
};

all_tables const& everything() {
    static all_tables const all = [] {
        all_tables made;
        made.complete();
        return made;
    }();
    return all;
}

} // namespace

std::vector<item_table> const& item_tables() { return everything().tables; }
item_layout const& layout_of(object const& known) { return everything().layouts.at(&known); }

cell read_cell(column_place const& place, std::span<std::int32_t const> ints, std::string& scratch) {
    if (place.described == nullptr || place.at + std::size_t{place.described->ints} > ints.size()) return {};
    field const& f = *place.described;
    std::int32_t const value = ints[place.at];
    if (f.kind == field_kind::enumeration)
        if (std::string_view const known = (*f.values)[value]; !known.empty()) return {cell::kind::text, 0, known};
    if (f.kind != field_kind::text) return {cell::kind::integer, value, {}};
    std::array<char, 4 * UINT8_MAX> bytes;
    scratch = valid_utf8(decode_text(ints.subspan(place.at, f.ints), bytes));
    return {cell::kind::text, 0, scratch};
}

// ---- rows of a type ------------------------------------------------------------------------------------------------

bool table_rows::add(item const& i, std::int32_t tick, std::int32_t before) {
    if (i.id() >= open_by_id_.size()) open_by_id_.resize(std::bit_ceil(std::size_t{i.id()} + 1));
    std::uint32_t& place = open_by_id_[i.id()];
    if (place == 0) {
        if (open_count_ == open_.size()) open_.emplace_back();
        place = static_cast<std::uint32_t>(++open_count_);
    } else {
        open_row& row = open_[place - 1];
        if (row.last_tick == tick) return false;
        if (row.last_tick == before && row.size() == i.data.size() &&
            std::memcmp(row.ints.data() + head, i.data.data(), i.data.size_bytes()) == 0) {
            row.last_tick = tick;
            return true;
        }
        close(row);
    }
    open_row& row = open_[place - 1];
    row.last_tick = tick;
    open_ints_ += i.data.size() - row.size();
    row.ints.resize(head + i.data.size());
    row.ints[0] = i.id();
    row.ints[1] = tick;
    row.ints[3] = static_cast<std::int32_t>(i.data.size());
    std::copy(i.data.begin(), i.data.end(), row.ints.begin() + head);
    return true;
}

void table_rows::close(open_row& row) {
    begins_.push_back(static_cast<std::uint32_t>(ints_.size()));
    row.ints[2] = row.last_tick;
    most_ints_ = std::max(most_ints_, row.size());
    ints_.insert(ints_.end(), row.ints.begin(), row.ints.end());
}

void table_rows::close_all() {
    for (std::size_t n = 0; n < open_count_; ++n) {
        close(open_[n]);
        open_by_id_[open_[n].id()] = 0;
        open_[n].ints.resize(head);
    }
    open_count_ = open_ints_ = 0;
}

void table_rows::close_gone(std::int32_t tick) {
    for (std::size_t n = 0; n < open_count_;) {
        open_row& row = open_[n];
        if (row.last_tick == tick) {
            ++n;
            continue;
        }
        close(row);
        open_by_id_[row.id()] = 0;
        open_ints_ -= row.size();
        row = {};
        if (n != --open_count_) {
            std::swap(row, open_[open_count_]);
            open_by_id_[row.id()] = static_cast<std::uint32_t>(n + 1);
        }
    }
}

std::vector<std::uint32_t> table_rows::order() const {
    // By counting: rows of one id are in the order of their ticks already.
    std::vector<std::uint32_t> ends(open_by_id_.size() + 1);
    for (std::uint32_t const begin : begins_) ++ends[static_cast<std::size_t>(ints_[begin]) + 1];
    for (std::size_t id = 1; id < ends.size(); ++id) ends[id] += ends[id - 1];
    std::vector<std::uint32_t> order(begins_.size());
    for (std::uint32_t const begin : begins_) order[ends[static_cast<std::size_t>(ints_[begin])]++] = begin;
    return order;
}

void table_rows::drop_complete() noexcept {
    ints_.clear();
    begins_.clear();
    most_ints_ = 0;
}

// ---- rows of a recording -------------------------------------------------------------------------------------------

void item_rows::begin(protocol p) {
    protocol_ = p;
    tables_.resize(item_tables().size());
    for (known_table& t : tables_) {
        t.layout = nullptr;
        t.rows.close_all();
    }
    open_others_.clear();
    open_other_bytes_ = 0;
    drop_complete();
    other_numbers_.clear();
    other_names_.clear();
    plain_ = {};
    aliases_.assign(aliases_.size(), {});
    before_ = -1;
    snapshots_ = 0;
}

void item_rows::add(std::int32_t tick, snapshot_view state) {
    ++snapshots_;
    target where;
    std::int32_t type = -1; // that of the item before: items of one type are rarely apart
    for (item const i : state) {
        if (i.type() != type) {
            type = i.type();
            where = resolve(state, i.type());
        }
        if (where.table == nullptr) take_other(where.other, i, tick);
        else if (!where.table->rows.add(i, tick, before_))
            add_other(other_target(item_tables()[where.table->layout->table].name).other, i.id(), tick, tick,
                      i.data);
    }
    before_ = tick;
}

item_rows::target item_rows::resolve(snapshot_view state, std::uint16_t type) {
    if (type < plain_.size() && plain_[type].table != nullptr) return plain_[type];
    if (type < first_alias || type > last_alias) {
        object const* const known = type == type_ex ? nullptr : find_object(protocol_, type);
        if (known == nullptr) return other_target(name_type(state, type, protocol_).text);
        return type < plain_.size() ? plain_[type] = known_target(*known) : known_target(*known);
    }
    if (aliases_.empty()) aliases_.resize(last_alias - first_alias + 1U);
    alias& a = aliases_[type - first_alias];
    if (a.looked_up == snapshots_) return a.where;
    auto const meaning = find_extended_type(state, type);
    if (a.looked_up == 0 || meaning.value_or(uuid{}) != a.meaning) {
        a.meaning = meaning.value_or(uuid{});
        type_name const name = name_type(state, type, protocol_);
        a.where = name.known != nullptr ? known_target(*name.known) : other_target(name.text);
    }
    a.looked_up = snapshots_;
    return a.where;
}

item_rows::target item_rows::known_target(object const& known) {
    item_layout const& layout = layout_of(known);
    known_table& table = tables_[layout.table];
    table.layout = &layout;
    return {&table, 0};
}

item_rows::target item_rows::other_target(std::string const& name) {
    auto const [found, is_new] = other_numbers_.try_emplace(name, static_cast<std::uint32_t>(other_names_.size()));
    if (is_new) other_names_.push_back(found->first);
    return {nullptr, found->second};
}

void item_rows::take_other(std::uint32_t name, item const& i, std::int32_t tick) {
    auto const [found, is_new] = open_others_.try_emplace({name, i.id()});
    open_other& row = found->second;
    if (!is_new) {
        if (row.last_tick == tick) return add_other(name, i.id(), tick, tick, i.data);
        if (row.last_tick == before_ &&
            std::equal(row.ints.begin(), row.ints.end(), i.data.begin(), i.data.end())) {
            row.last_tick = tick;
            return;
        }
        add_other(name, i.id(), row.first_tick, row.last_tick, row.ints);
    }
    row.first_tick = row.last_tick = tick;
    open_other_bytes_ += i.data.size_bytes() - row.ints.size() * sizeof(std::int32_t);
    if (is_new) open_other_bytes_ += sizeof row;
    row.ints.assign(i.data.begin(), i.data.end());
}

void item_rows::add_other(std::uint32_t name, std::uint16_t id, std::int32_t first_tick, std::int32_t last_tick,
                          std::span<std::int32_t const> ints) {
    others_.push_back({name, id, first_tick, last_tick, {ints.begin(), ints.end()}});
    other_bytes_ += sizeof(complete_other) + ints.size_bytes();
}

void item_rows::close_all() {
    for (known_table& t : tables_) t.rows.close_all();
    for (auto const& [key, row] : open_others_)
        add_other(key.first, key.second, row.first_tick, row.last_tick, row.ints);
    open_others_.clear();
    open_other_bytes_ = 0;
}

void item_rows::close_gone() {
    for (known_table& t : tables_) t.rows.close_gone(before_);
    for (auto at = open_others_.begin(); at != open_others_.end();) {
        auto const& [key, row] = *at;
        if (row.last_tick == before_) {
            ++at;
            continue;
        }
        add_other(key.first, key.second, row.first_tick, row.last_tick, row.ints);
        open_other_bytes_ -= sizeof row + row.ints.size() * sizeof(std::int32_t);
        at = open_others_.erase(at);
    }
}

other_item item_rows::other(std::size_t number) const noexcept {
    complete_other const& o = others_[number];
    return {other_names_[o.name], {o.id, o.first_tick, o.last_tick, o.ints}};
}

std::size_t item_rows::bytes() const noexcept {
    std::size_t sum = other_bytes_ + open_other_bytes_;
    for (known_table const& t : tables_) sum += t.rows.bytes();
    return sum;
}

void item_rows::drop_complete() noexcept {
    for (known_table& t : tables_) t.rows.drop_complete();
    others_.clear();
    other_bytes_ = 0;
}

} // namespace teewire::replay
