#include "snapshot/snapshot_functions.hpp"
#include "snapshots.hpp"

#include "snapshot/hash.hpp"

#include <teewire/live_snapshot.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <memory>

using namespace teewire;

namespace {

auto const memory = std::make_unique<live_snapshot_memory<>>();
auto const scratch = std::make_unique<delta_memory<>>();

// Types without an agreed size, so that mutated deltas stay readable more often.
test::plain_items some_items(test::random& r, std::size_t count, std::size_t ids) {
    test::plain_items items;
    while (items.size() < count) {
        std::int32_t const key =
            make_key(static_cast<std::uint16_t>(64 + r.below(4)), static_cast<std::uint16_t>(r.below(ids)));
        if (test::holds(items, key)) continue;
        test::plain_item added{key, test::ints(static_cast<std::size_t>(key_id(key) % 13), 0)};
        for (auto& value : added.data) value = r.value();
        items.push_back(added);
    }
    return items;
}

test::plain_items next_items(test::random& r, test::plain_items const& from, std::size_t ids) {
    test::plain_items to;
    for (auto const& i : from) {
        if (r.chance(15)) continue;
        to.push_back(i);
        if (!i.data.empty() && r.chance(30)) to.back().data[r.below(i.data.size())] = r.value();
    }
    for (auto const& added : some_items(r, r.below(4), ids))
        if (!test::holds(to, added.key)) to.push_back(added);
    return to;
}

} // namespace

TEST_CASE("live: the empty one, and copies") {
    live_snapshot live{*memory};
    CHECK(live.size() == 0);
    CHECK(live.checksum() == 0);
    CHECK(test::same(live.view().ints(), snapshot_view{}.ints()));
    CHECK_FALSE(live.find(5));

    auto const full = test::layout({{make_key(5, 0), {1, 2, 3}}, {make_key(4, 7), {}}, {make_key(5, 1), {-7}}});
    CHECK(live.assign(test::view_of(full)) == failure{});
    CHECK(live.size() == 3);
    CHECK(live.checksum() == static_cast<std::uint32_t>(-1));
    CHECK(test::same(live.view().ints(), full));
    CHECK(live.view().distinct_keys());
    REQUIRE(live.find(make_key(5, 1)));
    CHECK(live.find(make_key(5, 1))->data[0] == -7);
    CHECK_FALSE(live.find(make_key(5, 2)));
    live.clear();
    CHECK(live.size() == 0);
    CHECK_FALSE(live.find(make_key(5, 1)));
}

TEST_CASE("live: limits") {
    auto const small = std::make_unique<live_snapshot_memory<snapshot_limits{2, 40}>>();
    live_snapshot live{*small};
    auto const three = test::layout({{1, {}}, {2, {}}, {3, {}}});
    CHECK(live.assign(test::view_of(three)) == failure{errc::too_many_items, 0});
    auto const large = test::layout({{1, {1, 2, 3, 4, 5, 6, 7}}});
    CHECK(live.assign(test::view_of(large)) == failure{errc::too_large, 0});
    CHECK(live.size() == 0);
    size_table const sizes;
    CHECK(live.apply(test::ints{0, 1, 0, 64, 0, 6, 1, 1, 1, 1, 1, 1}, sizes) == failure{});
    CHECK(live.apply(test::ints{0, 1, 0, 64, 1, 0}, sizes) == failure{errc::too_large, 3});
    CHECK(live.apply(test::ints{1, 2, 0, make_key(64, 0), 64, 1, 0, 64, 2, 0}, sizes) == failure{});
    CHECK(live.apply(test::ints{0, 1, 0, 64, 3, 0}, sizes) == failure{errc::too_many_items, 3});
    CHECK(live.size() == 2);
}

