// Items as rows of tables.
#include "check.hpp"

#include "game/message_fields.hpp"
#include "tables/item_tables.hpp"
#include "tables/tabulator.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

using namespace teewire;
using namespace teewire::replay;

namespace {

struct made_item {
    std::uint16_t type;
    std::uint16_t id;
    std::vector<std::int32_t> data;
};

// With whatever keys are wanted, also the same ones.
std::vector<std::int32_t> snapshot_of(std::vector<made_item> const& items) {
    std::vector<std::int32_t> ints{0, static_cast<std::int32_t>(items.size())};
    std::vector<std::int32_t> section;
    for (made_item const& i : items) {
        ints.push_back(static_cast<std::int32_t>(4 * section.size()));
        section.push_back(make_key(i.type, i.id));
        section.insert(section.end(), i.data.begin(), i.data.end());
    }
    ints[0] = static_cast<std::int32_t>(4 * section.size());
    ints.insert(ints.end(), section.begin(), section.end());
    return ints;
}

void add_items(item_rows& rows, std::int32_t tick, std::vector<made_item> const& items) {
    auto const ints = snapshot_of(items);
    rows.add(tick, snapshot_view::trusted(ints, false));
}

std::size_t table_named(std::string_view name) {
    auto const& all = item_tables();
    auto const found = std::find_if(all.begin(), all.end(), [&](item_table const& t) { return t.name == name; });
    REQUIRE(found != all.end());
    return static_cast<std::size_t>(found - all.begin());
}

using row = std::tuple<int, int, int, std::vector<std::int32_t>>; // id, ticks, ints
std::vector<row> rows_of(item_rows const& rows, std::string_view table) {
    std::vector<row> all;
    table_rows const& t = rows.rows(table_named(table));
    for (std::uint32_t const place : t.order()) {
        item_row const r = t.row_at(place);
        all.emplace_back(r.id, r.first_tick, r.last_tick, std::vector<std::int32_t>{r.ints.begin(), r.ints.end()});
    }
    return all;
}
using other = std::tuple<std::string, int, int, int, std::vector<std::int32_t>>;
std::vector<other> others_of(item_rows const& rows) {
    std::vector<other> all;
    for (std::size_t n = 0; n < rows.other_count(); ++n) {
        other_item const o = rows.other(n);
        all.emplace_back(o.type, o.row.id, o.row.first_tick, o.row.last_tick,
                         std::vector<std::int32_t>{o.row.ints.begin(), o.row.ints.end()});
    }
    return all;
}

} // namespace

TEST_CASE("every type of item has one table, whose columns have names of their own") {
    std::set<std::string> names;
    for (item_table const& t : item_tables()) {
        CHECK(names.insert(t.name).second);
        std::set<std::string> columns{"recording", "id", "tick", "first_tick", "last_tick", "more"};
        for (item_column const& c : t.columns)
            CHECK_MESSAGE(columns.insert(c.name).second, t.name << "." << c.name);
    }
    for (protocol const p : {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07}) {
        // In one recording, no two types share a table.
        std::set<std::size_t> used;
        auto const check = [&](object const& o) {
            item_layout const& layout = layout_of(o);
            CHECK(used.insert(layout.table).second);
            CHECK(item_tables()[layout.table].name == o.name);
            CHECK(layout.columns.size() == item_tables()[layout.table].columns.size());
            CHECK(layout.described == o.ints);
        };
        for (object const& o : plain_objects(p)) check(o);
        for (object const& o : extended_objects()) check(o);
    }
}

