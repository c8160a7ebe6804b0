#include "check.hpp"
#include "random.hpp"
#include "records.hpp"
#include "snapshot/snapshot_functions.hpp"
#include "snapshots.hpp"

#include "snapshot/seen_keys.hpp"

#include "teewire/history.hpp"
#include "teewire/snapshot_builder.hpp"

#include <memory>

using namespace teewire;
using test::error_of;

namespace {

template <snapshot_limits limits = snapshot_limits{}>
struct builder_with_memory {
    std::unique_ptr<snapshot_builder_memory<limits>> memory = std::make_unique<snapshot_builder_memory<limits>>();
    snapshot_builder builder{*memory};
};

void add(snapshot_builder& to, test::plain_items const& items) {
    for (auto const& i : items) REQUIRE(to.add(item{i.key, i.data}));
}

constexpr uuid ddnet_character = uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045c");
constexpr uuid spec_char = uuid::parse("4b801c74-e24c-3ce0-b92c-b754d02cfc8a");

// Laid out as it should be, with an outline that says so.
void expect_built(snapshot_view view, test::plain_items const& items) {
    REQUIRE(test::copy_of(view.ints()) == test::layout(items));
    auto const outline = view.outline();
    REQUIRE(outline.keys.size() == items.size());
    for (std::size_t i = 0; i < items.size(); ++i) REQUIRE(outline.keys[i] == items[i].key);
    std::vector<std::uint32_t> starts(starts_words(view.data_size() / 4));
    find_starts(view, starts);
    REQUIRE(std::equal(starts.begin(), starts.end(), outline.starts.begin(), outline.starts.end()));
}

uuid numbered_uuid(std::size_t n) {
    uuid id;
    id.bytes[0] = static_cast<std::uint8_t>(n);
    id.bytes[15] = 1;
    return id;
}

} // namespace

TEST_CASE("builder: golden vectors") {
    builder_with_memory<> b;
    for (auto const& r : test::read_records("snapshot.txt")) {
        if (r.kind() != "snapshot") continue;
        CAPTURE(r.title());
        b.builder.start();
        add(b.builder, test::parse_items(r.all("item")));
        item_order const order = r.has("by_key") ? item_order::by_key : item_order::insertion;
        test::ints out(16384);
        auto const made = b.builder.finish(out, order);
        REQUIRE(made);
        CHECK(test::dec(made->ints()) == r.get("full"));
        if (order == item_order::insertion) CHECK(test::dec(b.builder.finish().ints()) == r.get("full"));
        CHECK(static_cast<std::int32_t>(made->checksum()) == test::number<std::int32_t>(r.get("crc")));
        CHECK(error_of(snapshot_view::parse(made->ints())) == failure{});
    }
}

TEST_CASE("builder: data starts as zeros and can be filled in") {
    builder_with_memory<> b;
    auto const first = b.builder.add(5, 0, 3);
    REQUIRE(first);
    std::fill(first->begin(), first->end(), 77);
    CHECK(test::dec(b.builder.finish().ints()) == "16 1 0 327680 77 77 77");
    b.builder.start();
    CHECK(b.builder.size() == 0);
    CHECK(test::dec(b.builder.finish().ints()) == "0 0");
    auto const second = b.builder.add(5, 0, 3);
    REQUIRE(second);
    CHECK(test::dec(*second) == "0 0 0");
    (*second)[2] = 4;
    CHECK(test::dec(b.builder.finish().ints()) == "16 1 0 327680 0 0 4");
}

TEST_CASE("builder: more items after finish") {
    builder_with_memory<> b;
    REQUIRE(b.builder.add(1, 1, 1));
    CHECK(test::dec(b.builder.finish().ints()) == "8 1 0 65537 0");
    REQUIRE(b.builder.add(1, 2, 0));
    CHECK(test::dec(b.builder.finish().ints()) == "12 2 0 8 65537 0 65538");
    CHECK(test::dec(b.builder.finish().ints()) == "12 2 0 8 65537 0 65538");
}

