// Every variant of the hot snapshot functions gives what its plain twin gives.
#include "random.hpp"
#include "snapshots.hpp"

#include "snapshot/hash.hpp"
#include "snapshot/snapshot_functions.hpp"

#include <teewire/snapshot_builder.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

using loose_item = test::plain_item;
using loose_snapshot = test::plain_items;

std::int32_t small_or_large(test::random& r) {
    return r.below(4) == 0 ? static_cast<std::int32_t>(r.next()) : static_cast<std::int32_t>(r.below(100)) - 50;
}

loose_item make_item(test::random& r, std::int32_t key) {
    std::size_t const agreed = sizes_06[key_type(key)];
    loose_item made{key, std::vector<std::int32_t>(agreed != 0 ? agreed : r.below(r.below(8) == 0 ? 70 : 20))};
    for (auto& value : made.data) value = small_or_large(r);
    return made;
}

loose_snapshot make_snapshot(test::random& r, std::size_t items) {
    loose_snapshot made;
    std::vector<std::int32_t> keys;
    while (made.size() < items) {
        auto const type = static_cast<std::uint16_t>(r.below(3) == 0 ? 64 + r.below(8) : 1 + r.below(20));
        std::int32_t const key = make_key(type, static_cast<std::uint16_t>(r.below(400)));
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        keys.push_back(key);
        made.push_back(make_item(r, key));
    }
    return made;
}

// Items change, come, go and move.
loose_snapshot next_snapshot(test::random& r, loose_snapshot const& from) {
    loose_snapshot to;
    std::size_t const liveliness = r.below(4);
    for (auto const& old : from) {
        std::size_t const fate = r.below(100);
        if (fate < liveliness * 4) continue;
        to.push_back(old);
        if (fate < 10 + liveliness * 25 && !old.data.empty())
            for (std::size_t n = 1 + r.below(3); n-- > 0;)
                to.back().data[r.below(old.data.size())] = small_or_large(r);
        if (fate > 97 && liveliness > 1) {
            std::int32_t const key = make_key(70, static_cast<std::uint16_t>(1000 + to.size()));
            to.push_back(make_item(r, key));
        }
    }
    if (liveliness == 3 && to.size() > 1)
        for (std::size_t n = r.below(5); n-- > 0;) std::swap(to[r.below(to.size())], to[r.below(to.size())]);
    if (r.below(10) == 0)
        for (std::size_t n = to.size(); n > 1; --n) std::swap(to[n - 1], to[r.below(n)]);
    return to;
}

struct bench_pair {
    loose_snapshot loose_from = {}, loose_to = {};
    std::vector<std::int32_t> from_ints = test::layout(loose_from), to_ints = test::layout(loose_to);
    snapshot_view from = snapshot_view::trusted(from_ints), to = snapshot_view::trusted(to_ints);
};

// A copy that lies elsewhere and knows its outline.
struct outlined {
    outlined(snapshot_view of, std::size_t shift) : ints(shift + of.ints().size()) {
        std::copy(of.ints().begin(), of.ints().end(), ints.begin() + static_cast<std::ptrdiff_t>(shift));
        for (item const i : of) keys.push_back(i.key);
        starts.resize(starts_words(of.data_size() / 4));
        find_starts(of, starts);
        view = snapshot_view::trusted(std::span{ints}.subspan(shift)).with_outline({keys, starts});
    }
    outlined(outlined const&) = delete;
    outlined& operator=(outlined const&) = delete;

    std::vector<std::int32_t> ints, keys;
    std::vector<std::uint32_t> starts;
    snapshot_view view;
};

bench_pair make_pair(std::uint64_t seed) {
    test::random r{seed};
    auto const from = make_snapshot(r, r.below(r.below(4) == 0 ? 400 : 40));
    auto const to = next_snapshot(r, from);
    return {from, to};
}

} // namespace