TEST_CASE("an item is one row for as long as it stays as it was") {
    item_rows rows;
    rows.begin(protocol::ddnet);
    made_item const flag{5, 1, {10, 20, 0}};
    add_items(rows, 100, {flag, {5, 0, {1, 2, 3}}});
    add_items(rows, 102, {flag, {5, 0, {1, 2, 3}}});
    add_items(rows, 104, {{5, 0, {1, 2, 4}}, flag}); // another order is the same item
    add_items(rows, 106, {flag});
    add_items(rows, 108, {flag, {5, 0, {1, 2, 4}}}); // was away
    CHECK(rows_of(rows, "flag") == std::vector<row>{{0, 100, 102, {1, 2, 3}}, {0, 104, 104, {1, 2, 4}}});
    rows.drop_complete();
    CHECK(rows.bytes() == 6 * sizeof(std::int32_t)); // what is still there
    rows.close_all();
    CHECK(rows_of(rows, "flag") == std::vector<row>{{0, 108, 108, {1, 2, 4}}, {1, 100, 108, {10, 20, 0}}});

    // Removed items can be delivered before the end, and may come again.
    rows.begin(protocol::ddnet);
    add_items(rows, 1, {flag, {5, 0, {1, 2, 3}}, {5, 2, {7, 8, 9}}, {40, 1, {5}}});
    std::size_t const all = rows.bytes();
    add_items(rows, 2, {{5, 2, {7, 8, 9}}});
    CHECK(rows.bytes() == all);
    rows.close_gone();
    CHECK(rows_of(rows, "flag") == std::vector<row>{{0, 1, 1, {1, 2, 3}}, {1, 1, 1, {10, 20, 0}}});
    CHECK(others_of(rows) == std::vector<other>{{"type_40", 1, 1, 1, {5}}});
    rows.drop_complete();
    CHECK(rows.bytes() == 3 * sizeof(std::int32_t)); // what is still there
    add_items(rows, 3, {flag, {5, 2, {7, 8, 9}}});
    rows.close_all();
    CHECK(rows_of(rows, "flag") == std::vector<row>{{1, 3, 3, {10, 20, 0}}, {2, 1, 3, {7, 8, 9}}});

    // Nothing goes over into the next recording.
    rows.begin(protocol::teeworlds_07);
    add_items(rows, 108, {flag});
    rows.close_all();
    CHECK(rows_of(rows, "flag") == std::vector<row>{{1, 108, 108, {10, 20, 0}}});
}

TEST_CASE("items that have no table or no place of their own are kept as ints") {
    item_rows rows;
    rows.begin(protocol::ddnet);
    add_items(rows, 1, {{5, 0, {1, 2, 3}}, {5, 0, {4, 5, 6}}, {40, 7, {9}}, {40, 7, {9}}, {0x8001, 2, {}}});
    add_items(rows, 2, {{40, 7, {9}}});
    rows.close_all();
    CHECK(rows_of(rows, "flag") == std::vector<row>{{0, 1, 1, {1, 2, 3}}});
    auto found = others_of(rows);
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<other>{{"flag", 0, 1, 1, {4, 5, 6}},
                                      {"type_32769", 2, 1, 1, {}},
                                      {"type_40", 7, 1, 1, {9}},
                                      {"type_40", 7, 1, 2, {9}}});
}

TEST_CASE("an alias means what the snapshot says, which can change") {
    object const& player = *find_object(protocol::ddnet, "ddnet_player");
    object const& best = *find_object(protocol::ddnet, "map_best_time");
    auto const describes = [](object const& o) {
        std::vector<std::int32_t> ints;
        for (std::size_t i = 0; i < 16; i += 4)
            ints.push_back(static_cast<std::int32_t>(
                std::uint32_t{o.extended.bytes[i]} << 24 | std::uint32_t{o.extended.bytes[i + 1]} << 16 |
                std::uint32_t{o.extended.bytes[i + 2]} << 8 | o.extended.bytes[i + 3]));
        return ints;
    };
    item_rows rows;
    rows.begin(protocol::ddnet);
    add_items(rows, 1, {{0, 0x7fff, describes(player)}, {0x7fff, 3, {1, 2}}});
    add_items(rows, 2, {{0x7fff, 3, {1, 2}}, {0, 0x7fff, describes(best)}});
    add_items(rows, 3, {{0x7fff, 3, {1, 2}}});
    rows.close_all();
    CHECK(rows_of(rows, "ddnet_player") == std::vector<row>{{3, 1, 1, {1, 2}}});
    CHECK(rows_of(rows, "map_best_time") == std::vector<row>{{3, 2, 2, {1, 2}}});
    CHECK(rows.other_count() == 3);
    CHECK(others_of(rows).back() == other{"type_32767", 3, 3, 3, {1, 2}});
}

