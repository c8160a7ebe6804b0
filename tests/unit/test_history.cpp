#include "check.hpp"
#include "random.hpp"
#include "snapshots.hpp"

#include "teewire/history.hpp"
#include "teewire/snapshot_builder.hpp"

#include <map>
#include <memory>

using namespace teewire;
using test::error_of;

namespace {

test::ints snapshot_of(test::random& rng, std::size_t data_ints) {
    test::plain_item one{make_key(1, 2), test::ints(data_ints)};
    for (auto& value : one.data) value = rng.value();
    return test::layout({one});
}

// A snapshot has four ints more than its data.
constexpr std::size_t overhead = 4;

// The held snapshots must be the newest part of everything that was added, without a gap and unchanged.
void check_against(history const& h, std::map<std::int32_t, test::ints> const& model) {
    std::size_t held = 0;
    for (auto it = model.rbegin(); it != model.rend(); ++it) {
        auto const found = h.find(it->first);
        REQUIRE(found.has_value() == (held < h.size()));
        if (!found) continue;
        ++held;
        REQUIRE(std::equal(it->second.begin(), it->second.end(), found->ints().begin(), found->ints().end()));
        CHECK(h.oldest() <= it->first);
        CHECK(h.newest() >= it->first);
    }
    CHECK(held == h.size());
    CHECK(h.oldest().has_value() == (held > 0));
    CHECK(h.newest().has_value() == (held > 0));
    if (held > 0) CHECK(*h.newest() == model.rbegin()->first);
    if (held > 0) CHECK(*h.oldest() == std::next(model.rbegin(), static_cast<std::ptrdiff_t>(held - 1))->first);
}

} // namespace

TEST_CASE("history: empty") {
    history::entry entries[2];
    test::ints block(10);
    history const h{entries, block};
    CHECK(h.size() == 0);
    CHECK_FALSE(h.oldest().has_value());
    CHECK_FALSE(h.newest().has_value());
    CHECK_FALSE(h.find(0).has_value());
}

TEST_CASE("history: ticks must increase") {
    test::random rng{15};
    history::entry entries[4];
    test::ints block(100);
    history h{entries, block};
    auto const snapshot = snapshot_of(rng, 3);
    auto const view = test::view_of(snapshot);
    auto const added = h.add(-7, view);
    REQUIRE(added);
    CHECK(test::dec(added->ints()) == test::dec(snapshot));
    CHECK(added->ints().data() != snapshot.data());
    CHECK(error_of(h.add(-7, view)) == failure{errc::bad_tick, 0});
    CHECK(error_of(h.add(-8, view)) == failure{errc::bad_tick, 0});
    REQUIRE(h.add(INT32_MAX, view));
    CHECK(error_of(h.add(INT32_MIN, view)) == failure{errc::bad_tick, 0});
    CHECK(h.size() == 2);
    CHECK(h.oldest() == -7);
    CHECK(h.newest() == INT32_MAX);
    CHECK(h.find(-7).has_value());
    CHECK_FALSE(h.find(0).has_value());

    h.clear();
    CHECK(h.size() == 0);
    CHECK_FALSE(h.find(-7).has_value());
    REQUIRE(h.add(-100, view));
    CHECK(h.newest() == -100);
}

TEST_CASE("history: what cannot fit drops nothing") {
    test::random rng{16};
    history::entry entries[4];
    test::ints block(20);
    history h{entries, block};
    auto const small = snapshot_of(rng, 6);
    auto const large = snapshot_of(rng, 20 - overhead);
    auto const huge = snapshot_of(rng, 21 - overhead);
    REQUIRE(h.add(1, test::view_of(small)));
    REQUIRE(h.add(2, test::view_of(small)));
    CHECK(error_of(h.add(3, test::view_of(huge))) == failure{errc::too_large, 20});
    CHECK(h.size() == 2);
    CHECK(h.find(1).has_value());
    REQUIRE(h.add(3, test::view_of(large)));
    CHECK(h.size() == 1);
    CHECK(h.oldest() == 3);
    CHECK(test::copy_of(h.find(3)->ints()) == large);
}

