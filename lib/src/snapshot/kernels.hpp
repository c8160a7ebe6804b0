// The hot functions of this layer by instruction set. The fast deltas are for snapshots with distinct keys alone.
#pragma once

#include "teewire/live_snapshot.hpp"

#include "../codec/kernels.hpp"

namespace teewire::kernels {

using holds_key_fn = bool(std::span<std::int32_t const> keys, std::int32_t key) noexcept;
holds_key_fn plain_holds_key;
[[nodiscard]] std::span<variant<holds_key_fn> const> holds_key_variants() noexcept;

/// The items of a live_snapshot while a delta changes them.
struct item_changes {
    detail::live_slot* items;
    std::size_t guessable; ///< slots that may be found by their place, being the first ones with their keys
    std::int32_t* pool;
    std::span<std::uint16_t const> table; ///< slot + 1 by hash
    std::uint64_t multiplier;             ///< of that hash
    unsigned shift;                       ///< and what it is moved by
    std::int32_t const* delta;
    std::uint32_t delta_number;
    std::uint32_t sum; ///< of all differences, modulo 2^32
};
/// Carries out updates as long as they are ordinary: of items that are alive, have
/// that size, and were not changed by this delta before. Returns true with the
/// first other update, false when the reader gives no more.
using change_items_fn = bool(item_changes&, delta_reader&, delta_reader::update& odd) noexcept;
change_items_fn plain_change_items;
[[nodiscard]] std::span<variant<change_items_fn> const> change_items_variants() noexcept;

using create_delta_fn = result<std::span<std::int32_t const>>(snapshot_view, snapshot_view, size_table const&,
                                                              delta_scratch const&,
                                                              std::span<std::int32_t>) noexcept;
using apply_delta_fn = result<snapshot_view>(snapshot_view, std::span<std::int32_t const>, size_table const&,
                                             delta_scratch const&, std::span<std::int32_t>,
                                             apply_options const&) noexcept;
using checksum_fn = std::uint32_t(snapshot_view const&) noexcept;
[[nodiscard]] std::span<variant<checksum_fn> const> checksum_variants() noexcept;
[[nodiscard]] std::span<variant<create_delta_fn> const> create_delta_variants() noexcept;
[[nodiscard]] std::span<variant<apply_delta_fn> const> apply_delta_variants() noexcept;

} // namespace teewire::kernels
