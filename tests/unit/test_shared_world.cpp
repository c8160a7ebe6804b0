// Worlds that many clients share: every delta is compared with the output of a builder, create_delta and encode_varints
// for the single client.
#include "check.hpp"
#include "random.hpp"
#include "snapshot/shared_tick.hpp"
#include "snapshots.hpp"

#include "teewire/delta.hpp"
#include "teewire/shared_encoder.hpp"
#include "teewire/shared_world.hpp"
#include "teewire/snapshot_builder.hpp"
#include "teewire/varint.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

using namespace teewire;
using test::error_of;

namespace {

template <class T>
bool gives(result<T> const& r, std::size_t value) {
    return r && *r == value;
}

uuid type_number(std::int32_t n) {
    std::int32_t const words[4] = {n, 1, 2, 3};
    return uuid::from_ints(words);
}

/// Aligned, of exactly that size: the bytes after it must not change.
class memory_block {
public:
    explicit memory_block(std::size_t bytes) : words_(new std::uint64_t[(bytes + 7) / 8 + guards]), bytes_{bytes} {
        std::memset(words_.get(), 0xa5, (bytes + 7) / 8 * 8 + 8 * guards);
    }
    ~memory_block() {
        auto const* const behind = reinterpret_cast<std::uint8_t const*>(words_.get()) + bytes_;
        CHECK(std::count(behind, behind + 8 * guards, 0xa5) == 8 * guards);
    }
    memory_block(memory_block const&) = delete;
    memory_block& operator=(memory_block const&) = delete;
    [[nodiscard]] std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(words_.get()), bytes_}; }

private:
    static constexpr std::ptrdiff_t guards = 64; // words
    std::unique_ptr<std::uint64_t[]> words_;
    std::size_t bytes_;
};

struct shared_server {
    shared_limits limits;
    memory_block world_memory;
    shared_world world;
    memory_block encoder_memory;
    shared_encoder encoder;

    explicit shared_server(shared_limits const& l, std::size_t past_bytes = 1 << 20,
                           std::size_t encoder_bytes = 1 << 20)
        : limits{l}, world_memory{shared_world::fixed_bytes(l) + past_bytes}, world{l, world_memory.bytes()},
          encoder_memory{shared_encoder::least_bytes(l) + encoder_bytes}, encoder{world, encoder_memory.bytes()} {}
};

/// The result of the per-client path.
class reference {
public:
    struct encoded {
        test::bytes bytes;
        std::uint32_t checksum = 0;
        failure error{};
    };

    void keep(std::size_t client, std::int32_t tick, test::ints snapshot) {
        kept_[{client, tick}] = std::move(snapshot);
    }
    [[nodiscard]] test::ints const* find(std::size_t client, std::int32_t tick) const {
        auto const found = kept_.find({client, tick});
        return found != kept_.end() ? &found->second : nullptr;
    }
    void forget_client(std::size_t client) {
        std::erase_if(kept_, [&](auto const& e) { return e.first.first == client; });
    }
    [[nodiscard]] encoded encode(std::size_t client, std::int32_t tick, test::ints const* base,
                                 size_table const& sizes) {
        auto const to = snapshot_view::trusted(*find(client, tick));
        auto const from = base != nullptr ? snapshot_view::trusted(*base) : snapshot_view{};
        auto const delta = create_delta(from, to, sizes, *scratch_, ints_);
        if (!delta) return {{}, 0, delta.error()};
        test::bytes out(varint_bound(delta->size()) + 64);
        out.resize(*encode_varints(*delta, out));
        return {out, to.checksum(), {}};
    }

private:
    std::map<std::pair<std::size_t, std::int32_t>, test::ints> kept_;
    std::unique_ptr<delta_memory<>> scratch_ = std::make_unique<delta_memory<>>();
    test::ints ints_ = test::ints(1 << 16);
};

