#include "any_machine.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

TEEWIRE_BEGIN_LEVEL(TEEWIRE_AVX2)

#include "avx2.hpp"

#include "kernels.hpp"

TEEWIRE_END_LEVEL

#endif