TEST_CASE("every create_delta gives the same ints, in memory of any size") {
    auto const memory = std::make_unique<delta_memory<>>();
    for (std::uint64_t seed = 0; seed < 800; ++seed) {
        CAPTURE(seed);
        auto const pair = make_pair(seed);
        std::vector<std::int32_t> expected(delta_bound(pair.from, pair.to));
        auto const plain = plain::create_delta(pair.from, pair.to, sizes_06, *memory, expected);
        REQUIRE(plain);
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            CAPTURE(v.name.data());
            std::vector<std::int32_t> out(expected.size());
            auto const created = v.functions.create_delta(pair.from, pair.to, sizes_06, *memory, out);
            REQUIRE(created);
            CHECK(test::same(*created, *plain));
            outlined const from{pair.from, static_cast<std::size_t>(seed % 16)};
            outlined const to{pair.to, static_cast<std::size_t>(seed / 16 % 16)};
            auto const again = v.functions.create_delta(from.view, to.view, sizes_06, *memory, out);
            REQUIRE(again);
            CHECK(test::same(*again, *plain));
            // Exactly as large as needed, and a little too small.
            std::size_t const needed = std::max<std::size_t>(plain->size(), delta_header_ints);
            for (std::size_t size = needed - std::min<std::size_t>(needed, 5); size <= needed; ++size) {
                std::vector<std::int32_t> tight(size + 1, 0x5a5a5a5a);
                auto const fits =
                    v.functions.create_delta(pair.from, pair.to, sizes_06, *memory, std::span{tight}.first(size));
                CHECK(fits.has_value() == (size == needed));
                if (fits) CHECK(test::same(*fits, *plain));
                else CHECK(fits.error().code == errc::output_full);
                CHECK(tight.back() == 0x5a5a5a5a);
            }
        }
    }
}

TEST_CASE("every create_delta refuses changed sizes") {
    auto const memory = std::make_unique<delta_memory<>>();
    std::vector<std::int32_t> out(4096);
    for (std::size_t items : {1, 2, 5, 40})
        for (std::size_t odd = 0; odd < items; ++odd)
            for (bool const moved : {false, true}) {
                loose_snapshot from;
                for (std::size_t i = 0; i < items; ++i)
                    from.push_back({make_key(70, static_cast<std::uint16_t>(i)), {1, 2, 3}});
                auto to = from;
                if (moved) std::reverse(to.begin(), to.end());
                to[odd].data.push_back(4);
                bench_pair const pair{from, to};
                for (auto const& v : kernels::snapshot_variants()) {
                    if (!kernels::supported(v.required)) continue;
                    CAPTURE(v.name.data());
                    auto const created = v.functions.create_delta(pair.from, pair.to, sizes_06, *memory, out);
                    REQUIRE_FALSE(created);
                    CHECK(created.error() == failure{errc::size_mismatch, odd});
                }
            }
}

TEST_CASE("every apply_delta gives the same snapshot or refuses, whatever the delta") {
    auto const memory = std::make_unique<delta_memory<>>();
    std::vector<std::int32_t> expected(16384);
    std::vector<std::int32_t> out(16384);
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        auto const pair = make_pair(seed);
        std::vector<std::int32_t> made(delta_bound(pair.from, pair.to) + 64);
        auto const created = plain::create_delta(pair.from, pair.to, sizes_06, *memory, made);
        REQUIRE(created);
        std::vector<std::int32_t> const good(created->begin(), created->end());
        test::random r{seed + 1000000};
        for (int mutation = 0; mutation < 12; ++mutation) {
            CAPTURE(seed);
            CAPTURE(mutation);
            auto delta = good;
            if (delta.empty()) delta.assign(3, 0);
            // 0: unchanged. Otherwise wrong counts, keys, sizes, repeated and cut parts.
            if (mutation > 0) {
                for (std::size_t n = 1 + r.below(3); n-- > 0;) {
                    std::size_t const at = r.below(delta.size());
                    switch (r.below(6)) {
                    case 0: delta[at] = small_or_large(r); break;
                    case 1: delta[at] += static_cast<std::int32_t>(r.below(3)) - 1; break;
                    case 2: delta[at] = delta[r.below(delta.size())]; break;
                    case 3: delta.resize(at + 1); break;
                    case 4:
                        ++delta[1];
                        delta.insert(delta.end(), good.begin() + std::min<std::ptrdiff_t>(3, std::ssize(good)),
                                     good.end());
                        break;
                    case 5:
                        delta[r.below(std::min<std::size_t>(3, delta.size()))] =
                            static_cast<std::int32_t>(r.below(20));
                        break;
                    }
                }
            }
            for (auto const mode : {decoding::strict, decoding::lenient}) {
                note_log plain_notes;
                apply_options options{mode, {}, &plain_notes};
                if (seed % 7 == 0)
                    options.limits = {static_cast<std::uint32_t>(pair.from.size() + r.below(8)), 65536};
                if (seed % 7 == 1)
                    options.limits.bytes = static_cast<std::uint32_t>(pair.from.ints().size() * 4 + r.below(200));
                auto const plain = plain::apply_delta(pair.from, delta, sizes_06, *memory, expected, options);
                for (auto const& v : kernels::snapshot_variants()) {
                    if (!kernels::supported(v.required)) continue;
                    CAPTURE(v.name.data());
                    note_log notes;
                    options.notes = &notes;
                    auto const applied = v.functions.apply_delta(pair.from, delta, sizes_06, *memory, out, options);
                    REQUIRE(applied.has_value() == plain.has_value());
                    if (plain) {
                        CHECK(test::same(applied->ints(), plain->ints()));
                        CHECK(test::same(notes, plain_notes));
                    } else {
                        CHECK(applied.error().code == plain.error().code);
                        CHECK(applied.error().position == plain.error().position);
                    }
                }
                (plain ? accepted : refused) += 1;
            }
        }
    }
    CHECK(accepted > 2000);
    CHECK(refused > 2000);
}