void check_same(shared_server& s, reference& r, std::size_t client, std::int32_t tick, std::int32_t base_tick,
                size_table const& sizes) {
    bool const held = base_tick >= 0 && base_tick < tick && s.world.holds(client, base_tick);
    auto const expected = r.encode(client, tick, held ? r.find(client, base_tick) : nullptr, sizes);
    auto const made = s.encoder.encode(client, base_tick, sizes);
    if (expected.error.code != errc::ok) {
        CHECK(error_of(made) == expected.error);
        return;
    }
    REQUIRE(made);
    CHECK(made->tick == tick);
    CHECK(made->base_tick == (held ? base_tick : -1));
    CHECK(made->checksum == expected.checksum);
    CHECK(std::equal(made->bytes.begin(), made->bytes.end(), expected.bytes.begin(), expected.bytes.end()));
    CHECK(gives(s.world.checksum(client, tick), expected.checksum));
    test::ints out(snapshot_limits{}.ints());
    auto const whole = s.world.snapshot(client, tick, out);
    REQUIRE(whole);
    CHECK(test::same(whole->ints(), *r.find(client, tick)));
}

/// A world with items that come, change, move and go, and with contents that differ between clients.
class random_world {
public:
    struct thing {
        std::int32_t key = 0;
        std::vector<test::ints> contents; // one or more
    };

    random_world(std::uint64_t seed, std::size_t items, size_table const& sizes) : r_{seed}, sizes_{sizes} {
        most_ = items;
        for (std::size_t i = 0; i < items / 2; ++i) add();
    }

    void advance() {
        unsigned const change = static_cast<unsigned>(r_.below(60));
        for (thing& t : things_)
            for (test::ints& c : t.contents)
                if (r_.chance(change))
                    for (std::int32_t& v : c)
                        if (r_.chance(30)) v = r_.value();
        for (std::size_t i = r_.below(4); i > 0 && !things_.empty(); --i)
            things_.erase(things_.begin() + static_cast<std::ptrdiff_t>(r_.below(things_.size())));
        for (std::size_t i = r_.below(5); i > 0; --i) add();
        if (r_.chance(10) && things_.size() > 1)
            std::swap(things_[r_.below(things_.size())], things_[r_.below(things_.size())]);
        if (r_.chance(2)) things_.clear();
        if (r_.chance(3)) // returns another day, with another size
            for (thing& t : things_)
                if (r_.chance(3) && sizes_[key_type(t.key)] == 0)
                    for (test::ints& c : t.contents) c.resize(r_.below(9));
    }

    [[nodiscard]] std::vector<thing> const& things() const { return things_; }
    [[nodiscard]] bool sees(std::size_t client, thing const& t, unsigned percent) {
        return (static_cast<std::uint32_t>(t.key) * 2654435761U + client * 97) / 7 % 100 < percent && !r_.chance(2);
    }
    /// Mostly the first one, or each its own.
    [[nodiscard]] test::ints const& content(std::size_t client, thing const& t) {
        std::size_t const n = t.contents.size();
        return t.contents[n == 1                                          ? 0
                          : t.key % 3 == 0                                ? client % n
                          : client == static_cast<std::size_t>(t.key % 5) ? n - 1
                                                                          : 0];
    }
    [[nodiscard]] test::random& random() { return r_; }

private:
    void add() {
        if (things_.size() == most_) return;
        static constexpr std::uint16_t types[] = {1, 2, 5, 9, 10, 11, 19, 23, 40, 63, 64, 0x4000, 0x7ffe};
        thing t;
        t.key = make_key(types[r_.below(std::size(types))],
                         static_cast<std::uint16_t>(r_.below(r_.chance(90) ? 40 : 65536)));
        for (thing const& other : things_)
            if (other.key == t.key) return;
        std::size_t const agreed = sizes_[key_type(t.key)];
        std::size_t const size = agreed != 0 ? agreed : r_.below(r_.chance(95) ? 12 : 200);
        std::size_t const contents = r_.chance(80) ? 1 : 1 + r_.below(r_.chance(80) ? 3 : 20);
        for (std::size_t i = 0; i < contents; ++i) {
            t.contents.emplace_back(size);
            for (std::int32_t& v : t.contents.back()) v = r_.value();
        }
        things_.insert(things_.begin() + static_cast<std::ptrdiff_t>(r_.chance(50) ? things_.size()
                                                                                   : r_.below(things_.size() + 1)),
                       std::move(t));
    }

