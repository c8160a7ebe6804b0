#include "any_machine.hpp"

#if defined(TEEWIRE_COMPILER_VECTORS)

#include "scalar.hpp"

#include "kernels.hpp"

#endif