TEST_CASE("history: equal sizes fill the block exactly") {
    test::random rng{17};
    history::entry entries[100];
    std::size_t const size = 6 + overhead;
    test::guarded<std::int32_t> block{10 * size};
    history h{entries, block.span()};
    for (std::int32_t tick = 0; tick < 1000; ++tick) {
        auto const snapshot = snapshot_of(rng, 6);
        REQUIRE(h.add(tick, test::view_of(snapshot)));
        CHECK(h.size() == std::min<std::size_t>(static_cast<std::size_t>(tick) + 1, 10));
    }
    CHECK(h.oldest() == 990);
    CHECK(block.intact());
}

TEST_CASE("history: the number of entries is a limit of its own") {
    test::random rng{18};
    std::vector<history::entry> entries(3);
    test::ints block(1000);
    history h{entries, block};
    for (std::int32_t tick = 0; tick < 50; tick += 2) {
        auto const snapshot = snapshot_of(rng, rng.below(20));
        REQUIRE(h.add(tick, test::view_of(snapshot)));
        CHECK(h.size() == std::min<std::size_t>(static_cast<std::size_t>(tick) / 2 + 1, 3));
        CHECK_FALSE(h.find(tick - 1).has_value());
        CHECK_FALSE(h.find(tick - 6).has_value());
        if (tick >= 4) CHECK(h.find(tick - 4).has_value());
    }
}

TEST_CASE("history: one entry alone") {
    test::random rng{19};
    history::entry entry[1];
    test::ints block(30);
    history h{entry, block};
    for (std::int32_t tick = 0; tick < 20; ++tick) {
        auto const snapshot = snapshot_of(rng, rng.below(20));
        REQUIRE(h.add(tick, test::view_of(snapshot)));
        CHECK(h.size() == 1);
        CHECK(test::copy_of(h.find(tick)->ints()) == snapshot);
    }
}

TEST_CASE("history: dropping") {
    test::random rng{20};
    history::entry entries[8];
    test::ints block(200);
    history h{entries, block};
    auto const snapshot = snapshot_of(rng, 2);
    for (std::int32_t tick = 10; tick < 60; tick += 10) REQUIRE(h.add(tick, test::view_of(snapshot)));
    h.drop_before(0);
    CHECK(h.size() == 5);
    h.drop_before(10);
    CHECK(h.size() == 5);
    h.drop_before(25);
    CHECK(h.size() == 3);
    CHECK(h.oldest() == 30);
    CHECK_FALSE(h.find(20).has_value());
    h.drop_before(1000);
    CHECK(h.size() == 0);
    CHECK_FALSE(h.newest().has_value());
    REQUIRE(h.add(5, test::view_of(snapshot)));
    CHECK(h.oldest() == 5);
}

TEST_CASE("history: wraps many times with random sizes") {
    for (std::uint64_t seed = 21; seed < 29; ++seed) {
        CAPTURE(seed);
        test::random rng{seed};
        std::vector<history::entry> entries(1 + rng.below(40));
        std::size_t const block_size = 100 + rng.below(400);
        test::guarded<std::int32_t> block{block_size};
        history h{entries, block.span()};
        std::map<std::int32_t, test::ints> model;
        std::int32_t tick = -50;
        std::size_t most = 0;
        for (int round = 0; round < 1500; ++round) {
            tick += 1 + static_cast<std::int32_t>(rng.below(4));
            // Mostly small ones, sometimes one that takes nearly everything.
            std::size_t const bound = rng.chance(2) ? block_size - overhead : 40;
            auto const snapshot = rng.chance(5) ? test::layout({}) : snapshot_of(rng, rng.below(bound + 1));
            std::size_t const before = h.size();
            auto const added = h.add(tick, test::view_of(snapshot));
            REQUIRE(added);
            CHECK(h.size() >= 1);
            CHECK(h.size() <= before + 1);
            CHECK(h.size() <= entries.size());
            model[tick] = snapshot;
            if (rng.chance(3)) h.drop_before(tick - static_cast<std::int32_t>(rng.below(20)));
            if (rng.chance(1)) {
                h.clear();
                model.clear();
            }
            while (model.size() > 60) model.erase(model.begin());
            check_against(h, model);
            most = std::max(most, h.size());
        }
        CHECK(block.intact());
        CHECK(most <= entries.size());
        CHECK((most > 3 || entries.size() <= 3));
    }
}

