#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::bench {

// A pair of snapshots in the engines' layout: data size in bytes, item count, item offsets, items.
struct workload {
    std::string name;
    std::vector<std::int32_t> from, to;
};

// duel, full16, ddnet64, max1024, tw2_300, tw2_300m: the same ints on every machine.
std::vector<workload> synthetic_workloads();

// real_multeasy and real_rainy, from NAME.from.bin and NAME.to.bin (little-endian int32: a count, then the
// ints). A pair that is not in the folder is left out; an unreadable or malformed file throws
// std::runtime_error.
std::vector<workload> recorded_workloads(std::filesystem::path const& folder);

// FNV-1a over the little-endian bytes of the ints.
std::uint64_t fnv1a64(std::span<const std::int32_t> ints);

struct expected_hash {
    std::string_view name;
    std::uint64_t from, to;
};

// The results of fnv1a64 for synthetic_workloads(), in the same order.
extern const std::array<expected_hash, 6> synthetic_hashes;

} // namespace teewire::bench