TEST_CASE("deltas between snapshots with few keys in common are the same, and so is what they make") {
    auto const memory = std::make_unique<delta_memory<>>();
    test::ints expected(20000), out(20000), expected_items(16384), items(16384);
    std::size_t repeated = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        CAPTURE(seed);
        test::random r{seed};
        std::size_t const n = 1 + r.below(seed % 2 == 0 ? 1024 : 200);
        auto const make = [&](std::uint32_t first, std::size_t common) {
            loose_snapshot made;
            for (std::size_t i = 0; i < n; ++i) {
                auto const number = static_cast<std::uint32_t>(i < common ? i : first + i);
                auto const type = static_cast<std::uint16_t>(64 + number % 9);
                made.push_back({make_key(type, static_cast<std::uint16_t>(number * 31)), test::ints(number % 4)});
                for (auto& value : made.back().data) value = r.value();
            }
            for (std::size_t i = n; i > 1; --i) std::swap(made[i - 1], made[r.below(i)]);
            return made;
        };
        std::size_t const common = r.below(3) == 0 ? 0 : r.below(n);
        bench_pair const pair{make(2000, common), make(8000, common)};
        auto const created = plain::create_delta(pair.from, pair.to, sizes_06, *memory, expected);
        REQUIRE(created);
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            CAPTURE(v.name.data());
            auto const same = v.functions.create_delta(pair.from, pair.to, sizes_06, *memory, out);
            REQUIRE(same);
            CHECK(test::same(*same, *created));
        }
        // Removes what is not there, or was removed before, and may add an item twice.
        test::ints delta(created->begin(), created->end());
        test::ints more(r.below(3000));
        for (auto& key : more) key = r.chance(5) ? pair.from.key(r.below(n)) : static_cast<std::int32_t>(r.next());
        delta.insert(delta.begin() + delta_header_ints, more.begin(), more.end());
        delta[0] += static_cast<std::int32_t>(more.size());
        if (item const last = pair.to[n - 1]; r.chance(50)) {
            delta.insert(delta.end(), {last.type(), last.id(), static_cast<std::int32_t>(last.data.size())});
            delta.insert(delta.end(), last.data.begin(), last.data.end());
            ++delta[1];
            ++repeated;
        }
        note_log plain_notes;
        auto const applied = plain::apply_delta(pair.from, delta, sizes_06, *memory, expected_items,
                                                {decoding::strict, {}, &plain_notes});
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            CAPTURE(v.name.data());
            note_log notes;
            for (note_log* const told :
                 {&notes, static_cast<note_log*>(nullptr)}) { // without them, keys are skipped
                auto const same = v.functions.apply_delta(pair.from, delta, sizes_06, *memory, items,
                                                          {decoding::strict, {}, told});
                REQUIRE(same.has_value() == applied.has_value());
                if (applied) CHECK(test::same(same->ints(), applied->ints()));
                else CHECK(same.error() == applied.error());
            }
            if (applied) CHECK(test::same(notes, plain_notes));
        }
    }
    CHECK(repeated > 30);
}