TEST_CASE("cells are what the fields mean, and nothing where an item is too short") {
    std::string scratch;
    object const& info = *find_object(protocol::ddnet, "client_info");
    item_layout const& layout = layout_of(info);
    auto const column = [](std::size_t table, std::string_view name) {
        auto const& all = item_tables()[table].columns;
        return static_cast<std::size_t>(
            std::find_if(all.begin(), all.end(), [&](item_column const& c) { return c.name == name; }) -
            all.begin());
    };
    std::vector<std::int32_t> ints(17);
    encode_text("alice \xff", std::span{ints}.first(4));
    ints[7] = -5;
    CHECK(read_cell(layout.columns[column(layout.table, "name")], ints, scratch).text == "alice \xef\xbf\xbd");
    CHECK(read_cell(layout.columns[column(layout.table, "country")], ints, scratch).integer == -5);
    auto const short_item = std::span{ints}.first(3);
    CHECK(read_cell(layout.columns[column(layout.table, "name")], short_item, scratch).is == cell::kind::none);
    // 0.7 has this, DDNet has not.
    CHECK(read_cell(layout.columns[column(layout.table, "skin_part_names_0")], ints, scratch).is ==
          cell::kind::none);

    item_layout const& character = layout_of(*find_object(protocol::ddnet, "character"));
    std::size_t const weapon = column(character.table, "weapon");
    std::vector<std::int32_t> tee(22);
    tee[19] = 3;
    CHECK(read_cell(character.columns[weapon], tee, scratch).text == "grenade");
    tee[19] = 99;
    CHECK(read_cell(character.columns[weapon], tee, scratch).integer == 99);
}

TEST_CASE("messages as JSON") {
    auto const json = [](std::vector<std::uint8_t> const& fields, message_type type, protocol p) {
        return fields_json({1, false, {}, fields}, type, p);
    };
    CHECK(json({0, 1, 'h', '"', 0}, message_type::chat, protocol::ddnet) ==
          R"({"team":0,"client_id":1,"text":"h\""})");
    CHECK(json({0, 1, 'h', 0, 0, 0}, message_type::chat, protocol::ddnet) ==
          R"({"team":0,"client_id":1,"text":"h"})"); // filled up
    CHECK(json({0, 1, 'h', 0, 7}, message_type::chat, protocol::ddnet) == R"({"data":"0001680007"})");
    CHECK(json({0, 1}, message_type::chat, protocol::ddnet) == R"({"data":"0001"})");
    CHECK(json({1, 2}, message_type::unknown, protocol::ddnet) == R"({"data":"0102"})");
    CHECK(json({3, 4, 1}, message_type::team, protocol::teeworlds_07) == R"({"data":"030401"})");
    CHECK(json({3, 1, 1, 4}, message_type::team, protocol::teeworlds_07) ==
          R"({"client_id":3,"team":1,"silent":true,"cooldown_tick":4})");
    CHECK(json({2, 1, 5}, message_type::tune_params, protocol::ddnet) == R"({"values":[2,1,5]})");
    CHECK(json({1, 2, 3, 2, 0xab, 0xcd}, message_type::map_data, protocol::ddnet) ==
          R"({"last":true,"crc":2,"number":3,"data":"abcd"})");
    // A field that may be left out, several of a kind, and a message that this protocol does not have.
    CHECK(json({1}, message_type::rcon_auth_status, protocol::ddnet) == R"({"level":1})");
    CHECK(json({1, 2}, message_type::rcon_auth_status, protocol::ddnet) == R"({"level":1,"command_list":2})");
    std::vector<std::uint8_t> options{2, 'a', 0, 'b', 0};
    options.resize(options.size() + 13);
    CHECK(json(options, message_type::vote_option_list_add, protocol::ddnet) ==
          R"({"count":2,"descriptions":["a","b","","","","","","","","","","","","",""]})");
    CHECK(json({1}, message_type::rcon_cmd_group_start, protocol::ddnet) == R"({"count":1})");
    CHECK(json({1}, message_type::rcon_cmd_group_start, protocol::teeworlds_06) == R"({"data":"01"})");
    for (std::uint8_t const size : {0, 0x41}) // none, and -2
        CHECK(json({1, 2, 3, size}, message_type::map_data, protocol::ddnet) ==
              R"({"last":true,"crc":2,"number":3,"data":""})");
}

