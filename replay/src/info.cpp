#include "verbs.hpp"
namespace teewire::replay {
int info(info_options const&) { return 0; }
} // namespace teewire::replay
