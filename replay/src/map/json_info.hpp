// The content of a map as JSON, item by item.
#pragma once

#include "map/block_facts.hpp"

namespace teewire::replay {

/// Writes everything about a map file as members of the object: container, items as stored, digests of all blocks,
/// problems. `known`: blocks that need not be decompressed again.
void write_map_json(object_writer& top, map_source const& source, map_document const& document,
                    known_blocks const& known);
void write_xvector_json(object_writer& top, map_source const& source, xvector_document const& document);

} // namespace teewire::replay