TEST_CASE("builder: refusals leave what was there") {
    builder_with_memory<> b;
    CHECK(error_of(b.builder.add(0x8000, 0, 1)) == failure{errc::bad_type, 0});
    CHECK(error_of(b.builder.add(0xffff, 0, 1)) == failure{errc::bad_type, 0});
    REQUIRE(b.builder.add(0x7fff, 0xffff, 1));
    CHECK(error_of(b.builder.add(0x7fff, 0xffff, 1)) == failure{errc::duplicate_key, 1});
    CHECK(error_of(b.builder.add(0x7fff, 0xffff, 2)) == failure{errc::duplicate_key, 1});
    CHECK(error_of(b.builder.add(item{-1, {}})) == failure{errc::bad_type, 1});
    CHECK(error_of(b.builder.add(1, 0, 16384)) == failure{errc::too_large, 1});
    CHECK(error_of(b.builder.add(1, 0, SIZE_MAX)) == failure{errc::too_large, 1});
    CHECK(b.builder.size() == 1);
    CHECK(test::dec(b.builder.finish().ints()) == "8 1 0 2147483647 0");
    REQUIRE(b.builder.add(1, 0, 1));
    CHECK(b.builder.size() == 2);
}

TEST_CASE("builder: 1024 items and not one more") {
    builder_with_memory<> b;
    for (std::size_t i = 0; i < 1024; ++i) REQUIRE(b.builder.add(3, static_cast<std::uint16_t>(i), 0));
    CHECK(error_of(b.builder.add(3, 1024, 0)) == failure{errc::too_many_items, 1024});
    CHECK(error_of(b.builder.add(3, 0, 0)) == failure{errc::too_many_items, 1024});
    CHECK(b.builder.size() == 1024);
    auto const view = snapshot_view::parse(b.builder.finish().ints());
    REQUIRE(view);
    CHECK(view->size() == 1024);
    CHECK(view->key(1023) == make_key(3, 1023));
}

TEST_CASE("builder: 64 KiB and not one int more") {
    builder_with_memory<> b;
    SUBCASE("in one item") {
        CHECK(error_of(b.builder.add(1, 0, 16381)) == failure{errc::too_large, 0});
        auto const data = b.builder.add(1, 0, 16380);
        REQUIRE(data);
        CHECK(data->size() == 16380);
        data->back() = 9;
    }
    SUBCASE("in two items") {
        REQUIRE(b.builder.add(1, 1, 10000));
        CHECK(error_of(b.builder.add(1, 2, 6379)) == failure{errc::too_large, 1});
        REQUIRE(b.builder.add(1, 2, 6378));
    }
    std::size_t const n = b.builder.size();
    CHECK(error_of(b.builder.add(1, 3, 0)) == failure{errc::too_large, n});
    auto const view = b.builder.finish();
    CHECK(view.ints().size() == 16384);
    CHECK(error_of(snapshot_view::parse(view.ints())) == failure{});
    test::ints out(16384);
    CHECK(error_of(b.builder.finish(out, item_order::by_key)) == failure{});
    CHECK(error_of(b.builder.finish(std::span{out}.first(16383), item_order::insertion)).code == errc::output_full);
}