TEST_CASE("every apply_delta leaves out ints before the first item") {
    auto const memory = std::make_unique<delta_memory<>>();
    test::ints const base{16, 1, 4, 99, make_key(70, 1), 5, 6}; // one int, key, two ints of data
    auto const view = snapshot_view::parse(base);
    REQUIRE(view);
    REQUIRE(view->distinct_keys());
    for (test::ints const& delta : {test::ints{0, 0, 0}, test::ints{0, 1, 0, 70, 1, 2, 10, 20},
                                    test::ints{0, 1, 0, 70, 2, 1, 7}, test::ints{1, 0, 0, make_key(70, 1)}}) {
        test::ints expected(64), out(64);
        auto const plain = plain::apply_delta(*view, delta, sizes_06, *memory, expected, {});
        REQUIRE(plain);
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            auto const applied = v.functions.apply_delta(*view, delta, sizes_06, *memory, out, {});
            REQUIRE(applied);
            CHECK(test::same(applied->ints(), plain->ints()));
        }
    }
}

TEST_CASE("every checksum is the same") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        auto const pair = make_pair(seed);
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            CHECK(v.functions.checksum(pair.to) == plain::checksum(pair.to));
        }
    }
}

TEST_CASE("every holds_key finds the same keys") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::random r{seed};
        test::ints keys(r.below(100));
        for (auto& key : keys) key = static_cast<std::int32_t>(r.below(200));
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            for (std::int32_t key = 0; key < 200; ++key)
                CHECK(v.functions.holds_key(keys, key) == plain::holds_key(keys, key));
        }
    }
}

TEST_CASE("every apply_updates does the same, and stops at the same updates") {
    struct state {
        std::vector<detail::live_slot> items;
        test::ints pool;
        std::uint32_t sum = 0;
        test::ints odd; // keys
        bool operator==(state const& other) const {
            return pool == other.pool && sum == other.sum && odd == other.odd &&
                   std::equal(items.begin(), items.end(), other.items.begin(), [](auto const& a, auto const& b) {
                       return a.delta == b.delta && a.position == b.position && a.now == b.now;
                   });
        }
    };
    std::size_t odd = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        test::random r{seed};
        state before;
        std::vector<std::uint16_t> table(128);
        constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15U;
        constexpr unsigned shift = 32 - 7;
        for (std::uint16_t n = 0; n < 50; ++n) {
            auto const key = make_key(static_cast<std::uint16_t>(64 + r.below(5)), n);
            auto const size = static_cast<std::uint32_t>(r.below(r.below(4) == 0 ? 70 : 24));
            auto const now = r.chance(90) ? detail::live_slot::live : detail::live_slot::pending_removal;
            auto const follower = static_cast<std::uint16_t>(r.chance(50) ? n + 1 : r.below(100));
            before.items.push_back(
                {key, static_cast<std::uint32_t>(before.pool.size()), size, 6, 0, now, follower});
            for (std::size_t i = 0; i <= size; ++i) before.pool.push_back(r.value());
            std::size_t at = detail::hash_key(key, multiplier, shift);
            while (table[at] != 0) at = (at + 1) % table.size();
            table[at] = static_cast<std::uint16_t>(n + 1);
        }
        test::ints delta{0, 0, 0};
        for (std::size_t n = 0; n < 50; ++n) {
            if (!r.chance(60)) continue;
            // Now and then an unknown item, one with another size, or one that was there before.
            auto const& item = before.items[r.chance(10) ? r.below(50) : n];
            std::int32_t const key = r.chance(5) ? item.key + 100 : item.key;
            std::uint32_t const size = item.size + (r.chance(5) ? 1 : 0);
            delta.insert(delta.end(), {key_type(key), key_id(key), static_cast<std::int32_t>(size)});
            for (std::size_t i = 0; i < size; ++i) delta.push_back(r.value());
            ++delta[1];
        }
        auto const change = [&](state s, auto* run) {
            auto reader = *delta_reader::open(delta, sizes_06);
            kernels::in_place_state c{s.items.data(),
                                      seed % 5 == 0 ? 0 : s.items.size(),
                                      s.pool.data(),
                                      table,
                                      multiplier,
                                      shift,
                                      delta.data(),
                                      7,
                                      0};
            for (delta_reader::update update; run(c, reader, update);) s.odd.push_back(update.key);
            s.sum = c.sum;
            return s;
        };
        state const expected = change(before, plain::apply_updates);
        odd += expected.odd.size();
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            CAPTURE(v.name.data());
            CHECK(change(before, v.functions.apply_updates) == expected);
        }
    }
    CHECK(odd > 500);
}
