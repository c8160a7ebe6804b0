// Inputs that an enemy would choose.
#include "cases.hpp"

#include <algorithm>
#include <bit>

namespace teewire::bench {
namespace {

constexpr std::uint32_t max_items = snapshot_limits{}.items;

using keys = std::vector<std::int32_t>;

// The hash functions of a key_index, in the order in which it tries them.
constexpr std::uint32_t multipliers[] = {0x9e3779b1, 0x85ebca6b, 0xc2b2ae3d, 0x27d4eb2f};
constexpr std::uint32_t slots = key_index_memory<max_items>::slots;
constexpr unsigned shift = 32 - std::countr_zero(slots);

// Keys of types without an agreed size.
bool usable(std::uint32_t key) { return key >> 31 == 0 && key >> 16 >= 64; }

keys ordinary_keys() {
    keys out;
    for (std::uint16_t i = 0; i < max_items; ++i) out.push_back(make_key(64 + i / 64, 100 * (i % 64)));
    return out;
}

// Keys for which the first `functions` hash functions give one of the first `width` slots.
keys crowded_keys(std::uint32_t width, std::size_t functions) {
    std::uint32_t inverse = multipliers[0];
    while (inverse * multipliers[0] != 1) inverse *= 2 - inverse * multipliers[0];
    keys out;
    for (std::uint32_t hash = 0; hash < width << shift && out.size() < max_items; ++hash) {
        std::uint32_t const key = hash * inverse;
        auto const near = [=](std::uint32_t multiplier) { return key * multiplier >> shift < width; };
        if (usable(key) && std::all_of(multipliers + 1, multipliers + functions, near))
            out.push_back(static_cast<std::int32_t>(key));
    }
    return out;
}
keys colliding_keys() { return crowded_keys(1, 1); }
keys always_crowded_keys() { return crowded_keys(64, std::size(multipliers)); }

// Far from its old order.
keys shuffled(keys const& from) {
    keys out;
    for (std::size_t i = 0; i < from.size(); ++i) out.push_back(from[i * 389 % from.size()]);
    return out;
}

std::vector<std::int32_t> snapshot_of(keys const& with, std::int32_t value) {
    constexpr std::size_t item_ints = 5;
    auto const bytes = [](std::size_t items) { return static_cast<std::int32_t>(items * item_ints * 4); };
    std::vector<std::int32_t> out{bytes(with.size()), static_cast<std::int32_t>(with.size())};
    for (std::size_t i = 0; i < with.size(); ++i) out.push_back(bytes(i));
    for (std::int32_t const key : with) {
        out.push_back(key);
        out.insert(out.end(), item_ints - 1, value);
    }
    return out;
}

// Builds a snapshot, creates a delta, applies it.
void cycle(benchmark::State& state, keys const& chosen) {
    prepared w{{"", snapshot_of(chosen, 1), snapshot_of(shuffled(chosen), 2)}};
    measure(state, [&] {
        build(w);
        create(w);
        unpack(w);
    });
}

// All keys are removed, from the last one to the first.
void remove_all(benchmark::State& state) {
    auto const chosen = ordinary_keys();
    auto const base_ints = snapshot_of(chosen, 1);
    auto const base = snapshot_view::trusted(base_ints);
    std::vector<std::int32_t> delta{static_cast<std::int32_t>(chosen.size()), 0, 0};
    delta.insert(delta.end(), chosen.rbegin(), chosen.rend());
    auto const memory = std::make_unique<delta_memory<>>();
    std::vector<std::int32_t> out(snapshot_limits{}.ints());
    measure(state, [&] {
        benchmark::DoNotOptimize(apply_delta(base, delta, sizes_06, *memory, out).has_value());
        benchmark::DoNotOptimize(create_delta(base, {}, sizes_06, *memory, out).has_value());
    });
}

void long_varints(benchmark::State& state) {
    std::vector<std::int32_t> ints(snapshot_limits{}.ints(), INT32_MIN);
    std::vector<std::uint8_t> bytes(varint_bound(ints.size()));
    double const seconds = measure(state, [&] {
        benchmark::DoNotOptimize(encode_varints(ints, bytes).has_value());
        benchmark::DoNotOptimize(decode_varints(bytes, ints).has_value());
    });
    state.counters["ns_per_int"] = 1e9 * seconds / static_cast<double>(ints.size());
}

// 0x77 has one of the longest codes.
void long_codes(benchmark::State& state) {
    std::vector<std::uint8_t> bytes(1 << 16, 0x77);
    std::vector<std::uint8_t> coded(huffman_bound(bytes.size()));
    coded.resize(must(huffman_encode(bytes, coded)));
    double const seconds = measure(state, [&] {
        benchmark::DoNotOptimize(huffman_encode(bytes, coded).has_value());
        benchmark::DoNotOptimize(huffman_decode(coded, bytes).has_value());
    });
    state.counters["ns_per_byte"] = 1e9 * seconds / static_cast<double>(bytes.size());
}

} // namespace

void add_worst() {
    auto const add_keys = [](char const* name, keys (*choose)()) {
        benchmark::RegisterBenchmark(name, [choose](benchmark::State& state) { cycle(state, choose()); });
    };
    add_keys("worst/keys_ordinary", ordinary_keys); // to compare with
    add_keys("worst/keys", colliding_keys);
    add_keys("worst/keys_all_hashes", always_crowded_keys);
    benchmark::RegisterBenchmark("worst/removed", remove_all);
    benchmark::RegisterBenchmark("worst/varints", long_varints);
    benchmark::RegisterBenchmark("worst/huffman", long_codes);
}

} // namespace teewire::bench