TEST_CASE("builder: larger limits") {
    constexpr snapshot_limits limits{4096, 512 * 1024};
    builder_with_memory<limits> b;
    for (std::size_t i = 0; i < 4096; ++i) {
        auto const data = b.builder.add(3, static_cast<std::uint16_t>(4095 - i), 29);
        REQUIRE(data);
        (*data)[28] = static_cast<std::int32_t>(i);
    }
    CHECK(error_of(b.builder.add(4, 0, 0)) == failure{errc::too_many_items, 4096});
    test::ints out(limits.ints());
    auto const made = b.builder.finish(out, item_order::by_key);
    REQUIRE(made);
    CHECK(made->size() == 4096);
    CHECK(made->ints().size() == 2 + 4096 * 31);
    CHECK(made->key(0) == make_key(3, 0));
    CHECK((*made)[0].data[28] == 4095);
    CHECK((*made)[4095].data[28] == 0);
    CHECK(error_of(snapshot_view::parse(made->ints(), decoding::strict, limits)) == failure{});
    CHECK(error_of(snapshot_view::parse(made->ints())) == failure{errc::too_large, 16384});

    b.builder.start();
    CHECK(error_of(b.builder.add(1, 0, 131069)) == failure{errc::too_large, 0});
    CHECK(error_of(b.builder.add(1, 0, 131068)) == failure{});
    CHECK(b.builder.finish().ints().size() == limits.ints());
}

TEST_CASE("builder: small limits") {
    builder_with_memory<snapshot_limits{2, 32}> b;
    CHECK(error_of(b.builder.add(1, 0, 5)) == failure{errc::too_large, 0});
    REQUIRE(b.builder.add(1, 0, 1));
    REQUIRE(b.builder.add(1, 1, 1));
    CHECK(error_of(b.builder.add(1, 2, 0)) == failure{errc::too_many_items, 2});
    CHECK(test::dec(b.builder.finish().ints()) == "16 2 0 8 65536 0 65537 0");
}

TEST_CASE("builder: keys that all meet in one place of its index") {
    builder_with_memory<> b;
    std::span<std::uint32_t> const seen{b.memory->seen};
    seen_keys const place{seen, seen_keys::multiplier(seen)};
    auto const keys =
        test::colliding_keys(1024, [&](auto key) { return place.word_of(key) * 32 + place.bit_of(key); });
    for (auto const key : keys) REQUIRE(b.builder.add(item{key, {}}));
    b.builder.start();
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
        REQUIRE(b.builder.add(item{keys[i], {}}));
        REQUIRE(error_of(b.builder.add(item{keys[i / 2], {}})) == failure{errc::duplicate_key, i + 1});
    }
    CHECK(b.builder.finish().size() == 1023);
}

TEST_CASE("builder: every output size") {
    for (item_order const order : {item_order::insertion, item_order::by_key}) {
        builder_with_memory<> b;
        test::check_output_sizes<std::int32_t>(
            2, [&](std::span<std::int32_t> out) { return b.builder.finish(out, order); });
        add(b.builder, {{make_key(7, 0), {1, 2}}, {make_key(5, 3), {}}, {make_key(6, 0), {3}}});
        test::check_output_sizes<std::int32_t>(11, [&](std::span<std::int32_t> out) {
            auto const made = b.builder.finish(out, order);
            if (made)
                CHECK(test::dec(made->ints()) == (order == item_order::insertion
                                                      ? "24 3 0 12 16 458752 1 2 327683 393216 3"
                                                      : "24 3 0 4 12 327683 393216 3 458752 1 2"));
            return made;
        });
    }
}