    test::random r_;
    size_table const& sizes_;
    std::size_t most_ = 0;
    std::vector<thing> things_;
};

// Items as copies, or written in place; as copies under ids that are the client's own; or contents handed over before.
enum class door { viewed, filled, mapped, shared };

std::int32_t translated(std::int32_t key, std::size_t client) {
    return make_key(key_type(key), static_cast<std::uint16_t>(key_id(key) + 13 * client));
}

/// Returns how many views the world had no room for.
std::uint64_t play(door way, std::uint64_t seed, std::size_t clients, std::size_t items, std::size_t steps,
                   shared_limits limits, std::size_t past_bytes, std::size_t encoder_bytes) {
    CAPTURE(seed);
    size_table const& sizes = seed % 3 == 0 ? sizes_07 : sizes_06;
    limits.clients = static_cast<std::uint32_t>(clients);
    shared_server s{limits, past_bytes, encoder_bytes};
    reference r;
    random_world w{seed, items, sizes};
    auto const builder_memory = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*builder_memory};
    std::vector<unsigned> percent(clients);
    for (unsigned& p : percent) p = w.random().chance(30) ? 100 : static_cast<unsigned>(w.random().below(101));
    std::int32_t tick = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        tick += 1 + static_cast<std::int32_t>(w.random().below(3));
        w.advance();
        REQUIRE(s.world.start(tick));
        if (w.random().chance(5)) { // and again, after something else
            for (std::size_t c = 0; c < clients; ++c) {
                if (w.random().chance(50)) continue;
                s.world.start_view(c);
                for (auto const& t : w.things())
                    if (w.random().chance(50)) REQUIRE(s.world.add_to_view({t.key, t.contents.back()}));
                if (w.random().chance(20)) break; // amid a view
                static_cast<void>(s.world.finish_view());
            }
            REQUIRE(s.world.start(tick));
        }
        std::vector<std::vector<test::plain_item>> views(clients);
        std::vector<bool> shown(clients);
        std::map<test::ints, std::size_t> numbers; // of contents that there was room for
        for (auto const& t : w.things())
            for (auto const& c : t.contents)
                if (way == door::shared && !w.random().chance(5))
                    if (auto const number = s.world.share(c)) {
                        numbers[c] = *number;
                        CHECK(gives(s.world.share(c), *number));
                    }
        for (std::size_t c = 0; c < clients; ++c) {
            shown[c] = !w.random().chance(3);
            if (!shown[c]) continue;
            for (auto const& t : w.things())
                if (w.sees(c, t, percent[c]))
                    views[c].push_back({way == door::mapped ? translated(t.key, c) : t.key, w.content(c, t)});
            if (w.random().chance(10) && views[c].size() > 2)
                std::swap(views[c][0], views[c][w.random().below(views[c].size())]);
            builder.start();
            for (auto const& i : views[c]) REQUIRE(builder.add({i.key, i.data}));
            auto const built = builder.finish().ints();
            r.keep(c, tick, {built.begin(), built.end()});
            s.world.start_view(c);
            for (auto const& i : views[c]) {
                auto const handed = numbers.find(i.data);
                if (way == door::shared && handed != numbers.end()) {
                    CHECK(s.world.add_shared(key_type(i.key), key_id(i.key), handed->second));
                    continue;
                }
                if (way != door::filled) {
                    REQUIRE(s.world.add_to_view({i.key, i.data}));
                    continue;
                }
                auto const data = s.world.add_to_view(key_type(i.key), key_id(i.key), i.data.size());
                REQUIRE(data);
                for (std::int32_t const v : *data) CHECK(v == 0);
                std::copy(i.data.begin(), i.data.end(), data->begin());
            }
            CHECK(gives(s.world.finish_view(), views[c].size()));
        }
        REQUIRE(s.world.finish());
        for (std::size_t c = 0; c < clients; ++c) {
            if (!shown[c]) {
                CHECK(error_of(s.encoder.encode(c, -1, sizes)).code == errc::unknown_tick);
                continue;
            }
            // In order, or lost; and ticks that were never sent.
            std::int32_t base =
                tick - 1 - static_cast<std::int32_t>(w.random().below(w.random().chance(80) ? 8 : 100));
            if (w.random().chance(3)) base = -1;
            if (w.random().chance(2)) base = tick + static_cast<std::int32_t>(w.random().below(2));
            check_same(s, r, c, tick, base, sizes);
        }
        if (w.random().chance(4)) {
            std::size_t const c = w.random().below(clients);
            s.world.forget_client(c);
            r.forget_client(c);
        }
        if (w.random().chance(5)) s.world.drop_before(tick - 20);
    }
    return s.world.views_alone();
}

} // namespace