namespace {

// Everything, as texts in their order.
struct kept_rows final : table_sink {
    std::vector<std::string> items;
    std::vector<std::string> others;
    std::size_t times = 0; // that rows were handed over

    void begin(recording_row const& r) override { others.push_back(fmt::format("part {}", r.part)); }
    void add(new_rows const& rows) override {
        ++times;
        for (tick_row const& t : rows.ticks) others.push_back(fmt::format("tick {} {}", t.tick, t.keyframe));
        for (std::size_t n = 0; n < item_tables().size(); ++n)
            for (std::uint32_t const place : rows.items.rows(n).order()) {
                item_row const r = rows.items.rows(n).row_at(place);
                items.push_back(fmt::format("{} {} {} {} {}", item_tables()[n].name, r.id, r.first_tick,
                                            r.last_tick, fmt::join(r.ints, " ")));
            }
    }
    void end(recording_row const& r) override {
        others.push_back(fmt::format("{} snapshots from {} to {}", r.snapshots, r.first_tick, r.last_tick));
    }
};

kept_rows tabulate(std::size_t most_bytes) {
    kept_rows kept;
    new_rows memory;
    tabulator tables{kept, memory, most_bytes};
    recording_info what;
    stream_event event;
    event.kind = event_kind::begin;
    event.begun = &what;
    tables.put(event);
    for (std::int32_t n = 0; n < 200; ++n) {
        // One that moves, one that stays, one that comes and goes; and the ticks restart.
        std::vector<made_item> items{{5, 1, {n, 0, 0}}, {5, 2, {1, 2, 3}}};
        if (n % 7 < 3) items.push_back({5, 9, {n / 7, 0, 0}});
        auto const ints = snapshot_of(items);
        event = {};
        event.kind = event_kind::snapshot;
        event.tick = n % 120;
        event.keyframe = n % 50 == 0;
        event.state = snapshot_view::trusted(ints, true);
        tables.put(event);
    }
    tables.finish();
    std::sort(kept.items.begin(), kept.items.end());
    return kept;
}

} // namespace

TEST_CASE("rows are the same however often they are handed over, and ticks that begin anew are another part") {
    kept_rows const whole = tabulate(1 << 20);
    CHECK(whole.times == 2);
    CHECK(whole.others.front() == "part 0");
    CHECK(std::count(whole.others.begin(), whole.others.end(), "120 snapshots from 0 to 119") == 1);
    CHECK(std::count(whole.others.begin(), whole.others.end(), "part 1") == 1);
    CHECK(whole.others.back() == "80 snapshots from 0 to 79");
    CHECK(std::count(whole.items.begin(), whole.items.end(), "flag 2 0 119 1 2 3") == 1);
    for (std::size_t const bytes : {0, 100, 1000}) {
        kept_rows const bits = tabulate(bytes);
        CHECK(bits.times >= 10);
        CHECK(bits.items == whole.items);
        CHECK(bits.others == whole.others);
    }
}
