#include "cases.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace teewire::bench {
namespace {

void floor_memcmp(prepared& w) {
    benchmark::DoNotOptimize(std::memcmp(w.to_ints.data(), w.spare.data(), w.to_ints.size() * 4));
}
void floor_memcpy(prepared& w) { std::memcpy(w.spare.data(), w.to_ints.data(), w.to_ints.size() * 4); }
// With the vectors of this machine, as memcmp and memcpy have them.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define FOR_THIS_MACHINE [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define FOR_THIS_MACHINE
#endif
FOR_THIS_MACHINE std::uint32_t sum(std::span<std::int32_t const> ints) {
    return std::accumulate(ints.begin(), ints.end(), std::uint32_t{0});
}
void floor_sum(prepared& w) { benchmark::DoNotOptimize(sum(w.to_ints)); }
void checksum(prepared& w) { benchmark::DoNotOptimize(w.to.checksum()); }
void is_valid(prepared& w) { benchmark::DoNotOptimize(snapshot_view::parse(w.to_ints).has_value()); }
void varint_pack_full(prepared& w) { benchmark::DoNotOptimize(encode_varints(w.to_ints, w.bytes).has_value()); }
void varint_unpack_full(prepared& w) {
    benchmark::DoNotOptimize(decode_varints(w.packed_full, w.spare).has_value());
}
void huff_comp_pkt900(prepared& w) { benchmark::DoNotOptimize(huffman_encode(w.packet, w.bytes).has_value()); }
void huff_dec_pkt900(prepared& w) { benchmark::DoNotOptimize(huffman_decode(w.coded_packet, w.bytes).has_value()); }

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
    {"apply_in_place", apply_in_place},
    {"crc", checksum},
    {"is_valid", is_valid},
    {"build", build},
    {"build_singly", build_singly},
    {"build_again", build_again},
    {"build_first", build_first},
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

} // namespace

void add_steps(prepared_workloads const& all) {
    for (step const& s : steps)
        for (auto const& w : all) {
            if (s.packet_only && w->packet.empty()) continue;
            benchmark::RegisterBenchmark(
                (std::string{s.name} + '/' + w->name).c_str(), [&s, w](benchmark::State& state) {
                    std::copy(w->to_ints.begin(), w->to_ints.end(), w->spare.begin()); // for floor_memcmp
                    measure(state, [&] { s.run(*w); });
                });
        }
}

} // namespace teewire::bench
