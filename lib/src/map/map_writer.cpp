#include "item_layout.hpp"

#include "teewire/map/map.hpp"

namespace teewire {
} // namespace teewire
