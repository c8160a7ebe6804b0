// How costs grow with what is in a snapshot, in a delta, or kept.
#include "cases.hpp"

#include <teewire/history.hpp>

namespace teewire::bench {
namespace {

constexpr std::size_t most_items = 1000;
constexpr std::size_t ints_each = 10;

// Of `items`, every (items / changed)th changes, and every (items / removed)th goes.
workload changing(std::size_t items, std::size_t changed, std::size_t removed) {
    auto const nth = [items](std::size_t i, std::size_t chosen) {
        return (i + 1) * chosen / items != i * chosen / items;
    };
    auto const memory = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*memory};
    auto const snapshot = [&](bool later) {
        builder.start();
        for (std::size_t i = 0; i < items; ++i) {
            if (later && nth(i, removed)) continue;
            auto const type = static_cast<std::uint16_t>(64 + i / 64);
            auto const data = must(builder.add(type, static_cast<std::uint16_t>(i % 64), ints_each));
            for (std::size_t k = 0; k < ints_each; ++k) data[k] = static_cast<std::int32_t>(100 * i + k);
            if (later && nth(i, changed)) data[ints_each / 2] += 7;
        }
        auto const ints = builder.finish().ints();
        return std::vector<std::int32_t>{ints.begin(), ints.end()};
    };
    auto from = snapshot(false);
    return {"", std::move(from), snapshot(true)};
}

// Creates a delta and applies it.
void add_round_trip(std::string const& name, std::size_t n, workload const& w) {
    benchmark::RegisterBenchmark((name + '/' + std::to_string(n)).c_str(),
                                 [w = std::make_shared<prepared>(w), n](benchmark::State& state) {
                                     double const seconds = measure(state, [&] {
                                         create(*w);
                                         unpack(*w);
                                     });
                                     state.counters["ns_per_item"] = 1e9 * seconds / static_cast<double>(n);
                                 });
}

// Changes in place, there and back in turns.
void add_in_place(std::string const& name, std::size_t n, workload const& w) {
    benchmark::RegisterBenchmark((name + '/' + std::to_string(n)).c_str(),
                                 [w = std::make_shared<prepared>(w)](benchmark::State& state) {
                                     measure(state, [&] { apply_in_place(*w); });
                                 });
}

// Keeps the newest n snapshots of a duel: finds one in the middle, adds one.
void remember(benchmark::State& state, std::size_t n) {
    auto const w = changing(27, 0, 0);
    auto const snapshot = snapshot_view::trusted(w.from);
    std::vector<history::entry> entries(n);
    std::vector<std::int32_t> block((n + 1) * w.from.size());
    history past{entries, block};
    std::int32_t tick = 0;
    while (past.size() < n) must(past.add(tick++, snapshot));
    double const seconds = measure(state, [&] {
        benchmark::DoNotOptimize(past.find(tick - 1 - static_cast<std::int32_t>(n / 2)).has_value());
        benchmark::DoNotOptimize(past.add(tick++, snapshot).has_value());
    });
    state.counters["ns_per_item"] = 1e9 * seconds / static_cast<double>(snapshot.size());
}

} // namespace

void add_growth() {
    for (std::size_t const n : {64, 128, 256, 512, 1024}) add_round_trip("growth_items", n, changing(n, n / 10, 0));
    for (std::size_t const n : {10, 30, 100, 300, 1000})
        add_round_trip("growth_changed", n, changing(most_items, n, 0));
    for (std::size_t const n : {10, 30, 100, 300, 1000})
        add_round_trip("growth_removed", n, changing(most_items, 0, n));
    for (std::size_t const n : {64, 128, 256, 512, 1024})
        add_in_place("growth_in_place_items", n, changing(n, 30, 0));
    for (std::size_t const n : {10, 30, 100, 300, 1000})
        add_in_place("growth_in_place_changed", n, changing(most_items, n, 0));
    for (std::size_t const n : {10, 30, 100, 300, 1000})
        benchmark::RegisterBenchmark(("growth_history/" + std::to_string(n)).c_str(),
                                     [n](benchmark::State& state) { remember(state, n); });
}

} // namespace teewire::bench