TEST_CASE("builder: aliases of extended types, golden vectors") {
    builder_with_memory<> b;
    auto& builder = b.builder;
    CHECK(builder.alias_of(ddnet_character) == 0);
    auto const character = builder.add(ddnet_character, 5, 11);
    REQUIRE(character);
    CHECK(character->size() == 11);
    for (std::size_t i = 0; i < 11; ++i) (*character)[i] = static_cast<std::int32_t>(i + 1);
    add(builder, {{make_key(5, 0), {1, 2, 0}}});
    CHECK(builder.alias_of(ddnet_character) == 0x7fff);
    CHECK(builder.size() == 3);
    CHECK(test::dec(builder.finish().ints()) ==
          "84 3 0 20 68 32767 1993229659 -102024632 -1378361269 -1810037668 2147418117 1 2 3 4 5 6 7 8 9 10 11 "
          "327680 1 2 0");

    builder.start();
    CHECK(builder.size() == 1); // the description comes first, used or not
    auto const spec = builder.add(spec_char, 1, 2);
    REQUIRE(spec);
    (*spec)[0] = 7;
    (*spec)[1] = 8;
    auto const again = builder.add(ddnet_character, 5, 11);
    REQUIRE(again);
    for (std::size_t i = 0; i < 11; ++i) (*again)[i] = static_cast<std::int32_t>(i == 0 ? 2 : i + 1);
    CHECK(builder.alias_of(spec_char) == 0x7ffe);
    auto const items = test::items_of(builder.finish());
    test::plain_items const expected{
        {make_key(0, 32767), {1993229659, -102024632, -1378361269, -1810037668}},
        {make_key(0, 32766), {1266687092, -498320160, -1188251820, -802358134}},
        {make_key(32766, 1), {7, 8}},
        {make_key(32767, 5), {2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
    };
    CHECK(items == expected);

    builder.start();
    CHECK(test::dec(builder.finish().offsets()) == "0 20");
    CHECK((find_extended_type(builder.finish(), 0x7ffe) == spec_char));
}

TEST_CASE("builder: 64 extended types and not one more") {
    builder_with_memory<> b;
    for (std::size_t i = 0; i < 64; ++i) {
        REQUIRE(b.builder.add(numbered_uuid(i), 0, 1));
        CHECK(b.builder.alias_of(numbered_uuid(i)) == 0x7fff - i);
    }
    CHECK(error_of(b.builder.add(numbered_uuid(64), 0, 1)) == failure{errc::too_many_types, 128});
    CHECK(error_of(b.builder.add(numbered_uuid(63), 0, 1)) == failure{errc::duplicate_key, 128});
    REQUIRE(b.builder.add(numbered_uuid(63), 1, 1));
    b.builder.start();
    CHECK(b.builder.size() == 64);
    CHECK(error_of(b.builder.add(numbered_uuid(64), 0, 1)) == failure{errc::too_many_types, 64});
    CHECK(snapshot_builder::max_extended_types == 64);
}

TEST_CASE("builder: a new extended type that does not fit") {
    SUBCASE("its describing item does") {
        builder_with_memory<snapshot_limits{1, 1024}> b;
        CHECK(error_of(b.builder.add(spec_char, 0, 1)) == failure{errc::too_many_items, 1});
        CHECK(b.builder.size() == 1);
        CHECK(b.builder.alias_of(spec_char) == 0x7fff);
    }
    SUBCASE("nothing does") {
        builder_with_memory<snapshot_limits{4, 28}> b;
        CHECK(error_of(b.builder.add(spec_char, 0, 1)) == failure{errc::too_large, 0});
        CHECK(b.builder.size() == 0);
        CHECK(b.builder.alias_of(spec_char) == 0);
    }
}

TEST_CASE("builder: random snapshots are laid out as they should be") {
    test::random rng{14};
    builder_with_memory<> b;
    for (int round = 0; round < 200; ++round) {
        auto const items = test::next_items(rng, {}, sizes_06, 80);
        b.builder.start();
        add(b.builder, items);
        CHECK(b.builder.size() == items.size());
        auto const view = b.builder.finish();
        CHECK(test::copy_of(view.ints()) == test::layout(items));
        CHECK(error_of(snapshot_view::parse(view.ints())) == failure{});
    }
}

TEST_CASE("builder: like the snapshot before, for a while or throughout") {
    test::random rng{15};
    builder_with_memory<> b;
    test::plain_items items;
    for (int round = 0; round < 600; ++round) {
        // The same layout with other data, a part of it, or one that goes apart somewhere.
        if (rng.chance(50))
            for (auto& i : items)
                for (auto& value : i.data) value = rng.value();
        else if (rng.chance(30)) items.resize(rng.below(items.size() + 1));
        else items = test::next_items(rng, items, sizes_06, 10);
        if (items.size() > 200) items.clear();

        b.builder.start();
        std::size_t const look = rng.below(items.size() + 1);
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i == look) REQUIRE(b.builder.finish().size() == i);
            REQUIRE(b.builder.add(item{items[i].key, items[i].data}));
            auto const& again = items[rng.below(i + 1)];
            if (rng.chance(10))
                CHECK(error_of(b.builder.add(item{again.key, again.data})) == failure{errc::duplicate_key, i + 1});
        }
        auto const view = b.builder.finish();
        expect_built(view, items);
        CHECK(view.checksum() == plain::checksum(view));
    }
}

