#include "base/workers.hpp"

namespace teewire::replay {

// Pages have threads only with headers that hosts of files do not send.
class workers::team {};

workers::workers(unsigned) {}
workers::~workers() = default;
unsigned workers::count() const { return 1; }
void workers::post(std::function<void()> task) { task(); }
void workers::join() {}

} // namespace teewire::replay