TEST_CASE("history: drops no more than it has to") {
    // After 40 of 50 ints, a snapshot of 20 goes to the start of the block and takes the place of the two oldest.
    test::random rng{30};
    history::entry entries[10];
    test::ints block(50);
    history h{entries, block};
    auto const ten = snapshot_of(rng, 10 - overhead);
    auto const twenty = snapshot_of(rng, 20 - overhead);
    for (std::int32_t tick = 1; tick <= 4; ++tick) REQUIRE(h.add(tick, test::view_of(ten)));
    REQUIRE(h.add(5, test::view_of(twenty)));
    CHECK(h.size() == 3);
    CHECK(h.oldest() == 3);
    // Twenty more take the places of 3 and 4, and the gap at the end is used again.
    REQUIRE(h.add(6, test::view_of(twenty)));
    CHECK(h.size() == 2);
    REQUIRE(h.add(7, test::view_of(ten)));
    CHECK(h.size() == 3);
    CHECK(h.oldest() == 5);
}

TEST_CASE("history: keeps the outline of a snapshot that has one") {
    auto const ints = test::layout({{make_key(4, 1), {1, 2, 3}}, {make_key(5, 1), {}}, {make_key(6, 2), {4, 5}}});
    auto const plain = snapshot_view::trusted(ints);
    test::ints const keys{make_key(4, 1), make_key(5, 1), make_key(6, 2)};
    std::vector<std::uint32_t> starts(starts_words(plain.data_size() / 4));
    find_starts(plain, starts);
    std::size_t const whole = ints.size() + keys.size() + starts.size();
    history::entry entries[8];
    test::guarded<std::int32_t> block{2 * whole + ints.size()};
    history h{entries, block.span()};
    for (std::int32_t tick = 0; tick < 20; ++tick) {
        bool const outlined = tick % 3 != 0;
        REQUIRE(h.add(tick, outlined ? plain.with_outline({keys, starts}) : plain));
        auto const kept = h.find(tick);
        REQUIRE(kept);
        CHECK(test::same(kept->ints(), ints));
        CHECK(kept->outline().keys.size() == (outlined ? keys.size() : 0));
        if (outlined) {
            CHECK(test::same(kept->outline().keys, keys));
            CHECK(std::equal(starts.begin(), starts.end(), kept->outline().starts.begin()));
        }
        CHECK(h.size() >= std::min<std::size_t>(2, static_cast<std::size_t>(tick) + 1));
    }
    CHECK(block.intact());
}

TEST_CASE("history: outlines stay whole as long as their snapshots are held") {
    struct known {
        test::ints ints, keys;
        std::vector<std::uint32_t> starts;
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        test::random rng{seed};
        std::vector<history::entry> entries(4 + rng.below(8));
        test::guarded<std::int32_t> block{150 + rng.below(200)};
        history h{entries, block.span()};
        std::map<std::int32_t, known> added;
        for (std::int32_t tick = 0; tick < 150; ++tick) {
            known& k = added[tick];
            test::plain_items items;
            for (std::uint16_t id = 0, n = static_cast<std::uint16_t>(1 + rng.below(7)); id < n; ++id)
                items.push_back({make_key(4, id), test::ints(rng.below(6), tick)});
            k.ints = test::layout(items);
            auto const plain = snapshot_view::trusted(k.ints);
            bool const outlined = rng.chance(60);
            if (outlined) {
                for (auto const& i : items) k.keys.push_back(i.key);
                k.starts.resize(starts_words(plain.data_size() / 4));
                find_starts(plain, k.starts);
            }
            REQUIRE(h.add(tick, outlined ? plain.with_outline({k.keys, k.starts}) : plain));
            for (std::int32_t old = *h.oldest(); old <= tick; ++old) {
                auto const held = h.find(old);
                REQUIRE(held);
                known const& expected = added[old];
                REQUIRE(test::same(held->ints(), expected.ints));
                auto const outline = held->outline();
                REQUIRE(test::same(outline.keys, expected.keys));
                REQUIRE(std::equal(outline.starts.begin(), outline.starts.end(), expected.starts.begin(),
                                   expected.starts.end()));
            }
        }
        CHECK(block.intact());
    }
}