TEST_CASE("builder: no mark is left of a larger snapshot that was dropped") {
    builder_with_memory<> b;
    auto const expect_starts = [&] {
        auto const view = b.builder.finish();
        std::vector<std::uint32_t> starts(starts_words(view.data_size() / 4));
        find_starts(view, starts);
        auto const marked = view.outline().starts;
        CHECK(std::equal(starts.begin(), starts.end(), marked.begin(), marked.end()));
    };
    for (std::uint16_t id = 0; id < 100; ++id) REQUIRE(b.builder.add(5, id, 3));
    expect_starts();
    SUBCASE("started twice") { b.builder.start(); }
    SUBCASE("begun alike, and dropped") {
        b.builder.start();
        REQUIRE(b.builder.add(5, 0, 3));
    }
    SUBCASE("written, and dropped") {
        b.builder.start();
        REQUIRE(b.builder.write().add(5, 0, 3) != nullptr);
    }
    b.builder.start();
    REQUIRE(b.builder.add(5, 0, 3));
    expect_starts();
    REQUIRE(b.builder.add(6, 0, 300));
    expect_starts();
}

TEST_CASE("builder: written items are as added ones") {
    test::random rng{16};
    builder_with_memory<> b;
    test::plain_items items;
    for (int round = 0; round < 2000; ++round) {
        if (rng.chance(30)) items.resize(rng.below(items.size() + 1));
        else if (rng.chance(70)) items = test::next_items(rng, items, sizes_06, rng.chance(50) ? 10 : 100);
        if (items.size() > 300) items.clear();
        // Some keys come twice: those are left out, all others are there.
        test::plain_items wanted;
        std::size_t first_repeated = SIZE_MAX;
        b.builder.start();
        std::size_t const added = rng.below(items.size() + 1);
        std::size_t written = 0;
        auto writer = b.builder.write();
        for (std::size_t i = 0; i <= items.size(); ++i) {
            if (i == added) {
                REQUIRE(b.builder.take(writer));
                writer = b.builder.write();
                written = i;
                if (rng.chance(20)) REQUIRE(b.builder.finish().size() == i);
            }
            if (i == items.size()) break;
            if (i < added / 2) { // and the others are written
                REQUIRE(b.builder.add(item{items[i].key, items[i].data}));
                writer = b.builder.write();
            } else if (i % 2 == 0) {
                REQUIRE(writer.add(item{items[i].key, items[i].data}));
            } else {
                auto* const data = writer.add(key_type(items[i].key), key_id(items[i].key), items[i].data.size());
                REQUIRE(data != nullptr);
                std::copy(items[i].data.begin(), items[i].data.end(), data);
            }
            wanted.push_back(items[i]);
            if (i >= added) ++written;
            if (i >= added && rng.chance(3)) {
                auto const& again = items[rng.below(i + 1)];
                REQUIRE(writer.add(item{again.key, again.data}));
                first_repeated = std::min(first_repeated, written++);
            }
        }
        auto const taken = b.builder.take(writer);
        if (first_repeated == SIZE_MAX) CHECK(*taken == items.size());
        else CHECK(error_of(taken) == failure{errc::duplicate_key, first_repeated});
        if (!items.empty() && rng.chance(20))
            CHECK(error_of(b.builder.add(item{items[0].key, {}})) == failure{errc::duplicate_key, items.size()});
        expect_built(b.builder.finish(), wanted);
    }
}

