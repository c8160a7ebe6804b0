#include "any_machine.hpp"

#if defined(__x86_64__)

#include "sse2.hpp"

#include "kernels.hpp"

#endif
