// The hot functions of this layer by level.
#pragma once

#include "teewire/delta.hpp"

#include "../codec/cpu.hpp"
#include "in_place_state.hpp"
#include "shared_sets_state.hpp"
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

/// For a shared world: sums over a set of the first n items.
using tally_set_fn = set_tally(std::uint64_t const* tallies, std::uint64_t const* set, std::size_t n) noexcept;
/// For a shared world: finds the items of a client that equal those of the world.
using match_contents_fn = void(staged_items const&) noexcept;
/// For a shared world: the updates of a client.
using select_updates_fn = void(shared_sets&) noexcept;
/// For a shared world: the items of a set in the numbers of the base.
using find_in_base_fn = void(std::span<shared_run const>, std::uint64_t const* now, std::uint64_t* base,
                             std::size_t base_words) noexcept;
/// Copies packed updates until one has no piece, and gives its item, or piece_copier::done.
using copy_pieces_fn = std::uint32_t(piece_copier&) noexcept;

/// Precondition of create_delta and apply_delta, but for the plain ones: the keys of each snapshot are distinct.
struct snapshot_functions {
    holds_key_fn* holds_key;
    checksum_fn* checksum;
    create_delta_fn* create_delta;
    apply_delta_fn* apply_delta;
    apply_updates_fn* apply_updates;
    tally_set_fn* tally_set;
    match_contents_fn* match_contents;
    select_updates_fn* select_updates;
    find_in_base_fn* find_in_base;
    copy_pieces_fn* copy_pieces;
};

/// Those in use. Other initialisers may call them before they are chosen; until then they are the plain ones.
[[gnu::visibility("hidden")]] extern constinit snapshot_functions snapshot;
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
kernels::tally_set_fn tally_set;
kernels::match_contents_fn match_contents;
kernels::select_updates_fn select_updates;
kernels::find_in_base_fn find_in_base;
kernels::copy_pieces_fn copy_pieces;
} // namespace teewire::plain
