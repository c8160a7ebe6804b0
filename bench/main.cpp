// Every step on every workload. Cases are named STEP/WORKLOAD; the floors come first.
//   teewire-bench [--workloads=FOLDER] [options of Google Benchmark]
#include "workloads.hpp"

#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

using namespace teewire;
using bench::workload;

namespace {
constexpr std::size_t max_ints = snapshot_limits{}.ints();
}

namespace {

template <class T>
T must(result<T> const& r) {
    if (r) return *r;
    std::fprintf(stderr, "benchmark input: %s\n", describe(r.error().code).data());
    std::exit(1);
}

// As the history keeps it: with its keys at hand.
snapshot_view checked(std::span<std::int32_t const> ints, std::vector<std::int32_t>& keys) {
    must(snapshot_view::parse(ints));
    snapshot_view const view = snapshot_view::trusted(ints);
    for (item const i : view) keys.push_back(i.key);
    return view.with_keys(keys);
}

// A workload with everything that the steps need, made once.
struct prepared {
    explicit prepared(workload const& w)
        : name{w.name}, from_ints{w.from}, to_ints{w.to}, from{checked(from_ints, from_keys)}, to{checked(to_ints,
                                                                                                          to_keys)},
          spare(1 << 17), bytes(1 << 19), spare_bytes(1 << 19) {
        auto const created = must(create_delta(from, to, sizes_06, *memory, spare));
        delta.assign(created.begin(), created.end());
        if (delta.empty()) delta.assign(delta_header_ints, 0);
        packed = pack(delta);
        packed_full = pack(to_ints);
        coded.assign(huffman_bound(packed.size()), 0);
        coded.resize(must(huffman_encode(packed, coded)));
        if (packed.size() >= 900) {
            packet.assign(packed.begin(), packed.begin() + 900);
            coded_packet.assign(huffman_bound(packet.size()), 0);
            coded_packet.resize(must(huffman_encode(packet, coded_packet)));
        }
    }
    static std::vector<std::uint8_t> pack(std::span<std::int32_t const> ints) {
        std::vector<std::uint8_t> out(varint_bound(ints.size()));
        out.resize(must(encode_varints(ints, out)));
        return out;
    }

