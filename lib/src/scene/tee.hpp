// Hands and weapons of tees.
#pragma once

#include "teewire/scene/scene.hpp"

namespace teewire::scene {

/// A hand that is held out from (x, y) in the direction (dx, dy): `along` it and `across`, turned by `turn`.
void draw_hand(look const& l, float x, float y, float dx, float dy, float turn, float along, float across,
               draw_list& out) noexcept;
/// A weapon, with the hand. `since`: ticks since the last attack, which chooses the flash;
/// negative: never.
void draw_weapon(look const& l, float x, float y, float dx, float dy, std::int32_t which, float since,
                 std::int32_t attack_tick, texture game, draw_list& out) noexcept;

} // namespace teewire::scene