TEST_CASE("a shared world gives each client what it would have alone") {
    std::uint64_t const seeds = std::getenv("TEEWIRE_MUTATIONS") != nullptr ? 40 : 200; // under sanitizers
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
        for (door const way : {door::viewed, door::filled, door::mapped, door::shared})
            play(way, seed, 1 + seed % 9, 4 + seed * 7 % 150, 12, {}, 1 << 20, 1 << 20);
}

TEST_CASE("with little memory it gives the same") {
    shared_limits limits{};
    limits.contents = 1500;
    limits.ticks = 5;
    for (std::uint64_t seed = 100; seed < 130; ++seed)
        for (door const way : {door::viewed, door::mapped, door::shared})
            play(way, seed, 6, 80, 12, limits, 300000, (seed % 4) * 3000);
}

TEST_CASE("a world that has no room for more contents gives the same, and counts the views") {
    std::uint64_t alone = 0;
    for (std::uint64_t seed = 200; seed < 230; ++seed) {
        shared_limits limits{};
        limits.contents = static_cast<std::uint32_t>(1 + seed % 40);
        limits.ints = static_cast<std::uint32_t>(seed % 7 == 0 ? 3 : 65536);
        for (door const way : {door::viewed, door::mapped, door::shared})
            alone += play(way, seed, 5, 80, 12, limits, 1 << 20, (seed % 4) * 3000);
    }
    CHECK(alone > 1000);
    CHECK(play(door::mapped, 1, 5, 80, 12, {}, 1 << 20, 1 << 20) == 0);
}

TEST_CASE("a shared world of as many items as there can be") {
    shared_limits limits{};
    limits.contents = 1024;
    limits.ints = 16384;
    shared_server s{limits};
    reference r;
    auto const make = [&](std::int32_t tick, std::int32_t value) {
        REQUIRE(s.world.start(tick));
        test::plain_items items;
        for (std::uint16_t i = 0; i < 1024; ++i)
            items.push_back({make_key(40, i), test::ints(13, i % 3 == 1 ? value : i)});
        for (std::size_t c = 0; c < 2; ++c) {
            r.keep(c, tick, test::layout(items));
            s.world.start_view(c);
            for (auto const& i : items) REQUIRE(s.world.add_to_view({i.key, i.data}));
            CHECK(error_of(s.world.add_to_view({make_key(41, 0), {}})) == failure{errc::too_many_items, 1024});
            CHECK(gives(s.world.finish_view(), 1024));
        }
        REQUIRE(s.world.finish());
    };
    make(1, 0);
    for (std::size_t c = 0; c < 2; ++c) check_same(s, r, c, 1, -1, sizes_06);
    make(2, -70000);
    for (std::size_t c = 0; c < 2; ++c) check_same(s, r, c, 2, 1, sizes_06);
    make(3, INT32_MIN);
    for (std::size_t c = 0; c < 2; ++c) check_same(s, r, c, 3, c == 0 ? 1 : 2, sizes_06);
    CHECK(s.world.views_alone() == 0);
}

