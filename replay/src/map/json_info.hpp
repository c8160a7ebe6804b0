// What a map holds, item by item, as JSON.
#pragma once

#include "map/document.hpp"

namespace teewire::replay {

/// One object with everything about a map file: container, items as they are stored, digests of all blocks, problems.
void write_map_json(json_writer& json, map_source const& source, map_document const& document);
void write_xvector_json(json_writer& json, map_source const& source, xvector_document const& document);

} // namespace teewire::replay
