// The hot functions of this layer by instruction set. The fast deltas are for snapshots with distinct keys alone.
#pragma once

#include "teewire/delta.hpp"

#include "../codec/kernels.hpp"

namespace teewire::kernels {

using holds_key_fn = bool(std::span<std::int32_t const> keys, std::int32_t key) noexcept;
holds_key_fn plain_holds_key;
[[nodiscard]] std::span<variant<holds_key_fn> const> holds_key_variants() noexcept;

/// Items that a delta changes in place: data at pool + begins[slot] + 1, differences at delta + positions[slot].
struct item_changes {
    std::int32_t* pool;
    std::int32_t const* delta;
    std::span<std::uint16_t const> slots;
    std::uint32_t const* begins;
    std::uint32_t const* sizes;
    std::uint32_t const* positions;
};
/// Returns the sum of all differences.
using change_items_fn = std::uint32_t(item_changes const&) noexcept;
change_items_fn plain_change_items;
[[nodiscard]] std::span<variant<change_items_fn> const> change_items_variants() noexcept;
using create_delta_fn = result<std::span<std::int32_t const>>(snapshot_view, snapshot_view, size_table const&,
                                                              delta_scratch const&,
                                                              std::span<std::int32_t>) noexcept;
using apply_delta_fn = result<snapshot_view>(snapshot_view, std::span<std::int32_t const>, size_table const&,
                                             delta_scratch const&, std::span<std::int32_t>,
                                             apply_options const&) noexcept;
using checksum_fn = std::uint32_t(snapshot_view) noexcept;
[[nodiscard]] std::span<variant<checksum_fn> const> checksum_variants() noexcept;
[[nodiscard]] std::span<variant<create_delta_fn> const> create_delta_variants() noexcept;
[[nodiscard]] std::span<variant<apply_delta_fn> const> apply_delta_variants() noexcept;

} // namespace teewire::kernels
