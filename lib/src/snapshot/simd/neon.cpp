#include "any_machine.hpp"

#if defined(TEEWIRE_NEON)

#include "neon.hpp"

#include "kernels.hpp"

#endif