TEST_CASE("history: while clients answer, the first eighth of the block is all that is touched") {
    constexpr std::int32_t untouched = 0x5eed5eed;
    test::random rng{41};
    std::vector<history::entry> entries(80);
    test::ints block(history::block_ints(entries.size(), 1, 100), untouched);
    auto const touched = [&] {
        auto const last = std::find_if(block.rbegin(), block.rend(), [](auto i) { return i != untouched; });
        return static_cast<std::size_t>(block.rend() - last);
    };
    history h{entries, block};
    std::map<std::int32_t, test::ints> model;
    std::int32_t tick = 0;
    auto const add = [&] {
        auto const snapshot = snapshot_of(rng, 60 + rng.below(100 - overhead - 60 + 1));
        REQUIRE(h.add(++tick, test::view_of(snapshot)));
        model[tick] = snapshot;
        model.erase(tick - 80);
    };
    auto const answers = [&](std::int32_t late) { // for so many ticks after what has been sent
        for (int i = 0; i < 3000; ++i) {
            add();
            h.drop_before(tick - late);
            if (i > 80) CHECK(h.size() == static_cast<std::size_t>(late) + 1);
            if (i % 16 == 0) check_against(h, model);
        }
    };
    answers(6);
    CHECK(touched() > 7 * 64);
    CHECK(touched() <= block.size() / 8);
    // One that falls silent keeps its base for as long as there are entries, and goes back when it answers.
    for (int silence = 0; silence < 3; ++silence) {
        std::int32_t const base = *h.oldest();
        while (tick < base + 79) {
            add();
            REQUIRE(h.find(base));
        }
        check_against(h, model);
        CHECK(touched() > block.size() / 2);
        add();
        CHECK_FALSE(h.find(base));
        CHECK(h.size() == 80);
        answers(6);
        std::fill(block.begin() + static_cast<std::ptrdiff_t>(block.size() / 8), block.end(), untouched);
        answers(6);
        CHECK(touched() <= block.size() / 8);
    }
    // The needs of a distant one do not fit there, and nothing of it is lost.
    answers(30);
    CHECK(h.size() == 31);
}

TEST_CASE("history: late ticks are found like the others, whatever is dropped") {
    test::random rng{16};
    for (int round = 0; round < 50; ++round) {
        std::vector<history::entry> entries(2 + rng.below(20));
        test::ints block(200 + rng.below(400));
        history h{entries, block};
        std::vector<std::pair<std::int32_t, test::ints>> added; // in the order of adding
        std::int32_t newest = 0;
        for (int i = 0; i < 200; ++i) {
            std::int32_t const tick =
                rng.chance(30) ? newest - static_cast<std::int32_t>(rng.below(12)) : newest + 1 + rng.chance(50);
            auto const ints = snapshot_of(rng, rng.below(30));
            bool const held = h.find(tick).has_value();
            auto const result = h.add_late(tick, test::view_of(ints));
            CHECK(result.has_value() == !held);
            if (held) CHECK(error_of(result) == failure{errc::bad_tick, 0});
            else added.emplace_back(tick, ints);
            newest = std::max(newest, tick);
            if (rng.chance(5)) h.drop_before(newest - 8);
            if (rng.chance(1)) h.clear();

            // The held snapshots are those added last.
            REQUIRE(h.size() <= added.size());
            std::int32_t high = INT32_MIN;
            std::int32_t low = INT32_MAX;
            for (std::size_t k = added.size() - h.size(); k < added.size(); ++k) {
                auto const found = h.find(added[k].first);
                REQUIRE(found);
                CHECK(std::equal(found->ints().begin(), found->ints().end(), added[k].second.begin(),
                                 added[k].second.end()));
                high = std::max(high, added[k].first);
                low = std::min(low, added[k].first);
            }
            if (h.size() == 0) continue;
            CHECK(h.newest() == high);
            CHECK(h.oldest() == low);
            CHECK_FALSE(h.add(high, test::view_of(ints)).has_value());
        }
    }
}

