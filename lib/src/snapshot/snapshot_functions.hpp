// The hot functions of this layer by level.
#pragma once

#include "teewire/delta.hpp"

#include "../codec/cpu.hpp"
#include "in_place_state.hpp"
#include "simd/bits.hpp"

namespace teewire::kernels {

using holds_key_fn = bool(std::span<std::int32_t const> keys, std::int32_t key) noexcept;
using checksum_fn = std::uint32_t(snapshot_view const&) noexcept;
using create_delta_fn = result<std::span<std::int32_t const>>(snapshot_view, snapshot_view, size_table const&,
                                                              delta_scratch const&,
                                                              std::span<std::int32_t>) noexcept;
using apply_delta_fn = result<snapshot_view>(snapshot_view, std::span<std::int32_t const>, size_table const&,
                                             delta_scratch const&, std::span<std::int32_t>,
                                             apply_options const&) noexcept;
/// Applies updates as long as they are ordinary: of live items that have that size and were not changed by this delta
/// before. Returns true with the first other update, false when the reader has no more.
using apply_updates_fn = bool(in_place_state&, delta_reader&, delta_reader::update& other) noexcept;

/// Precondition of create_delta and apply_delta, but for the plain ones: the keys of each snapshot are distinct.
struct snapshot_functions {
    holds_key_fn* holds_key;
    checksum_fn* checksum;
    create_delta_fn* create_delta;
    apply_delta_fn* apply_delta;
    apply_updates_fn* apply_updates;
};

/// Those in use. Other initialisers may call them before they are chosen; until then they are the plain ones.
TEEWIRE_HIDDEN extern constinit snapshot_functions snapshot;
[[nodiscard]] std::span<variant<snapshot_functions> const> snapshot_variants() noexcept;

namespace scalar {
extern constinit snapshot_functions const functions;
}
namespace sse2 {
extern constinit snapshot_functions const functions;
}
namespace avx2 {
extern constinit snapshot_functions const functions;
}
namespace avx512 {
extern constinit snapshot_functions const functions;
}
namespace neon {
extern constinit snapshot_functions const functions;
}

} // namespace teewire::kernels

namespace teewire::plain {
kernels::holds_key_fn holds_key;
kernels::checksum_fn checksum;
kernels::create_delta_fn create_delta;
kernels::apply_delta_fn apply_delta;
kernels::apply_updates_fn apply_updates;
} // namespace teewire::plain
