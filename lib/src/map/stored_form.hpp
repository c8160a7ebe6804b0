// A block in its stored form.
#pragma once

#include "teewire/map/datafile.hpp"

namespace teewire::map_detail {

/// A zlib stream, or in version 3 the bytes themselves.
[[nodiscard]] std::vector<std::uint8_t> stored_form(map_bytes content, datafile_write_options const& options);

} // namespace teewire::map_detail