TEST_CASE("builder: several clients in turn, each with a base of its own") {
    test::random rng{17};
    builder_with_memory<> b;
    struct client {
        std::vector<history::entry> entries = std::vector<history::entry>(4);
        test::ints block = test::ints(1 << 16);
        history past{entries, block};
        test::plain_items items;
    };
    std::array<client, 3> clients;
    for (std::int32_t tick = 1; tick < 800; ++tick)
        for (client& c : clients) {
            // Items go, come, change their sizes, and now and then change places.
            test::plain_items next;
            for (auto const& i : c.items)
                if (!rng.chance(5)) next.push_back(i);
            if (!next.empty() && rng.chance(30)) next[rng.below(next.size())].data.resize(rng.below(6));
            if (!next.empty() && rng.chance(20)) std::swap(next.front(), next[rng.below(next.size())]);
            for (std::size_t n = rng.below(rng.chance(10) ? 60 : 4); n > 0; --n) {
                auto const key = make_key(static_cast<std::uint16_t>(1 + rng.below(8)),
                                          static_cast<std::uint16_t>(rng.below(64)));
                auto const same_key = [&](auto const& i) { return i.key == key; };
                if (std::none_of(next.begin(), next.end(), same_key))
                    next.insert(next.begin() + static_cast<std::ptrdiff_t>(rng.below(next.size() + 1)),
                                {key, test::ints(rng.below(6), tick)});
            }
            c.items = next;

            auto const base_tick = tick - 1 - static_cast<std::int32_t>(rng.below(3));
            b.builder.start(c.past.ahead(base_tick));
            std::size_t const added = rng.below(next.size() + 1);
            std::size_t const again = rng.chance(20) ? rng.below(next.size() + 1) : SIZE_MAX;
            // A key that is there already, wherever it is in the base.
            auto const add_again = [&](std::size_t i) {
                if (i != again || i == 0) return;
                item const twice{next[rng.below(i)].key, {}};
                REQUIRE(error_of(b.builder.add(twice)) == failure{errc::duplicate_key, i});
            };
            for (std::size_t i = 0; i < added; ++i) {
                add_again(i);
                REQUIRE(b.builder.add(item{next[i].key, next[i].data}));
            }
            if (rng.chance(10)) REQUIRE(b.builder.finish().size() == added);
            auto writer = b.builder.write();
            std::size_t first_repeated = SIZE_MAX;
            for (std::size_t i = added; i < next.size(); ++i) {
                if (i == again && i != 0) {
                    first_repeated = i;
                    REQUIRE(writer.add(item{next[rng.below(i)].key, {}}));
                }
                REQUIRE(writer.add(item{next[i].key, next[i].data}));
            }
            auto const taken = b.builder.take(writer);
            if (first_repeated == SIZE_MAX) REQUIRE(*taken == next.size());
            else REQUIRE(error_of(taken) == failure{errc::duplicate_key, first_repeated});
            if (!next.empty() && rng.chance(20))
                REQUIRE(error_of(b.builder.add(item{next[rng.below(next.size())].key, {}})) ==
                        failure{errc::duplicate_key, next.size()});
            auto const built = b.builder.finish();
            expect_built(built, next);
            REQUIRE(c.past.add(tick, built));
        }
}

TEST_CASE("builder: a base that is larger than its limits") {
    builder_with_memory<snapshot_limits{4096, 512 * 1024}> large;
    builder_with_memory<snapshot_limits{3, 64}> b;
    for (std::uint16_t id = 0; id < 100; ++id) REQUIRE(large.builder.add(5, id, 3));
    auto const base = large.builder.finish();
    b.builder.start({base, nullptr});
    test::plain_items items;
    for (std::uint16_t id = 0; id < 3; ++id) {
        items.push_back({make_key(5, id), {0, 0, 0}});
        REQUIRE(b.builder.add(5, id, id == 2 ? 2 : 3));
    }
    items[2].data.pop_back();
    CHECK(error_of(b.builder.add(5, 3, 0)) == failure{errc::too_many_items, 3});
    expect_built(b.builder.finish(), items);
    b.builder.start();
    REQUIRE(b.builder.add(5, 0, 3));
    expect_built(b.builder.finish(), {items[0]});
}

