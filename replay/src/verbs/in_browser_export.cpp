// The verb that needs SQLite, which is as large as half of the others together.
#include "verbs/verbs.hpp"

namespace teewire::replay {
namespace {

constexpr verb const* exporting[] = {&export_verb};
constexpr verb_group groups[] = {{"Read recordings", exporting}};

} // namespace

std::span<verb_group const> verb_groups() { return groups; }
std::span<verb const* const> all_map_verbs() { return {}; }

} // namespace teewire::replay
