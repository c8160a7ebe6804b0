// Headers that kernels include, for the files that compile them for a level. To be included first, because they must be
// compiled for any machine.
#pragma once

#include "teewire/delta.hpp"

#include "../../codec/cpu.hpp"
#include "../in_place_state.hpp"
#include "../key_filter.hpp"
#include "../snapshot_functions.hpp"
#include "bits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