TEST_CASE("contents of a shared world are stored once, whoever sees them under whichever id") {
    constexpr std::size_t clients = 8;
    constexpr std::size_t characters = 20;
    shared_server s{{}};
    reference r;
    for (std::int32_t tick = 1; tick < 9; ++tick) {
        REQUIRE(s.world.start(tick));
        for (std::size_t c = 0; c < clients; ++c) {
            s.world.start_view(c);
            test::plain_items items;
            for (std::size_t i = 0; i < characters; ++i) {
                std::size_t const which = (i * 7 + c * 13) % characters;
                items.push_back({make_key(40, static_cast<std::uint16_t>(i)),
                                 {tick * static_cast<std::int32_t>(which % 3), static_cast<std::int32_t>(which)}});
            }
            for (auto const& i : items) REQUIRE(s.world.add_to_view({i.key, i.data}));
            CHECK(gives(s.world.finish_view(), characters));
            r.keep(c, tick, test::layout(items));
        }
        CHECK(gives(s.world.finish(), characters));
        for (std::size_t c = 0; c < clients; ++c) check_same(s, r, c, tick, tick - 2, sizes_06);
    }
}

TEST_CASE("what a shared world refuses") {
    shared_limits limits{};
    limits.clients = 3;
    limits.contents = 4;
    limits.ints = 20;
    shared_server s{limits};
    CHECK(!s.world.newest());
    CHECK(error_of(s.encoder.encode(0, -1, sizes_06)).code == errc::unknown_tick);
    CHECK(gives(s.world.start(5), 0));
    s.world.start_view(0);
    REQUIRE(s.world.add_to_view({make_key(40, 0), test::ints{1, 3}}));
    CHECK(error_of(s.world.add_to_view({-1, {}})) == failure{errc::bad_type, 1});
    CHECK(error_of(s.world.add_to_view(0x8000, 0, 1)) == failure{errc::bad_type, 1});
    CHECK(s.world.view_size() == 1);
    CHECK(gives(s.world.finish_view(), 1));
    s.world.start_view(1);
    CHECK(gives(s.world.finish_view(), 0));
    CHECK(gives(s.world.finish(), 1));
    CHECK(error_of(s.world.start(5)).code == errc::bad_tick);
    CHECK(s.world.holds(0, 5));
    CHECK(s.world.holds(1, 5));
    CHECK(!s.world.holds(2, 5));
    CHECK(s.encoder.encode(1, -1, sizes_06)->bytes.empty());
    CHECK(error_of(s.encoder.encode(2, -1, sizes_06)).code == errc::unknown_tick);
    CHECK(error_of(s.world.checksum(2, 5)).code == errc::unknown_tick);
    CHECK(gives(s.world.checksum(0, 5), 4U));
    test::ints out(5);
    CHECK(error_of(s.world.snapshot(0, 5, out)) == failure{errc::output_full, 5});
    out.resize(6);
    CHECK(s.world.snapshot(0, 5, out));

    CHECK(gives(s.world.start(6), 1));
    s.world.start_view(0);
    REQUIRE(s.world.add_to_view(41, 0, 2));
    REQUIRE(s.world.add_to_view(41, 0, 2));
    REQUIRE(s.world.add_to_view({make_key(41, 0), test::ints(3)}));
    REQUIRE(s.world.add_to_view({make_key(41, 1), test::ints{5}}));
    CHECK(error_of(s.world.add_to_view(42, 0, 16385)) == failure{errc::too_large, 4});
    CHECK(error_of(s.world.finish_view()) == failure{errc::duplicate_key, 1});
    s.world.start_view(1);
    for (std::uint16_t id = 0; id < 5; ++id) // more than the world has room for
        REQUIRE(s.world.add_to_view({make_key(41, id), test::ints{id, id}}));
    CHECK(gives(s.world.finish_view(), 5));
    CHECK(s.world.views_alone() == 1);
    CHECK(gives(s.world.finish(), 4));
    out.resize(100);
    auto const first = s.world.snapshot(0, 6, out);
    REQUIRE(first);
    CHECK(first->size() == 2);
    CHECK((*first)[1].data[0] == 5);
    CHECK(s.world.snapshot(1, 6, out)->size() == 5);

    s.world.clear();
    CHECK(!s.world.newest());
    CHECK(s.world.start(1));
}