    std::string name;
    std::vector<std::int32_t> from_ints, to_ints, from_keys, to_keys;
    snapshot_view from, to;
    std::vector<std::int32_t> delta;
    std::vector<std::uint8_t> packed, packed_full, coded, packet, coded_packet;
    std::unique_ptr<delta_memory<>> memory = std::make_unique<delta_memory<>>();
    std::unique_ptr<snapshot_builder_memory<>> builder = std::make_unique<snapshot_builder_memory<>>();
    std::vector<std::int32_t> spare;
    std::vector<std::uint8_t> bytes, spare_bytes;
};

void floor_memcmp(prepared& w) {
    benchmark::DoNotOptimize(std::memcmp(w.to_ints.data(), w.spare.data(), w.to_ints.size() * 4));
}
void floor_memcpy(prepared& w) { std::memcpy(w.spare.data(), w.to_ints.data(), w.to_ints.size() * 4); }
void floor_sum(prepared& w) {
    benchmark::DoNotOptimize(std::accumulate(w.to_ints.begin(), w.to_ints.end(), std::uint32_t{0}));
}
void create(prepared& w) {
    benchmark::DoNotOptimize(create_delta(w.from, w.to, sizes_06, *w.memory, w.spare).has_value());
}
void unpack(prepared& w) {
    benchmark::DoNotOptimize(apply_delta(w.from, w.delta, sizes_06, *w.memory, w.spare).has_value());
}
void checksum(prepared& w) { benchmark::DoNotOptimize(w.to.checksum()); }
void is_valid(prepared& w) { benchmark::DoNotOptimize(snapshot_view::parse(w.to_ints).has_value()); }
void build(prepared& w) {
    snapshot_builder builder{*w.builder};
    for (std::size_t i = 0; i < w.to.size(); ++i) benchmark::DoNotOptimize(builder.add(w.to[i]).has_value());
    benchmark::DoNotOptimize(builder.finish().checksum());
}
void varint_pack(prepared& w) { benchmark::DoNotOptimize(encode_varints(w.delta, w.bytes).has_value()); }
void varint_unpack(prepared& w) { benchmark::DoNotOptimize(decode_varints(w.packed, w.spare).has_value()); }
void varint_pack_full(prepared& w) { benchmark::DoNotOptimize(encode_varints(w.to_ints, w.bytes).has_value()); }
void varint_unpack_full(prepared& w) {
    benchmark::DoNotOptimize(decode_varints(w.packed_full, w.spare).has_value());
}
void huff_comp(prepared& w) { benchmark::DoNotOptimize(huffman_encode(w.packed, w.bytes).has_value()); }
void huff_dec(prepared& w) { benchmark::DoNotOptimize(huffman_decode(w.coded, w.bytes).has_value()); }
void huff_comp_pkt900(prepared& w) { benchmark::DoNotOptimize(huffman_encode(w.packet, w.bytes).has_value()); }
void huff_dec_pkt900(prepared& w) { benchmark::DoNotOptimize(huffman_decode(w.coded_packet, w.bytes).has_value()); }
void encode(prepared& w) {
    auto const delta = *create_delta(w.from, w.to, sizes_06, *w.memory, w.spare);
    auto const packed = *encode_varints(delta, w.bytes);
    benchmark::DoNotOptimize(huffman_encode(std::span{w.bytes}.first(packed), w.spare_bytes).has_value());
}
void decode(prepared& w) {
    auto const packed = *huffman_decode(w.coded, w.bytes);
    std::span<std::int32_t> const ints = std::span{w.spare}.first(max_ints);
    auto const count = *decode_varints(std::span{w.bytes}.first(packed), ints);
    benchmark::DoNotOptimize(
        apply_delta(w.from, ints.first(count), sizes_06, *w.memory, std::span{w.spare}.subspan(max_ints))
            .has_value());
}

struct step {
    char const* name;
    void (*run)(prepared&);
    bool packet_only = false;
};
constexpr step steps[] = {
    {"floor_memcmp", floor_memcmp},
    {"floor_memcpy", floor_memcpy},
    {"floor_sum", floor_sum},
    {"create_delta", create},
    {"unpack_delta", unpack},
    {"crc", checksum},
    {"is_valid", is_valid},
    {"build", build},
    {"varint_pack", varint_pack},
    {"varint_unpack", varint_unpack},
    {"varint_pack_full", varint_pack_full},
    {"varint_unpack_full", varint_unpack_full},
    {"huff_comp", huff_comp},
    {"huff_dec", huff_dec},
    {"huff_comp_pkt900", huff_comp_pkt900, true},
    {"huff_dec_pkt900", huff_dec_pkt900, true},
    {"encode", encode},
    {"decode", decode},
};

std::vector<workload> load(std::filesystem::path const& folder) {
    auto all = bench::synthetic_workloads();
    for (std::size_t i = 0; i < all.size(); ++i) {
        bench::expected_hash const& expected = bench::synthetic_hashes[i];
        if (bench::fnv1a64(all[i].from) == expected.from && bench::fnv1a64(all[i].to) == expected.to) continue;
        std::fprintf(stderr, "%s does not have the published bytes\n", all[i].name.c_str());
        std::exit(1);
    }
    for (auto& w : bench::recorded_workloads(folder)) all.push_back(std::move(w));
    return all;
}

} // namespace

int main(int argc, char** argv) {
    std::filesystem::path folder;
    constexpr std::string_view flag = "--workloads=";
    if (argc > 1 && std::string_view{argv[1]}.starts_with(flag)) {
        folder = argv[1] + flag.size();
        argv[1] = argv[0];
        ++argv;
        --argc;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

    std::vector<std::unique_ptr<prepared>> all;
    for (workload const& w : load(folder)) all.push_back(std::make_unique<prepared>(w));
    for (step const& s : steps)
        for (auto const& w : all) {
            if (s.packet_only && w->packet.empty()) continue;
            benchmark::RegisterBenchmark(
                (std::string{s.name} + '/' + w->name).c_str(), [&s, &w](benchmark::State& state) {
                    std::copy(w->to_ints.begin(), w->to_ints.end(), w->spare.begin()); // for floor_memcmp
                    for (auto _ : state) {
                        s.run(*w);
                        benchmark::ClobberMemory();
                    }
                });
        }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