TEST_CASE("live: the limit of bytes counts the offset and the key of a new item") {
    auto const small = std::make_unique<live_snapshot_memory<snapshot_limits{3, 40}>>();
    live_snapshot live{*small};
    size_table const sizes;
    // Two counts, an offset, a key and 7 ints: 11 of 10.
    CHECK(live.apply(test::ints{0, 1, 0, 64, 0, 7, 1, 1, 1, 1, 1, 1, 1}, sizes) == failure{errc::too_large, 3});
    CHECK(live.apply(test::ints{0, 1, 0, 64, 0, 4, 1, 1, 1, 1}, sizes) == failure{}); // 8
    CHECK(live.apply(test::ints{0, 1, 0, 64, 1, 1, 1}, sizes) == failure{errc::too_large, 3});
    CHECK(live.apply(test::ints{0, 1, 0, 64, 1, 0}, sizes) == failure{});
    CHECK(live.view().ints().size() == 10);
    CHECK(live.apply(test::ints{0, 1, 0, 64, 2, 0}, sizes) == failure{errc::too_large, 3});
    // Removed items make room, for as much as they took.
    CHECK(live.apply(test::ints{1, 1, 0, make_key(64, 1), 64, 2, 1, 5}, sizes) == failure{errc::too_large, 4});
    CHECK(live.apply(test::ints{1, 1, 0, make_key(64, 1), 64, 2, 0}, sizes) == failure{});
    CHECK(live.checksum() == 4);
}

TEST_CASE("live: few large items that come and go stay within the memory") {
    using memory_type = live_snapshot_memory<snapshot_limits{64, 4096}>;
    auto const small = std::make_unique<memory_type>();
    live_snapshot live{*small};
    size_table const sizes;
    std::int32_t const* const begin = small->ints.data();
    std::int32_t const* const end = begin + small->ints.size();
    for (std::uint16_t id = 0; id < 200; ++id) {
        CAPTURE(id);
        // One item of 900 ints instead of the one before: two of them fit beside what is not used any more.
        test::ints delta{id > 0, 1, 0};
        if (id > 0) delta.push_back(make_key(64, static_cast<std::uint16_t>(id - 1)));
        delta.insert(delta.end(), {64, id, 900});
        delta.resize(delta.size() + 900, id + 1);
        REQUIRE(live.apply(delta, sizes) == failure{});
        auto const found = live.find(make_key(64, id));
        REQUIRE(found);
        REQUIRE(found->data.size() == 900);
        REQUIRE(found->data.data() > begin);
        REQUIRE(found->data.data() + 900 <= end);
        CHECK(std::count(found->data.begin(), found->data.end(), id + 1) == 900);
        CHECK(live.checksum() == 900U * (id + 1U));
        CHECK(live.size() == 1);
        if (id % 5 == 4) CHECK(live.view().ints().size() == 904);
    }
}

TEST_CASE("live: many small items that come and go stay within the memory") {
    auto const small = std::make_unique<live_snapshot_memory<snapshot_limits{8, 4096}>>();
    live_snapshot live{*small};
    size_table const sizes;
    for (std::uint16_t id = 0; id < 200; ++id) {
        test::ints delta{id > 0, 1, 0};
        if (id > 0) delta.push_back(make_key(64, static_cast<std::uint16_t>(id - 1)));
        delta.insert(delta.end(), {64, id, 1, id});
        REQUIRE(live.apply(delta, sizes) == failure{});
        REQUIRE(live.find(make_key(64, id)));
        CHECK(live.find(make_key(64, id))->data[0] == id);
        CHECK(live.size() == 1);
        CHECK(live.checksum() == id);
    }
}

TEST_CASE("live: keys that an enemy has put in a row") {
    live_snapshot live{*memory};
    test::plain_items items;
    for (auto const key : test::keys_in_a_row(1024, memory->table.size())) items.push_back({key, {}});
    auto const full = test::layout(items);
    REQUIRE(live.assign(test::view_of(full)).code == errc::ok);
    CHECK(test::longest_row(memory->table) < 256);
}

