/// @file
/// Positions of tees between updates. A server sends a character as it was at its tick, as long as every client that moves
/// it on by the rules of the game gets the same result.
#pragma once

#include "teewire/scene/world.hpp"

namespace teewire::scene {

/// Three seconds: servers send again after that.
inline constexpr std::int32_t most_reckoned_ticks = 150;

/// Moves a tee on from its tick to this one, at most most_reckoned_ticks, by the usual tuning. O(ticks).
void reckon(tee& moved, std::int32_t tick, ground const& on) noexcept;

} // namespace teewire::scene