TEST_CASE("an item of a view is left out if its key was there, also where the view before had it elsewhere") {
    shared_server s{{}};
    test::ints out(100);
    auto const keys_of = [&](std::int32_t tick, std::initializer_list<std::uint16_t> ids, std::size_t repeated) {
        REQUIRE(s.world.start(tick));
        s.world.start_view(0);
        std::int32_t value = 0;
        for (std::uint16_t const id : ids) REQUIRE(s.world.add_to_view({make_key(40, id), test::ints{++value}}));
        auto const finished = s.world.finish_view();
        if (repeated == 0) CHECK(gives(finished, ids.size()));
        else CHECK(error_of(finished) == failure{errc::duplicate_key, repeated});
        REQUIRE(s.world.finish());
        std::vector<std::int32_t> kept;
        auto const made = s.world.snapshot(0, tick, out);
        REQUIRE(made);
        for (item const i : *made) kept.push_back(100 * i.id() + i.data[0]);
        return kept;
    };
    using values = std::vector<std::int32_t>;
    CHECK(keys_of(1, {1, 2, 3, 4, 1}, 4) == values{101, 202, 303, 404});
    CHECK(keys_of(2, {1, 2, 3, 4}, 0) == values{101, 202, 303, 404});
    CHECK(keys_of(3, {4, 1, 2, 3, 4}, 4) == values{401, 102, 203, 304}); // the second one is where it was before
    CHECK(keys_of(4, {1, 1, 9, 9, 2, 1}, 1) == values{101, 903, 205});
}

TEST_CASE("what a client sees of a shared world is bounded by its own limits") {
    shared_limits limits{};
    limits.clients = 1;
    limits.client.items = 3;
    limits.client.bytes = 4 * (2 + 2 + 2 + 12);
    shared_server s{limits};
    REQUIRE(s.world.start(1));
    auto const view = [&](std::initializer_list<std::size_t> sizes) {
        s.world.start_view(0);
        std::uint16_t id = 100;
        for (std::size_t const ints : sizes) {
            auto const added = s.world.add_to_view(41, id++, ints);
            if (!added) {
                auto const error = added.error();
                CHECK(s.world.finish_view());
                return error;
            }
            CHECK(added->size() == ints);
        }
        CHECK(gives(s.world.finish_view(), sizes.size()));
        return failure{};
    };
    CHECK(view({0, 1, 0}) == failure{});
    CHECK(view({0, 1, 0, 0}) == failure{errc::too_many_items, 3});
    CHECK(view({6, 6}) == failure{});
    CHECK(view({6, 7}) == failure{errc::too_large, 1});
    CHECK(view({0, 6, 6}) == failure{errc::too_large, 2});
}

namespace {

/// A tick in which each of the clients sees `items` items of `ints` ints.
result<std::size_t> make_tick(shared_world& world, std::int32_t tick, std::size_t clients, std::size_t items,
                              std::size_t ints) {
    REQUIRE(world.start(tick));
    for (std::size_t c = 0; c < clients; ++c) {
        world.start_view(c);
        for (std::size_t i = 0; i < items; ++i) {
            test::ints data(ints, tick);
            data[0] = static_cast<std::int32_t>(i);
            REQUIRE(world.add_to_view({make_key(40, static_cast<std::uint16_t>(i)), data}));
        }
        auto const finished = world.finish_view();
        if (!finished) return finished;
    }
    return world.finish();
}

} // namespace

TEST_CASE("a shared world holds so many ticks, and the newest one always") {
    shared_limits limits{};
    limits.clients = 2;
    limits.ticks = 3;
    shared_server s{limits};
    for (std::int32_t const tick : {10, 20, 30, 40}) CHECK(gives(make_tick(s.world, tick, 2, 1, 1), 1));
    CHECK(s.world.ticks() == 3);
    CHECK(s.world.newest() == 40);
    for (std::int32_t tick = 9; tick < 42; ++tick) {
        CAPTURE(tick);
        CHECK(s.world.holds(0, tick) == (tick == 20 || tick == 30 || tick == 40));
    }
    s.world.drop_before(30);
    CHECK(s.world.ticks() == 2);
    CHECK_FALSE(s.world.holds(0, 20));
    CHECK(s.world.holds(0, 30));
    // While a tick is being made, and of all that are held.
    REQUIRE(s.world.start(50));
    for (std::size_t c = 0; c < 2; ++c) {
        s.world.start_view(c);
        CHECK(s.world.finish_view());
    }
    s.world.forget_client(0);
    REQUIRE(s.world.finish());
    for (std::int32_t const tick : {30, 40, 50}) {
        CAPTURE(tick);
        CHECK_FALSE(s.world.holds(0, tick));
        CHECK(s.world.holds(1, tick));
    }
    s.world.drop_before(INT32_MAX);
    CHECK(s.world.ticks() == 1);
    CHECK(s.world.holds(1, 50));
    s.world.clear();
    CHECK(s.world.ticks() == 0);
}