TEST_CASE("builder: a base with keys that it refuses") {
    builder_with_memory<> b;
    std::int32_t const ints[] = {8, 2, 0, 4, -1, make_key(5, 0)};
    std::int32_t const keys[] = {-1, make_key(5, 0)};
    std::vector<std::uint32_t> starts(starts_words(2));
    auto const base = snapshot_view::trusted(ints);
    find_starts(base, starts);
    b.builder.start({base.with_outline({keys, starts}), nullptr});
    CHECK(error_of(b.builder.add(item{-1, {}})) == failure{errc::bad_type, 0});
    REQUIRE(b.builder.add(5, 0, 0));
    CHECK(error_of(b.builder.add(5, 0, 0)) == failure{errc::duplicate_key, 1});
    expect_built(b.builder.finish(), {{make_key(5, 0), {}}});
}

TEST_CASE("builder: what does not fit is not written") {
    SUBCASE("too large") {
        builder_with_memory<> b;
        auto writer = b.builder.write();
        CHECK(writer.add(1, 0, SIZE_MAX) == nullptr);
        CHECK(writer.add(1, 0, 16381) == nullptr);
        REQUIRE(writer.add(1, 1, 10000) != nullptr);
        CHECK(writer.add(1, 2, 6379) == nullptr);
        REQUIRE(writer.add(1, 2, 6377) != nullptr);
        CHECK(writer.add(1, 3, 0) == nullptr); // an int is left, and it would need two
        REQUIRE(*b.builder.take(writer) == 2);
        CHECK(b.builder.write().add(1, 3, 0) == nullptr);
        CHECK(error_of(b.builder.add(1, 3, 0)) == failure{errc::too_large, 2});
        CHECK(b.builder.finish().ints().size() == 16383);
    }
    SUBCASE("too many, or bad") {
        builder_with_memory<snapshot_limits{2, 1024}> b;
        auto writer = b.builder.write();
        CHECK(writer.add(0x8000, 0, 0) == nullptr);
        CHECK_FALSE(writer.add(item{-1, {}}));
        CHECK(writer.add(1, 0, 0) != nullptr);
        CHECK(writer.add(1, 1, 0) != nullptr);
        CHECK(writer.add(1, 2, 0) == nullptr);
        REQUIRE(*b.builder.take(writer) == 2);
        CHECK(b.builder.write().add(1, 2, 0) == nullptr);
    }
}

TEST_CASE("builder: an extended type is asked for once") {
    builder_with_memory<> b;
    auto const alias = b.builder.extended_type(spec_char);
    REQUIRE(alias);
    CHECK(*alias == 0x7fff);
    CHECK(*b.builder.extended_type(ddnet_character) == 0x7ffe);
    CHECK(*b.builder.extended_type(spec_char) == 0x7fff);
    CHECK(b.builder.size() == 2);
    b.builder.start();
    REQUIRE(b.builder.add(*alias, 3, 2)); // described already
    CHECK((find_extended_type(b.builder.finish(), *alias) == spec_char));
    CHECK(b.builder.size() == 3);
    REQUIRE(b.builder.add(spec_char, 4, 2));
    CHECK(b.builder.finish()[3].type() == *alias);
}

TEST_CASE("builder: more snapshots than it could count in a byte") {
    builder_with_memory<> b;
    for (std::uint16_t round = 0; round < 1000; ++round) {
        b.builder.start();
        REQUIRE(b.builder.add(5, round, 1));
        REQUIRE(b.builder.add(5, 7000, 1));
        CHECK(error_of(b.builder.add(5, round, 1)) == failure{errc::duplicate_key, 2});
    }
}
