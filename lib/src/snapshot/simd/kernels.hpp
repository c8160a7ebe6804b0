// All kernels, for the files that compile them for a level.
#pragma once

#include "../checksum.hpp"
#include "../delta_apply.hpp"
#include "../delta_create.hpp"
#include "../holds_key.hpp"
#include "../in_place.hpp"
#include "../snapshot_functions.hpp"

namespace teewire::kernels::TEEWIRE_LEVEL {

constinit snapshot_functions const functions = {holds_key, checksum, create_delta, apply_delta, apply_updates};

} // namespace teewire::kernels::TEEWIRE_LEVEL