TEST_CASE("history: what lies ahead is the base, and where one like it would be kept") {
    test::random rng{18};
    history::entry entries[4];
    test::ints block(40);
    history h{entries, block};
    CHECK(h.ahead(1).base.empty());
    CHECK(h.ahead(1).stored == nullptr);
    for (std::int32_t tick = 1; tick <= 6; ++tick) {
        auto const snapshot = snapshot_of(rng, 8);
        REQUIRE(h.add(tick, test::view_of(snapshot)));
        CHECK(h.ahead(tick + 1).base.empty());
        auto const ahead = h.ahead(tick);
        CHECK(ahead.base.ints().data() == h.find(tick)->ints().data());
        auto const* const stored = static_cast<std::int32_t const*>(ahead.stored);
        CHECK(stored >= block.data());
        CHECK(stored + 9 <= block.data() + block.size());
        if (tick == 1) CHECK(stored == ahead.base.items().data() + snapshot.size());
    }
}

TEST_CASE("history: a word of the caller's") {
    std::vector<history::entry> entries(2);
    test::ints block(100);
    history past{entries, block};
    for (std::int32_t tick = 1; tick <= 3; ++tick)
        REQUIRE(past.add(tick, {}, static_cast<std::uint64_t>(tick) << 40));
    CHECK(past.word_of(1) == std::nullopt); // dropped
    CHECK(past.word_of(2) == std::uint64_t{2} << 40);
    CHECK(past.word_of(3) == std::uint64_t{3} << 40);
    REQUIRE(past.add(4, {}));
    CHECK(past.word_of(4) == 0);
}

TEST_CASE("history: so many of the largest fit in the ints that are named") {
    test::random rng{9};
    for (std::size_t const kept : {1, 2, 7, 28, 29, 30, 40, 100}) {
        CAPTURE(kept);
        std::vector<history::entry> entries(kept);
        test::ints block(history::block_ints(kept, 10, 500));
        history past{entries, block};
        auto const memory = std::make_unique<snapshot_builder_memory<>>();
        snapshot_builder builder{*memory};
        std::size_t held = 0;
        for (std::int32_t tick = 1; tick < 2000; ++tick) {
            // At first and now and then small ones, so that the block is divided; else any, and mostly the largest.
            bool const small = tick < 10 || rng.chance(5);
            std::uint16_t const items = static_cast<std::uint16_t>(1 + rng.below(10));
            builder.start();
            for (std::uint16_t id = 0; id < items; ++id) {
                std::size_t const most = 498U / items - 2;
                REQUIRE(builder.add(5, id, small ? rng.below(3) : rng.chance(70) ? most : rng.below(most + 1)));
            }
            REQUIRE(past.add(tick, builder.finish()));
            held = std::min(held + 1, kept);
            CHECK(past.size() == held);
            if (!rng.chance(3)) continue;
            std::int32_t const oldest = tick - static_cast<std::int32_t>(rng.below(kept));
            past.drop_before(oldest);
            held = std::min(held, static_cast<std::size_t>(tick - oldest + 1));
            CHECK(past.size() == held);
        }
    }
}
