// What a map holds, item by item, as JSON.
#pragma once

#include "map/block_facts.hpp"

namespace teewire::replay {

/// Everything about a map file as members of the object: container, items as they are stored, digests of all blocks,
/// problems. `known`: what need not be decompressed again.
void write_map_json(object_writer& top, map_source const& source, map_document const& document,
                    known_blocks const& known);
void write_xvector_json(object_writer& top, map_source const& source, xvector_document const& document);

} // namespace teewire::replay