TEST_CASE("a tick of a shared world takes no more memory than those who were shown it need") {
    shared_limits limits{};
    limits.clients = 40;
    for (std::size_t const shown : {1, 3}) {
        CAPTURE(shown);
        std::size_t const tick_bytes =
            detail::tick_plan{limits.clients, 70, 140}.end + shown * detail::view_plan{70}.end;
        for (bool const less : {false, true}) {
            shared_server s{limits, 3 * tick_bytes - 8 * less};
            for (std::int32_t tick = 1; tick < 9; ++tick) CHECK(gives(make_tick(s.world, tick, shown, 70, 2), 70));
            CHECK(s.world.ticks() == (less ? 2 : 3));
        }
    }
}

TEST_CASE("a shared world touches no more memory than ticks that clients may acknowledge") {
    shared_limits limits{};
    limits.clients = 2;
    std::size_t const tick_bytes = detail::tick_plan{limits.clients, 50, 500}.end + 2 * detail::view_plan{50}.end;
    constexpr std::size_t ticks = 60;
    shared_server s{limits, ticks * tick_bytes};
    auto const memory = s.world_memory.bytes().subspan(shared_world::fixed_bytes(limits));
    auto const untouched = [&](std::size_t from) {
        return std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(from * tick_bytes), memory.end(),
                           [](std::byte b) { return b == std::byte{0xa5}; });
    };
    std::int32_t tick = 0;
    for (int i = 0; i < 200; ++i) {
        CHECK(gives(make_tick(s.world, ++tick, 2, 50, 10), 50));
        s.world.drop_before(tick - 4);
    }
    CHECK(untouched(16));
    // Clients that do not answer: everything is used, and nothing is dropped too early, wherever the ring was.
    for (int start = 0; start < 17; ++start) {
        for (std::size_t i = 0; i < ticks - 8; ++i) {
            CHECK(gives(make_tick(s.world, ++tick, 2, 50, 10), 50));
            REQUIRE(s.world.ticks() >= 5 + i);
        }
        test::ints out(1000);
        for (std::int32_t t = tick - static_cast<std::int32_t>(ticks) + 8; t <= tick; ++t) {
            auto const held = s.world.snapshot(1, t, out);
            REQUIRE(held);
            CHECK(held->size() == 50);
            CHECK((*held)[49].data[9] == t);
        }
        for (int i = 0; i < 20 + start; ++i) {
            CHECK(gives(make_tick(s.world, ++tick, 2, 50, 10), 50));
            s.world.drop_before(tick - 4);
        }
    }
}

TEST_CASE("an item of a shared world that no receiver could read is named") {
    // Receivers expect 22 ints of type 9.
    for (bool const ordered : {true, false}) {
        CAPTURE(ordered);
        shared_server s{{}};
        auto const make = [&](std::int32_t tick, std::size_t ints) {
            REQUIRE(s.world.start(tick));
            s.world.start_view(1); // which gives them numbers in another order
            for (std::uint16_t id = 0; id < 70; ++id) {
                std::uint16_t const other = ordered ? id : static_cast<std::uint16_t>(69 - id);
                REQUIRE(s.world.add_to_view({make_key(40, other), test::ints{1}}));
            }
            CHECK(gives(s.world.finish_view(), 70));
            s.world.start_view(0);
            for (std::uint16_t id = 0; id < 70; ++id) {
                if (id == 66) REQUIRE(s.world.add_to_view({make_key(9, 0), test::ints(ints, 1)}));
                REQUIRE(s.world.add_to_view({make_key(40, id), test::ints{tick}}));
            }
            CHECK(gives(s.world.finish_view(), 71));
            REQUIRE(s.world.finish());
        };
        make(1, 22);
        CHECK(s.encoder.encode(0, -1, sizes_06));
        make(2, 21);
        CHECK(error_of(s.encoder.encode(0, -1, sizes_06)) == failure{errc::size_mismatch, 66});
        CHECK(error_of(s.encoder.encode(0, 1, sizes_06)) == failure{errc::size_mismatch, 66});
        CHECK(s.encoder.encode(1, 1, sizes_06));
    }
}

