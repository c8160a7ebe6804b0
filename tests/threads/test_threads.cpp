// Work that different threads may do at the same time: each with objects of its own, all with const ones. Results must
// be those of one thread; ThreadSanitizer sees the rest.
#include "demos.hpp"

#include "teewire.h"
#include "teewire/handshake.hpp"
#include "teewire/history.hpp"
#include "teewire/message.hpp"
#include "teewire/snapshot_builder.hpp"
#include "teewire/snapshot_receiver.hpp"
#include "teewire/snapshot_sender.hpp"

#include <atomic>
#include <thread>

using namespace teewire;

namespace {

constexpr std::size_t threads = 6;

// Calls work(number) in all threads at once, and gives what each returned.
template <class Work>
auto together(Work work) {
    std::vector<decltype(work(std::size_t{0}))> results(threads);
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            ready.fetch_add(1);
            while (ready.load() < threads) std::this_thread::yield();
            results[t] = work(t);
        });
    for (auto& thread : all) thread.join();
    return results;
}

template <class T>
bool all_equal(std::vector<T> const& results, T const& expected) {
    return std::all_of(results.begin(), results.end(), [&](T const& r) { return r == expected; });
}

// The snapshot of a tick: 60 tees that move.
snapshot_view build(snapshot_builder& builder, std::int32_t tick) {
    builder.start();
    for (std::uint16_t id = 0; id < 60; ++id) {
        auto const data = builder.add(9, id, 22);
        if (!data) return {};
        (*data)[0] = tick;
        for (std::size_t i = 1; i < data->size(); ++i) (*data)[i] = (tick + id) % 7 == 0 ? tick * 31 : id * 5;
    }
    return builder.finish();
}

// A server and its client, everything of their own: the checksums of what arrived.
struct pair_of_ends {
    snapshot_builder_memory<> built;
    std::vector<history::entry> sent = std::vector<history::entry>(75);
    std::vector<history::entry> received = std::vector<history::entry>(150);
    test::ints sent_ints = test::ints(1 << 17);
    test::ints received_ints = test::ints(1 << 18);
    std::vector<snapshot_parts> parts = std::vector<snapshot_parts>(1);
    snapshot_scratch sending, receiving;
    live_snapshot_memory<> live;
    test::bytes coded = test::bytes(1 << 18);
    test::bytes decoded = test::bytes(1 << 17);

    std::vector<std::uint32_t> run() {
        std::vector<std::uint32_t> sums;
        snapshot_builder builder{built};
        snapshot_sender sender{sent, sent_ints, {}};
        snapshot_receiver receiver{parts, received, received_ints, {}};
        live_snapshot copy{live};
        for (std::int32_t tick = 10; tick <= 200; tick += 10) {
            auto const sent_now = sender.send(tick, build(builder, tick), sending);
            if (!sent_now) return {};
            auto messages = *sent_now;
            for (std::span<std::uint8_t const> bytes; messages.next(bytes);) {
                auto const packed = huffman_encode(bytes, coded);
                auto const unpacked = huffman_decode(std::span{coded}.first(*packed), decoded);
                auto const parsed = parse_message(std::span{decoded}.first(*unpacked));
                auto const event = receiver.receive(*parsed, receiving);
                if (event.kind != snapshot_event_kind::snapshot) continue;
                if (event.base_tick < 0) copy.clear();
                if (!event.delta.empty() && copy.apply(event.delta, sizes_06).code != errc::ok) return {};
                sums.push_back(event.snapshot.checksum());
                sums.push_back(copy.checksum());
            }
            sender.acknowledge(receiver.ack());
        }
        return sums;
    }
};

std::vector<std::uint32_t> run_pair() { return std::make_unique<pair_of_ends>()->run(); }

struct played {
    std::size_t snapshots = 0;
    std::size_t messages = 0;
    std::uint32_t sum = 0;
    friend bool operator==(played const&, played const&) = default;
};

played play(demo_reader const& reader) {
    played p;
    auto const memory = std::make_unique<demo_player_memory>();
    auto const& sizes = detect_size_table(reader, *memory);
    demo_player player{reader, *memory, {sizes.sizes}};
    for (demo_event event; player.next(event);) {
        p.snapshots += event.kind == demo_event_kind::snapshot;
        p.messages += event.kind == demo_event_kind::message;
        if (event.kind == demo_event_kind::snapshot) p.sum += player.state().checksum();
    }
    return p;
}

