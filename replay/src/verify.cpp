#include "verbs.hpp"
namespace teewire::replay {
int verify(verify_options const&) { return 0; }
} // namespace teewire::replay