TEST_CASE("a tick of a shared world that does not fit is forgotten, and what was held is kept") {
    shared_limits limits{};
    limits.clients = 1;
    shared_server s{limits, 800};
    CHECK(make_tick(s.world, 1, 1, 1, 10));
    CHECK(s.encoder.encode(0, -1, sizes_06));
    CHECK(error_of(make_tick(s.world, 2, 1, 1, 300)).code == errc::too_large);
    CHECK(s.world.newest() == 1);
    CHECK(error_of(s.encoder.encode(0, -1, sizes_06)).code == errc::unknown_tick); // nothing is sent twice
    CHECK(make_tick(s.world, 3, 1, 1, 10));
    CHECK(s.world.holds(0, 1));
    CHECK(make_tick(s.world, 4, 1, 1, 150));
    CHECK(s.world.ticks() == 1);
    CHECK(s.encoder.encode(0, 1, sizes_06)->base_tick == -1);
    // A view that does not fit: the client sees nothing, others do.
    shared_server small{limits, 1200};
    REQUIRE(small.world.start(1));
    small.world.start_view(0);
    for (std::uint16_t id = 0; id < 250; ++id) REQUIRE(small.world.add_to_view({make_key(40, id), {}}));
    CHECK(error_of(small.world.finish_view()) == failure{errc::too_large, 250});
    CHECK(small.world.finish());
    CHECK_FALSE(small.world.holds(0, 1));
}

TEST_CASE("extended types of a shared world are described as by one builder") {
    uuid const types[] = {type_number(-1), type_number(-2), type_number(-3)};
    shared_server s{{}};
    reference r;
    auto const memory = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*memory};
    for (std::int32_t tick = 1; tick < 6; ++tick) {
        REQUIRE(s.world.start(tick));
        for (std::size_t c = 0; c < 4; ++c) {
            builder.start();
            s.world.start_view(c);
            REQUIRE(builder.add({make_key(40, 1), test::ints{tick}}));
            REQUIRE(s.world.add_to_view({make_key(40, 1), test::ints{tick}}));
            for (std::size_t t = 0; t < std::min<std::size_t>(3, static_cast<std::size_t>(tick) / 2); ++t) {
                auto const data = builder.add(types[t], 7, 2);
                REQUIRE(data);
                (*data)[1] = static_cast<std::int32_t>(c);
                auto const alias = s.world.extended_type(types[t]);
                REQUIRE(alias);
                CHECK(*alias == builder.alias_of(types[t]));
                auto const shared = s.world.add_to_view(*alias, 7, 2);
                REQUIRE(shared);
                (*shared)[1] = static_cast<std::int32_t>(c);
            }
            REQUIRE(s.world.finish_view());
            auto const built = builder.finish().ints();
            r.keep(c, tick, {built.begin(), built.end()});
        }
        REQUIRE(s.world.finish());
        for (std::size_t c = 0; c < 4; ++c) check_same(s, r, c, tick, tick - 2, sizes_06);
    }
    // A change of the map leaves them.
    s.world.clear();
    CHECK(s.world.extended_type(types[0]).value() == builder.alias_of(types[0]));
    // Views have them at the front without being asked.
    REQUIRE(s.world.start(100));
    s.world.start_view(0);
    CHECK(gives(s.world.finish_view(), 2));
    for (int i = 0; i < 62; ++i) REQUIRE(s.world.extended_type(type_number(i)));
    CHECK(error_of(s.world.extended_type(type_number(99))).code == errc::too_many_types);
}