TEST_CASE("live: keys that all meet in one place of the table") {
    auto const multiplier = hash_multiplier(0, memory->table.data());
    unsigned const shift = 32U - static_cast<unsigned>(std::countr_zero(memory->table.size()));
    auto const keys =
        test::colliding_keys(1000, [=](std::int32_t key) { return detail::hash_key(key, multiplier, shift); });
    test::plain_items items;
    for (auto const key : keys) items.push_back({key, {key}});
    auto const full = test::layout(items);
    // All at once, and one after the other.
    for (bool const at_once : {true, false}) {
        CAPTURE(at_once);
        live_snapshot live{*memory};
        if (at_once) REQUIRE(live.assign(test::view_of(full)) == failure{});
        else
            for (auto const key : keys)
                REQUIRE(live.apply(test::ints{0, 1, 0, key_type(key), key_id(key), 1, key}, size_table{}) ==
                        failure{});
        CHECK(test::longest_row(memory->table) < 256);
        CHECK(live.size() == 1000);
        for (auto const key : keys) {
            auto const found = live.find(key);
            REQUIRE(found);
            REQUIRE(found->data[0] == key);
        }
    }
}

TEST_CASE("live: items with one key go together") {
    // 200 keys, five items each; some go, some stay.
    test::plain_items items;
    for (int n = 0; n < 1000; ++n) items.push_back({make_key(64, static_cast<std::uint16_t>(n % 200)), {n}});
    auto const full = test::layout(items);
    live_snapshot live{*memory};
    REQUIRE(live.assign(test::view_of(full)).code == errc::ok);
    test::ints delta{100, 1, 0};
    for (std::uint16_t id = 0; id < 100; ++id) delta.push_back(make_key(64, static_cast<std::uint16_t>(2 * id)));
    delta.insert(delta.end(), {64, 1, 1, 7});
    test::ints out(snapshot_limits{}.ints());
    auto const expected = apply_delta(*snapshot_view::parse(full), delta, sizes_06, *scratch, out);
    REQUIRE(expected);
    REQUIRE(live.apply(delta, sizes_06).code == errc::ok);
    CHECK(live.size() == 500);
    CHECK(live.checksum() == expected->checksum());
    auto const ints = live.view().ints();
    CHECK(test::ints(ints.begin(), ints.end()) == test::ints(expected->ints().begin(), expected->ints().end()));
}

namespace {

// A snapshot and deltas on it, by both ways: the same errors, notes and snapshots.
void check_like_apply_delta(test::plain_items const& items, std::vector<test::ints> const& deltas) {
    auto const full = test::layout(items);
    live_snapshot live{*memory};
    snapshot_view now = test::view_of(full);
    REQUIRE(live.assign(now) == failure{});
    std::vector<test::ints> buffers(deltas.size(), test::ints(snapshot_limits{}.ints()));
    for (std::size_t i = 0; i < deltas.size(); ++i) {
        CAPTURE(i);
        note_log notes, live_notes;
        auto const expected =
            plain::apply_delta(now, deltas[i], sizes_06, *scratch, buffers[i], {decoding::strict, {}, &notes});
        CHECK(live.apply(deltas[i], sizes_06, {decoding::strict, {}, &live_notes}) == test::error_of(expected));
        if (expected) {
            CHECK(test::same(notes, live_notes));
            now = *expected;
        }
        CHECK(live.size() == now.size());
        CHECK(live.checksum() == now.checksum());
    }
    CHECK(test::same(live.view().ints(), now.ints()));
    CHECK(live.view().distinct_keys() == test::view_of(now.ints()).distinct_keys());
}

} // namespace

TEST_CASE("live: of two items with one key the second is not taken for the first") {
    std::int32_t const a = make_key(64, 1), b = make_key(64, 2), c = make_key(64, 3);
    // Removed one after the other: after c comes the second a, which is not the one that is meant.
    check_like_apply_delta({{b, {1}}, {a, {2}}, {c, {3}}, {a, {4}}}, {{2, 0, 0, c, a}});
    check_like_apply_delta({{a, {2}}, {c, {3}}, {a, {4}}}, {{2, 0, 0, c, a}, {0, 1, 0, 64, 1, 1, 7}});
    check_like_apply_delta({{a, {2}}, {c, {3}}, {a, {4}}}, {{2, 1, 0, c, a, 64, 1, 1, 7}});
    check_like_apply_delta({{a, {2}}, {a, {3}}, {a, {4}}}, {{3, 0, 0, a, a, a}});
}

