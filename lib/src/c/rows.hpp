// Items of snapshots as rows of tables.
#pragma once

#include "convert.hpp"

#include "teewire_table.h"

namespace teewire::c {

/// Adds the items that `to` asks for. Returns how many there are; if they do not fit, `to` has as many rows as before.
std::size_t add_rows(snapshot_view state, std::int32_t tick, bool keyframe, teewire_table& to) noexcept;

/// Reads a table of any version.
[[nodiscard]] inline bool read_table(teewire_table const* given, teewire_table& out) noexcept {
    return given != nullptr && read_options(given, out) && out.rows <= out.capacity;
}

} // namespace teewire::c
