// The maps of demos that have none in them.
#pragma once

#include "base/stored_file.hpp"

#include <teewire/demo_format.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace teewire::replay {

/// Larger files are not read.
inline constexpr std::uint64_t max_map_bytes = std::uint64_t{256} << 20;

/// The map that a demo's header names, as its checksums say: in the demo's folder, in `maps` there, or in the folders of
/// games with their `maps` and `downloadedmaps`. Null if it is not there.
[[nodiscard]] std::shared_ptr<stored_file const> find_map_file(demo_header const& header, std::string const& folder,
                                                               std::vector<std::string> const& games);

} // namespace teewire::replay