TEST_CASE("live: when the items with one key have gone, no key is repeated any more") {
    std::int32_t const a = make_key(64, 1), b = make_key(64, 2);
    test::plain_items const items{{b, {1}}, {a, {2}}, {a, {4}}};
    // The note about repeated keys is made once more with each delta, as long as there are some.
    check_like_apply_delta(items, {{0, 0, 0}, {1, 0, 0, a}, {0, 0, 0}, {0, 1, 0, 64, 1, 1, 7}, {0, 0, 0}});
    check_like_apply_delta(items, {{1, 0, 0, b}, {0, 0, 0}, {1, 1, 0, a, 64, 1, 1, 7}, {0, 0, 0}});
    // Refused: what was to go stays.
    check_like_apply_delta(items, {{1, 1, 0, a, 64, 2, 2, 7, 7}, {0, 0, 0}, {0, 1, 0, 64, 1, 1, 7}});
    check_like_apply_delta({{b, {1}}, {a, {2}}},
                           {{1, 1, 0, b, 64, 1, 2, 7, 7}, {1, 0, 0, b}, {0, 1, 0, 64, 1, 1, 7}});
}

TEST_CASE("live: long histories of good and bad deltas give what apply_delta gives") {
    std::vector<std::int32_t> buffers[2] = {std::vector<std::int32_t>(16384), std::vector<std::int32_t>(16384)};
    std::size_t refused = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        test::random r{seed};
        std::size_t const ids = 20 + r.below(200);
        live_snapshot live{*memory};
        auto items = some_items(r, r.below(40), ids);
        if (seed % 8 == 7 && !items.empty())
            items.push_back(items.front()); // a key twice, as in a crafted keyframe
        auto const start = test::layout(items);
        snapshot_view now = test::view_of(start);
        REQUIRE(live.assign(now) == failure{});
        for (int step = 0; step < 150; ++step) {
            CAPTURE(step);
            test::ints delta(delta_bound(now, now) + 1000);
            auto const to = test::layout(next_items(r, test::items_of(now), ids));
            auto const created = create_delta(now, test::view_of(to), sizes_06, *scratch, delta);
            if (created) delta.assign(created->begin(), created->end());
            else delta = {0, 0, 0};
            if (delta.empty()) delta = {0, 0, 0};
            if (r.chance(50)) { // what no writer makes
                std::size_t const at = r.below(delta.size());
                switch (r.below(4)) {
                case 0: delta[at] = r.value(); break;
                case 1: delta[at] = delta[r.below(delta.size())]; break;
                case 2: delta.resize(at + 1); break;
                case 3:
                    ++delta[1];
                    delta.insert(delta.end(), delta.begin() + 3, delta.end());
                    break;
                }
            }
            note_log notes, live_notes;
            auto const mode = r.chance(50) ? decoding::strict : decoding::lenient;
            auto& out = buffers[now.ints().data() == buffers[0].data() ? 1 : 0];
            auto const expected = plain::apply_delta(now, delta, sizes_06, *scratch, out, {mode, {}, &notes});
            failure const got = live.apply(delta, sizes_06, {mode, {}, &live_notes});
            CHECK(got == (expected ? failure{} : expected.error()));
            if (expected) {
                now = *expected;
                CHECK(test::same(notes, live_notes));
            } else {
                ++refused;
            }
            CHECK(live.size() == now.size());
            CHECK(live.checksum() == now.checksum());
            if (r.chance(30)) {
                CHECK(test::same(live.view().ints(), now.ints()));
                CHECK(live.view().distinct_keys() == now.distinct_keys());
            }
            for (int k = 0; k < 3; ++k) {
                std::int32_t const key =
                    make_key(static_cast<std::uint16_t>(64 + r.below(4)), static_cast<std::uint16_t>(r.below(ids)));
                auto const found = live.find(key);
                auto const wanted = now.find(key);
                REQUIRE(found.has_value() == wanted.has_value());
                if (found) CHECK(test::same(found->data, wanted->data));
            }
        }
        CHECK(test::same(live.view().ints(), now.ints()));
    }
    CHECK(refused > 500);
}