test::bytes file(char const* name) {
    std::ifstream in{std::string{TEEWIRE_FIXTURES} + "/demos/" + name, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

// Comes first: nothing of the library has been called before.
TEST_CASE("threads: the first calls of all") {
    auto const results = together([](std::size_t) { return run_pair(); });
    auto const expected = run_pair();
    REQUIRE(expected.size() == 40);
    for (std::size_t i = 0; i < expected.size(); i += 2) CHECK(expected[i] == expected[i + 1]);
    CHECK(all_equal(results, expected));
}

TEST_CASE("threads: one demo, a player each; and a recorder each") {
    for (char const* name : {"ddnet_dm1.demo", "teeworlds07_dm1.demo"}) {
        auto const bytes = file(name);
        auto const reader = demo_reader::open(bytes);
        REQUIRE(reader);
        auto const expected = play(*reader);
        CHECK(expected.snapshots > 50);
        CHECK(all_equal(together([&](std::size_t) { return play(*reader); }), expected));
    }
    std::vector<std::string> const calls = {"snapshot 10 S1", "message 11 22 33", "snapshot 12 S2", "marker"};
    auto const expected = test::record_calls(6, calls);
    CHECK(all_equal(together([&](std::size_t) { return test::record_calls(6, calls); }), expected));
}

TEST_CASE("threads: one history for all clients, filled between their turns") {
    auto const built = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*built};
    std::vector<history::entry> entries(20);
    test::ints block(1 << 17);
    history past{entries, block};
    std::vector<std::unique_ptr<snapshot_scratch>> scratch;
    for (std::size_t t = 0; t <= threads; ++t) scratch.push_back(std::make_unique<snapshot_scratch>());

    for (std::int32_t tick = 2; tick <= 60; tick += 2) {
        REQUIRE(past.add(tick, build(builder, tick)));
        // Every thread encodes the newest snapshot against all bases, with its own scratch memory.
        auto const encode = [&](std::size_t thread) {
            test::bytes all;
            history const& shared = past;
            auto const now = shared.find(tick);
            for (std::int32_t base = *shared.oldest(); base < tick; base += 2) {
                auto const from = shared.find(base);
                auto const encoded = encode_snapshot(tick, *now, base, *from, {}, *scratch[thread]);
                if (!encoded) return test::bytes{};
                auto messages = *encoded;
                for (std::span<std::uint8_t const> m; messages.next(m);) all.insert(all.end(), m.begin(), m.end());
            }
            return all;
        };
        auto const expected = encode(threads);
        if (tick > 2) CHECK(expected.size() > 20);
        REQUIRE(all_equal(together(encode), expected));
    }
}

TEST_CASE("threads: everything const") {
    auto const built = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*built};
    auto const snapshot = build(builder, 100);
    auto const index_memory = std::make_unique<key_index_memory<>>();
    key_index index{*index_memory};
    REQUIRE(index.build(snapshot));
    auto const live_memory = std::make_unique<live_snapshot_memory<>>();
    live_snapshot live{*live_memory};
    REQUIRE(live.assign(snapshot).code == errc::ok);
    server_gate const gate{{1, 2, 3}};

    auto const look = [&](std::size_t) {
        std::uint64_t sum = 0;
        for (item const i : snapshot) {
            sum = sum * 31 + std::as_const(index).find(i.key);
            sum = sum * 31 + static_cast<std::uint32_t>(std::as_const(live).find(i.key)->data[0]);
            sum = sum * 31 + find_object(protocol::ddnet, i.type())->fields.size();
        }
        sum += std::as_const(live).checksum() + snapshot.checksum() + snapshot.outline().keys.size();
        for (auto const& named : size_tables) sum = sum * 31 + (*find_size_table(named.name))[9];
        for (object const& o : extended_objects()) sum = sum * 31 + find_object(o.extended)->ints;
        for (milliseconds now = 0; now < 100000; now += 10000) {
            std::uint8_t const address[] = {127, 0, 0, 1, 32, 111};
            sum = sum * 31 + gate.token(address, now) + gate.valid(7, address, now);
        }
        for (std::uint8_t id = 0; id < 80; ++id) {
            std::uint8_t const bytes[] = {id, 0, 0, 0};
            auto const m = parse_message(bytes);
            if (m) sum = sum * 31 + static_cast<unsigned>(identify(*m, protocol::teeworlds_07));
        }
        return sum;
    };
    CHECK(all_equal(together(look), look(0)));
}

TEST_CASE("threads: the C ABI, a builder and scratch memory each, one base for all") {
    struct memory {
        alignas(TEEWIRE_ALIGN) std::uint8_t builder[TEEWIRE_BUILDER_SIZE];
        alignas(TEEWIRE_ALIGN) std::uint8_t scratch[TEEWIRE_SCRATCH_SIZE];
        std::uint8_t bytes[TEEWIRE_MAX_ENCODED_BYTES];
    };
    auto const built = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*built};
    auto const ints = build(builder, 10).ints();
    teewire_snapshot base;
    teewire_snapshot_view(&base, ints.data(), TEEWIRE_DISTINCT_KEYS);

    auto const encode = [&](std::size_t) {
        auto const m = std::make_unique<memory>();
        teewire_builder* own = nullptr;
        teewire_scratch* scratch = nullptr;
        if (teewire_builder_init(&own, m->builder, sizeof m->builder) != 0) return test::bytes{};
        if (teewire_scratch_init(&scratch, m->scratch, sizeof m->scratch) != 0) return test::bytes{};
        test::bytes all;
        for (std::int32_t tick = 0; tick < 50; ++tick) {
            teewire_builder_start(own);
            for (std::uint32_t id = 0; id < 60; ++id) {
                std::int32_t* data = nullptr;
                if (teewire_builder_add(own, 9, id, 22, &data) < 0) return test::bytes{};
                data[id % 22] = tick;
            }
            teewire_snapshot now, got;
            teewire_builder_finish(own, &now);
            std::int32_t const size =
                teewire_encode(&base, &now, nullptr, scratch, m->bytes, sizeof m->bytes, nullptr);
            if (size <= 0) return test::bytes{};
            if (teewire_decode(&base, m->bytes, static_cast<std::uint32_t>(size), nullptr, scratch, &got, nullptr) <
                    0 ||
                teewire_snapshot_checksum(&got) != teewire_snapshot_checksum(&now))
                return test::bytes{};
            all.insert(all.end(), m->bytes, m->bytes + size);
        }
        return all;
    };
    auto const expected = encode(0);
    CHECK(expected.size() > 1000);
    CHECK(all_equal(together(encode), expected));
}
