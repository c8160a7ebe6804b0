#include "snapshot_functions.hpp"

namespace teewire::kernels {
namespace {

constexpr snapshot_functions plain_snapshots = {plain::holds_key, plain::checksum, plain::create_delta,
                                                plain::apply_delta, plain::apply_updates};

#if defined(TEEWIRE_COMPILER_VECTORS)
constexpr snapshot_functions const& scalar_snapshots = scalar::functions;
#else
constexpr snapshot_functions const& scalar_snapshots = plain_snapshots;
#endif

constexpr variant<snapshot_functions> snapshot_list[] = {
    {"plain", required_by(cpu_level::scalar), plain_snapshots},
    {"scalar", required_by(cpu_level::scalar), scalar_snapshots},
#if defined(__x86_64__)
    {"sse2", required_by(cpu_level::sse2), sse2::functions},
    {"avx2", required_by(cpu_level::avx2), avx2::functions},
    {"avx512", required_by(cpu_level::avx512), avx512::functions},
#elif defined(TEEWIRE_NEON)
    {"neon", required_by(cpu_level::neon), neon::functions},
#endif
};

constinit follower snapshot_layer = {
    [](instruction_sets allowed) noexcept { choose(snapshot, snapshot_variants(), allowed); }};
[[maybe_unused]] bool const snapshot_chosen = follow(snapshot_layer);

} // namespace

constinit snapshot_functions snapshot = plain_snapshots;

std::span<variant<snapshot_functions> const> snapshot_variants() noexcept { return snapshot_list; }

} // namespace teewire::kernels
